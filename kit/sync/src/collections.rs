//! A stack and a queue without locks.
//!
//! Both are known from the literature (Treiber 1986; Michael and Scott 1996), and both hold memory
//! that others may look at while it is taken out: so each works over [epochs](crate::epoch) or over
//! [hazard pointers](crate::hazard), as one chooses. They serve as examples, and as test beds of
//! the two.
//!
//! ```
//! use tiebreak_sync::{collections::Queue, epoch, hazard};
//!
//! let (collector, domain) = (epoch::Collector::new(), hazard::Domain::new());
//! let (requests, answers) = (Queue::new(&collector), Queue::new(&domain));
//! std::thread::scope(|scope| {
//!     scope.spawn(|| {
//!         let (ours, theirs) = (collector.register(), domain.register());
//!         let mut left = 2;
//!         while left > 0 {
//!             let Some(request) = requests.pop(&ours) else {
//!                 std::thread::yield_now();
//!                 continue;
//!             };
//!             answers.push(request * request, &theirs);
//!             left -= 1;
//!         }
//!     });
//!     let handle = collector.register();
//!     requests.push(3, &handle);
//!     requests.push(4, &handle);
//! });
//! let handle = domain.register();
//! assert_eq!([answers.pop(&handle), answers.pop(&handle)], [Some(9), Some(16)]);
//! ```

use core::marker::PhantomData;
use core::mem::MaybeUninit;
use core::ptr::null_mut;

use crate::atomic::{AtomicPtr, Ordering, Padded};
use crate::epoch::{self, Collector};
use crate::hazard;
use crate::reclaim::{Garbage, Identity};
use protect::{Hold, Protect};

#[cfg(all(test, not(loom)))]
mod tests;

/// A way to reclaim that a collection can use: [`epoch::Collector`] or [`hazard::Domain`].
pub trait Reclaim: Protect {}

impl Reclaim for epoch::Collector {}
impl Reclaim for hazard::Domain {}

mod protect {
    use super::{AtomicPtr, Identity};

    /// The part of [`Reclaim`](super::Reclaim) that is not for others.
    pub trait Protect {
        /// What a thread registers.
        type Handle;

        /// What keeps objects, with as many places as are used at once.
        type Hold<'h, const PLACES: usize>: Hold;

        /// What the collection knows it by.
        fn identity(&self) -> Identity;

        /// Where a handle is registered.
        fn of(handle: &Self::Handle) -> Identity;

        /// Begins to hold, after it has freed what may be freed if that is much. What is freed may
        /// panic.
        fn hold<const PLACES: usize>(handle: &Self::Handle) -> Self::Hold<'_, PLACES>;
    }

    /// Keeps what it has protected.
    pub trait Hold {
        /// The pointer that the source holds. What it points to stays, if it was linked in the
        /// source, until the place is used again or `self` is gone.
        fn protect<T>(&mut self, place: usize, source: &AtomicPtr<T>) -> *mut T;

        /// Lets everything go, and has `object` freed once no thread holds it: not now, because
        /// what is freed may panic, and the thread that retires has taken something that would be
        /// lost then.
        ///
        /// # Safety
        /// As for `retire_with` of a guard or of a handle.
        unsafe fn retire<T>(self, object: *mut T, free: unsafe fn(*mut T));
    }
}

impl Protect for epoch::Collector {
    type Handle = epoch::Handle;
    type Hold<'h, const PLACES: usize> = epoch::Guard<'h>;

    fn identity(&self) -> Identity {
        self.identity()
    }

    fn of(handle: &epoch::Handle) -> Identity {
        handle.collector().identity()
    }

    #[inline]
    fn hold<const PLACES: usize>(handle: &epoch::Handle) -> epoch::Guard<'_> {
        handle.flush_if_full();
        handle.pin()
    }
}

impl Hold for epoch::Guard<'_> {
    #[inline]
    fn protect<T>(&mut self, _place: usize, source: &AtomicPtr<T>) -> *mut T {
        // Acquire: who stored the pointer had filled what it points to.
        source.load(Ordering::Acquire)
    }

    #[inline]
    unsafe fn retire<T>(self, object: *mut T, free: unsafe fn(*mut T)) {
        // SAFETY: handed on to the caller.
        self.keep(unsafe { Garbage::new(object, free) }, size_of::<T>());
    }
}

/// Hazards, and the handle that they are of.
pub struct Hazards<'h, const PLACES: usize> {
    places: [hazard::Hazard<'h>; PLACES],
    handle: &'h hazard::Handle,
}

impl Protect for hazard::Domain {
    type Handle = hazard::Handle;
    type Hold<'h, const PLACES: usize> = Hazards<'h, PLACES>;

    fn identity(&self) -> Identity {
        self.identity()
    }

    fn of(handle: &hazard::Handle) -> Identity {
        handle.domain().identity()
    }

    #[inline]
    fn hold<const PLACES: usize>(handle: &hazard::Handle) -> Hazards<'_, PLACES> {
        handle.flush_if_full();
        Hazards { places: core::array::from_fn(|_| handle.hazard()), handle }
    }
}

impl<const PLACES: usize> Hold for Hazards<'_, PLACES> {
    #[inline]
    fn protect<T>(&mut self, place: usize, source: &AtomicPtr<T>) -> *mut T {
        self.places[place].protect_pointer(source)
    }

    #[inline]
    unsafe fn retire<T>(self, object: *mut T, free: unsafe fn(*mut T)) {
        let Hazards { places, handle } = self;
        drop(places);
        // SAFETY: handed on to the caller.
        handle.keep(unsafe { Garbage::new(object, free) }, size_of::<T>());
    }
}

