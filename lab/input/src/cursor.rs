//! The words of a sentence, and a position between them from which it is read on.

use crate::error::{CANNOT_STAND, ClaimError, Read, offered, shown};
use crate::suggest::closest;
use std::borrow::Cow;
use std::ops::Range;
use tiebreak_core::metric::Metric;

/// The parts of a claim that name something.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Part {
    Left,
    Right,
    Metric,
    Workload,
}

/// The places of the words in a claim that name something, in bytes.
pub type Words = Vec<(Part, Range<usize>)>;

/// Returns the place of a part, if the claim has it.
pub fn place_of(words: &Words, part: Part) -> Option<Range<usize>> {
    words.iter().find(|(other, _)| *other == part).map(|(_, span)| span.clone())
}

/// A position between two words of a sentence.
#[derive(Clone, Debug, Default)]
pub struct Cursor<'a> {
    text: &'a str,
    /// The contestants.
    pub names: &'a [&'a str],
    tokens: Vec<Token<'a>>,
    at: usize,
    /// What was read: the contestants, the metric and the workload.
    pub left: String,
    pub right: Option<String>,
    pub metric: Option<Metric>,
    pub workload: Option<String>,
    /// Their places.
    pub named: Words,
}

impl<'a> Cursor<'a> {
    /// Returns the start of a sentence.
    pub fn new(text: &'a str, names: &'a [&'a str]) -> Read<Self> {
        let tokens = tokens(text, names)?;
        Ok(Cursor { text, names, tokens, ..Cursor::default() })
    }

    /// Returns the sentence with single spaces between its words and without its full stop.
    pub fn normalised(&self) -> String {
        let words: Vec<_> = self.tokens.iter().map(|token| token.raw).collect();
        words.join(" ")
    }

    /// Returns the word this many words ahead; 0 is the next one.
    pub fn ahead(&self, words: usize) -> Option<&Token<'a>> {
        self.tokens.get(self.at + words)
    }

    /// Moves forward by this many words.
    pub fn skip(&mut self, words: usize) {
        self.at += words;
    }

    /// Moves forward by a word, which names a part of the claim.
    pub fn take(&mut self, part: Part) {
        self.named.push((part, self.span(1)));
        self.skip(1);
    }

    /// Returns whether the word this many words ahead is this one, in any case.
    pub fn is_word(&self, words: usize, word: &str) -> bool {
        let token = self.ahead(words).filter(|token| !token.is_quoted);
        token.is_some_and(|token| token.value.eq_ignore_ascii_case(word))
    }

