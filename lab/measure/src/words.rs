//! Splits a command into words as a POSIX shell does, without its expansions.

use std::iter::{Enumerate, Peekable};
use std::str::Chars;

/// Why a command cannot be split without a shell.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum WordsError {
    /// The command contains no word.
    #[error("the command is empty")]
    Empty,
    /// A character that only a shell understands.
    #[error(
        "'{character}' at character {position} means something to a shell, and none is used: quote \
         it if it is meant as it stands, or run the command through a shell with --shell"
    )]
    NeedsShell {
        /// The character.
        character: char,
        /// The position of the character in the command, counted from 1.
        position: usize,
    },
    /// A quote that is not closed.
    #[error("the quote {quote} at character {position} is not closed")]
    OpenQuote {
        /// The quote.
        quote: char,
        /// The position of the quote in the command, counted from 1.
        position: usize,
    },
    /// A backslash with nothing after it.
    #[error("the command ends with a backslash")]
    OpenBackslash,
    /// `NAME=value` before the program.
    #[error("'{word}' sets a variable, which needs a shell: 'env {word} ...' or --shell does it")]
    Assignment {
        /// The word.
        word: String,
    },
}

/// Splits a command into words: blanks separate, `'...'`, `"..."` and `\` quote as in `sh`
/// (POSIX.1-2017, XCU 2.2).
///
/// Nothing is expanded. A character that a shell would act on is an error unless it is quoted:
/// `| & ; < > ( ) $ * ?` and the backquote anywhere, `~` and `#` at the start of a word, `$` and
/// the backquote also within double quotes, and a line break within the command.
///
/// # Errors
/// Fails if the command needs a shell or is empty, or if a quote is open.
///
/// ```
/// let words = tiebreak_measure::words::split(r#"grep -c 'a b' "it's" c\ d"#).unwrap();
/// assert_eq!(words, ["grep", "-c", "a b", "it's", "c d"]);
/// ```
pub fn split(command: &str) -> Result<Vec<String>, WordsError> {
    let trimmed = command.trim_end_matches(['\n', '\r']);
    let mut splitter = Splitter(trimmed.chars().enumerate().peekable());
    let mut words = Vec::new();
    while let Some(word) = splitter.word()? {
        words.push(word);
    }
    match words.first() {
        None => Err(WordsError::Empty),
        Some(word) if is_assignment(word) => Err(WordsError::Assignment { word: word.clone() }),
        Some(_) => Ok(words),
    }
}

fn is_assignment(word: &str) -> bool {
    let Some((name, _)) = word.split_once('=') else {
        return false;
    };
    !name.is_empty()
        && name.chars().all(|c| c.is_ascii_alphanumeric() || c == '_')
        && !name.starts_with(|c: char| c.is_ascii_digit())
}

/// The rest of a command: characters with their positions, counted from 0.
struct Splitter<'a>(Peekable<Enumerate<Chars<'a>>>);

impl Splitter<'_> {
    /// Returns the next word; `None` at the end.
    fn word(&mut self) -> Result<Option<String>, WordsError> {
        while self.0.next_if(|(_, c)| matches!(c, ' ' | '\t')).is_some() {}
        let Some(&(at, first)) = self.0.peek() else {
            return Ok(None);
        };
        if matches!(first, '~' | '#') {
            return Err(needs_shell(at, first));
        }
        let mut word = String::new();
        while let Some((at, c)) = self.0.next_if(|(_, c)| !matches!(c, ' ' | '\t')) {
            match c {
                '\'' | '"' => self.quoted(c, at, &mut word)?,
                '\\' => match self.0.next() {
                    // A backslash before a line break removes both.
                    Some((_, '\n')) => {}
                    Some((_, quoted)) => word.push(quoted),
                    None => return Err(WordsError::OpenBackslash),
                },
                '|' | '&' | ';' | '<' | '>' | '(' | ')' | '$' | '`' | '*' | '?' | '\n' => {
                    return Err(needs_shell(at, c));
                }
                plain => word.push(plain),
            }
        }
        Ok(Some(word))
    }

    /// Takes the rest of a quoted part, up to its closing quote.
    fn quoted(&mut self, quote: char, start: usize, word: &mut String) -> Result<(), WordsError> {
        while let Some((at, c)) = self.0.next() {
            match c {
                c if c == quote => return Ok(()),
                '$' | '`' if quote == '"' => return Err(needs_shell(at, c)),
                '\\' if quote == '"' => match self.0.next() {
                    Some((_, '\n')) => {}
                    Some((_, quoted @ ('$' | '`' | '"' | '\\'))) => word.push(quoted),
                    Some((_, plain)) => word.extend(['\\', plain]),
                    None => break,
                },
                plain => word.push(plain),
            }
        }
        Err(WordsError::OpenQuote { quote, position: start + 1 })
    }
}

