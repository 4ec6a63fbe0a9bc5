//! What is made ahead for coming units, and that it stands still while something is timed.

use super::study::*;
use std::collections::HashSet;
use std::path::Path;
use std::time::{Duration, Instant};
use tiebreak_core::sampler::FunctionSampler;
use tiebreak_core::schedule::RoundCoins;

/// Waits until this is so.
fn wait_until(what: &str, is_so: impl Fn() -> bool) {
    let start = Instant::now();
    while !is_so() {
        assert!(start.elapsed() < Duration::from_secs(50), "{what}");
        std::thread::sleep(Duration::from_millis(1));
    }
}

fn length(log: &Path) -> u64 {
    std::fs::metadata(log).map_or(0, |log| log.len())
}

#[test]
fn a_unit_is_the_same_whether_it_was_expected_or_not() {
    let prepare = "char t[80]; uint64_t sum = 0; \
                   for (uint64_t i = 0; i < s->bytes; i++) sum = 31 * sum + s->input[i]; \
                   sprintf(t, \"%zu/%llu \", strlen(getenv(\"TIEBREAK_PADDING\")), \
                           (unsigned long long)sum); tell(t);";
    let (study, log) = Study::new(&[Source { prepare, ..RIGHT }; 2]).with_log();
    let unit = |seed: u32| {
        let coins = placed(coins(&[0, 1]), seed.into());
        let padding_bytes = coins.padding_bytes.iter().map(|bytes| bytes + 10 * seed).collect();
        RoundCoins { padding_bytes, ..coins }
    };
    let units: Vec<RoundCoins> = (0..5).map(unit).collect();
    let told = |expected: &[&[usize]]| {
        std::fs::write(&log, "").unwrap();
        let mut workers = study.workers();
        for (unit, expected) in units.iter().zip(expected) {
            let coming: Vec<_> = expected.iter().map(|index| units[*index].clone()).collect();
            workers.expect(&coming);
            run(&mut workers, unit, &[vec![0, 1], vec![1, 0]]).unwrap();
        }
        std::fs::read_to_string(&log).unwrap().split(' ').map(str::to_owned).collect::<Vec<_>>()
    };
    let alone = told(&[&[], &[], &[], &[], &[]]);
    assert_eq!(alone.iter().collect::<HashSet<_>>().len(), 1 + units.len(), "{alone:?}");
    assert_eq!(told(&[&[0, 1, 2], &[1, 2, 3], &[2, 3, 4], &[3, 4], &[4]]), alone);
    // Nothing comes as expected.
    assert_eq!(told(&[&[3, 1], &[2, 0], &[0, 4, 3], &[], &[1, 2, 3]]), alone);
}

#[test]
fn who_works_ahead_stands_still_in_every_timed_batch() {
    let before = "#include <sys/stat.h>\n";
    let run_it = "struct stat a = {0}, b = {0}; const char *log = getenv(\"TEST_LOG\"); \
                  stat(log, &a); usleep(10000); stat(log, &b); \
                  if (a.st_size != b.st_size) return 1;";
    let (mut study, log) = Study::new(&[Source { before, run: run_it, ..RIGHT }; 2]).with_log();
    study.functions().workload.distribution = "busy".to_owned();
    study.functions().calls_a_batch = BatchCalls::Alike(1);
    let units = [coins(&[0, 1]), placed(coins(&[0, 1]), 5)];
    let mut workers = study.workers();
    workers.expect(&units);
    wait_until("nobody works ahead", || length(&log) > 0);
    let orders = [vec![0, 1], vec![1, 0]];
    run(&mut workers, &units[0], &orders).unwrap();
    let then = length(&log);
    wait_until("the work does not go on", || length(&log) > then);
    std::fs::remove_file(&log).unwrap();
    run(&mut workers, &units[1], &orders).unwrap();
    // Whoever is at work when all ends is ended.
    std::fs::write(&log, "").unwrap();
    workers.expect(&[units[0].clone(), placed(coins(&[0, 1]), 9)]);
    wait_until("nobody works ahead", || length(&log) > 0);
    drop(workers);
    let then = length(&log);
    std::thread::sleep(Duration::from_millis(20));
    assert_eq!(length(&log), then);
}

#[test]
fn an_oracle_that_dies_ahead_costs_nothing_but_time() {
    let (mut study, log) = Study::new(&[RIGHT, RIGHT]).with_log();
    study.functions().workload.distribution = "mortal".to_owned();
    let units: Vec<RoundCoins> = (0..3).map(|seed| placed(coins(&[0, 1]), seed)).collect();
    let mut workers = study.workers();
    workers.expect(&units);
    wait_until("nobody works ahead", || !log.exists());
    for unit in &units {
        run(&mut workers, unit, &[vec![0, 1]]).unwrap();
    }
}

#[test]
fn what_fails_ahead_fails_as_if_it_had_not_been_expected() {
    let check = |distribution: &str| {
        let mut study = Study::new(&[RIGHT, RIGHT]);
        study.functions().workload.distribution = distribution.to_owned();
        let unit = coins(&[0, 1]);
        let failure = |is_expected: bool| {
            let mut workers = study.workers();
            if is_expected {
                workers.expect(std::slice::from_ref(&unit));
            }
            format!("{:?}", run(&mut workers, &unit, &[vec![0, 1]]).unwrap_err())
        };
        let alone = failure(false);
        assert!(alone.contains("oracle failed on the input"), "{alone}");
        assert_eq!(failure(true), alone);
    };
    check("fail");
    check("crash");
}
