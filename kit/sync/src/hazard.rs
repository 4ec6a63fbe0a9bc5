//! Reclamation by hazard pointers.
//!
//! A reader publishes which object it is about to use; a writer that has unlinked an object
//! *retires* it, and it is freed once no reader publishes it. Publishing is a store, and a second
//! look at where the pointer came from; no fence: the [`Barrier`](crate::barrier) of the domain
//! lets the thread that frees pay for all. What is retired and not freed is bounded, whatever
//! readers do.
//!
//! ```
//! use tiebreak_sync::hazard::{Atomic, Domain};
//!
//! let domain = Domain::new();
//! let limits = Atomic::new(&domain, Box::new([10, 20]));
//! std::thread::scope(|scope| {
//!     scope.spawn(|| {
//!         let handle = domain.register();
//!         let mut hazard = handle.hazard();
//!         let seen = limits.load(&mut hazard).unwrap();
//!         assert!(*seen == [10, 20] || *seen == [30, 40]);
//!     });
//!     scope.spawn(|| limits.store(Some(Box::new([30, 40])), &domain.register()));
//! });
//! ```
//!
//! # How it works
//!
//! ```text
//! protect  pointer = load(source)               retire   put the object into a list of one's own
//!          loop
//!              slot = pointer                   reclaim, each for itself, once for 1024 objects:
//!              light()                            1  take the list
//!              again = load(source)               2  heavy()
//!              if again = pointer: done           3  read all slots
//!              pointer = again                    4  free what is in none of them
//! ```
//!
//! # Why it is right
//!
//! Let `X` be an object of the list of step 1, and a reader one that has protected `X`: it
//! published `X`, then its light side, then found `X` in the source. Show that step 4 does not free
//! `X` before the reader is done with it. The theorem of [`Barrier`] says that one of these is
//! true:
//!
//! - The reader's second look sees every store that happened before step 2. `X` was unlinked before
//!   it was retired, so that look does not find it, unless someone linked it again: but then it was
//!   not unlinked.
//! - Step 3 sees that the slot holds `X`, and `X` stays; or something newer in that slot. Then the
//!   reader is done with `X`, and the newer store is a release, made after its last read of `X`,
//!   which step 3 reads with acquire: the read happened before step 4.
//!
//! An address that was freed and is in use again is another object: a reader that finds it in the
//! source has protected that one.
//!
//! # The bound
//!
//! With `N` handles and `H` slots (8 a handle, and 8 more each time it needs more), at most `(N +
//! 1) * (R + 1024) + H` objects are retired and not freed: each handle has at most `R` that it has
//! not looked at, at most `H` are protected, and at most 1024 left by handles that are gone wait
//! for someone to take them. `R` is 1024 if a heavy side that was begun is done
//! ([`Ticket`](crate::barrier::Ticket)): then the call of `retire` or `flush` that reclaims takes
//! as long as one, some 10 us, or 10 to 50 ms with `membarrier-global-unexpedited`. `R` is 16384
//! with `barrierd`: `retire` goes on meanwhile, and waits only if half of that has come together.
//! Objects count for more than one if they are larger than 1 KiB, so there are fewer. What freeing
//! itself retires comes on top while it lasts.
//! [`Domain::bound`] has the figure, [`Domain::pending`] how many there are.
//!
//! # Who must hold what
//!
//! - Who calls [`Handle::retire`] promises that the object is unlinked: no thread that looks into
//!   the sources from now on finds it.
//! - Who calls [`Hazard::protect`] promises that the source is one of those: what it holds is valid
//!   until it is unlinked and retired in the same domain. A path of several steps needs a second
//!   look at the first: that a node still has its successor does not say that the node is linked.
//!
//! # Panics, leaks and forks
//!
//! If freeing panics, the rest is freed nevertheless, and the panic then goes on to the call of
//! `retire` or `flush` that reclaimed, or to the drop of the handle or domain. It does not go on
//! from the thread-local handle ([`with`]) of a thread that ends. A [`Hazard`] that is forgotten
//! keeps one object until its handle is dropped.
//!
//! After `fork`, the child has the slots of its parent's other threads, as they stood: what they
//! protect is never freed in the child, and what they had retired is not either. Everything works.

use core::cell::{Cell, RefCell};
use core::ptr::{NonNull, null_mut};
use std::sync::Arc;

