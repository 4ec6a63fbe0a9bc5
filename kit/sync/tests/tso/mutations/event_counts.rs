//! Event counts.

use super::*;
use crate::catalogue::*;

const CLEAR: &[&str] = &["lock_and(word, COUNT)", "lock_xadd(seq, 1)", "futex_wake(seq)"];
const CLEAR_AFTER_WAKE: (&[&str], &[&str]) =
    (CLEAR, &["lock_xadd(seq, 1)", "futex_wake(seq)", "lock_and(word, COUNT)"]);
const SEQ_BEFORE_CLEAR: (&[&str], &[&str]) =
    (CLEAR, &["lock_xadd(seq, 1)", "lock_and(word, COUNT)", "futex_wake(seq)"]);
const NO_SEQ: (&[&str], &[&str]) = (CLEAR, &["lock_and(word, COUNT)", "futex_wake(seq)"]);
const LATE_SEQ: (&[&str], &[&str]) = (&["futex_wait(seq, s)"], &["s = seq", "futex_wait(seq, s)"]);
const SEQ_AFTER_FLAG: (&[&str], &[&str]) = (
    &["s = seq", "was = lock_cas(word, seen, seen + FLAG)"],
    &["was = lock_cas(word, seen, seen + FLAG)", "s = seq"],
);
const NO_COMPARE: (&[&str], &[&str]) = (&["futex_wait(seq, s)"], &["futex_sleep(seq)"]);
const NO_LOOK: (&[&str], &[&str]) = (&["if now == seen + FLAG:"], &["if 1:"]);

#[test]
fn event_count_single() {
    let model = (EVENT_COUNT_SINGLE, MEMBARRIER);
    let three: (&[&str], &[&str]) =
        (&["new = inc(word)"], &["new = word", "new = new + 1", "word = new"]);
    check(&[
        row("sleep for good at once", DROP_HEAVY, model, LostWakeUp),
        row("fences instead of interrupts", AS_IT_IS, (model.0, SEQ_CST), LostWakeUp),
        row("three instructions instead of one", three, model, LostWakeUp),
        row("drop the flag re-check", NO_LOOK, model, LostWakeUp),
        row("clear the flag after the wake", CLEAR_AFTER_WAKE, model, LostWakeUp),
        row("the wake sequence before the flag", SEQ_BEFORE_CLEAR, model, LostWakeUp),
        row("no wake sequence", NO_SEQ, model, LostWakeUp),
        row("the wake sequence read after the flag", SEQ_AFTER_FLAG, model, LostWakeUp),
        row("the wake sequence read after the look", LATE_SEQ, model, LostWakeUp),
        row("skip the final compare", NO_COMPARE, model, LostWakeUp),
        row(
            "mprotect without touching the page",
            (&["lock_xchg(page, 1)"], &[]),
            (model.0, MPROTECT),
            LostWakeUp,
        ),
        row(
            "a stamp at t0 is enough",
            (&["await stamp.cpu > t0"], &["await stamp.cpu >= t0"]),
            (model.0, BARRIERD),
            LostWakeUp,
        ),
    ]);
}

const CLEAR_AFTER_WAKE_ONE_WORD: (&[&str], &[&str]) = (
    &["lock_and(word, COUNT)", "futex_wake(word)"],
    &["futex_wake(word)", "lock_and(word, COUNT)"],
);
const NO_COMPARE_ONE_WORD: (&[&str], &[&str]) =
    (&["futex_wait(word, seen + FLAG)"], &["futex_sleep(word)"]);

/// Without a wake sequence a second waiter can lose a wake-up. It finds the flag set, which the
/// producer is about to clear; passes its barrier; the flag is cleared; the producer begins its
/// next increment; the first waiter sets the flag anew, and the second takes that for the flag of
/// before its barrier. The increment overwrites it. The published rule of one second has the same
/// hole.
#[test]
fn event_count_one_word() {
    let model = (EVENT_COUNT_ONE_WORD, MEMBARRIER);
    let two_waiters: (&[&str], &[&str]) = (&["thread waiter:"], &["thread waiter second:"]);
    check(&[
        row("two waiters on one word", two_waiters, model, LostWakeUp),
        row("the same with one second", two_waiters, (ONE_SECOND_ONE_WORD, NONE), LostWakeUp),
        row("sleep for good at once", DROP_HEAVY, model, LostWakeUp),
        row("fences instead of interrupts", AS_IT_IS, (model.0, SEQ_CST), LostWakeUp),
        row("clear the flag after the wake", CLEAR_AFTER_WAKE_ONE_WORD, model, LostWakeUp),
        row("skip the final compare", NO_COMPARE_ONE_WORD, model, LostWakeUp),
        row("drop the flag re-check", NO_LOOK, model, Sound("the kernel compares the same word")),
        row(
            "drop the flag re-check and the final compare",
            (
                &["now = word", "if now == seen + FLAG:", "futex_wait(word, seen + FLAG)"],
                &["futex_sleep(word)"],
            ),
            model,
            LostWakeUp,
        ),
    ]);
}

