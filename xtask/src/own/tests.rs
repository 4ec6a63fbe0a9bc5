use super::*;

const JSON: &str = r#"{"schema": "tiebreak/own/2", "date": "2026-01-02",
    "machine": {"cpu": "Some CPU", "cpus": 2, "kernel": "6.1"},
    "tools": {"hyperfine": "1.15.0", "tiebreak": "0.1.0"},
    "measurements": [
        {"what": "round", "way": "quiet", "rounds": 500, "program_ms": 1.0, "added_ms": 0.5},
        {"what": "round", "way": "quiet", "rounds": 500, "program_ms": 1.1, "added_ms": 0.25},
        {"what": "round", "way": "quiet", "rounds": 500, "program_ms": 1.2, "added_ms": 1.75},
        {"what": "round", "way": "terminal", "rounds": 500, "program_ms": 1.0, "added_ms": 0.6},
        {"what": "round", "way": "waiting", "rounds": 500, "program_ms": 1.9, "added_ms": 0.7},
        {"what": "start", "journal": "new", "ms": 9.5},
        {"what": "start", "journal": "existing", "ms": 7.0},
        {"what": "start", "journal": "existing", "ms": 8.0},
        {"what": "memory", "samples": 4000, "peak_bytes": 8000000},
        {"what": "memory", "samples": 40000, "peak_bytes": 11600000},
        {"what": "memory", "samples": 4000, "peak_bytes": 8000000},
        {"what": "memory", "samples": 40000, "peak_bytes": 12320000},
        {"what": "evidence", "engine": "M4", "rounds": 10, "update_ns": 1, "interval_ms": 1},
        {"what": "evidence", "engine": "M4", "rounds": 1000, "update_ns": 155, "interval_ms": 0.9},
        {"what": "evidence", "engine": "S2", "rounds": 1000, "update_ns": 105, "interval_ms": 0.3},
        {"what": "tool", "tool": "tiebreak", "seconds": 2.0, "timed_runs": 1000,
         "program_ms": 0.5},
        {"what": "tool", "tool": "tiebreak", "seconds": 4.0, "timed_runs": 1000,
         "program_ms": 0.7},
        {"what": "tool", "tool": "hyperfine", "seconds": 1.0, "timed_runs": 1000,
         "program_ms": 0.6}]}"#;

#[test]
fn each_figure_stands_in_its_row() {
    let text = render(JSON).unwrap();
    let rows = [
        "| added to a round: three runs of a program of 1.1 ms | under 1 ms \
         | 0.50 (0.25 to 1.75) ms | `--no-wait --quiet`, 3 runs of 500 rounds |",
        "| the same, with progress on a terminal | under 1 ms | 0.60 (0.60 to 0.60) ms |",
        "| the same, waiting for quiet, the waiting apart | under 1 ms | 0.70 (0.70 to 0.70) ms |",
        "| start-up, journal new | under 20 ms | 9.5 (9.5 to 9.5) ms |",
        "| start-up, journal existing | under 20 ms | 7.5 (7.0 to 8.0) ms |",
        "| memory a sample | under 200 bytes | 110 (100 to 120) bytes \
         | peak memory of 40000 samples of `true` less that of 4000 |",
        "| an update, `--centre factor` (M4) | under 2000 ns | 155 ns |",
        "| an interval, `--centre factor` (M4) | under 10 ms | 0.90 ms |",
        "| an update, `--centre median` (S2) | under 200 ns | 105 ns |",
        "| an interval, `--centre median` (S2) | under 2 ms | 0.30 ms |",
        "| tiebreak 0.1.0 | 375 (250 to 500) | 2.40 (1.50 to 3.30) |",
        "| hyperfine 1.15.0 | 1000 (1000 to 1000) | 0.40 (0.40 to 0.40) |",
    ];
    for row in rows {
        assert!(text.contains(&format!("\n{row}")), "{row}\nis not in\n{text}");
    }
}

#[test]
fn what_was_not_measured_is_an_error() {
    for (missing, instead) in [
        (r#""way": "waiting""#, r#""way": "quiet""#),
        (r#""journal": "new""#, r#""journal": "existing""#),
        (r#""samples": 40000"#, r#""samples": 4000"#),
        (r#""engine": "S2", "rounds": 1000"#, r#""engine": "S2", "rounds": 100"#),
        (r#""tool": "hyperfine""#, r#""tool": "other""#),
        ("own/2", "own/1"),
    ] {
        assert!(render(&JSON.replace(missing, instead)).is_err(), "{missing}");
    }
}
