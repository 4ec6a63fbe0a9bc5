use super::*;

fn comparison(case: &str, welch: (f64, bool), verdict: &str, faster: &str) -> String {
    let (p, a_faster) = welch;
    format!(
        r#"{{"case": "{case}",
            "hyperfine": {{"seconds": 0.8, "welch": {{"p": {p}, "a_faster": {a_faster}}},
                           "u": {{"p": 0.5, "a_faster": true}}}},
            "tiebreak": {{"seconds": 1.5, "verdict": "{verdict}", "faster": {faster}}}}}"#
    )
}

fn data(comparisons: &[String]) -> String {
    format!(
        r#"{{"schema": "tiebreak/peers/1", "date": "2026-01-02",
            "machine": {{"cpu": "Some CPU", "cpus": 2, "kernel": "6.1"}},
            "tools": {{"tiebreak": "0.1.0", "hyperfine": "1.15.0", "scipy": "1.10.1"}},
            "settings": {{"process_ms": 3.0, "runs": 80, "error": 0.01,
                          "budget_seconds": {{"same": 3, "slower5": 3, "slower1": 10}},
                          "resolution": {{"slower1": 0}}}},
            "neighbour": {{"duty": 0.3, "cpu_seconds": 2.5, "wall_seconds": 10.0}},
            "comparisons": [{}]}}"#,
        comparisons.join(",")
    )
}

#[test]
fn each_judge_has_a_row_with_its_rates() {
    let text = render(&data(&[
        comparison("same", (0.03, true), "too close", "null"),
        comparison("same", (0.2, true), "holds", "\"A\""),
        comparison("slower5", (0.001, true), "holds", "\"A\""),
        comparison("slower5", (0.001, false), "too close", "null"),
        comparison("slower1", (0.02, false), "holds", "\"B\""),
        comparison("slower1", (0.02, true), "undecided", "null"),
    ]));
    let text = text.unwrap();
    let row = |name: &str| -> Vec<String> {
        let line = text.lines().find(|line| line.contains(name)).unwrap();
        let cells = line.trim_matches('|').split('|').skip(1);
        cells.map(|cell| cell.split(':').next().unwrap().trim().to_owned()).collect()
    };
    let seconds = "1.50 / 1.50 / 1.50";
    let ours = ["1 of 2", "1 of 2", "1 of 2", "0 of 2", "1 of 2", seconds];
    assert_eq!(row("tiebreak, `--error 0.01`"), ours);
    let seconds = "0.80 / 0.80 / 0.80";
    let welch = ["1 of 2", "1 of 2", "1 of 2", "1 of 2", "1 of 2", seconds];
    assert_eq!(row("Welch's t-test, p < 0.05"), welch);
    let strict = ["0 of 2", "1 of 2", "1 of 2", "0 of 2", "0 of 2", seconds];
    assert_eq!(row("Welch's t-test, p < 0.01"), strict);
    let u = ["0 of 2", "0 of 2", "0 of 2", "0 of 2", "0 of 2", seconds];
    assert_eq!(row("U test, p < 0.05"), u);
    assert!(text.contains("B 1% slower: found") && text.contains("for 1% `--resolution 0`"));
    assert!(text.contains("on Some CPU (2 CPUs, Linux 6.1)"), "{text}");
}

#[test]
fn a_case_without_comparisons_has_no_rate() {
    let text = render(&data(&[comparison("same", (0.5, true), "too close", "null")])).unwrap();
    assert!(text.contains("| 0 of 1: 0.0% (0.0 to 79.3) | - | - | - | - | 1.50 / - / - |"));
}

#[test]
fn other_data_is_refused() {
    assert!(render("{}").is_err());
    assert!(render(&data(&[])).unwrap_err().to_string().contains("no comparisons"));
    let other = data(&[]).replace("peers/1", "peers/9");
    assert!(render(&other).unwrap_err().to_string().contains("peers/9"));
}
