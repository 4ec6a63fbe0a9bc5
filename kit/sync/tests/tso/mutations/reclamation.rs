//! Epochs and hazard pointers.

use super::*;
use crate::catalogue::*;

#[test]
fn epoch() {
    let model = (EPOCH, MEMBARRIER);
    let publish: &[&str] = &["record.self = pinned", "light", "held = pointer"];
    check(&[
        row("drop the heavy side", DROP_HEAVY, model, UseAfterFree),
        row(
            "one epoch too few",
            (
                &["await record.reader == 0 or record.reader >= first"],
                &["await record.reader == 0 or record.reader >= first - 1"],
            ),
            model,
            UseAfterFree,
        ),
        row(
            "light moved before the store, which the compiler then moves",
            (publish, &["held = pointer", "record.self = pinned"]),
            model,
            UseAfterFree,
        ),
        row("a free light side, but no interrupts", FREE_LIGHT, (EPOCH, SEQ_CST), UseAfterFree),
        row(
            "the bag taken after the epoch has advanced",
            (
                &[
                    "taken = lock_xchg(bag, 0)",
                    "first = epoch",
                    "first = first + 1",
                    "epoch = first",
                ],
                &[
                    "first = epoch",
                    "first = first + 1",
                    "epoch = first",
                    "taken = lock_xchg(bag, 0)",
                ],
            ),
            model,
            UseAfterFree,
        ),
        row(
            "retired before it is unlinked",
            (
                &["lock_xchg(pointer, 0)", "lock_xchg(bag, 1)"],
                &["lock_xchg(bag, 1)", "lock_xchg(pointer, 0)"],
            ),
            model,
            UseAfterFree,
        ),
        row(
            "a stamp at t0 is enough",
            (&["await stamp.cpu > t0"], &["await stamp.cpu >= t0"]),
            (EPOCH, BARRIERD),
            UseAfterFree,
        ),
    ]);
}

#[test]
fn hazard() {
    let model = (HAZARD, MEMBARRIER);
    let publish: &[&str] = &["slot.self = held", "light", "now = pointer"];
    check(&[
        row("drop the heavy side", DROP_HEAVY, model, UseAfterFree),
        row("no re-read in protect", (&["if now == held:"], &["if 1:"]), model, UseAfterFree),
        row(
            "light moved before the store, which the compiler then moves",
            (publish, &["light", "now = pointer", "slot.self = held"]),
            model,
            UseAfterFree,
        ),
        row("a free light side, but no interrupts", FREE_LIGHT, (HAZARD, SEQ_CST), UseAfterFree),
        row(
            "mprotect without touching the page",
            (&["lock_xchg(page, 1)"], &[]),
            (HAZARD, MPROTECT),
            UseAfterFree,
        ),
        row(
            "a stamp at t0 is enough",
            (&["await stamp.cpu > t0"], &["await stamp.cpu >= t0"]),
            (HAZARD, BARRIERD),
            UseAfterFree,
        ),
    ]);
}
