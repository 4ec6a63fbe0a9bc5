//! The algorithms as they are: no run goes wrong.

use crate::catalogue::*;
use crate::explored;

/// Strategies whose light side is free, and the fences that need no free side.
const STRATEGIES: [Text; 5] = [MEMBARRIER, MPROTECT, BARRIERD, BARRIERD_COUNTS, SEQ_CST];

fn check(model: Text, strategies: &[Text]) {
    check_changed(model, strategies, None);
}

fn check_changed(model: Text, strategies: &[Text], change: Option<Change>) {
    for strategy in strategies {
        let (model, report) = explored(model, *strategy, change);
        if let Some(counterexample) = report.counterexample {
            panic!("it goes wrong:\n{}", counterexample.text(&model));
        }
        assert!(report.complete_count > 0, "no run comes to its end, so nothing was proven");
    }
}

#[test]
fn barriers() {
    check(BARRIER, &STRATEGIES);
    check(BARRIER_RIVALS, &STRATEGIES);
    check(BARRIER_RIVALS, &[BARRIERD_SKEW]);
}

/// Strategies by which single producers can be interrupted. Fences on both sides do not stop their
/// increments from losing a flag: see the mutations.
const INTERRUPTING: [Text; 4] = [MEMBARRIER, MPROTECT, BARRIERD, BARRIERD_COUNTS];

#[test]
fn event_count_single() {
    check(EVENT_COUNT_SINGLE, &INTERRUPTING);
}

#[test]
fn event_count_one_word_and_one_waiter() {
    check(EVENT_COUNT_ONE_WORD, &INTERRUPTING);
    check(ONE_SECOND_ONE_WORD, &[NONE]);
}

#[test]
fn event_count_one_second() {
    check(ONE_SECOND, &[NONE]);
}

#[test]
fn event_count_multi() {
    check(EVENT_COUNT_MULTI, &[NONE]);
    check(EVENT_COUNT_MULTI_ONE_WORD, &[NONE]);
}

#[test]
fn event_count_two_words() {
    check(EVENT_COUNT_TWO_WORDS, &STRATEGIES);
    check(EVENT_COUNT_APPENDIX, &STRATEGIES);
}

#[test]
fn epoch() {
    check(EPOCH, &STRATEGIES);
}

#[test]
fn hazard() {
    check(HAZARD, &[MEMBARRIER, MPROTECT, SEQ_CST]);
}

#[test]
fn idle() {
    check(IDLE, &[NONE]);
}

/// More of the same: a third increment, and readers with the slowest strategies.
#[test]
#[ignore = "long"]
fn larger() {
    check(HAZARD, &[BARRIERD, BARRIERD_COUNTS]);
    let third = Change { from: &["const END = 2"], to: &["const END = 3"] };
    for model in [EVENT_COUNT_SINGLE, EVENT_COUNT_TWO_WORDS, EVENT_COUNT_APPENDIX] {
        check_changed(model, &[MEMBARRIER, MPROTECT], Some(third));
    }
    check_changed(ONE_SECOND_ONE_WORD, &[NONE], Some(third));
    let two_advances = Change { from: &["thread watcher:"], to: &["thread watcher asker:"] };
    check_changed(EPOCH, &[MEMBARRIER, MPROTECT], Some(two_advances));
}