#[test]
fn event_count_one_second() {
    let rule: &[&str] = &["while stamp.producer <= start:"];
    check(&[
        row(
            "no interrupt within the second",
            (rule, &["while 0:"]),
            (ONE_SECOND, NONE),
            LostWakeUp,
        ),
        row(
            "an interrupt at the start is enough",
            (rule, &["while stamp.producer < start:"]),
            (ONE_SECOND, NONE),
            LostWakeUp,
        ),
        row(
            "the wake sequence read after the flag",
            SEQ_AFTER_FLAG,
            (ONE_SECOND, NONE),
            LostWakeUp,
        ),
        row("no look after the second", NO_LOOK, (ONE_SECOND, NONE), LostWakeUp),
        row(
            "the second goes on while the wake sequence is read anew for each slice",
            (
                &[
                    "start = clock",
                    "while stamp.producer <= start:",
                    "futex_wait_timed(seq, s)",
                    "if word != seen + FLAG:",
                    "break",
                    "now = word",
                    "if now == seen + FLAG:",
                    "futex_wait(seq, s)",
                ],
                &[
                    "if was == seen or start_of != seen + 1:",
                    "    start_of = seen + 1",
                    "    start = clock",
                    "if stamp.producer > start:",
                    "    now = word",
                    "    if now == seen + FLAG:",
                    "        futex_wait(seq, s)",
                    "else:",
                    "    futex_wait_timed(seq, s)",
                ],
            ),
            (ONE_SECOND, NONE),
            LostWakeUp,
        ),
        row(
            "the second begins before the flag is set",
            (
                &[
                    "was = lock_cas(word, seen, seen + FLAG)",
                    "if was == seen or was == seen + FLAG:",
                    "start = clock",
                ],
                &[
                    "start = clock",
                    "was = lock_cas(word, seen, seen + FLAG)",
                    "if was == seen or was == seen + FLAG:",
                ],
            ),
            (ONE_SECOND, NONE),
            LostWakeUp,
        ),
    ]);
}

#[test]
fn event_count_multi() {
    let model = (EVENT_COUNT_MULTI, NONE);
    let not_locked: (&[&str], &[&str]) = (&["old = lock_xadd(word, 1)"], &["old = xadd(word, 1)"]);
    let reason = "its exchange has seen the count, and no locked increment misses the flag";
    check(&[
        row("increments are not locked", not_locked, model, LostWakeUp),
        row("drop the flag re-check", NO_LOOK, model, Sound(reason)),
        row("clear the flag after the wake", CLEAR_AFTER_WAKE, model, LostWakeUp),
        row("the wake sequence before the flag", SEQ_BEFORE_CLEAR, model, LostWakeUp),
        row("no wake sequence", NO_SEQ, model, LostWakeUp),
        row("skip the final compare", NO_COMPARE, model, LostWakeUp),
    ]);
    let model = (EVENT_COUNT_MULTI_ONE_WORD, NONE);
    check(&[
        row("increments are not locked", not_locked, model, LostWakeUp),
        row("clear the flag after the wake", CLEAR_AFTER_WAKE_ONE_WORD, model, LostWakeUp),
        row("skip the final compare", NO_COMPARE_ONE_WORD, model, LostWakeUp),
    ]);
}

#[test]
fn event_count_two_words() {
    let model = (EVENT_COUNT_TWO_WORDS, MEMBARRIER);
    check(&[
        row("drop the heavy side", DROP_HEAVY, model, LostWakeUp),
        row("a free light side, but no interrupts", FREE_LIGHT, (model.0, SEQ_CST), LostWakeUp),
        row("drop the look", (&["if now == seen:"], &["if 1:"]), model, LostWakeUp),
        row(
            "skip the final compare",
            (&["futex_wait(sleepers, armed)"], &["futex_sleep(sleepers)"]),
            model,
            LostWakeUp,
        ),
        row(
            "light moved before the store, which the compiler then moves",
            (
                &["version = next", "light", "asked = sleepers"],
                &["asked = sleepers", "version = next"],
            ),
            model,
            LostWakeUp,
        ),
        row(
            "clear the flag after the wake",
            (
                &["lock_xadd(sleepers, 1)", "futex_wake(sleepers)"],
                &["futex_wake(sleepers)", "lock_xadd(sleepers, 1)"],
            ),
            model,
            LostWakeUp,
        ),
    ]);
}

#[test]
fn event_count_appendix() {
    let model = (EVENT_COUNT_APPENDIX, MEMBARRIER);
    let compare: &[&str] = &["futex_wait(version, seen)"];
    check(&[
        row("drop the heavy side", DROP_HEAVY, model, LostWakeUp),
        row("skip the final compare", (compare, &["futex_sleep(version)"]), model, LostWakeUp),
        row(
            "clear the flag after the version changes",
            (
                &[
                    "must_wake = flag",
                    "if must_wake:",
                    "flag = 0",
                    "version = next",
                    "light",
                    "asked = flag",
                    "if must_wake or asked:",
                ],
                &["version = next", "light", "asked = flag", "if asked:", "    flag = 0"],
            ),
            model,
            LostWakeUp,
        ),
    ]);
}
