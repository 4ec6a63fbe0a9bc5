//! Conclusions of a method from the permutations.

use tiebreak_core::resampling::{PValue, ResamplingEvidence};
use tiebreak_core::verdict::Verdict;
use tiebreak_stats::classic::{Conclusion, Driver, Progress};
use tiebreak_stats::exact::{Ending, ExactTest};

/// Verdict, counts and p.
pub(super) struct Decided {
    pub verdict: Verdict,
    pub is_settled: bool,
    pub permutations: u64,
    pub extreme: u64,
    pub p: PValue,
    pub evidence: Option<ResamplingEvidence>,
}

fn p_value(permutations: u64, extreme: u64, limits: (f64, f64), confidence: f64) -> PValue {
    let estimate = (permutations > 0).then(|| (extreme + 1) as f64 / (permutations + 1) as f64);
    PValue { estimate, low: limits.0, high: limits.1, confidence }
}

/// Concludes by bets on each permutation.
pub(super) fn by_mixture(test: &ExactTest) -> Decided {
    let (permutations, extreme) = (test.permutations(), test.extreme());
    Decided {
        verdict: match test.ended() {
            Some(Ending::Differs) => Verdict::Holds,
            Some(Ending::Futile) | None => Verdict::Undecided,
        },
        is_settled: test.ended().is_some(),
        permutations,
        extreme,
        p: p_value(permutations, extreme, test.limits(), 1.0 - test.error()),
        evidence: Some(ResamplingEvidence {
            for_difference: test.evidence_for(),
            needed_for: 1.0 / test.alpha(),
            against: test.evidence_against(),
            needed_against: 1.0 / test.error(),
        }),
    }
}

/// Concludes by the published driver: its interval has a third of the error.
pub(super) fn by_classic(driver: &Driver, progress: &Progress) -> Decided {
    let verdict = match driver.conclude(progress) {
        Conclusion::Between | Conclusion::Below(_) if progress.is_decided() => Verdict::Holds,
        _ => Verdict::Undecided,
    };
    let interval = driver.interval(progress);
    Decided {
        verdict,
        is_settled: progress.is_decided(),
        permutations: progress.n,
        extreme: progress.s,
        p: p_value(progress.n, progress.s, interval, 1.0 - driver.eps() / 3.0),
        evidence: None,
    }
}
