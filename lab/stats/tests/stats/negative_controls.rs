//! Methods that are wrong, in worlds that show it: each must fail its nominal rate clearly.
//!
//! If one of these passes, the simulator or the judge has gone soft, and the rates of the right
//! methods say nothing.

use crate::common::neighbour::Neighbour;
use crate::common::noise::{ALL, CLEAN, Noise, SILENT, SPIKY};
use crate::common::own_state::{FOLLOW, OWN, Primers};
use crate::common::race::{CarryOver, Clock, Order, RESOLUTION, Race};
use crate::common::rates::{Cell, Form, Rate};
use crate::common::skew::Skew;
use crate::common::{CENTRES, ever_misses, settle, settle_adjusted, table};
use tiebreak_core::claim::Relation;
use tiebreak_core::plan::{Adjust, Centre, ENGINE_VERSION};
use tiebreak_core::verdict::Verdict;
use tiebreak_stats::bettor::{M3R, S};
use tiebreak_stats::coins::{Purpose, Stream};
use tiebreak_stats::conditions::Conditions;
use tiebreak_stats::decide::SequentialTest;
use tiebreak_stats::observation::LogRatio;
use tiebreak_stats::ratio_test::RatioTest;

/// Enough streams to tell 2.5% from 1%.
const FORM: Form = Form { streams: 4000, rounds: 1000, error: 0.01 };

const FEW: Form = Form { streams: 500, ..FORM };
/// Enough to tell 2% from 1%.
const MANY: Form = Form { streams: 10_000, ..FORM };

/// Whether this relation gets this verdict in a race.
fn gets(race: Race, centre: Centre, relation: Relation, resolution: f64, verdict: Verdict) -> Cell {
    let what = format!("{relation:?} gets '{verdict}'");
    Cell::new(what, race.noise.name, table(centre).name, move |form, seed, stream| {
        let test = RatioTest::new(relation, centre, form.error, resolution, Adjust::NONE);
        let settled = settle(test, race.rounds(seed, stream).take(form.rounds));
        settled.is_some_and(|(settled, _)| settled.verdict == verdict)
    })
}

/// Sums of one contestant's samples, for Welch's test.
#[derive(Default)]
struct Sums {
    n: f64,
    mean: f64,
    squares: f64,
}

impl Sums {
    fn add(&mut self, x: f64) {
        self.n += 1.0;
        let off = x - self.mean;
        self.mean += off / self.n;
        self.squares += off * (x - self.mean);
    }

    /// The variance of the mean.
    fn error_squared(&self) -> f64 {
        self.squares / (self.n - 1.0) / self.n
    }
}

/// The two-sided 1% point of Student's distribution, by the expansion of Cornish and Fisher.
fn student_99(degrees: f64) -> f64 {
    const Z: f64 = 2.575_829_303_548_901;
    let first = (Z.powi(3) + Z) / 4.0;
    let second = (5.0 * Z.powi(5) + 16.0 * Z.powi(3) + 3.0 * Z) / 96.0;
    let third = (3.0 * Z.powi(7) + 19.0 * Z.powi(5) + 17.0 * Z.powi(3) - 15.0 * Z) / 384.0;
    Z + first / degrees + second / degrees.powi(2) + third / degrees.powi(3)
}

/// Welch's test of the two samples at 1%.
fn welch_rejects(a: &Sums, b: &Sums) -> bool {
    let (va, vb) = (a.error_squared(), b.error_squared());
    let total = va + vb;
    let degrees = total * total / (va * va / (a.n - 1.0) + vb * vb / (b.n - 1.0));
    (a.mean - b.mean).abs() >= student_99(degrees) * total.sqrt()
}

#[test]
fn points_of_student() {
    for (degrees, point) in [(8.0, 3.3554), (20.0, 2.8453), (120.0, 2.6174)] {
        let got = student_99(degrees);
        assert!((got - point).abs() < 0.005, "{degrees}: {got}, not {point}");
    }
}

