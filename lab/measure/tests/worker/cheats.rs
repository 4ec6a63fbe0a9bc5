//! Contestants that answer rightly where somebody looks, and not where the clock runs.

use super::study::*;
use tiebreak_core::verdict::Fault;

/// A study of an honest contestant and this one, both of which copy their input to their output and
/// dump what stands there.
fn copying(cheat: Source<'_>) -> Study {
    let honest = Source { run: "memcpy(s->output, s->input, s->bytes);", ..cheat };
    let honest = Source { before: "", prepare: "", after: "", reset: "NULL", ..honest };
    let mut study = Study::new(&[honest, cheat]);
    study.functions().workload.distribution = "copied".to_owned();
    study
}

const DUMPS: Source<'static> = Source { dump: "value = s->output[i];", ..RIGHT };

/// Runs units of the study until one has a fault, so many at most; what is said of the cheat, and
/// in words that contain these.
fn caught(study: &Study, units: usize, contains: &str) {
    let mut workers = study.workers();
    for unit in 0..units as u64 {
        let mut coins = coins(&[0, 1]);
        let drawn = coins.unit.as_mut().unwrap();
        (drawn.orders_seed, drawn.input_seed) = (unit, unit);
        let orders = [vec![0, 1], vec![1, 0], vec![0, 1]];
        match run(&mut workers, &coins, &orders) {
            Ok(_) => {}
            failed => {
                let (contestant, fault) = fault_of(failed);
                let is_conduct = matches!(fault, Fault::Conduct { .. });
                assert!(contestant == 1 && is_conduct, "{contestant} {fault:?}");
                assert!(fault.to_string().contains(contains), "{fault}");
                return;
            }
        }
    }
    panic!("nobody saw it: {contains}");
}

/// Runs as many units; nobody has a fault.
fn innocent(study: &Study, units: usize) {
    let mut workers = study.workers();
    for unit in 0..units as u64 {
        let mut coins = coins(&[0, 1]);
        let drawn = coins.unit.as_mut().unwrap();
        (drawn.orders_seed, drawn.input_seed) = (unit, unit);
        run(&mut workers, &coins, &[vec![0, 1], vec![1, 0], vec![0, 1]]).unwrap();
    }
}

#[test]
fn outputs_that_are_not_written_in_timed_calls_are_found() {
    let check = |run: &str, contains: &str| {
        let cheat = copying(Source { run, ..DUMPS });
        cheat.workers().check(1, 3).unwrap();
        caught(&cheat, 8, contains);
    };
    let first = "if (s->calls++ < 2) memcpy(s->output, s->input, s->bytes);";
    check(first, "left another answer after a timed batch than its checksum says: item 1 should");
    // The checksum is of the input, so it does not show what became of the answer.
    let wrong = "memcpy(s->output, s->input, s->bytes); if (++s->calls > 5) s->output[41]++;";
    check(wrong, "item 42 should be");
    innocent(&copying(Source { run: "memcpy(s->output, s->input, s->bytes);", ..DUMPS }), 8);
}

#[test]
fn large_outputs_are_overwritten_in_places() {
    let large = |run| {
        let mut study = copying(Source { run, ..DUMPS });
        study.functions().workload.size = 100_000;
        study
    };
    let first = "if (s->calls++ < 2) memcpy(s->output, s->input, s->bytes);";
    caught(&large(first), 8, "left another answer");
    innocent(&large("memcpy(s->output, s->input, s->bytes);"), 4);
}
