//! Trials to a verdict, and false verdicts, at several true rates.

use crate::methods::{Claim, Method, TRIALS_MOST};
use serde_json::{Value, json};
use tiebreak_core::verdict::Verdict;
use tiebreak_stats::rate;

/// The confidence of the interval of a rate of false verdicts is 1 less this.
const INTERVAL_ERROR: f64 = 0.01;

const TWO_BARS: Claim = Claim { good: 0.98, bad: 0.96, error: 0.001 };
const TWO_BARS_TRUTHS: [f64; 8] = [0.93, 0.95, 0.96, 0.97, 0.98, 0.985, 0.99, 0.999];
const ONE_BAR: Claim = Claim { good: 0.99, bad: 0.99, error: 0.001 };
/// At the bar itself a run may never end.
const ONE_BAR_TRUTHS: [f64; 6] = [0.95, 0.97, 0.98, 0.985, 0.995, 0.999];

pub fn simulate(streams: u64) -> Value {
    let mut rows = Vec::new();
    for (claim, truths) in [(TWO_BARS, &TWO_BARS_TRUTHS[..]), (ONE_BAR, &ONE_BAR_TRUTHS[..])] {
        for truth in truths {
            eprintln!("rates: {} or {} at {truth}", claim.good, claim.bad);
            rows.push(row(claim, *truth, streams));
        }
    }
    json!({ "streams": streams, "trials_most": TRIALS_MOST, "rows": rows,
            "confidence": 1.0 - INTERVAL_ERROR })
}

fn row(claim: Claim, truth: f64, streams: u64) -> Value {
    let methods = Method::of(claim).into_iter().map(|method| entry(method, claim, truth, streams));
    json!({ "good": claim.good, "bad": claim.bad, "error": claim.error, "truth": truth,
            "methods": methods.collect::<Vec<_>>() })
}

/// The same streams for every method.
fn entry(method: Method, claim: Claim, truth: f64, streams: u64) -> Value {
    let is_wrong = |verdict| match verdict {
        Some(Verdict::Holds) => truth <= claim.bad,
        Some(Verdict::Refuted) => truth >= claim.good,
        _ => false,
    };
    let ends: Vec<_> = (0..streams).map(|stream| method.settle(claim, truth, stream)).collect();
    let wrong = ends.iter().filter(|(verdict, _)| is_wrong(*verdict)).count() as u64;
    let undecided = ends.iter().filter(|(verdict, _)| verdict.is_none()).count();
    let mut trials: Vec<u64> = ends.iter().map(|(_, trials)| *trials).collect();
    trials.sort_unstable();
    let mean = trials.iter().sum::<u64>() as f64 / streams as f64;
    let (low, high) = rate::limits(streams, wrong, INTERVAL_ERROR);
    json!({ "name": method.name(), "median": trials[trials.len() / 2], "mean": mean,
            "p90": trials[trials.len() * 9 / 10], "undecided": undecided,
            "wrong": wrong, "wrong_low": low, "wrong_high": high })
}
