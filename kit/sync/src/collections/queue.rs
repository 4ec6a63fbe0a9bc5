//! First in, first out.

use super::reclaim::Reclaim;
use super::reclaim::protect::Hold;
use crate::atomic::{AtomicPtr, Ordering};
use crate::epoch::Collector;
use crate::registry::{Identity, Padded};
use core::marker::PhantomData;
use core::mem::MaybeUninit;
use core::ptr::null_mut;

/// A queue that any number of threads push to and pop from (M. M. Michael and M. L. Scott, 1996).
///
/// A list that is never empty: its first node is a spent one, whose value is gone. `head` is that
/// node. `tail` is the last node or one before it, and whoever finds that it is behind moves it on.
/// To push is to link a node to the last one; to pop is to move the head, and to take the value of
/// the node that is the first then.
///
/// The head never passes the tail. Whoever moves the head from a node has seen the tail elsewhere
/// after it saw that node as the head, and the tail is never behind the head for who reads the head
/// first: it was not for who moved the head, and that one released what it saw. So a node that is
/// retired is not the tail.
///
/// ```
/// use tiebreak_sync::{collections::Queue, epoch::Collector};
///
/// let collector = Collector::new();
/// let (queue, handle) = (Queue::new(&collector), collector.register());
/// queue.push("first", &handle);
/// queue.push("second", &handle);
/// assert_eq!([queue.pop(&handle), queue.pop(&handle)], [Some("first"), Some("second")]);
/// assert_eq!(queue.pop(&handle), None);
/// ```
///
/// It hands values from thread to thread, so they must be `Send`:
///
/// ```compile_fail,E0277
/// # use tiebreak_sync::{collections::Queue, epoch::Collector};
/// fn share<T: Sync>(_: T) {}
/// share(Queue::<std::rc::Rc<()>>::new(&Collector::new()));
/// ```
pub struct Queue<T, R: Reclaim = Collector> {
    /// The ends change independently, so they do not share cache lines.
    head: Padded<AtomicPtr<Node<T>>>,
    tail: Padded<AtomicPtr<Node<T>>>,
    reclaim: Identity,
    owned: PhantomData<(Box<Node<T>>, R)>,
}

struct Node<T> {
    /// Absent in the first node; else taken out by whoever makes the node the first.
    value: MaybeUninit<T>,
    /// Null, and once more if it was set.
    next: AtomicPtr<Node<T>>,
}

// SAFETY: it owns its values and hands them out by value, to whichever thread; no two threads refer
// to one value.
unsafe impl<T: Send, R: Reclaim + Send> Send for Queue<T, R> {}
// SAFETY: as above; so `T` need not be `Sync`.
unsafe impl<T: Send, R: Reclaim + Sync> Sync for Queue<T, R> {}

impl<T, R: Reclaim> Queue<T, R> {
    /// An empty one, whose nodes are reclaimed so. It does not keep the collector or domain.
    pub fn new(reclaim: &R) -> Queue<T, R> {
        let first = new_node(MaybeUninit::uninit());
        let (head, tail) = (Padded(AtomicPtr::new(first)), Padded(AtomicPtr::new(first)));
        Queue { head, tail, reclaim: reclaim.identity(), owned: PhantomData }
    }

    /// Puts a value at the end.
    ///
    /// # Panics
    /// If the handle is of another collector or domain than the queue; or if something panics that
    /// was retired by the handle and is freed now: then nothing was put.
    pub fn push(&self, value: T, handle: &R::Handle) {
        self.check(handle);
        let mut hold = R::hold::<1>(handle);
        let node = new_node(MaybeUninit::new(value));
        loop {
            let last = hold.protect(0, &self.tail.0);
            // SAFETY: it was the tail when it was protected, so it was not retired before.
            let end = unsafe { &(*last).next };
            // Acquire: the tail is moved there, so what is in the node is released with it.
            let next = end.load(Ordering::Acquire);
            if !next.is_null() {
                self.move_tail(last, next);
                continue;
            }
            // Release: who finds the node sees what is in it.
            let (release, relaxed) = (Ordering::Release, Ordering::Relaxed);
            if end.compare_exchange(null_mut(), node, release, relaxed).is_ok() {
                self.move_tail(last, node);
                return;
            }
        }
    }

    /// Takes the value at the front.
    ///
    /// # Panics
    /// If the handle is of another collector or domain than the queue; or if something panics that
    /// was retired by the handle and is freed now: then nothing was taken.
    pub fn pop(&self, handle: &R::Handle) -> Option<T> {
        self.check(handle);
        let mut hold = R::hold::<2>(handle);
        loop {
            let first = hold.protect(0, &self.head.0);
            // Acquire: after the head, see the type.
            let tail = self.tail.0.load(Ordering::Acquire);
            // SAFETY: it was the head when it was protected, so it was not retired before.
            let next = hold.protect(1, unsafe { &(*first).next });
            // A node without a successor is the last, so the queue was empty.
            if next.is_null() {
                return None;
            }
            if first == tail {
                self.move_tail(tail, next);
                continue;
            }
            // Only here it matters whether `first` is the head still: if so, `next` was not retired
            // when it was protected.
            // Release: who finds the new head sees where the tail is. Acquire came with `protect`.
            let (release, relaxed) = (Ordering::Release, Ordering::Relaxed);
            if self.head.0.compare_exchange(first, next, release, relaxed).is_ok() {
                // SAFETY: the exchange made us the one that takes the value of `next`, which is
                // still protected, and the only way to `first`, which the tail has left, is gone.
                return Some(unsafe {
                    let value = (*next).value.assume_init_read();
                    hold.retire(first, free);
                    value
                });
            }
        }
    }

    /// Moves the tail on, unless another thread has done so.
    fn move_tail(&self, from: *mut Node<T>, to: *mut Node<T>) {
        // Release: who finds the node there sees what is in it.
        let _ = self.tail.0.compare_exchange(from, to, Ordering::Release, Ordering::Relaxed);
    }

    fn check(&self, handle: &R::Handle) {
        assert!(R::of(handle) == self.reclaim, "the handle is not of the queue's own reclamation");
    }
}

fn new_node<T>(value: MaybeUninit<T>) -> *mut Node<T> {
    Box::into_raw(Box::new(Node { value, next: AtomicPtr::new(null_mut()) }))
}

/// # Safety
/// The node came from a box and is the caller's; its value is absent or was taken out.
unsafe fn free<T>(node: *mut Node<T>) {
    // SAFETY: handed on to the caller.
    drop(unsafe { Box::from_raw(node) });
}

impl<T, R: Reclaim> Drop for Queue<T, R> {
    fn drop(&mut self) {
        // Relaxed, here and below: it is ours alone.
        let first = self.head.0.load(Ordering::Relaxed);
        // SAFETY: the first node is a box of ours without a value.
        let mut next = unsafe { Box::from_raw(first) }.next.load(Ordering::Relaxed);
        while !next.is_null() {
            // SAFETY: the others are boxes of ours with their values.
            unsafe {
                let mut node = Box::from_raw(next);
                next = node.next.load(Ordering::Relaxed);
                node.value.assume_init_drop();
            }
        }
    }
}

impl<T, R: Reclaim> core::fmt::Debug for Queue<T, R> {
    fn fmt(&self, formatter: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        formatter.debug_struct("Queue").finish_non_exhaustive()
    }
}
