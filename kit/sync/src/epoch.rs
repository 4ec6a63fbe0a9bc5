//! Reclamation by epochs.
//!
//! A reader *pins* while it looks at shared objects; a writer that has unlinked an object *retires*
//! it, and it is freed once no thread is pinned that could have seen it. Pinning and unpinning are
//! two stores of a record that no other thread writes, and no fence: the
//! [`Barrier`](crate::barrier) of the collector lets the thread that frees pay for all.
//!
//! ```
//! use tiebreak_sync::epoch::{Atomic, Collector};
//!
//! let collector = Collector::new();
//! let limits = Atomic::new(&collector, Box::new([10, 20]));
//! std::thread::scope(|scope| {
//!     scope.spawn(|| {
//!         let handle = collector.register();
//!         let guard = handle.pin();
//!         let seen = limits.load(&guard).unwrap();
//!         assert!(*seen == [10, 20] || *seen == [30, 40]);
//!     });
//!     scope.spawn(|| {
//!         let handle = collector.register();
//!         limits.store(Some(Box::new([30, 40])), &handle.pin());
//!     });
//! });
//! ```
//!
//! # How it works
//!
//! ```text
//! pin      record = epoch; light()              retire   put the object into a bag
//! unpin    record = 0
//!
//! collect, one thread at a time:
//!   1  take all bags                            3  heavy()
//!   2  epoch = epoch + 1, call it E             4  wait until every record is 0 or at least E
//!                                               5  free what was taken
//! ```
//!
//! No thread waits in 4: the scan stops at the first reader that is in the way and goes on there
//! the next time that someone collects. In 3, it depends on the barrier
//! ([`Ticket`](crate::barrier::Ticket)). With `barrierd` none waits either: the barrier is begun,
//! and asked again later. With all others the thread that collects does the whole heavy side in the
//! middle of its own `retire`, `defer` or `flush`: some 10 us, and with
//! `membarrier-global-unexpedited` 10 to 50 ms. Those who retire while another thread collects
//! leave it their bags and go on.
//!
//! # Why it is right
//!
//! Let `X` be an object taken in step 1, and `R` a reader: a stretch of one thread from a pin to
//! its unpin. Show that `R` cannot touch `X` after step 5 began. The theorem of
//! [`Barrier`] says that `R`'s light side and the heavy side of step 3 do not miss each other: if
//! only one of the stores before step 3 is missed by `R`, step 4 sees `R`'s store. (Stores of other
//! threads that happened before step 3 count as its own, because a full fence orders them too.) So
//! one of these is true:
//!
//! - `R` sees every store that happened before step 3. `X` was unlinked before it was retired, and
//!   its bag was taken after that, so all stores that unlinked it are among them: `R` finds no way
//!   to `X`.
//! - Step 4 sees that `R` wrote its record, or something newer in that record. Then it sees one of:
//!   - a value below `E`: it waits;
//!   - 0, or a later pin: `R` is over. Both are release stores, made after `R`'s last read, and
//!     step 4 reads with acquire: these reads happened before step 5;
//!   - `R`'s own pin, at `E` or more: `R` read the epoch with acquire from step 2 of this or of a
//!     later collection, which is a release store after step 1. So `R` sees every store that
//!     unlinked `X`, as in the first case.
//!
//! So one epoch is enough where other schemes need two or three: there, each thread stamps its own
//! garbage with an epoch that it read, and that may be an old one. Here only the thread that
//! advances the epoch stamps. And a pin need not read the epoch a second time: a pin with an old
//! epoch is waited for longer than needed, which does no harm.
//!
//! A record that is registered during step 4 belongs to the first case: had it been pinned before
//! the heavy side, the scan would have found it in the list.
//!
//! # Who must hold what
//!
//! - Who calls [`Guard::retire`] promises that the object is unlinked: a thread that pins from now
//!   on finds no way to it. A reader pins the same collector first.
//! - A reader that stays pinned keeps back all that is retired after it pinned, without a bound;
//!   [`Collector::oldest_pin`] says who, and how long at least. Where that must not be, use
//!   [`hazard`](crate::hazard).
//! - Collecting is done by those who retire, once for each 1024 objects (or 64, once a
//!   millisecond), and by `flush`. If no thread retires, what was retired last stays until the
//!   collector is dropped.
//!
//! # Panics, leaks and forks
//!
//! If freeing panics, the rest is freed nevertheless, and the panic then goes on to the call of
//! `retire`, `defer` or `flush` that collected, or to the drop of the handle or collector. It does
//! not go on from the thread-local handle ([`pin`]) of a thread that ends. A [`Guard`] that is
//! forgotten leaves its thread pinned until its handle is dropped, so it leaks and does nothing
//! worse; one of the thread-local handle ([`pin`]) does so for ever.
//!
//! After `fork`, the child has the records of its parent's other threads, as they stood. It may
//! pin, register, retire and exit. If one of those threads was pinned or collecting at the fork,
//! nothing that the child retires is ever freed, and in the second case [`Collector::oldest_pin`]
//! would wait for ever: a child that needs to reclaim makes a collector of its own.

