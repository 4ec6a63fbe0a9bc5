//! How a report may look, and text that carries its tones apart from its letters.

use anstyle::{AnsiColor, Style};
use unicode_width::UnicodeWidthStr;

/// A blank at which lines are not wrapped; on the page it is an ordinary one.
pub const NO_BREAK: char = '\u{a0}';

/// What the reader's screen can show. Every report takes one as a parameter.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Look {
    /// Columns of the screen. Reports use at most [`Look::columns`] of them.
    pub width: usize,
    /// Whether ANSI styles are wanted.
    pub color: bool,
    /// Whether blocks and lines beyond ASCII can be shown.
    pub unicode: bool,
}

impl Look {
    /// The look of a file, for which no screen is known.
    pub(crate) const PAPER: Look = Look { width: 100, color: false, unicode: true };

    /// Returns the columns that a report fills: `width`, from 40 to 100, because longer lines
    /// are hard to read.
    pub fn columns(self) -> usize {
        self.width.clamp(40, 100)
    }

    /// Returns the columns for a table that is too wide for [`Look::columns`]: `width`, from 40 to
    /// 140.
    pub fn table_columns(self) -> usize {
        self.width.clamp(40, 140)
    }

    /// Returns the variant that the screen can show.
    pub fn pick<T>(self, unicode: T, ascii: T) -> T {
        if self.unicode { unicode } else { ascii }
    }
}

/// The purpose of a piece of text, which decides its style. Colour is for verdicts only.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Tone {
    /// Ordinary text.
    Plain,
    /// Emphasised text.
    Strong,
    /// Small print.
    Dim,
    /// A verdict that is a success.
    Good,
    /// A verdict that is a failure.
    Bad,
    /// A verdict that leaves something open.
    Doubt,
}

impl Tone {
    fn style(self) -> Style {
        let color = match self {
            Tone::Plain => return Style::new(),
            Tone::Strong => return Style::new().bold(),
            Tone::Dim => return Style::new().dimmed(),
            Tone::Good => AnsiColor::Green,
            Tone::Bad => AnsiColor::Red,
            Tone::Doubt => AnsiColor::Yellow,
        };
        Style::new().bold().fg_color(Some(color.into()))
    }
}

/// A piece of text of one tone.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Span {
    /// The text, without any escape sequence.
    pub text: String,
    /// Its purpose.
    pub tone: Tone,
}

/// A text of several tones.
pub type Spans = Vec<Span>;

/// Makes a piece of text of one tone.
pub fn span(tone: Tone, text: impl Into<String>) -> Span {
    Span { text: text.into(), tone }
}

/// Makes an ordinary piece of text.
pub(crate) fn words(text: impl Into<String>) -> Span {
    span(Tone::Plain, text)
}

/// Returns the letters of a text, without its tones.
pub fn letters(spans: &[Span]) -> String {
    spans.iter().map(|span| span.text.as_str()).collect()
}

/// Returns the letters of a text as it can be quoted, without its tones.
pub(crate) fn quotable(spans: &[Span]) -> String {
    letters(spans).replace(NO_BREAK, " ")
}

/// Returns the width of a text in columns.
pub fn columns_of(spans: &[Span]) -> usize {
    spans.iter().map(|span| span.text.width()).sum()
}

/// Renders a text for the screen: with styles if they are wanted, without blanks at the end.
pub fn paint(spans: &[Span], look: Look) -> String {
    let end = spans.iter().rposition(|span| !span.text.trim_end().is_empty());
    let mut out = String::new();
    for (index, span) in spans.iter().enumerate().take(end.map_or(0, |end| end + 1)) {
        let last = Some(index) == end;
        let text = if last { span.text.trim_end() } else { &span.text };
        let text = text.replace(NO_BREAK, " ");
        let style = span.tone.style();
        if !look.color || style == Style::new() || text.trim().is_empty() {
            out.push_str(&text);
        } else {
            out.push_str(&format!("{style}{text}{style:#}"));
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn styles_only_if_asked_and_no_blanks_at_the_end() {
        let text =
            [span(Tone::Good, "holds"), span(Tone::Plain, " by far  "), span(Tone::Dim, " ")];
        let mut look = Look { width: 80, color: false, unicode: true };
        assert_eq!(paint(&text, look), "holds by far");
        look.color = true;
        assert_eq!(paint(&text, look), "\u{1b}[1m\u{1b}[32mholds\u{1b}[0m by far");
        assert_eq!(paint(&[], look), "");
    }
}
