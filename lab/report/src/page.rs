//! A page under construction: lines that never take more columns than the screen has.

use crate::look::{Look, Span, Spans, Tone, columns_of, letters, paint, span};
use crate::text::{shorten_middle, wrap};
use unicode_width::UnicodeWidthStr;

/// Lines of a report.
pub struct Page {
    look: Look,
    lines: Vec<String>,
}

impl Page {
    /// An empty page.
    pub fn new(look: Look) -> Page {
        Page { look, lines: Vec::new() }
    }

    /// An empty line, unless the page is empty or the last line is empty already.
    pub fn gap(&mut self) {
        if self.lines.last().is_some_and(|line| !line.is_empty()) {
            self.lines.push(String::new());
        }
    }

    /// One line; if it is too wide it loses its middle, and its tones with it.
    pub fn line(&mut self, spans: &[Span]) {
        self.line_within(spans, self.look.columns());
    }

    /// One line of a wide table.
    pub fn table_line(&mut self, spans: &[Span]) {
        self.line_within(spans, self.look.table_columns());
    }

    fn line_within(&mut self, spans: &[Span], columns: usize) {
        if columns_of(spans) <= columns {
            self.lines.push(paint(spans, self.look));
        } else {
            let short = shorten_middle(&letters(spans), columns, self.look);
            self.lines.push(paint(&[span(Tone::Plain, short)], self.look));
        }
    }

    /// One line as it is, also if it is wider than the screen: a command, which must survive being
    /// copied.
    pub fn verbatim(&mut self, spans: &[Span]) {
        self.lines.push(paint(spans, self.look));
    }

    /// A paragraph: its first line starts with `lead`, the others are indented as far.
    pub fn paragraph(&mut self, lead: &str, text: &[Span]) {
        self.wrapped(span(Tone::Plain, lead), text);
    }

    /// A paragraph behind a dim label.
    pub fn labelled(&mut self, label: &str, text: &[Span]) {
        self.wrapped(span(Tone::Dim, label), text);
    }

    fn wrapped(&mut self, mut lead: Span, text: &[Span]) {
        let indent = lead.text.width();
        let room = self.look.columns().saturating_sub(indent);
        for line in wrap(text, room) {
            let blank = span(Tone::Plain, " ".repeat(indent));
            let mut spans: Spans = vec![std::mem::replace(&mut lead, blank)];
            spans.extend(line);
            self.lines.push(paint(&spans, self.look));
        }
    }

    /// The finished page, every line with its line feed.
    pub fn finish(self) -> String {
        self.lines.into_iter().map(|line| line + "\n").collect()
    }
}
