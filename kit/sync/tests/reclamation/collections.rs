//! The stack and the queue: every value comes out once, and a queue keeps the order of each thread.

use crate::scale::{barriers, operations};
use std::collections::HashMap;
use std::sync::atomic::{AtomicUsize, Ordering::SeqCst};
use tiebreak_sync::collections::{Queue, Reclaim, Stack};
use tiebreak_sync::{epoch, hazard};

const THREADS: usize = 4;

/// A value that is counted until it is dropped.
struct Counted<'c> {
    thread: usize,
    index: usize,
    count: &'c AtomicUsize,
}

impl<'c> Counted<'c> {
    fn new(thread: usize, index: usize, count: &'c AtomicUsize) -> Counted<'c> {
        count.fetch_add(1, SeqCst);
        Counted { thread, index, count }
    }
}

impl Drop for Counted<'_> {
    fn drop(&mut self) {
        self.count.fetch_sub(1, SeqCst);
    }
}

/// The operations of a collection, with the handle of a thread.
trait Collection<'c, R: Reclaim>: Sync {
    const KEEPS_ORDER: bool;
    fn of(reclaim: &R) -> Self;
    fn put(&self, value: Counted<'c>, handle: &R::Handle);
    fn take(&self, handle: &R::Handle) -> Option<Counted<'c>>;
}

impl<'c, R: Reclaim + Sync> Collection<'c, R> for Stack<Counted<'c>, R> {
    const KEEPS_ORDER: bool = false;

    fn of(reclaim: &R) -> Self {
        Stack::new(reclaim)
    }

    fn put(&self, value: Counted<'c>, _handle: &R::Handle) {
        self.push(value);
    }

    fn take(&self, handle: &R::Handle) -> Option<Counted<'c>> {
        self.pop(handle)
    }
}

impl<'c, R: Reclaim + Sync> Collection<'c, R> for Queue<Counted<'c>, R> {
    const KEEPS_ORDER: bool = true;

    fn of(reclaim: &R) -> Self {
        Queue::new(reclaim)
    }

    fn put(&self, value: Counted<'c>, handle: &R::Handle) {
        self.push(value, handle);
    }

    fn take(&self, handle: &R::Handle) -> Option<Counted<'c>> {
        self.pop(handle)
    }
}

/// Each thread puts and takes in turn, some more than others. Gives what it took, in order.
fn work<'c, R: Reclaim, C: Collection<'c, R>>(
    (collection, count): (&C, &'c AtomicUsize),
    handle: &R::Handle,
    thread: usize,
    each: usize,
) -> Vec<(usize, usize)> {
    let mut taken = Vec::new();
    let mut take = || {
        let value = collection.take(handle);
        taken.extend(value.map(|value| (value.thread, value.index)));
    };
    for index in 0..each {
        collection.put(Counted::new(thread, index, count), handle);
        (0..(index + thread) % 3).for_each(|_| take());
    }
    taken
}

fn check<'c, R, C>(reclaim: &R, register: impl Fn(&R) -> R::Handle + Sync, count: &'c AtomicUsize)
where
    R: Reclaim + Sync,
    C: Collection<'c, R>,
{
    let each = operations(10_000, 5_000_000) / THREADS;
    let collection = C::of(reclaim);
    let mut taken = Vec::new();
    std::thread::scope(|scope| {
        let work = |thread| {
            let (collection, register) = (&collection, &register);
            scope.spawn(move || work::<R, C>((collection, count), &register(reclaim), thread, each))
        };
        let threads: Vec<_> = (0..THREADS).map(work).collect();
        taken.extend(threads.into_iter().map(|thread| thread.join().unwrap()));
    });
    let left: usize = count.load(SeqCst);
    let mut seen: HashMap<(usize, usize), usize> = HashMap::new();
    for of_one in &taken {
        of_one.iter().for_each(|value| *seen.entry(*value).or_default() += 1);
        if C::KEEPS_ORDER {
            assert_ordered(of_one);
        }
    }
    assert!(seen.values().all(|&times| times == 1), "a value came out twice");
    assert_eq!(seen.len() + left, THREADS * each);
    // Half of what is left comes out, the rest goes with the collection.
    let handle = register(reclaim);
    for _ in 0..left / 2 {
        let value = collection.take(&handle).expect("a value is left");
        assert_eq!(seen.insert((value.thread, value.index), 1), None);
    }
    drop(collection);
    assert_eq!(count.load(SeqCst), 0, "values leaked");
}

/// What one thread took of another's values came in the order in which they were put.
fn assert_ordered(taken: &[(usize, usize)]) {
    let mut last = HashMap::new();
    for &(thread, index) in taken {
        assert!(last.insert(thread, index).is_none_or(|before| before < index));
    }
}

#[test]
fn stacks_lose_nothing() {
    let count = AtomicUsize::new(0);
    for barrier in barriers() {
        let collector = epoch::Collector::with_barrier(barrier);
        check::<_, Stack<_, _>>(&collector, epoch::Collector::register, &count);
        let domain = hazard::Domain::with_barrier(barrier);
        check::<_, Stack<_, _>>(&domain, hazard::Domain::register, &count);
    }
}

#[test]
fn queues_lose_nothing_and_keep_order() {
    let count = AtomicUsize::new(0);
    for barrier in barriers() {
        let collector = epoch::Collector::with_barrier(barrier);
        check::<_, Queue<_, _>>(&collector, epoch::Collector::register, &count);
        let domain = hazard::Domain::with_barrier(barrier);
        check::<_, Queue<_, _>>(&domain, hazard::Domain::register, &count);
    }
}