    /// Reads the longest of the phrases that matches here. Fails at the first word with which none
    /// of them continues.
    pub fn choose<T: Copy>(&mut self, phrases: &[(&'static str, T)]) -> Read<T> {
        let whole = phrases.iter().filter(|(phrase, _)| self.matched(phrase) == words_of(phrase));
        if let Some((phrase, value)) = whole.max_by_key(|(phrase, _)| words_of(phrase)) {
            self.skip(words_of(phrase));
            return Ok(*value);
        }
        let depth = phrases.iter().map(|(phrase, _)| self.matched(phrase)).max().unwrap_or(0);
        let open = phrases.iter().filter(|(phrase, _)| self.matched(phrase) == depth);
        let rests: Vec<&str> = open.map(|(phrase, _)| after_words(phrase, depth)).collect();
        self.skip(depth);
        let firsts = rests.iter().filter_map(|rest| rest.split(' ').next());
        let meant = self.meant(rests.iter().copied().chain(firsts));
        Err(self.error(CANNOT_STAND, offered(rests.iter().copied())).suggest(meant))
    }

    /// Reads one of these phrases, as [`Cursor::choose`] does.
    pub fn expect(&mut self, phrases: &[&'static str]) -> Read<()> {
        let phrases: Vec<_> = phrases.iter().map(|phrase| (*phrase, ())).collect();
        self.choose(&phrases)
    }

    /// Returns the metric of the claim: wall time if none was named so far.
    pub fn metric(&self) -> Metric {
        self.metric.unwrap_or(Metric::WallTime)
    }

    /// Returns the number of words of a phrase that are ahead.
    fn matched(&self, phrase: &str) -> usize {
        phrase.split(' ').enumerate().take_while(|(n, word)| self.is_word(*n, word)).count()
    }

    /// Returns the candidate that is most similar to the next word.
    pub fn meant<'b>(&self, candidates: impl Iterator<Item = &'b str>) -> Option<&'b str> {
        closest(&self.ahead(0)?.value, candidates)
    }

    /// Returns an error about the next word, for which `{}` stands in the message, or about its
    /// absence.
    pub fn error(&self, message: &str, expected: Vec<String>) -> ClaimError {
        self.error_about(1, message, expected)
    }

    /// Returns an error about this many of the next words, at least one, or about their absence.
    pub fn error_about(&self, words: usize, message: &str, expected: Vec<String>) -> ClaimError {
        let message = if self.ahead(0).is_some() { message } else { "the claim ends too early" };
        self.error_at(self.span(words), message, expected)
    }

    /// Returns an error about words that were read before.
    pub fn error_at(&self, span: Range<usize>, message: &str, expected: Vec<String>) -> ClaimError {
        let message = message.replace("{}", &shown(&self.text[span.clone()]));
        ClaimError::new(self.text, span, message, expected)
    }

    /// Returns the bytes of the next words, at least one of which exists.
    pub fn span(&self, words: usize) -> Range<usize> {
        let ahead = self.tokens.get(self.at..).unwrap_or(&[]);
        match (ahead.first(), ahead.iter().take(words).next_back()) {
            (Some(first), Some(last)) => first.span.start..last.span.end,
            _ => self.end()..self.end(),
        }
    }

    /// Returns where the last read word ends.
    pub fn last_end(&self) -> usize {
        let before = self.at.checked_sub(1).and_then(|at| self.tokens.get(at));
        before.map_or(0, |token| token.span.end)
    }

    /// Returns where the last word of the sentence ends.
    fn end(&self) -> usize {
        self.tokens.last().map_or(0, |last| last.span.end)
    }
}

fn words_of(phrase: &str) -> usize {
    phrase.split(' ').count()
}

/// Returns a phrase without its first words.
fn after_words(phrase: &str, words: usize) -> &str {
    phrase.splitn(words + 1, ' ').nth(words).unwrap_or("")
}

/// A word of the sentence.
#[derive(Clone, Debug, PartialEq)]
pub struct Token<'a> {
    /// The word as typed, with quotes.
    pub raw: &'a str,
    /// Its value.
    pub value: Cow<'a, str>,
    /// Its place, in bytes.
    pub span: Range<usize>,
    /// Whether it was between quotes, and so can only be a name.
    pub is_quoted: bool,
}

impl Token<'_> {
    pub fn starts_with_digit(&self) -> bool {
        self.raw.starts_with(|c: char| c.is_ascii_digit())
    }
}

/// Splits a sentence into words and drops a final full stop, unless the last word is a name that
/// ends with one.
fn tokens<'a>(text: &'a str, names: &[&str]) -> Read<Vec<Token<'a>>> {
    let mut tokens = Vec::new();
    let mut at = 0;
    while let Some(blank) = text[at..].find(|c: char| !c.is_whitespace()) {
        let start = at + blank;
        let quote = text[start..].chars().next().filter(|c| matches!(c, '\'' | '"'));
        let token = match quote {
            Some(quote) => quoted(text, start, quote)?,
            None => bare(text, start),
        };
        if let Some(offset) = token.raw.find(char::is_control) {
            return Err(control_character(text, start + offset));
        }
        at = token.span.end;
        if quote.is_some() && text[at..].trim_end() == "." {
            at = text.len();
        }
        tokens.push(token);
    }
    drop_full_stops(&mut tokens, names);
    Ok(tokens)
}

/// Returns the error for a control character. Claims are printed on terminals and in reports, which
/// no name may control.
fn control_character(text: &str, at: usize) -> ClaimError {
    let length = text[at..].chars().next().map_or(0, char::len_utf8);
    let expected = vec!["a space or a letter".to_owned()];
    ClaimError::new(text, at..at + length, "a control character cannot stand here", expected)
}

/// Returns the end of the run of characters from `start` on that are not white space.
fn word_end(text: &str, start: usize) -> usize {
    text[start..].find(char::is_whitespace).map_or(text.len(), |length| start + length)
}

fn bare(text: &str, start: usize) -> Token<'_> {
    let span = start..word_end(text, start);
    let raw = &text[span.clone()];
    Token { raw, value: Cow::Borrowed(raw), span, is_quoted: false }
}

