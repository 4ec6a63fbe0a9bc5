//! What goes through memory: one function a kernel, with the widest vectors that this CPU has.

#[cfg(target_arch = "aarch64")]
mod arm;
#[cfg(target_arch = "x86_64")]
mod x86;

use crate::Traffic;

/// Every start and every length is a multiple of this.
pub(super) const BLOCK_BYTES: usize = 4096;

/// The bytes of a cache line, of which `touch` reads one.
const LINE_BYTES: usize = 64;

/// The kernels with vectors of one kind.
///
/// All pointers are aligned to 64 bytes and all lengths are multiples of [`BLOCK_BYTES`].
#[derive(Clone, Copy, Debug)]
pub(super) struct Vectors {
    /// `AVX-512`.
    pub name: &'static str,
    read: unsafe fn(*const u8, usize) -> u64,
    write: unsafe fn(*mut u8, usize),
    fill: unsafe fn(*mut u8, usize),
    copy: unsafe fn(*const u8, *mut u8, usize),
    copy_past: unsafe fn(*const u8, *mut u8, usize),
}

impl Vectors {
    /// The widest that this CPU has.
    pub(super) fn widest() -> Vectors {
        Vectors::all()[0]
    }

    /// All that this CPU has, the widest first.
    fn all() -> Vec<Vectors> {
        let mut found = Vec::new();
        #[cfg(target_arch = "x86_64")]
        found.extend(x86::all());
        #[cfg(target_arch = "aarch64")]
        found.push(arm::NEON);
        found.push(WORDS);
        found
    }

    /// Lets a kernel go through `bytes` of a buffer whose halves lie `half` bytes apart; a copy
    /// reads half of them from the first half and writes as many into the second.
    ///
    /// # Safety
    /// `at` is aligned to 64 bytes and valid for reads and writes of `bytes`, a multiple of twice
    /// [`BLOCK_BYTES`]; for a copy `at` and `at + half` are, of half as many. Nobody else uses
    /// them.
    pub(super) unsafe fn run(&self, by: Traffic, at: *mut u8, half: usize, bytes: usize) -> u64 {
        // SAFETY: the caller keeps to the same conditions, and this CPU has the instructions.
        unsafe {
            match by {
                Traffic::Touch => return touch(at, bytes),
                Traffic::Read => return (self.read)(at, bytes),
                Traffic::Write => (self.write)(at, bytes),
                Traffic::Fill => (self.fill)(at, bytes),
                Traffic::Copy => (self.copy)(at, at.add(half), bytes / 2),
                Traffic::CopyPast => (self.copy_past)(at, at.add(half), bytes / 2),
            }
        }
        0
    }
}

/// The published kernel (Lemire 2024): one value of each line, summed, in plain code.
///
/// # Safety
/// `from` is valid for reads of `bytes`.
unsafe fn touch(from: *const u8, bytes: usize) -> u64 {
    // SAFETY: the caller promises it.
    let data = unsafe { std::slice::from_raw_parts(from, bytes) };
    data.iter().step_by(LINE_BYTES).map(|byte| u64::from(*byte)).sum()
}

/// Words of 64 bits, for CPUs whose vectors are not known here.
const WORDS: Vectors = Vectors {
    name: "64-bit words",
    read: words::read,
    write: words::write,
    fill: words::write,
    copy: words::copy,
    copy_past: words::copy,
};

mod words {
    //! Without vectors. Stores are volatile so that the compiler does not call the C library.

    /// # Safety
    /// As [`super::Vectors::run`].
    pub(super) unsafe fn read(from: *const u8, bytes: usize) -> u64 {
        let mut sums = [0_u64; 4];
        for at in (0..bytes).step_by(32) {
            for (lane, sum) in sums.iter_mut().enumerate() {
                // SAFETY: within `bytes`, which is a multiple of 32, and aligned.
                let value = unsafe { from.add(at + lane * 8).cast::<u64>().read() };
                *sum = sum.wrapping_add(value);
            }
        }
        sums.into_iter().fold(0, u64::wrapping_add)
    }

    /// # Safety
    /// As [`super::Vectors::run`].
    pub(super) unsafe fn write(to: *mut u8, bytes: usize) {
        for at in (0..bytes).step_by(8) {
            // SAFETY: within `bytes`, which is a multiple of 8, and aligned.
            unsafe { to.add(at).cast::<u64>().write_volatile(super::PATTERN) };
        }
    }

    /// # Safety
    /// As [`super::Vectors::run`].
    pub(super) unsafe fn copy(from: *const u8, to: *mut u8, bytes: usize) {
        for at in (0..bytes).step_by(8) {
            // SAFETY: within `bytes` of both, which is a multiple of 8, and aligned.
            unsafe {
                let value = from.add(at).cast::<u64>().read();
                to.add(at).cast::<u64>().write_volatile(value);
            }
        }
    }
}

/// What is written.
const PATTERN: u64 = 0x0102_0304_0506_0708;

#[cfg(test)]
mod tests {
    use super::*;
    use std::alloc::{Layout, alloc_zeroed, dealloc};

    /// Runs every kernel of some vectors over a buffer of two halves and looks at every byte.
    fn check(vectors: &Vectors) {
        const BYTES: usize = 4 * BLOCK_BYTES;
        let layout = Layout::from_size_align(BYTES, 64).unwrap();
        // SAFETY: the layout has a size; the buffer is used within it and freed once.
        unsafe {
            let buffer = alloc_zeroed(layout);
            assert!(!buffer.is_null());
            let bytes = || std::slice::from_raw_parts(buffer, BYTES).to_vec();
            for (index, value) in (0..BYTES).zip((0..251_u8).cycle()) {
                *buffer.add(index) = value;
            }
            let before = bytes();
            let words = before.chunks(8).map(|word| u64::from_le_bytes(word.try_into().unwrap()));
            let sum = words.fold(0, u64::wrapping_add);
            assert_eq!(vectors.run(Traffic::Read, buffer, 0, BYTES), sum, "{}", vectors.name);
            let touched = before.iter().step_by(64).map(|byte| u64::from(*byte)).sum::<u64>();
            assert_eq!(vectors.run(Traffic::Touch, buffer, 0, BYTES), touched);
            let half = BYTES / 2;
            for kernel in [Traffic::Copy, Traffic::CopyPast] {
                buffer.add(half).write_bytes(0, half);
                vectors.run(kernel, buffer, half, BYTES);
                assert_eq!(bytes(), [&before[..half], &before[..half]].concat(), "{vectors:?}");
            }
            for kernel in [Traffic::Write, Traffic::Fill] {
                buffer.write_bytes(0, BYTES);
                vectors.run(kernel, buffer, 0, BYTES / 2);
                let after = bytes();
                assert_eq!(after[..half], PATTERN.to_le_bytes().repeat(half / 8), "{kernel:?}");
                assert!(after[half..].iter().all(|byte| *byte == 0), "{kernel:?} wrote beyond");
            }
            dealloc(buffer, layout);
        }
    }

    #[test]
    fn every_kernel_reads_and_writes_all_of_its_part() {
        for vectors in Vectors::all() {
            check(&vectors);
        }
        assert_eq!(Vectors::all().last().unwrap().name, "64-bit words");
    }
}
