//! The lines that two threads pass to and fro.

use std::io;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

/// A value that is at least 512 bytes away from its neighbours: more than the reach of prefetchers
/// that fetch lines in pairs, and of the widest line of any CPU.
#[repr(C, align(512))]
pub(super) struct Apart<T>(pub(super) T);

/// What one segment of a visit uses. All zero at its beginning.
#[repr(C)]
pub(super) struct Lines {
    /// The line of the side that times, or the only one.
    pub(super) first: Apart<AtomicU64>,
    /// The line of the side that answers.
    pub(super) second: Apart<AtomicU64>,
    /// Set when the side that times needs no more answers.
    pub(super) done: Apart<AtomicBool>,
}

/// Lines for several segments, in pages of their own.
pub(super) struct Board {
    lines: *mut Lines,
    count: usize,
}

// SAFETY: what the pointer leads to are atomics, which any thread may use.
unsafe impl Send for Board {}
// SAFETY: the same.
unsafe impl Sync for Board {}

impl Board {
    /// Lines for so many segments, at least one, all zero. The kernel gives the memory to the CPU
    /// that first touches it.
    pub(super) fn new(count: usize) -> io::Result<Board> {
        let bytes = count * size_of::<Lines>();
        let protection = libc::PROT_READ | libc::PROT_WRITE;
        let flags = libc::MAP_PRIVATE | libc::MAP_ANONYMOUS;
        // SAFETY: a new mapping at a place that the kernel chooses touches nothing that exists.
        let found = unsafe { libc::mmap(std::ptr::null_mut(), bytes, protection, flags, -1, 0) };
        if found == libc::MAP_FAILED {
            return Err(io::Error::last_os_error());
        }
        Ok(Board { lines: found.cast(), count })
    }

    /// The lines of a segment.
    ///
    /// # Panics
    /// There is no such segment.
    pub(super) fn lines(&self, segment: usize) -> &Lines {
        assert!(segment < self.count, "a board has lines for {} segments", self.count);
        // SAFETY: the mapping holds `count` of them, begins at a page, and is zero, which is a
        // valid value of atomics; it lives as long as `self`.
        unsafe { &*self.lines.add(segment) }
    }

    /// Touches all of it, so that it lies in the memory of the CPU that this thread runs on.
    pub(super) fn touch(&self) {
        for segment in 0..self.count {
            let lines = self.lines(segment);
            lines.first.0.store(0, Ordering::Relaxed);
            lines.second.0.store(0, Ordering::Relaxed);
            lines.done.0.store(false, Ordering::Relaxed);
        }
    }
}

impl Drop for Board {
    fn drop(&mut self) {
        let bytes = self.count * size_of::<Lines>();
        // SAFETY: this is the mapping that `new` made, and nothing borrows from it any more.
        unsafe { libc::munmap(self.lines.cast(), bytes) };
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_are_apart_and_zero() {
        let board = Board::new(3).unwrap();
        board.touch();
        let mut places = Vec::new();
        for segment in 0..3 {
            let lines = board.lines(segment);
            assert_eq!(lines.first.0.load(Ordering::Relaxed), 0);
            assert!(!lines.done.0.load(Ordering::Relaxed));
            places.push(&raw const lines.first.0 as usize);
            places.push(&raw const lines.second.0 as usize);
            places.push(&raw const lines.done.0 as usize);
        }
        assert!(places.windows(2).all(|pair| pair[1] - pair[0] == 512));
    }
}
