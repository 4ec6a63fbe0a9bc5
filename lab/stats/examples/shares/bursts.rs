//! False verdicts about requests whose failures come in bursts, the truth being exactly at the bar.

use crate::trials::Service;
use serde_json::{Value, json};
use tiebreak_core::verdict::Verdict;
use tiebreak_stats::coins::Seed;
use tiebreak_stats::rate;
use tiebreak_stats::share_test::ShareTest;

const SHARE: f64 = 0.99;
const ERROR: f64 = 0.01;
const MEAN_BURSTS: [f64; 4] = [1.0, 3.0, 10.0, 30.0];
/// Requests that make one observation.
const BLOCKS: [u64; 4] = [1, 10, 100, 1000];
/// The confidence of the interval of a rate of false verdicts is 1 less this.
const INTERVAL_ERROR: f64 = 0.01;

pub fn simulate(streams: u64, requests: u64) -> Value {
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
