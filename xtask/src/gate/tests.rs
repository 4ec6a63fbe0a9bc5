use super::*;

/// A check in which main's mean is `base` ms and the pull request's `head` ms.
fn check(slower: bool, (exit, verdict): (u8, &str), (base, head): (f64, f64), p: f64) -> String {
    let welch = format!(r#"{{"p": {p}, "slower": {}}}"#, head > base);
    format!(
        r#"{{"slower": {slower},
            "tiebreak": {{"exit": {exit}, "verdict": "{verdict}", "seconds": 8.0}},
            "hyperfine": {{"base_ms": {base}, "head_ms": {head}, "welch_stored": {welch},
                           "welch_now": {welch}, "seconds_stored": 1.0, "seconds_now": 2.0}}}}"#
    )
}

fn data(checks: &[String]) -> String {
    format!(
        r#"{{"schema": "tiebreak/gate/1", "date": "2026-01-02",
            "machine": {{"cpu": "Some CPU", "cpus": 2, "kernel": "6.1"}},
            "tools": {{"tiebreak": "0.1.0", "hyperfine": "1.15.0", "scipy": "1.10.1"}},
            "settings": {{"process_ms": 10.0, "slower": 0.03, "max_slowdown": 0.02,
                          "error": 0.01, "budget_seconds": 45, "runs": 80, "p": 0.05}},
            "neighbour": {{"duty": 0.3, "cpu_seconds": 2.5, "wall_seconds": 10.0}},
            "baseline_ms": [9.0, 11.0], "checks": [{}]}}"#,
        checks.join(",")
    )
}

#[test]
fn each_gate_has_a_row_with_what_it_closed() {
    let text = render(&data(&[
        check(false, (0, "holds"), (10.0, 10.1), 0.2),
        check(false, (0, "too close"), (10.5, 10.3), 0.01),
        check(false, (1, "refuted"), (10.0, 10.25), 0.01),
        check(true, (1, "refuted"), (10.0, 10.3), 0.01),
        check(true, (0, "undecided"), (10.0, 10.1), 0.2),
    ]))
    .unwrap();
    let row = |name: &str| -> Vec<&str> {
        let line = text.lines().find(|line| line.contains(name)).unwrap();
        line.trim_matches('|').split('|').skip(1).map(str::trim).collect()
    };
    assert_eq!(row("tiebreak, base"), ["1 of 3", "1 of 2", "8.0, at most 8.0"]);
    // Stored once: 10.0; above 10.2 are 10.3, 10.25 and 10.3.
    assert_eq!(row("as stored once |"), ["2 of 3", "1 of 2", "1.0, at most 1.0"]);
    // The latest of each: 10.0, 10.0, 10.5, 10.0, 10.0.
    assert_eq!(row("latest main stored |"), ["1 of 3", "1 of 2", "1.0, at most 1.0"]);
    assert_eq!(row("measured just before |"), ["1 of 3", "1 of 2", "2.0, at most 2.0"]);
    assert_eq!(row("Welch p < 0.05 against main just"), ["1 of 3", "1 of 2", "2.0, at most 2.0"]);
    assert!(text.contains("passed, 1 were undecided"), "{text}");
}

#[test]
fn other_data_is_refused() {
    assert!(render("{}").is_err());
    assert!(render(&data(&[])).unwrap_err().to_string().contains("no checks"));
    let other = data(&[]).replace("gate/1", "gate/9");
    assert!(render(&other).unwrap_err().to_string().contains("gate/9"));
}
