//! Last in, first out.

use super::reclaim::Reclaim;
use super::reclaim::protect::Hold;
use crate::atomic::{AtomicPtr, Ordering};
use crate::epoch::Collector;
use crate::registry::Identity;
use core::marker::PhantomData;
use core::mem::MaybeUninit;
use core::ptr::null_mut;

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
    head: AtomicPtr<Node<T>>,
    reclaim: Identity,
    owned: PhantomData<(Box<Node<T>>, R)>,
}

struct Node<T> {
    /// Taken out by whoever unlinks the node; what frees the node leaves it alone.
    value: MaybeUninit<T>,
    /// It does not change once the node is linked.
    next: *mut Node<T>,
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
        let node = Box::new(Node { value: MaybeUninit::new(value), next: null_mut() });
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

/// # Safety
/// The node came from a box and is the caller's; its value was taken out.
unsafe fn free<T>(node: *mut Node<T>) {
    // SAFETY: handed on to the caller.
    drop(unsafe { Box::from_raw(node) });
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
