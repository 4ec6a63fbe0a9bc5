//! `tiebreak byteset`: source code that looks for a set of bytes, for people who want no library.

mod rectangles;

use crate::error::{LabError, Result, usage};
use rectangles::{Cover, Matrix, Rectangle, fewest};
use std::fmt::Write;
use tiebreak_input::byte_set;

/// The most rectangles that tables by halves have room for: the bits of a byte.
const RECTANGLES_MAX: usize = 8;
/// The longest name of a set.
const NAME_CHARS_MAX: usize = 60;

/// The language of the source.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Language {
    /// C, for gcc and clang.
    C,
    /// Rust.
    Rust,
}

impl Language {
    fn template(self) -> &'static str {
        match self {
            Language::C => include_str!("byteset/template.c"),
            Language::Rust => include_str!("byteset/template.rs.txt"),
        }
    }

    /// Returns the brackets of a list.
    fn brackets(self) -> [char; 2] {
        match self {
            Language::C => ['{', '}'],
            Language::Rust => ['[', ']'],
        }
    }
}

/// The source of a set, and how it was made.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Source {
    /// A whole file.
    pub text: String,
    /// Which tables it has and why, in a sentence or two.
    pub about: String,
}

/// Writes `NAME_span` and `NAME_find` for a set such as `A-Za-z0-9_-`.
///
/// Cost: a millisecond, or about a second where the fewest rectangles are hard to find.
///
/// # Errors
/// The text is no set, or the name no identifier.
pub fn generate(set: &str, name: &str, language: Language) -> Result<Source> {
    let members = byte_set::parse(set).map_err(LabError::Claim)?;
    check_name(name)?;
    let matrix: Matrix = std::array::from_fn(|row| {
        (0..16).fold(0, |columns, column| columns | u16::from(members[16 * row + column]) << column)
    });
    let cover = fewest(&matrix, RECTANGLES_MAX);
    let about = about(&members, &cover);
    let (form, tables) = match &cover.rectangles {
        Some(rectangles) => ("halves", halves(rectangles)),
        None => ("columns", columns(&matrix)),
    };
    let [open, close] = language.brackets();
    let mut text = only(language.template(), form);
    for (place, bytes) in tables.into_iter().chain([("MEMBERS", bitmap(&members))]) {
        let list = format!("{open}{}{close}", listed(&bytes));
        text = text.replace(&format!("{open}{place}{close}"), &list);
    }
    // As it was typed; only what would end the comment is not left as it is.
    let as_typed = set.replace(|c: char| c.is_control(), "?");
    text = text.replace("NAME", name).replace("ABOUT", &about).replace("WORDS", &as_typed);
    Ok(Source { text, about })
}

/// # Errors
/// The name is no identifier.
fn check_name(name: &str) -> Result<()> {
    let is_first = |c: char| c.is_ascii_alphabetic() || c == '_';
    let is_name = name.starts_with(is_first)
        && name.chars().all(|c| is_first(c) || c.is_ascii_digit())
        && name.len() <= NAME_CHARS_MAX;
    if is_name {
        return Ok(());
    }
    usage(format!(
        "--name: '{}' is no name for functions: give letters, digits and underscores, such as \
         token, at most {NAME_CHARS_MAX}",
        name.escape_debug()
    ))
}

fn about(members: &[bool; 256], cover: &Cover) -> String {
    let count = members.iter().filter(|is| **is).count();
    let bytes = if count == 1 { "1 byte".to_owned() } else { format!("{count} bytes") };
    let least = cover.at_least;
    let why = match &cover.rectangles {
        Some(rectangles) if rectangles.len() == least => {
            format!("{least} of the 8 bits that its tables by halves have: no fewer do")
        }
        Some(rectangles) => format!(
            "{} of the 8 bits that its tables by halves have: at least {least} are needed",
            rectangles.len()
        ),
        None => {
            format!("tables by columns: those by halves need at least {least} bits, and may have 8")
        }
    };
    format!("{bytes}, {why}.")
}