use crate::atomic::{AtomicPtr, AtomicUsize, Ordering};
use crate::barrier::Barrier;
use crate::mutation::{self, Mutation};
use crate::reclaim::{
    Finally, Garbage, Heavy, Identity, List, Owning, Registry, Retire, Slot, free_all,
    impl_identity, is_freeing, weight,
};

#[cfg(all(test, not(loom)))]
mod tests;

/// A figure, which a model checker need not watch: nothing else comes of it.
type Unwatched = core::sync::atomic::AtomicUsize;

/// Those who share objects, and what they have retired. A clone is the same domain.
///
/// It lives as long as a clone of it or a [`Handle`] does. What is retired and not freed yet is
/// freed when it goes; so what is retired in it must own neither, or both stay for ever.
#[derive(Clone)]
pub struct Domain {
    /// Here and not in what is shared, because each use of an `Atomic` asks for it.
    identity: Identity,
    shared: Arc<Shared>,
}

impl Domain {
    /// One with the barrier of the process, [`Barrier::process`].
    pub fn new() -> Domain {
        Domain::with_barrier(Barrier::process())
    }

    /// One with this barrier.
    pub fn with_barrier(barrier: Barrier) -> Domain {
        let shared = Shared {
            barrier,
            records: Registry::new(),
            left: List::new(),
            handles: Unwatched::new(0),
            handles_most: Unwatched::new(0),
        };
        Domain { identity: Identity::new(), shared: Arc::new(shared) }
    }

    /// Takes part from now on, until the handle is dropped. It looks for a record that is free, in
    /// a list of as many as there ever were at once, and allocates one if there is none.
    pub fn register(&self) -> Handle {
        let first = NonNull::from(self.shared.records.claim(Record::new));
        // Relaxed: who sees what a handle retired has seen it come.
        let before = self.shared.handles.fetch_add(1, Ordering::Relaxed);
        self.shared.handles_most.fetch_max(before + 1, Ordering::Relaxed);
        Handle {
            blocks: RefCell::new(vec![Block { record: first, used: 0 }]),
            retired: RefCell::new(Retired::new()),
            freeing: Cell::new(0),
            first,
            domain: self.clone(),
        }
    }

    /// Its barrier.
    pub fn barrier(&self) -> Barrier {
        self.shared.barrier
    }

    /// How many objects were retired and are not freed yet. Exact if no thread retires meanwhile.
    pub fn pending(&self) -> usize {
        // Relaxed: it says about how much there is.
        let records = self.shared.records.iter();
        let of_handles: usize = records.map(|slot| slot.retired.load(Ordering::Relaxed)).sum();
        of_handles + self.shared.left.count()
    }

    /// How many objects can be retired and not freed at most, with as many handles and slots as
    /// there were at once so far: `(N + 1) * (R + 1024) + H`, see the module.
    ///
    /// ```
    /// use tiebreak_sync::barrier::Barrier;
    /// use tiebreak_sync::hazard::Domain;
    ///
    /// let domain = Domain::with_barrier(Barrier::seq_cst());
    /// let handle = domain.register();
    /// let hazards: Vec<_> = (0..1000).map(|_| handle.hazard()).collect();
    /// assert_eq!(domain.bound(), (1 + 1) * (1024 + 1024) + hazards.len());
    /// ```
    pub fn bound(&self) -> usize {
        let handles = self.shared.handles_most.load(Ordering::Relaxed);
        let slots = self.shared.records.len() * SLOTS;
        let has_tickets = self.shared.barrier.strategy().is_asynchronous();
        let unseen = if has_tickets { SLOW_WEIGHT_MAX } else { BATCH_WEIGHT };
        (handles + 1) * (unseen + BATCH_WEIGHT) + slots
    }

    /// What those who belong to it know it by.
    #[inline(always)]
    pub(crate) fn identity(&self) -> Identity {
        self.identity
    }
}

impl_identity!(Domain);

/// What handles and clones refer to. What is left when it goes, the list frees.
struct Shared {
    barrier: Barrier,
    records: Registry<Record>,
    /// What handles that are gone had retired.
    left: List,
    /// How many handles there are, and how many there were at once.
    handles: Unwatched,
    handles_most: Unwatched,
}

