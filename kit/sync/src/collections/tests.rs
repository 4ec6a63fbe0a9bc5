//! What one thread can see of the collections; several threads are in `tests/reclamation/`.

use super::{Queue, Reclaim, Stack};
use crate::reclaim::{Garbage, tests::OnDrop};
use crate::{epoch::Collector, hazard::Domain};
use std::collections::VecDeque;
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering::SeqCst};

/// Pushes and pops as a plain collection does, which says what must come out.
fn check<R: Reclaim>(reclaim: &R, handle: &R::Handle) {
    let (stack, queue) = (Stack::new(reclaim), Queue::new(reclaim));
    let mut plain = (Vec::new(), VecDeque::new());
    let count = if cfg!(miri) { 50 } else { 500 };
    for i in 0..count {
        stack.push(i);
        queue.push(i, handle);
        plain.0.push(i);
        plain.1.push_back(i);
        for _ in 0..(i * 7 + i / 3) % 4 {
            assert_eq!(stack.pop(handle), plain.0.pop());
            assert_eq!(queue.pop(handle), plain.1.pop_front());
            assert_eq!(stack.is_empty(), plain.0.is_empty());
        }
    }
    while let Some(value) = plain.0.pop() {
        assert_eq!(stack.pop(handle), Some(value));
    }
    assert_eq!(stack.pop(handle), None);
    while let Some(value) = plain.1.pop_front() {
        assert_eq!(queue.pop(handle), Some(value));
    }
    assert_eq!(queue.pop(handle), None);
}

fn check_drops<R: Reclaim>(reclaim: &R, handle: &R::Handle) {
    let count = Arc::new(AtomicUsize::new(0));
    let (stack, queue) = (Stack::new(reclaim), Queue::new(reclaim));
    for _ in 0..10 {
        stack.push(OnDrop(count.clone()));
        queue.push(OnDrop(count.clone()), handle);
    }
    drop((stack.pop(handle), queue.pop(handle)));
    assert_eq!(count.load(SeqCst), 2);
    drop(stack);
    assert_eq!(count.load(SeqCst), 11);
    drop(queue);
    assert_eq!(count.load(SeqCst), 20);
}

#[test]
fn they_do_what_plain_collections_do() {
    let (collector, domain) = (Collector::new(), Domain::new());
    check(&collector, &collector.register());
    check(&domain, &domain.register());
}

#[test]
fn values_are_dropped_once() {
    let (collector, domain) = (Collector::new(), Domain::new());
    check_drops(&collector, &collector.register());
    check_drops(&domain, &domain.register());
}

#[test]
fn values_may_borrow() {
    let domain = Domain::new();
    let text = String::from("text");
    let text = text.as_str();
    let stack = Stack::new(&domain);
    stack.push(text);
    assert_eq!(stack.pop(&domain.register()), Some("text"));
}

/// Something that is dropped, while collections are empty.
fn holder<R: Reclaim + Send>(reclaim: &R, count: &Arc<AtomicUsize>) -> impl Send + use<R> {
    (OnDrop(count.clone()), Stack::<u8, R>::new(reclaim), Queue::<u8, R>::new(reclaim))
}

#[test]
fn they_may_be_retired_where_their_nodes_are() {
    let count = Arc::new(AtomicUsize::new(0));
    let (collector, domain) = (Collector::default(), Domain::default());
    let (one, other) = (collector.register(), domain.register());
    let held = holder(&collector, &count);
    one.pin().defer(move || drop(held));
    let held = Box::into_raw(Box::new(holder(&domain, &count)));
    // SAFETY: it came from a box and was never shared.
    unsafe { other.retire(held) };
    drop((one, other, collector, domain));
    assert_eq!(count.load(SeqCst), 2, "a collector or domain was kept by what it was to free");
}

/// Every value comes out, though what others have retired panics each time that it is freed.
fn check_panics<R: Reclaim>(reclaim: &R, handle: &R::Handle, retire: impl Fn(&R::Handle)) {
    let (stack, queue) = (Stack::new(reclaim), Queue::new(reclaim));
    let count = if cfg!(miri) { 100 } else { 3000 };
    for i in 0..count {
        stack.push(i);
        queue.push(i, handle);
    }
    let (mut from_stack, mut from_queue, mut panics) = (Vec::new(), Vec::new(), 0);
    while from_stack.len() + from_queue.len() < 2 * count {
        retire(handle);
        match catch_unwind(AssertUnwindSafe(|| stack.pop(handle))) {
            Ok(value) => from_stack.extend(value),
            Err(_) => panics += 1,
        }
        match catch_unwind(AssertUnwindSafe(|| queue.pop(handle))) {
            Ok(value) => from_queue.extend(value),
            Err(_) => panics += 1,
        }
        assert!(panics < 10 * count, "lost: {} and {}", from_stack.len(), from_queue.len());
    }
    assert!(from_stack.into_iter().eq((0..count).rev()) && from_queue.into_iter().eq(0..count));
    assert!(cfg!(miri) || panics > 0, "nothing was freed in a pop");
}

/// Panics when it is dropped, as long as it is to.
struct Bomb(Arc<AtomicBool>);

impl Drop for Bomb {
    fn drop(&mut self) {
        if self.0.load(SeqCst) {
            // Without the hook, which would print a line each time.
            resume_unwind(Box::new("freed"));
        }
    }
}

#[test]
fn a_panic_of_what_is_freed_loses_no_value() {
    let (collector, domain) = (Collector::default(), Domain::default());
    let (one, other) = (collector.register(), domain.register());
    let armed = Arc::new(AtomicBool::new(true));
    let bomb = || Box::into_raw(Box::new(Bomb(armed.clone())));
    // SAFETY: it came from a box and was never shared.
    let garbage = || unsafe { Garbage::boxed(bomb()) };
    check_panics(&collector, &one, |handle| handle.pin().keep(garbage(), size_of::<Bomb>()));
    check_panics(&domain, &other, |handle| handle.keep(garbage(), size_of::<Bomb>()));
    armed.store(false, SeqCst);
}

#[test]
#[should_panic(expected = "not of the stack's own reclamation")]
fn a_stack_refuses_the_handle_of_another() {
    let (ours, theirs) = (Collector::default(), Collector::default());
    Stack::<u8>::new(&ours).pop(&theirs.register());
}

#[test]
#[should_panic(expected = "not of the queue's own reclamation")]
fn a_queue_refuses_the_handle_of_another() {
    let (ours, theirs) = (Domain::default(), Domain::default());
    Queue::new(&ours).push(1, &theirs.register());
}
