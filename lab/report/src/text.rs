//! Text from outside made safe to show, cut to a width, wrapped and quoted.

use crate::look::{Look, Span, Spans, Tone, columns_of, letters, paint, span};
use unicode_width::{UnicodeWidthChar, UnicodeWidthStr};

/// A user's text on one line without control characters, so that it can neither break a table nor
/// speak to the terminal: runs of white space become one blank, other control characters `?`.
pub fn plain(text: &str) -> String {
    let words: Vec<_> = text.split_whitespace().collect();
    words.join(" ").chars().map(|c| if c.is_control() { '?' } else { c }).collect()
}

/// Returns a fault's text, cut to 240 characters.
pub fn short(text: &str) -> String {
    const MOST: usize = 240;
    let text = plain(text);
    let mut shown: String = text.chars().take(MOST).collect();
    if shown.len() < text.len() {
        shown.push_str("...");
    }
    shown.trim_end_matches('.').to_owned()
}

/// Collects values in their order, without duplicates.
pub fn each_once<T: PartialEq>(values: impl IntoIterator<Item = T>) -> Vec<T> {
    let mut once = Vec::new();
    for value in values {
        if !once.contains(&value) {
            once.push(value);
        }
    }
    once
}

/// Collects texts in their order, without duplicates, each with the names that it belongs to.
pub(crate) fn grouped(
    texts: impl IntoIterator<Item = (String, String)>,
) -> Vec<(String, Vec<String>)> {
    let mut groups: Vec<(String, Vec<String>)> = Vec::new();
    for (text, name) in texts {
        match groups.iter_mut().find(|(other, _)| *other == text) {
            Some((_, names)) if names.contains(&name) => {}
            Some((_, names)) => names.push(name),
            None => groups.push((text, vec![name])),
        }
    }
    groups
}

/// Pads texts to the width of the widest.
pub(crate) fn padded(texts: Vec<String>) -> Vec<String> {
    let width = texts.iter().map(|text| text.width()).max().unwrap_or(0);
    texts.into_iter().map(|text| format!("{text}{}", " ".repeat(width - text.width()))).collect()
}

/// Paints a line; one that takes more than `columns` loses its middle, and its tones with it.
pub(crate) fn fitted(line: &[Span], columns: usize, look: Look) -> String {
    if columns_of(line) <= columns {
        return paint(line, look);
    }
    paint(&[span(Tone::Plain, shorten_middle(letters(line).trim_end(), columns, look))], look)
}

/// Cuts a text in the middle so that it takes at most `columns`: long commands mostly differ at
/// their beginning or their end.
pub fn shorten_middle(text: &str, columns: usize, look: Look) -> String {
    if text.width() <= columns {
        return text.to_owned();
    }
    let gap = look.pick("\u{2026}", "...");
    if columns <= gap.width() {
        return beginning(text.chars(), columns);
    }
    let room = columns - gap.width();
    let tail = beginning(text.chars().rev(), room / 2);
    beginning(text.chars(), room.div_ceil(2)) + gap + &tail.chars().rev().collect::<String>()
}

/// Returns as many characters from the front as fit into `columns`.
fn beginning(text: impl Iterator<Item = char>, columns: usize) -> String {
    let mut used = 0;
    let shown = text.take_while(|c| {
        used += c.width().unwrap_or(0);
        used <= columns
    });
    shown.collect()
}

/// Wraps a text at blanks into lines of at most `columns`; words that are longer are broken.
pub fn wrap(text: &[Span], columns: usize) -> Vec<Spans> {
    let mut lines = vec![Spans::new()];
    for word in words(text) {
        for piece in broken(word, columns) {
            let line = lines.last_mut().expect("there is always a line");
            match line.last() {
                Some(_) if columns_of(line) + 1 + columns_of(&piece) > columns => {
                    lines.push(piece);
                    continue;
                }
                Some(last) if last.tone == piece[0].tone => append(line, span(piece[0].tone, " ")),
                Some(_) => append(line, span(Tone::Plain, " ")),
                None => {}
            }
            piece.into_iter().for_each(|part| append(line, part));
        }
    }
    lines
}

/// Wraps a text without tones.
pub fn wrap_plain(text: &str, columns: usize) -> Vec<String> {
    wrap(&[span(Tone::Plain, text)], columns).iter().map(|line| letters(line)).collect()
}

/// Adds to a line, joined to its last span if the tone is the same.
fn append(line: &mut Spans, part: Span) {
    match line.last_mut() {
        Some(last) if last.tone == part.tone => last.text.push_str(&part.text),
        _ => line.push(part),
    }
}