use core::cell::{Cell, RefCell};
use core::marker::PhantomData;
use core::ptr::NonNull;
use std::sync::Arc;
use std::time::{Duration, Instant};

use crate::atomic::{AtomicU64, AtomicUsize, Mutex, Ordering, Padded};
use crate::barrier::Barrier;
use crate::mutation::{self, Mutation};
use crate::reclaim::{
    Finally, Garbage, Heavy, Identity, List, Owning, Registry, Retire, Slot, free_all,
    impl_identity, is_freeing, weight,
};

#[cfg(all(test, not(loom)))]
mod tests;

/// Those who share objects, and what they have retired. A clone is the same collector.
///
/// It lives as long as a clone of it or a [`Handle`] does. What is retired and not freed yet is
/// freed when it goes; so what is retired in it must own neither, or both stay for ever.
///
/// ```
/// use tiebreak_sync::{barrier::Barrier, epoch::Collector};
///
/// let collector = Collector::with_barrier(Barrier::seq_cst());
/// let handle = collector.register();
/// handle.pin().defer(|| println!("no reader holds it any more"));
/// handle.flush();
/// assert_eq!(collector.pending(), 0);
/// ```
#[derive(Clone)]
pub struct Collector {
    shared: Arc<Shared>,
}

/// The pin that has stood longest; see [`Collector::oldest_pin`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct OldestPin {
    /// For how long it has been there, at least.
    pub age: Duration,
    /// Whose it is: the [`Handle::record`] of the handle.
    pub record: usize,
}

impl Collector {
    /// One with the barrier of the process, [`Barrier::process`].
    pub fn new() -> Collector {
        Collector::with_barrier(Barrier::process())
    }

    /// One with this barrier.
    pub fn with_barrier(barrier: Barrier) -> Collector {
        let shared = Shared {
            epoch: Padded(AtomicU64::new(1)),
            identity: Identity::new(),
            barrier,
            records: Registry::new(),
            waiting: List::new(),
            pending: AtomicUsize::new(0),
            cycle: Mutex::new(Cycle::new()),
        };
        Collector { shared: Arc::new(shared) }
    }

    /// Takes part from now on, until the handle is dropped. It looks for a record that is free, in
    /// a list of as many as there ever were at once, and allocates one if there is none.
    pub fn register(&self) -> Handle {
        Handle { slot: NonNull::from(self.shared.claim()), collector: self.clone() }
    }

    /// Its barrier.
    pub fn barrier(&self) -> Barrier {
        self.shared.barrier
    }

    /// How many objects were retired and are not freed yet, up to the bags of the handles: each
    /// keeps back at most 64 before it hands them on.
    pub fn pending(&self) -> usize {
        // Relaxed: it says about how much there is.
        self.shared.pending.load(Ordering::Relaxed)
    }

    /// The pin that has stood longest, if any is pinned.
    ///
    /// A pin reads no clock, so its age is counted from the first advance of the epoch that came
    /// after it: the true one is greater, by the time from the pin to that advance. The epoch
    /// advances when a collection begins, and when this is called while the oldest pin is of the
    /// current epoch: then the age is 0, and later calls count from there. So who asks once a
    /// second knows ages to a second, also if nothing is retired.
    ///
    /// It waits for a thread that is collecting, but not for what that one frees; so it may take as
    /// long as one heavy side.
    ///
    /// ```
    /// use std::time::Duration;
    /// use tiebreak_sync::epoch::Collector;
    ///
    /// let collector = Collector::new();
    /// let handle = collector.register();
    /// assert_eq!(collector.oldest_pin(), None);
    /// let guard = handle.pin();
    /// assert_eq!(collector.oldest_pin().unwrap().record, handle.record());
    /// std::thread::sleep(Duration::from_millis(5));
    /// assert!(collector.oldest_pin().unwrap().age >= Duration::from_millis(5));
    /// # drop(guard);
    /// ```
    pub fn oldest_pin(&self) -> Option<OldestPin> {
        let mut cycle = self.shared.cycle.lock().unwrap_or_else(|broken| broken.into_inner());
        let (record, since) = cycle.oldest_pin(&self.shared)?;
        Some(OldestPin { age: since.elapsed(), record })
    }

