//! What was retired and waits to be freed: objects with the way to free them.

use crate::atomic::{AtomicPtr, AtomicUsize, Ordering};
use core::cell::Cell;
use core::ptr::null;
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};

/// An object that is freed later, perhaps by another thread. One that is dropped instead leaks.
///
/// `free` is called with its own type, and what it knows of the object's type it has from its
/// instance: builds that check the types of indirect calls (CFI) let it pass.
pub(crate) struct Garbage {
    object: *mut (),
    free: unsafe fn(*mut (), *const ()),
    /// What `free` gets beside the object.
    with: *const (),
}

// SAFETY: whoever makes one promises that any thread may free it, and it is freed once, by value.
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
    /// The box is owned by nobody else, and any thread may drop it at any later time.
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

/// Whether this thread is in the middle of freeing. What is retired then waits: if whoever is freed
/// could free in turn, by whichever handle, a long chain of objects would be a deep recursion.
pub(crate) fn is_freeing() -> bool {
    IS_FREEING.with(Cell::get)
}

/// Ends the freeing, also if a panic gets through.
struct Freeing {
    before: bool,
}

impl Freeing {
    fn begin() -> Freeing {
        Freeing { before: IS_FREEING.with(|flag| flag.replace(true)) }
    }
}

impl Drop for Freeing {
    fn drop(&mut self) {
        IS_FREEING.with(|flag| flag.set(self.before));
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
    let freeing = Freeing::begin();
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
            head: AtomicPtr::new(core::ptr::null_mut()),
            weight: AtomicUsize::new(0),
            count: AtomicUsize::new(0),
        }
    }

    /// Adds a batch. Gives the weight of all that waits now.
    pub(crate) fn push(&self, items: Vec<Garbage>, weight: usize) -> usize {
        // Relaxed: the counters only say when to collect, and how much there is about.
        self.count.fetch_add(items.len(), Ordering::Relaxed);
        let total = self.weight.fetch_add(weight, Ordering::Relaxed) + weight;
        let batch = Box::into_raw(Box::new(Batch { items, weight, next: core::ptr::null_mut() }));
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
        let mut next = self.head.swap(core::ptr::null_mut(), Ordering::Acquire);
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

#[cfg(all(test, not(loom)))]
pub(crate) mod tests {
    use super::*;
    use std::sync::Arc;
    use std::sync::atomic::AtomicUsize as Counter;

    /// Counts its drops.
    pub(crate) struct OnDrop(pub(crate) Arc<Counter>);

    impl Drop for OnDrop {
        fn drop(&mut self) {
            self.0.fetch_add(1, Ordering::SeqCst);
        }
    }

    #[test]
    fn boxes_and_closures_are_freed_once() {
        let count = Arc::new(Counter::new(0));
        let object = Box::into_raw(Box::new(OnDrop(count.clone())));
        let captured = OnDrop(count.clone());
        // SAFETY: the box is nobody else's.
        let boxed = unsafe { Garbage::boxed(object) };
        assert_eq!(boxed.address(), object.cast());
        let closure = Garbage::closure(move || drop(captured));
        assert_eq!(count.load(Ordering::SeqCst), 0);
        free_all([boxed, closure]);
        assert_eq!(count.load(Ordering::SeqCst), 2);
    }

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
