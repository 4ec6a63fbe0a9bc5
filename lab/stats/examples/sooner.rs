//! What taking the slot effect out, strata, and time on the CPU gain, as JSON on standard output.
//!
//! `cargo run --release -p tiebreak-stats --example sooner simulate` replays simulated neighbours.
//! With the paths of journals as `tiebreak export --journal` writes them, the recorded rounds of
//! their first two contestants are looked at again as the question "which is faster?" in each way,
//! from the first round on, a line a journal: how many rounds each takes, and what it says.

#[path = "../tests/stats/common/mod.rs"]
mod common;

use common::neighbour::Neighbour;
use common::settings::{NONE, SETTINGS, STRATA, Setting, rounds_needed, verdicts_at_the_bar};
use serde_json::{Value, json};
use std::error::Error;
use tiebreak_core::claim::Relation;
use tiebreak_core::metric::Metric;
use tiebreak_core::plan::Centre;
use tiebreak_core::sample::{Reading, Sample};
use tiebreak_core::schedule::RoundCoins;
use tiebreak_stats::conditions::Conditions;
use tiebreak_stats::decide::SequentialTest;
use tiebreak_stats::noise::is_disturbed;
use tiebreak_stats::observation::LogRatio;
use tiebreak_stats::ratio_test::RatioTest;

/// Error and resolution of `compare`, if nothing else is found.
const ERROR: f64 = 0.01;
const RESOLUTION: f64 = 0.01;

fn main() -> Result<(), Box<dyn Error>> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    match &arguments[..] {
        [word] if word == "simulate" => println!("{}", simulate()),
        journals => {
            for path in journals {
                println!("{}", look_again(path)?);
            }
        }
    }
    Ok(())
}

/// Returns the rounds to find 2%, and the verdicts at a bar that is the truth, with simulated
/// neighbours.
fn simulate() -> Value {
    let mut gains = Vec::new();
    for slow_second in [0.0, 0.04] {
        for duty in [0.0, 0.2, 0.4, 0.6] {
            let world = Neighbour { slow_second, ..Neighbour::of_duty(duty, 0.02) };
            let needed = |(name, adjust): Setting| {
                (name.to_owned(), json!(rounds_needed(world, adjust, 2000)))
            };
            let rounds: serde_json::Map<_, _> = SETTINGS.into_iter().map(needed).collect();
            gains.push(json!({ "duty": duty, "slow_second": slow_second, "rounds": rounds }));
        }
    }
    let streams = 4000;
    let bars = [1.0, 1.02, 1.1, 1.5, 2.0, 5.0].map(|factor| {
        let world = Neighbour::of_duty(0.4, factor - 1.0);
        let ever = |(_, adjust): Setting| verdicts_at_the_bar(world, adjust, streams);
        json!({ "factor": factor, "streams": streams, "none": ever(NONE), "strata": ever(STRATA) })
    });
    json!({ "gains": gains, "bars": bars })
}

/// A round of the first two contestants: 1 if the first one ran first, else -1, and the samples.
type Pair = (f64, [Sample; 2]);

/// Returns the verdict of each way on the rounds of a journal.
fn look_again(path: &str) -> Result<Value, Box<dyn Error>> {
    let (step_ns, pairs) = read(path)?;
    let ways = SETTINGS.into_iter().map(|(name, adjust)| (name, Metric::WallTime, adjust));
    let ways = ways.chain([("run time", Metric::RunTime, NONE.1)]);
    let mut found = serde_json::Map::new();
    for (name, metric, adjust) in ways {
        let mut test = RatioTest::new(Relation::Order, Centre::Factor, ERROR, RESOLUTION, adjust);
        for pair in &pairs {
            let d = log_ratio(pair, metric, step_ns);
            if test.observe(d, &conditions(pair)).is_some() {
                break;
            }
        }
        let settled = test.settled();
        found.insert(
            name.to_owned(),
            json!({
                "rounds": settled.map(|_| test.rounds()),
                "verdict": settled.map(|settled| settled.verdict.name()),
                "a_faster": settled.and_then(|settled| settled.left_wins),
            }),
        );
    }
    let disturbed = pairs.iter().filter(|pair| is_disturbed(conditions(pair).delay)).count();
    Ok(json!({ "rounds": pairs.len(), "disturbed": disturbed, "ways": found }))
}

fn log_ratio((_, samples): &Pair, metric: Metric, step_ns: f64) -> LogRatio {
    let [left, right] = samples.map(|sample| sample.reading(metric).unwrap_or(Reading::UNKNOWN));
    LogRatio::between(left, right, metric.step(step_ns), RESOLUTION)
}

fn conditions((slot, [left, right]): &Pair) -> Conditions {
    let delay = left.delay_share().zip(right.delay_share());
    let delay = delay.map(|(left, right)| left.max(right));
    Conditions { slot: *slot, delay, ..Conditions::UNKNOWN }
}

/// Reads the step of the clock, and the rounds that were finished.
fn read(path: &str) -> Result<(f64, Vec<Pair>), Box<dyn Error>> {
    let mut step_ns = 1.0;
    let (mut coins, mut pairs) = (Vec::<RoundCoins>::new(), Vec::new());
    for line in std::fs::read_to_string(path)?.lines() {
        let line: Value = serde_json::from_str(line)?;
        match line["line"].as_str() {
            Some("header") => {
                let step = &line["header"]["plan"]["clock_step_ns"];
                step_ns = step.as_f64().ok_or("no step of the clock")?;
            }
            Some("coins") => coins.push(serde_json::from_value(line)?),
            Some("round") => {
                let is_its = |coins: &&RoundCoins| {
                    line["round"] == coins.round && line["attempt"] == coins.attempt
                };
                let coins = coins.iter().rev().find(is_its).ok_or("a round without coins")?;
                let samples: Vec<Sample> = serde_json::from_value(line["samples"].clone())?;
                let place = |who| coins.order.iter().position(|other| *other == who);
                let places = place(0).zip(place(1)).ok_or("a round without a contestant")?;
                let slot = if places.0 < places.1 { 1.0 } else { -1.0 };
                pairs.push((slot, [samples[places.0], samples[places.1]]));
            }
            _ => {}
        }
    }
    Ok((step_ns, pairs))
}
