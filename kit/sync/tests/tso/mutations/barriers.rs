//! Barriers, and the daemon that knows of interrupts.

use super::*;
use crate::catalogue::*;

#[test]
fn barriers() {
    let move_light: (&[&str], &[&str]) =
        (&["x.self = 1", "light", "saw = y"], &["light", "x.self = 1", "saw = y"]);
    let compiled: (&[&str], &[&str]) =
        (&["x.self = 1", "light", "saw = y"], &["light", "saw = y", "x.self = 1"]);
    check(&[
        row("drop the heavy side", DROP_HEAVY, (BARRIER, MEMBARRIER), Outcome),
        row("drop the heavy fence", DROP_HEAVY, (BARRIER, SEQ_CST), Outcome),
        row("a free light side, but no interrupts", FREE_LIGHT, (BARRIER, SEQ_CST), Outcome),
        row("light moved before the store", move_light, (BARRIER, SEQ_CST), Outcome),
        row(
            "light moved before the store, which the compiler then moves",
            compiled,
            (BARRIER, MEMBARRIER),
            Outcome,
        ),
        row(
            "no fence before the interrupts",
            (&["heavy:", "fence"], &["heavy:"]),
            (BARRIER, MEMBARRIER),
            Outcome,
        ),
        row(
            "one CPU is left out",
            (&["each cpu in frequent:"], &["each cpu in other:"]),
            (BARRIER, MEMBARRIER),
            Outcome,
        ),
        row(
            "mprotect without touching the page",
            (&["lock_xchg(page, 1)"], &[]),
            (BARRIER, MPROTECT),
            Outcome,
        ),
        row(
            "two heavy sides through one page at once",
            (&["loop:", "locked = lock_xchg(mutex, 1)", "if locked == 0:", "break"], &[]),
            (BARRIER_RIVALS, MPROTECT),
            Outcome,
        ),
    ]);
}

#[test]
fn barrierd() {
    check(&[
        row(
            "t0 read before the fence",
            (&["fence", "t0 = clock"], &["t0 = clock", "fence"]),
            (BARRIER, BARRIERD),
            Outcome,
        ),
        row(
            "a stamp at t0 is enough",
            (&["await stamp.cpu > t0"], &["await stamp.cpu >= t0"]),
            (BARRIER, BARRIERD),
            Outcome,
        ),
        row(
            "slots looked at before the fence",
            (
                &["fence", "each cpu in frequent:", "looked.cpu = stamp.cpu"],
                &["each cpu in frequent:", "    looked.cpu = stamp.cpu", "fence"],
            ),
            (BARRIER, BARRIERD_COUNTS),
            Outcome,
        ),
        row(
            "no margin for the skew of the clocks",
            (&["await stamp.cpu > t0 + 1"], &["await stamp.cpu > t0"]),
            (BARRIER_RIVALS, BARRIERD_SKEW),
            Outcome,
        ),
        row(
            "one CPU is left out",
            (&["each cpu in frequent:"], &["each cpu in other:"]),
            (BARRIER, BARRIERD),
            Outcome,
        ),
        row(
            "no full barrier after the idle flag is cleared",
            (&["idle = 0", "fence"], &["idle = 0"]),
            (IDLE, NONE),
            Outcome,
        ),
        row(
            "the idle flag is looked at before the fence",
            (
                &["y = 1", "fence", "t0 = clock", "loop:", "if idle == 1:"],
                &["y = 1", "was_idle = idle", "fence", "t0 = clock", "loop:", "    if was_idle:"],
            ),
            (IDLE, NONE),
            Outcome,
        ),
    ]);
}
