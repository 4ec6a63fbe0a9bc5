//! The lines that two threads pass to and fro.

use super::*;

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

/// Lines for several segments, in pages of their own, all zero. The kernel gives the memory to the
/// CPU that first touches it.
pub(super) struct Board(Mapped);

impl Board {
    /// Lines for so many segments, at least one.
    pub(super) fn new(count: usize) -> io::Result<Board> {
        Mapped::new(count * size_of::<Lines>(), Pages::Small).map(Board)
    }

    /// The lines of a segment.
    ///
    /// # Panics
    /// There is no room for so many segments.
    pub(super) fn lines(&self, segment: usize) -> &Lines {
        let at = segment * size_of::<Lines>();
        assert!(at + size_of::<Lines>() <= self.0.bytes(), "no room for segment {segment}");
        // SAFETY: the lines lie within the mapping, which begins at a page, is zero, a valid value
        // of atomics, and lives as long as `self`.
        unsafe { &*self.0.at(at).cast() }
    }

    /// Touches the lines of so many segments, so that they lie in the memory of the CPU that
    /// this thread runs on.
    pub(super) fn touch(&self, count: usize) {
        for segment in 0..count {
            let lines = self.lines(segment);
            lines.first.0.store(0, Ordering::Relaxed);
            lines.second.0.store(0, Ordering::Relaxed);
            lines.done.0.store(false, Ordering::Relaxed);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_are_apart_and_zero() {
        let board = Board::new(3).unwrap();
        board.touch(3);
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
