//! Units: who runs when, what a sample holds, and processes that stay.

use super::study::*;
use std::collections::HashSet;
use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};
use tiebreak_core::metric::Metric;
use tiebreak_core::plan::Scope;
use tiebreak_core::sample::{Mark, Outcome};
use tiebreak_core::sampler::{Contestants, FunctionSampler, Sampler, UnitFailure};
use tiebreak_core::schedule::RoundCoins;
use tiebreak_core::study::Placements;

/// Tells of everything that is asked of it, under a letter of its own.
fn telling(letter: char) -> (String, String, String) {
    let tell = |what: &str| format!("tell(\"{letter}{what} \");");
    let reset = format!("static void again(void *p) {{ (void)p; {} }}", tell("reset"));
    (reset, tell("prepare"), tell("run"))
}

fn words(log: &Path) -> Vec<String> {
    let text = std::fs::read_to_string(log).unwrap();
    text.split_whitespace().map(str::to_owned).collect()
}

/// The words, each told so many times. Which calls there are for counters alone is for the tests of
/// counters: a claim about one has them count what is timed.
fn told(words: &[(&str, usize)]) -> Vec<String> {
    let each = words.iter().flat_map(|(word, times)| std::iter::repeat_n(*word, *times));
    each.map(str::to_owned).collect()
}

#[test]
fn samples_are_sums_of_batches_in_the_order_of_the_coins() {
    let slow = Source { run: "for (volatile int i = 0; i < 20000; i++) {}", ..RIGHT };
    let mut study = Study::new(&[slow, RIGHT]);
    study.functions().calls_a_batch = BatchCalls::Alike(20);
    let order = [1, 0];
    let orders = [vec![1, 0], vec![0, 1], vec![1, 0]];
    let ran = run(&mut study.workers(), &coins(&order), &orders).unwrap();
    assert_eq!(ran.batches.iter().map(Vec::len).collect::<Vec<_>>(), [3, 3]);
    for (sample, batches) in ran.samples.iter().zip(&ran.batches) {
        assert_eq!(sample.outcome, Outcome::Finished);
        assert_eq!(sample.wall_ns, batches.iter().map(|time| time.low_ns).sum::<u64>());
        assert!(batches.iter().all(|time| time.low_ns > 0));
        let run_ns = sample.meters.run_ns.unwrap();
        assert!(run_ns > 0 && run_ns < 2 * sample.wall_ns + 1_000_000, "{sample:?}");
        assert_eq!(sample.peak_memory_bytes, 0, "of two nobody knows whose it is");
    }
    assert!(ran.samples[1].wall_ns > 2 * ran.samples[0].wall_ns, "{:?}", ran.batches);
}

#[test]
fn every_batch_follows_an_untimed_call_and_everybody_is_primed_first() {
    let [(_, prepare_a, run_a), (_, prepare_b, run_b)] = ['A', 'B'].map(telling);
    let a = Source { prepare: &prepare_a, run: &run_a, ..RIGHT };
    let b = Source { prepare: &prepare_b, run: &run_b, ..RIGHT };
    let (mut study, log) = Study::new(&[a, b]).with_log();
    // Of each contestant as many as the plan says, wherever it was loaded.
    study.functions().calls_a_batch = BatchCalls::Each(vec![3, 7]);
    study.plan.claims = vec![claim(Metric::Cycles)];
    let unit = RoundCoins { primer: Some(0), ..coins(&[1, 0]) };
    run(&mut study.workers(), &unit, &[vec![0, 1], vec![1, 0]]).unwrap();
    let expected = [
        ("Bprepare", 1),
        ("Aprepare", 1),
        ("Brun", 1),
        ("Arun", 1),
        ("Arun", 1 + 3),
        ("Brun", 1 + 7),
        ("Brun", 1 + 7),
        ("Arun", 1 + 3),
    ];
    assert_eq!(words(&log), told(&expected));
}

