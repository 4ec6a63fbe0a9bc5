//! The algorithms with one thing wrong: some run must go wrong, and the shortest is printed.
//! Something that may be left out stands here too, with the reason.

mod barriers;
mod event_counts;
mod reclamation;

use crate::catalogue::{Change, Text};
use crate::explored;
use crate::machine::Violation;

#[derive(Clone, Copy, Debug)]
enum Expected {
    LostWakeUp,
    /// The end of a run is what must never be.
    Outcome,
    UseAfterFree,
    /// Nothing goes wrong, for this reason.
    Sound(&'static str),
}
use Expected::{LostWakeUp, Outcome, Sound, UseAfterFree};

struct Mutation {
    what: &'static str,
    from: &'static [&'static str],
    to: &'static [&'static str],
    model: Text,
    strategy: Text,
    expected: Expected,
}

/// A row of the table: what is changed, in which lines, where, and what comes of it.
const fn row(
    what: &'static str,
    (from, to): (&'static [&'static str], &'static [&'static str]),
    (model, strategy): (Text, Text),
    expected: Expected,
) -> Mutation {
    Mutation { what, from, to, model, strategy, expected }
}

fn check(mutations: &[Mutation]) {
    for mutation in mutations {
        println!("\n{}:", mutation.what);
        let change = Change { from: mutation.from, to: mutation.to };
        let change = (!mutation.from.is_empty()).then_some(change);
        let (model, report) = explored(mutation.model, mutation.strategy, change);
        let violation = report.counterexample.as_ref().map(|found| &found.violation);
        let is_expected = match mutation.expected {
            LostWakeUp => matches!(violation, Some(Violation::LostWakeUp { .. })),
            Outcome => matches!(violation, Some(Violation::Never { .. })),
            UseAfterFree => matches!(violation, Some(Violation::Assertion { .. })),
            Sound(reason) => {
                println!("      sound: {reason}");
                violation.is_none()
            }
        };
        if let Some(counterexample) = &report.counterexample {
            println!("{}", counterexample.text(&model));
        }
        assert!(is_expected, "{}: expected {:?}", mutation.what, mutation.expected);
    }
}

const DROP_HEAVY: (&[&str], &[&str]) = (&["heavy"], &[]);
const FREE_LIGHT: (&[&str], &[&str]) = (&["light:", "fence"], &["light:"]);
const AS_IT_IS: (&[&str], &[&str]) = (&[], &[]);
