//! Simulates how soon and how rightly claims about success rates are settled, and writes JSON.
//!
//! `cargo run --release -p tiebreak-stats --example shares [STREAMS [BURST_STREAMS [REQUESTS]]]`:
//! streams of independent trials for each rate (10 000 if not said), streams of requests whose
//! failures come in bursts (4000) and requests in each of those (200 000). Every number is a
//! function of these sizes: another machine gives the same ones.
//!
//! `rates` has the trials to a verdict and the false verdicts at several true rates, by each
//! method. `bursts` has the false verdicts about requests whose failures come in bursts, the truth
//! being exactly at the bar.

#[path = "../tests/stats/common/trials.rs"]
#[allow(dead_code, reason = "the tests use the rest")]
mod trials;

use serde_json::{Value, json};
use std::process::ExitCode;
use tiebreak_core::verdict::Verdict;
use tiebreak_stats::classic::{Driver, DriverOptions};
use tiebreak_stats::coins::Seed;
use tiebreak_stats::decide::SequentialTest;
use tiebreak_stats::rate;
use tiebreak_stats::share_test::{ShareTest, Trial};
use trials::{Service, settle};

fn main() -> ExitCode {
    let mut sizes = [10_000, 4000, 200_000];
    let words: Vec<String> = std::env::args().skip(1).collect();
    for (size, word) in sizes.iter_mut().zip(&words) {
        *size = word.parse().unwrap_or(0);
    }
    if words.len() > sizes.len() || sizes.contains(&0) {
        eprintln!("shares [STREAMS [BURST_STREAMS [REQUESTS]]]: whole numbers above 0");
        return ExitCode::from(64);
    }
    let [streams, burst_streams, requests] = sizes;
    let data = json!({
        "schema": "tiebreak/shares/1",
        "rates": simulate_rates(streams),
        "bursts": simulate_bursts(burst_streams, requests),
    });
    println!("{data:#}");
    ExitCode::SUCCESS
}

/// The confidence of the interval of a rate of false verdicts is 1 less this.
const INTERVAL_ERROR: f64 = 0.01;

const TWO_BARS: Claim = Claim { good: 0.98, bad: 0.96, error: 0.001 };
const TWO_BARS_TRUTHS: [f64; 9] = [0.93, 0.95, 0.96, 0.97, 0.98, 0.985, 0.99, 0.999, 1.0];
const ONE_BAR: Claim = Claim { good: 0.99, bad: 0.99, error: 0.001 };
/// At the bar itself a run may never end.
const ONE_BAR_TRUTHS: [f64; 9] = [0.95, 0.97, 0.98, 0.985, 0.993, 0.995, 0.999, 0.9995, 1.0];

fn simulate_rates(streams: u64) -> Value {
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
    let is_possible = |method: &&Method| claim.good > claim.bad || method.0 != SPRT;
    let methods = METHODS.iter().filter(is_possible);
    let methods = methods.map(|method| entry(method, claim, truth, streams));
    json!({ "good": claim.good, "bad": claim.bad, "error": claim.error, "truth": truth,
            "methods": methods.collect::<Vec<_>>() })
}

/// The same streams for every method.
fn entry((name, settle): &Method, claim: Claim, truth: f64, streams: u64) -> Value {
    let seed = Seed::from_text(&format!("shares {truth}"));
    let ends = (0..streams).map(|stream| {
        let trials = Service::independent(truth).trials(seed, stream);
        settle(claim, &mut trials.take(TRIALS_MOST as usize))
    });
    let ends: Vec<End> = ends.collect();
    let is_wrong = |end: &&(Verdict, u64)| claim.is_wrong(end.0, truth);
    let wrong = ends.iter().flatten().filter(is_wrong).count() as u64;
    let undecided = ends.iter().filter(|end| end.is_none()).count();
    let mut trials: Vec<u64> =
        ends.iter().map(|end| end.map_or(TRIALS_MOST, |(_, trials)| trials)).collect();
    trials.sort_unstable();
    let mean = trials.iter().sum::<u64>() as f64 / streams as f64;
    let (low, high) = rate::limits(streams, wrong, INTERVAL_ERROR);
    json!({ "name": name, "median": trials[trials.len() / 2], "mean": mean,
            "p90": trials[trials.len() * 9 / 10], "undecided": undecided,
            "wrong": wrong, "wrong_low": low, "wrong_high": high })
}

/// Where every method gives up.
const TRIALS_MOST: u64 = 300_000;

/// A claim: `holds` above `bad`, `refuted` below `good`.
#[derive(Clone, Copy)]
struct Claim {
    good: f64,
    bad: f64,
    error: f64,
}

impl Claim {
    fn is_wrong(self, verdict: Verdict, truth: f64) -> bool {
        match verdict {
            Verdict::Holds => truth <= self.bad,
            Verdict::Refuted => truth >= self.good,
            _ => false,
        }
    }
}

/// The verdict on a stream of trials, and the number of trials that it took; `None` without one.
type End = Option<(Verdict, u64)>;
type Trials<'a> = &'a mut dyn Iterator<Item = Trial>;

