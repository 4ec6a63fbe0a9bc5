//! What epochs and hazard pointers have in common: the list of those who take part, pointers that
//! own boxes, the heavy side that is begun and asked about later, and what waits to be freed.

use core::cell::Cell;
use core::marker::PhantomData;
use core::ptr::{null, null_mut};
use core::sync::atomic::AtomicU64;
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};

use crate::atomic::{AtomicBool, AtomicPtr, AtomicUsize, Ordering};
use crate::barrier::{Barrier, Ticket};
use crate::mutation::{self, Mutation};

/// Tells a collector or domain from every other of the process. What belongs to one has this and
/// not an `Arc`: it may be retired there itself, and then the two would keep each other for ever.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Identity(u64);

impl Identity {
    /// One that nothing had before.
    pub(crate) fn new() -> Identity {
        static NEXT: AtomicU64 = AtomicU64::new(0);
        // Relaxed: each value is given out once, whatever the order. 2^64 do not run out.
        Identity(NEXT.fetch_add(1, Ordering::Relaxed))
    }
}

/// What a collector and a domain have in common: they are compared by their identities, and shown
/// by what waits in them.
macro_rules! impl_identity {
    ($type:ident) => {
        impl Default for $type {
            fn default() -> $type {
                $type::new()
            }
        }

        /// Whether they are the same one.
        impl PartialEq for $type {
            fn eq(&self, other: &$type) -> bool {
                self.identity() == other.identity()
            }
        }

        impl Eq for $type {}

        impl core::fmt::Debug for $type {
            fn fmt(&self, formatter: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
                formatter
                    .debug_struct(stringify!($type))
                    .field("barrier", &self.shared.barrier)
                    .field("records", &self.shared.records.len())
                    .field("pending", &self.pending())
                    .finish()
            }
        }
    };
}
pub(crate) use impl_identity;

/// A list that only grows while it lives. Each record has two cache lines of its own, because the
/// processor fetches them in pairs.
pub(crate) struct Registry<T> {
    head: AtomicPtr<Slot<T>>,
}

/// A record and who may use it.
#[repr(align(128))]
pub(crate) struct Slot<T> {
    value: T,
    /// Its place: those behind it in the list have smaller ones.
    number: usize,
    is_claimed: AtomicBool,
    next: *const Slot<T>,
}

// SAFETY: slots are shared by reference and dropped with the registry; `next` and `number` do not
// change once a slot is published, and the rest are atomics and `T`.
unsafe impl<T: Send + Sync> Send for Registry<T> {}
// SAFETY: as above.
unsafe impl<T: Send + Sync> Sync for Registry<T> {}

impl<T> Registry<T> {
    pub(crate) fn new() -> Registry<T> {
        Registry { head: AtomicPtr::new(null_mut()) }
    }

    /// A record that no other thread claims until it is given back: an old one, or a new one.
    pub(crate) fn claim(&self, make: impl FnOnce() -> T) -> &Slot<T> {
        self.iter().find(|slot| slot.try_claim()).unwrap_or_else(|| self.push(make()))
    }

    fn push(&self, value: T) -> &Slot<T> {
        let is_claimed = AtomicBool::new(true);
        let slot = Slot { value, number: 0, is_claimed, next: null() };
        let slot = Box::into_raw(Box::new(slot));
        // Acquire, here and on failure: the number of the head is read.
        let mut head = self.head.load(Ordering::Acquire);
        loop {
            // SAFETY: the new slot is not published yet, so it is ours alone; a head that is not
            // null was published and lives as long as the registry.
            unsafe {
                (*slot).next = head;
                (*slot).number = head.as_ref().map_or(0, |head| head.number + 1);
            }
            // Release: who finds the slot sees what is in it.
            match self.head.compare_exchange(head, slot, Ordering::AcqRel, Ordering::Acquire) {
                // SAFETY: it lives as long as the registry, which is borrowed.
                Ok(_) => return unsafe { &*slot },
                Err(now) => head = now,
            }
        }
    }

    /// All records, claimed or not, the newest first.
    pub(crate) fn iter(&self) -> impl Iterator<Item = &Slot<T>> {
        // Acquire: see `push`.
        let mut next: *const Slot<T> = self.head.load(Ordering::Acquire);
        core::iter::from_fn(move || {
            // SAFETY: null, or published, and it lives as long as the registry, which is borrowed.
            let slot = unsafe { next.as_ref() }?;
            next = slot.next;
            Some(slot)
        })
    }

