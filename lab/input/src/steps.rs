//! The steps in which a scenario states claims: one table of patterns, each with what it does.
//!
//! [`find`] finds the step of a text, [`Scenario::perform`] performs it, and [`snippet`] says what
//! could stand in place of an unknown one.

mod scenario;

use crate::error::shown;
use crate::suggest::closest;
use std::ops::Range;

pub use scenario::{Argument, Scenario, Task};

/// A step.
#[derive(Debug)]
pub struct Step {
    /// What its text is. Words of capital letters stand for any text.
    pub pattern: &'static str,
    /// A text that it fits.
    pub example: &'static str,
    /// What it does.
    pub help: &'static str,
    /// What stands below it.
    pub below: Below,
    does: Does,
}

/// What stands below a step.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Below {
    /// Nothing.
    Nothing,
    /// A doc string.
    Text,
    /// A table with these two columns, named in its first line.
    Table([&'static str; 2]),
}

/// What a step does.
#[derive(Clone, Copy, Debug)]
enum Does {
    Program,
    Parameter,
    Option,
    Race,
    /// Checks a claim, whose `CLAIM` begins with one of these words.
    Claim(&'static [&'static str]),
    Share,
    Claims,
    Verdicts,
}

/// What comes after `is` in claims about two.
const IS: &[&str] = &["faster", "at least", "at most", "no more", "within"];
/// What comes after `uses`.
const USES: &[&str] = &["less", "fewer", "at least", "at most", "no more"];
/// What comes after `is` in claims about a quantile or a mean.
const OF_ONE: &[&str] = &["below", "above", "at least", "at most"];

/// All steps. A text fits the first one whose pattern it has.
pub static STEPS: &[Step] = &[
    Step {
        pattern: r#"the program "NAME" is "COMMAND""#,
        example: r#"the program "old" is "gzip -6 -c {file}""#,
        help: "names a contestant; {WORD} in its command stands for the value of a parameter",
        below: Below::Nothing,
        does: Does::Program,
    },
    Step {
        pattern: r#"the program "NAME" is:"#,
        example: r#"the program "old" is:"#,
        help: "the same, with the command in a doc string",
        below: Below::Text,
        does: Does::Program,
    },
    Step {
        pattern: "these programs:",
        example: "these programs:",
        help: "the same for each row of a table: | program | command |",
        below: Below::Table(["program", "command"]),
        does: Does::Program,
    },
    Step {
        pattern: r#"the parameter "NAME" is "VALUE""#,
        example: r#"the parameter "file" is "text.txt""#,
        help: "what {NAME} stands for in commands and in the values of options",
        below: Below::Nothing,
        does: Does::Parameter,
    },
    Step {
        pattern: r#"the option "KEY" is "VALUE""#,
        example: r#"the option "timeout" is "5s""#,
        help: "how the programs are run: an option of a contest, as a file of claims has it",
        below: Below::Nothing,
        does: Does::Option,
    },
    Step {
        pattern: "these options:",
        example: "these options:",
        help: "the same for each row of a table: | option | value |",
        below: Below::Table(["option", "value"]),
        does: Does::Option,
    },
    Step {
        pattern: "they are raced for at most BUDGET with an error of ERROR",
        example: "they are raced for at most 30 s with an error of 1%",
        help: "the budget of each race of the scenario, and the error of the whole run of Cucumber",
        below: Below::Nothing,
        does: Does::Race,
    },
    Step {
        pattern: "they are raced for at most BUDGET",
        example: "they are raced for at most 200 rounds",
        help: "the budget alone; if none is said, it is 60 s a claim",
        below: Below::Nothing,
        does: Does::Race,
    },
    Step {
        pattern: "they are raced with an error of ERROR",
        example: "they are raced with an error of 0.1%",
        help: "the error alone; if none is said, it is 1%",
        below: Below::Nothing,
        does: Does::Race,
    },
    Step {
        pattern: r#"SHARE of "NAME" take less than BAR"#,
        example: r#"99% of "old" take less than 50 ms"#,
        help: "races for the claim that this share of the runs takes less time than that",
        below: Below::Nothing,
        does: Does::Share,
    },
    Step {
        pattern: r#"pNUMBER of "NAME" is CLAIM"#,
        example: r#"p99 of "old" is below 64 MiB by peak memory"#,
        help: "races for a claim about a quantile",
        below: Below::Nothing,
        does: Does::Claim(OF_ONE),
    },
    Step {
        pattern: r#"median of "NAME" is CLAIM"#,
        example: r#"median of "old" is below 5 ms"#,
        help: "races for a claim about the median",
        below: Below::Nothing,
        does: Does::Claim(OF_ONE),
    },
    Step {
        pattern: r#"mean of "NAME" is CLAIM"#,
        example: r#"mean of "old" is below 5 ms capped at 50 ms"#,
        help: "races for a claim about a mean",
        below: Below::Nothing,
        does: Does::Claim(OF_ONE),
    },
    Step {
        pattern: r#""NAME" is CLAIM"#,
        example: r#""new" is at least 1.5x faster than "old""#,
        help: "races for any claim about the times of two",
        below: Below::Nothing,
        does: Does::Claim(IS),
    },
    Step {
        pattern: r#""NAME" uses CLAIM"#,
        example: r#""new" uses no more than 2% more memory than "old""#,
        help: "races for any claim about what two use",
        below: Below::Nothing,
        does: Does::Claim(USES),
    },
    Step {
        pattern: r#""NAME" succeeds CLAIM"#,
        example: r#""new" succeeds at least 98% of the time"#,
        help: "races for a claim about a rate of success",
        below: Below::Nothing,
        does: Does::Claim(&["at least"]),
    },
    Step {
        pattern: "these claims hold:",
        example: "these claims hold:",
        help: "one race for all claims of a doc string, a line each: rounds and budget are shared",
        below: Below::Text,
        does: Does::Claims,
    },
    Step {
        pattern: "the verdicts are:",
        example: "the verdicts are:",
        help: "the same for each row of a table, | claim | verdict |, with the verdict it must get",
        below: Below::Table(["claim", "verdict"]),
        does: Does::Verdicts,
    },
];

