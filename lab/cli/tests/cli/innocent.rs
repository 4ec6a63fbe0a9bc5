//! Honest contestants with unusual habits, which lie in `tests/innocent`: nobody accuses them.

use crate::common::Place;
use serde_json::Value;
use std::fs;
use std::path::Path;

/// The fewest that must take part: others may lack their compiler, or a feature of the CPU.
const AT_LEAST: usize = 12;

fn place() -> Place {
    let place = Place::new();
    let to = place.path("studies/innocent");
    fs::create_dir_all(&to).unwrap();
    let from = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/cli/innocent");
    for file in fs::read_dir(from).unwrap() {
        let file = file.unwrap();
        fs::copy(file.path(), to.join(file.file_name())).unwrap();
    }
    place
}

#[test]
fn honest_contestants_with_unusual_habits_are_not_accused() {
    let place = place();
    let said = place.run(&["study", "verify", "innocent", "--seed", "s"]);
    assert_eq!(said.code, 0, "{said:?}");
    for (scope, budget) in [("code", "45 rounds"), ("binary", "30 rounds")] {
        let said = place.run(&[
            "study",
            "run",
            "innocent",
            "--seed",
            "s",
            "--scope",
            scope,
            "--budget",
            budget,
            "--json",
            "result.json",
        ]);
        assert!([0, 2].contains(&said.code), "{said:?}");
        let text = fs::read_to_string(place.path("result.json")).unwrap();
        let result: Value = serde_json::from_str(&text).unwrap();
        let rows = result["runs"][0]["study"]["rows"].as_array().unwrap();
        for row in rows {
            assert!(row["fault"].is_null(), "{scope}: {row}");
        }
        let ran = rows.iter().filter(|row| row["batches"].as_u64().is_some_and(|many| many > 0));
        assert!(ran.count() >= AT_LEAST, "{scope}: {rows:?}");
    }
}