/// Looking at a t-test after every round.
#[test]
fn peeking_at_a_t_test_fails() {
    for noise in [CLEAN, SPIKY] {
        let cell = Cell::new("t-test every round", noise.name, "t", move |form, seed, stream| {
            let mut rounds = Race::new(noise, 0.0).rounds(seed, stream);
            let (mut a, mut b) = (Sums::default(), Sums::default());
            (0..form.rounds).any(|round| {
                let log_times = rounds.log_times();
                a.add(log_times[0]);
                b.add(log_times[1]);
                round >= 4 && welch_rejects(&a, &b)
            })
        });
        cell.check_fails(FEW);
    }
}

/// The same t-test once, at the end, is what it says: the simulator is fair.
#[test]
fn one_look_at_a_t_test_does_not_fail() {
    let cell = Cell::new("t-test once", CLEAN.name, "t", |_, seed, stream| {
        let mut rounds = Race::new(CLEAN, 0.0).rounds(seed, stream);
        let (mut a, mut b) = (Sums::default(), Sums::default());
        for _ in 0..30 {
            let log_times = rounds.log_times();
            a.add(log_times[0]);
            b.add(log_times[1]);
        }
        welch_rejects(&a, &b)
    });
    let rate = cell.measure(FORM);
    assert!(!rate.is_proven_above(FORM.error), "{}", rate.line());
    assert!(rate.is_proven_below(0.03), "{}", rate.line());
}

/// A before B in every round where the second slot is half a percent faster.
#[test]
fn a_fixed_order_fails() {
    for centre in CENTRES {
        let race = Race { order: Order::Fixed, ..Race::new(ALL, 0.0) };
        gets(race, centre, Relation::Order, 0.0, Verdict::Holds).check_fails(FEW);
    }
}

/// Warm runs after one's own kind, a second slot that is faster, and nothing run before a round.
#[test]
fn carry_over_without_a_primer_fails() {
    for centre in CENTRES {
        let noise = Noise { second_slot_gain: 0.05, ..CLEAN };
        let carry_over = Some(CarryOver { self_follow_gain: 0.04, primer: false });
        let race = Race { carry_over, ..Race::new(noise, 0.0) };
        gets(race, centre, Relation::Order, 0.0, Verdict::Holds).check_fails(FORM);
    }
}

/// Who ran last is known before a round without a primer. That alone gives it away only where the
/// second slot is another one, too.
#[test]
fn who_ran_last_fails_without_a_primer() {
    for world in FOLLOW.into_iter().filter(|world| world.later_slot_gain > 0.0) {
        for (primers, said) in [(Primers::Nobody, "nobody"), (Primers::FirstBlock, "one block")] {
            let happens = move |form: Form, seed, stream| {
                let centre = Centre::Factor;
                let test = RatioTest::new(Relation::Order, centre, form.error, 0.0, Adjust::NONE);
                world.settles(2, primers, test, (seed, stream, form.rounds)).is_some()
            };
            let what = format!("false alarms, who ran last, {said} primed");
            Cell::new(what, world.name, "M3r", happens).check_fails(FORM);
        }
    }
}

/// A coin of its own for each primer lets the numbers of runs walk apart, and the past then tells
/// who is ahead.
#[test]
fn a_state_of_its_own_fails_behind_a_lone_primer() {
    for world in OWN {
        for centre in CENTRES {
            let happens = move |form: Form, seed, stream| {
                let test = RatioTest::new(Relation::Order, centre, form.error, 0.0, Adjust::NONE);
                let place = (seed, stream, form.rounds);
                world.settles(2, Primers::Lone, test, place).is_some()
            };
            let what = "false alarms, a state, a lone primer";
            // The mildest of them is at 2%.
            let form = if world.name == "warms 5%/10" { MANY } else { FEW };
            Cell::new(what, world.name, table(centre).name, happens).check_fails(form);
        }
    }
}