/// The lines of the listing for each step.
const LISTED_LINES: usize = 2;
/// The most steps that a snippet suggests.
const SUGGESTED: usize = 3;

/// A step that a text fits, and the places of its arguments in the text, in bytes.
#[derive(Debug)]
pub struct Match {
    /// Its position in [`STEPS`].
    pub index: usize,
    /// Its arguments.
    pub arguments: Vec<Range<usize>>,
}

/// Returns the step that a text fits.
pub fn find(text: &str) -> Option<Match> {
    STEPS.iter().enumerate().find_map(|(index, step)| {
        let arguments = step.arguments(text)?;
        Some(Match { index, arguments })
    })
}

/// Lists all steps, each with its help in the line below.
pub fn listing() -> String {
    STEPS.iter().map(|step| format!("{}\n    {}\n", step.pattern, step.help)).collect()
}

/// Returns the line of a step in [`listing`], counted from 1.
pub fn listed_line(index: usize) -> usize {
    LISTED_LINES * index + 1
}

/// Says, in comments of Ruby, which steps are nearest to a text that fits none. `below` is what
/// stands below it, if that is known.
pub fn snippet(text: &str, below: Option<Below>) -> String {
    let same = |step: &&Step| match below {
        None => true,
        Some(Below::Table(_)) => matches!(step.below, Below::Table(_)),
        Some(below) => step.below == below,
    };
    let mut near: Vec<(f64, &Step)> = STEPS
        .iter()
        .filter(same)
        .map(|step| (strsim::normalized_levenshtein(text, step.example), step))
        .collect();
    near.sort_by(|(one, _), (other, _)| other.total_cmp(one));
    let mut lines = format!("# tiebreak has no step '{}'; the nearest are:\n", shown(text));
    for (_, step) in near.iter().take(SUGGESTED) {
        lines += &format!("#   {}\n", step.example);
    }
    lines + "# 'tiebreak wire --steps' lists them all."
}

impl Step {
    /// Returns the places of the arguments in a text, or `None` if it does not fit.
    fn arguments(&self, text: &str) -> Option<Vec<Range<usize>>> {
        let places = captured(self.pattern, text)?;
        let is_number = |place: &Range<usize>| text.as_bytes()[place.start].is_ascii_digit();
        if self.names().zip(&places).any(|(name, place)| name == "NUMBER" && !is_number(place)) {
            return None;
        }
        let Does::Claim(starts) = self.does else { return Some(places) };
        let claim = &text[places.last()?.clone()];
        let names_another = claim.contains(" than ") || claim.contains(" of ");
        let is_about_two = std::ptr::eq(starts, IS) || std::ptr::eq(starts, USES);
        (begins(claim, starts) && (names_another || !is_about_two)).then_some(places)
    }

    /// Returns the names of its arguments, in their order.
    fn names(&self) -> impl Iterator<Item = &'static str> {
        pieces(self.pattern).into_iter().filter_map(|(_, name)| name)
    }

    /// Returns the text that has these arguments.
    fn text(&self, arguments: &[&str]) -> String {
        let mut arguments = arguments.iter().copied();
        let mut text = String::new();
        for (literal, name) in pieces(self.pattern) {
            text += literal;
            text += name.and_then(|_| arguments.next()).unwrap_or_default();
        }
        text
    }
}

/// Returns whether a claim begins with one of these words, or with a slip of one. A step of another
/// server that only sounds alike is not taken from it.
fn begins(claim: &str, starts: &[&str]) -> bool {
    let mut words = claim.split_whitespace();
    let (first, second) = (words.next().unwrap_or(""), words.next().unwrap_or(""));
    let both = format!("{first} {second}");
    let (two, one): (Vec<&str>, Vec<&str>) = starts.iter().partition(|start| start.contains(' '));
    closest(first, one).is_some() || closest(&both, two).is_some()
}