/// How many slots a record has. A handle that needs more claims further records.
#[cfg(not(loom))]
const SLOTS: usize = 8;
/// A model reads each slot, so it has few of them.
#[cfg(loom)]
const SLOTS: usize = 1;

/// One of the list. Only who claimed it writes into it.
struct Record {
    /// What is protected, or null.
    slots: [AtomicPtr<()>; SLOTS],
    /// How many objects its handle has retired that are not freed.
    retired: AtomicUsize,
}

impl Record {
    fn new() -> Record {
        let slots = core::array::from_fn(|_| AtomicPtr::new(null_mut()));
        Record { slots, retired: AtomicUsize::new(0) }
    }

    /// What is protected.
    fn protected(&self) -> impl Iterator<Item = *mut ()> {
        // Acquire: what was read under what the slot held earlier is over.
        let pointers = self.slots.iter().map(|slot| slot.load(Ordering::Acquire));
        pointers.filter(|pointer| !pointer.is_null())
    }

    /// Protects nothing from now on.
    fn clear(&self) {
        for slot in &self.slots {
            // Release: see `protected`.
            slot.store(null_mut(), Ordering::Release);
        }
    }
}

/// This much is looked at together.
const BATCH_WEIGHT: usize = 1024;
/// This much may come together while a heavy side is under way; then it is waited for.
const WAIT_WEIGHT: usize = 8 * BATCH_WEIGHT;
/// The most of a handle that was not looked at: what waits for a barrier, and what came since.
const SLOW_WEIGHT_MAX: usize = 2 * WAIT_WEIGHT;
/// While a heavy side is under way, it is asked whether it is done each time that this much came.
const POLL_WEIGHT: usize = 64;

/// The list of a handle.
struct Retired {
    /// Those that have not been looked at, and those that were protected when they were.
    items: Vec<Garbage>,
    /// The weight of those that have not been looked at.
    fresh: usize,
    /// At which weight there is something to do.
    next: usize,
    /// Those whose heavy side is under way.
    waiting: Option<(Heavy, Vec<Garbage>)>,
}

impl Retired {
    fn new() -> Retired {
        Retired { items: Vec::new(), fresh: 0, next: BATCH_WEIGHT, waiting: None }
    }

    /// Adds an object.
    #[inline]
    fn push(&mut self, garbage: Garbage, weight: usize) {
        self.items.push(garbage);
        self.fresh += weight;
    }

    /// Begins the heavy side for what is there and goes on with one that is under way. Gives what
    /// may be freed. It waits if asked to, or if otherwise more than the bound would come together.
    fn reclaim(&mut self, shared: &Shared, does_wait: bool) -> Vec<Garbage> {
        let mut free = self.finish(shared, does_wait || self.fresh >= WAIT_WEIGHT);
        if self.waiting.is_none() {
            self.begin(shared);
            free.append(&mut self.finish(shared, does_wait));
        }
        self.next = if self.waiting.is_some() { self.fresh + POLL_WEIGHT } else { BATCH_WEIGHT };
        free
    }

    /// Steps 1 and 2. It takes along what handles that are gone have left.
    fn begin(&mut self, shared: &Shared) {
        let mut items = core::mem::take(&mut self.items);
        items.extend(shared.left.take().into_iter().flatten());
        self.fresh = 0;
        if !items.is_empty() {
            let heavy = Heavy::begin(shared.barrier, Mutation::HazardWithoutHeavy);
            self.waiting = Some((heavy, items));
        }
    }

    /// Steps 3 and 4, if the heavy side is done.
    fn finish(&mut self, shared: &Shared, does_wait: bool) -> Vec<Garbage> {
        let Some((mut heavy, items)) = self.waiting.take() else { return Vec::new() };
        if !heavy.poll() {
            if !does_wait {
                self.waiting = Some((heavy, items));
                return Vec::new();
            }
            heavy.wait();
        }
        let mut protected: Vec<_> =
            shared.records.iter().flat_map(|record| record.protected()).collect();
        protected.sort_unstable();
        let (stay, free): (Vec<_>, Vec<_>) =
            items.into_iter().partition(|item| protected.binary_search(&item.address()).is_ok());
        self.items.extend(stay);
        free
    }

    /// Whether there is something to do.
    fn is_due(&self) -> bool {
        self.fresh >= self.next
    }

