//! Sentences that are claims, what they are read as, and what they mean.

use tiebreak_core::claim::{Relation, Statement};
use tiebreak_core::metric::Metric;
use tiebreak_input::{display, meaning, measure_question, parse, question};

const NAMES: [&str; 5] = ["A", "B", "my prog", "it's", "v1."];

fn check(text: &str, left: &str, right: &str, relation: Relation, metric: Metric) {
    let claim = parse(text, &NAMES).unwrap_or_else(|error| panic!("{}", error.render(false)));
    assert_eq!((claim.left.as_str(), claim.right.as_deref()), (left, Some(right)), "{text}");
    assert_eq!(claim.statement, Statement::Ratio(relation), "{text}");
    assert_eq!(claim.metric, metric, "{text}");
    assert_eq!(parse(&claim.text, &NAMES), Ok(claim), "{text}");
}

fn at_least(factor: f64) -> Relation {
    Relation::AtLeast { factor }
}

fn no_more_than(fraction: f64) -> Relation {
    Relation::NoMoreThan { fraction }
}

fn within(fraction: f64) -> Relation {
    Relation::Within { fraction }
}

#[test]
fn every_form_is_read() {
    let cases = [
        ("A is faster than B", at_least(1.0)),
        ("A is at least 1x faster than B", at_least(1.0)),
        ("A is at least 1.5x faster than B", at_least(1.5)),
        ("A is at least 1.5X faster than B", at_least(1.5)),
        ("A is at least 1.5 times faster than B", at_least(1.5)),
        ("A is at least .5x faster than B", at_least(0.5)),
        ("A is at least 5% faster than B", at_least(1.05)),
        ("A is at least 5 percent faster than B", at_least(1.05)),
        ("A is no more than 2% slower than B", no_more_than(0.02)),
        ("A is at most 2% slower than B", no_more_than(0.02)),
        ("A is no more than 1.02x slower than B", no_more_than(0.02)),
        ("A is at most 0% slower than B", no_more_than(0.0)),
        ("A is within 2% of B", within(0.02)),
        ("A is within 1.02x of B", within(0.02)),
        ("A uses less wall time than B", at_least(1.0)),
    ];
    for (text, relation) in cases {
        check(text, "A", "B", relation, Metric::WallTime);
        check(&text.to_uppercase(), "A", "B", relation, Metric::WallTime);
        check(&format!(" {}.\n", text.replace(' ', "\t ")), "A", "B", relation, Metric::WallTime);
        let other = text.replace("A ", "'my prog' ").replace(" B", " \"it's\"");
        check(&other, "my prog", "it's", relation, Metric::WallTime);
    }
}

#[test]
fn every_metric_is_read() {
    for metric in Metric::ALL {
        let name = metric.name();
        let cases = [
            (format!("A is faster than B by {name}"), at_least(1.0)),
            (format!("A is within 2% of B by {name}."), within(0.02)),
            (format!("A uses less {name} than B"), at_least(1.0)),
            (format!("A uses fewer {name} than B"), at_least(1.0)),
            (format!("A uses at least 1.5x less {name} than B"), at_least(1.5)),
            (format!("A uses at least 50% fewer {name} than B"), at_least(2.0)),
            (format!("A uses no more than 2% more {name} than B"), no_more_than(0.02)),
            (format!("A uses at most 1.02x more {name} than B"), no_more_than(0.02)),
        ];
        for (text, relation) in cases {
            check(&text, "A", "B", relation, metric);
            check(&text.to_uppercase(), "A", "B", relation, metric);
        }
    }
    check("A uses less memory than B", "A", "B", at_least(1.0), Metric::PeakMemory);
    check("A is faster than B by memory", "A", "B", at_least(1.0), Metric::PeakMemory);
}

