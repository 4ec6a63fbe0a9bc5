//! The grammar of claims.
//!
//! ```text
//! claim      = NAME comparison NAME { "on" NAME | "by" METRIC } [ "." ]
//! comparison = "is" ( "faster" | "at least" AMOUNT "faster" | AT-MOST AMOUNT "slower" ) "than"
//!            | "is" "within" AMOUNT "of"
//!            | "uses" ( LESS | "at least" AMOUNT LESS | AT-MOST AMOUNT "more" ) METRIC "than"
//! LESS       = "less" | "fewer"
//! AT-MOST    = "at most" | "no more than"
//! ```

use crate::amount::{Scale, amount};
use crate::cursor::Cursor;
use crate::decimal::Decimal;
use crate::error::{ClaimError, Form, Problem, offered};
use crate::names::{contestant, metric, workload};
use tiebreak_core::claim::{Claim, Relation};
use tiebreak_core::metric::Metric;

/// The longest sentence that is read, in bytes.
pub const MAX_CLAIM_BYTES: usize = 1000;

const EXAMPLE: &str = "one such as 'A is faster than B'";
const THE_END: &str = "the end of the claim";

#[derive(Clone, Copy, PartialEq)]
enum Verb {
    Is,
    Uses,
}

#[derive(Clone, Copy)]
enum Bound {
    Just,
    AtLeast,
    AtMost,
    Within,
}

/// Reads a claim about two of the contestants. The text of the claim is the sentence with single
/// spaces between its words and without its full stop.
///
/// Cost: linear in the sentence and the contestants, except that a wrong word is compared with what
/// could stand there.
///
/// # Errors
/// The sentence is not a claim, is one of a form that is not settled yet, or names something that
/// is not there: the error points at the word and says what could stand there.
pub fn parse(text: &str, contestants: &[&str]) -> Result<Claim, ClaimError> {
    check_length(text)?;
    let mut cursor = Cursor::new(text, contestants)?;
    check_form(&cursor)?;
    let left = contestant(&mut cursor, contestants, None)?;
    let (relation, metric) = comparison(&mut cursor)?;
    let right = contestant(&mut cursor, contestants, Some(&left))?;
    let (workload, metric) = tail(&mut cursor, metric)?;
    let metric = metric.unwrap_or(Metric::WallTime);
    Ok(Claim { text: cursor.normalised(), left, right, relation, metric, workload })
}

fn check_length(text: &str) -> Result<(), ClaimError> {
    if text.len() <= MAX_CLAIM_BYTES {
        return Ok(());
    }
    let rest = text.floor_char_boundary(MAX_CLAIM_BYTES)..text.len();
    let expected = vec![format!("at most {MAX_CLAIM_BYTES}")];
    Err(ClaimError::new(text, rest, Problem::TooLong { bytes: text.len() }, expected))
}

/// Refuses what does not start as a claim about two contestants does.
fn check_form(cursor: &Cursor<'_>) -> Result<(), ClaimError> {
    let Some(first) = cursor.ahead(0) else {
        let mut error = cursor.error(Problem::UnexpectedWord, vec![EXAMPLE.to_owned()]);
        error.problem = Problem::Empty;
        return Err(error);
    };
    if !cursor.is_word(1, "of") {
        return Ok(());
    }
    let quantile = first.raw.strip_prefix(['p', 'P']).and_then(Decimal::parse);
    let problem = if quantile.is_some() || cursor.is_word(0, "median") {
        Problem::NotYet(Form::Quantile)
    } else if cursor.is_word(0, "which") {
        Problem::Question
    } else {
        return Ok(());
    };
    Err(cursor.error(|_| problem, vec![EXAMPLE.to_owned()]))
}

/// Reads all that stands between the two names.
fn comparison(cursor: &mut Cursor<'_>) -> Result<(Relation, Option<Metric>), ClaimError> {
    if cursor.is_word(0, "succeeds") {
        let expected = vec![EXAMPLE.to_owned()];
        return Err(cursor.error(|_| Problem::NotYet(Form::SuccessRate), expected));
    }
    let verb = cursor.choose(&[("is", Verb::Is), ("uses", Verb::Uses)])?;
    let bound = bound(cursor, verb)?;
    let relation = match bound {
        Bound::Just => Relation::AtLeast { factor: 1.0 },
        Bound::AtLeast => {
            let scale = if verb == Verb::Is { Scale::Faster } else { Scale::Less };
            Relation::AtLeast { factor: amount(cursor, scale)? }
        }
        Bound::AtMost => Relation::NoMoreThan { fraction: amount(cursor, Scale::More)? },
        Bound::Within => Relation::Within { fraction: amount(cursor, Scale::Within)? },
    };
    match (verb, bound) {
        (_, Bound::Just) => {}
        (_, Bound::Within) => return cursor.choose(&[("of", (relation, None))]),
        (Verb::Is, Bound::AtLeast) => cursor.choose(&[("faster", ())])?,
        (Verb::Is, Bound::AtMost) => cursor.choose(&[("slower", ())])?,
        (Verb::Uses, Bound::AtLeast) => cursor.choose(&[("less", ()), ("fewer", ())])?,
        (Verb::Uses, Bound::AtMost) => cursor.choose(&[("more", ())])?,
    }
    let metric = if verb == Verb::Uses { Some(metric(cursor)?) } else { None };
    cursor.choose(&[("than", (relation, metric))])
}

/// Reads how much is claimed, up to the amount.
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
        Verb::Is => (&bounds, "faster", "slower"),
        Verb::Uses => (&less, "less", "more"),
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

/// What was meant by an amount that stands alone: `5% faster` is ambiguous, `at least 5%` is not.
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

/// Reads what may follow the second name: a workload and, if it is not known yet, a metric.
fn tail(
    cursor: &mut Cursor<'_>,
    mut by: Option<Metric>,
) -> Result<(Option<String>, Option<Metric>), ClaimError> {
    let mut on = None;
    while cursor.ahead(0).is_some() {
        let open = [on.is_none().then_some("on"), by.is_none().then_some("by")];
        let open: Vec<_> = open.into_iter().flatten().collect();
        let mut expected = offered(open.iter().copied());
        expected.push(THE_END.to_owned());
        if cursor.is_word(0, "on") {
            if on.is_some() {
                return Err(cursor.error(|_| Problem::NamedTwice("workload"), expected));
            }
            cursor.skip(1);
            on = Some(workload(cursor)?);
        } else if cursor.is_word(0, "by") {
            if by.is_some() {
                return Err(cursor.error(|_| Problem::NamedTwice("metric"), expected));
            }
            cursor.skip(1);
            by = Some(metric(cursor)?);
        } else {
            return Err(trailing(cursor, &open, expected));
        }
    }
    Ok((on, by))
}

/// An error about a word after the second name that nothing starts with.
fn trailing(cursor: &Cursor<'_>, open: &[&str], expected: Vec<String>) -> ClaimError {
    let share =
        cursor.ahead(1).is_some_and(|next| next.raw.starts_with(|c: char| c.is_ascii_digit()));
    if cursor.is_word(0, "in") && share {
        return cursor.error(|_| Problem::NotYet(Form::ShareOfRounds), vec![THE_END.to_owned()]);
    }
    let meant = cursor.meant(open.iter().copied());
    cursor.error(Problem::UnexpectedWord, expected).suggest(meant)
}