    /// How many there are.
    fn count(&self) -> usize {
        self.items.len() + self.waiting.as_ref().map_or(0, |(_, items)| items.len())
    }

    /// All that is left, of a handle that goes. What waited for a barrier will wait for another.
    fn into_items(self) -> Vec<Garbage> {
        let mut items = self.items;
        items.extend(self.waiting.into_iter().flat_map(|(_, items)| items));
        items
    }
}

/// A place among those who take part in a [`Domain`]. One thread uses it at a time: it can be sent,
/// and not shared.
///
/// Dropping it gives the place back and hands its garbage on. If 1024 objects were left so, the
/// handle that leaves the last of them reclaims them, and waits for the barrier.
///
/// ```compile_fail,E0277
/// # use tiebreak_sync::hazard::Domain;
/// let handle = Domain::new().register();
/// std::thread::scope(|scope| drop(scope.spawn(|| handle.flush())));
/// ```
pub struct Handle {
    /// The first is there always, and says how much is retired.
    blocks: RefCell<Vec<Block>>,
    retired: RefCell<Retired>,
    /// How many objects are being freed.
    freeing: Cell<usize>,
    first: NonNull<Slot<Record>>,
    domain: Domain,
}

/// A record of the handle, and which of its slots are given out, a bit for each.
struct Block {
    record: NonNull<Slot<Record>>,
    used: u8,
}

const ALL_USED: u8 = u8::MAX >> (8 - SLOTS);

// SAFETY: it owns its records, and the owner of the handle is the only one that writes into them.
// No hazard borrows the handle while it is moved.
unsafe impl Send for Handle {}

impl Handle {
    /// A slot, to protect one object after the other with. It is worth keeping: to take one and to
    /// give it back costs more than to use it.
    pub fn hazard(&self) -> Hazard<'_> {
        let mut blocks = self.blocks.borrow_mut();
        let block = blocks.iter().position(|block| block.used != ALL_USED).unwrap_or_else(|| {
            let record = NonNull::from(self.domain.shared.records.claim(Record::new));
            blocks.push(Block { record, used: 0 });
            blocks.len() - 1
        });
        let index = blocks[block].used.trailing_ones() as usize;
        blocks[block].used |= 1 << index;
        // SAFETY: the record is in the domain's list, and the handle keeps the domain.
        let record = unsafe { blocks[block].record.as_ref() };
        let slot = &record.slots[index];
        Hazard { slot, barrier: self.domain.barrier(), handle: self, block, index }
    }

    /// Drops a box once no hazard protects it.
    ///
    /// # Safety
    /// - `object` came from `Box::into_raw`, is retired once, and nothing else frees it.
    /// - It is unlinked: a thread that looks into the sources from now on does not find it. One
    ///   that reads it has protected it in this domain, by this address.
    /// - If `T` borrows something, that lives longer than the domain.
    ///
    /// A `T` of no size does not compile: its boxes have one address, so to protect one would be to
    /// keep all of them, without a bound.
    ///
    /// ```compile_fail,E0080
    /// # use tiebreak_sync::hazard::Domain;
    /// // SAFETY: it came from a box and was never shared.
    /// unsafe { Domain::new().register().retire(Box::into_raw(Box::new(()))) };
    /// ```
    ///
    /// ```
    /// use std::sync::atomic::{AtomicPtr, Ordering};
    /// use tiebreak_sync::hazard::Domain;
    ///
    /// let handle = Domain::new().register();
    /// let source = AtomicPtr::new(Box::into_raw(Box::new(1)));
    /// let mut hazard = handle.hazard();
    /// // SAFETY: the source holds a box until it is retired below.
    /// let one = unsafe { hazard.protect(&source) }.unwrap();
    /// let old = source.swap(std::ptr::null_mut(), Ordering::AcqRel);
    /// // SAFETY: it came from a box, and the swap took away the only way to it.
    /// unsafe { handle.retire(old) };
    /// handle.flush();
    /// assert_eq!((*one, handle.domain().pending()), (1, 1));
    /// hazard.clear();
    /// handle.flush();
    /// # while handle.domain().pending() > 0 { handle.flush() }
    /// assert_eq!(handle.domain().pending(), 0);
    /// ```
    #[inline]
    pub unsafe fn retire<T: Send>(&self, object: *mut T) {
        const { assert!(size_of::<T>() > 0, "boxes of no size have no addresses of their own") };
        // SAFETY: the caller promises what is needed; `T` is `Send`, so any thread may drop it.
        self.push(unsafe { Garbage::boxed(object) }, size_of::<T>());
    }

    /// Like [`retire`](Self::retire), for objects that are no boxes, or whose parts have gone
    /// elsewhere: `free` is called instead of dropping.
    ///
    /// # Safety
    /// As for [`retire`](Self::retire), but that `free(object)` may be called once, by any thread,
    /// once no hazard protects it.
    #[inline]
    pub unsafe fn retire_with<T>(&self, object: *mut T, free: unsafe fn(*mut T)) {
        // SAFETY: handed on to the caller.
        self.push(unsafe { Garbage::new(object, free) }, size_of::<T>());
    }

    /// Frees what may be freed, if much was kept.
    #[inline]
    pub(crate) fn flush_if_full(&self) {
        if self.retired.borrow().is_due() {
            self.flush();
        }
    }

    #[inline]
    fn push(&self, garbage: Garbage, size_bytes: usize) {
        self.keep(garbage, size_bytes);
        self.flush_if_full();
    }

    /// Retires an object of a size. Nothing is freed now.
    #[inline]
    pub(crate) fn keep(&self, garbage: Garbage, size_bytes: usize) {
        self.retired.borrow_mut().push(garbage, weight(size_bytes));
        self.count();
    }

    /// Frees what this handle has retired and no hazard protects. It does not wait for a barrier
    /// that is done by others ([`Ticket`](crate::barrier::Ticket)): a later call goes on. Every
    /// other barrier it does itself. Inside of what is freed it does nothing.
    #[cold]
    pub fn flush(&self) {
        if is_freeing() {
            return;
        }
        let _done = Finally(|| {
            self.freeing.set(0);
            self.count();
        });
        loop {
            let free = self.retired.borrow_mut().reclaim(&self.domain.shared, false);
            self.freeing.set(free.len());
            free_all(free);
            self.freeing.set(0);
            if !self.retired.borrow().is_due() {
                return;
            }
        }
    }

    /// Tells the others how much there is.
    #[inline]
    fn count(&self) {
        let count = self.retired.borrow().count() + self.freeing.get();
        // SAFETY: as in `hazard`. Relaxed: see `Domain::pending`.
        unsafe { self.first.as_ref() }.retired.store(count, Ordering::Relaxed);
    }

    /// Its domain.
    pub fn domain(&self) -> &Domain {
        &self.domain
    }
}

