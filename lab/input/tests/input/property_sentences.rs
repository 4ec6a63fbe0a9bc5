//! Sentences about shares, quantiles and means: what they are read as, and what they mean.

use tiebreak_core::claim::{Property, Statement};
use tiebreak_core::metric::Metric;
use tiebreak_input::{display, meaning, parse};

const NAMES: [&str; 5] = ["A", "B", "my prog", "mean", "p99"];

fn check(text: &str, property: Property, metric: Metric, workload: Option<&str>) {
    for text in [text.to_owned(), format!(" {}.\n", text.replace(' ', "\t "))] {
        let claim = parse(&text, &NAMES).unwrap_or_else(|error| panic!("{}", error.render(false)));
        assert_eq!(claim.left, "A", "{text}");
        assert_eq!(claim.statement, Statement::Property(property), "{text}");
        assert_eq!((claim.metric, claim.workload.as_deref()), (metric, workload), "{text}");
        let is_of_two = matches!(property, Property::InShareOfRounds { .. });
        assert_eq!(claim.right.as_deref(), is_of_two.then_some("B"), "{text}");
        assert_eq!(parse(&claim.text, &NAMES), Ok(claim.clone()), "{text}");
        let mut printed = claim;
        printed.text = display(&printed);
        assert_eq!(parse(&printed.text, &NAMES), Ok(printed), "{text}");
    }
}

fn quantile(good: f64, bad: f64, bar: f64) -> Property {
    Property::Quantile { good, bad, bar }
}

fn rounds(factor: f64, share: f64) -> Property {
    Property::InShareOfRounds { factor, share }
}

fn mean(is_below: bool, bar: f64, cap: Option<f64>) -> Property {
    Property::Mean { is_below, bar, cap }
}

#[test]
fn every_form_is_read() {
    let cases = [
        ("p99 of A is below 5 ms", quantile(0.99, 0.99, 5e6)),
        ("P99.9 of A is at most 5ms", quantile(0.999, 0.999, 5e6)),
        ("p50 OF A IS BELOW 2 MIN", quantile(0.5, 0.5, 120e9)),
        ("median of A is below 0.5 s", quantile(0.5, 0.5, 5e8)),
        ("p99 of A is below 5 ms with 98% as bad", quantile(0.99, 0.98, 5e6)),
        ("p99 of A is below 5 ms with 99 percent as bad", quantile(0.99, 0.99, 5e6)),
        ("A succeeds at least 98% of the time", Property::Succeeds { good: 0.98, bad: 0.98 }),
        (
            "A SUCCEEDS AT LEAST 98% OF THE TIME WITH 96 PERCENT AS BAD",
            Property::Succeeds { good: 0.98, bad: 0.96 },
        ),
        ("mean of A is below 5 ms", mean(true, 5e6, None)),
        ("mean of A is below 5 ms capped at 50 ms", mean(true, 5e6, Some(5e7))),
        ("mean of A is at most 5 us capped at 1 s", mean(true, 5e3, Some(1e9))),
        ("mean of A is above 5 ns", mean(false, 5.0, None)),
        ("mean of A is at least 5 ns capped at 6 ns", mean(false, 5.0, Some(6.0))),
        ("A is at least 10x faster than B in 98% of rounds", rounds(10.0, 0.98)),
        ("A is at least 10% faster than B in 98% of the rounds", rounds(1.1, 0.98)),
        ("A is faster than B in 98 percent of rounds", rounds(1.0, 0.98)),
    ];
    for (text, property) in cases {
        check(text, property, Metric::WallTime, None);
        check(&format!("{text} on random"), property, Metric::WallTime, Some("random"));
    }
    let memory = rounds(1.0, 0.9);
    check("A uses less memory than B in 90% of rounds", memory, Metric::PeakMemory, None);
}

