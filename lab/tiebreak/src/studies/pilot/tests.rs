//! The pilot in virtual time: batches take what their calls take, and units what their links do.

use super::*;
use std::cell::Cell;
use std::rc::Rc;
use tiebreak_core::sample::Sample;
use tiebreak_core::sampler::{Quiet, Ran as RanProgram, RunFailure, RunRequest, UnitRan};
use tiebreak_stats::coins::{Purpose, Stream};
use tiebreak_stats::observation::factor;

/// Functions in virtual time.
struct Virtual {
    call_ns: Vec<f64>,
    calls: u64,
    /// Standard deviations of the log times of units and of rounds.
    spread: (f64, f64),
    unit_ns: u64,
    /// It fails in this unit.
    void: Option<(usize, u64)>,
    now_ns: Rc<Cell<u64>>,
    units: Rc<Cell<u64>>,
}

impl Sampler for Virtual {
    fn set_up(&mut self, _contestant: usize) -> Result<(), RunFailure> {
        Ok(())
    }

    fn wait_for_quiet(&mut self, _at_most_ns: u64) -> Quiet {
        Quiet::default()
    }

    fn run(&mut self, _request: &RunRequest) -> Result<RanProgram, RunFailure> {
        Err(RunFailure::Broken("functions run in units".into()))
    }

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
            let batch = |_| {
                let log = unit + self.spread.1 * noise.normal();
                let call = self.call_ns[*contestant] * factor(log);
                took_ns += (call * (self.calls + 1) as f64) as u64;
                (call * self.calls as f64) as u64
            };
            batches.push((0..request.orders.len()).map(batch).collect::<Vec<u64>>());
        }
        self.now_ns.set(self.now_ns.get() + took_ns);
        let samples = batches.iter().map(|walls| Sample::of_wall_ns(walls.iter().sum()));
        Ok(UnitRan { samples: samples.collect(), batches })
    }

    fn clean_up(&mut self, _contestant: usize) -> Result<(), RunFailure> {
        Ok(())
    }

    fn now_ns(&self) -> u64 {
        self.now_ns.get()
    }
}

struct Asked {
    call_ns: Vec<f64>,
    spread: (f64, f64),
    unit_ns: u64,
    void: Option<(usize, u64)>,
    times_each_call: bool,
    scope: Scope,
    seconds: f64,
}

impl Default for Asked {
    fn default() -> Self {
        Asked {
            call_ns: vec![100.0, 150.0, 400.0],
            spread: (0.02, 0.02),
            unit_ns: 5_000_000,
            void: None,
            times_each_call: false,
            scope: Scope::Code,
            seconds: 60.0,
        }
    }
}

/// What the pilot finds, and how many units it took to find it.
fn pilot(asked: &Asked) -> (Piloted, u64) {
    let brief = Brief {
        seed: "a pilot".into(),
        scope: asked.scope,
        contestants: (0..asked.call_ns.len()).collect(),
        is_exact: vec![true; asked.call_ns.len()],
        reference: 0,
        times_each_call: asked.times_each_call,
        seconds: asked.seconds,
        units_wanted: 30,
        batch_ns: 70_000.0,
    };
    let (now_ns, units) = (Rc::new(Cell::new(0)), Rc::new(Cell::new(0)));
    let mut make = |calls| {
        Ok(Virtual {
            call_ns: asked.call_ns.clone(),
            calls,
            spread: asked.spread,
            unit_ns: asked.unit_ns,
            void: asked.void,
            now_ns: now_ns.clone(),
            units: units.clone(),
        })
    };
    (run(brief, &mut make).unwrap(), units.get())
}

#[test]
fn a_batch_is_long_for_the_clock() {
    let check = |call_ns: &[f64], times_each_call: bool, calls: std::ops::Range<u64>| {
        let asked = Asked { call_ns: call_ns.to_vec(), times_each_call, ..Asked::default() };
        let (piloted, _) = pilot(&asked);
        assert!(calls.contains(&piloted.calls_a_batch), "{call_ns:?}: {piloted:?}");
        let (fastest, call) = piloted.fastest.unwrap();
        assert_eq!(fastest, 0);
        assert!((call / call_ns[0] - 1.0).abs() < 0.2, "{call} {call_ns:?}");
    };
    // 70 us, of the fastest one.
    check(&[100.0, 150.0], false, 700..900);
    check(&[7.0, 7000.0], false, 10_000..14_000);
    check(&[80_000.0, 90_000.0], false, 1..2);
    // Timed one by one, a batch is 50 us, and no more than 5 ms of the slowest.
    check(&[100.0, 150.0], true, 500..650);
    check(&[1000.0, 1e6], true, 4..6);
    check(&[1e6, 1e8], true, 1..2);
}

#[test]
fn rounds_balance_the_costs_and_the_noise_of_a_unit() {
    let check = |asked: Asked, rounds: std::ops::RangeInclusive<u32>| {
        let (piloted, _) = pilot(&asked);
        assert!(rounds.contains(&piloted.rounds_a_unit), "{piloted:?}");
        assert!(piloted.pilot.units >= 2);
    };
    // All of the noise is that of units: more rounds say nothing more.
    check(Asked { spread: (0.05, 0.0001), ..Asked::default() }, 2..=2);
    // All of it is that of rounds, and units are dear.
    let noisy = Asked { spread: (0.0, 0.05), unit_ns: 50_000_000, ..Asked::default() };
    check(noisy, 8..=64);
    let layout = Asked { scope: Scope::Layout, ..Asked::default() };
    check(layout, 1..=1);
}

#[test]
fn the_costs_of_units_and_rounds_are_told_apart() {
    let (piloted, _) = pilot(&Asked { spread: (0.0, 0.0), ..Asked::default() });
    let calls = piloted.calls_a_batch as f64;
    let round = 650.0 * (calls + 1.0);
    assert!((piloted.pilot.round_cost_ns / round - 1.0).abs() < 0.01, "{piloted:?}");
    assert!((piloted.pilot.unit_cost_ns / 5e6 - 1.0).abs() < 0.01, "{piloted:?}");
}

#[test]
fn a_pilot_of_slow_functions_is_short() {
    let slow = |seconds| Asked { call_ns: vec![1e9, 1e9], seconds, ..Asked::default() };
    // A unit of two rounds takes 8 s.
    let (piloted, units) = pilot(&slow(200.0));
    assert_eq!((units, piloted.pilot.units, piloted.calls_a_batch), (2, 2, 1));
    let (piloted, units) = pilot(&slow(60.0));
    assert_eq!((units, piloted.pilot.units, piloted.rounds_a_unit), (1, 1, 2));
}

#[test]
fn who_fails_in_the_pilot_is_void_and_the_others_go_on() {
    for unit in 0..4 {
        let (piloted, _) = pilot(&Asked { void: Some((0, unit)), ..Asked::default() });
        assert_eq!(piloted.void.iter().map(|(one, _)| *one).collect::<Vec<_>>(), [0]);
        assert_eq!(piloted.fastest.map(|(one, _)| one), Some(1));
    }
    let two = Asked { call_ns: vec![100.0, 200.0], void: Some((1, 2)), ..Asked::default() };
    let (piloted, _) = pilot(&two);
    assert_eq!((piloted.fastest, piloted.pilot.units), (None, 0));
}
