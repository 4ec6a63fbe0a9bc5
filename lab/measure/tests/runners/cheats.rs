//! Runners that give right checksums and do not do the work in the timed span, each with the
//! sentence that names what it did.

use super::TIMEOUT_NS;
use super::headers::{plan, study};
use super::plan::{NEVER, start, there, unit};
use tiebreak_core::sampler::{FunctionSampler, UnitFailure};

/// The run of the study's contestants, word for word.
const RUN: &str = "      run() {
        checksum.sum = 0;
        for (let i = 0; i < sets.length; i++) results[i] = parse(sets[i]);
        return checksum.sum >>> 0;
      },
";

/// How long an input is: a run on it takes many milliseconds.
const SIZE: u64 = 30_000;

/// Two rounds of an honest contestant and one with another run, on inputs drawn for each unit.
fn fault(run: &str) -> Option<String> {
    if !there(&["node", "g++"]) {
        return None;
    }
    let study = study(&["original"]);
    let race = std::fs::read_to_string(study.path().join("race.mjs")).unwrap();
    assert!(race.contains(RUN));
    let other = race.replace(RUN, run);
    std::fs::write(study.path().join("cheat.mjs"), format!("const kept = {{}};\n{other}")).unwrap();
    let script = "
import { race } from './cheat.mjs';
race((bytes) => bytes.toString('latin1').toLowerCase());
";
    let mut study = study.with("node", "other.mjs", script);
    study.calls_a_batch = 1;
    let mut plan = plan(&study);
    plan.functions.as_mut().unwrap().workload.size = SIZE;
    let mut runners = start(&plan, &NEVER).unwrap();
    // Each is on trial in one of two units, and resets are judged over five.
    for _ in 0..6 {
        match unit(&mut runners, &[vec![0, 1], vec![1, 0]], TIMEOUT_NS) {
            Ok(_) => {}
            Err(UnitFailure::Fault(1, fault)) => return Some(fault.to_string()),
            other => panic!("{other:?}"),
        }
    }
    let seen = runners.untimed(1).unwrap();
    assert!(seen.prepare_ns > 0 && seen.dump_ns.is_some(), "{seen:?}");
    Some("no fault".to_owned())
}

#[test]
fn work_that_is_not_done_in_each_run_is_seen() {
    let check = |run: &str, needle: &str| {
        let Some(fault) = fault(run) else { return };
        assert!(fault.contains(needle), "{needle}: {fault}");
    };
    check(RUN, "no fault");
    let keeps = RUN
        .replace("run() {", "run() {\n        if (kept.input === input) return kept.sum;")
        .replace(
            "return checksum.sum",
            "kept.input = input;\n        return kept.sum = checksum.sum",
        );
    check(&keeps, "did its work once for all runs on one input");
    let resets = RUN.replace("run()", "reset()").replace("return", "kept.sum =");
    check(&format!("{resets}      run: () => kept.sum,\n"), "has a 'reset' that takes");
    let stops =
        RUN.replace("run() {", "run() {\n        kept.runs = (kept.runs ?? 0) + 1;").replace(
            "results[i] = parse(sets[i]);",
            "{\n          const found = parse(sets[i]);\n          \
         if (kept.runs < 3) results[i] = found;\n          else results[i] = {};\n        }",
        );
    check(&stops, "item 1 should be");
}
