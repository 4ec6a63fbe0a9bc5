//! Whole pages and frames.

use super::*;

pub(super) fn check_width(what: &str, text: &str, look: Look) {
    for line in text.lines() {
        assert!(line.width() <= look.width, "{what} at {}: {line:?}", look.width);
        assert_eq!(line, line.trim_end(), "{what}");
    }
}

#[test]
fn nothing_is_wider_than_the_screen() {
    for (what, run) in all_results() {
        for width in [40, 41, 60, 80, 100, 200] {
            for unicode in [true, false] {
                let look = Look { width, color: false, unicode };
                check_width(what, &terminal::render(&run, &look), look);
                check_width(what, &live::line(&run, &look), look);
                for line in live::frame(&run, &look) {
                    check_width(what, &line, look);
                }
            }
        }
    }
}

#[test]
fn without_unicode_everything_is_ascii() {
    let look = Look { unicode: false, ..LOOK };
    for (what, run) in all_results() {
        let text = terminal::render(&run, &look) + &live::frame(&run, &look).join("\n");
        assert!((text + &live::line(&run, &look)).is_ascii(), "{what}");
    }
}

#[test]
fn without_colour_nothing_speaks_to_the_terminal() {
    for (what, run) in all_results() {
        let text = terminal::render(&run, &LOOK) + &live::frame(&run, &LOOK).join("\n");
        assert!(!text.contains('\u{1b}'), "{what}");
    }
}

#[test]
fn colour_changes_nothing_but_the_colour() {
    let look = Look { color: true, ..LOOK };
    for (what, run) in all_results() {
        let colored = terminal::render(&run, &look);
        let mut parts = colored.split('\u{1b}');
        let mut plain = parts.next().unwrap_or("").to_owned();
        for part in parts {
            plain += part.split_once('m').map_or("", |(_, text)| text);
        }
        assert_ne!(colored, plain, "{what}");
        assert_eq!(terminal::render(&run, &LOOK), plain, "{what}");
    }
}

#[test]
fn a_frame_has_as_many_lines_whatever_is_known() {
    for (what, run) in all_results() {
        let lines = live::frame(&run, &LOOK).len();
        assert!((1..=6).contains(&lines), "{what}: {lines}");
        let mut other = run.clone();
        other.eta_seconds = None;
        other.budget.seconds = None;
        for claim in &mut other.verdicts {
            claim.verdict = Verdict::Holds;
            let effect = claim.quantity.effect_mut();
            (effect.low, effect.estimate) = (None, None);
        }
        assert_eq!(live::frame(&other, &LOOK).len(), lines, "{what}");
    }
}

fn page(run: &RunResult, width: usize, unicode: bool) -> String {
    terminal::render(run, &Look { width, color: false, unicode })
}

/// The claim of this name.
fn named(name: &str) -> ClaimResult {
    let found = properties().into_iter().find(|(other, _)| *other == name);
    found.unwrap_or_else(|| panic!("no claim is called {name}")).1
}

/// Too close, and A takes three times as long in a tenth of the rounds.
pub(super) fn no_factor() -> ClaimResult {
    let row = |statistic, [left, right]: [f64; 2], [low, high]: [Option<f64>; 2], cap| RatioRow {
        statistic,
        left: Some(left),
        right: Some(right),
        ratio: EffectResult { estimate: Some(right / left), low, high, confidence: 0.99 },
        cap,
    };
    let found = OneFactorResult {
        is_denied: true,
        evidence: 480.0,
        needed: 100.0,
        error: 0.01,
        rounds: 120,
        far: 12,
        far_opposite: 0,
        slow: "A".to_owned(),
        times: 2.973,
        is_least: false,
        ratios: vec![
            row(Statistic::Median, [2.0e9, 2.0e9], [Some(0.994), Some(1.003)], None),
            row(Statistic::P90, [5.9e9, 2.03e9], [Some(0.331), Some(1.01)], None),
            row(Statistic::P99, [6.04e9, 2.06e9], [None, None], None),
            row(Statistic::Mean, [2.4e9, 2.0e9], [Some(0.61), None], Some(60e9)),
        ],
    };
    ClaimResult {
        centre: Centre::Median,
        one_factor: Some(Box::new(found)),
        ..sentences::questions()[3].clone()
    }
}

macro_rules! snapshot_pages {
    ($($name:ident: $run:expr, $width:expr, $unicode:expr;)*) => {
        $(#[test]
        fn $name() {
            insta::assert_snapshot!(page(&$run, $width, $unicode));
        })*
    };
}

snapshot_pages! {
    two_at_80: compared(vec![sentences::questions()[0].clone()]), 80, true;
    two_at_60: compared(vec![sentences::questions()[1].clone()]), 60, true;
    two_at_100: compared(vec![sentences::questions()[2].clone()]), 100, true;
    two_in_ascii: compared(vec![sentences::questions()[1].clone()]), 80, false;
    too_close: compared(vec![sentences::questions()[3].clone()]), 80, true;
    a_slow_tenth: compared(vec![no_factor()]), 80, true;
    undecided: compared(vec![sentences::questions()[4].clone()]), 80, true;
    void: compared(vec![sentences::questions()[5].clone()]), 80, true;
    memory: compared(vec![sentences::questions()[6].clone()]), 80, true;
    three_with_a_void_one: three(), 80, true;
    three_at_60: three(), 60, true;
    every_claim: compared(sentences::claims().to_vec()), 80, true;
    missing_and_infinite_numbers: nothing_known(), 80, true;
    nothing_at_all: empty(), 80, true;
    very_long_names: long_names(), 80, true;
    rate_that_holds: judged(vec![named("rate holds")]), 80, true;
    rate_refuted_in_ascii: judged(vec![named("two rates refuted")]), 60, false;
    rate_between: judged(vec![named("two rates between")]), 80, true;
    rate_too_early: judged(vec![named("rate early")]), 80, true;
    rate_of_nothing: judged(vec![named("rate nothing")]), 80, true;
    lines_of_a_stream: judged(vec![named("lines")]), 100, true;
    lines_too_few: judged(vec![named("lines open")]), 80, true;
    quantile: judged(vec![named("two quantiles")]), 80, true;
    mean: judged(vec![named("mean")]), 80, true;
    share_of_rounds: judged(vec![named("rounds")]), 80, true;
    all_properties: judged(properties().into_iter().map(|(_, claim)| claim).collect()), 80, true;
    failures_that_a_claim_counts: with_failures(), 80, true;
    a_gate_that_passes: compared(vec![gated(Verdict::TooClose, Gate::OpenUnlessRefuted)]), 80, true;
    self_check_without_bias: self_checked(0, [0.0, 0.0, 0.087]), 80, true;
    self_check_with_bias: self_checked(9, [0.07, 0.225, 0.45]), 60, false;
}

#[test]
fn in_colour() {
    let look = Look { color: true, ..LOOK };
    let run = compared(vec![sentences::questions()[0].clone()]);
    insta::assert_snapshot!(terminal::render(&run, &look).replace('\u{1b}', "ESC"));
}

#[test]
fn frames() {
    let mut out = String::new();
    for (what, run) in all_results() {
        for look in [LOOK, Look { width: 60, unicode: false, ..LOOK }] {
            out += &format!("== {what}\n{}\n", live::frame(&run, &look).join("\n"));
        }
        out += &format!("-- {}\n", live::line(&run, &LOOK));
    }
    insta::assert_snapshot!(out);
}
