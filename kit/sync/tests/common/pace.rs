//! What both harnesses of litmus tests are made of.

use std::sync::atomic::AtomicU64;

/// A control with fewer forbidden outcomes than this has shown nothing, and nor has the run.
pub const CONTROL_MIN: u64 = 100;

/// A word with its cache line, and the next that prefetchers bring along, to itself.
#[repr(align(256))]
#[derive(Default)]
pub struct Word(pub AtomicU64);

/// Marsaglia's xorshift (2003), enough for delays.
pub struct Random(pub u64);

impl Random {
    pub fn below(&mut self, bound: u64) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        self.0 % bound
    }
}

/// A step is some tenths of a nanosecond.
pub fn wait_steps(steps: u64) {
    for step in 0..steps {
        std::hint::black_box(step);
    }
}

/// Spins until it is so, and offers the CPU to others now and then.
pub fn spin_until(mut is_so: impl FnMut() -> bool) {
    let mut spins = 0_u32;
    while !is_so() {
        spins = spins.wrapping_add(1);
        if spins.is_multiple_of(2000) {
            std::thread::yield_now();
        }
        std::hint::spin_loop();
    }
}
