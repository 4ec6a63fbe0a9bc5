//! A machine's print as one page of HTML.

use crate::MachinePrint;
use crate::screen::{Entry, entries, page, svg};
use crate::show::head::{head, tail, title};
use tiebreak_report::html::Sheet;
use tiebreak_report::look::Look;

/// How the pictures in letters are drawn.
const LOOK: Look = Look { width: 100, color: false, unicode: true };

/// Pictures bring their own ground, so that they are framed by it on either ground of the page.
const STYLE: &str = "\
img{display:block;max-width:100%;height:auto;margin:.6rem 0}\
details{margin:.4rem 0}pre{overflow-x:auto}details pre{white-space:pre;overflow-wrap:normal}";

/// A print of a machine as one page of HTML: what the screen says of each probe, its picture, and
/// everything else that was found, folded. `name` is what the print is called in the store.
///
/// Nothing in it comes from elsewhere, nothing in it is a program, all texts are escaped. The
/// pictures are images of their own inside of it, so that the styles and names in one of them mean
/// nothing in another; they are light or dark as the page is.
pub fn machine_page(print: &MachinePrint, name: Option<&str>) -> String {
    let mut sheet = Sheet::unlimited();
    sheet.style(STYLE);
    let title = title(print);
    sheet.heading(&title);
    sheet.paragraph("", &head(print));
    for entry in entries(print) {
        probe(&mut sheet, print, &entry);
    }
    sheet.section("The print");
    sheet.paragraph("d", &tail(print, name));
    sheet.finish(&title)
}

fn probe(sheet: &mut Sheet, print: &MachinePrint, entry: &Entry) {
    sheet.section(entry.probe.words());
    for line in &entry.lines {
        sheet.paragraph("", line);
    }
    if let Some(note) = &entry.note {
        sheet.paragraph("d", note);
    }
    if let Some(picture) = svg(print, entry.probe).filter(|svg| !svg.is_empty()) {
        let (words, source) = (entry.probe.words(), data_url(&picture));
        sheet.raw(&format!("<img alt=\"{words}, as a picture\" src=\"{source}\">\n"));
    }
    let page = page(print, entry.probe, &LOOK);
    // Where nothing was found the page only says so again.
    if !entry.lines.is_empty() && !page.trim().is_empty() {
        sheet.folded("everything", &page);
    }
}

/// A picture as an address that holds all of it (RFC 2397).
fn data_url(svg: &str) -> String {
    let mut url = "data:image/svg+xml,".to_owned();
    for byte in svg.bytes() {
        match byte {
            b'a'..=b'z' | b'A'..=b'Z' | b'0'..=b'9' => url.push(char::from(byte)),
            _ if b" -_.!~*();/:=,".contains(&byte) => url.push(char::from(byte)),
            _ => url += &format!("%{byte:02X}"),
        }
    }
    url
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_picture_cannot_leave_its_address() {
        let url = data_url("<svg a=\"b\" c='#d'>&\u{e9}\n%</svg>");
        let expected =
            "data:image/svg+xml,%3Csvg a=%22b%22 c=%27%23d%27%3E%26%C3%A9%0A%25%3C/svg%3E";
        assert_eq!(url, expected);
    }
}
