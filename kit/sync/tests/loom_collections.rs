//! The stack and the queue under a model checker, over epochs and over hazard pointers: a thread
//! that takes a value out comes after the one that put it in, and every value comes out once.
//! `RUSTFLAGS="--cfg loom" cargo test --release --test loom_collections`

#![cfg(loom)]

use loom::cell::UnsafeCell;
use loom::thread;
use std::sync::Arc;
use tiebreak_sync::barrier::Barrier;
use tiebreak_sync::collections::{Queue, Reclaim, Stack};
use tiebreak_sync::epoch::Collector;
use tiebreak_sync::hazard::Domain;

/// What is put in: written before, read after, and loom finds it if that is not so.
struct Value(UnsafeCell<u8>);

// SAFETY: it is handed over by value.
unsafe impl Send for Value {}

impl Value {
    fn new(number: u8) -> Value {
        Value(UnsafeCell::new(number))
    }

    fn number(&self) -> u8 {
        // SAFETY: the value is ours; loom finds it if that is not so.
        self.0.with_mut(|number| unsafe { *number })
    }
}

/// Runs the interleavings with up to two preemptions, or as many as LOOM_MAX_PREEMPTIONS says.
fn explore(model: impl Fn() + Sync + Send + 'static) {
    let mut builder = loom::model::Builder::new();
    builder.preemption_bound = builder.preemption_bound.or(Some(2));
    builder.check(model);
}

/// Each of two threads puts one in and takes one out.
fn stacks<R: Reclaim + Send + Sync + 'static>(reclaim: R, register: impl Fn(&R) -> R::Handle)
where
    R::Handle: Send + 'static,
{
    let stack = Arc::new(Stack::<Value, R>::new(&reclaim));
    let (ours, theirs) = (register(&reclaim), register(&reclaim));
    let other = stack.clone();
    let working = thread::spawn(move || {
        other.push(Value::new(1));
        let taken = other.pop(&theirs).map(|value| value.number());
        (taken, theirs)
    });
    stack.push(Value::new(2));
    let taken = stack.pop(&ours).map(|value| value.number());
    let (other, _theirs) = working.join().unwrap();
    let mut numbers = [taken.unwrap(), other.unwrap()];
    numbers.sort_unstable();
    assert_eq!(numbers, [1, 2]);
    assert!(stack.is_empty());
}

fn queues<R: Reclaim + Send + Sync + 'static>(reclaim: R, register: impl Fn(&R) -> R::Handle)
where
    R::Handle: Send + 'static,
{
    let queue = Arc::new(Queue::<Value, R>::new(&reclaim));
    let (ours, theirs) = (register(&reclaim), register(&reclaim));
    let other = queue.clone();
    let working = thread::spawn(move || {
        other.push(Value::new(1), &theirs);
        let taken = other.pop(&theirs).map(|value| value.number());
        (taken, theirs)
    });
    queue.push(Value::new(2), &ours);
    let taken = queue.pop(&ours).map(|value| value.number());
    let (other, _theirs) = working.join().unwrap();
    let mut numbers = [taken.unwrap(), other.unwrap()];
    numbers.sort_unstable();
    assert_eq!(numbers, [1, 2]);
    assert!(queue.pop(&ours).is_none());
}

fn collector() -> Collector {
    Collector::with_barrier(Barrier::seq_cst())
}

fn domain() -> Domain {
    Domain::with_barrier(Barrier::seq_cst())
}

#[test]
fn a_stack_over_epochs() {
    explore(|| stacks(collector(), Collector::register));
}

#[test]
fn a_stack_over_hazard_pointers() {
    explore(|| stacks(domain(), Domain::register));
}

#[test]
fn a_queue_over_epochs() {
    explore(|| queues(collector(), Collector::register));
}

#[test]
fn a_queue_over_hazard_pointers() {
    explore(|| queues(domain(), Domain::register));
}
