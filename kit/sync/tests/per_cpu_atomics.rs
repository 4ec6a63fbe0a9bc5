//! The mode of atomics, which is there on every machine and in Miri.

#![cfg(not(loom))]

use std::thread;
use tiebreak_sync::per_cpu::{Counter, List, Mode, Node, PerCpu, Word};

const THREADS: u64 = 3;
const STEPS: u64 = if cfg!(miri) { 60 } else { 20_000 };

/// Runs `work` on all threads, for each step; gives the sum of what it gave.
fn on_all(work: impl Fn(u64) -> u64 + Sync) -> u64 {
    thread::scope(|scope| {
        let one = || (0..STEPS).map(&work).sum::<u64>();
        let threads: Vec<_> = (0..THREADS).map(|_| scope.spawn(one)).collect();
        threads.into_iter().map(|thread| thread.join().unwrap()).sum()
    })
}

#[test]
fn sums_are_exact() {
    let counter = Counter::with_atomics();
    on_all(|step| {
        counter.add(step as i64);
        counter.add(-1);
        0
    });
    assert_eq!(counter.sum(), (THREADS * (STEPS * (STEPS - 1) / 2 - STEPS)) as i64);
}

#[test]
fn counters_wrap() {
    let counter = Counter::with_atomics();
    counter.add(i64::MAX);
    counter.add(1);
    assert_eq!(counter.sum(), i64::MIN);
}

#[test]
fn words_are_updated_once() {
    let word = Word::with_atomics(0);
    on_all(|_| word.update(|value| Some(value + 1)).map_or(0, |_| 0));
    assert_eq!(word.values().sum::<u64>(), THREADS * STEPS);
    let seen = word.load();
    assert_eq!(word.compare_and_store(seen, seen.value() + 1), Ok(()));
    let refused = word.compare_and_store(seen, 0);
    assert_ne!(refused, Ok(()), "it is no longer what was seen");
}

#[test]
fn nodes_come_out_once() {
    let mut list = List::with_atomics();
    let popped = on_all(|step| {
        list.push(Box::new(Node::new(step.to_string())));
        let node = if step.is_multiple_of(4) { None } else { list.pop() };
        node.map_or(0, |node| node.value.parse().unwrap())
    });
    let left: u64 = list.drain().map(|node| node.value.parse::<u64>().unwrap()).sum();
    assert_eq!(popped + left, THREADS * STEPS * (STEPS - 1) / 2);
    assert!(list.pop().is_none());
}

#[test]
fn the_mode_says_that_it_was_asked_for() {
    let slots = PerCpu::with_atomics(|| 0);
    assert!(matches!(slots.mode(), Mode::Atomics(_)));
    assert_eq!(slots.mode().to_string(), "atomics: the program asked for them");
}
