//! The clauses that may follow a claim's main part, in any order: `on WORKLOAD`, `by METRIC`, and
//! more.

use crate::bar::{Bar, bar};
use crate::cursor::Cursor;
use crate::error::{ClaimError, Problem, offered};
use crate::grammar::Named;
use crate::names::{SpannedMetric, metric, workload};
use crate::share::{Share, share};
use std::ops::Range;
use tiebreak_core::metric::Metric;

const THE_END: &str = "the end of the claim";

/// The words that start a clause. None of them is the unit of a number before it.
pub(crate) const KEYWORDS: [&str; 5] = ["on", "by", "with", "capped", "in"];

/// A clause.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Clause {
    /// `on WORKLOAD`.
    On,
    /// `by METRIC`.
    By,
    /// `with 96% as bad`.
    Bad,
    /// `capped at 50 ms`.
    Cap,
    /// `in 98% of rounds`.
    Rounds,
}

impl Clause {
    const ALL: [Clause; 5] = [Clause::On, Clause::By, Clause::Bad, Clause::Cap, Clause::Rounds];

    /// Returns its first word.
    fn word(self) -> &'static str {
        KEYWORDS[self as usize]
    }

    /// Returns what it names.
    fn subject(self) -> &'static str {
        match self {
            Clause::On => "workload",
            Clause::By => "metric",
            Clause::Bad => "bad share",
            Clause::Cap => "cap",
            Clause::Rounds => "share of rounds",
        }
    }
}

/// The content of the clauses.
#[derive(Debug, Default)]
pub(crate) struct Tail<'a> {
    pub(crate) workload: Option<Named>,
    pub(crate) by: Option<SpannedMetric>,
    pub(crate) bad: Option<Share>,
    pub(crate) cap: Option<Bar<'a>>,
    pub(crate) rounds: Option<Share>,
}

impl Tail<'_> {
    /// Returns the metric of the claim, and the place of its name, if any.
    pub(crate) fn metric(&self) -> (Metric, Option<Range<usize>>) {
        match &self.by {
            Some((metric, span)) => (*metric, Some(span.clone())),
            None => (Metric::WallTime, None),
        }
    }

    fn has(&self, clause: Clause) -> bool {
        match clause {
            Clause::On => self.workload.is_some(),
            Clause::By => self.by.is_some(),
            Clause::Bad => self.bad.is_some(),
            Clause::Cap => self.cap.is_some(),
            Clause::Rounds => self.rounds.is_some(),
        }
    }
}

/// Reads the clauses to the end of the claim. The metric may have been named before, in other words
/// (`by`).
pub(crate) fn tail<'a>(
    cursor: &mut Cursor<'a>,
    clauses: &[Clause],
    by: Option<SpannedMetric>,
) -> Result<Tail<'a>, ClaimError> {
    let mut tail = Tail { by, ..Tail::default() };
    while cursor.ahead(0).is_some() {
        let next = Clause::ALL.into_iter().find(|clause| cursor.is_word(0, clause.word()));
        match next.filter(|clause| clauses.contains(clause)) {
            Some(clause) if tail.has(clause) => {
                let expected = expected(&tail, clauses);
                return Err(cursor.error(|_| Problem::NamedTwice(clause.subject()), expected));
            }
            Some(clause) => {
                cursor.skip(1);
                read(cursor, clause, &mut tail)?;
            }
            None => {
                // A word that starts another clause is not a slip.
                let open = if next.is_some() { Vec::new() } else { open(&tail, clauses) };
                let meant = cursor.meant(open.into_iter());
                let expected = expected(&tail, clauses);
                return Err(cursor.error(Problem::UnexpectedWord, expected).suggest(meant));
            }
        }
    }
    Ok(tail)
}

/// Reads a clause after its first word.
fn read<'a>(
    cursor: &mut Cursor<'a>,
    clause: Clause,
    tail: &mut Tail<'a>,
) -> Result<(), ClaimError> {
    match clause {
        Clause::On => tail.workload = Some(workload(cursor)?),
        Clause::By => tail.by = Some(metric(cursor)?),
        Clause::Bad => {
            tail.bad = Some(share(cursor)?);
            cursor.choose(&[("as bad", ())])?;
        }
        Clause::Cap => {
            cursor.choose(&[("at", ())])?;
            tail.cap = Some(bar(cursor, &KEYWORDS)?);
        }
        Clause::Rounds => {
            tail.rounds = Some(share(cursor)?);
            cursor.choose(&[("of rounds", ()), ("of the rounds", ())])?;
        }
    }
    Ok(())
}

/// Returns the words of the clauses that may still follow.
fn open(tail: &Tail<'_>, clauses: &[Clause]) -> Vec<&'static str> {
    clauses.iter().filter(|clause| !tail.has(**clause)).map(|clause| clause.word()).collect()
}

fn expected(tail: &Tail<'_>, clauses: &[Clause]) -> Vec<String> {
    let mut expected = offered(open(tail, clauses));
    expected.push(THE_END.to_owned());
    expected
}