impl Drop for Handle {
    fn drop(&mut self) {
        let shared = &self.domain.shared;
        // It stays one until it has freed what it frees. Relaxed: see `Domain::register`.
        let _left = Finally(|| {
            shared.handles.fetch_sub(1, Ordering::Relaxed);
        });
        for block in self.blocks.get_mut() {
            // SAFETY: as in `hazard`.
            let record = unsafe { block.record.as_ref() };
            // Hazards that are alive would borrow the handle; those that were forgotten end here.
            record.clear();
            record.retired.store(0, Ordering::Relaxed);
            record.release();
        }
        let items = self.retired.replace(Retired::new()).into_items();
        let count = items.len();
        if count > 0 && shared.left.push(items, count) >= BATCH_WEIGHT && !is_freeing() {
            let mut all = Retired::new();
            let free = all.reclaim(shared, true);
            let stay = all.into_items();
            if !stay.is_empty() {
                let count = stay.len();
                shared.left.push(stay, count);
            }
            free_all(free);
        }
    }
}

impl Retire for Handle {
    const FOREIGN: &'static str = "the handle is of another domain than this one's";

    #[inline(always)]
    fn identity(&self) -> Identity {
        self.domain.identity
    }

    unsafe fn retire<T: Send + 'static>(&self, object: *mut T) {
        // SAFETY: handed on to the caller.
        unsafe { self.retire(object) };
    }
}

impl core::fmt::Debug for Handle {
    fn fmt(&self, formatter: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        formatter.debug_struct("Handle").field("domain", &self.domain).finish_non_exhaustive()
    }
}

