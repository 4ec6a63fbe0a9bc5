//! Many claims under one error, and alarms over many runs.

use crate::common::rates::count;
use crate::common::trials::Service;
use tiebreak_core::verdict::Verdict;
use tiebreak_stats::coins::Seed;
use tiebreak_stats::decide::SequentialTest;
use tiebreak_stats::family::Detector;
use tiebreak_stats::family::{bonferroni_error, e_bh_error};
use tiebreak_stats::rate;
use tiebreak_stats::share_test::ShareTest;

const CLAIMS: usize = 100;
const TRIALS: usize = 800;
const ERROR: f64 = 0.05;

/// A claim that the share is above 0.9, stopped once it is settled at this error.
fn claim(seed: Seed, stream: u64, truth: f64, error: f64) -> ShareTest {
    stopped(ShareTest::new(0.9, 0.9, 1, error), seed, stream, truth, TRIALS)
}

/// The test after so many trials, or at its verdict.
fn stopped(mut test: ShareTest, seed: Seed, stream: u64, truth: f64, trials: usize) -> ShareTest {
    let mut trials = Service::independent(truth).trials(seed, stream).take(trials);
    let _ = trials.find_map(|trial| test.observe(trial));
    test
}

/// The claims of a family, each with whether it is false.
fn family(name: &str, family: u64, error: f64, truths: [f64; 2]) -> Vec<(ShareTest, bool)> {
    let claims = family * CLAIMS as u64..(family + 1) * CLAIMS as u64;
    let seed = Seed::from_text(name);
    let truth = |stream: u64| truths[stream as usize % 2];
    let claim = |stream| (claim(seed, stream, truth(stream), error), truth(stream) <= 0.9);
    claims.map(claim).collect()
}

/// How many false and how many true claims of a family are said to hold at this error a claim.
fn proven(family: &[(ShareTest, bool)], error: f64) -> (usize, usize) {
    let holds = |test: &ShareTest| {
        test.settled_at(error).is_some_and(|settled| settled.verdict == Verdict::Holds)
    };
    let found = family.iter().filter(|(test, _)| holds(test));
    let is_false: Vec<_> = found.map(|(_, is_false)| *is_false).collect();
    let wrong = is_false.iter().filter(|is_false| **is_false).count();
    (wrong, is_false.len() - wrong)
}

/// How many claims are proven when at most the share `q` of what is said to be proven may be wrong
/// on average: the claims with the most evidence, as many as this says.
///
/// `evidence` holds for each claim the larger of what the bets for it and against it have won,
/// since only one of the two can be false. The largest `k` such that the `k`-th largest is at least
/// `claims / (k q)` (e-BH: Wang and Ramdas 2022). A claim is among them if and only if its evidence
/// is at least `1 / e_bh_error(q, claims, k)`.
fn e_bh_count(evidence: &[f64], q: f64) -> usize {
    let mut sorted: Vec<f64> = evidence.iter().map(|e| e.max(0.0)).collect();
    sorted.sort_by(|a, b| b.total_cmp(a));
    let suffices = |count: usize| sorted[count - 1] >= 1.0 / e_bh_error(q, sorted.len(), count);
    (1..=sorted.len()).rev().find(|count| suffices(*count)).unwrap_or(0)
}

#[test]
fn the_published_example_and_edges() {
    let check = |evidence: &[f64], q: f64, expected: usize| {
        assert_eq!(e_bh_count(evidence, q), expected, "{evidence:?} at {q}");
    };
    check(&[400.0, 150.0, 90.0, 20.0, 1.0], 0.05, 3);
    check(&[1.0, 20.0, 90.0, 150.0, 400.0], 0.05, 3);
    check(&[], 0.05, 0);
    check(&[19.9], 0.05, 0);
    check(&[20.0], 0.05, 1);
    // The second alone would not do, but both together do.
    check(&[20.0, 20.0], 0.05, 2);
    check(&[39.0, 1.0], 0.05, 0);
    check(&[f64::INFINITY, f64::NAN, 1.0], 0.05, 1);
}

/// A hundred false claims: at the whole error each, one of them is nearly always said to hold;
/// under e-Bonferroni that is rare.
#[test]
fn a_hundred_false_claims_under_one_error() {
    let families = 150;
    let any_wrong = |error: f64| {
        let is_wrong = |i| proven(&family("a hundred", i, error, [0.9, 0.9]), error).0 > 0;
        count(0..families, is_wrong)
    };
    let naive = any_wrong(ERROR);
    assert_eq!(rate::compare_with(families, naive, 0.8, 1e-4), Some(true), "{naive}");
    let shared = any_wrong(bonferroni_error(ERROR, CLAIMS));
    assert_ne!(rate::compare_with(families, shared, ERROR, 1e-4), Some(true), "{shared}");
}

/// Half of the claims are true: e-BH finds more of them than e-Bonferroni, and of what it finds the
/// share that is wrong is small.
#[test]
fn e_bh_finds_more_and_keeps_the_wrong_share() {
    let families = 40;
    let (mut wrong_shares, mut found, mut found_by_bonferroni) = (0.0, 0, 0);
    for i in 0..families {
        let family = family("half", i, 0.0, [0.9, 0.94]);
        let evidence: Vec<f64> = family.iter().map(|(test, _)| test.evidence().0).collect();
        let k = e_bh_count(&evidence, ERROR);
        let (wrong, right) = proven(&family, e_bh_error(ERROR, CLAIMS, k));
        assert_eq!(wrong + right, k, "as many are settled as were counted");
        wrong_shares += wrong as f64 / k.max(1) as f64;
        found += right;
        found_by_bonferroni += proven(&family, bonferroni_error(ERROR, CLAIMS)).1;
    }
    let mean = wrong_shares / families as f64;
    assert!(mean <= ERROR, "{mean}");
    assert!(found as f64 > 1.2 * found_by_bonferroni as f64, "{found} {found_by_bonferroni}");
}

/// Runs in which nothing has changed, stopped at their verdicts: the mean time to a false alarm is
/// at least what was asked for. After a change the alarm comes at once.
#[test]
fn alarms_are_rare_until_something_changes() {
    let seed = Seed::from_text("detector");
    let run = |stream: u64, truth: f64| {
        stopped(ShareTest::new(0.9, 0.8, 1, 0.01), seed, stream, truth, 400).evidence().1
    };
    let runs_to_alarm = |truth: f64, first: u64| {
        let mut detector = Detector::new(20.0);
        (1..).find(|i| detector.observe(run(first + i, truth)) || *i == 300).unwrap()
    };
    let alarms = 200;
    let mean = |truth: f64| {
        let total: u64 = (0..alarms).map(|i| runs_to_alarm(truth, 1000 * i)).sum();
        total as f64 / alarms as f64
    };
    let (before, after) = (mean(0.9), mean(0.8));
    assert!(before >= 20.0, "{before}");
    assert!(after < 2.0, "{after}");
    let mut detector = Detector::new(20.0);
    assert!(!detector.is_alarmed() && detector.value == 0.0);
    assert!(!detector.observe(1.0) && !detector.observe(2.0));
    assert_eq!(detector.value, 4.0);
    assert!(!detector.observe(f64::NAN) && detector.value == 0.0);
    assert!(detector.observe(f64::INFINITY) && detector.value.is_finite());
}