fn quoted(text: &str, start: usize, quote: char) -> Read<Token<'_>> {
    let inner = start + quote.len_utf8();
    let doubled = [quote; 2].iter().collect::<String>();
    let Some(end) = text[inner..].replace(&doubled, "..").find(quote).map(|at| inner + at) else {
        let rest = start..text.trim_end().len();
        let expected = vec![format!("another {quote} after the name")];
        return Err(ClaimError::new(text, rest, "the quote is not closed", expected));
    };
    let after = end + quote.len_utf8();
    let glued = after..word_end(text, after);
    if !glued.is_empty() && text[after..].trim_end() != "." {
        let message = "the closing quote does not end the word";
        return Err(ClaimError::new(text, glued, message, vec!["a space".to_owned()]));
    }
    let value = Cow::Owned(text[inner..end].replace(&doubled, quote.encode_utf8(&mut [0; 4])));
    Ok(Token { raw: &text[start..after], value, span: start..after, is_quoted: true })
}

/// Drops all final full stops, so that the remaining words parse to the same again.
fn drop_full_stops(tokens: &mut Vec<Token<'_>>, names: &[&str]) {
    while let Some(last) = tokens.last_mut().filter(|last| !last.is_quoted) {
        match last.raw.strip_suffix('.') {
            Some("") => drop(tokens.pop()),
            Some(word) if !names.contains(&last.raw) => {
                last.raw = word;
                last.value = Cow::Borrowed(word);
                last.span.end -= 1;
            }
            _ => return,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const PHRASES: [(&str, u8); 4] =
        [("at least", 0), ("at most", 1), ("at most times", 2), ("than", 3)];

    fn check_choice(text: &str, expected: Result<u8, (&[&str], Option<&str>)>) {
        let mut cursor = Cursor::new(text, &[]).unwrap();
        let found = cursor.choose(&PHRASES).map_err(|e| (e.expected, e.suggestion));
        let expected = expected
            .map_err(|(words, meant)| (offered(words.iter().copied()), meant.map(str::to_owned)));
        assert_eq!(found, expected, "{text}");
    }

    #[test]
    fn the_longest_phrase_is_read_and_what_could_go_on_is_listed() {
        check_choice("AT Least", Ok(0));
        check_choice("at most x", Ok(1));
        check_choice("at most times", Ok(2));
        check_choice("at lest", Err((&["least", "most", "most times"], Some("least"))));
        check_choice("at", Err((&["least", "most", "most times"], None)));
        check_choice(
            "atleast",
            Err((&["at least", "at most", "at most times", "than"], Some("at least"))),
        );
        check_choice("tan", Err((&["at least", "at most", "at most times", "than"], Some("than"))));
        check_choice(
            "'than'",
            Err((&["at least", "at most", "at most times", "than"], Some("than"))),
        );
    }

    fn check_tokens(text: &str, expected: &[(&str, usize)]) {
        let tokens = tokens(text, &["v1."]).unwrap();
        let found: Vec<_> = tokens.iter().map(|t| (t.value.as_ref(), t.span.start)).collect();
        assert_eq!(found, expected, "{text}");
        for token in tokens {
            assert_eq!(&text[token.span], token.raw);
        }
    }

    #[test]
    fn sentences_split_into_words() {
        check_tokens("", &[]);
        check_tokens(" \t\n", &[]);
        check_tokens("A is", &[("A", 0), ("is", 2)]);
        check_tokens("  A\t is\n", &[("A", 2), ("is", 5)]);
        check_tokens("'my prog' is", &[("my prog", 0), ("is", 10)]);
        check_tokens("\"my prog\" is", &[("my prog", 0), ("is", 10)]);
        check_tokens("'it''s' it's", &[("it's", 0), ("it's", 8)]);
        check_tokens("'' ''''", &[("", 0), ("'", 3)]);
        check_tokens("\u{e9}\u{a0}\u{e9}", &[("\u{e9}", 0), ("\u{e9}", 4)]);
    }

    #[test]
    fn a_final_full_stop_goes_unless_a_name_ends_with_it() {
        check_tokens("than B.", &[("than", 0), ("B", 5)]);
        check_tokens("than B .", &[("than", 0), ("B", 5)]);
        check_tokens("than 'B'.", &[("than", 0), ("B", 5)]);
        check_tokens("than 'B'. ", &[("than", 0), ("B", 5)]);
        check_tokens("than 'B.'", &[("than", 0), ("B.", 5)]);
        check_tokens("than v1.", &[("than", 0), ("v1.", 5)]);
        check_tokens("than v1..", &[("than", 0), ("v1.", 5)]);
        check_tokens("than B.. .", &[("than", 0), ("B", 5)]);
        check_tokens("B. is", &[("B.", 0), ("is", 3)]);
    }
}
