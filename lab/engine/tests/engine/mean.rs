//! `--mean`, in virtual time: the real engine, referee and journal on programs whose mean times are
//! known, runs beyond the time-out counting as the time-out.

use crate::common::worlds::{
    Counts, Form, WORLDS, World, by_engine, count, judged, race, within, world,
};
use tiebreak_lab::core::plan::{Centre, Plan};
use tiebreak_lab::core::sampler::{
    Contestants, ProgramSampler, Quiet, Ran, RunFailure, RunRequest, Sampler,
};
use tiebreak_lab::core::verdict::Verdict;
use tiebreak_stats::coins::{Purpose, Seed, Stream};
use tiebreak_stats::rate;

/// The error of each comparison.
const ERROR: f64 = 0.05;
/// The probability that a judgement about a rate is itself wrong.
const JUDGE_ERROR: f64 = 1e-4;
/// A run that nothing disturbs takes so long, and is ended after ten times that.
const RUN_NS: f64 = 1e5;
const CAP: f64 = 10.0;

/// Runs whose times, in undisturbed runs, are drawn for each contestant.
struct Runs {
    time: fn(usize, &mut Stream) -> f64,
    chance: Stream,
    now_ns: u64,
}

impl Runs {
    fn new(time: fn(usize, &mut Stream) -> f64, seed: &str) -> Runs {
        let chance = Stream::new(Seed::from_text(seed), Purpose::Simulation, 0, 0);
        Runs { time, chance, now_ns: 0 }
    }
}

impl Sampler for Runs {
    fn contestants(&mut self) -> Contestants<'_> {
        Contestants::Programs(self)
    }

    fn wait_for_quiet(&mut self, _: u64) -> Quiet {
        Quiet { waited_ns: 0, quiet: true }
    }

    fn now_ns(&self) -> u64 {
        self.now_ns
    }
}

impl ProgramSampler for Runs {
    fn run(&mut self, request: &RunRequest) -> Result<Ran, RunFailure> {
        let noise = (0.015 * self.chance.normal()).exp();
        let wall_ns = RUN_NS * noise * (self.time)(request.contestant, &mut self.chance);
        let sample = within(request.timeout_ns, wall_ns as u64);
        self.now_ns += sample.wall_ns;
        Ok(Ran { sample, output: None, histogram: Vec::new() })
    }
}

/// A comparison whose runs are ended after so many times an undisturbed one.
fn plan(seed: &str, centre: Centre, rounds: u64, cap: f64) -> Plan {
    let mut plan = Plan { centre, ..Form::Programs.plan(seed, ERROR, rounds) };
    plan.program.timeout_ns = Some((RUN_NS * cap) as u64);
    plan
}

fn of_means(seed: &str, rounds: u64) -> Plan {
    plan(seed, Centre::Mean, rounds, CAP)
}

/// Whether more of these are proven to be wrong than may be.
fn is_too_often(happened: u64, counts: &Counts) -> bool {
    rate::compare_with(counts.comparisons, happened, ERROR, JUDGE_ERROR) == Some(true)
}

#[track_caller]
fn check_promise(what: &str, counts: &Counts) {
    println!("{what}: {counts:?}");
    assert!(!is_too_often(counts.wrong, counts), "{what}: {counts:?}");
    assert!(!is_too_often(counts.missed, counts), "{what}: {counts:?}");
}

/// The second contestant takes three times as long in one run of ten.
fn slow_tenth(contestant: usize, chance: &mut Stream) -> f64 {
    if contestant == 1 && chance.unit() < 0.1 { 3.0 } else { 1.0 }
}

#[test]
fn a_slow_tenth_makes_the_mean_higher_and_the_median_no_other() {
    let counts = count(24, "slow tenth", |seed| {
        judged(&race(of_means(seed, 1000), &mut Runs::new(slow_tenth, seed)), 0.2)
    });
    check_promise("the mean of a slow tenth", &counts);
    assert!(counts.found >= 22, "{counts:?}");
    let asked = plan("median", Centre::Median, 400, CAP);
    let median = race(asked, &mut Runs::new(slow_tenth, "median"));
    let ratio = median.evidence(0).estimate.unwrap().exp();
    assert!((ratio - 1.0).abs() < 0.01 && median.winner(0).is_none(), "{ratio}");
    assert_eq!(median.verdict(0), Verdict::TooClose);
}

/// In worlds of every kind, heavy tails among them: of equals nothing is proven but that.
#[test]
fn no_world_makes_equal_means_unequal() {
    let is_full = std::env::var_os("TIEBREAK_FULL").is_some_and(|full| full == "1");
    let (comparisons, rounds) = if is_full { (1000, 400) } else { (100, 100) };
    // The lower the cap, the more of its wealth a bettor lays: it cuts what hurts a mean most.
    let heavier = World { name: "heavier tails", tails: 0.3, ..*world("heavy tails") };
    let cut = [(&heavier, 4.0), (&heavier, 1.2), (world("a slow tenth"), 3.0)];
    let worlds = WORLDS.iter().filter(|world| is_full || IN_SHORT.contains(&world.name));
    for (world, cap) in worlds.map(|world| (world, CAP)).chain(cut) {
        let counts = count(comparisons, "means", |seed| {
            by_engine(plan(seed, Centre::Mean, rounds, cap), world, 0.0)
        });
        check_promise(world.name, &counts);
    }
}

/// Worlds that are run each time.
const IN_SHORT: [&str; 4] = ["busy 16", "own state grows", "drift", "neighbours that follow us"];

/// What is odd about runs is said as the claim counts them.
#[test]
fn cut_runs_and_coarse_steps_are_told_as_they_count() {
    let of_means = ["count as exactly that long in a mean", "each mean may be off by half of one"];
    let of_medians = ["count as 'at least that long'", "every value counts as an interval"];
    for (centre, said, not_said) in
        [(Centre::Mean, of_means, of_medians), (Centre::Median, of_medians, of_means)]
    {
        let asked = Plan { clock_step_ns: 2e4, ..plan("odd", centre, 20, 1.8) };
        let warnings = race(asked, &mut Runs::new(cut_tenth, "odd")).warnings(1.0, true);
        let text = warnings.iter().map(|warning| warning.to_string() + "\n").collect::<String>();
        assert!(text.contains("steps of 20 us") && !text.contains("in steps of 20000"), "{text}");
        assert!(said.iter().all(|words| text.contains(words)), "{text}");
        assert!(!not_said.iter().any(|words| text.contains(words)), "{text}");
    }
}

/// One run in ten is cut off, whoever runs; else the second contestant takes half as long again.
fn cut_tenth(contestant: usize, chance: &mut Stream) -> f64 {
    if chance.unit() < 0.1 { 30.0 } else { [1.0, 1.5][contestant] }
}

#[test]
fn the_interval_has_the_ratio_of_the_capped_means() {
    let truth = (0.9 * 1.5 + 0.1 * CAP) / (0.9 + 0.1 * CAP);
    let cut = |seed: &str| {
        judged(&race(of_means(seed, 150), &mut Runs::new(cut_tenth, seed)), truth - 1.0)
    };
    check_promise("a tenth that is cut off", &count(100, "cut", cut));
    let whole =
        |seed: &str| by_engine(plan(seed, Centre::Mean, 150, 3.5), world("a slow tenth"), 0.05);
    check_promise("nothing is cut off", &count(100, "whole", whole));
}
