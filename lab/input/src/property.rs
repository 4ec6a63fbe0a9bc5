//! Claims about one contestant: its success rate, its quantiles, its mean.

use crate::bar::{bar, written};
use crate::cursor::Cursor;
use crate::decimal::hundredfold;
use crate::error::{ClaimError, Problem, offered};
use crate::grammar::{Named, ParsedClaim};
use crate::names::contestant;
use crate::share::{Share, percentile, share};
use crate::tail::{Clause, KEYWORDS, Tail, tail};
use tiebreak_core::claim::{Property, Statement};

/// The quantity that is claimed to be below a bar.
#[derive(Clone, Copy)]
enum Subject {
    Mean,
    Quantile(f64),
}

/// Reads a sentence that starts with `mean of`, `median of` or `p99 of`; `None` if it starts with
/// the name of a contestant, or with an unknown word.
pub(crate) fn of_one(
    cursor: &mut Cursor<'_>,
    contestants: &[&str],
) -> Result<Option<ParsedClaim>, ClaimError> {
    let is_name = |word: &str| contestants.contains(&word);
    let starts = cursor.is_word(1, "of") && cursor.ahead(0).is_some_and(|word| !word.is_quoted);
    if !starts {
        return Ok(None);
    }
    let subject = if let Some(share) = percentile(cursor) {
        Subject::Quantile(share?)
    } else {
        let names = [("median", Subject::Quantile(0.5)), ("mean", Subject::Mean)];
        let is_subject = names.iter().any(|(word, _)| cursor.is_word(0, word));
        if !is_subject && cursor.ahead(0).is_some_and(|word| is_name(word.raw)) {
            return Ok(None);
        }
        cursor.choose(&names).map_err(|error| error.or_expect("a percentile such as p99"))?
    };
    cursor.choose(&[("of", ())])?;
    let left = contestant(cursor, contestants, None)?;
    cursor.choose(&[("is", ())])?;
    match subject {
        Subject::Mean => mean(cursor, left).map(Some),
        Subject::Quantile(share) => quantile(cursor, left, share).map(Some),
    }
}

/// Reads the rest after `p99 of A is`.
fn quantile(cursor: &mut Cursor<'_>, left: Named, good: f64) -> Result<ParsedClaim, ClaimError> {
    cursor.choose(&[("below", ()), ("at most", ())])?;
    let bar = bar(cursor, &KEYWORDS)?;
    let tail = tail(cursor, &[Clause::On, Clause::By, Clause::Bad], None)?;
    let property = Property::Quantile {
        good,
        bad: bad(cursor, &tail, good)?,
        bar: bar.value(cursor, tail.metric().0, tail.by.is_some())?,
    };
    Ok(said(left, property, tail))
}

/// Reads the rest after `mean of A is`.
fn mean(cursor: &mut Cursor<'_>, left: Named) -> Result<ParsedClaim, ClaimError> {
    let sides = [("below", true), ("at most", true), ("above", false), ("at least", false)];
    let is_below = cursor.choose(&sides)?;
    let bar = bar(cursor, &KEYWORDS)?;
    let tail = tail(cursor, &[Clause::On, Clause::By, Clause::Cap], None)?;
    let (metric, by) = (tail.metric().0, tail.by.is_some());
    let value = bar.value(cursor, metric, by)?;
    let cap = tail.cap.as_ref().map(|cap| cap.value(cursor, metric, by)).transpose()?;
    if let (Some(cap), Some(read)) = (cap, &tail.cap)
        && cap <= value
    {
        let expected = vec![format!("a cap above {}", written(value, metric.unit()))];
        return Err(cursor.error_at(read.span.clone(), Problem::OutOfRange, expected));
    }
    Ok(said(left, Property::Mean { is_below, bar: value, cap }, tail))
}

/// Reads the rest after `A succeeds`.
pub(crate) fn succeeds(cursor: &mut Cursor<'_>, left: Named) -> Result<ParsedClaim, ClaimError> {
    if cursor.ahead(0).is_some_and(|word| word.raw.starts_with(|c: char| c.is_ascii_digit())) {
        let meant = cursor.ahead(0).map(|word| format!("at least {}", word.raw));
        let error = cursor.error(Problem::UnexpectedWord, offered(["at least"]));
        return Err(error.suggest(meant.as_deref()));
    }
    cursor.choose(&[("at least", ())])?;
    let good = share(cursor)?.value;
    cursor.choose(&[("of the time", ())])?;
    let tail = tail(cursor, &[Clause::On, Clause::Bad], None)?;
    let property = Property::Succeeds { good, bad: bad(cursor, &tail, good)? };
    Ok(said(left, property, tail))
}

/// Returns the bad share: the good one if only that is given, and never more than it.
fn bad(cursor: &Cursor<'_>, tail: &Tail<'_>, good: f64) -> Result<f64, ClaimError> {
    match &tail.bad {
        None => Ok(good),
        Some(Share { value, .. }) if *value <= good => Ok(*value),
        Some(Share { span, .. }) => {
            let expected = vec![format!("at most the good share, {}%", hundredfold(good))];
            Err(cursor.error_at(span.clone(), Problem::OutOfRange, expected))
        }
    }
}

fn said(left: Named, property: Property, tail: Tail<'_>) -> ParsedClaim {
    let statement = Statement::Property(property);
    ParsedClaim { left, right: None, statement, metric: tail.metric(), workload: tail.workload }
}
