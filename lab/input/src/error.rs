//! Errors of a sentence: what is wrong, where, what is expected there, and how it is shown.

use annotate_snippets::{AnnotationKind, Group, Level, Renderer, Snippet};
use std::ops::Range;
use thiserror::Error;
use tiebreak_core::metric::Metric;

/// The most characters of a word that an error repeats.
const SHOWN_CHARS: usize = 40;
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
    /// What is wrong.
    pub problem: Problem,
    /// What is expected there, as shown: words in quotes, other things described.
    pub expected: Vec<String>,
    /// What was probably meant there.
    pub suggestion: Option<String>,
}

/// What is wrong with a sentence. The words in it are shortened and have no control characters.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum Problem {
    /// It contains no word.
    #[error("the claim is empty")]
    Empty,
    /// It is longer than [`MAX_CLAIM_BYTES`](crate::MAX_CLAIM_BYTES).
    #[error("the claim has {bytes} bytes")]
    TooLong {
        /// Its length.
        bytes: usize,
    },
    /// Words are missing at the end.
    #[error("the claim ends too early")]
    EndsEarly,
    /// A word that does not fit.
    #[error("'{0}' cannot stand here")]
    UnexpectedWord(String),
    /// A name that no contestant has.
    #[error("no contestant is called '{0}'")]
    UnknownContestant(String),
    /// The same contestant on both sides.
    #[error("'{0}' is compared with itself")]
    SameContestant(String),
    /// A word in the place of an amount.
    #[error("'{0}' is neither a factor nor a percentage")]
    NotAnAmount(String),
    /// A word in the place of a share.
    #[error("'{0}' is not a share")]
    NotAShare(String),
    /// A word in the place of a number, with a unit or without.
    #[error("'{0}' is not a number")]
    NotANumber(String),
    /// A word in the place of a unit.
    #[error("'{0}' is not a unit")]
    NotAUnit(String),
    /// An amount in a unit that its metric does not have.
    #[error("'{amount}' is not an amount of {}", metric.name())]
    WrongUnit {
        /// The amount.
        amount: String,
        /// The metric.
        metric: Metric,
    },
    /// An amount that means nothing, or that no user intends.
    #[error("'{0}' is out of range")]
    OutOfRange(String),
    /// A second metric, workload, bad share, cap or share of rounds.
    #[error("the {0} is named twice")]
    NamedTwice(&'static str),
    /// A tab or a line feed in a name, or an escape anywhere.
    #[error("a control character cannot stand here")]
    ControlCharacter,
    /// A quote that is not closed.
    #[error("the quote is not closed")]
    OpenQuote,
    /// A character directly after a closing quote.
    #[error("the closing quote does not end the word")]
    GluedQuote,
    /// A question.
    #[error("a question is not a claim")]
    Question,
}

impl ClaimError {
    pub(crate) fn new(
        text: &str,
        span: Range<usize>,
        problem: Problem,
        expected: Vec<String>,
    ) -> Self {
        ClaimError { text: text.to_owned(), span, problem, expected, suggestion: None }
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
        let is_name = matches!(self.problem, Problem::UnknownContestant(_));
        let mut line = self.problem.to_string();
        if let Some(expectation) = expectation(&self.expected)
            && (is_name || self.suggestion.is_none())
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
        let title = self.problem.to_string();
        let mut report = Group::with_title(Level::ERROR.primary_title(title));
        if matches!(self.problem, Problem::TooLong { .. }) {
            report = report
                .element(Level::NOTE.message(expectation(&self.expected).unwrap_or_default()));
        } else {
            let mark =
                AnnotationKind::Primary.span(self.span.clone()).label(expectation(&self.expected));
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
pub(crate) fn shown(word: &str) -> String {
    match word.char_indices().nth(SHOWN_CHARS) {
        Some((end, _)) => harmless(&word[..end]) + "...",
        None => harmless(word),
    }
}

/// Returns a text with terminal control characters written as escapes.
pub(crate) fn harmless(text: &str) -> String {
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
pub(crate) fn expectation(expected: &[String]) -> Option<String> {
    (!expected.is_empty()).then(|| format!("expected {}", alternatives(expected)))
}

/// Joins alternatives: `a, b or c`.
pub(crate) fn alternatives(words: &[String]) -> String {
    match words {
        [] => String::new(),
        [only] => only.clone(),
        [others @ .., last] => format!("{} or {last}", others.join(", ")),
    }
}

/// Returns names as errors list them: the first ones, and how many more there are.
pub(crate) fn listed(names: &[&str]) -> Vec<String> {
    let mut listed = offered(names.iter().copied().take(LISTED_NAMES));
    if names.len() > LISTED_NAMES {
        listed.push(format!("one of {} more", names.len() - LISTED_NAMES));
    }
    listed
}

/// Returns words as errors list them, each in quotes.
pub(crate) fn offered<'a>(words: impl IntoIterator<Item = &'a str>) -> Vec<String> {
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