/// A slot: it protects one object at a time, for the thread that has the handle.
///
/// ```compile_fail,E0277
/// # use tiebreak_sync::hazard::Domain;
/// let handle = Domain::new().register();
/// let hazard = handle.hazard();
/// std::thread::scope(|scope| drop(scope.spawn(move || drop(hazard))));
/// ```
pub struct Hazard<'h> {
    slot: &'h AtomicPtr<()>,
    barrier: Barrier,
    handle: &'h Handle,
    block: usize,
    index: usize,
}

impl Hazard<'_> {
    /// Protects what the source holds, and gives a reference to it, until this slot is used for
    /// something else or dropped. It looks again until the source has not changed meanwhile.
    ///
    /// # Safety
    /// The source holds null or pointers to objects that are valid, and stay so until, after they
    /// were unlinked from it, they are retired in this domain and no hazard protects them. Who
    /// stored them did so with release.
    #[inline(always)]
    pub unsafe fn protect<T>(&mut self, source: &AtomicPtr<T>) -> Option<&T> {
        // SAFETY: the source held it after it was published, so it is not freed while it is.
        unsafe { self.protect_pointer(source).as_ref() }
    }

    /// As [`protect`](Self::protect); the caller decides what to do with the pointer.
    #[inline(always)]
    pub fn protect_pointer<T>(&mut self, source: &AtomicPtr<T>) -> *mut T {
        // Relaxed: a guess, which is checked below.
        let mut pointer = source.load(Ordering::Relaxed);
        loop {
            self.publish(pointer);
            // Acquire: who stored the pointer had filled what it points to.
            let again = source.load(Ordering::Acquire);
            if again == pointer || mutation::is(Mutation::HazardWithoutReload) {
                return pointer;
            }
            pointer = again;
        }
    }

    /// Publishes a pointer and takes the light side. The object is protected if the caller finds,
    /// after this, that it is still linked.
    #[inline(always)]
    pub fn publish<T>(&mut self, pointer: *mut T) {
        // Release: what was read under the old pointer is over for who reads the new one.
        self.slot.store(pointer.cast(), Ordering::Release);
        self.barrier.light();
    }

    /// Protects nothing any more.
    #[inline(always)]
    pub fn clear(&mut self) {
        // Release: as in `publish`.
        self.slot.store(null_mut(), Ordering::Release);
    }

    /// Whether it is a slot of this domain.
    #[inline(always)]
    pub fn is_of(&self, domain: &Domain) -> bool {
        self.handle.domain == *domain
    }
}

impl Drop for Hazard<'_> {
    fn drop(&mut self) {
        self.clear();
        self.handle.blocks.borrow_mut()[self.block].used &= !(1 << self.index);
    }
}

impl core::fmt::Debug for Hazard<'_> {
    fn fmt(&self, formatter: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        // Relaxed: the address is only shown.
        formatter.debug_tuple("Hazard").field(&self.slot.load(Ordering::Relaxed)).finish()
    }
}

/// A place for a box, or for none, that readers look into while writers replace it. What is
/// replaced is retired. No call of it is unsafe, because nothing else has a way to the boxes.
///
/// It does not keep its domain: what is retired may have such places in itself. A domain that goes
/// frees what was retired; what an `Atomic` still holds goes with the `Atomic`.
///
/// Threads share it as they share `&T` and hand over `T`:
///
/// ```compile_fail,E0277
/// # use tiebreak_sync::hazard::{Atomic, Domain};
/// fn share<T: Sync>(_: T) {}
/// share(Atomic::new(&Domain::new(), Box::new(std::cell::Cell::new(1))));
/// ```
///
/// What it gives out ends when the slot is used again:
///
/// ```compile_fail,E0499
/// # use tiebreak_sync::hazard::{Atomic, Domain};
/// let domain = Domain::new();
/// let atomic = Atomic::new(&domain, Box::new(1));
/// let handle = domain.register();
/// let mut hazard = handle.hazard();
/// let seen = atomic.load(&mut hazard);
/// atomic.load(&mut hazard);
/// println!("{seen:?}");
/// ```
///
/// It tells boxes by their addresses, and all boxes of no size have the same one:
///
/// ```compile_fail,E0080
/// # use tiebreak_sync::hazard::{Atomic, Domain};
/// Atomic::new(&Domain::new(), Box::new(()));
/// ```
pub struct Atomic<T> {
    place: Owning<T>,
}

