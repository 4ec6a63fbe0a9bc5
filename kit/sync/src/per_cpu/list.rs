//! A list of nodes for each CPU.

use super::rseq::Area;
use super::section::{self, Form, Plain, Slots};
use super::{Mode, PerCpu};
use crate::atomic::{AtomicPtr, Ordering};
use std::fmt::{self, Debug};
use std::marker::PhantomData;
use std::ptr::{NonNull, null_mut};

/// What a [`List`] holds: a value, and room for the list's own pointer.
///
/// ```
/// use tiebreak_sync::per_cpu::Node;
///
/// let node = Box::new(Node::new([0_u8; 64]));
/// assert_eq!(node.value.len(), 64);
/// ```
// Sections write the first word.
#[repr(C)]
pub struct Node<T> {
    next: *mut Node<T>,
    /// The value.
    pub value: T,
}

// SAFETY: `next` is null, or the list's own business, whatever has the node: it is read by nothing
// but the list that has it.
unsafe impl<T: Send> Send for Node<T> {}
// SAFETY: as above; through a shared reference there is the value alone.
unsafe impl<T: Sync> Sync for Node<T> {}

impl<T> Node<T> {
    /// A node in no list.
    pub fn new(value: T) -> Node<T> {
        Node { next: null_mut(), value }
    }
}

impl<T: Debug> Debug for Node<T> {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.debug_struct("Node").field("value", &self.value).finish_non_exhaustive()
    }
}

/// For each CPU a stack of nodes, as allocators and pools keep what they may give out again.
///
/// The theorem: each node that was pushed is popped once, or is still there. By sections `pop`
/// gives `None` only if the list of the CPU on which it ran was empty at that moment, and so was
/// the list that is no CPU's. Nothing can be popped between a section's look at the first node and
/// its look at the next one, so the list needs no defence against the return of an address (*ABA*),
/// and nodes may be freed at once. The assumptions are those of the
/// [module](super#why-it-is-right).
///
/// By atomics a pop takes the whole list off, keeps the first node and puts the rest back: it reads
/// no node that is not its own, which is its defence. Another pop on the same list sees it empty
/// meanwhile, so there `None` may also mean that.
///
/// Nodes of other CPUs cannot be had but by [`drain`](Self::drain), which needs the list alone: a
/// section that is halfway through a pop could not be seen.
///
/// Representation: a pointer for each CPU on 128 bytes of its own, and one for threads without a
/// section. Memory: what is pushed on one CPU and popped on others piles up on the first.
///
/// Cost: `push` and `pop` are one section each; by atomics one and two atomic instructions.
///
/// ```
/// use tiebreak_sync::per_cpu::{List, Node};
///
/// let mut buffers = List::new();
/// let buffer = buffers.pop().unwrap_or_else(|| Box::new(Node::new([0_u8; 4096])));
/// buffers.push(buffer);
/// assert_eq!(buffers.drain().count(), 1);
/// ```
pub struct List<T> {
    heads: PerCpu<AtomicPtr<Node<T>>>,
    owns: PhantomData<Box<Node<T>>>,
}

// SAFETY: it holds values that it gives to any thread that asks; it gives no references
// to them.
unsafe impl<T: Send> Send for List<T> {}
// SAFETY: as above: `&List` moves values from thread to thread, which is what `Send` is about.
unsafe impl<T: Send> Sync for List<T> {}

impl<T> List<T> {
    /// Empty, in the [mode](super::mode()) of this process.
    pub fn new() -> List<T> {
        List { heads: PerCpu::new(|| AtomicPtr::new(null_mut())), owns: PhantomData }
    }

    /// Empty, by atomic instructions.
    pub fn with_atomics() -> List<T> {
        List { heads: PerCpu::with_atomics(|| AtomicPtr::new(null_mut())), owns: PhantomData }
    }

    /// By what it is changed.
    pub fn mode(&self) -> Mode {
        self.heads.mode()
    }

    /// Puts a node in front of this CPU's. It may be called in a signal handler, [with one
    /// exception](super#in-the-handler-of-a-signal).
    #[inline]
    pub fn push(&self, node: Box<Node<T>>) {
        self.push_as::<Plain>(node);
    }

    /// Takes the first of this CPU's nodes; if there is none, the first of those that are no CPU's.
    /// It may be called in a signal handler, [with one
    /// exception](super#in-the-handler-of-a-signal); what it gives must not be dropped there, as
    /// that frees it.
    #[inline]
    pub fn pop(&self) -> Option<Box<Node<T>>> {
        self.pop_as::<Plain>()
    }

    /// Takes out all nodes, of all CPUs.
    pub fn drain(&mut self) -> impl Iterator<Item = Box<Node<T>>> {
        self.heads.iter_mut().flat_map(|head| {
            std::iter::from_fn(move || {
                // Relaxed: `&mut self` happens after all that others did.
                let node = NonNull::new(head.load(Ordering::Relaxed))?;
                // SAFETY: the nodes of a list belong to it alone, and the next line takes this one
                // out of it.
                let node = unsafe { Box::from_raw(node.as_ptr()) };
                head.store(node.next, Ordering::Relaxed);
                Some(node)
            })
        })
    }

