//! How often something went wrong, judged by the engine's own test of a rate.

use std::ops::Range;
use std::sync::atomic::{AtomicU64, Ordering};
use std::thread;
use tiebreak_stats::coins::Seed;
use tiebreak_stats::rate;

/// The probability that a judgement about a rate is itself wrong.
const JUDGE_ERROR: f64 = 1e-4;
/// The probability that an experiment ends early although its rate is too high.
const EARLY_ERROR: f64 = 1e-3;
/// Streams between two looks at an experiment that may end early.
const BLOCK: u64 = 60;
/// How much above its nominal value a rate may be without being proven to be below: where it is
/// proven to be in between, either answer is right.
const ZONE: f64 = 1.3;

/// How many times the streams of a form an experiment may take until its rate is proven; streams
/// are numbered below 65 536.
const EXTENSIONS_MAX: u64 = 3;

/// How large an experiment is.
#[derive(Clone, Copy, Debug)]
pub struct Form {
    pub streams: u64,
    /// Rounds of a stream, unless it is settled before.
    pub rounds: usize,
    /// The error that is asked for.
    pub error: f64,
}

/// What every `cargo test` does: 5% is distinguished from more by fewer streams than 1% is.
pub const SHORT: Form = Form { streams: 700, rounds: 400, error: 0.05 };

/// What the published table comes from.
pub const FULL: Form = Form { streams: 20_000, rounds: 2000, error: 0.01 };

/// How often something happened.
#[derive(Clone, Debug)]
pub struct Rate {
    pub what: String,
    pub scenario: String,
    pub engine: &'static str,
    pub streams: u64,
    pub happened: u64,
    /// What the rate may be.
    pub nominal: f64,
}

impl Rate {
    /// Limits of the rate, wrong with probability 1e-4.
    pub fn limits(&self) -> (f64, f64) {
        rate::limits(self.streams, self.happened, JUDGE_ERROR)
    }

    /// Whether it is proven that the rate is above this.
    pub fn is_proven_above(&self, bound: f64) -> bool {
        rate::compare_with(self.streams, self.happened, bound, JUDGE_ERROR) == Some(true)
    }

    /// Whether it is proven that the rate is below this.
    pub fn is_proven_below(&self, bound: f64) -> bool {
        rate::compare_with(self.streams, self.happened, bound, JUDGE_ERROR) == Some(false)
    }

    /// Whether it is proven that the rate is no higher than it may be, up to the zone.
    pub fn is_proven_fine(&self) -> bool {
        self.is_proven_below(ZONE * self.nominal)
    }

    /// A row of a table.
    pub fn line(&self) -> String {
        let (low, high) = self.limits();
        format!(
            "{:<44} {:<12} {:<4} {:>6} of {:>6} = {:.4}  [{low:.4}, {high:.4}]  nominal {}",
            self.what,
            self.scenario,
            self.engine,
            self.happened,
            self.streams,
            self.happened as f64 / self.streams as f64,
            self.nominal
        )
    }

    /// The same for programs.
    pub fn json(&self) -> serde_json::Value {
        let (low, high) = self.limits();
        serde_json::json!({
            "what": self.what, "scenario": self.scenario, "engine": self.engine,
            "streams": self.streams, "wrong": self.happened, "nominal": self.nominal,
            "rate": self.happened as f64 / self.streams as f64, "low": low, "high": high,
        })
    }
}

/// Counts the streams in which something happens, on all CPUs.
pub fn count(streams: Range<u64>, happens: impl Fn(u64) -> bool + Sync) -> u64 {
    let (next, happened) = (AtomicU64::new(streams.start), AtomicU64::new(0));
    let work = || {
        loop {
            let stream = next.fetch_add(1, Ordering::Relaxed);
            if stream >= streams.end {
                break;
            }
            happened.fetch_add(u64::from(happens(stream)), Ordering::Relaxed);
        }
    };
    let threads = thread::available_parallelism().map_or(1, usize::from);
    thread::scope(|scope| {
        (0..threads).for_each(|_| {
            scope.spawn(work);
        });
    });
    happened.into_inner()
}

/// What happens in a stream of rounds drawn from this seed.
type Happens = Box<dyn Fn(Form, Seed, u64) -> bool + Sync>;

/// One row of a table to be: something that may happen in a stream.
pub struct Cell {
    pub what: String,
    pub scenario: String,
    pub engine: &'static str,
    happens: Happens,
}

impl Cell {
    /// A row; `happens` is told the form, the seed and the number of the stream.
    pub fn new(
        what: impl Into<String>,
        scenario: impl Into<String>,
        engine: &'static str,
        happens: impl Fn(Form, Seed, u64) -> bool + Sync + 'static,
    ) -> Cell {
        Cell { what: what.into(), scenario: scenario.into(), engine, happens: Box::new(happens) }
    }

    /// Runs the experiment once. Its name is its seed.
    pub fn measure(&self, form: Form) -> Rate {
        self.run(form, form.streams, |_| false)
    }

    /// Asserts that the rate is not proven to be higher than it may be. Ends once it is proven to
    /// be lower.
    #[track_caller]
    pub fn check(&self, form: Form) {
        let is_low = |rate: &Rate| {
            let Rate { streams, happened, nominal, .. } = *rate;
            rate::compare_with(streams, happened, nominal, EARLY_ERROR) == Some(false)
        };
        let rate = self.run(form, BLOCK, is_low);
        assert!(!rate.is_proven_above(rate.nominal), "{}", rate.line());
    }

    /// Asserts that the rate is proven to be higher than it may be. Ends once it is.
    #[track_caller]
    pub fn check_fails(&self, form: Form) {
        let rate = self.run(form, BLOCK, |rate| rate.is_proven_above(rate.nominal));
        assert!(rate.is_proven_above(rate.nominal), "should fail: {}", rate.line());
    }

    /// Runs the experiment until the rate is proven to be higher than it may be or proven fine.
    /// Where neither is proven after three times the streams, the rate is next to the edge of its
    /// zone.
    pub fn prove(&self, form: Form) -> Rate {
        let most = Form { streams: EXTENSIONS_MAX * form.streams, ..form };
        let is_proven = |rate: &Rate| rate.is_proven_above(rate.nominal) || rate.is_proven_fine();
        self.run(most, form.streams, is_proven)
    }

    /// Runs the streams of the form, or fewer: after each `block` of them, looks whether it is
    /// enough. The limits of a rate hold at every moment, so going on is no second chance.
    fn run(&self, form: Form, block: u64, is_enough: impl Fn(&Rate) -> bool) -> Rate {
        let mut rate = Rate {
            what: self.what.clone(),
            scenario: self.scenario.clone(),
            engine: self.engine,
            streams: 0,
            happened: 0,
            nominal: form.error,
        };
        let seed = Seed::from_text(&[&self.what, &self.scenario, self.engine].join("/"));
        while rate.streams < form.streams && !is_enough(&rate) {
            let end = form.streams.min(rate.streams + block);
            let happens = |stream| (self.happens)(form, seed, stream);
            rate.happened += count(rate.streams..end, happens);
            rate.streams = end;
        }
        println!("{}", rate.line());
        rate
    }
}