#[test]
fn clauses_follow_in_any_order_and_units_fit_the_metric() {
    let memory = quantile(0.99, 0.98, 67_108_864.0);
    for text in [
        "p99 of A is below 64 MiB by memory with 98% as bad on x",
        "p99 of A is below 64 MiB on x with 98% as bad by peak memory",
        "p99 of A is below 65536KiB with 98% as bad on x by peak memory",
    ] {
        check(text, memory, Metric::PeakMemory, Some("x"));
    }
    let cases = [
        ("median of A is below 1000 by page faults", quantile(0.5, 0.5, 1e3), Metric::PageFaults),
        ("p90 of A is below 2.5 mJ by energy", quantile(0.9, 0.9, 2.5e6), Metric::Energy),
        ("p90 of A is below 7 ms by run time", quantile(0.9, 0.9, 7e6), Metric::RunTime),
        (
            "mean of A is below 1 GB capped at 2 GiB by memory",
            mean(true, 1e9, Some(2_147_483_648.0)),
            Metric::PeakMemory,
        ),
        (
            "mean of A is above 9 by context switches capped at 10",
            mean(false, 9.0, Some(10.0)),
            Metric::ContextSwitches,
        ),
        ("A is faster than B by cycles in 98% of rounds", rounds(1.0, 0.98), Metric::Cycles),
    ];
    for (text, property, metric) in cases {
        check(text, property, metric, None);
    }
}

#[test]
fn words_of_the_grammar_can_be_names() {
    for (text, left) in [
        ("mean of mean is below 5 ms", "mean"),
        ("mean is faster than p99", "mean"),
        ("p99 of p99 is below 5 ms", "p99"),
        ("p99 succeeds at least 50% of the time", "p99"),
    ] {
        assert_eq!(parse(text, &NAMES).map(|claim| claim.left), Ok(left.to_owned()), "{text}");
    }
}

#[test]
fn claims_are_printed_and_explained() {
    let cases = [
        (
            "p99 of A is at most 5000 us",
            "p99 of A is below 5 ms",
            "of the runs of A, each a fresh process, the share whose wall time is at most 5 ms is \
             above 99%",
        ),
        (
            "p50 of 'my prog' is below 64 MiB on x with 40% as bad by memory",
            "median of 'my prog' is below 64 MiB by peak memory with 40% as bad on x",
            "on x, of the runs of 'my prog', each a fresh process, the share whose peak memory is \
             at most 64 MiB is above 40% (holds) or below 50% (refuted)",
        ),
        (
            "A succeeds at least 98% of the time with 96% as bad",
            "A succeeds at least 98% of the time with 96% as bad",
            "of the runs of A, each a fresh process, the share that succeeds is above 96% (holds) \
             or below 98% (refuted)",
        ),
        (
            "mean of A is at most 5 ms capped at .05 s",
            "mean of A is below 5 ms capped at 50 ms",
            "of the runs of A, each a fresh process, the mean wall time, larger values counted as \
             50 ms, is below 5 ms",
        ),
        (
            "mean of A is at least 90 by page faults",
            "mean of A is above 90 by page faults",
            "of the runs of A, each a fresh process, the mean page faults is above 90",
        ),
        (
            "A is at least 900% faster than B in 98% of the rounds",
            "A is at least 10x faster than B in 98% of rounds",
            "the share of rounds in which the wall time of B divided by the wall time of A is at \
             least 10 is above 98%",
        ),
        (
            "A uses less memory than B in 90% of rounds",
            "A uses less peak memory than B in 90% of rounds",
            "the share of rounds in which the peak memory of B divided by the peak memory of A is \
             at least 1 is above 90%",
        ),
    ];
    for (text, printed, meant) in cases {
        let claim = parse(text, &NAMES).unwrap();
        assert_eq!(display(&claim), printed);
        assert_eq!(meaning(&claim), meant);
    }
    let mut claim = parse("p99 of A is below 5 by cycles", &NAMES).unwrap();
    claim.metric = Metric::Value;
    let lines = "of the lines of A, the share whose value is at most 5 is above 99%";
    assert_eq!(meaning(&claim), lines);
}
