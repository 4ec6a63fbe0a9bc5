//! Over time: a run goes on with its evidence, and a claim is watched over its runs.

use crate::common::Place;

const CLAIM: &str = "A is no more than 2% slower than B";

fn compare(place: &Place, left: &str) {
    let words = ["compare", left, "sleep 0.02", "--claim", CLAIM, "--runs", "40", "--no-wait"];
    let said = place.run(&[&words[..], &["--quiet"]].concat());
    assert!(said.code <= 2, "{said:?}");
}

#[test]
fn a_run_goes_on_with_all_its_evidence() {
    let place = Place::new();
    let words = ["compare", "sleep 0.001", "sleep 0.1", "--runs", "4", "--no-wait", "--quiet"];
    assert_eq!(place.run(&words).code, 2);
    assert_eq!(place.run(&["resume", "--quiet"]).code, 65, "its budget is used up");
    let more = place.run(&["resume", "--more", "20 rounds", "--json", "-"]);
    assert_eq!(more.code, 0, "{more:?}");
    // Unanimous rounds need twelve of them, in blocks of two, the first four included.
    assert_eq!(more.json()["verdicts"][0]["rounds"], 12);
    let settled = place.run(&["resume", "--more"]);
    assert!(settled.code == 65 && settled.err.contains("finished"), "{settled:?}");
    let both = place.run(&["resume", "--more", "5s", "--budget", "5s"]);
    assert_eq!(both.code, 64);
}

#[test]
fn a_claim_that_becomes_false_raises_the_alarm() {
    let place = Place::new();
    assert_eq!(place.run(&["history", "--watch"]).code, 0);
    // The same command in all runs; what it does will change.
    let work = place.script("work", "sleep 0.0001");
    for _ in 0..3 {
        compare(&place, &work);
    }
    let calm = place.run(&["history", "--watch", "--json", "--between-alarms", "20"]);
    assert_eq!(calm.json()["series"].as_array().unwrap().len(), 1);
    assert_eq!(calm.code, 0, "a claim that holds run after run is no alarm");
    let series = &calm.json()["series"][0];
    assert_eq!(series["points"].as_array().unwrap().len(), 3);
    assert!(series["points"].as_array().unwrap().iter().all(|point| point["is_alarm"] == false));
    place.script("work", "sleep 0.03");
    compare(&place, &work);
    let alarmed = place.run(&["history", "--watch", "--claim", CLAIM, "--between-alarms", "20"]);
    assert_eq!(alarmed.code, 1, "{alarmed:?}");
    let words = alarmed.out.split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(words.contains("20 runs or more pass on average"), "{alarmed:?}");
    let unknown = place.run(&["history", "--watch", "--claim", "A is faster than C"]);
    assert!(unknown.code == 65 && unknown.err.contains("no run has the claim"), "{unknown:?}");
}