    /// How many records there are.
    pub(crate) fn len(&self) -> usize {
        self.iter().next().map_or(0, |newest| newest.number + 1)
    }
}

impl<T> Slot<T> {
    /// Its place in the list, counted from 0 in the order of registration.
    pub(crate) fn number(&self) -> usize {
        self.number
    }

    fn try_claim(&self) -> bool {
        // Acquire: all that its last user did with it is over.
        let (acquire, relaxed) = (Ordering::Acquire, Ordering::Relaxed);
        !self.is_claimed.load(relaxed)
            && self.is_claimed.compare_exchange(false, true, acquire, relaxed).is_ok()
    }

    /// Gives it back. The caller claimed it and does not use it any more.
    pub(crate) fn release(&self) {
        // Release: who claims it next finds all that was done with it done.
        self.is_claimed.store(false, Ordering::Release);
    }
}

impl<T> core::ops::Deref for Slot<T> {
    type Target = T;

    fn deref(&self) -> &T {
        &self.value
    }
}

impl<T> Drop for Registry<T> {
    fn drop(&mut self) {
        // Relaxed: the registry is ours alone.
        let mut next: *const Slot<T> = self.head.load(Ordering::Relaxed);
        while !next.is_null() {
            // SAFETY: it came from `Box::into_raw`, and nothing refers to it any more.
            let slot = unsafe { Box::from_raw(next.cast_mut()) };
            next = slot.next;
        }
    }
}

/// What retires objects into one collector or domain: a guard or a handle.
pub(crate) trait Retire {
    /// What is wrong with one that belongs elsewhere.
    const FOREIGN: &'static str;

    /// What its collector or domain is known by.
    fn identity(&self) -> Identity;

    /// # Safety
    /// `object` is a box that is unlinked, and nothing else retires it.
    unsafe fn retire<T: Send + 'static>(&self, object: *mut T);
}

/// What the two `Atomic`s have in common: a pointer that owns a box, or nothing, until the box is
/// replaced, and the collector or domain in which it is retired then.
pub(crate) struct Owning<T> {
    pointer: AtomicPtr<T>,
    reclaim: Identity,
    owned: PhantomData<Box<T>>,
}

// SAFETY: it owns a `T`, and its users hand out `&T`, to whichever thread; an old `T` is dropped by
// any.
unsafe impl<T: Send + Sync> Send for Owning<T> {}
// SAFETY: as above.
unsafe impl<T: Send + Sync> Sync for Owning<T> {}

impl<T> Owning<T> {
    pub(crate) fn new(reclaim: Identity, value: Option<Box<T>>) -> Owning<T> {
        const { assert!(size_of::<T>() > 0, "boxes of no size have one address: see the type") };
        let pointer = AtomicPtr::new(into_raw(value));
        Owning { pointer, reclaim, owned: PhantomData }
    }

    /// The pointer, to be read: null or a box, which was stored with release.
    #[inline(always)]
    pub(crate) fn source(&self) -> &AtomicPtr<T> {
        &self.pointer
    }

    /// Looks whether what is used with it is of the collector or domain where the boxes are
    /// retired.
    ///
    /// # Panics
    /// With this message if it is not.
    #[inline(always)]
    pub(crate) fn check(&self, reclaim: Identity, foreign: &'static str) {
        if self.reclaim != reclaim {
            // Not an assertion, which would keep the message ready on the way.
            refuse(foreign);
        }
    }

    /// Puts another in its place, and retires what was there.
    pub(crate) fn store<R: Retire>(&self, value: Option<Box<T>>, by: &R)
    where
        T: Send + 'static,
    {
        self.check(by.identity(), R::FOREIGN);
        // Acquire and release: this thread retires the old box and publishes the new one.
        let old = self.pointer.swap(into_raw(value), Ordering::AcqRel);
        // SAFETY: the swap took the box away, and `by` is of its collector or domain.
        unsafe { retire(old, by) };
    }

    /// Puts another in the place of `current`, and retires that. If it is another by now, the new
    /// one comes back.
    pub(crate) fn compare_exchange<R: Retire>(
        &self,
        current: Option<&T>,
        value: Option<Box<T>>,
        by: &R,
    ) -> Result<(), Option<Box<T>>>
    where
        T: Send + 'static,
    {
        self.check(by.identity(), R::FOREIGN);
        let current = current.map_or(null_mut(), |current| core::ptr::from_ref(current).cast_mut());
        let new = into_raw(value);
        // Acquire and release: as in `store`. Relaxed on failure: nothing that was read is used.
        match self.pointer.compare_exchange(current, new, Ordering::AcqRel, Ordering::Relaxed) {
            Ok(old) => {
                // SAFETY: as in `store`.
                unsafe { retire(old, by) };
                Ok(())
            }
            Err(_) if new.is_null() => Err(None),
            // SAFETY: it came from a box just now, and was not published.
            Err(_) => Err(Some(unsafe { Box::from_raw(new) })),
        }
    }
}