/// Splits a text into words; a word may have several tones (`Holds` and its colon).
fn words(text: &[Span]) -> Vec<Spans> {
    let mut words = Vec::new();
    let mut word = Spans::new();
    for part in text {
        for (index, piece) in part.text.split(' ').enumerate() {
            if index > 0 && !word.is_empty() {
                words.push(std::mem::take(&mut word));
            }
            if !piece.is_empty() {
                word.push(span(part.tone, piece));
            }
        }
    }
    if !word.is_empty() {
        words.push(word);
    }
    words
}

/// Splits a word into pieces of at most `columns`; mostly there is one.
fn broken(word: Spans, columns: usize) -> Vec<Spans> {
    if columns_of(&word) <= columns {
        return vec![word];
    }
    let text = letters(&word);
    let mut rest = text.as_str();
    let mut pieces = Vec::new();
    while !rest.is_empty() {
        let piece = beginning(rest.chars(), columns.max(2));
        rest = &rest[piece.len()..];
        pieces.push(vec![span(word[0].tone, piece)]);
    }
    pieces
}

/// A word as a POSIX shell must be given it to get the word again. Control characters need the
/// `$'...'` form of POSIX.1-2024.
pub fn shell_quote(word: &str) -> String {
    let harmless = |c: char| c.is_ascii_alphanumeric() || "-_./=:,@%+".contains(c);
    if !word.is_empty() && word.chars().all(harmless) {
        return word.to_owned();
    }
    if !word.chars().any(char::is_control) {
        return format!("'{}'", word.replace('\'', "'\\''"));
    }
    let mut quoted = String::from("$'");
    for c in word.chars() {
        match c {
            '\n' => quoted.push_str("\\n"),
            '\t' => quoted.push_str("\\t"),
            '\'' | '\\' => quoted.extend(['\\', c]),
            c if c.is_control() => {
                let mut bytes = [0; 4];
                for byte in c.encode_utf8(&mut bytes).bytes() {
                    quoted.push_str(&format!("\\{byte:03o}"));
                }
            }
            c => quoted.push(c),
        }
    }
    quoted.push('\'');
    quoted
}

/// Joins words into a line that a shell splits into the same words.
pub fn shell_line(words: &[String]) -> String {
    words.iter().map(|word| shell_quote(word)).collect::<Vec<_>>().join(" ")
}

#[cfg(test)]
mod tests {
    use super::*;

    const ASCII: Look = Look { width: 80, color: false, unicode: false };

    #[test]
    fn text_from_outside_cannot_speak_to_the_terminal() {
        assert_eq!(plain("a\u{1b}[31m\tb\r\n c\u{9b}1m"), "a?[31m b c?1m");
    }

    #[test]
    fn long_text_loses_its_middle() {
        let unicode = Look { unicode: true, ..ASCII };
        for (text, columns, look, expected) in [
            ("short", 5, ASCII, "short"),
            ("0123456789", 9, ASCII, "012...789"),
            ("0123456789", 8, ASCII, "012...89"),
            ("0123456789", 3, ASCII, "012"),
            ("0123456789", 7, unicode, "012\u{2026}789"),
            ("\u{4e2d}\u{4e2d}\u{4e2d}\u{4e2d}", 6, unicode, "\u{4e2d}\u{2026}\u{4e2d}"),
        ] {
            let short = shorten_middle(text, columns, look);
            assert_eq!(short, expected);
            assert!(short.width() <= columns);
        }
    }

    #[test]
    fn wrapping_keeps_tones_and_words() {
        let text = [span(Tone::Good, "Holds"), span(Tone::Plain, ": A is faster abcdefghijklmnop")];
        let lines: Vec<_> = wrap(&text, 10).iter().map(|line| letters(line)).collect();
        assert_eq!(lines, ["Holds: A", "is faster", "abcdefghij", "klmnop"]);
        assert_eq!(wrap(&text, 40)[0][0], span(Tone::Good, "Holds"));
    }

    #[test]
    fn quoted_words_survive_a_shell() {
        for (word, quoted) in [
            ("sleep", "sleep"),
            ("", "''"),
            ("sleep 0.1", "'sleep 0.1'"),
            ("it's", "'it'\\''s'"),
            ("$HOME", "'$HOME'"),
            ("a\nb'\u{1b}", "$'a\\nb\\'\\033'"),
        ] {
            assert_eq!(shell_quote(word), quoted);
        }
    }
}
