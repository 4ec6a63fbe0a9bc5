//! The grammar of claims.
//!
//! ```text
//! claim      = ( of-two | of-one ) [ "." ]
//! of-two     = NAME comparison NAME
//!              { "on" NAME | "by" METRIC | "in" SHARE "of" [ "the" ] "rounds" }
//! comparison = "is" ( "faster" | "at least" AMOUNT "faster" | AT-MOST AMOUNT "slower" ) "than"
//!            | "is" "within" AMOUNT "of"
//!            | "uses" ( LESS | "at least" AMOUNT LESS | AT-MOST AMOUNT "more" ) METRIC "than"
//! of-one     = NAME "succeeds at least" SHARE "of the time" { "on" NAME | BAD }
//!            | ( "median" | PERCENTILE ) "of" NAME "is" BELOW BAR
//!              { "on" NAME | "by" METRIC | BAD }
//!            | "mean of" NAME "is" ( BELOW | "above" | "at least" ) BAR
//!              { "on" NAME | "by" METRIC | "capped at" BAR }
//! BAD        = "with" SHARE "as bad"
//! LESS       = "less" | "fewer"
//! AT-MOST    = "at most" | "no more than"
//! BELOW      = "below" | "at most"
//! ```
//!
//! Clauses between braces come in any order and once each; `in SHARE of rounds` only after
//! `faster`, `less` or `fewer`.

use crate::amount::{Scale, amount};
use crate::cursor::Cursor;
use crate::error::{ClaimError, Problem};
use crate::names::{SpannedMetric, contestant, metric};
use crate::property::{of_one, succeeds};
use crate::tail::{Clause, tail};
use std::ops::Range;
use tiebreak_core::claim::{Claim, Property, Relation, Statement};
use tiebreak_core::metric::Metric;

/// The longest sentence that is read, in bytes.
pub const MAX_CLAIM_BYTES: usize = 1000;

const EXAMPLE: &str = "one such as 'A is faster than B'";

#[derive(Clone, Copy, PartialEq)]
enum Verb {
    Is,
    Uses,
    Succeeds,
}

#[derive(Clone, Copy)]
enum Bound {
    Just,
    AtLeast,
    AtMost,
    Within,
}

/// Reads a claim about one of the contestants, or about two of them. The text of the claim is the
/// sentence with single spaces between its words and without its full stop.
///
/// Cost: linear in the sentence and the contestants, except that a wrong word is compared with what
/// is expected there.
///
/// # Errors
/// Fails if the sentence is not a claim, or names something unknown: the error points at the word
/// and says what is expected there.
pub fn parse(text: &str, contestants: &[&str]) -> Result<Claim, ClaimError> {
    parse_spanned(text, contestants).map(|(claim, _)| claim)
}

/// A name, and its place in the sentence.
pub(crate) type Named = (String, Range<usize>);

/// The places of the words in a claim that name something.
#[derive(Debug)]
pub(crate) struct Words {
    pub(crate) left: Range<usize>,
    pub(crate) right: Option<Range<usize>>,
    pub(crate) metric: Option<Range<usize>>,
    pub(crate) workload: Option<Range<usize>>,
}

impl Words {
    /// Converts the places to those in a text that contains the sentence.
    pub(crate) fn map(self, place: impl Fn(Range<usize>) -> Range<usize>) -> Words {
        Words {
            left: place(self.left),
            right: self.right.map(&place),
            metric: self.metric.map(&place),
            workload: self.workload.map(&place),
        }
    }
}

/// Does what [`parse`] does, and also returns the places of the claim's words.
pub(crate) fn parse_spanned(
    text: &str,
    contestants: &[&str],
) -> Result<(Claim, Words), ClaimError> {
    check_length(text)?;
    let mut cursor = Cursor::new(text, contestants)?;
    check_start(&cursor)?;
    let said = match of_one(&mut cursor, contestants)? {
        Some(said) => said,
        None => about_runs(&mut cursor, contestants)?,
    };
    let (right, right_span) = said.right.unzip();
    let (workload, workload_span) = said.workload.unzip();
    let words = Words {
        left: said.left.1,
        right: right_span,
        metric: said.metric.1,
        workload: workload_span,
    };
    let claim = Claim {
        text: cursor.normalised(),
        left: said.left.0,
        right,
        statement: said.statement,
        metric: said.metric.0,
        workload,
    };
    Ok((claim, words))
}

/// The meaning of a sentence, without its text.
pub(crate) struct ParsedClaim {
    pub(crate) left: Named,
    pub(crate) right: Option<Named>,
    pub(crate) statement: Statement,
    /// The metric, and its place if it is named.
    pub(crate) metric: (Metric, Option<Range<usize>>),
    pub(crate) workload: Option<Named>,
}

fn check_length(text: &str) -> Result<(), ClaimError> {
    if text.len() <= MAX_CLAIM_BYTES {
        return Ok(());
    }
    let rest = text.floor_char_boundary(MAX_CLAIM_BYTES)..text.len();
    let expected = vec![format!("at most {MAX_CLAIM_BYTES}")];
    Err(ClaimError::new(text, rest, Problem::TooLong { bytes: text.len() }, expected))
}