/// # Safety
/// `old` is null, or a box that was taken out of an [`Owning`] of the same collector or domain.
unsafe fn retire<T: Send + 'static>(old: *mut T, by: &impl Retire) {
    if !old.is_null() {
        // SAFETY: the only way to it was the pointer from which it was taken.
        unsafe { by.retire(old) };
    }
}

#[cold]
fn refuse(foreign: &'static str) -> ! {
    panic!("{foreign}")
}

fn into_raw<T>(value: Option<Box<T>>) -> *mut T {
    value.map_or(null_mut(), Box::into_raw)
}

impl<T> Drop for Owning<T> {
    fn drop(&mut self) {
        // Relaxed: it is ours alone. References that its users gave out borrowed it.
        let pointer = self.pointer.load(Ordering::Relaxed);
        if !pointer.is_null() {
            // SAFETY: a box of ours that was not retired, because it is still here.
            drop(unsafe { Box::from_raw(pointer) });
        }
    }
}

impl<T> core::fmt::Debug for Owning<T> {
    fn fmt(&self, formatter: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        // Relaxed: the address is only shown.
        formatter.debug_tuple("Atomic").field(&self.pointer.load(Ordering::Relaxed)).finish()
    }
}

/// A heavy side that was begun.
pub(crate) struct Heavy {
    /// None: a fault that a model put in.
    ticket: Option<Ticket>,
    #[cfg(test)]
    polls_left: usize,
}

impl Heavy {
    /// Begins one, unless a model runs with this fault.
    pub(crate) fn begin(barrier: Barrier, fault: Mutation) -> Heavy {
        Heavy {
            ticket: if mutation::is(fault) { None } else { Some(barrier.begin()) },
            #[cfg(test)]
            polls_left: tests::POLLS.get(),
        }
    }

    /// Whether it is complete.
    pub(crate) fn poll(&mut self) -> bool {
        #[cfg(test)]
        if self.polls_left > 0 {
            self.polls_left -= 1;
            return false;
        }
        self.ticket.as_mut().is_none_or(Ticket::poll)
    }

    /// Waits until it is.
    pub(crate) fn wait(self) {
        if let Some(ticket) = self.ticket {
            ticket.wait();
        }
        #[cfg(test)]
        tests::WAITS.set(tests::WAITS.get() + 1);
    }
}

/// An object that is freed later, perhaps by another thread. One that is dropped instead leaks.
///
/// `free` is called with its own type, and what it knows of the object's type it has from its
/// instance: builds that check the types of indirect calls (CFI) let it pass.
pub(crate) struct Garbage {
    object: *mut (),
    free: unsafe fn(*mut (), *const ()),
    /// What `free` gets with the object.
    with: *const (),
}

// SAFETY: the maker of one promises that any thread may free it, and it is freed once, by value.
unsafe impl Send for Garbage {}

impl Garbage {
    /// An object and the function that frees it.
    ///
    /// # Safety
    /// `free(object)` may be called once, at any later time, by any thread.
    pub(crate) unsafe fn new<T>(object: *mut T, free: unsafe fn(*mut T)) -> Garbage {
        Garbage { object: object.cast(), free: call_with::<T>, with: free as *const () }
    }

    /// An object that came from `Box::into_raw`.
    ///
    /// # Safety
    /// The box is owned by nothing else, and any thread may drop it at any later time.
    pub(crate) unsafe fn boxed<T>(object: *mut T) -> Garbage {
        Garbage { object: object.cast(), free: drop_box::<T>, with: null() }
    }

    /// A closure that is called instead.
    pub(crate) fn closure<F: FnOnce() + Send + 'static>(closure: F) -> Garbage {
        let object = Box::into_raw(Box::new(closure));
        Garbage { object: object.cast(), free: call_box::<F>, with: null() }
    }

    /// Where the object is.
    pub(crate) fn address(&self) -> *mut () {
        self.object
    }

    fn run(self) {
        // SAFETY: promised when it was made; `self` is consumed, so this is the only call.
        unsafe { (self.free)(self.object, self.with) }
    }
}