/// Splits a pattern into texts, each with the name of the argument after it: a word of at least two
/// capital letters. Only the last text has none.
fn pieces(pattern: &'static str) -> Vec<(&'static str, Option<&'static str>)> {
    let mut pieces = Vec::new();
    let mut rest = pattern;
    loop {
        let is_capital = |at: usize| rest.as_bytes().get(at).is_some_and(u8::is_ascii_uppercase);
        let start = (0..rest.len()).find(|at| is_capital(*at) && is_capital(at + 1));
        let Some(start) = start else {
            pieces.push((rest, None));
            return pieces;
        };
        let (literal, after) = rest.split_at(start);
        let end = after.find(|c: char| !c.is_ascii_uppercase()).unwrap_or(after.len());
        let (name, further) = after.split_at(end);
        pieces.push((literal, Some(name)));
        rest = further;
    }
}

/// Returns where the arguments of a pattern are in a text that it fits. An argument reaches to the
/// next text of the pattern, the last one as far as it can.
fn captured(pattern: &'static str, text: &str) -> Option<Vec<Range<usize>>> {
    let pieces = pieces(pattern);
    let (first, _) = pieces.first()?;
    let mut start = text.strip_prefix(first).map(|_| first.len())?;
    let mut places = Vec::new();
    for (index, (literal, _)) in pieces.iter().enumerate().skip(1) {
        let is_last = index + 1 == pieces.len();
        let end = if is_last {
            text[start..].strip_suffix(literal).map(|argument| start + argument.len())?
        } else {
            start + text[start..].find(literal)?
        };
        if text[start..end].trim().is_empty() {
            return None;
        }
        places.push(start..end);
        start = end + literal.len();
    }
    (pieces.len() > 1 || start == text.len()).then_some(places)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_example_fits_its_own_step() {
        for (index, step) in STEPS.iter().enumerate() {
            let found = find(step.example).unwrap_or_else(|| panic!("{}", step.example));
            assert_eq!(found.index, index, "{}", step.example);
            let arguments: Vec<&str> =
                found.arguments.into_iter().map(|place| &step.example[place]).collect();
            assert_eq!(step.text(&arguments), step.example);
            assert_eq!(arguments.len(), step.names().count());
        }
    }

    fn check(text: &str, expected: Option<&[&str]>) {
        let found = find(text)
            .map(|found| found.arguments.into_iter().map(|place| &text[place]).collect::<Vec<_>>());
        assert_eq!(found.as_deref(), expected, "{text}");
    }

    #[test]
    fn texts_are_taken_apart() {
        check(r#"the program "a b" is "sh -c "true""#, Some(&["a b", r#"sh -c "true"#]));
        check(r#"the program "a" is "x" or "y""#, Some(&["a", r#"x" or "y"#]));
        check(r#"the program "" is "true""#, None);
        check(r#"the program "a" is """#, None);
        check(r#"the program "a" is"#, None);
        check("they are raced for at most 1 s, 9 rounds", Some(&["1 s, 9 rounds"]));
        check("they are raced for at most 1 s with an error of 5%", Some(&["1 s", "5%"]));
        check("these claims hold", None);
        check("these claims hold: all", None);
        check(r#""n" is fsater than "o""#, Some(&["n", r#"fsater than "o""#]));
        check(
            r#""n" is att least 2x faster than "o""#,
            Some(&["n", r#"att least 2x faster than "o""#]),
        );
        check(r#""n" is visible"#, None);
        check(r#""n" is at home"#, None);
        check(r#""n" uses the lift"#, None);
        check(r#""Total" is at least 5"#, None);
        check(r#"price of "tea" is above 3 ms"#, None);
        check(r#"p99.9 of "n" is below 5 ms"#, Some(&["99.9", "n", "below 5 ms"]));
        check("", None);
    }

    #[test]
    fn an_unknown_step_is_answered_with_the_nearest() {
        let found = snippet(r#"the programme "old" is "gzip""#, Some(Below::Nothing));
        assert!(found.contains(r#"#   the program "old" is "gzip -6 -c {file}""#), "{found}");
        let found = snippet("programs", Some(Below::Table(["", ""])));
        assert!(found.contains("#   these programs:"), "{found}");
        assert!(!found.contains("the program \""), "{found}");
        assert!(found.lines().all(|line| line.starts_with('#')), "{found}");
    }

    #[test]
    fn the_listing_has_each_step_at_its_line() {
        let listing = listing();
        let lines: Vec<&str> = listing.lines().collect();
        for (index, step) in STEPS.iter().enumerate() {
            assert_eq!(lines[listed_line(index) - 1], step.pattern);
        }
        assert!(lines.iter().all(|line| line.len() <= 100), "{listing}");
    }
}