#[test]
fn rounds_that_warm_up_come_before_the_primer_and_are_judged_but_are_no_evidence() {
    let [(_, prepare_a, run_a), (_, prepare_b, run_b)] = ['A', 'B'].map(telling);
    let a = Source { prepare: &prepare_a, run: &run_a, ..RIGHT };
    let b = Source { prepare: &prepare_b, run: &run_b, ..RIGHT };
    let (mut study, log) = Study::new(&[a, b]).with_log();
    study.functions().calls_a_batch = BatchCalls::Alike(2);
    study.functions().pilot.warm_rounds = 1;
    study.plan.claims = vec![claim(Metric::Cycles)];
    let ran = run(&mut study.workers(), &coins(&[1, 0]), &[vec![0, 1], vec![1, 0]]).unwrap();
    let warm = [("Bprepare", 1), ("Aprepare", 1), ("Brun", 3), ("Arun", 3)];
    let primed = [("Arun", 1), ("Brun", 1)];
    let timed = [("Arun", 3), ("Brun", 3), ("Brun", 3), ("Arun", 3)];
    assert_eq!(words(&log), told(&[&warm[..], &primed, &timed].concat()));
    for (sample, batches) in ran.samples.iter().zip(&ran.batches) {
        assert_eq!(batches.len(), 2);
        assert_eq!(sample.wall_ns, batches.iter().map(|time| time.low_ns).sum::<u64>());
    }
    // Only the first batch, which warms up, is wrong.
    let before = "static int calls;";
    let wrong = Source { before, run: "return sum + (calls++ == 1);", ..RIGHT };
    let mut study = Study::new(&[RIGHT, wrong]);
    study.functions().calls_a_batch = BatchCalls::Alike(2);
    study.functions().pilot.warm_rounds = 1;
    let Err(UnitFailure::Fault(1, _)) = study.run() else { panic!("a wrong answer") };
}

#[test]
fn a_reset_comes_before_each_call_and_each_is_timed_by_itself() {
    let (before, prepare, run_it) = telling('A');
    let a = Source { before: &before, prepare: &prepare, reset: "again", run: &run_it, ..RIGHT };
    let (mut study, log) = Study::new(&[a]).with_log();
    study.functions().calls_a_batch = BatchCalls::Alike(2);
    study.plan.claims = vec![claim(Metric::Cycles)];
    let unit = coins(&[0]);
    let ran = run(&mut study.workers(), &unit, &[vec![0]]);
    let Err(UnitFailure::Broken(why)) = ran else { panic!("{ran:?}") };
    assert!(why.contains("each call must be timed by itself"), "{why}");
    std::fs::write(&log, "").unwrap();
    study.functions().times_each_call = true;
    let ran = run(&mut study.workers(), &unit, &[vec![0]]).unwrap();
    let once = [("Areset", 1), ("Arun", 1)];
    let expected = [&[("Aprepare", 1)], &once[..], &once, &once, &once].concat();
    assert_eq!(words(&log), told(&expected));
    assert_eq!(ran.batches[0].len(), 1);
    assert!(ran.samples[0].peak_memory_bytes > 100 << 10, "it is alone in its process");
}

#[test]
fn what_a_run_changes_is_put_back_and_not_timed() {
    let sorts = Source {
        before: "static void again(void *p) { state *s = p; usleep(2000); \
                 memcpy(s->own, s->input, s->bytes); }",
        reset: "again",
        run: "for (volatile int i = 0; i < 50000; i++) {} \
              for (uint64_t i = 0; i < s->bytes; i++) { sum += s->own[i]; s->own[i] = 0; } \
              return sum;",
        ..RIGHT
    };
    // Both have as much to put back: a reset that alone sleeps would be work that it hides.
    let mut study = Study::new(&[sorts, sorts]);
    study.functions().times_each_call = true;
    let ran = study.run().unwrap();
    let calls = 2 * study.functions().calls_a_batch.of(0, &[0, 1]);
    let sample = &ran.samples[0];
    assert!(sample.wall_ns < calls * 2_000_000, "the resets alone take that: {sample:?}");
    assert_eq!(sample.voluntary_switches, 0, "the resets sleep, and are not counted either");
}