    /// What those who belong to it know it by.
    pub(crate) fn identity(&self) -> Identity {
        self.shared.identity
    }
}

impl_identity!(Collector);

/// What handles and clones refer to.
struct Shared {
    /// Odd; it only grows. Read at each pin, while what stands next to it changes often. Written
    /// under the lock of `cycle` only.
    epoch: Padded<AtomicU64>,
    identity: Identity,
    barrier: Barrier,
    records: Registry<Record>,
    waiting: List,
    pending: AtomicUsize,
    cycle: Mutex<Cycle>,
}

impl Shared {
    fn claim(&self) -> &Slot<Record> {
        self.records.claim(|| Record::new(self))
    }

    #[inline(always)]
    fn epoch(&self) -> u64 {
        // Acquire: who pins at this epoch sees all that was unlinked before it began.
        self.epoch.0.load(Ordering::Acquire)
    }

    /// Adds a bag to what waits.
    fn hand_on(&self, bag: Vec<Garbage>, weight: usize) {
        // Relaxed: see `Collector::pending`.
        self.pending.fetch_add(bag.len(), Ordering::Relaxed);
        self.waiting.push(bag, weight);
    }

    /// One step of collecting, unless another thread is at it. Freeing is done outside the lock.
    fn collect(&self, is_forced: bool) {
        // A lock that a panic broke is left alone: what is retired leaks.
        let Ok(mut cycle) = self.cycle.try_lock() else { return };
        let ready = cycle.step(self, is_forced);
        drop(cycle);
        let count = ready.iter().map(Vec::len).sum();
        // Relaxed: see `Collector::pending`.
        self.pending.fetch_sub(count, Ordering::Relaxed);
        free_all(ready.into_iter().flatten());
    }
}

impl Drop for Shared {
    fn drop(&mut self) {
        let cycle = core::mem::replace(&mut self.cycle, Mutex::new(Cycle::new()));
        let cycle = cycle.into_inner().unwrap_or_else(|broken| broken.into_inner());
        let rest = cycle.into_garbage().into_iter().chain(self.waiting.take());
        free_all(rest.flatten());
    }
}

/// A collection begins once this much waits,
const DUE_WEIGHT: usize = 1024;
/// or once this much time has passed since the last one began and a bag is full.
const DUE_AFTER: Duration = Duration::from_millis(1);

/// Between two values of the epoch, which is odd so that it is never 0.
const EPOCH_STEP: u64 = 2;

/// The state of collecting.
struct Cycle {
    grace: Option<Grace>,
    began: Option<Instant>,
    /// The advances that say how old pins are at least: epochs, and when each began.
    advances: Vec<(u64, Instant)>,
}

/// A grace period that is under way.
struct Grace {
    epoch: u64,
    stage: Stage,
    bags: Vec<Vec<Garbage>>,
}

enum Stage {
    /// The heavy side is under way.
    Barrier(Heavy),
    /// The records with a smaller number are still to be seen.
    Scan(usize),
}

impl Cycle {
    fn new() -> Cycle {
        Cycle { grace: None, began: None, advances: Vec::new() }
    }

    /// Goes on with the grace period that is under way and begins the next if it is time to. Gives
    /// what may be freed now.
    fn step(&mut self, shared: &Shared, is_forced: bool) -> Vec<Vec<Garbage>> {
        let mut ready = self.go_on(shared);
        if self.grace.is_none() && self.is_due(shared, is_forced) {
            self.begin(shared);
            ready.append(&mut self.go_on(shared));
        }
        ready
    }

    fn is_due(&self, shared: &Shared, is_forced: bool) -> bool {
        match shared.waiting.weight() {
            0 => false,
            weight if is_forced || weight >= DUE_WEIGHT => true,
            _ => self.began.is_none_or(|began| began.elapsed() >= DUE_AFTER),
        }
    }

    /// Steps 1 to 3, in this order.
    fn begin(&mut self, shared: &Shared) {
        let early = mutation::is(Mutation::EpochAdvanceFirst).then(|| self.advance(shared));
        let bags = shared.waiting.take();
        let (epoch, now) = early.unwrap_or_else(|| self.advance(shared));
        self.began = Some(now);
        let heavy = Heavy::begin(shared.barrier, Mutation::EpochWithoutHeavy);
        self.grace = Some(Grace { epoch, stage: Stage::Barrier(heavy), bags });
    }

