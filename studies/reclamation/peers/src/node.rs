//! What is read, replaced and freed: an object that knows whether it is whole.

use std::sync::atomic::{AtomicBool, AtomicI64, AtomicPtr, Ordering};

/// Two words that belong together. One that was freed does not give the key any more.
pub struct Node {
    value: u64,
    seal: u64,
}

/// Whether objects are counted: only when an answer is dumped, never while something is timed.
static IS_COUNTING: AtomicBool = AtomicBool::new(false);
static ALIVE: AtomicI64 = AtomicI64::new(0);
static PEAK: AtomicI64 = AtomicI64::new(0);

impl Node {
    #[inline(always)]
    pub fn new(key: u64, number: u64) -> Box<Node> {
        count(1);
        let value = number.wrapping_mul(0x9e37_79b9_7f4a_7c15);
        Box::new(Node { value, seal: value ^ key })
    }

    /// The key, if this is a whole object.
    #[inline(always)]
    pub fn read(&self) -> u64 {
        self.value ^ self.seal
    }
}

impl Drop for Node {
    #[inline(always)]
    fn drop(&mut self) {
        count(-1);
        // SAFETY: two fields that may be written. Volatile, so that it is done though no code reads
        // them any more, or none should.
        unsafe {
            (&raw mut self.value).write_volatile(0xdead);
            (&raw mut self.seal).write_volatile(0);
        }
    }
}

#[inline(always)]
fn count(change: i64) {
    // Relaxed: a switch that is set and looked at by one thread, but for what others free late.
    if IS_COUNTING.load(Ordering::Relaxed) {
        count_change(change);
    }
}

#[cold]
fn count_change(change: i64) {
    // Relaxed: numbers, with nothing behind them.
    let alive = ALIVE.fetch_add(change, Ordering::Relaxed) + change;
    PEAK.fetch_max(alive, Ordering::Relaxed);
}

/// The most objects that were there at once while `work` ran, above those that were there before.
pub fn peak(work: impl FnOnce()) -> i64 {
    // Relaxed: as in `count`.
    ALIVE.store(0, Ordering::Relaxed);
    PEAK.store(0, Ordering::Relaxed);
    IS_COUNTING.store(true, Ordering::Relaxed);
    work();
    IS_COUNTING.store(false, Ordering::Relaxed);
    PEAK.load(Ordering::Relaxed)
}

/// The shared pointer of those who take a bare one. The last object is dropped with it.
#[allow(dead_code, reason = "some contestants have a pointer of their own kind")]
pub struct Current(pub AtomicPtr<Node>);

#[allow(dead_code, reason = "as above")]
impl Current {
    pub fn new(first: Box<Node>) -> Current {
        Current(AtomicPtr::new(Box::into_raw(first)))
    }

    /// Puts another object there, and gives the old one, which came from a box.
    #[inline(always)]
    pub fn swap(&self, next: Box<Node>) -> *mut Node {
        // Release: who finds the new one finds it filled. Acquire: so do we with the old one.
        self.0.swap(Box::into_raw(next), Ordering::AcqRel)
    }
}

impl Drop for Current {
    fn drop(&mut self) {
        // SAFETY: it came from a box, and no other thread has the pointer any more.
        drop(unsafe { Box::from_raw(*self.0.get_mut()) });
    }
}
