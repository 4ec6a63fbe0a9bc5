//! The names in a sentence: contestants, metrics, workloads.

use crate::cursor::Cursor;
use crate::error::{ClaimError, Problem, offered, shown};
use crate::grammar::Named;
use crate::tail::KEYWORDS;
use std::ops::Range;
use tiebreak_core::metric::Metric;

/// The most contestants that an error lists.
const LISTED_NAMES: usize = 8;

/// Reads the name of a contestant; the right one must differ from the left one.
pub(crate) fn contestant(
    cursor: &mut Cursor<'_>,
    contestants: &[&str],
    left: Option<&str>,
) -> Result<Named, ClaimError> {
    let others = || contestants.iter().copied().filter(|name| Some(*name) != left);
    let value = cursor.ahead(0).map_or("", |token| token.value.as_ref());
    if cursor.ahead(0).is_some() && contestants.contains(&value) {
        if left == Some(value) {
            return Err(
                cursor.error(|_| Problem::SameContestant(shown(value)), listed(others().collect()))
            );
        }
        let name = (value.to_owned(), cursor.span(1));
        cursor.skip(1);
        return Ok(name);
    }
    let first_word = |name: &&str| name.split_once(' ').is_some_and(|(first, _)| first == value);
    let meant = cursor.meant(others()).or_else(|| others().find(first_word));
    let error =
        cursor.error(|_| Problem::UnknownContestant(shown(value)), listed(others().collect()));
    Err(error.suggest(meant))
}

/// Returns the contestants that are expected, as errors list them.
fn listed(names: Vec<&str>) -> Vec<String> {
    if names.is_empty() {
        return vec!["a contestant, but there is no other".to_owned()];
    }
    let mut listed = offered(names.iter().copied().take(LISTED_NAMES));
    if names.len() > LISTED_NAMES {
        listed.push(format!("one of {} more", names.len() - LISTED_NAMES));
    }
    listed
}

/// A metric, and the place of its name.
pub(crate) type SpannedMetric = (Metric, Range<usize>);

/// Reads the name of a metric.
pub(crate) fn metric(cursor: &mut Cursor<'_>) -> Result<SpannedMetric, ClaimError> {
    let named = Metric::ALL.map(|metric| (metric.name(), metric));
    let names: Vec<_> = named.into_iter().chain([("memory", Metric::PeakMemory)]).collect();
    let start = cursor.span(1).start;
    let metric = cursor.choose(&names)?;
    Ok((metric, start..cursor.last_end()))
}

/// Reads the name of a workload, which is not a word that could follow it.
pub(crate) fn workload(cursor: &mut Cursor<'_>) -> Result<Named, ClaimError> {
    match cursor.ahead(0) {
        Some(name) if !KEYWORDS.iter().any(|word| cursor.is_word(0, word)) => {
            let read = (name.value.clone().into_owned(), name.span.clone());
            cursor.skip(1);
            Ok(read)
        }
        _ => Err(cursor.error(Problem::UnexpectedWord, vec!["the name of a workload".to_owned()])),
    }
}
