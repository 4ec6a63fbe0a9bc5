//! A machine's print as one page of HTML.

use crate::MachinePrint;
use crate::head::{head, model, tail};
use crate::screen::{Entry, entries, page, svg};
use crate::show::Look;
use maud::{Markup, html};
use tiebreak_report::html::{Sheet, folded, image, lines, paragraph, section, small};

/// How the pictures in letters are drawn.
const LOOK: Look = Look { width: 100, color: false, unicode: true };

/// Returns a print of a machine as one page of HTML: what the screen says of each probe, its
/// picture, and everything else that was found, folded. `name` is what the print is called in the
/// store.
///
/// Nothing in it comes from elsewhere, nothing in it is a program, all texts are escaped. The
/// pictures are images of their own inside of it, so that the styles and names in one of them mean
/// nothing in another; they are light or dark as the page is.
pub fn machine_page(print: &MachinePrint, name: Option<&str>) -> String {
    let mut sheet = Sheet::new(&model(&print.machine));
    sheet.add(paragraph(&head(print)));
    entries(print).iter().for_each(|entry| sheet.add(probe(print, entry)));
    sheet.add(section("The print"));
    sheet.add(small(&tail(print, name)));
    sheet.finish()
}

fn probe(print: &MachinePrint, entry: &Entry) -> Markup {
    let words = entry.probe.words();
    let picture = svg(print, entry.probe).filter(|svg| !svg.is_empty());
    let page = page(print, entry.probe, &LOOK);
    html! {
        (section(words))
        @for line in &entry.lines { (paragraph(line)) }
        @if let Some(note) = &entry.note { (small(note)) }
        // Pictures bring their own ground, so that they are framed by it on either ground.
        @if let Some(picture) = picture {
            (image(&format!("{words}, as a picture"), &picture))
        }
        // Where nothing was found the page only says so again.
        @if !entry.lines.is_empty() && !page.trim().is_empty() {
            (folded("everything", lines(&page)))
        }
    }
}