/// A stack that any number of threads push to and pop from (R. K. Treiber, 1986).
///
/// A list of boxes; `head` is the newest. To push is to exchange the head for a box that points to
/// it, to pop is to exchange it for its successor. A node that someone looks at is not freed, so
/// its address does not come back as another node's, and the exchange cannot mistake one for the
/// other.
///
/// ```
/// use tiebreak_sync::{collections::Stack, hazard::Domain};
///
/// let domain = Domain::new();
/// let stack = Stack::new(&domain);
/// stack.push("first");
/// stack.push("second");
/// let handle = domain.register();
/// assert_eq!([stack.pop(&handle), stack.pop(&handle)], [Some("second"), Some("first")]);
/// assert_eq!(stack.pop(&handle), None);
/// ```
///
/// It hands values from thread to thread, so they must be `Send`:
///
/// ```compile_fail,E0277
/// # use tiebreak_sync::{collections::Stack, epoch::Collector};
/// fn share<T: Sync>(_: T) {}
/// share(Stack::<std::rc::Rc<()>>::new(&Collector::new()));
/// ```
pub struct Stack<T, R: Reclaim = Collector> {
    head: AtomicPtr<Link<T>>,
    reclaim: Identity,
    owned: PhantomData<(Box<Link<T>>, R)>,
}

struct Link<T> {
    /// Taken out by the thread that unlinks the node; what frees the node leaves it alone.
    value: MaybeUninit<T>,
    /// It does not change once the node is linked.
    next: *mut Link<T>,
}

// SAFETY: it owns its values and hands them out by value, to whichever thread; no two threads refer
// to one value.
unsafe impl<T: Send, R: Reclaim + Send> Send for Stack<T, R> {}
// SAFETY: as above; so `T` need not be `Sync`.
unsafe impl<T: Send, R: Reclaim + Sync> Sync for Stack<T, R> {}

impl<T, R: Reclaim> Stack<T, R> {
    /// An empty one, whose nodes are reclaimed so. It does not keep the collector or domain.
    pub fn new(reclaim: &R) -> Stack<T, R> {
        let head = AtomicPtr::new(null_mut());
        Stack { head, reclaim: reclaim.identity(), owned: PhantomData }
    }

    /// Puts a value on top. It needs no handle, because it looks into no node.
    pub fn push(&self, value: T) {
        let node = Box::new(Link { value: MaybeUninit::new(value), next: null_mut() });
        let node = Box::into_raw(node);
        // Relaxed: the old head is only stored.
        let mut head = self.head.load(Ordering::Relaxed);
        loop {
            // SAFETY: the node is not linked yet, so it is ours alone.
            unsafe { (*node).next = head };
            // Release: who finds the node sees what is in it.
            match self.head.compare_exchange_weak(head, node, Ordering::Release, Ordering::Relaxed)
            {
                Ok(_) => return,
                Err(now) => head = now,
            }
        }
    }

    /// Takes the value on top.
    ///
    /// # Panics
    /// If the handle is of another collector or domain than the stack; or if something panics that
    /// was retired by the handle and is freed now: then nothing was taken.
    pub fn pop(&self, handle: &R::Handle) -> Option<T> {
        assert!(R::of(handle) == self.reclaim, "the handle is not of the stack's own reclamation");
        let mut hold = R::hold::<1>(handle);
        loop {
            let node = hold.protect(0, &self.head);
            if node.is_null() {
                return None;
            }
            // SAFETY: it was the head when it was protected, so it is not freed; `next` is
            // constant.
            let next = unsafe { (*node).next };
            // Release: who finds the successor sees what is in it. Acquire came with `protect`.
            let (release, relaxed) = (Ordering::Release, Ordering::Relaxed);
            if self.head.compare_exchange(node, next, release, relaxed).is_ok() {
                // SAFETY: the exchange made us the one that takes the value, which was filled
                // before the node was linked, and the only way to the node is gone.
                return Some(unsafe {
                    let value = (*node).value.assume_init_read();
                    hold.retire(node, free);
                    value
                });
            }
        }
    }

    /// Whether it was empty just now.
    pub fn is_empty(&self) -> bool {
        // Acquire: as if it had been popped from.
        self.head.load(Ordering::Acquire).is_null()
    }
}

impl<T, R: Reclaim> Drop for Stack<T, R> {
    fn drop(&mut self) {
        // Relaxed: it is ours alone.
        let mut next = self.head.load(Ordering::Relaxed);
        while !next.is_null() {
            // SAFETY: a linked node is a box of ours, and its value is in it.
            unsafe {
                let mut node = Box::from_raw(next);
                next = node.next;
                node.value.assume_init_drop();
            }
        }
    }
}

impl<T, R: Reclaim> core::fmt::Debug for Stack<T, R> {
    fn fmt(&self, formatter: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        formatter.debug_struct("Stack").field("is_empty", &self.is_empty()).finish()
    }
}

/// A queue that any number of threads push to and pop from (M. M. Michael and M. L. Scott, 1996).
///
/// A list that is never empty: its first node is a spent one, whose value is gone. `head` is that
/// node. `tail` is the last node or one before it, and a thread that finds that it is behind moves
/// it on. To push is to link a node to the last one; to pop is to move the head, and to take the
/// value of the node that is the first then.
///
/// The head never passes the tail. A thread that moves the head from a node has seen the tail
/// elsewhere after it saw that node as the head, and the tail is never behind the head for who
/// reads the head first: it was not for who moved the head, and that one released what it saw. So a
/// node that is retired is not the tail.
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
    /// Absent in the first node; else taken out by the thread that makes the node the first.
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
unsafe fn free<N>(node: *mut N) {
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