    /// The next epoch. Done under the lock only, so no two threads advance at once.
    fn advance(&mut self, shared: &Shared) -> (u64, Instant) {
        let epoch = shared.epoch() + EPOCH_STEP;
        // Release: see `Shared::epoch`.
        shared.epoch.0.store(epoch, Ordering::Release);
        // After the store: who reads the epoch before it pinned earlier than this.
        let now = Instant::now();
        self.advances.push((epoch, now));
        (epoch, now)
    }

    /// Step 4, as far as it goes. Gives what was taken if it is complete.
    fn go_on(&mut self, shared: &Shared) -> Vec<Vec<Garbage>> {
        let is_complete = self.grace.as_mut().is_some_and(|grace| grace.is_complete(shared));
        let Some(grace) = self.grace.take_if(|_| is_complete) else { return Vec::new() };
        // Every reader that was pinned before this epoch has unpinned. A reader that loaded an
        // older one, and publishes it only now, holds nothing of this period: its age counts from a
        // later advance, which also came after it began to pin.
        self.advances.retain(|&(epoch, _)| epoch > grace.epoch);
        grace.bags
    }

    /// Since when, at least, the oldest pin stands, and whose it is. If that is not known yet,
    /// because the epoch is still the one that was pinned, it advances, and is known from now on.
    fn oldest_pin(&mut self, shared: &Shared) -> Option<(usize, Instant)> {
        let pins = shared.records.iter().map(|slot| (slot.pinned_epoch(), slot.number()));
        let Some((oldest, number)) = pins.filter(|&(epoch, _)| epoch != 0).min() else {
            self.advances.clear();
            return None;
        };
        self.advances.retain(|&(epoch, _)| epoch > oldest);
        if self.advances.is_empty() {
            self.advance(shared);
        }
        Some((number, self.advances[0].1))
    }

    /// Everything that was taken and is not freed yet.
    fn into_garbage(self) -> Vec<Vec<Garbage>> {
        self.grace.map_or(Vec::new(), |grace| grace.bags)
    }
}

impl Grace {
    /// Looks at the records from where it stopped. It stops at the first that is in the way.
    fn is_complete(&mut self, shared: &Shared) -> bool {
        if let Stage::Barrier(heavy) = &mut self.stage {
            if !heavy.poll() {
                return false;
            }
            self.stage = Stage::Scan(usize::MAX);
        }
        let Stage::Scan(below) = &mut self.stage else { return false };
        // A record that is newer than the scan was not pinned before the barrier; see the module.
        let first = if mutation::is(Mutation::EpochOneTooFew) {
            self.epoch - EPOCH_STEP
        } else {
            self.epoch
        };
        let limit = *below;
        for slot in shared.records.iter().filter(|slot| slot.number() < limit) {
            let epoch = slot.pinned_epoch();
            if epoch != 0 && epoch < first {
                *below = slot.number() + 1;
                return false;
            }
        }
        true
    }
}

/// A bag of this weight is handed on.
const BAG_WEIGHT: usize = 64;

/// Set in `depth` once the handle is gone: the last guard gives the record back.
const IS_ORPHAN: u64 = 1 << 63;

/// One of the list. Its owner is the thread that claimed its slot; all but `pin` is the owner's.
struct Record {
    /// 0 if not pinned, else the epoch, which is odd. Written by the owner only.
    pin: AtomicU64,
    barrier: Barrier,
    /// That of the collector, here because each use of an `Atomic` asks for it.
    identity: Identity,
    shared: NonNull<Shared>,
    /// How many guards there are, and `IS_ORPHAN`.
    depth: Cell<u64>,
    bag: RefCell<Vec<Garbage>>,
    bag_weight: Cell<usize>,
}

// SAFETY: `pin` is an atomic, and `barrier`, `identity` and `shared` do not
// change. The rest is touched by the
// owner only: claiming and giving back a slot hand it from one owner to the next with acquire and
// release. `Handle` and `Guard`, through which owners act, are not `Sync`, and a `Handle` cannot be
// sent while it is borrowed by a `Guard`, which is not `Send`.
unsafe impl Sync for Record {}
// SAFETY: as above; what is in the bag is `Send`, and `shared` outlives the record: it owns it.
unsafe impl Send for Record {}

