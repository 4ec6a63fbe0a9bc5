//! What is wrong with a sentence, where, and what could stand there.

use std::ops::Range;
use thiserror::Error;
use tiebreak_core::metric::Metric;

/// How many characters of a word an error repeats.
const SHOWN_CHARS: usize = 40;

/// A sentence that is not a claim: the word that is wrong and what could stand there.
///
/// `Display` gives one line, [`ClaimError::render`] the sentence with the word underlined.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[error("{}", self.line())]
pub struct ClaimError {
    /// The sentence as it was given.
    pub text: String,
    /// The bytes of the wrong word in `text`, on character boundaries; empty, and one past the last
    /// word, if a word is missing at the end.
    pub span: Range<usize>,
    /// What is wrong.
    pub problem: Problem,
    /// What could stand there, as it is shown: words in quotes, other things described.
    pub expected: Vec<String>,
    /// What was probably meant there.
    pub suggestion: Option<String>,
}

/// What is wrong with a sentence. Words in here are shortened and free of control characters.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum Problem {
    /// There is not one word.
    #[error("the claim is empty")]
    Empty,
    /// It is longer than [`MAX_CLAIM_BYTES`](crate::MAX_CLAIM_BYTES).
    #[error("the claim has {bytes} bytes")]
    TooLong {
        /// How long it is.
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
    /// A word where an amount must stand.
    #[error("'{0}' is neither a factor nor a percentage")]
    NotAnAmount(String),
    /// A word where a share must stand.
    #[error("'{0}' is not a share")]
    NotAShare(String),
    /// A word where a number must stand, with a unit or without.
    #[error("'{0}' is not a number")]
    NotANumber(String),
    /// A word where a unit must stand.
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
    /// An amount that means nothing, or that nobody means.
    #[error("'{0}' is out of range")]
    OutOfRange(String),
    /// A second metric, workload, bad share, cap or share of rounds.
    #[error("the {0} is named twice")]
    NamedTwice(&'static str),
    /// A tab or a line feed in a name, or an escape anywhere.
    #[error("a control character cannot stand here")]
    ControlCharacter,
    /// A quote without its partner.
    #[error("the quote is not closed")]
    OpenQuote,
    /// Something right behind a closing quote.
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

    /// Something more that could stand there.
    pub(crate) fn or_expect(mut self, expected: &str) -> Self {
        self.expected.push(expected.to_owned());
        self
    }

    /// What could stand there: `expected 'than'`; `None` if that is not known.
    pub(crate) fn expectation(&self) -> Option<String> {
        let (last, others) = self.expected.split_last()?;
        Some(match others {
            [] => format!("expected {last}"),
            _ => format!("expected {} or {last}", others.join(", ")),
        })
    }

    /// The whole error in one line. A suggestion takes the place of all that could stand there,
    /// except that the contestants are always listed.
    fn line(&self) -> String {
        let is_name = matches!(self.problem, Problem::UnknownContestant(_));
        let mut line = self.problem.to_string();
        if let Some(expectation) = self.expectation()
            && (is_name || self.suggestion.is_none())
        {
            line += &format!(": {expectation}");
        }
        if let Some(suggestion) = &self.suggestion {
            line += &format!("; did you mean '{suggestion}'?");
        }
        line
    }
}

/// Returns a word as errors repeat it: shortened, and with nothing that a terminal would obey.
pub(crate) fn shown(word: &str) -> String {
    match word.char_indices().nth(SHOWN_CHARS) {
        Some((end, _)) => harmless(&word[..end]) + "...",
        None => harmless(word),
    }
}

/// Returns a text with what a terminal would obey written as escapes.
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

/// Words as errors offer them, each in quotes.
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