/// A method by name, and how it settles a claim.
type Method = (&'static str, fn(Claim, Trials<'_>) -> End);

/// - The published driver: Robbins's criterion at a third of the error for either threshold and for
///   its interval (halves with one threshold).
/// - The same criterion as a one-sided test with the whole error: a comparator, not a theorem.
/// - Twelve bettors a side.
/// - Wald's test between the two thresholds; with one threshold it has no alternative.
/// - What tiebreak uses: a quarter of the stake on "never fails", and the rest on the grid, or if
///   there are two thresholds half of it on the grid and half on Wald's test.
const SPRT: &str = "SPRT";
const METHODS: [Method; 5] = [
    ("classic driver", |claim, trials| driver(claim, claim.error, trials)),
    ("CSM one-sided", |claim, trials| {
        let statements = if claim.good > claim.bad { 3.0 } else { 2.0 };
        driver(claim, 2.0 * statements * claim.error, trials)
    }),
    ("grid", grid),
    (SPRT, wald),
    ("tiebreak", |Claim { good, bad, error }, trials| {
        let settled = settle(ShareTest::new(good, bad, 1, error), trials);
        settled.map(|(settled, trials)| (settled.verdict, trials))
    }),
];

fn driver(Claim { good, bad, .. }: Claim, eps: f64, trials: Trials<'_>) -> End {
    let options =
        DriverOptions { alpha: bad, alpha_hi: Some(good), eps, min_count: 0, max_count: None };
    let driver = Driver::new(&options).expect("rates between 0 and 1");
    let end = driver.run(trials.map(|trial| trial == Trial::Success), |_| ());
    Some((driver.verdict(&end)?, end.n))
}

/// A grid against each threshold: a test with that threshold alone is one.
fn grid(Claim { good, bad, error }: Claim, trials: Trials<'_>) -> End {
    let mut above_bad = ShareTest::without_certainty(bad, bad, 1, error);
    let mut below_good = ShareTest::without_certainty(good, good, 1, error);
    trials.zip(1..).find_map(|(trial, count)| {
        let holds = above_bad.observe(trial).is_some_and(|s| s.verdict == Verdict::Holds);
        let refuted = below_good.observe(trial).is_some_and(|s| s.verdict == Verdict::Refuted);
        let verdict = if holds { Verdict::Holds } else { Verdict::Refuted };
        (holds || refuted).then_some((verdict, count))
    })
}

fn wald(Claim { good, bad, error }: Claim, trials: Trials<'_>) -> End {
    let (gain, loss) = (libm::log(good / bad), libm::log((1.0 - good) / (1.0 - bad)));
    let needed = -libm::log(error);
    let mut log_ratio = 0.0;
    trials.zip(1..).find_map(|(trial, count)| {
        log_ratio += if trial == Trial::Success { gain } else { loss };
        let verdict = if log_ratio > 0.0 { Verdict::Holds } else { Verdict::Refuted };
        (log_ratio.abs() >= needed).then_some((verdict, count))
    })
}

const SHARE: f64 = 0.99;
const ERROR: f64 = 0.01;
const MEAN_BURSTS: [f64; 4] = [1.0, 3.0, 10.0, 30.0];
/// Requests that make one observation.
const BLOCKS: [u64; 4] = [1, 10, 100, 1000];
fn simulate_bursts(streams: u64, requests: u64) -> Value {
    let mut rows = Vec::new();
    for mean_burst in MEAN_BURSTS {
        eprintln!("bursts: {mean_burst} failures in a row");
        let mut counts = [(0, 0); BLOCKS.len()];
        for stream in 0..streams {
            let verdicts = verdicts(mean_burst, stream, requests);
            for (count, verdict) in counts.iter_mut().zip(verdicts) {
                count.0 += u64::from(verdict == Some(Verdict::Holds));
                count.1 += u64::from(verdict == Some(Verdict::Refuted));
            }
        }
        for (block, (holds, refuted)) in BLOCKS.into_iter().zip(counts) {
            rows.push(json!({ "mean_burst": mean_burst, "block": block,
                "holds": rate_of(holds, streams), "refuted": rate_of(refuted, streams) }));
        }
    }
    json!({ "streams": streams, "requests": requests, "share": SHARE, "error": ERROR,
            "confidence": 1.0 - INTERVAL_ERROR, "rows": rows })
}

/// The same stream of requests, judged in blocks of each length.
fn verdicts(mean_burst: f64, stream: u64, requests: u64) -> [Option<Verdict>; BLOCKS.len()] {
    let seed = Seed::from_text(&format!("bursts {mean_burst}"));
    let mut tests = BLOCKS.map(|block| ShareTest::new(SHARE, SHARE, block, ERROR));
    let service = Service { share: SHARE, mean_burst };
    for trial in service.trials(seed, stream).take(requests as usize) {
        for test in &mut tests {
            test.observe(trial);
        }
    }
    tests.map(|test| test.settled().map(|settled| settled.verdict))
}

fn rate_of(happened: u64, streams: u64) -> Value {
    let (low, high) = rate::limits(streams, happened, INTERVAL_ERROR);
    json!({ "count": happened, "rate": happened as f64 / streams as f64, "low": low, "high": high })
}
