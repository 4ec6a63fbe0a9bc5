//! Errors of a sentence: what is wrong, where, what is expected there, and how it is shown.

use annotate_snippets::{AnnotationKind, Group, Level, Renderer, Snippet};
use std::ops::Range;
use thiserror::Error;

/// The longest sentence that is read, in bytes; longer ones are not repeated in errors.
pub const MAX_CLAIM_BYTES: usize = 1000;
/// The most characters of a word that an error repeats.
const SHOWN_CHARS: usize = 40;
/// The message about a word that does not fit.
pub const CANNOT_STAND: &str = "'{}' cannot stand here";
/// The message about an amount that means nothing, or that no user intends.
pub const OUT_OF_RANGE: &str = "'{}' is out of range";
/// The most names that an error lists.
const LISTED_NAMES: usize = 8;

/// A sentence that is not a claim: the word that is wrong and what is expected there.
///
/// `Display` writes one line; [`ClaimError::render`] writes the sentence with the word underlined.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[error("{}", self.line())]
pub struct ClaimError {
    /// The sentence as given.
    pub text: String,
    /// The bytes of the wrong word in `text`, on character boundaries; empty, and one past the last
    /// word, if a word is missing at the end.
    pub span: Range<usize>,
    /// What is wrong. Words of the sentence in it are shortened and have no control characters.
    pub message: String,
    /// What is expected there, as shown: words in quotes, other things described.
    pub expected: Vec<String>,
    /// What was probably meant there.
    pub suggestion: Option<String>,
    /// Whether the line says what is expected in addition to a suggestion.
    pub(crate) always_lists: bool,
}

/// What was read of a sentence.
pub type Read<T> = Result<T, ClaimError>;

impl ClaimError {
    pub(crate) fn new(
        text: &str,
        span: Range<usize>,
        message: impl Into<String>,
        expected: Vec<String>,
    ) -> Self {
        let (text, message) = (text.to_owned(), message.into());
        ClaimError { text, span, message, expected, suggestion: None, always_lists: false }
    }

    pub(crate) fn suggest(mut self, suggestion: Option<&str>) -> Self {
        self.suggestion = suggestion.map(shown);
        self
    }

    /// Adds an alternative to what is expected.
    pub(crate) fn or_expect(mut self, expected: &str) -> Self {
        self.expected.push(expected.to_owned());
        self
    }

    /// Returns the whole error in one line. A suggestion replaces what is expected, except that the
    /// contestants are always listed.
    fn line(&self) -> String {
        let mut line = self.message.clone();
        if let Some(expectation) = expectation(&self.expected)
            && (self.always_lists || self.suggestion.is_none())
        {
            line += &format!(": {expectation}");
        }
        if let Some(suggestion) = &self.suggestion {
            line += &format!("; did you mean '{suggestion}'?");
        }
        line
    }

    /// Renders several lines: what is wrong, the sentence with the wrong word underlined, and what
    /// is expected there. Without `color`, it uses no escape codes, and all that it adds to the
    /// sentence is plain ASCII; control characters in it are shown as pictures of themselves. A
    /// sentence that is too long is not repeated.
    ///
    /// ```
    /// let error = tiebreak_input::parse("A is fsater than B", &["A", "B"]).unwrap_err();
    /// let expected = "\
    /// error: 'fsater' cannot stand here
    ///  |
    ///  | A is fsater than B
    ///  |      ^^^^^^ expected 'faster', 'at least', 'no more than', 'at most' or 'within'
    ///  |
    ///  = help: did you mean 'faster'?";
    /// assert_eq!(error.render(false), expected);
    /// ```
    pub fn render(&self, color: bool) -> String {
        // One line, whatever the sentence contains; spans stay valid, because these are single
        // bytes.
        let text = self.text.replace(['\n', '\r', '\t'], " ");
        let mut report = Group::with_title(Level::ERROR.primary_title(&self.message));
        let expectation = expectation(&self.expected);
        if text.len() > MAX_CLAIM_BYTES {
            report = report.element(Level::NOTE.message(expectation.unwrap_or_default()));
        } else {
            let mark = AnnotationKind::Primary.span(self.span.clone()).label(expectation);
            report = report.element(Snippet::source(text).line_numbering(false).annotation(mark));
        }
        if let Some(suggestion) = &self.suggestion {
            report = report.element(Level::HELP.message(format!("did you mean '{suggestion}'?")));
        }
        let renderer = if color { Renderer::styled() } else { Renderer::plain() };
        renderer.render(&[report])
    }
}

/// Returns a word as errors repeat it: shortened, and without terminal control sequences.
pub fn shown(word: &str) -> String {
    match word.char_indices().nth(SHOWN_CHARS) {
        Some((end, _)) => harmless(&word[..end]) + "...",
        None => harmless(word),
    }
}

/// Returns a text with terminal control characters written as escapes.
pub fn harmless(text: &str) -> String {
    let mut harmless = String::with_capacity(text.len());
    for c in text.chars() {
        match c {
            '\u{2028}'..='\u{202e}' | '\u{2066}'..='\u{2069}' => {
                harmless.extend(c.escape_unicode());
            }
            c if c.is_control() => harmless.extend(c.escape_default()),
            c => harmless.push(c),
        }
    }
    harmless
}

/// Returns what is expected: `expected 'than' or 'of'`; `None` if it is unknown.
pub fn expectation(expected: &[String]) -> Option<String> {
    (!expected.is_empty()).then(|| format!("expected {}", alternatives(expected)))
}

/// Joins alternatives: `a, b or c`.
pub fn alternatives(words: &[String]) -> String {
    match words {
        [] => String::new(),
        [only] => only.clone(),
        [others @ .., last] => format!("{} or {last}", others.join(", ")),
    }
}

/// Returns names as errors list them: the first ones, and how many more there are.
pub fn listed(names: &[&str]) -> Vec<String> {
    let mut listed = offered(names.iter().copied().take(LISTED_NAMES));
    if names.len() > LISTED_NAMES {
        listed.push(format!("one of {} more", names.len() - LISTED_NAMES));
    }
    listed
}

/// Returns words as errors list them, each in quotes.
pub fn offered<'a>(words: impl IntoIterator<Item = &'a str>) -> Vec<String> {
    words.into_iter().map(|word| format!("'{}'", shown(word))).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_are_shown_short_and_harmless() {
        let long = "x".repeat(50);
        let cases = [
            ("plain", "plain".to_owned()),
            ("na\u{ef}ve", "na\u{ef}ve".to_owned()),
            ("a\nb\u{1b}[31m", "a\\nb\\u{1b}[31m".to_owned()),
            ("a\u{202e}b", "a\\u{202e}b".to_owned()),
            (long.as_str(), "x".repeat(40) + "..."),
        ];
        for (word, expected) in cases {
            assert_eq!(shown(word), expected);
        }
    }
}
