//! A page under construction: the unfolded part, and the folded ones below it.

use crate::prelude::*;
use maud::{DOCTYPE, Markup, PreEscaped, html};

/// Letters of a sentence, and of a name: longer ones lose their middle.
const SENTENCE: usize = 600;
const NAME: usize = 60;

/// The styles of the page.
const STYLE: &str = include_str!("sheet.css");

/// A page under construction.
pub struct Sheet {
    title: String,
    /// The rules that follow those of all pages.
    pub(super) styles: String,
    /// How many tables there are, each with a class of its own.
    pub(super) tables: usize,
    first: Vec<Markup>,
    folded: Vec<Markup>,
    /// Whether its bytes are those that gzip leaves.
    is_packed: bool,
}

impl Sheet {
    /// Makes a page with only a title.
    pub fn new(title: &str) -> Sheet {
        let title = sentence(title);
        let first = vec![html! { h1 { (title) } }];
        let (styles, folded) = (String::new(), Vec::new());
        Sheet { title, styles, tables: 0, first, folded, is_packed: false }
    }

    /// Makes the same page, of which only the bytes count that go over the wire: those that gzip
    /// leaves.
    pub(super) fn packed(title: &str) -> Sheet {
        Sheet { is_packed: true, ..Sheet::new(title) }
    }

    /// Adds to the unfolded part.
    pub fn add(&mut self, content: Markup) {
        self.first.push(content);
    }

    /// Adds a part that is folded behind its title, below the unfolded part.
    pub fn fold(&mut self, title: &str, content: Markup) {
        self.folded.push(folded(title, content));
    }

    /// Adds a part: unfolded if the unfolded bytes then stay within `bytes`, else folded.
    pub(super) fn part(&mut self, title: &str, content: Markup, bytes: usize) {
        let whole = html! { (section(title)) (content) };
        if self.fill(&[whole], bytes) == 0 {
            self.fold(title, content);
        }
    }

    /// Adds items in order while the unfolded part stays within `bytes`, and returns how many fit.
    pub(super) fn fill(&mut self, items: &[Markup], bytes: usize) -> usize {
        let shown = self.fitting(items, bytes);
        self.first.extend_from_slice(&items[..shown]);
        shown
    }

    /// Returns how many items, in order, leave the unfolded part within `bytes`.
    pub(super) fn fitting(&self, items: &[Markup], bytes: usize) -> usize {
        let counts: Vec<usize> = (1..=items.len()).collect();
        counts.partition_point(|count| {
            let page = self.page(&items[..*count]);
            let used = if self.is_packed { packed_bytes(&page) } else { page.len() };
            used <= bytes
        })
    }

    /// Returns the whole page.
    pub fn finish(self) -> String {
        self.page(&self.folded)
    }

    fn page(&self, folded: &[Markup]) -> String {
        let page = html! {
            (DOCTYPE)
            html lang="en" {
                meta charset="utf-8";
                meta name="viewport" content="width=device-width,initial-scale=1";
                title { (self.title) " - tiebreak" }
                style { (PreEscaped(STYLE.replace('\n', ""))) (PreEscaped(&self.styles)) }
                main { @for part in self.first.iter().chain(folded) { (part) "\n" } }
            }
        };
        page.into_string() + "\n"
    }
}

/// Returns how many bytes gzip leaves of a text.
pub fn packed_bytes(text: &str) -> usize {
    /// The head and the tail of a file of gzip.
    const GZIP: usize = 18;
    /// The level that web servers use, unless they are told otherwise.
    const LEVEL: u8 = 6;
    miniz_oxide::deflate::compress_to_vec(text.as_bytes(), LEVEL).len() + GZIP
}

/// An image that is part of the page: an SVG document, with a text for those who do not see it.
pub fn image(alt: &str, svg: &str) -> Markup {
    html! { img alt=(sentence(alt)) src=(data_url(svg)); }
}

/// Returns a picture as an address that holds all of it (RFC 2397).
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

/// Folds a part behind its title.
pub fn folded(title: &str, content: Markup) -> Markup {
    html! { details { summary { (sentence(title)) } (content) } }
}

/// The title of a part.
pub fn section(title: &str) -> Markup {
    html! { h2 { (sentence(title)) } }
}

/// A paragraph.
pub fn paragraph(text: &str) -> Markup {
    html! { p { (sentence(text)) } }
}

/// A paragraph in small letters.
pub fn small(text: &str) -> Markup {
    html! { p.d { (sentence(text)) } }
}

/// A command.
pub fn code(text: &str) -> Markup {
    html! { pre { (sentence(text)) } }
}

/// A text of several lines that are not wrapped.
pub fn lines(text: &str) -> Markup {
    let all = text.trim_end().chars().filter(|c| *c != '\r');
    let safe = all.map(|c| if is_safe(c) || "\n\t".contains(c) { c } else { '?' });
    html! { pre.w { (safe.collect::<String>()) } }
}

/// A list in small letters.
pub(super) fn list(texts: &[String]) -> Markup {
    html! { ul.d { @for text in texts { li { (sentence(text)) } } } }
}

/// A text that may be long, cut.
pub(super) fn sentence(text: &str) -> String {
    cut(text, SENTENCE)
}

/// A name, cut.
pub(super) fn name(text: &str) -> String {
    cut(text, NAME)
}

fn cut(text: &str, letters: usize) -> String {
    let text = shorten_middle(&plain(text), letters, Look::PAPER);
    text.chars().map(|c| if is_safe(c) { c } else { '?' }).collect()
}

/// Whether HTML may have the character.
fn is_safe(c: char) -> bool {
    !c.is_control() && !"\u{fffe}\u{ffff}".contains(c)
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
