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
}

impl Sheet {
    /// Makes a page with only a title.
    pub fn new(title: &str) -> Sheet {
        let title = sentence(title);
        let first = vec![html! { h1 { (title) } }];
        Sheet { title, styles: String::new(), tables: 0, first, folded: Vec::new() }
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
        let mut used = self.first_bytes();
        let fits = |item: &&Markup| {
            used += item.0.len() + 1;
            used <= bytes
        };
        let shown = items.iter().take_while(fits).count();
        self.first.extend_from_slice(&items[..shown]);
        shown
    }

    /// Returns the bytes before the first folded part.
    pub(super) fn first_bytes(&self) -> usize {
        self.page(&[]).len()
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
    let safe = text.trim_end().chars().map(|c| if is_safe(c) || c == '\n' { c } else { '?' });
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