impl Record {
    fn new(shared: &Shared) -> Record {
        Record {
            pin: AtomicU64::new(0),
            barrier: shared.barrier,
            identity: shared.identity,
            shared: NonNull::from(shared),
            depth: Cell::new(0),
            bag: RefCell::new(Vec::new()),
            bag_weight: Cell::new(0),
        }
    }

    /// The collector whose list this record is in.
    #[inline(always)]
    fn shared(&self) -> &Shared {
        // SAFETY: the collector owns its records, so it is there as long as this one is.
        unsafe { self.shared.as_ref() }
    }

    /// What others see: 0, or the epoch of the pin.
    fn pinned_epoch(&self) -> u64 {
        // Acquire: what the owner read before it stored this is over.
        self.pin.load(Ordering::Acquire)
    }

    #[inline(always)]
    fn publish(&self, epoch: u64) {
        // Release: what was read under an earlier pin of this record is over for who reads this.
        self.pin.store(epoch, Ordering::Release);
        self.barrier.light();
    }

    /// One more guard.
    #[inline(always)]
    fn enter(&self) {
        let depth = self.depth.get();
        self.depth.set(depth + 1);
        if depth == 0 {
            self.publish(self.shared().epoch());
        }
    }

    /// One guard less.
    #[inline(always)]
    fn leave(slot: &Slot<Record>) {
        let depth = slot.depth.get();
        slot.depth.set(depth - 1);
        if depth == 1 {
            // Release: what was read under this pin is over for who reads this.
            slot.pin.store(0, Ordering::Release);
        } else if depth == IS_ORPHAN + 1 {
            Record::retreat_at_the_end(slot);
        }
    }

    /// Begins the pin anew if there is one guard only.
    #[inline]
    fn renew(&self) {
        let epoch = self.shared().epoch();
        // Relaxed: the owner reads its own store. With the same epoch, the pin that is there will
        // do.
        if self.depth.get() & !IS_ORPHAN == 1 && self.pin.load(Ordering::Relaxed) != epoch {
            self.publish(epoch);
        }
    }

    /// Puts an object of a size into the bag, and hands the bag on if it is full.
    #[inline]
    fn retire(&self, garbage: Garbage, size_bytes: usize) {
        self.keep(garbage, size_bytes);
        self.flush_if_full();
    }

    /// Puts an object of a size into the bag. Nothing is freed now.
    #[inline]
    fn keep(&self, garbage: Garbage, size_bytes: usize) {
        self.bag_weight.set(self.bag_weight.get() + weight(size_bytes));
        let mut bag = self.bag.borrow_mut();
        if bag.capacity() == 0 {
            bag.reserve_exact(BAG_WEIGHT);
        }
        bag.push(garbage);
    }

    /// Hands the bag on if it is full, and collects if it is time to.
    #[inline]
    fn flush_if_full(&self) {
        if self.bag_weight.get() >= BAG_WEIGHT {
            self.flush(false);
        }
    }

    /// Hands the bag on, and collects: if it is time to, or in any case. A thread that is in the
    /// middle of freeing does not.
    #[cold]
    fn flush(&self, is_forced: bool) {
        let bag = self.bag.take();
        if !bag.is_empty() {
            self.shared().hand_on(bag, self.bag_weight.replace(0));
        }
        if !is_freeing() {
            self.shared().collect(is_forced);
        }
    }

    /// The handle goes: unpins, whatever guards were forgotten, and gives the record back.
    fn retreat(slot: &Slot<Record>) {
        // Release: as in `leave`.
        slot.pin.store(0, Ordering::Release);
        slot.depth.set(0);
        let _released = Finally(|| slot.release());
        slot.flush(false);
    }

    /// As `retreat`, at the end of the thread: nothing is there that a panic could go on to.
    #[cold]
    fn retreat_at_the_end(slot: &Slot<Record>) {
        #[cfg(not(loom))]
        crate::reclaim::end_quietly(|| Record::retreat(slot));
        // A model has no thread-local handles.
        #[cfg(loom)]
        Record::retreat(slot);
    }

    /// The thread-local handle goes: guards may be alive, then the last one gives the record back.
    #[cfg(not(loom))]
    fn abandon(slot: &Slot<Record>) {
        if slot.depth.get() == 0 {
            Record::retreat_at_the_end(slot);
        } else {
            slot.depth.set(slot.depth.get() | IS_ORPHAN);
        }
    }
}

