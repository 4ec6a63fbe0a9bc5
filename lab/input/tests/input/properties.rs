//! What holds for every claim and for every sentence.

use proptest::prelude::*;
use tiebreak_core::claim::{Claim, Property, Relation, Statement};
use tiebreak_core::metric::Metric;
use tiebreak_input::{display, meaning, parse};

/// Words from which wrong sentences are put together.
const WORDS: [&str; 60] = [
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
    "p99 of",
    "median",
    "mean",
    "of the time",
    "as bad",
    "with",
    "capped at",
    "below",
    "above",
    "98%",
    "96%",
    "5 ms",
    "5",
    "ms",
    "64MiB",
    "2 mJ",
    "of rounds",
    "of the",
    "page faults",
    "energy",
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
    let known = proptest::sample::select(&crate::common::NAMES[..]).prop_map(str::to_owned);
    prop_oneof![known, "\\PC{0,12}", "[a-z'\". ]{0,6}"]
}

fn shares() -> impl Strategy<Value = (f64, f64)> {
    let share = || prop_oneof![f64::MIN_POSITIVE..1.0, 0.5..1.0, Just(0.99), Just(0.98), Just(0.5)];
    (share(), share(), any::<bool>())
        .prop_map(|(a, b, is_one)| if is_one { (a, a) } else { (a.max(b), a.min(b)) })
}

fn property() -> impl Strategy<Value = Property> {
    let amount = || prop_oneof![1e-3..1e18, 1.0..1e9, Just(5e6), Just(65536.0)];
    let factor = prop_oneof![1e-3..1e6, Just(1.0), Just(10.0)];
    let mean = (any::<bool>(), amount(), proptest::option::of(amount()));
    prop_oneof![
        (factor, shares())
            .prop_map(|(factor, (share, _))| Property::InShareOfRounds { factor, share }),
        shares().prop_map(|(good, bad)| Property::Succeeds { good, bad }),
        (shares(), amount()).prop_map(|((good, bad), bar)| Property::Quantile { good, bad, bar }),
        mean.prop_map(|(is_below, bar, cap)| {
            let cap = cap.map(|cap| if cap > bar { cap } else { bar * 1.5 });
            let (bar, cap) = if cap > Some(1e18) { (bar / 2.0, Some(bar)) } else { (bar, cap) };
            Property::Mean { is_below, bar, cap }
        }),
    ]
}

fn statement() -> impl Strategy<Value = Statement> {
    prop_oneof![relation().prop_map(Statement::Ratio), property().prop_map(Statement::Property)]
}

/// A claim of any form: of two contestants where its form needs two, and by wall time where its
/// form has no metric.
fn claim() -> impl Strategy<Value = Claim> {
    let metric = proptest::sample::select(&Metric::ALL[..]);
    let parts = (name(), name(), statement(), metric, proptest::option::of(name()));
    let apart = parts.prop_filter("two names", |(left, right, ..)| left != right);
    apart.prop_map(|(left, right, statement, metric, workload)| {
        let of_two = match statement {
            Statement::Ratio(_) => true,
            Statement::Property(property) => matches!(property, Property::InShareOfRounds { .. }),
        };
        let right = of_two.then_some(right);
        let metric = if statement.is_about_success() { Metric::WallTime } else { metric };
        let text = String::new();
        let claim = Claim { text, left, right, statement, metric, workload };
        Claim { text: display(&claim), ..claim }
    })
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(2000))]

    #[test]
    fn a_printed_claim_reads_back(claim in claim()) {
        let names = [Some(&claim.left), claim.right.as_ref()].into_iter().flatten();
        let contestants: Vec<&str> = names.map(String::as_str).collect();
        prop_assert_eq!(parse(&claim.text, &contestants), Ok(claim.clone()));
        let spread = format!("\n {} . ", claim.text);
        prop_assert_eq!(parse(&spread, &contestants), Ok(claim.clone()));
        let of_what = match claim.statement {
            Statement::Ratio(_) => "paired by round",
            Statement::Property(Property::InShareOfRounds { .. }) => "the share of rounds",
            Statement::Property(_) => "of the runs of",
        };
        prop_assert!(meaning(&claim).contains(of_what));
    }

    #[test]
    fn no_text_panics_and_every_error_points_into_it(text in "(?s).{0,60}") {
        crate::common::check(&text);
    }

    #[test]
    fn no_words_panic_and_every_error_points_at_one(
        words in proptest::collection::vec(proptest::sample::select(&WORDS[..]), 0..14),
    ) {
        crate::common::check(&words.join(" "));
    }

    #[test]
    fn no_slip_in_a_claim_panics(claim in claim(), at in any::<prop::sample::Index>(), c: char) {
        let mut chars: Vec<char> = claim.text.chars().collect();
        *at.get_mut(&mut chars) = c;
        crate::common::check(&chars.into_iter().collect::<String>());
    }
}