type Table = (&'static str, Vec<u8>);

/// Returns the tables by halves: a bit for each rectangle.
fn halves(rectangles: &[Rectangle]) -> Vec<Table> {
    let bits = |of: fn(&Rectangle) -> u16| -> Vec<u8> {
        let bit =
            |half: usize, (bit, one): (usize, &Rectangle)| ((of(one) >> half & 1) as u8) << bit;
        let all = |half| rectangles.iter().enumerate().map(|one| bit(half, one)).sum::<u8>();
        (0..16).map(all).collect()
    };
    vec![("UPPER", bits(|one| one.rows)), ("LOWER", bits(|one| one.columns))]
}

/// Returns the tables by columns: the bits of the upper halves 0 to 7, and of 8 to 15.
fn columns(matrix: &Matrix) -> Vec<Table> {
    let bits = |first: usize| -> Vec<u8> {
        let bit = |column: usize, row: usize| ((matrix[first + row] >> column & 1) as u8) << row;
        (0..16).map(|column| (0..8).map(|row| bit(column, row)).sum::<u8>()).collect()
    };
    vec![("LOW", bits(0)), ("HIGH", bits(8))]
}

fn bitmap(members: &[bool; 256]) -> Vec<u8> {
    let bit = |(at, is): (usize, &bool)| u8::from(*is) << at;
    members.chunks(8).map(|eight| eight.iter().enumerate().map(bit).sum::<u8>()).collect()
}

/// Writes bytes as a list, eight a line.
fn listed(bytes: &[u8]) -> String {
    let mut list = String::new();
    for line in bytes.chunks(8) {
        list += "\n   ";
        line.iter().for_each(|byte| {
            let _ = write!(list, " 0x{byte:02x},");
        });
    }
    list + "\n"
}

/// Returns a template with the parts of one form: those after `//= FORM`, and after `//= all`.
fn only(template: &str, form: &str) -> String {
    let mut is_in = true;
    let mut text = String::with_capacity(template.len());
    for line in template.lines() {
        match line.strip_prefix("//= ") {
            Some(of) => is_in = of == form || of == "all",
            None if is_in => text = text + line + "\n",
            None => {}
        }
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_tables_are_those_of_the_set() {
        let source = generate("A-Za-z0-9_-", "token", Language::C).unwrap();
        assert!(source.text.contains("size_t token_span(const void *bytes, size_t count) {\n"));
        assert!(source.text.contains("token_upper") && !source.text.contains("token_low["));
        assert!(source.about.starts_with("64 bytes, "), "{}", source.about);
        assert!(source.about.ends_with("no fewer do."), "{}", source.about);
        let diagonal: String = (0..16).map(|at| format!("\\x{at:x}{at:x}")).collect();
        let source = generate(&diagonal, "diagonal", Language::Rust).unwrap();
        let expected = "16 bytes, tables by columns: those by halves need at least 16 bits, and \
                        may have 8.";
        assert_eq!(source.about, expected);
        assert!(source.text.contains("static LOW: [u8; 16] = [\n    0x01, 0x02,"));
        assert!(source.text.starts_with(r"//! The set of bytes \x00\x11"));
        for placeholder in ["NAME", "ABOUT", "WORDS", "[HIGH]", "//="] {
            assert!(!source.text.contains(placeholder), "{placeholder}");
        }
    }

    /// One is a contestant of a study, as a user would have it.
    #[test]
    fn the_source_in_the_study_is_what_is_written_today() {
        let source = generate(r"\t -~\x80-\xff", "value", Language::C).unwrap();
        assert_eq!(source.text, include_str!("../../../studies/byteset-scan/value.c"));
    }

    #[test]
    fn what_is_no_set_or_name_is_refused() {
        let said =
            |set: &str, name: &str| generate(set, name, Language::C).unwrap_err().to_string();
        assert!(said("z-a", "x").contains("runs backwards"), "{}", said("z-a", "x"));
        for name in ["", "1st", "to-ken", "t\u{f6}ken", &"x".repeat(61)] {
            assert!(said("a", name).contains("is no name for functions"), "{name}");
        }
    }
}