/// A place among those who take part in a [`Collector`]. One thread uses it at a time: it can be
/// sent, and not shared.
///
/// Dropping it gives the place back and hands its garbage on.
///
/// ```
/// # use tiebreak_sync::epoch::Collector;
/// let handle = Collector::new().register();
/// std::thread::spawn(move || drop(handle.pin())).join().unwrap();
/// ```
///
/// ```compile_fail,E0277
/// # use tiebreak_sync::epoch::Collector;
/// let handle = Collector::new().register();
/// std::thread::scope(|scope| drop(scope.spawn(|| handle.pin().flush())));
/// ```
pub struct Handle {
    slot: NonNull<Slot<Record>>,
    collector: Collector,
}

// SAFETY: it owns its record, and the owner of the handle is the only one that touches the owner's
// part of it. No guard borrows the handle while it is moved.
unsafe impl Send for Handle {}

impl Handle {
    #[inline(always)]
    fn slot(&self) -> &Slot<Record> {
        // SAFETY: the collector owns the slot, and the handle keeps the collector.
        unsafe { self.slot.as_ref() }
    }

    /// Pins: what is reachable from now on stays, until the guard is dropped. Pins nest, and inner
    /// ones cost a count only; the outermost decides.
    #[inline(always)]
    pub fn pin(&self) -> Guard<'_> {
        self.slot().enter();
        // SAFETY: `enter` was called, and the handle, which is borrowed, keeps the collector.
        unsafe { Guard::new(self.slot) }
    }

    /// Hands on what this handle has retired, and does one step of collecting, unless another
    /// thread is at it. It does not wait for readers: what they hold is freed by a later call. It
    /// may do a heavy side of the barrier. Inside of what is freed it only hands on: what is freed
    /// there would make a long chain of objects a deep recursion.
    pub fn flush(&self) {
        self.slot().flush(true);
    }

    /// Frees what may be freed, if much was kept.
    #[inline]
    pub(crate) fn flush_if_full(&self) {
        self.slot().flush_if_full();
    }

    /// Its number in the collector, as [`OldestPin`] tells it.
    pub fn record(&self) -> usize {
        self.slot().number()
    }

    /// Its collector.
    pub fn collector(&self) -> &Collector {
        &self.collector
    }
}

impl Drop for Handle {
    fn drop(&mut self) {
        // Guards that are alive would borrow the handle. References that a forgotten guard gave out
        // borrowed it too, so there are none any more.
        Record::retreat(self.slot());
    }
}

impl core::fmt::Debug for Handle {
    fn fmt(&self, formatter: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        formatter.debug_struct("Handle").field("record", &self.record()).finish_non_exhaustive()
    }
}

/// A pin: as long as it is there, what its thread can reach is not freed. It belongs to its thread.
///
/// ```compile_fail,E0277
/// # use tiebreak_sync::epoch;
/// let guard = epoch::pin();
/// std::thread::scope(|scope| drop(scope.spawn(move || drop(guard))));
/// ```
pub struct Guard<'h> {
    slot: NonNull<Slot<Record>>,
    handle: PhantomData<&'h Handle>,
}

