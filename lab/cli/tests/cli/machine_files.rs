//! `tiebreak machine compare` and `tiebreak machine tune`.

use crate::common::Place;

fn print(place: &Place, name: &str, cpus: usize) {
    let cpu = |cpu: usize| {
        format!(
            r#"{{"cpu":{cpu},"is_online":true,"is_allowed":true,"core":{cpu},"smt_siblings":[]}}"#
        )
    };
    let cpus: Vec<String> = (0..cpus).map(cpu).collect();
    let topology = format!(
        r#"{{"state":"measured","value":{{"cpus":[{}],"caches":[],"nodes":[],"compilers":[],
            "limits":{{"is_cpu_quota_known":true}},
            "sharing":{{"state":"inconclusive","why":"made up"}}}}}}"#,
        cpus.join(",")
    );
    let text = format!(
        r#"{{"schema":"tiebreak/machine/1","taken_unix_ms":0,"took_ns":1,"is_quick":false,
            "interrupted":false,"machine":{{"cpu_model":"{name}"}},"topology":{topology}}}"#
    );
    std::fs::write(place.path(&format!("{name}.json")), text).unwrap();
}

#[test]
fn machines_stand_side_by_side_with_their_prices() {
    let place = Place::new();
    print(&place, "c7g", 64);
    print(&place, "c6g", 32);
    let words = ["machine", "compare", "c7g.json", "c6g.json"];
    let said = place.run(&words);
    assert_eq!(said.code, 0, "{said:?}");
    assert!(said.out.contains("0.50x") && said.out.contains("cpu model"), "{}", said.out);
    assert!(!said.out.contains("unit of price"), "{}", said.out);
    let priced = ["--price", "c6g=2.176,A=2.32", "--json", "-"];
    let said = place.run(&[&words[..], &priced].concat());
    assert_eq!(said.code, 0, "{said:?}");
    let json: serde_json::Value = serde_json::from_str(&said.out).unwrap();
    assert_eq!(json["schema"], "tiebreak/machine-comparison/1");
    let figures = json["figures"].as_array().unwrap();
    let cpus = figures.iter().find(|figure| figure["key"] == "topology-cpus").unwrap();
    let ratio = cpus["per_price"]["ratio"].as_f64().unwrap();
    assert!((ratio - 0.5 * 2.32 / 2.176).abs() < 1e-12);
    // A count is a fact: the machine with more of them is not a winner.
    assert!(cpus["per_price"]["winner"].is_null() && cpus["values"]["winner"].is_null());
}

#[test]
fn a_wrong_file_or_price_is_named() {
    let place = Place::new();
    print(&place, "c7g", 2);
    std::fs::write(place.path("other.json"), "{\"schema\": 7}").unwrap();
    let old = std::fs::read_to_string(place.path("c7g.json")).unwrap();
    std::fs::write(place.path("old.json"), old.replace("machine/1", "machine/0")).unwrap();
    let check = |words: &[&str], code: i32, says: &str| {
        let said = place.run(&[&["machine", "compare"], words].concat());
        assert_eq!(said.code, code, "{said:?}");
        assert!(said.err.contains(says), "{says}: {}", said.err);
        assert_eq!(said.err.lines().count(), 1, "{}", said.err);
    };
    check(&["c7g.json", "absent.json"], 65, "absent.json");
    check(&["c7g.json", "other.json"], 65, "other.json: not a print of a machine");
    check(&["c7g.json", "text.txt"], 65, "text.txt: not a print of a machine");
    check(&["c7g.json", "old.json"], 65, "'tiebreak/machine/0'");
    check(&["c7g.json", "c7g.json", "--price", "A=2,C=3"], 64, "'C' names neither");
    check(&["c7g.json", "c7g.json", "--price", "A=2"], 64, "no price of B");
}

#[test]
fn tuning_is_advice() {
    let place = Place::new();
    let said = place.run(&["machine", "tune"]);
    assert_eq!(said.code, 0, "{said:?}");
    let words: Vec<&str> = said.out.split_whitespace().collect();
    assert!(words.join(" ").contains("Nothing was changed."), "{}", said.out);
    let said = place.run(&["machine", "tune", "--json", "-"]);
    let json: serde_json::Value = serde_json::from_str(&said.out).unwrap();
    assert_eq!(json["schema"], "tiebreak/machine-tuning/1");
    assert_eq!(json["settings"].as_array().unwrap().len(), 29);
}
