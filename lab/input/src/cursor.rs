//! A position in a sentence, and how to read on from there.

use crate::error::{ClaimError, Problem, offered, shown};
use crate::suggest::closest;
use crate::token::{Token, tokens};
use std::ops::Range;

/// A position between two words of a sentence.
#[derive(Clone, Debug)]
pub(crate) struct Cursor<'a> {
    text: &'a str,
    tokens: Vec<Token<'a>>,
    at: usize,
}

impl<'a> Cursor<'a> {
    /// Returns the start of a sentence.
    pub(crate) fn new(text: &'a str, names: &[&str]) -> Result<Self, ClaimError> {
        Ok(Cursor { text, tokens: tokens(text, names)?, at: 0 })
    }

    /// Returns the sentence with single spaces between its words and without its full stop.
    pub(crate) fn normalised(&self) -> String {
        let words: Vec<_> = self.tokens.iter().map(|token| token.raw).collect();
        words.join(" ")
    }

    /// Returns the word this many words ahead; 0 is the next one.
    pub(crate) fn ahead(&self, words: usize) -> Option<&Token<'a>> {
        self.tokens.get(self.at + words)
    }

    /// Moves forward by this many words.
    pub(crate) fn skip(&mut self, words: usize) {
        self.at += words;
    }

    /// Returns whether the word this many words ahead is this one, in any case.
    pub(crate) fn is_word(&self, words: usize, word: &str) -> bool {
        let is_it = |token: &Token<'_>| !token.is_quoted && token.value.eq_ignore_ascii_case(word);
        self.ahead(words).is_some_and(is_it)
    }

    /// Reads the longest of the phrases that matches here. Fails at the first word with which none
    /// of them continues.
    pub(crate) fn choose<T: Copy>(
        &mut self,
        phrases: &[(&'static str, T)],
    ) -> Result<T, ClaimError> {
        let matched = |phrase: &str| {
            phrase.split(' ').enumerate().take_while(|(n, word)| self.is_word(*n, word)).count()
        };
        let length = |phrase: &str| phrase.split(' ').count();
        let whole = phrases.iter().filter(|(phrase, _)| matched(phrase) == length(phrase));
        if let Some((phrase, value)) = whole.max_by_key(|(phrase, _)| length(phrase)) {
            self.skip(length(phrase));
            return Ok(*value);
        }
        let depth = phrases.iter().map(|(phrase, _)| matched(phrase)).max().unwrap_or(0);
        let open = phrases.iter().filter(|(phrase, _)| matched(phrase) == depth);
        let rests: Vec<&str> = open.map(|(phrase, _)| after_words(phrase, depth)).collect();
        self.skip(depth);
        let firsts = rests.iter().filter_map(|rest| rest.split(' ').next());
        let meant = self.meant(rests.iter().copied().chain(firsts));
        Err(self.error(Problem::UnexpectedWord, offered(rests.iter().copied())).suggest(meant))
    }

    /// Returns the candidate that is most similar to the next word.
    pub(crate) fn meant<'b>(&self, candidates: impl Iterator<Item = &'b str>) -> Option<&'b str> {
        closest(&self.ahead(0)?.value, candidates)
    }

    /// Returns an error about the next word, or about its absence.
    pub(crate) fn error(
        &self,
        problem: impl FnOnce(String) -> Problem,
        expected: Vec<String>,
    ) -> ClaimError {
        self.error_about(1, problem, expected)
    }

    /// Returns an error about this many of the next words, at least one, or about their absence.
    pub(crate) fn error_about(
        &self,
        words: usize,
        problem: impl FnOnce(String) -> Problem,
        expected: Vec<String>,
    ) -> ClaimError {
        match self.ahead(0) {
            Some(_) => self.error_at(self.span(words), problem, expected),
            None => {
                let end = self.end();
                ClaimError::new(self.text, end..end, Problem::EndsEarly, expected)
            }
        }
    }

    /// Returns an error about words that were read before.
    pub(crate) fn error_at(
        &self,
        span: Range<usize>,
        problem: impl FnOnce(String) -> Problem,
        expected: Vec<String>,
    ) -> ClaimError {
        let problem = problem(shown(&self.text[span.clone()]));
        ClaimError::new(self.text, span, problem, expected)
    }

    /// Returns the bytes of the next words, at least one of which exists.
    pub(crate) fn span(&self, words: usize) -> Range<usize> {
        let ahead = self.tokens.get(self.at..).unwrap_or(&[]);
        match (ahead.first(), ahead.iter().take(words).next_back()) {
            (Some(first), Some(last)) => first.span.start..last.span.end,
            _ => self.end()..self.end(),
        }
    }

    /// Returns where the last read word ends.
    pub(crate) fn last_end(&self) -> usize {
        let before = self.at.checked_sub(1).and_then(|at| self.tokens.get(at));
        before.map_or(0, |token| token.span.end)
    }

    /// Returns where the last word of the sentence ends.
    fn end(&self) -> usize {
        self.tokens.last().map_or(0, |last| last.span.end)
    }
}

/// Returns a phrase without its first words.
fn after_words(phrase: &str, words: usize) -> &str {
    phrase.splitn(words + 1, ' ').nth(words).unwrap_or("")
}

#[cfg(test)]
mod tests {
    use super::*;

    const PHRASES: [(&str, u8); 4] =
        [("at least", 0), ("at most", 1), ("at most times", 2), ("than", 3)];

    fn check(text: &str, expected: Result<u8, (&[&str], Option<&str>)>) {
        let mut cursor = Cursor::new(text, &[]).unwrap();
        let found = cursor.choose(&PHRASES).map_err(|e| (e.expected, e.suggestion));
        let expected = expected
            .map_err(|(words, meant)| (offered(words.iter().copied()), meant.map(str::to_owned)));
        assert_eq!(found, expected, "{text}");
    }

    #[test]
    fn the_longest_phrase_is_read_and_what_could_go_on_is_told() {
        check("AT Least", Ok(0));
        check("at most x", Ok(1));
        check("at most times", Ok(2));
        check("at lest", Err((&["least", "most", "most times"], Some("least"))));
        check("at", Err((&["least", "most", "most times"], None)));
        check(
            "atleast",
            Err((&["at least", "at most", "at most times", "than"], Some("at least"))),
        );
        check("tan", Err((&["at least", "at most", "at most times", "than"], Some("than"))));
        check("'than'", Err((&["at least", "at most", "at most times", "than"], Some("than"))));
    }
}