impl<T: Send + Sync + 'static> Atomic<T> {
    /// With a value from the beginning.
    pub fn new(domain: &Domain, value: Box<T>) -> Atomic<T> {
        Atomic { place: Owning::new(domain.identity(), Some(value)) }
    }

    /// Without one.
    pub fn empty(domain: &Domain) -> Atomic<T> {
        Atomic { place: Owning::new(domain.identity(), None) }
    }

    /// What is there now, until the slot is used for something else.
    ///
    /// # Panics
    /// If the slot is of another domain.
    #[inline]
    pub fn load<'g>(&'g self, hazard: &'g mut Hazard<'_>) -> Option<&'g T> {
        let foreign = "the slot is of another domain than this one's";
        self.place.check(hazard.handle.domain.identity, foreign);
        // SAFETY: it holds null or boxes of ours, which are retired in this domain once they are
        // replaced, or freed with `self`, which is borrowed. They are stored with release.
        unsafe { hazard.protect(self.place.source()) }
    }

    /// Puts another in its place, and retires what was there.
    ///
    /// # Panics
    /// If the handle is of another domain.
    pub fn store(&self, value: Option<Box<T>>, handle: &Handle) {
        self.place.store(value, handle);
    }

    /// Puts another in the place of `current`, as [`load`](Self::load) gave it, and retires that.
    ///
    /// # Errors
    /// If it is another by now, the new one comes back.
    ///
    /// # Panics
    /// If the handle is of another domain.
    pub fn compare_exchange(
        &self,
        current: Option<&T>,
        value: Option<Box<T>>,
        handle: &Handle,
    ) -> Result<(), Option<Box<T>>> {
        self.place.compare_exchange(current, value, handle)
    }
}

impl<T> core::fmt::Debug for Atomic<T> {
    fn fmt(&self, formatter: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        self.place.fmt(formatter)
    }
}

#[cfg(not(loom))]
pub use thread::{domain, with};

/// The domain that everyone has, and a handle of it for each thread.
#[cfg(not(loom))]
mod thread {
    use super::{Domain, Handle};
    use crate::atomic::Published;
    use crate::reclaim::end_quietly;
    use core::mem::ManuallyDrop;

    static DOMAIN: Published<Domain> = Published::none();

    std::thread_local! {
        static OWNER: Owner = Owner::new();
    }

    /// A handle that goes when its thread ends: nothing is there that a panic could go on to.
    struct Owner(ManuallyDrop<Handle>);

    impl Owner {
        fn new() -> Owner {
            Owner(ManuallyDrop::new(domain().register()))
        }
    }

    impl Drop for Owner {
        fn drop(&mut self) {
            // SAFETY: it is taken once, here, and not used any more.
            let handle = unsafe { ManuallyDrop::take(&mut self.0) };
            end_quietly(|| drop(handle));
        }
    }

    /// The domain of [`with`]. It uses the barrier of the process and is never dropped: what is
    /// still retired when the process ends is not freed.
    pub fn domain() -> &'static Domain {
        DOMAIN.get_or_make(Domain::new)
    }

    /// Calls a function with the thread's handle of the domain of the process. The thread registers
    /// at its first call and gives the handle back when it ends; if it calls this once that has
    /// been done, it registers for that one call.
    ///
    /// What is freed while a thread gives its handle back may panic; as no caller is left to which
    /// it could go on, it ends there, after the panic hook has reported it.
    ///
    /// ```
    /// use tiebreak_sync::hazard::{self, Atomic};
    ///
    /// let name = Atomic::new(hazard::domain(), Box::new("first"));
    /// hazard::with(|handle| name.store(Some(Box::new("second")), handle));
    /// let length = hazard::with(|handle| name.load(&mut handle.hazard()).map(|name| name.len()));
    /// assert_eq!(length, Some(6));
    /// ```
    pub fn with<R>(call: impl FnOnce(&Handle) -> R) -> R {
        let mut call = Some(call);
        let mut run = |owner: &Owner| call.take().map(|call| call(&owner.0));
        match OWNER.try_with(&mut run) {
            Ok(Some(result)) => result,
            _ => match run(&Owner::new()) {
                Some(result) => result,
                None => unreachable!("the function was called twice"),
            },
        }
    }
}
