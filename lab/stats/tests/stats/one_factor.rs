//! How often one factor is denied where there is one, and how soon where there is none.

use crate::common::noise::{CLEAN, Noise, SCENARIOS, SILENT};
use crate::common::race::Race;
use crate::common::rates::{Cell, Form};
use tiebreak_core::claim::Relation;
use tiebreak_core::plan::{Adjust, Centre};
use tiebreak_stats::bettor::S;
use tiebreak_stats::coins::{Purpose, Seed, Stream};
use tiebreak_stats::conditions::Conditions;
use tiebreak_stats::observation::LogRatio;
use tiebreak_stats::one_factor::{self, ERROR};
use tiebreak_stats::ratio_test::RatioTest;

const FORM: Form = Form { streams: 400, rounds: 320, error: ERROR };

/// Half of the slots are hit, and by far.
const HEAVY: Noise = Noise { name: "heavy", spike_share: 0.5, spike_mean: 1.5, ..CLEAN };
/// Modes that neighbours share, and a wander.
const STICKY: Noise =
    Noise { name: "sticky", mode_gap: 0.7, mode_stickiness: 0.9, wander_left: 0.99, ..CLEAN };
/// Ratios that come in two values only.
const ATOMS: Noise = Noise { name: "atoms", mode_gap: 0.05, ..SILENT };

/// The first look at which one factor is denied; the looks are two thirds of their rounds apart.
fn denied_at(rounds: impl Iterator<Item = LogRatio>, most: usize) -> Option<usize> {
    let rounds: Vec<LogRatio> = rounds.take(most).collect();
    let mut looks = std::iter::successors(Some(24), |n| Some(n * 5 / 3)).take_while(|n| *n <= most);
    looks.find(|n| {
        one_factor::look(&crate::common::history(&S, &rounds[..*n]), 0)
            .is_some_and(|found| found.is_denied())
    })
}

/// The rounds of a race in which A takes `times` as long in a share of its runs.
fn with_slow_runs(
    noise: Noise,
    (share, times): (f64, f64),
    seed: Seed,
    stream: u64,
) -> impl Iterator<Item = LogRatio> {
    let mut chance = Stream::new(seed, Purpose::Simulation, stream, 7);
    Race::new(noise, 0.0).rounds(seed, stream).map(move |d| {
        let is_slow = f64::from(chance.next_u32()) < share * f64::from(u32::MAX);
        LogRatio::exact(d.low - if is_slow { libm::log(times) } else { 0.0 })
    })
}

#[test]
fn one_factor_is_not_denied_where_there_is_one() {
    for noise in SCENARIOS.into_iter().chain([HEAVY, STICKY, ATOMS]) {
        for truth in [0.0, 0.7] {
            let cell = Cell::new(
                format!("one factor denied at {truth}"),
                noise.name,
                "",
                move |form: Form, seed, stream| {
                    denied_at(Race::new(noise, truth).rounds(seed, stream), form.rounds).is_some()
                },
            );
            cell.check(FORM);
        }
    }
}

#[test]
fn a_slow_share_of_runs_is_found() {
    for (noise, slow, within) in [
        (CLEAN, (0.1, 3.0), 220),
        (SCENARIOS[1], (0.1, 3.0), 640),
        (SCENARIOS[2], (0.1, 3.0), 220),
        (CLEAN, (0.3, 3.0), 220),
        (CLEAN, (0.05, 3.0), 440),
        (CLEAN, (0.1, 1.3), 220),
    ] {
        let seed = Seed::from_text("slow runs");
        let found = |stream| denied_at(with_slow_runs(noise, slow, seed, stream), 640);
        let mut rounds: Vec<usize> =
            (0..50).map(|stream| found(stream).unwrap_or(usize::MAX)).collect();
        rounds.sort_unstable();
        println!("{} {slow:?}: half by {}, 90% by {}", noise.name, rounds[24], rounds[44]);
        assert!(rounds[39] <= within, "{} {slow:?}: {rounds:?}", noise.name);
    }
}