fn needs_shell(at: usize, character: char) -> WordsError {
    WordsError::NeedsShell { character, position: at + 1 }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::process::Command;

    #[test]
    fn words_are_those_of_a_shell() {
        let check = |command: &str, words: &[&str]| {
            assert_eq!(split(command).unwrap(), words, "{command}");
            // The shell itself is the oracle.
            let script = format!("for word in {command}\ndo printf '%s\\0' \"$word\"; done");
            let said = Command::new("sh").arg("-c").arg(script).output().unwrap();
            let said = String::from_utf8(said.stdout).unwrap();
            assert_eq!(said.split_terminator('\0').collect::<Vec<_>>(), words, "{command}");
        };
        check("a b  c\td", &["a", "b", "c", "d"]);
        check("  a ", &["a"]);
        check("'a b'c\"d e\"", &["a bcd e"]);
        check("a '' \"\"", &["a", "", ""]);
        check(r#""a\"b\\c\d\$" '\'"#, &[r#"a"b\c\d$"#, r"\"]);
        check(r"a\ b \* \'", &["a b", "*", "'"]);
        check("a\\\nb \"c\\\nd\"", &["ab", "cd"]);
        check("'$x' '*' \"?~#|\" a~ b#", &["$x", "*", "?~#|", "a~", "b#"]);
        check("[ -f {a,b} ] x=1 !", &["[", "-f", "{a,b}", "]", "x=1", "!"]);
        check("caf\u{e9} 'na\u{ef}ve'", &["caf\u{e9}", "na\u{ef}ve"]);
    }

    #[test]
    fn what_needs_a_shell_is_named_with_its_place() {
        let check = |command: &str, character: char, position: usize| {
            let error = split(command).unwrap_err();
            assert_eq!(error, WordsError::NeedsShell { character, position }, "{command}");
            assert!(error.to_string().contains("--shell"));
        };
        for character in ['|', '&', ';', '<', '>', '(', ')', '$', '`', '*', '?', '~', '#'] {
            check(&format!("a {character}b"), character, 3);
            assert_eq!(split(&format!("a '{character}'")).unwrap()[1], character.to_string());
        }
        check("ls *.txt", '*', 4);
        check("a>b", '>', 2);
        check("\u{e9} \"x$y\"", '$', 5);
        check("a\nb", '\n', 2);
        check("a \"`b`\"", '`', 4);
    }

    #[test]
    fn unfinished_commands_are_errors() {
        let check = |command: &str, error: WordsError| {
            assert_eq!(split(command), Err(error), "{command}");
        };
        check("", WordsError::Empty);
        check(" \t\n", WordsError::Empty);
        check("a 'b", WordsError::OpenQuote { quote: '\'', position: 3 });
        check("a b\"c\\", WordsError::OpenQuote { quote: '"', position: 4 });
        check("a\\", WordsError::OpenBackslash);
        check("LANG=C sort", WordsError::Assignment { word: "LANG=C".to_owned() });
        assert_eq!(split("a=b/c").unwrap_err(), WordsError::Assignment { word: "a=b/c".into() });
        assert_eq!(split("./a=b c").unwrap(), ["./a=b", "c"]);
    }
}
