//! Hardware counters: which batches they count, and what is told where they do not.

use super::study::*;
use tiebreak_core::metric::Metric;
use tiebreak_core::plan::{PlannedClaim, Scope};
use tiebreak_core::sample::{Mark, Sample};
use tiebreak_machine::meters::{Energy, ThreadCounters};
use tiebreak_measure::workers::Workers;

/// So many instructions are in one pass of the loop below, at least and at most.
const INSTRUCTIONS: std::ops::RangeInclusive<f64> = 2.0..=12.0;
const ROUNDS: u64 = 2;

/// Whether this machine has them; a test that needs them says why it shows nothing.
fn has_counters() -> bool {
    match ThreadCounters::open() {
        Ok(_) => true,
        Err(reason) => {
            eprintln!("skipped: {reason}");
            false
        }
    }
}

/// Two contestants that pass a loop so often a call, one twice as often as the other.
fn of_loops(passes: u64, tells: bool) -> Study {
    let tell = |letter: char| if tells { format!("tell(\"{letter} \");") } else { String::new() };
    let each = |letter, passes| {
        format!("{} for (volatile int i = 0; i < {passes}; i++) {{}}", tell(letter))
    };
    let (once, twice) = (each('A', passes), each('B', 2 * passes));
    Study::new(&[Source { run: &once, ..RIGHT }, Source { run: &twice, ..RIGHT }])
}

fn reasons(workers: &Workers, metric: Metric) -> Vec<String> {
    let missing = workers.missing_meters().iter();
    missing.filter(|one| one.metrics.contains(&metric)).map(|one| one.why.clone()).collect()
}

fn instructions(samples: &[Sample]) -> [f64; 2] {
    [0, 1].map(|index| samples[index].meters.instructions.expect("they are counted") as f64)
}

#[test]
fn what_nobody_asks_for_is_counted_in_a_batch_of_its_own() {
    let check = |times_each_call: bool, calls: u64, claims: Vec<PlannedClaim>| {
        const PASSES: u64 = 50_000;
        let mut study = of_loops(PASSES, false);
        study.plan.claims = claims;
        study.functions().times_each_call = times_each_call;
        // Half as many calls that are twice as long.
        study.functions().calls_a_batch = BatchCalls::Each(vec![2 * calls, calls]);
        let ran = study.run().unwrap();
        let [once, twice] = instructions(&ran.samples);
        let passes = (2 * calls * ROUNDS * PASSES) as f64;
        assert!(INSTRUCTIONS.contains(&(once / passes)), "{once} in {passes}");
        assert!((0.7..1.4).contains(&(twice / once)), "{once} {twice}");
        for (sample, batches) in ran.samples.iter().zip(&ran.batches) {
            assert!(sample.meters.cycles.is_some_and(|cycles| cycles > 0));
            assert_eq!(batches.len() as u64, ROUNDS, "a batch that is counted is no evidence");
            assert_eq!(sample.wall_ns, batches.iter().map(|time| time.low_ns).sum::<u64>());
            assert!(!sample.marks.has(Mark::Multiplexed), "{sample:?}");
        }
        once
    };
    if !has_counters() {
        return;
    }
    for (times_each_call, calls) in [(false, 1), (false, 20), (true, 5), (true, 20)] {
        let of_one = check(times_each_call, calls, Vec::new());
        let of_all = check(times_each_call, calls, vec![claim(Metric::Instructions)]);
        assert!((0.7..1.4).contains(&(of_one / of_all)), "{of_one} {of_all}");
    }
}

#[test]
fn a_unit_costs_one_more_batch_of_each() {
    let check = |scope: Scope, times_each_call: bool, claims: Vec<PlannedClaim>, more: &[usize]| {
        let (mut study, log) = of_loops(1, true).with_log();
        study.plan.scope = scope;
        study.plan.claims = claims;
        study.functions().times_each_call = times_each_call;
        study.run().unwrap();
        let told = std::fs::read_to_string(&log).unwrap();
        let calls = |letter| told.split_whitespace().filter(|word| *word == letter).count();
        // Of each contestant a call that primes, and two rounds of an untimed call and ten timed.
        let usual = 1 + 2 * 11;
        assert_eq!([calls("A") - usual, calls("B") - usual], more, "{scope:?}");
    };
    if !has_counters() {
        return;
    }
    let asked = || vec![claim(Metric::CacheMisses)];
    check(Scope::Code, false, Vec::new(), &[11, 11]);
    check(Scope::Binary, false, Vec::new(), &[11, 11]);
    check(Scope::Code, true, Vec::new(), &[9, 9]);
    check(Scope::Code, false, asked(), &[0, 0]);
    check(Scope::Layout, false, asked(), &[0, 0]);
    check(Scope::Layout, false, Vec::new(), &[0, 0]);
}

#[test]
fn what_is_not_counted_has_a_reason() {
    let check = |scope: Scope, claims: Vec<PlannedClaim>, is_counted: bool| {
        let mut study = Study::new(&[RIGHT, RIGHT]);
        study.plan.scope = scope;
        study.plan.claims = claims;
        let mut workers = study.workers();
        let ran = run(&mut workers, &coins(&[0, 1]), &[vec![0, 1]]).unwrap();
        let meters = &ran.samples[0].meters;
        assert_eq!(meters.instructions.is_some(), is_counted, "{scope:?}");
        assert_eq!(reasons(&workers, Metric::Instructions).is_empty(), is_counted);
        assert_eq!(reasons(&workers, Metric::Energy).is_empty(), meters.energy_nj.is_some());
        meters.energy_nj.is_some()
    };
    let has_counters = has_counters();
    let asked = || vec![claim(Metric::Instructions), claim(Metric::Energy)];
    for scope in [Scope::Code, Scope::Binary, Scope::Layout] {
        assert_eq!(check(scope, asked(), has_counters), Energy::open().is_ok());
        let is_counted = has_counters && scope != Scope::Layout;
        assert!(!check(scope, Vec::new(), is_counted), "energy is metered if a claim asks");
    }
}

#[test]
fn a_wrong_answer_in_the_batch_that_is_counted_is_a_fault() {
    if !has_counters() {
        return;
    }
    // The primer, two rounds of 11 calls, an untimed call and one that is counted are right.
    let late = Source { after: "if (++s->calls > 25) sum++;", ..RIGHT };
    let (contestant, fault) = fault_of(Study::new(&[late, RIGHT]).run());
    assert_eq!(contestant, 0);
    assert!(fault.to_string().contains("another number in some of its calls"), "{fault}");
}
