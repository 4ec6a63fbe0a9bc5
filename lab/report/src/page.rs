//! A page under construction: lines that never take more columns than the screen has.

use crate::look::{Look, Span, Spans, Tone, paint, span, words};
use crate::table::{Column, indented, rows};
use crate::text::{fitted, wrap};
use unicode_width::UnicodeWidthStr;

/// The indent of every line below the verdict.
pub(crate) const INDENT: &str = "  ";

/// Columns of a label in the last part of a page.
pub(crate) const LABEL: usize = 9;

/// The state of a result that a user interrupted.
pub(crate) const INTERRUPTED: &str = "Interrupted; everything up to here is kept.";

/// Lines of a report.
pub struct Page {
    look: Look,
    lines: Vec<String>,
}

impl Page {
    /// Makes an empty page.
    pub fn new(look: Look) -> Page {
        Page { look, lines: Vec::new() }
    }

    /// Adds an empty line, unless the page is empty or its last line is.
    pub fn gap(&mut self) {
        if self.lines.last().is_some_and(|line| !line.is_empty()) {
            self.lines.push(String::new());
        }
    }

    /// Returns the look of the page.
    pub(crate) fn look(&self) -> Look {
        self.look
    }

    /// Adds one line; a line that is too wide loses its middle and its tones.
    pub fn line(&mut self, spans: &[Span]) {
        self.lines.push(fitted(spans, self.look.columns(), self.look));
    }

    /// Adds one line of a wide table.
    pub fn table_line(&mut self, spans: &[Span]) {
        self.lines.push(fitted(spans, self.look.table_columns(), self.look));
    }

    /// Adds an indented table.
    pub(crate) fn table(&mut self, columns: Vec<Column>) {
        for row in rows(columns, self.look.columns() - INDENT.len()) {
            self.line(&indented(row, INDENT));
        }
    }

    /// Adds an indented table that may be wider than other parts.
    pub(crate) fn wide_table(&mut self, columns: Vec<Column>) {
        for row in rows(columns, self.look.table_columns() - INDENT.len()) {
            self.table_line(&indented(row, INDENT));
        }
    }

    /// Adds the small title of an indented part, below an empty line.
    pub(crate) fn part(&mut self, title: &str) {
        self.gap();
        self.line(&[span(Tone::Dim, format!("{INDENT}{title}"))]);
    }

    /// One line as it is, also if it is wider than the screen: a command, which must survive being
    /// copied.
    pub fn verbatim(&mut self, spans: &[Span]) {
        self.lines.push(paint(spans, self.look));
    }

    /// Adds a paragraph: its first line starts with `lead`, the others are indented as far.
    pub fn paragraph(&mut self, lead: &str, text: &[Span]) {
        self.wrapped(span(Tone::Plain, lead), text);
    }

    /// Adds a paragraph of one tone at the left edge.
    pub(crate) fn say(&mut self, tone: Tone, text: impl Into<String>) {
        self.paragraph("", &[span(tone, text)]);
    }

    /// Adds an indented paragraph in small print.
    pub(crate) fn note(&mut self, text: impl Into<String>) {
        self.paragraph(INDENT, &[span(Tone::Dim, text)]);
    }

    /// Adds a line of blocks behind its name, and small print behind it.
    pub(crate) fn blocks(&mut self, name: &str, blocks: &str, behind: &str) {
        let blocks = words(format!("{INDENT}{blocks}"));
        self.line(&[words(INDENT), span(Tone::Strong, name), blocks, span(Tone::Dim, behind)]);
    }

    /// Adds paragraphs in small print below an empty line; nothing if there are none.
    pub(crate) fn notes(&mut self, texts: Vec<String>) {
        if !texts.is_empty() {
            self.gap();
        }
        texts.into_iter().for_each(|text| self.note(text));
    }

    /// Adds an entry of a list.
    pub(crate) fn item(&mut self, text: impl Into<String>) {
        self.paragraph(&format!("{INDENT}- "), &[span(Tone::Plain, text)]);
    }

    /// Adds a paragraph behind a dim label.
    pub fn labelled(&mut self, label: &str, text: &[Span]) {
        self.wrapped(span(Tone::Dim, label), text);
    }

    /// Adds a line behind its label in the last part of a page.
    pub(crate) fn entry(&mut self, label: &str, text: String) {
        self.labelled(&format!("{INDENT}{label:<LABEL$}"), &[words(text)]);
    }

    /// Adds lines of which the first one has the label.
    pub(crate) fn entries(&mut self, label: &str, texts: impl IntoIterator<Item = String>) {
        let labels = std::iter::once(label).chain(std::iter::repeat(""));
        labels.zip(texts).for_each(|(label, text)| self.entry(label, text));
    }

    /// Says that a user interrupted what the page is about.
    pub(crate) fn interrupted(&mut self, is_interrupted: bool) {
        if is_interrupted {
            self.line(&[span(Tone::Dim, INTERRUPTED)]);
            self.gap();
        }
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

    /// Returns the finished page, every line with its line feed.
    pub fn finish(self) -> String {
        self.lines.into_iter().map(|line| line + "\n").collect()
    }
}