/// # Safety
/// `free` is an `unsafe fn(*mut T)` that may be called with `object`, a `*mut T`.
unsafe fn call_with<T>(object: *mut (), free: *const ()) {
    // SAFETY: it was made from such a function.
    let free = unsafe { core::mem::transmute::<*const (), unsafe fn(*mut T)>(free) };
    // SAFETY: handed on to the caller.
    unsafe { free(object.cast()) };
}

/// # Safety
/// `object` came from `Box::into_raw` of a `Box<T>` and is owned by the caller.
unsafe fn drop_box<T>(object: *mut (), _: *const ()) {
    // SAFETY: handed on to the caller.
    drop(unsafe { Box::from_raw(object.cast::<T>()) });
}

/// # Safety
/// `closure` came from `Box::into_raw` of a `Box<F>` and is owned by the caller.
unsafe fn call_box<F: FnOnce()>(closure: *mut (), _: *const ()) {
    // SAFETY: handed on to the caller.
    let closure = unsafe { Box::from_raw(closure.cast::<F>()) };
    closure();
}

#[cfg(not(loom))]
std::thread_local! {
    /// Whether this thread is in the middle of freeing. It has no destructor, so it is there until
    /// the thread has ended.
    static IS_FREEING: Cell<bool> = const { Cell::new(false) };
}

// The threads of a model are one to the system.
#[cfg(loom)]
loom::thread_local! {
    static IS_FREEING: Cell<bool> = Cell::new(false);
}

/// Whether this thread is in the middle of freeing. What is retired then waits: if what is freed
/// could free in turn, by whichever handle, a long chain of objects would be a deep recursion.
pub(crate) fn is_freeing() -> bool {
    IS_FREEING.with(Cell::get)
}

/// Calls a function at the end of a scope, also if a panic gets through.
pub(crate) struct Finally<F: Fn()>(pub(crate) F);

impl<F: Fn()> Drop for Finally<F> {
    fn drop(&mut self) {
        (self.0)();
    }
}

/// How much an object of this size counts for when one decides whether to collect: one, and one
/// more for each KiB.
pub(crate) const fn weight(size_bytes: usize) -> usize {
    1 + size_bytes / 1024
}

/// Frees all of it, also if one of them panics. The first panic goes on to the caller once all are
/// freed, unless the caller is panicking already.
pub(crate) fn free_all(garbage: impl IntoIterator<Item = Garbage>) {
    let was_freeing = IS_FREEING.with(|flag| flag.replace(true));
    let freeing = Finally(|| IS_FREEING.with(|flag| flag.set(was_freeing)));
    let mut rest = garbage.into_iter();
    let mut first = None;
    let mut free_rest = || {
        for item in rest.by_ref() {
            item.run();
        }
    };
    while let Err(panic) = catch_unwind(AssertUnwindSafe(&mut free_rest)) {
        match first {
            None => first = Some(panic),
            Some(_) => dispose(panic),
        }
    }
    drop(freeing);
    match first {
        Some(panic) if std::thread::panicking() => dispose(panic),
        Some(panic) => resume_unwind(panic),
        None => {}
    }
}

/// Does something at the end of a thread, where a panic would end the process. One that comes
/// nevertheless is over once the panic hook has reported it.
#[cfg(not(loom))]
pub(crate) fn end_quietly(end: impl FnOnce()) {
    if let Err(panic) = catch_unwind(AssertUnwindSafe(end)) {
        dispose(panic);
    }
}

/// Drops what a panic carries. That may panic again; then it leaks.
fn dispose(panic: Box<dyn core::any::Any + Send>) {
    if let Err(another) = catch_unwind(AssertUnwindSafe(|| drop(panic))) {
        core::mem::forget(another);
    }
}

/// Batches of garbage that wait for someone to take all of them. Lock-free: batches are pushed one
/// by one and taken all at once, so no batch can come back while someone looks at it.
pub(crate) struct List {
    head: AtomicPtr<Batch>,
    weight: AtomicUsize,
    count: AtomicUsize,
}

struct Batch {
    items: Vec<Garbage>,
    weight: usize,
    next: *mut Batch,
}

impl List {
    pub(crate) fn new() -> List {
        List {
            head: AtomicPtr::new(null_mut()),
            weight: AtomicUsize::new(0),
            count: AtomicUsize::new(0),
        }
    }