#[test]
fn a_process_that_stays_serves_many_rounds() {
    let tells = Source { prepare: "tell(\"prepare \");", ..RIGHT };
    let (mut study, log) = Study::new(&[tells, tells]).with_log();
    study.plan.scope = Scope::Layout;
    let mut workers = study.workers();
    let first = coins(&[1, 0]);
    run(&mut workers, &first, &[vec![1, 0]]).unwrap();
    for round in 1..=300 {
        let order = if round % 3 == 0 { vec![0, 1] } else { vec![1, 0] };
        // A contestant may leave.
        let order = if round > 200 { vec![1] } else { order };
        let primer = Some(order[0]);
        let next = RoundCoins { round, order: order.clone(), primer, unit: None, ..first.clone() };
        let ran = run(&mut workers, &next, std::slice::from_ref(&order)).unwrap();
        assert_eq!((ran.samples.len(), ran.batches[0].len()), (order.len(), 1));
    }
    assert_eq!(words(&log), ["prepare", "prepare"]);
    run(&mut workers, &first, &[vec![1, 0]]).unwrap();
    assert_eq!(words(&log).len(), 4, "a unit with coins of its own has a process of its own");
    let next = RoundCoins { unit: None, ..first };
    let gone = run(&mut study.workers(), &next, &[vec![1, 0]]);
    assert!(matches!(gone, Err(UnitFailure::Broken(_))), "{gone:?}");
}

#[test]
fn inputs_are_drawn_or_one_for_all_or_a_file() {
    let sums = Source { after: "char t[32]; sprintf(t, \"%d \", (int)sum); tell(t);", ..RIGHT };
    let (mut study, log) = Study::new(&[sums]).with_log();
    let seen = |study: &Study| {
        std::fs::write(&log, "").unwrap();
        for seed in [1, 2] {
            let mut unit = coins(&[0]);
            unit.unit.as_mut().unwrap().input_seed = seed;
            run(&mut study.workers(), &unit, &[vec![0]]).unwrap();
        }
        words(&log).into_iter().collect::<HashSet<_>>()
    };
    assert_eq!(seen(&study).len(), 2);
    study.functions().workload.is_drawn = false;
    assert_eq!(seen(&study).len(), 1);
    std::fs::write(study.path().join("input"), [1, 2, 3]).unwrap();
    study.functions().workload.file = Some("input".to_owned());
    assert_eq!(seen(&study), HashSet::from(["6".to_owned()]));
    assert!(study.workers().files().contains(&study.path().join("input")));
    assert_eq!(study.workers().measure_input(0), Ok((3, 3)));
    study.functions().oracle = None;
    assert_eq!(seen(&study), HashSet::from(["6".to_owned()]), "nobody judges it");
}

#[test]
fn each_contestant_has_an_output_of_its_own_that_is_aligned() {
    let writes = |value: u8| {
        format!(
            "if ((uintptr_t)s->output % 128) return 1; \
             for (uint64_t i = 0; i < s->bytes + 3; i++) {{ \
             if (s->calls && i >= s->bytes && s->output[i] != {value}) return 2; \
             s->output[i] = {value}; }} \
             s->calls++;"
        )
    };
    let (first, second) = (writes(1), writes(2));
    let declares = "NULL, 0, 3, 128";
    let study = |distribution: &str| {
        let sources = [&first, &second].map(|run| Source { run, declares, ..RIGHT });
        let mut study = Study::new(&sources);
        study.functions().workload.distribution = distribution.to_owned();
        study
    };
    study("copied").run().unwrap();
    let has_none = Source { run: "if (s->output) return 1;", ..RIGHT };
    Study::new(&[has_none]).run().unwrap();
}

