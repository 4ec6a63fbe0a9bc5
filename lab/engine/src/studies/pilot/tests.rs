//! The pilot in virtual time: batches take the time of their calls, and units that of their links.

mod load;

use super::*;
use std::cell::Cell;
use std::rc::Rc;
use tiebreak_core::sample::{BatchTime, Sample};
use tiebreak_core::sampler::{Contestants, Quiet, Sampler, UnitFailure, UnitRan};
use tiebreak_stats::coins::{Purpose, Stream};
use tiebreak_stats::observation::factor;

/// Functions in virtual time.
struct Virtual {
    call_ns: Vec<f64>,
    calls: BatchCalls,
    /// Standard deviations of the log times of units and of rounds.
    spread: (f64, f64),
    /// How much longer the second contestant takes in the first rounds of a unit.
    cold: &'static [f64],
    unit_ns: u64,
    /// The time of a reset of what a call has changed.
    reset_ns: f64,
    /// The time that each batch waits while other processes have the CPU.
    busy_ns: u64,
    /// The contestant that fails, and the unit in which it does.
    void: Option<(usize, u64)>,
    now_ns: Rc<Cell<u64>>,
    units: Rc<Cell<u64>>,
}

impl Sampler for Virtual {
    fn contestants(&mut self) -> Contestants<'_> {
        Contestants::Functions(self)
    }

    fn wait_for_quiet(&mut self, _at_most_ns: u64) -> Quiet {
        Quiet::default()
    }

    fn now_ns(&self) -> u64 {
        self.now_ns.get()
    }
}

impl FunctionSampler for Virtual {
    fn run_unit(&mut self, request: &UnitRequest<'_>) -> Result<UnitRan, UnitFailure> {
        let number = self.units.get();
        self.units.set(number + 1);
        let mut took_ns = self.unit_ns;
        let order = &request.coins.order;
        if let Some((void, unit)) = self.void.filter(|(void, _)| order.contains(void))
            && number >= unit
        {
            return Err(UnitFailure::Fault(void, Fault::Hung { workload: "w".into(), seconds: 1 }));
        }
        let mut batches = Vec::new();
        for contestant in order {
            let seed = Seed::from_text(&format!("{number} {contestant}"));
            let mut noise = Stream::new(seed, Purpose::Simulation, 0, 0);
            let unit = self.spread.0 * noise.normal();
            let batch = |round: usize| {
                let log = unit + self.spread.1 * noise.normal();
                let cold = self.cold.get(round).filter(|_| *contestant == 1).unwrap_or(&1.0);
                let call = self.call_ns[*contestant] * factor(log) * cold;
                let calls = self.calls.of(*contestant, order);
                took_ns += ((call + self.reset_ns) * (calls + 1) as f64) as u64;
                (call * calls as f64) as u64
            };
            batches.push((0..request.orders.len()).map(batch).collect::<Vec<u64>>());
        }
        self.now_ns.set(self.now_ns.get() + took_ns);
        let sample = |walls: &mut Vec<u64>| {
            let run_ns = walls.iter().sum();
            walls.iter_mut().for_each(|wall_ns| *wall_ns += self.busy_ns);
            let mut sample = Sample::of_wall_ns(walls.iter().sum());
            sample.meters.run_ns = Some(run_ns);
            sample.beside.run_delay_ns = Some(sample.wall_ns - run_ns);
            sample
        };
        let samples: Vec<Sample> = batches.iter_mut().map(sample).collect();
        let batches = batches.into_iter();
        let batches = batches.map(|of| of.into_iter().map(BatchTime::from).collect()).collect();
        Ok(UnitRan { samples, batches, rounds_ns: took_ns - self.unit_ns })
    }
}

struct Requests {
    call_ns: Vec<f64>,
    spread: (f64, f64),
    cold: &'static [f64],
    unit_ns: u64,
    void: Option<(usize, u64)>,
    reset_ns: f64,
    busy_ns: u64,
    times_each_call: bool,
    calls: Option<u64>,
    scope: Scope,
    seconds: f64,
}

