//! What holds for every claim and for every sentence.

mod common;

use proptest::prelude::*;
use tiebreak_core::claim::{Claim, Relation};
use tiebreak_core::metric::Metric;
use tiebreak_study::{display, meaning, parse};

/// Words from which wrong sentences are put together.
const WORDS: [&str; 40] = [
    "A",
    "B",
    "C",
    "'my prog'",
    "is",
    "uses",
    "succeeds",
    "which",
    "p99",
    "of",
    "at",
    "least",
    "most",
    "no",
    "more",
    "than",
    "within",
    "faster",
    "slower",
    "less",
    "fewer",
    "memory",
    "peak",
    "cpu",
    "time",
    "cycles",
    "on",
    "by",
    "in",
    "1.5x",
    "2%",
    "0",
    "x",
    "percent",
    "-1%",
    ".",
    "'",
    "\"B\"",
    "caf\u{e9}",
    "\u{a0}\u{65e5}",
];

fn relation() -> impl Strategy<Value = Relation> {
    let above_0 = prop_oneof![1e-9..1.0, 1.0..1e6, Just(1.0), Just(1e6), Just(1.05)];
    let fraction = prop_oneof![0.0..1.0, 0.0..1e5, Just(0.0), Just(0.02), Just(999_999.0)];
    let within = prop_oneof![f64::MIN_POSITIVE..1.0, 1e-9..1e5, Just(0.02)];
    prop_oneof![
        above_0.prop_map(|factor| Relation::AtLeast { factor }),
        fraction.prop_map(|fraction| Relation::NoMoreThan { fraction }),
        within.prop_map(|fraction| Relation::Within { fraction }),
    ]
}

fn name() -> impl Strategy<Value = String> {
    let known = proptest::sample::select(&common::NAMES[..]).prop_map(str::to_owned);
    prop_oneof![known, "\\PC{0,12}", "[a-z'\". ]{0,6}"]
}

fn claim() -> impl Strategy<Value = Claim> {
    let metric = proptest::sample::select(&Metric::ALL[..]);
    let parts = (name(), name(), relation(), metric, proptest::option::of(name()));
    let apart = parts.prop_filter("two names", |(left, right, ..)| left != right);
    apart.prop_map(|(left, right, relation, metric, workload)| {
        let text = String::new();
        let claim = Claim { text, left, right, relation, metric, workload };
        Claim { text: display(&claim), ..claim }
    })
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(2000))]

    #[test]
    fn a_printed_claim_reads_back(claim in claim()) {
        let contestants = [claim.left.as_str(), claim.right.as_str()];
        prop_assert_eq!(parse(&claim.text, &contestants), Ok(claim.clone()));
        let spread = format!("\n {} . ", claim.text);
        prop_assert_eq!(parse(&spread, &contestants), Ok(claim.clone()));
        prop_assert!(meaning(&claim).contains("paired by round"));
    }

    #[test]
    fn no_text_panics_and_every_error_points_into_it(text in "(?s).{0,60}") {
        common::check(&text);
    }

    #[test]
    fn no_words_panic_and_every_error_points_at_one(
        words in proptest::collection::vec(proptest::sample::select(&WORDS[..]), 0..14),
    ) {
        common::check(&words.join(" "));
    }

    #[test]
    fn no_slip_in_a_claim_panics(claim in claim(), at in any::<prop::sample::Index>(), c: char) {
        let mut chars: Vec<char> = claim.text.chars().collect();
        *at.get_mut(&mut chars) = c;
        common::check(&chars.into_iter().collect::<String>());
    }
}