#[test]
fn placements_are_linked_ahead_and_gone_once_they_served() {
    let mut study = Study::new(&[RIGHT, RIGHT]);
    let files = |study: &Study| {
        let folders = std::fs::read_dir(study.path().join("placements")).unwrap().flatten();
        let inside = folders.filter_map(|folder| std::fs::read_dir(folder.path()).ok()).flatten();
        let name = |file: std::fs::DirEntry| file.file_name().into_string().unwrap();
        inside.flatten().map(name).filter(|name| name.ends_with(".so")).count()
    };
    let mut workers = study.workers();
    let units = [coins(&[0, 1]), placed(coins(&[1, 0]), 5)];
    workers.expect(&units);
    assert_eq!(files(&study), 2, "those of the first unit");
    run(&mut workers, &units[0], &[vec![0, 1]]).unwrap();
    assert_eq!(files(&study), 0);
    workers.expect(&units[1..]);
    assert_eq!(files(&study), 2);
    workers.expect(&units[..1]);
    assert_eq!(files(&study), 2, "those that are not wanted any more are gone");
    drop(workers);
    assert_eq!(files(&study), 0);
    study.functions().placements = Placements::Reused(2);
    let mut workers = study.workers();
    for _ in 0..3 {
        run(&mut workers, &coins(&[0, 1]), &[vec![0, 1]]).unwrap();
    }
    assert_eq!(files(&study), 2);
}

#[test]
fn workers_are_pinned_if_the_plan_says_so() {
    let before = "#include <sched.h>\n";
    let run_it = "cpu_set_t set; CPU_ZERO(&set); sched_getaffinity(0, sizeof set, &set); \
                  char t[32]; sprintf(t, \"%d/%d \", CPU_COUNT(&set), sched_getcpu()); tell(t);";
    let (mut study, log) = Study::new(&[Source { before, run: run_it, ..RIGHT }]).with_log();
    let cpu = *tiebreak_machine::cpus::allowed().last().unwrap();
    study.functions().cpu = Some(cpu);
    let ran = study.run().unwrap();
    let words: HashSet<String> = words(&log).into_iter().collect();
    assert_eq!(words, HashSet::from([format!("1/{cpu}")]));
    assert_eq!(ran.samples[0].beside.migrations, Some(0));
    study.functions().cpu = Some(8000);
    let folder = study.path().join("placements");
    let refused = tiebreak_measure::workers::Workers::new(
        &study.plan,
        study.program.clone(),
        &folder,
        &NEVER,
    );
    assert!(refused.unwrap_err().to_string().contains("CPU 8000 is not one of those"));
}

#[test]
fn time_that_others_take_is_told() {
    let mut study = Study::new(&[RIGHT]);
    let cpu = *tiebreak_machine::cpus::allowed().first().unwrap();
    study.functions().cpu = Some(cpu);
    study.functions().calls_a_batch = BatchCalls::Alike(200_000);
    static STOP: AtomicBool = AtomicBool::new(false);
    let neighbour = std::thread::spawn(move || {
        tiebreak_machine::cpus::pin_this_thread(&[cpu]).unwrap();
        while !STOP.load(Ordering::Relaxed) {
            std::hint::spin_loop();
        }
    });
    let ran = study.run().unwrap();
    STOP.store(true, Ordering::Relaxed);
    neighbour.join().unwrap();
    let sample = &ran.samples[0];
    let Some(delay_ns) = sample.beside.run_delay_ns else { return };
    assert!(delay_ns > sample.wall_ns / 20, "{sample:?}");
    assert!(sample.marks.has(Mark::ForeignLoad), "{sample:?}");
    let accounted = delay_ns + sample.meters.run_ns.unwrap();
    assert!(accounted > sample.wall_ns / 10 * 9, "{sample:?}");
}

#[test]
fn a_user_who_interrupts_does_not_wait() {
    static ASKED: AtomicBool = AtomicBool::new(false);
    let study = Study::new(&[Source { run: "sleep(100);", ..RIGHT }]);
    let mut workers = study.workers_until(&ASKED);
    let asker = std::thread::spawn(|| {
        std::thread::sleep(Duration::from_millis(300));
        ASKED.store(true, Ordering::Relaxed);
    });
    let start = Instant::now();
    let ran = run(&mut workers, &coins(&[0]), &[vec![0]]);
    assert_eq!(ran, Err(UnitFailure::Interrupted));
    assert!(start.elapsed() < Duration::from_secs(50));
    asker.join().unwrap();
}

#[test]
fn functions_are_no_programs() {
    let study = Study::new(&[RIGHT]);
    let mut workers = study.workers();
    assert!(matches!(workers.contestants(), Contestants::Functions(_)));
    assert!(workers.wait_for_quiet(SECOND_NS).quiet);
}