impl Default for Requests {
    fn default() -> Self {
        Requests {
            call_ns: vec![100.0, 150.0, 400.0],
            spread: (0.02, 0.02),
            cold: &[],
            unit_ns: 5_000_000,
            void: None,
            reset_ns: 0.0,
            busy_ns: 0,
            times_each_call: false,
            calls: None,
            scope: Scope::Code,
            seconds: 60.0,
        }
    }
}

/// Returns the pilot's results, and how many units it took.
fn pilot(asked: &Requests) -> (Piloted, u64) {
    let brief = Brief {
        seed: "a pilot".into(),
        scope: asked.scope,
        contestants: (0..asked.call_ns.len()).collect(),
        is_exact: vec![true; asked.call_ns.len()],
        pairs: (1..asked.call_ns.len()).map(|one| [0, one]).collect(),
        times_each_call: asked.times_each_call,
        goal: Goal { spread: 0.0, units: 30, seconds: asked.seconds },
        batch_ns: 70_000.0,
        calls: asked.calls,
        is_warm: false,
    };
    let (now_ns, units) = (Rc::new(Cell::new(0)), Rc::new(Cell::new(0)));
    let mut make = |calls: &BatchCalls| {
        Ok(Virtual {
            call_ns: asked.call_ns.clone(),
            calls: calls.clone(),
            reset_ns: asked.reset_ns,
            busy_ns: asked.busy_ns,
            spread: asked.spread,
            cold: asked.cold,
            unit_ns: asked.unit_ns,
            void: asked.void,
            now_ns: now_ns.clone(),
            units: units.clone(),
        })
    };
    (run(brief, &mut make).unwrap(), units.get())
}

/// Checks that batches are at least this long, and of each pair about equally long, with no more
/// calls than necessary.
fn check_batches(asked: &Requests, shortest_ns: f64, longest_ns: f64) {
    let (piloted, _) = pilot(asked);
    let call_ns = &asked.call_ns;
    for pair in &piloted.pairs {
        let batches = pair.map(|one| call_ns[one] * piloted.calls_a_batch.of(one, pair) as f64);
        let range = shortest_ns..=longest_ns;
        assert!(batches.iter().all(|batch| range.contains(batch)), "{batches:?} {piloted:?}");
        assert!((1.0 / 1.2..1.2).contains(&(batches[0] / batches[1])), "{batches:?}");
    }
    assert_eq!(piloted.uneven(), None);
    let (fastest, call) = piloted.fastest().unwrap();
    assert_eq!(fastest, 0);
    assert!((call / call_ns[0] - 1.0).abs() < 0.2, "{call} {call_ns:?}");
}

#[test]
fn a_batch_is_long_for_the_clock_and_all_last_equally_long() {
    for busy_ns in [0, 7_000_000] {
        let check = |call_ns: &[f64], times_each_call: bool, range: [f64; 2]| {
            let call_ns = call_ns.to_vec();
            let asked = Requests { call_ns, times_each_call, busy_ns, ..Requests::default() };
            check_batches(&asked, range[0], range[1]);
        };
        // 70 us, or one call of the slowest.
        check(&[100.0, 150.0], false, [66e3, 90e3]);
        check(&[7.0, 7000.0], false, [66e3, 90e3]);
        check(&[7.0, 7e6], false, [6e6, 8e6]);
        // A slow contestant has no effect on batches of others.
        check(&[7.0, 240.0, 7e6], false, [66e3, 8e6]);
        check(&[80_000.0, 90_000.0], false, [70e3, 100e3]);
        // If each call is timed separately, a batch is 50 us.
        check(&[100.0, 150.0], true, [48e3, 65e3]);
        check(&[1000.0, 1e6], true, [0.8e6, 1.2e6]);
    }
}