/// Somebody who watches and kills rounds that look bad for A, as many as version 1 let go free.
fn killed_by_a_watcher(free: bool) -> Cell {
    let what = if free { "free kills: 'A is faster'" } else { "charged kills: 'A is faster'" };
    Cell::new(what, CLEAN.name, "factor", move |form, seed, stream| {
        let faster = Relation::AtLeast { factor: 1.0 };
        let (version, centre) = (if free { 1 } else { ENGINE_VERSION }, Centre::Factor);
        let mut test =
            RatioTest::by_version(version, faster, centre, form.error, 0.0, Adjust::NONE);
        let mut lost = 0;
        for d in Race::new(CLEAN, 0.0).rounds(seed, stream).take(form.rounds) {
            if d.high < 0.0 && lost < (test.rounds() / 100).max(3) {
                lost += 1;
                test.lose_attempt();
            } else if let Some(settled) = test.observe(d, &Conditions::UNKNOWN) {
                return settled.verdict == Verdict::Holds;
            }
        }
        false
    })
}

#[test]
fn kills_that_cost_nothing_fail() {
    killed_by_a_watcher(true).check_fails(FORM);
    killed_by_a_watcher(false).check(FORM);
}

/// A scheduler that ends a slice after 4 ms: longer runs are preempted and lose 0.2 ms.
struct Slice {
    keeps_preempted: bool,
}

impl Slice {
    const SLICE_MS: f64 = 4.0;
    const SWITCH_MS: f64 = 0.2;

    /// A takes 3.9 ms; B takes 3.5 ms in three rounds of ten and 4.5 ms in the others, so that A is
    /// faster by the median and in most rounds. A round with a dropped sample is no round.
    fn rounds(&self, mut chance: Stream) -> impl Iterator<Item = LogRatio> {
        let keeps_preempted = self.keeps_preempted;
        let next = move || {
            let b_ms = if chance.unit() < 0.3 { 3.5 } else { 4.5 };
            let mut measured = |ms: f64| {
                let ms = ms * (1.0 + 0.002 * chance.normal());
                let preempted = ms > Slice::SLICE_MS;
                let measured_ms = if preempted { ms + Slice::SWITCH_MS } else { ms };
                (keeps_preempted || !preempted).then_some(measured_ms)
            };
            let (a, b) = (measured(3.9), measured(b_ms));
            a.zip(b).map(|(a, b)| LogRatio::exact(libm::log(b / a)))
        };
        std::iter::repeat_with(next).flatten()
    }

    fn gets(self, verdict: Verdict) -> Rate {
        let kept = if self.keeps_preempted { "kept" } else { "dropped" };
        let what = format!("'A is faster' gets '{verdict}', preempted {kept}");
        let cell = Cell::new(what, "slice", "S2", move |form, seed, stream| {
            let faster = Relation::AtLeast { factor: 1.0 };
            let test = RatioTest::new(faster, Centre::Median, form.error, RESOLUTION, Adjust::NONE);
            let chance = Stream::new(seed, Purpose::Simulation, stream, 0);
            let settled = settle(test, self.rounds(chance).take(form.rounds));
            settled.is_some_and(|(settled, _)| settled.verdict == verdict)
        });
        cell.measure(FEW)
    }
}

/// Samples that were preempted are the slow ones: without them the faster looks slower.
#[test]
fn dropping_preempted_samples_fails() {
    let dropped = Slice { keeps_preempted: false };
    let refuted = dropped.gets(Verdict::Refuted);
    assert!(refuted.is_proven_above(0.95), "{}", refuted.line());
    let kept = Slice { keeps_preempted: true };
    let holds = kept.gets(Verdict::Holds);
    assert!(holds.is_proven_above(0.95), "{}", holds.line());
}

/// What a contestant does with its CPU taken out of its time. Both take equally long: B computes 5%
/// less and waits for a disk that much more, and when a slot is slow, both its times are.
struct CpuTime {
    /// The logarithm of B's time on the CPU over A's.
    less_cpu: f64,
}

impl CpuTime {
    /// The log ratio of the times, less `beta` times that of the times on the CPU, `beta` being
    /// what takes all noise of the CPU out.
    fn rounds(&self, mut chance: Stream) -> impl Iterator<Item = LogRatio> {
        let less_cpu = self.less_cpu;
        std::iter::repeat_with(move || {
            let mut slot = || (0.015 * chance.normal(), 0.005 * chance.normal());
            let (a, b) = (slot(), slot());
            let (d, d_cpu) = (b.0 + b.1 - a.0 - a.1, less_cpu + b.0 - a.0);
            LogRatio::exact(d - d_cpu)
        })
    }

