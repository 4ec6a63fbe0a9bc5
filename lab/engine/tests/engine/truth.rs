//! The short form of `make truth`: no world makes more verdicts false than the error that was
//! asked for, and methods that are wrong are seen to be wrong in the same worlds.

use crate::common::worlds::{Counts, FORMS, Form, Peer, WORLDS, by_engine, count, world};
use tiebreak_lab::core::plan::Plan;
use tiebreak_stats::rate;

/// The error of each comparison.
const ERROR: f64 = 0.05;
/// The most rounds of a comparison.
const ROUNDS: u64 = 100;
/// The probability that a judgement about a rate is itself wrong: there are some 150 of them.
const JUDGE_ERROR: f64 = 1e-4;

/// Whether more of these are proven to be wrong than may be.
fn is_too_often(happened: u64, counts: &Counts) -> bool {
    rate::compare_with(counts.comparisons, happened, ERROR, JUDGE_ERROR) == Some(true)
}

#[test]
fn no_world_makes_more_verdicts_false_than_was_asked_for() {
    let is_full = std::env::var_os("TIEBREAK_FULL").is_some_and(|full| full == "1");
    let comparisons = if is_full { 400 } else { 16 };
    let mut found = 0;
    for (world, form) in WORLDS.iter().flat_map(|world| FORMS.map(|form| (world, form))) {
        for slower in [0.0, 0.02] {
            let name = format!("{} {slower}", form.name());
            let counts = count(comparisons, &name, |seed| {
                by_engine(form.plan(seed, ERROR, ROUNDS), world, slower)
            });
            println!("{} {name}: {counts:?}", world.name);
            assert!(!is_too_often(counts.wrong, &counts), "{} {name}: {counts:?}", world.name);
            assert!(!is_too_often(counts.missed, &counts), "{} {name}: {counts:?}", world.name);
            found += counts.found;
        }
    }
    // Who never says anything is never wrong: 2% are found where the noise is no larger.
    assert!(found > 13 * 3 * comparisons / 4, "{found} differences of 2% were found");
}

#[track_caller]
fn check_is_wrong(what: &str, counts: &Counts) {
    println!("{what}: {counts:?}");
    assert!(is_too_often(counts.wrong, counts), "{what} should fail: {counts:?}");
}

#[test]
fn tests_that_trust_in_their_order_fail_in_these_worlds() {
    for (peer, name) in [
        (Peer::Blocks, "drift"),
        (Peer::Blocks, "two modes"),
        (Peer::Turns, "period 2"),
        (Peer::Turns, "neighbours that follow us"),
        (Peer::Peeking, "quiet"),
    ] {
        let counts = count(400, name, |seed| peer.compare(seed, world(name), 0.0));
        check_is_wrong(&format!("{peer:?} in {name}"), &counts);
    }
}

/// One look at a t-test where nothing is wrong says what it promises: the worlds are fair.
#[test]
fn a_t_test_holds_in_the_quiet() {
    let counts = count(2000, "quiet", |seed| Peer::Blocks.compare(seed, world("quiet"), 0.0));
    println!("{counts:?}");
    assert!(!is_too_often(counts.wrong, &counts), "{counts:?}");
    assert!(counts.wrong > 0, "a t-test is wrong in one of twenty");
}

/// The primer of version 1 of the engine let the numbers of runs walk apart.
#[test]
fn a_primer_that_is_drawn_each_round_fails_where_a_state_of_ones_own_grows() {
    let counts = count(60, "version 1", |seed| {
        let plan = Plan { engine_version: 1, ..Form::Programs.plan(seed, ERROR, 300) };
        by_engine(plan, world("own state grows"), 0.0)
    });
    check_is_wrong("version 1", &counts);
}