    /// Adds a batch. Gives the weight of all that waits now.
    pub(crate) fn push(&self, items: Vec<Garbage>, weight: usize) -> usize {
        // Relaxed: the counters only say when to collect, and how much there is about.
        self.count.fetch_add(items.len(), Ordering::Relaxed);
        let total = self.weight.fetch_add(weight, Ordering::Relaxed) + weight;
        let batch = Box::into_raw(Box::new(Batch { items, weight, next: null_mut() }));
        // Relaxed: the next head is only stored, never looked into.
        let mut head = self.head.load(Ordering::Relaxed);
        loop {
            // SAFETY: the batch is not published yet, so it is ours alone.
            unsafe { (*batch).next = head };
            // Release: who takes the batch sees its items, and that they were unlinked.
            match self.head.compare_exchange_weak(head, batch, Ordering::Release, Ordering::Relaxed)
            {
                Ok(_) => return total,
                Err(now) => head = now,
            }
        }
    }

    /// Takes all batches.
    pub(crate) fn take(&self) -> Vec<Vec<Garbage>> {
        let (mut batches, mut weight, mut count) = (Vec::new(), 0, 0);
        // Acquire: see `push`.
        let mut next = self.head.swap(null_mut(), Ordering::Acquire);
        while !next.is_null() {
            // SAFETY: it came from `Box::into_raw`, and the swap took it from everyone else.
            let batch = unsafe { Box::from_raw(next) };
            (next, weight, count) = (batch.next, weight + batch.weight, count + batch.items.len());
            batches.push(batch.items);
        }
        // Relaxed: as in `push`. They may be too high for a moment, never too low.
        self.weight.fetch_sub(weight, Ordering::Relaxed);
        self.count.fetch_sub(count, Ordering::Relaxed);
        batches
    }

    /// The weight of all that waits.
    pub(crate) fn weight(&self) -> usize {
        // Relaxed: as in `push`.
        self.weight.load(Ordering::Relaxed)
    }

    /// How many objects wait.
    pub(crate) fn count(&self) -> usize {
        // Relaxed: as in `push`.
        self.count.load(Ordering::Relaxed)
    }
}

impl Drop for List {
    fn drop(&mut self) {
        free_all(self.take().into_iter().flatten());
    }
}

#[cfg(test)]
pub(crate) mod tests {
    use super::*;
    use std::sync::Arc;
    use std::sync::atomic::AtomicUsize as Counter;

    std::thread_local! {
        /// How often a heavy side that this thread begins says that it is not complete.
        pub(crate) static POLLS: Cell<usize> = const { Cell::new(0) };
        /// How often this thread has waited for one.
        pub(crate) static WAITS: Cell<usize> = const { Cell::new(0) };
    }

    /// Counts its drops.
    pub(crate) struct OnDrop(pub(crate) Arc<Counter>);

    impl Drop for OnDrop {
        fn drop(&mut self) {
            self.0.fetch_add(1, Ordering::SeqCst);
        }
    }

    #[cfg(not(loom))]
    #[test]
    fn boxes_and_closures_are_freed_once() {
        let count = Arc::new(Counter::new(0));
        let object = Box::into_raw(Box::new(OnDrop(count.clone())));
        let captured = OnDrop(count.clone());
        // SAFETY: nothing else has the box.
        let boxed = unsafe { Garbage::boxed(object) };
        assert_eq!(boxed.address(), object.cast());
        let closure = Garbage::closure(move || drop(captured));
        assert_eq!(count.load(Ordering::SeqCst), 0);
        free_all([boxed, closure]);
        assert_eq!(count.load(Ordering::SeqCst), 2);
    }

    #[cfg(not(loom))]
    #[test]
    fn a_list_counts_what_waits() {
        let (list, count) = (List::new(), Arc::new(Counter::new(0)));
        let some = |n: usize| {
            let count = count.clone();
            let one = move |_| {
                let value = OnDrop(count.clone());
                Garbage::closure(move || drop(value))
            };
            (0..n).map(one).collect::<Vec<_>>()
        };
        assert_eq!((list.push(some(3), 10), list.push(some(2), 5)), (10, 15));
        assert_eq!((list.count(), list.weight()), (5, 15));
        let taken = list.take();
        assert_eq!((list.count(), list.weight()), (0, 0));
        free_all(taken.into_iter().flatten());
        assert_eq!(count.load(Ordering::SeqCst), 5);
        list.push(some(4), 4);
        drop(list);
        assert_eq!(count.load(Ordering::SeqCst), 9, "a list that goes frees what is in it");
    }

    #[test]
    fn weights_grow_with_sizes() {
        assert_eq!([0, 8, 1023, 1024, 65536].map(weight), [1, 1, 1, 2, 65]);
    }
}
