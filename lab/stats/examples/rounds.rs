//! How many rounds a verdict takes, and how often verdicts and limits are wrong, by each version of
//! the engine, in noise that is made and in noise that was recorded, as JSON on standard output.
//!
//! `cargo run --release -p tiebreak-stats --example rounds [--kept FILE] [STREAMS [WRONG_STREAMS
//! [WORLD]]]`: STREAMS a row of rounds, WRONG_STREAMS a row of errors (0 for none), and only worlds
//! whose name has WORLD in it. What is finished is kept in FILE, a line each, and not done again.

#[path = "../tests/stats/common/mod.rs"]
mod common;

use common::rates::count;
use common::worlds::{World, made, recorded};
use serde_json::{Value, json};
use std::fs::{self, File, OpenOptions};
use std::io::{self, Write};
use std::process::ExitCode;
use std::sync::Mutex;
use std::sync::atomic::{AtomicU64, Ordering};
use tiebreak_core::claim::Relation;
use tiebreak_core::plan::{Adjust, Centre};
use tiebreak_core::verdict::Verdict;
use tiebreak_stats::coins::Seed;
use tiebreak_stats::decide::SequentialTest;
use tiebreak_stats::rate;
use tiebreak_stats::ratio_test::RatioTest;

/// An engine by its name, and how it starts a test of a claim at an error.
type Engine = (&'static str, fn(Relation, f64) -> RatioTest);

/// The engines that are compared: the last one with the first.
const ENGINES: [Engine; 3] = [
    ("M3r", |relation, error| start(2, relation, Centre::Factor, error)),
    ("S2", |relation, error| start(3, relation, Centre::Median, error)),
    ("M4", |relation, error| start(3, relation, Centre::Factor, error)),
];

fn start(version: u32, relation: Relation, centre: Centre, error: f64) -> RatioTest {
    RatioTest::by_version(version, relation, centre, error, 0.0, Adjust::NONE)
}

/// The error of a verdict, and of both limits together.
const ERROR: f64 = 0.01;
/// Where a stream gives up.
const ROUNDS_MOST: usize = 8000;
/// The rounds of a stream in which something false may be said.
const WRONG_ROUNDS: usize = 1000;
/// The confidence of the interval of a rate is 1 less this.
const INTERVAL_ERROR: f64 = 0.01;
/// The truth at which limits are judged, in cores.
const COVERED: f64 = 0.5;

fn main() -> ExitCode {
    let mut words: Vec<String> = std::env::args().skip(1).collect();
    let kept = words.iter().position(|word| word == "--kept");
    let kept = kept.map(|at| words.drain(at..words.len().min(at + 2)).nth(1).unwrap_or_default());
    let mut kept = match Kept::open(kept.as_deref()) {
        Ok(kept) => kept,
        Err(error) => {
            eprintln!("rounds: --kept {}: {error}", kept.unwrap_or_default());
            return ExitCode::from(64);
        }
    };
    let number = |at: usize, default| words.get(at).map_or(Ok(default), |word| word.parse::<u64>());
    let (Ok(streams @ 1..), Ok(wrong_streams)) = (number(0, 400), number(1, 2000)) else {
        eprintln!("rounds [--kept FILE] [STREAMS [WRONG_STREAMS [WORLD]]]: whole numbers");
        return ExitCode::from(64);
    };
    let named = |world: &World| words.get(2).is_none_or(|name| world.name.contains(name.as_str()));
    let (mut rows, mut wrong) = (Vec::new(), Vec::new());
    for world in made().into_iter().chain(recorded()).filter(named) {
        for effect in world.effects {
            let key = format!("{}, effect {effect}, {streams} streams", world.name);
            rows.push(kept.or(&key, || row(&world, *effect, streams)));
        }
        if wrong_streams > 0 {
            let key = format!("{}, errors, {wrong_streams} streams", world.name);
            wrong.push(kept.or(&key, || errors(&world, wrong_streams)));
        }
    }
    let data = json!({
        "schema": "tiebreak/rounds/1", "error": ERROR, "streams": streams,
        "rounds_most": ROUNDS_MOST, "wrong_streams": wrong_streams, "wrong_rounds": WRONG_ROUNDS,
        "confidence": 1.0 - INTERVAL_ERROR, "rows": rows, "wrong": wrong,
    });
    println!("{data:#}");
    ExitCode::SUCCESS
}

/// Values that were found before, each under a key, and the file that keeps them, if there is one.
struct Kept(Vec<(String, Value)>, Option<File>);

impl Kept {
    /// Reads a file, which need not exist yet: a line a value, `["KEY", VALUE]`.
    fn open(path: Option<&str>) -> io::Result<Kept> {
        let Some(path) = path else { return Ok(Kept(Vec::new(), None)) };
        let file = OpenOptions::new().create(true).append(true).open(path)?;
        // The last line of a run that was killed may be cut.
        let read = |line| serde_json::from_str(line).ok();
        Ok(Kept(fs::read_to_string(path)?.lines().filter_map(read).collect(), Some(file)))
    }

    /// Returns the value under a key, or else makes it and keeps it.
    fn or(&mut self, key: &str, make: impl FnOnce() -> Value) -> Value {
        if let Some((_, value)) = self.0.iter().find(|(kept, _)| kept == key) {
            return value.clone();
        }
        let value = make();
        if let Some(Err(error)) =
            self.1.as_mut().map(|file| writeln!(file, "\n{}", json!([key, value])))
        {
            eprintln!("rounds: not kept: {error}");
        }
        value
    }
}

/// Rounds to "A is faster" in a world, B being slower by so many cores: the same streams for each
/// engine.
fn row(world: &World, effect: f64, streams: u64) -> Value {
    let seed = Seed::from_text(&format!("rounds/{}/{effect}", world.name));
    let engines = ENGINES.map(|(name, start)| {
        let all = Mutex::new(Vec::new());
        count(0..streams, |stream| {
            let mut test = start(Relation::AtLeast { factor: 1.0 }, ERROR);
            let mut rounds = world.rounds(effect * world.core, seed, stream).take(ROUNDS_MOST);
            let is_over = rounds.any(|d| test.observe(d, &common::UNKNOWN).is_some());
            let holds = test.settled().is_some_and(|settled| settled.verdict == Verdict::Holds);
            let needed = if is_over && holds { test.rounds() } else { u64::MAX };
            all.lock().expect("no thread has failed").push(needed);
            true
        });
        let mut all = all.into_inner().expect("no thread has failed");
        all.sort_unstable();
        let at = |place: u64| Some(all[place as usize]).filter(|rounds| *rounds < u64::MAX);
        let decided = all.iter().filter(|rounds| **rounds < u64::MAX).count();
        json!({ "name": name, "median": at(streams / 2), "p90": at(streams * 9 / 10),
                "decided": decided })
    });
    eprintln!("{:<44} {effect:<5} {}", world.name, said(&engines));
    json!({ "world": world.name, "is_peaked": world.is_peaked, "core": world.core,
            "effect": effect, "engines": engines })
}

fn said(engines: &[Value]) -> String {
    let one = |engine: &Value| {
        format!("{} {}/{}", engine["name"].as_str().unwrap_or(""), engine["median"], engine["p90"])
    };
    engines.iter().map(one).collect::<Vec<_>>().join("   ")
}

/// How often "A is faster" holds where nobody is, and how often limits exclude the truth.
fn errors(world: &World, streams: u64) -> Value {
    let engines = ENGINES.map(|(name, start)| {
        let nobody = ever(world, 0.0, streams, || start(Relation::AtLeast { factor: 1.0 }, ERROR));
        let truth = COVERED * world.core;
        // A limit excludes the truth if and only if a claim with that bar gets a verdict.
        let at_the_truth = Relation::AtLeast { factor: libm::exp(truth) };
        let missed = ever(world, truth, streams, || start(at_the_truth, ERROR / 2.0));
        json!({ "name": name, "false_alarms": nobody.0, "missed": missed.0 + missed.1 })
    });
    let rate_of = |happened: &Value| {
        let happened = happened.as_u64().unwrap_or(0);
        let (low, high) = rate::limits(streams, happened, INTERVAL_ERROR);
        json!({ "count": happened, "low": low, "high": high })
    };
    let engines: Vec<Value> = engines
        .iter()
        .map(|engine| {
            json!({ "name": engine["name"], "false_alarms": rate_of(&engine["false_alarms"]),
                    "missed": rate_of(&engine["missed"]) })
        })
        .collect();
    eprintln!("{:<44} wrong {}", world.name, json!(engines));
    json!({ "world": world.name, "engines": engines })
}

/// In how many streams a claim ever holds, and is ever refuted.
fn ever(
    world: &World,
    truth: f64,
    streams: u64,
    start: impl Fn() -> RatioTest + Sync,
) -> (u64, u64) {
    let seed = Seed::from_text(&format!("wrong/{}/{truth}", world.name));
    let held = AtomicU64::new(0);
    let settled = count(0..streams, |stream| {
        let mut test = start();
        let mut rounds = world.rounds(truth, seed, stream).take(WRONG_ROUNDS);
        rounds.any(|d| test.observe(d, &common::UNKNOWN).is_some());
        let verdict = test.settled().map(|settled| settled.verdict);
        held.fetch_add(u64::from(verdict == Some(Verdict::Holds)), Ordering::Relaxed);
        matches!(verdict, Some(Verdict::Holds | Verdict::Refuted))
    });
    let held = held.into_inner();
    (held, settled - held)
}