    #[inline(always)]
    pub(super) fn push_as<F: Form>(&self, node: Box<Node<T>>) {
        let node = NonNull::from(Box::leak(node));
        let area = self.heads.area_of_libc();
        if area.and_then(|area| self.push_by_section::<F>(area, node)).is_none() {
            self.push_otherwise::<F>(node);
        }
    }

    #[inline(always)]
    fn push_by_section<F: Form>(&self, area: Area, node: NonNull<Node<T>>) -> Option<()> {
        // SAFETY: the slots live as long as `self`, where there are areas those of CPUs are only
        // changed by sections, and the node was the caller's. Its first word is `next`.
        unsafe { section::push::<F, _>(area, Slots::of(&self.heads), node) }
    }

    /// Out of the way: where only this crate has registered, and by atomics.
    #[cold]
    fn push_otherwise<F: Form>(&self, node: NonNull<Node<T>>) {
        let area = self.heads.area();
        if area.and_then(|area| self.push_by_section::<F>(area, node)).is_none() {
            push(self.heads.for_atomics(), node);
        }
    }

    #[inline(always)]
    pub(super) fn pop_as<F: Form>(&self) -> Option<Box<Node<T>>> {
        let area = self.heads.area_of_libc();
        let node = match area.and_then(|area| self.pop_by_section::<F>(area)) {
            Some(node) => Some(node),
            None => self.pop_otherwise::<F>(),
        };
        // SAFETY: it was made of a box by `push`, and is out of the list, so nothing else has it.
        node.map(|node| unsafe { Box::from_raw(node.as_ptr()) })
    }

    #[inline(always)]
    fn pop_by_section<F: Form>(&self, area: Area) -> Option<NonNull<Node<T>>> {
        // SAFETY: the slots live as long as `self`, where there are areas those of CPUs are only
        // changed by sections, and they hold nodes that `push` made of boxes.
        unsafe { section::pop::<F, _>(area, Slots::of(&self.heads)) }
    }

    /// Out of the way: where the list is empty, where only this crate has registered, and by
    /// atomics.
    #[cold]
    fn pop_otherwise<F: Form>(&self) -> Option<NonNull<Node<T>>> {
        let node = self.heads.area().and_then(|area| self.pop_by_section::<F>(area));
        let node = node.or_else(|| pop(self.heads.for_atomics()));
        node.or_else(|| pop(self.heads.shared()))
    }
}

/// Puts a node, which nothing else has, before the others.
fn push<T>(head: &AtomicPtr<Node<T>>, node: NonNull<Node<T>>) {
    // Relaxed: the pointer is not followed.
    let mut next = head.load(Ordering::Relaxed);
    loop {
        // SAFETY: the node is the caller's alone until it is in the list.
        unsafe { (*node.as_ptr()).next = next };
        // Release: who pops the node sees what is in it. Should the first node have gone and come
        // back meanwhile, it still is the first, and whatever follows it does so.
        let pushed =
            head.compare_exchange_weak(next, node.as_ptr(), Ordering::Release, Ordering::Relaxed);
        match pushed {
            Ok(_) => return,
            Err(now) => next = now,
        }
    }
}

/// Takes all nodes off, keeps the first and puts the others back.
fn pop<T>(head: &AtomicPtr<Node<T>>) -> Option<NonNull<Node<T>>> {
    // Relaxed: null is believed without order; any other value is read again.
    if head.load(Ordering::Relaxed).is_null() {
        return None;
    }
    // Acquire: what was written into the nodes before they were pushed is seen. All exchanges of
    // the head are read-modify-writes, so a chain of them keeps what each of its pushes released.
    let first = NonNull::new(head.swap(null_mut(), Ordering::Acquire))?;
    // SAFETY: who has exchanged a head has all nodes from there on alone.
    let rest = NonNull::new(unsafe { (*first.as_ptr()).next });
    if let Some(rest) = rest {
        put_back(head, rest);
    }
    Some(first)
}

/// Puts nodes back into a list that was emptied: at once if nothing has come meanwhile, else behind
/// that.
fn put_back<T>(head: &AtomicPtr<Node<T>>, mut nodes: NonNull<Node<T>>) {
    loop {
        // Release: as of `push`; the nodes are as the thread that pushed them has left them.
        let empty = null_mut();
        let put =
            head.compare_exchange(empty, nodes.as_ptr(), Ordering::Release, Ordering::Relaxed);
        if put.is_ok() {
            return;
        }
        // Acquire: as of `pop`.
        let Some(newer) = NonNull::new(head.swap(null_mut(), Ordering::Acquire)) else {
            continue;
        };
        // SAFETY: as of `pop`: the whole chain is this thread's.
        unsafe {
            let mut last = newer;
            while let Some(next) = NonNull::new((*last.as_ptr()).next) {
                last = next;
            }
            (*last.as_ptr()).next = nodes.as_ptr();
        }
        nodes = newer;
    }
}

impl<T> Default for List<T> {
    fn default() -> List<T> {
        List::new()
    }
}

impl<T> Debug for List<T> {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.debug_struct("List").field("mode", &self.mode()).finish_non_exhaustive()
    }
}

impl<T> Drop for List<T> {
    fn drop(&mut self) {
        self.drain().for_each(drop);
    }
}