/// Refuses a sentence whose first word cannot begin a claim.
fn check_start(cursor: &Cursor<'_>) -> Result<(), ClaimError> {
    if cursor.ahead(0).is_none() {
        let mut error = cursor.error(Problem::UnexpectedWord, vec![EXAMPLE.to_owned()]);
        error.problem = Problem::Empty;
        return Err(error);
    }
    if cursor.is_word(0, "which") && cursor.is_word(1, "of") {
        return Err(cursor.error(|_| Problem::Question, vec![EXAMPLE.to_owned()]));
    }
    Ok(())
}

/// Reads a sentence that starts with the name of a contestant.
fn about_runs(cursor: &mut Cursor<'_>, contestants: &[&str]) -> Result<ParsedClaim, ClaimError> {
    let left = contestant(cursor, contestants, None)?;
    let verbs = [("is", Verb::Is), ("uses", Verb::Uses), ("succeeds", Verb::Succeeds)];
    let verb = cursor.choose(&verbs)?;
    if verb == Verb::Succeeds {
        return succeeds(cursor, left);
    }
    let (relation, metric) = comparison(cursor, verb)?;
    let right = contestant(cursor, contestants, Some(&left.0))?;
    let clauses: &[Clause] = match relation {
        Relation::AtLeast { .. } => &[Clause::On, Clause::By, Clause::Rounds],
        _ => &[Clause::On, Clause::By],
    };
    let tail = tail(cursor, clauses, metric)?;
    let statement = match (relation, &tail.rounds) {
        (Relation::AtLeast { factor }, Some(share)) => {
            Statement::Property(Property::InShareOfRounds { factor, share: share.value })
        }
        _ => Statement::Ratio(relation),
    };
    let metric = tail.metric();
    Ok(ParsedClaim { left, right: Some(right), statement, metric, workload: tail.workload })
}

/// Reads everything between the verb and the second name.
fn comparison(
    cursor: &mut Cursor<'_>,
    verb: Verb,
) -> Result<(Relation, Option<SpannedMetric>), ClaimError> {
    let bound = bound(cursor, verb)?;
    let relation = match bound {
        Bound::Just => Relation::AtLeast { factor: 1.0 },
        Bound::AtLeast => {
            let scale = if verb == Verb::Uses { Scale::Less } else { Scale::Faster };
            Relation::AtLeast { factor: amount(cursor, scale)? }
        }
        Bound::AtMost => Relation::NoMoreThan { fraction: amount(cursor, Scale::More)? },
        Bound::Within => Relation::Within { fraction: amount(cursor, Scale::Within)? },
    };
    match (verb, bound) {
        (_, Bound::Just) => {}
        (_, Bound::Within) => {
            cursor.choose(&[("of", ())])?;
            return Ok((relation, None));
        }
        (Verb::Uses, Bound::AtLeast) => cursor.choose(&[("less", ()), ("fewer", ())])?,
        (Verb::Uses, Bound::AtMost) => cursor.choose(&[("more", ())])?,
        (_, Bound::AtLeast) => cursor.choose(&[("faster", ())])?,
        (_, Bound::AtMost) => cursor.choose(&[("slower", ())])?,
    }
    let metric = if verb == Verb::Uses { Some(metric(cursor)?) } else { None };
    cursor.choose(&[("than", ())])?;
    Ok((relation, metric))
}

/// Reads the bound of the claim, up to the amount.
fn bound(cursor: &mut Cursor<'_>, verb: Verb) -> Result<Bound, ClaimError> {
    let bounds = [
        ("faster", Bound::Just),
        ("at least", Bound::AtLeast),
        ("no more than", Bound::AtMost),
        ("at most", Bound::AtMost),
        ("within", Bound::Within),
    ];
    let less = [("less", Bound::Just), ("fewer", Bound::Just), bounds[1], bounds[2], bounds[3]];
    let (bounds, better, worse) = match verb {
        Verb::Uses => (&less, "less", "more"),
        _ => (&bounds, "faster", "slower"),
    };
    if cursor.is_word(0, worse) {
        let expected = vec![
            format!("'{better}' with the two names swapped"),
            format!("'no more than 2% {worse}'"),
        ];
        return Err(cursor.error(Problem::UnexpectedWord, expected));
    }
    let meant = bounded_amount(cursor, worse);
    cursor.choose(bounds).map_err(|error| match meant {
        Some(meant) => error.suggest(Some(&meant)),
        None => error,
    })
}

/// Returns what was meant by an amount without a bound: `5% faster` is ambiguous, `at least 5%` is
/// not.
fn bounded_amount(cursor: &Cursor<'_>, worse: &str) -> Option<String> {
    let number =
        cursor.ahead(0).filter(|word| word.raw.starts_with(|c: char| c.is_ascii_digit()))?;
    let is_ahead = |word| cursor.is_word(1, word) || cursor.is_word(2, word);
    let bound = if is_ahead(worse) {
        "no more than"
    } else if is_ahead("of") {
        "within"
    } else {
        "at least"
    };
    Some(format!("{bound} {}", number.raw))
}