    fn falsehoods(self) -> Rate {
        let what = format!("an order of equals, CPU time taken out, {}", self.less_cpu);
        let cell = Cell::new(what, "cpu", "M4", move |form, seed, stream| {
            let centre = Centre::Factor;
            let test = RatioTest::new(Relation::Order, centre, form.error, 0.0, Adjust::NONE);
            let chance = Stream::new(seed, Purpose::Simulation, stream, 0);
            settle(test, self.rounds(chance).take(form.rounds)).is_some()
        });
        cell.measure(FEW)
    }
}

/// It passes the test of a program against itself, and proves a difference where there is none.
#[test]
fn taking_cpu_time_out_proves_falsehoods() {
    let same = CpuTime { less_cpu: 0.0 }.falsehoods();
    assert!(!same.is_proven_above(FEW.error), "{}", same.line());
    let equally_long = CpuTime { less_cpu: -0.05 }.falsehoods();
    assert!(equally_long.is_proven_above(0.95), "{}", equally_long.line());
}

/// Two programs that are equal in time; of B, which works in a child, nobody sees that it waits.
/// Rounds that disturb A then count less, and rounds that disturb B do not.
#[test]
fn weights_by_the_waiting_of_one_contestant_fail() {
    let adjust = Adjust { slot: false, strata: true };
    let cell = |name: &'static str, sees: [bool; 2]| {
        Cell::new("an order of equals, strata", name, "M3r", move |form, seed, stream| {
            let equals = Neighbour { sees_waiting_of: sees, ..Neighbour::of_duty(0.4, 0.0) };
            let centre = Centre::Factor;
            let test = RatioTest::new(Relation::Order, centre, form.error, 0.0, adjust);
            settle_adjusted(test, equals.rounds(seed, stream).take(form.rounds)).is_some()
        })
    };
    cell("sees both", [true; 2]).check(FEW);
    cell("sees one", [true, false]).check_fails(FEW);
}

/// M3r on the median of ratios that lean to one side, without the guard of the verdicts.
#[test]
fn sizes_fail_for_the_median_of_skewed_ratios_and_signs_do_not() {
    let skew = Skew { name: "skew right", truth: 0.0, size: 0.02, lean: 1.0 };
    let misses = |table: &'static tiebreak_stats::bettor::Table| {
        Cell::new("median missed", skew.name, table.name, move |form, seed, stream| {
            let rounds = skew.rounds(seed, stream).take(form.rounds);
            ever_misses(table, skew.truth, form.error / 2.0, rounds)
        })
    };
    misses(&M3R).check_fails(FEW);
    misses(&S).check(FEW);
}

/// Times in steps of 4%, taken as they are read: B, 1.5% slower, "is the same within 1%".
#[test]
fn a_coarse_clock_taken_at_its_word_fails() {
    let quiet = Noise { name: "quiet", sd: 0.001, ..SILENT };
    let clock = Clock::Steps { step: 0.04, widened: false };
    for centre in CENTRES {
        let race = Race::new(quiet, libm::log(1.015)).by(clock);
        gets(race, centre, Relation::Order, RESOLUTION, Verdict::TooClose).check_fails(FEW);
    }
}

/// Two time-outs taken as a tie, at a true bar of 1.5.
#[test]
fn time_outs_taken_for_ever_fail_at_a_bar_other_than_one() {
    let stalls = Noise { name: "stalls", mode_gap: 1.1, mode_stickiness: 0.8, ..CLEAN };
    for centre in CENTRES {
        let race = Race::new(stalls, libm::log(1.5)).by(Clock::TimeOutForEver { at: 2.0 });
        let bar = Relation::AtLeast { factor: 1.5 };
        gets(race, centre, bar, 0.0, Verdict::Refuted).check_fails(FEW);
    }
}