#[test]
fn what_cannot_be_even_is_reported_and_costs_no_more_than_there_is() {
    // A hundred seconds for a call, and a minute for all.
    let slow = Requests { call_ns: vec![10.0, 1e11], ..Requests::default() };
    let (piloted, _) = pilot(&slow);
    let [shortest, longest] = piloted.uneven().unwrap();
    assert_eq!((shortest.0, longest.0), (0, 1));
    assert!(shortest.1 < 1e9 && longest.1 > 5e10, "{piloted:?}");
    // A reset after a call of 100 ns takes a millisecond.
    let call_ns = vec![100.0, 2e6];
    let resets = Requests { call_ns, times_each_call: true, reset_ns: 1e6, ..Requests::default() };
    let (piloted, _) = pilot(&resets);
    assert!(piloted.calls_a_batch.of(0, &[0, 1]) < 2500, "{piloted:?}");
    assert!(piloted.uneven().is_some());
}

#[test]
fn rounds_balance_the_costs_and_the_noise_of_a_unit() {
    fn check(asked: Requests, rounds: std::ops::RangeInclusive<u32>) {
        let (piloted, _) = pilot(&asked);
        assert!(rounds.contains(&piloted.rounds_a_unit), "{piloted:?}");
        assert!(piloted.pilot.units >= 2);
    }
    // All of the noise is that of units: more rounds add no information.
    check(Requests { spread: (0.05, 0.0001), ..Requests::default() }, 2..=2);
    // All of it is that of rounds, and units are expensive.
    let noisy = Requests { spread: (0.0, 0.05), unit_ns: 50_000_000, ..Requests::default() };
    check(noisy, 8..=64);
    let layout = Requests { scope: Scope::Layout, ..Requests::default() };
    check(layout, 1..=1);
}

#[test]
fn a_contestant_that_is_slow_at_first_warms_up() {
    let check = |scope: Scope, cold: &'static [f64], expected: u32| {
        let call_ns = vec![100.0, 150.0, 100.0, 300.0];
        let (piloted, _) = pilot(&Requests { call_ns, scope, cold, ..Requests::default() });
        assert_eq!(piloted.pilot.warm_rounds, expected, "{scope:?} {cold:?} {piloted:?}");
        // What warms up is not noise.
        assert!(piloted.pilot.variance_within < 0.06 * 0.06, "{piloted:?}");
    };
    check(Scope::Code, &[], 0);
    check(Scope::Code, &[1.01], 0);
    check(Scope::Code, &[1.2], 2);
    check(Scope::Code, &[1.5, 1.2], 4);
    check(Scope::Code, &[2.0, 1.8, 1.6, 1.4, 1.2], 4);
    check(Scope::Layout, &[1.5], 0);
}

#[test]
fn the_costs_of_units_and_rounds_are_distinguished() {
    // A reset is no part of a batch's time, but it is one of the round's.
    for reset_ns in [0.0, 300.0] {
        let (piloted, _) = pilot(&Requests { spread: (0.0, 0.0), reset_ns, ..Requests::default() });
        let call_ns = [100.0, 150.0, 400.0];
        let rounds_ns = piloted.pairs.iter().map(|pair| {
            let batches = pair.map(|one| {
                (call_ns[one] + reset_ns) * (piloted.calls_a_batch.of(one, pair) + 1) as f64
            });
            batches.iter().sum::<f64>()
        });
        // A unit of the run has two of the three.
        let [one, other]: [f64; 2] = rounds_ns.collect::<Vec<_>>().try_into().unwrap();
        let range = 0.99 * one.min(other)..1.01 * one.max(other);
        assert!(range.contains(&piloted.pilot.round_cost_ns), "{range:?} {piloted:?}");
        assert!((piloted.pilot.unit_cost_ns / 5e6 - 1.0).abs() < 0.01, "{piloted:?}");
    }
}