/// As [`with_slow_runs`], and A's slow runs are ended: they took at least that long.
fn with_hung_runs(
    noise: Noise,
    slow: (f64, f64),
    seed: Seed,
    stream: u64,
) -> impl Iterator<Item = LogRatio> {
    let cut_off = -libm::log(slow.1) / 2.0;
    let cut = move |d: LogRatio| {
        if d.low < cut_off { LogRatio { low: f64::NEG_INFINITY, ..d } } else { d }
    };
    with_slow_runs(noise, slow, seed, stream).map(cut)
}

/// Whoever is cut off by chance, as often as the other: it is no less one factor.
#[test]
fn runs_that_are_cut_off_on_both_sides_deny_nothing() {
    for (noise, cap) in [(HEAVY, 1.0), (HEAVY, 0.2), (CLEAN, 0.02)] {
        let cell =
            Cell::new("one factor denied", noise.name, "cut off", move |form: Form, seed, s| {
                let cut = |d: LogRatio| match d.low {
                    y if y < -cap => LogRatio { low: f64::NEG_INFINITY, high: -cap },
                    y if y > cap => LogRatio { low: cap, high: f64::INFINITY },
                    _ => d,
                };
                denied_at(Race::new(noise, 0.0).rounds(seed, s).map(cut), form.rounds).is_some()
            });
        cell.check(FORM);
    }
}

/// The table of the manual: in how many of a hundred runs of so many rounds it is seen.
#[test]
fn the_manual_says_how_soon_slow_runs_are_seen() {
    const ROUNDS: [usize; 5] = [30, 60, 120, 250, 500];
    let manual = include_str!("../../../../docs/manual/claims.md");
    let check = |what: &str, noise: Noise, slow: (f64, f64), hangs: bool| {
        let seed = Seed::from_text("how soon");
        let seen = |most: usize| {
            let is_seen = |stream: &u64| {
                let rounds: Vec<_> = if hangs {
                    with_hung_runs(noise, slow, seed, *stream).take(most).collect()
                } else {
                    with_slow_runs(noise, slow, seed, *stream).take(most).collect()
                };
                one_factor::look(&crate::common::history(&S, &rounds), 0)
                    .is_some_and(|found| found.is_denied())
            };
            (0..100).filter(is_seen).count()
        };
        let cells: Vec<String> = ROUNDS.iter().map(|most| format!("{}%", seen(*most))).collect();
        let row = format!("| {what} | {} |", cells.join(" | "));
        println!("{row}");
        manual.contains(&row)
    };
    let rows = [
        check("one run in 20 takes 3 times as long", CLEAN, (0.05, 3.0), false),
        check("one run in 10 takes 3 times as long", CLEAN, (0.1, 3.0), false),
        check("the same, half of all runs hit by other work", HEAVY, (0.1, 3.0), false),
        check("one run in 4 takes 3 times as long", CLEAN, (0.25, 3.0), false),
        check("one run in 4 hangs and is cut off", CLEAN, (0.25, 10.0), true),
        check("the two are alike", CLEAN, (0.1, 1.0), false),
    ];
    assert_eq!(rows, [true; 6], "the rows above are not those of the manual");
}

/// The engine for one factor says "faster" or "too close" of a program that takes three times as
/// long in every tenth run; asked for one factor, it says so only before that can be seen.
#[test]
fn a_verdict_about_a_factor_needs_one() {
    let verdicts = |guard: fn(RatioTest) -> RatioTest| {
        let seed = Seed::from_text("no factor");
        let settles = |stream: &u64| {
            let question = (Relation::Order, Centre::Factor);
            let mut test = guard(RatioTest::new(question.0, question.1, 0.01, 0.005, Adjust::NONE));
            let mut rounds = with_slow_runs(CLEAN, (0.1, 3.0), seed, *stream).take(1500);
            rounds.any(|d| test.observe(d, &Conditions::UNKNOWN).is_some())
        };
        (0..30).filter(settles).count()
    };
    let (plain, asked) = (verdicts(|test| test), verdicts(RatioTest::asking_one_factor));
    println!("verdicts of 30: {plain} plain, {asked} where one factor is asked for");
    assert!(plain >= 25 && asked <= 6, "{plain} {asked}");
}
