//! What the hash needs of vectors.

/// Words of 32 bits in a register.
///
/// # Safety
/// All functions need the instructions of the form, and memory that they may read or write.
pub(super) trait Words: Copy {
    /// How many there are, at most 16.
    const LANES: usize;

    unsafe fn splat(word: u32) -> Self;

    unsafe fn load(from: *const u32) -> Self;

    unsafe fn store(self, into: *mut u32);

    /// Multiplies, modulo 2^32.
    unsafe fn times(self, other: Self) -> Self;

    /// Adds, modulo 2^32.
    unsafe fn plus(self, other: Self) -> Self;

    /// Subtracts, modulo 2^32.
    unsafe fn minus(self, other: Self) -> Self;

    /// Returns how many words are equal to those of the other.
    unsafe fn equal(self, other: Self) -> u32;

    /// Drops the first `FROM` words and appends as many of the next: at least one, not all.
    #[inline(always)]
    unsafe fn shifted<const FROM: usize>(self, _next: Self) -> Self {
        unreachable!("four words have no part of four")
    }

    /// Loads a byte a word.
    unsafe fn bytes<const IS_SIGNED: bool>(from: *const u8) -> Self;

    /// Returns the hashes of the four bytes at each of the next [`LANES`](Words::LANES) places, for
    /// a base that [`Small`] has; may read 19 bytes.
    #[inline(always)]
    unsafe fn fours<const IS_SIGNED: bool>(from: *const u8, small: Small<Self>) -> Self {
        // SAFETY: what the caller promises.
        unsafe { few::<Self, IS_SIGNED>(from, 4, small.base) }
    }
}

/// A base so small that the hash of two bytes is a number of 16 bits, and its square is one.
#[derive(Clone, Copy)]
#[cfg_attr(not(target_arch = "x86_64"), allow(dead_code, reason = "x86-64 multiplies by pairs"))]
pub(super) struct Small<W> {
    pub base: W,
    /// The base and 1 in turn, as bytes: what a pair of bytes is multiplied by.
    pub of_bytes: W,
    /// The square of the base and 1, as halves: what a pair of hashes of two bytes is.
    pub of_halves: W,
}

impl<W: Words> Small<W> {
    /// The largest: 255 times 127, and 255, have 15 bits, and the square of 127 has 14.
    pub const LARGEST: u32 = 127;

    /// Makes the factors, if the base is small enough.
    ///
    /// # Safety
    /// As [`Words`].
    #[inline(always)]
    pub unsafe fn of(base: u32) -> Option<Small<W>> {
        if base > Small::<W>::LARGEST {
            return None;
        }
        // SAFETY: what the caller promises.
        unsafe {
            Some(Small {
                base: W::splat(base),
                of_bytes: W::splat(base | (1 << 8) | (base << 16) | (1 << 24)),
                of_halves: W::splat((base * base) | (1 << 16)),
            })
        }
    }
}

/// Returns the hashes of a few bytes at each of the next places, one byte after the other.
///
/// # Safety
/// As [`Words`].
#[inline(always)]
pub(super) unsafe fn few<W: Words, const IS_SIGNED: bool>(
    from: *const u8,
    count: usize,
    base: W,
) -> W {
    // SAFETY: what the caller promises.
    unsafe {
        let mut hashes = W::bytes::<IS_SIGNED>(from);
        for at in 1..count {
            hashes = hashes.times(base).plus(W::bytes::<IS_SIGNED>(from.add(at)));
        }
        hashes
    }
}

/// Makes the functions of [`Words`] that are one instruction in every form.
macro_rules! instructions {
    ($splat:ident, $load:ident, $store:ident, $plus:ident, $minus:ident) => {
        #[inline(always)]
        unsafe fn splat(word: u32) -> Self {
            // SAFETY: the caller has the instructions.
            unsafe { $splat(word as _) }
        }

        #[inline(always)]
        unsafe fn load(from: *const u32) -> Self {
            // SAFETY: the caller has the instructions, and its words can be read.
            unsafe { $load(from.cast()) }
        }

        #[inline(always)]
        unsafe fn store(self, into: *mut u32) {
            // SAFETY: the caller has the instructions, and its words can be written.
            unsafe { $store(into.cast(), self) }
        }

        #[inline(always)]
        unsafe fn plus(self, other: Self) -> Self {
            // SAFETY: the caller has the instructions.
            unsafe { $plus(self, other) }
        }

        #[inline(always)]
        unsafe fn minus(self, other: Self) -> Self {
            // SAFETY: the caller has the instructions.
            unsafe { $minus(self, other) }
        }
    };
}
pub(super) use instructions;
