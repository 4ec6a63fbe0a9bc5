//! The study of header names: contestants with an oracle.

use super::TIMEOUT_NS;
use super::plan::{NEVER, Study, root, start, there, unit};
use std::path::{Path, PathBuf};
use std::process::Command;
use tiebreak_core::plan::Plan;
use tiebreak_core::sampler::UnitFailure;
use tiebreak_core::study::Verification;
use tiebreak_core::verdict::Fault;

/// A seed whose input has a set with a length and two dispositions, of which undici makes bytes.
const DOUBLED: u64 = 11;

const LOOKUPS: [&str; 6] = ["original", "switch", "ternary", "trie", "perfect-hash", "unrolled"];

/// The study's oracle, compiled into the folder.
fn oracle(folder: &Path) -> PathBuf {
    let library = folder.join("oracle.so");
    let status = Command::new("g++")
        .args(["-O1", "-std=c++17", "-fPIC", "-shared", "-o"])
        .arg(&library)
        .arg("-I")
        .arg(root().join("kit/abi/include"))
        .arg(root().join("studies/header-names/oracle.cpp"))
        .status()
        .unwrap();
    assert!(status.success());
    library
}

/// A plan of these contestants, each a script of the study or one of our own, on drawn inputs.
pub fn plan(study: &Study) -> Plan {
    let mut plan = study.plan();
    let functions = plan.functions.as_mut().unwrap();
    functions.oracle = Some(oracle(study.path()).to_string_lossy().into_owned());
    functions.workload.distribution = "mixed".into();
    functions.workload.size = 300;
    functions.workload.is_drawn = true;
    plan
}

/// A folder with the study's scripts and these contestants.
pub fn study(contestants: &[&str]) -> Study {
    let mut study = Study::new();
    let scripts = root().join("studies/header-names");
    for name in ["names.mjs", "names.txt", "race.mjs"] {
        std::fs::copy(scripts.join(name), study.path().join(name)).unwrap();
    }
    for name in contestants {
        let file = format!("{name}.mjs");
        let script = std::fs::read_to_string(scripts.join(&file)).unwrap();
        study = study.with("node", &file, &script);
    }
    study
}

#[test]
fn every_lookup_answers_as_the_oracle() {
    if !there(&["node", "g++"]) {
        return;
    }
    let study = study(&LOOKUPS);
    let mut runners = start(&plan(&study), &NEVER).unwrap();
    let part = |distribution: &str, size, parts| Verification {
        name: format!("all {distribution}"),
        distribution: distribution.into(),
        size,
        parts,
        is_full: false,
        contestants: Vec::new(),
    };
    for (contestant, lookup) in LOOKUPS.iter().enumerate() {
        for seed in [9, DOUBLED] {
            assert_eq!(runners.check(contestant, seed), Ok(()), "{lookup} {seed}");
        }
        for verification in [part("masks", 4, 1), part("mutations", 1, 95)] {
            for number in 0..verification.parts.min(3) {
                let items = runners.verify(contestant, &verification, number);
                assert!(items.as_ref().is_ok_and(|items| *items > 300), "{items:?}");
            }
        }
    }
}

#[test]
fn units_draw_inputs_and_hold_checksums_against_the_oracle() {
    if !there(&["node", "g++"]) {
        return;
    }
    // It does not know capitals.
    let wrong = "
import { race } from './race.mjs';
race((bytes) => bytes.toString('latin1').replace('X-Trace-', 'x-trace-'));
";
    // It takes one name for another of the same length, once it is warm.
    let late = "
import { race } from './race.mjs';
let calls = 0;
race((bytes) => {
  const name = bytes.toString('latin1').toLowerCase();
  return ++calls > 2000 && name === 'te' ? 'ta' : name;
});
";
    let study = study(&["original", "switch"]);
    let mut study = study.with("node", "wrong.mjs", wrong).with("node", "late.mjs", late);
    study.calls_a_batch = 1;
    let mut runners = start(&plan(&study), &NEVER).unwrap();
    let ran = unit(&mut runners, &[vec![0, 1], vec![1, 0]], TIMEOUT_NS).unwrap();
    assert_eq!(ran.batches.len(), 2);
    let Err(UnitFailure::Fault(2, fault)) = runners.check(2, 5) else { panic!("no fault") };
    assert!(matches!(fault, Fault::WrongAnswer { item: Some(_), .. }), "{fault:?}");
    assert_eq!(runners.check(3, 5), Ok(()));
    let ran = unit(&mut runners, &[vec![0, 3]], TIMEOUT_NS);
    let Err(UnitFailure::Fault(3, fault)) = ran else { panic!("{ran:?}") };
    assert!(matches!(fault, Fault::WrongAnswer { item: None, .. }), "{fault:?}");
}

#[test]
fn a_unit_notices_what_became_of_a_name_that_came_twice() {
    if !there(&["node", "g++"]) {
        return;
    }
    let study = study(&["original"]);
    let race = std::fs::read_to_string(study.path().join("race.mjs")).unwrap();
    let rule = "Buffer.from(found[\"content-disposition\"]).toString(\"latin1\")";
    assert!(race.contains(rule));
    let lists = race.replace(rule, "String(found[\"content-disposition\"])");
    std::fs::write(study.path().join("lists.mjs"), lists).unwrap();
    let other = "
import { race } from './lists.mjs';
race((bytes) => bytes.toString('latin1').toLowerCase());
";
    let mut study = study.with("node", "other.mjs", other);
    study.calls_a_batch = 1;
    let mut plan = plan(&study);
    let workload = &mut plan.functions.as_mut().unwrap().workload;
    (workload.is_drawn, workload.seed) = (false, DOUBLED);
    let mut runners = start(&plan, &NEVER).unwrap();
    let ran = unit(&mut runners, &[vec![0, 1]], TIMEOUT_NS);
    let Err(UnitFailure::Fault(1, fault)) = ran else { panic!("{ran:?}") };
    assert!(matches!(fault, Fault::WrongAnswer { item: Some(_), .. }), "{fault:?}");
}