impl<'h> Guard<'h> {
    /// # Safety
    /// `Record::enter` was called on this slot for it, by the slot's owner, and the collector lives
    /// as long as `'h`.
    #[inline(always)]
    unsafe fn new(slot: NonNull<Slot<Record>>) -> Guard<'h> {
        Guard { slot, handle: PhantomData }
    }

    #[inline(always)]
    fn slot(&self) -> &Slot<Record> {
        // SAFETY: the slot lives as long as its collector, which lives as long as `'h`.
        unsafe { self.slot.as_ref() }
    }

    /// Calls a function once everyone who is pinned now has unpinned. Which thread calls it, and
    /// whether in the middle of a `retire` of its own, is open. It allocates if the function has
    /// captured something.
    ///
    /// ```
    /// use tiebreak_sync::epoch;
    ///
    /// let file = tempfile::NamedTempFile::new()?;
    /// epoch::pin().defer(move || drop(file));
    /// # Ok::<(), std::io::Error>(())
    /// ```
    pub fn defer<F: FnOnce() + Send + 'static>(&self, call: F) {
        self.slot().retire(Garbage::closure(call), size_of::<F>());
    }

    /// Drops a box once everyone who is pinned now has unpinned.
    ///
    /// # Safety
    /// - `object` came from `Box::into_raw`, is retired once, and nothing else frees it.
    /// - It is unlinked: a thread that pins this collector from now on finds no way to it. One that
    ///   reads it was pinned before, and read it under that pin.
    /// - If `T` borrows something, that lives longer than the collector.
    ///
    /// ```
    /// use std::sync::atomic::{AtomicPtr, Ordering};
    /// use tiebreak_sync::epoch;
    ///
    /// let shared = AtomicPtr::new(Box::into_raw(Box::new(1)));
    /// let guard = epoch::pin();
    /// let old = shared.swap(Box::into_raw(Box::new(2)), Ordering::AcqRel);
    /// // SAFETY: it came from a box, and the swap took away the only way to it.
    /// unsafe { guard.retire(old) };
    /// # drop(unsafe { Box::from_raw(shared.into_inner()) });
    /// ```
    #[inline]
    pub unsafe fn retire<T: Send>(&self, object: *mut T) {
        // SAFETY: the caller promises what is needed; `T` is `Send`, so any thread may drop it.
        self.slot().retire(unsafe { Garbage::boxed(object) }, size_of::<T>());
    }

    /// Like [`retire`](Self::retire), for objects that are no boxes, or whose parts have gone
    /// elsewhere: `free` is called instead of dropping.
    ///
    /// # Safety
    /// As for [`retire`](Self::retire), but that `free(object)` may be called once, by any thread,
    /// once everyone who is pinned now has unpinned.
    #[inline]
    pub unsafe fn retire_with<T>(&self, object: *mut T, free: unsafe fn(*mut T)) {
        // SAFETY: handed on to the caller.
        self.slot().retire(unsafe { Garbage::new(object, free) }, size_of::<T>());
    }

    /// Puts an object of a size into the bag. Nothing is freed now.
    #[inline]
    pub(crate) fn keep(&self, garbage: Garbage, size_bytes: usize) {
        self.slot().keep(garbage, size_bytes);
    }

    /// As [`Handle::flush`].
    pub fn flush(&self) {
        self.slot().flush(true);
    }

    /// As if it were dropped and pinned anew, in place; what was read under it is given up. With
    /// other guards of the same handle alive it does nothing. It costs a load if the epoch is still
    /// the same.
    #[inline]
    pub fn repin(&mut self) {
        self.slot().renew();
    }

    /// Whether it pins this collector.
    #[inline(always)]
    pub fn is_of(&self, collector: &Collector) -> bool {
        self.slot().identity == collector.shared.identity
    }
}

impl Retire for Guard<'_> {
    const FOREIGN: &'static str = "the guard pins another collector than this one's";

    #[inline(always)]
    fn identity(&self) -> Identity {
        self.slot().identity
    }

    unsafe fn retire<T: Send + 'static>(&self, object: *mut T) {
        // SAFETY: handed on to the caller.
        unsafe { self.retire(object) };
    }
}

impl Drop for Guard<'_> {
    #[inline(always)]
    fn drop(&mut self) {
        Record::leave(self.slot());
    }
}

impl core::fmt::Debug for Guard<'_> {
    fn fmt(&self, formatter: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        formatter.debug_struct("Guard").field("record", &self.slot().number()).finish()
    }
}

/// A place for a box, or for none, that readers look into while writers replace it. What is
/// replaced is retired. No call of it is unsafe, because nothing else has a way to the boxes.
///
/// It does not keep its collector: what is retired may have such places in itself. A collector that
/// goes frees what was retired; what an `Atomic` still holds goes with the `Atomic`. So a long
/// chain through such places is dropped by a deep recursion, as one of boxes is: take it apart in a
/// loop.
///
/// Threads share it as they share `&T` and hand over `T`:
///
/// ```compile_fail,E0277
/// # use tiebreak_sync::epoch::{Atomic, Collector};
/// fn share<T: Sync>(_: T) {}
/// share(Atomic::new(&Collector::new(), Box::new(std::cell::Cell::new(1))));
/// ```
///
/// What it gives out ends with the guard:
///
/// ```compile_fail,E0505
/// # use tiebreak_sync::epoch::{Atomic, Collector};
/// let collector = Collector::new();
/// let atomic = Atomic::new(&collector, Box::new(1));
/// let handle = collector.register();
/// let guard = handle.pin();
/// let seen = atomic.load(&guard);
/// drop(guard);
/// println!("{seen:?}");
/// ```
///
/// It tells boxes by their addresses, and all boxes of no size have the same one:
///
/// ```compile_fail,E0080
/// # use tiebreak_sync::epoch::{Atomic, Collector};
/// Atomic::new(&Collector::new(), Box::new(()));
/// ```
pub struct Atomic<T> {
    place: Owning<T>,
}