#[test]
fn a_unit_of_the_pilot_is_one_of_the_run() {
    fn check(contestants: usize, flown: u32) {
        let call_ns = vec![100.0; contestants];
        let asked = Requests { call_ns, spread: (0.0, 0.0), ..Requests::default() };
        let (Piloted { pilot, calls_a_batch, .. }, units) = pilot(&asked);
        assert_eq!(pilot.units, flown, "each pair at least twice");
        assert!(units <= u64::from(flown) + 3, "{units} units");
        let round = 2.0 * 100.0 * (calls_a_batch.of(0, &[0, 1]) + 1) as f64;
        assert!((pilot.round_cost_ns / round - 1.0).abs() < 0.05, "{pilot:?}");
    }
    check(2, 4);
    check(3, 8);
    check(5, 12);
    check(23, 44);
    // If units are too expensive for all pairs, the first pair has two, so that something is known
    // about noise.
    let dear = Requests { call_ns: vec![100.0; 23], unit_ns: 1_000_000_000, ..Requests::default() };
    let (Piloted { pilot, .. }, _) = pilot(&dear);
    assert!((3..10).contains(&pilot.units) && pilot.variance_within > 0.0, "{pilot:?}");
}

#[test]
fn a_study_may_say_how_many_calls_a_batch_has() {
    let (piloted, _) = pilot(&Requests { calls: Some(3), ..Requests::default() });
    assert_eq!(piloted.calls_a_batch, BatchCalls::Alike(3));
}

#[test]
fn a_pilot_of_slow_functions_is_short() {
    fn slow(seconds: f64) -> Requests {
        Requests { call_ns: vec![1e9, 1e9], seconds, ..Requests::default() }
    }
    // A unit of two rounds takes 8 s.
    let (piloted, units) = pilot(&slow(200.0));
    assert_eq!((units, piloted.pilot.units), (3, 3), "within a tenth of the budget");
    assert_eq!([0, 1].map(|one| piloted.calls_a_batch.of(one, &[0, 1])), [1, 1]);
    let (piloted, units) = pilot(&slow(60.0));
    assert_eq!((units, piloted.pilot.units, piloted.rounds_a_unit), (1, 1, 2));
}

#[test]
fn who_fails_in_the_pilot_is_void_and_the_others_go_on() {
    for unit in 0..4 {
        let (piloted, _) = pilot(&Requests { void: Some((0, unit)), ..Requests::default() });
        assert_eq!(piloted.void.iter().map(|(one, _)| *one).collect::<Vec<_>>(), [0]);
        assert_eq!(piloted.fastest().map(|(one, _)| one), Some(1));
    }
    let two = Requests { call_ns: vec![100.0, 200.0], void: Some((1, 2)), ..Requests::default() };
    let (piloted, _) = pilot(&two);
    assert_eq!((piloted.fastest(), piloted.pilot.units), (None, 0));
}

#[test]
fn batches_last_about_equally_long() {
    fn check(call_ns: &[f64], longest_ns: f64, expected: &[u64], most: f64) {
        let calls = even_calls(call_ns, 50e3, longest_ns);
        assert_eq!(calls, expected, "{call_ns:?}");
        let uneven = unevenness(&calls, call_ns);
        assert!(uneven <= most, "{uneven} {call_ns:?}");
    }
    check(&[100.0, 3400.0], 5e6, &[510, 15], 1.001);
    check(&[100.0, 100.0], 5e6, &[500, 500], 1.0);
    check(&[10.0, 1e6], 5e6, &[100_000, 1], 1.001);
    // Not one call of each, but as many as bring both to the same length.
    check(&[0.7e6, 1e6], 5e6, &[3, 2], 1.06);
    check(&[40e3, 60e3, 90e3], 5e6, &[9, 6, 4], 1.001);
    // A single call that is longer than the limit.
    check(&[10.0, 1e8], 5e6, &[500_000, 1], 20.1);
    check(&[6e6, 1e7], 5e6, &[1, 1], 1.7);
    check(&[0.0, 1e5], 5e6, &[1_000_000, 1], 1.001);
    assert!(even_calls(&[], 50e3, 5e6).is_empty());
}
