//! Numbers: nothing is lost however often sections are interrupted, and without rseq much is.

use super::crew::{Until, crew, prove, report};
use super::{Unarmed, Wide, has_sections};
use crate::per_cpu::section::Form;
use crate::per_cpu::{Counter, Word};

const BATCH: u64 = 500;

/// Gives what was added, what the sum is, and the aborts.
fn count<F: Form>() -> (i64, i64, u64) {
    let counter = Counter::new();
    let (added, aborts) = crew(Until::of_a_run(), |added: &mut i64| {
        *added += BATCH as i64;
        (0..BATCH).for_each(|_| counter.add_as::<F>(1));
    });
    (added.iter().sum(), counter.sum(), aborts)
}

/// Gives how many updates there were, the sum of all words, and the aborts.
fn update<F: Form>() -> (u64, u64, u64) {
    let word = Word::new(0);
    let (updates, aborts) = crew(Until::of_a_run(), |updates: &mut u64| {
        for _ in 0..BATCH {
            let seen = word.load();
            let stored = word.compare_and_store_as::<F>(seen, seen.value() + 1);
            *updates += u64::from(stored.is_ok());
        }
    });
    (updates.iter().sum(), word.values().sum(), aborts)
}

#[test]
fn additions_are_exact_however_often_they_are_interrupted() {
    if has_sections() {
        let (added, sum, aborts) = count::<Wide>();
        report("add", added as u64, aborts);
        prove(aborts > 0, "no addition was interrupted");
        assert_eq!(sum, added);
    }
}

#[test]
fn updates_are_exact_however_often_they_are_interrupted() {
    if has_sections() {
        let (updates, sum, aborts) = update::<Wide>();
        report("compare and store", updates, aborts);
        prove(aborts > 0, "no update was interrupted");
        assert_eq!(sum, updates);
    }
}

/// If these were right too, the tests above would have no power.
#[test]
fn without_rseq_the_same_is_wrong() {
    if has_sections() {
        let (added, sum, aborts) = count::<Unarmed>();
        assert_eq!(aborts, 0, "the kernel does not know of these sections");
        assert!(sum <= added);
        control("add", added as u64, sum as u64);
        let (updates, sum, aborts) = update::<Unarmed>();
        assert_eq!(aborts, 0, "the kernel does not know of these sections");
        control("compare and store", updates, sum);
    }
}

fn control(what: &str, done: u64, sum: u64) {
    println!("control, {what}: {done} sections, sum {sum}");
    prove(sum != done, "the control is right");
}