impl<T: Send + Sync + 'static> Atomic<T> {
    /// With a value from the beginning.
    pub fn new(collector: &Collector, value: Box<T>) -> Atomic<T> {
        Atomic { place: Owning::new(collector.identity(), Some(value)) }
    }

    /// Without one.
    pub fn empty(collector: &Collector) -> Atomic<T> {
        Atomic { place: Owning::new(collector.identity(), None) }
    }

    /// What is there now.
    ///
    /// # Panics
    /// If the guard pins another collector; as do the others.
    #[inline]
    pub fn load<'g>(&'g self, guard: &'g Guard<'_>) -> Option<&'g T> {
        self.place.check(guard.identity(), Guard::FOREIGN);
        // Acquire: who stored the box had filled it.
        let pointer = self.place.source().load(Ordering::Acquire);
        // SAFETY: null or a box of ours. It is freed once it is replaced and this guard is gone, or
        // with `self`, which is borrowed.
        unsafe { pointer.as_ref() }
    }

    /// Puts another in its place, and retires what was there.
    pub fn store(&self, value: Option<Box<T>>, guard: &Guard<'_>) {
        self.place.store(value, guard);
    }

    /// Puts another in the place of `current`, as [`load`](Self::load) gave it under this guard,
    /// and retires that.
    ///
    /// # Errors
    /// If it is another by now, the new one comes back.
    pub fn compare_exchange(
        &self,
        current: Option<&T>,
        value: Option<Box<T>>,
        guard: &Guard<'_>,
    ) -> Result<(), Option<Box<T>>> {
        self.place.compare_exchange(current, value, guard)
    }
}

impl<T> core::fmt::Debug for Atomic<T> {
    fn fmt(&self, formatter: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        self.place.fmt(formatter)
    }
}

#[cfg(not(loom))]
pub use thread::{collector, pin};

/// The collector that everyone has, and a handle of it for each thread.
#[cfg(not(loom))]
mod thread {
    use super::{Collector, Guard, Record};
    use crate::atomic::Published;
    use crate::reclaim::Slot;
    use core::cell::Cell;
    use core::ptr::{NonNull, null_mut};

    static COLLECTOR: Published<Collector> = Published::none();

    std::thread_local! {
        /// The record of this thread, or null. It has no destructor, so finding it is one load.
        static SLOT: Cell<*mut Slot<Record>> = const { Cell::new(null_mut()) };
        /// Gives the record back when the thread ends.
        static OWNER: Owner = const { Owner };
    }

    struct Owner;

    impl Drop for Owner {
        fn drop(&mut self) {
            if let Some(slot) = NonNull::new(SLOT.replace(null_mut())) {
                // SAFETY: the collector is never dropped, so its slots live for ever.
                Record::abandon(unsafe { slot.as_ref() });
            }
        }
    }

    /// The collector of [`pin`]. It uses the barrier of the process and is never dropped: what is
    /// still retired when the process ends is not freed.
    pub fn collector() -> &'static Collector {
        COLLECTOR.get_or_make(Collector::new)
    }

    /// Pins the collector of the process, by a handle that the thread registers at its first call
    /// and gives back when it ends. A thread that ends, and pins once that has been done, registers
    /// for that one pin.
    ///
    /// What is freed while a thread gives its handle back may panic; as no caller is left to which
    /// it could go on, it ends there, after the panic hook has reported it.
    ///
    /// ```
    /// use tiebreak_sync::epoch;
    ///
    /// let guard = epoch::pin();
    /// guard.defer(|| ());
    /// assert!(guard.is_of(epoch::collector()));
    /// ```
    #[inline(always)]
    pub fn pin() -> Guard<'static> {
        let Some(slot) = NonNull::new(SLOT.get()) else { return pin_anew() };
        // SAFETY: the collector is never dropped, so its slots live for ever.
        unsafe { slot.as_ref() }.enter();
        // SAFETY: `enter` was called, by the thread whose slot it is.
        unsafe { Guard::new(slot) }
    }

    #[cold]
    fn pin_anew() -> Guard<'static> {
        let slot = collector().shared.claim();
        slot.enter();
        // To touch the owner is to have it dropped when the thread ends.
        if OWNER.try_with(|_| ()).is_ok() {
            SLOT.set(core::ptr::from_ref(slot).cast_mut());
        } else {
            Record::abandon(slot);
        }
        // SAFETY: `enter` was called, by the thread that claimed the slot.
        unsafe { Guard::new(NonNull::from(slot)) }
    }
}
