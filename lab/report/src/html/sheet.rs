//! A page under construction: elements with texts that are cut and escaped.

use super::{Limits, head_text};
use crate::look::Look;
use crate::svg::scene;
use crate::text::{plain, shorten_middle};

const LOOK: Look = Look { width: 100, color: false, unicode: true };

/// Everything that the page looks like. Closing tags that HTML lets out are left out throughout.
const STYLE: &str = "\
:root{color-scheme:light dark;--p:#fff;--i:#1f2328;--d:#59636e;--l:#d1d9e0;--m:#0969da;--g:#1a7f37;\
--b:#cf222e;--q:#9a6700;--c:#f6f8fa}\
@media(prefers-color-scheme:dark){:root{--p:#0d1117;--i:#e6edf3;--d:#9198a1;--l:#3d444d;\
--m:#58a6ff;--g:#3fb950;--b:#ff7b72;--q:#d29922;--c:#151b23}}\
*{box-sizing:border-box}\
body{margin:0;background:var(--p);color:var(--i);font:16px/1.5 system-ui,sans-serif;\
overflow-wrap:anywhere}\
main{max-width:56rem;margin:auto;padding:1rem}\
h1{font-size:1.5rem;line-height:1.25;margin:.5rem 0}\
h2{font-size:1rem;margin:1.6rem 0 .4rem;padding-bottom:.2rem;border-bottom:1px solid var(--l)}\
p,ul{margin:.4rem 0}ul{padding-left:1.2rem}\
.d{color:var(--d);font-size:.875rem}\
.v{display:grid;grid-template-columns:1.6rem 1fr;margin:.6rem 0}\
.v>b{font-size:1.1rem}.v>div{grid-column:2}\
.g>b{color:var(--g)}.b>b{color:var(--b)}.q>b{color:var(--q)}\
.x{overflow-x:auto}\
table{border-collapse:collapse;width:100%;font-variant-numeric:tabular-nums}\
th{font-weight:400;color:var(--d);font-size:.8rem;vertical-align:bottom}\
th,td{padding:.25rem .6rem .1rem 0}\
td,th{text-align:right;white-space:nowrap;overflow-wrap:normal;vertical-align:top}\
tr>:first-child{min-width:6rem;text-align:left;white-space:normal;overflow-wrap:anywhere}\
td:first-child{font-weight:600}\
.s td{padding:0 0 .3rem;border-bottom:1px solid var(--l)}\
svg{display:block;width:100%;height:22px}\
.a{display:grid;grid-template-columns:auto 1fr auto;gap:.5rem;align-items:center;\
max-width:34rem;color:var(--d);font-size:.8rem}\
path{fill:var(--m);fill-opacity:.5}path+path{fill:var(--i);fill-opacity:1}\
path.z{fill:var(--d);fill-opacity:1}\
path.m{fill:var(--m);fill-opacity:.5}path.o{fill:var(--m);fill-opacity:.2}\
pre{background:var(--c);padding:.6rem;margin:.4rem 0;white-space:pre-wrap;font-size:.85rem}\
@media(max-width:560px){th,td{padding-right:.4rem;font-size:.8rem}th{white-space:normal}}";

/// A page under construction.
pub struct Sheet {
    /// How much of everything it may have.
    pub(super) limits: Limits,
    styles: String,
    tables: usize,
    body: String,
}

impl Sheet {
    /// An empty page.
    pub(super) fn new(limits: Limits) -> Sheet {
        Sheet { limits, styles: String::new(), tables: 0, body: String::new() }
    }

    /// An empty page that may weigh what it will: texts are cut where nobody would read on.
    pub fn unlimited() -> Sheet {
        Sheet::new(Limits::of([64, 60, 99, 12, 60, 4000, 400, 400]))
    }

    /// A text of several lines as it stands, folded behind a word.
    pub fn folded(&mut self, word: &str, text: &str) {
        let (word, text) = (escaped(word), escaped_lines(text));
        self.raw(&format!("<details><summary>{word}</summary><pre>{text}</pre></details>\n"));
    }

    /// Markup as it stands.
    pub fn raw(&mut self, markup: &str) {
        self.body.push_str(markup);
    }

    /// A name for the next table.
    pub fn table_id(&mut self) -> String {
        self.tables += 1;
        format!("t{}", self.tables)
    }

    /// A rule for the head of the page.
    pub fn style(&mut self, rule: &str) {
        self.styles.push_str(rule);
    }

    /// The title of the page.
    pub fn heading(&mut self, text: &str) {
        let text = self.sentence(text);
        self.raw(&format!("<h1>{text}</h1>\n"));
    }

    /// The title of a part of it.
    pub fn section(&mut self, text: &str) {
        self.raw(&format!("<h2>{}</h2>\n", escaped(text)));
    }

    /// A paragraph of a class, or of none: mostly words of our own, so it may be longer.
    pub fn paragraph(&mut self, class: &str, text: &str) {
        let text = escaped(&shorten_middle(&plain(text), 2 * self.limits.letters, LOOK));
        match class {
            "" => self.raw(&format!("<p>{text}\n")),
            class => self.raw(&format!("<p class={class}>{text}\n")),
        }
    }

    /// A command.
    pub fn code(&mut self, text: &str) {
        let text = self.sentence(text);
        self.raw(&format!("<pre>{text}</pre>\n"));
    }

    /// A list, as far as there is room, and how much of it is left out.
    pub fn list(&mut self, texts: &[String], what: &str) {
        self.raw("<ul class=d>");
        for text in texts.iter().take(self.limits.notes) {
            let text = self.sentence(text);
            self.raw(&format!("<li>{text}\n"));
        }
        self.raw("</ul>\n");
        self.left_out(texts.len().saturating_sub(self.limits.notes), what);
    }

    /// Says how many things are not shown.
    pub fn left_out(&mut self, count: usize, what: &str) {
        if count > 0 {
            self.raw(&format!("<p class=d>{count} more {what} in <code>tiebreak show</code>.\n"));
        }
    }

    /// A text that may be long, cut and escaped.
    pub fn sentence(&self, text: &str) -> String {
        escaped(&shorten_middle(&plain(text), self.limits.letters, LOOK))
    }

    /// A name, cut and escaped.
    pub fn name(&self, text: &str) -> String {
        escaped(&shorten_middle(&plain(text), self.limits.name, LOOK))
    }

    /// The whole page.
    pub fn finish(self, title: &str) -> String {
        let title = head_text(&shorten_middle(&plain(title), self.limits.letters, LOOK));
        format!(
            "<!doctype html>\n<html lang=en><meta charset=utf-8>\
             <meta name=viewport content=\"width=device-width,initial-scale=1\">\
             <title>{title} - tiebreak</title>\n<style>{STYLE}{}</style>\n\
             <main>\n{}</main>\n</html>\n",
            self.styles, self.body
        )
    }
}

/// A text of several lines as it stands, for an element that keeps blanks.
pub fn escaped_lines(text: &str) -> String {
    let mut out = String::new();
    for c in text.trim_end().chars() {
        match c {
            '&' => out.push_str("&amp;"),
            '<' => out.push_str("&lt;"),
            '>' => out.push_str("&gt;"),
            '\n' => out.push('\n'),
            c if c.is_control() || "\u{fffe}\u{ffff}".contains(c) => out.push('?'),
            c => out.push(c),
        }
    }
    out
}

/// A text inside of an element or a quoted attribute.
pub fn escaped(text: &str) -> String {
    scene::escaped(text)
}