#[test]
fn workload_and_metric_follow_in_any_order() {
    let cases = [
        ("A is faster than B on random", "random"),
        ("A is faster than B on random.", "random"),
        ("A is faster than B on random by wall time", "random"),
        ("A is faster than B by wall time on random", "random"),
        ("A is faster than B by wall time on 'two words'.", "two words"),
        ("A is faster than B on 'by'", "by"),
        ("A uses less wall time than B on A", "A"),
    ];
    for (text, workload) in cases {
        let claim = parse(text, &NAMES).unwrap();
        assert_eq!(claim.workload.as_deref(), Some(workload), "{text}");
        assert_eq!(claim.metric, Metric::WallTime);
    }
}

#[test]
fn the_text_has_single_spaces_and_no_full_stop() {
    let cases = [
        (" A  is\tfaster\nthan B. ", "A is faster than B"),
        ("'my prog'   Is FASTER than v1.", "'my prog' Is FASTER than v1."),
        ("A is faster than v1..", "A is faster than v1."),
    ];
    for (text, expected) in cases {
        assert_eq!(parse(text, &NAMES).unwrap().text, expected);
    }
}

#[test]
fn claims_are_printed_and_explained() {
    let cases = [
        (
            "A is faster than B.",
            "A is faster than B",
            "the wall time of B divided by the wall time of A, paired by round, is above 1",
        ),
        (
            "A is at least 50% faster than B on random",
            "A is at least 1.5x faster than B on random",
            "on random, the wall time of B divided by the wall time of A, paired by round, is \
             above 1.5",
        ),
        (
            "A is at most 1.02x slower than 'my prog'",
            "A is no more than 2% slower than 'my prog'",
            "the wall time of 'my prog' divided by the wall time of A, paired by round, is above \
             1/1.02",
        ),
        (
            "A is at most 5000x slower than B",
            "A is no more than 5000x slower than B",
            "the wall time of B divided by the wall time of A, paired by round, is above 1/5000",
        ),
        (
            "A uses at most 0% more memory than B",
            "A uses no more than 0% more peak memory than B",
            "the peak memory of B divided by the peak memory of A, paired by round, is above 1",
        ),
        (
            "A is within 2.5% of B by cpu time on 'x y'",
            "A is within 2.5% of B by cpu time on 'x y'",
            "on 'x y', the cpu time of B divided by the cpu time of A, paired by round, is above \
             1/1.025 and below 1.025",
        ),
        (
            "A uses at least 50% less page faults than B",
            "A uses at least 2x fewer page faults than B",
            "the page faults of B divided by the page faults of A, paired by round, is above 2",
        ),
    ];
    for (text, printed, meant) in cases {
        let claim = parse(text, &NAMES).unwrap();
        assert_eq!(display(&claim), printed);
        assert_eq!(meaning(&claim), meant);
    }
}

#[test]
fn a_question_is_a_claim_about_an_order() {
    let mut asked = question("A", "my prog", Metric::WallTime);
    assert_eq!(asked.text, "which of A and 'my prog' is faster");
    assert_eq!(asked.statement, Statement::Ratio(Relation::Order));
    assert_eq!(
        meaning(&asked),
        "whether the wall time of 'my prog' divided by the wall time of A, paired by round, is \
         above 1 or below 1"
    );
    asked.metric = Metric::PeakMemory;
    assert_eq!(display(&asked), "which of A and 'my prog' uses less peak memory");
    asked.metric = Metric::PageFaults;
    asked.workload = Some("random".to_owned());
    assert_eq!(display(&asked), "which of A and 'my prog' uses fewer page faults on random");
}

#[test]
fn a_cell_of_a_table_is_a_question_about_a_size() {
    let asked = measure_question("swar", "naive", 0.05, Metric::WallTime, "random");
    assert_eq!(asked.text, "how much faster swar is than naive on random");
    assert_eq!(asked.statement, Statement::Ratio(Relation::Measure { precision: 0.05 }));
    assert!(asked.statement.is_question() && asked.statement.is_measure());
    assert_eq!(
        meaning(&asked),
        "on random, how large the wall time of naive divided by the wall time of swar, paired by \
         round, is"
    );
    let asked = measure_question("swar", "naive", 0.1, Metric::PeakMemory, "random");
    assert_eq!(asked.text, "how many times less peak memory swar uses than naive on random");
}
