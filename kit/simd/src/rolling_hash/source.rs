//! Hashes of windows, a vector after the other.

use super::doubling::power;
use super::words::{Small, Words, few};

/// Where hashes come from: a vector of them after the other.
///
/// # Safety
/// As [`Words`].
pub(super) trait Source<W> {
    /// Returns the next hashes.
    unsafe fn next(&mut self) -> W;
}

/// Hashes of a few bytes.
pub(super) struct Few<W, const IS_SIGNED: bool> {
    pub text: *const u8,
    pub count: usize,
    pub base: W,
}

impl<W: Words, const IS_SIGNED: bool> Source<W> for Few<W, IS_SIGNED> {
    #[inline(always)]
    unsafe fn next(&mut self) -> W {
        // SAFETY: what the caller promises.
        unsafe {
            let hashes = few::<W, IS_SIGNED>(self.text, self.count, self.base);
            self.text = self.text.add(W::LANES);
            hashes
        }
    }
}

/// Hashes of four bytes, for a small base.
pub(super) struct Fours<W, const IS_SIGNED: bool> {
    pub text: *const u8,
    pub small: Small<W>,
}

impl<W: Words, const IS_SIGNED: bool> Source<W> for Fours<W, IS_SIGNED> {
    #[inline(always)]
    unsafe fn next(&mut self) -> W {
        // SAFETY: what the caller promises.
        unsafe {
            let hashes = W::fours::<IS_SIGNED>(self.text, self.small);
            self.text = self.text.add(W::LANES);
            hashes
        }
    }
}

/// Hashes of windows of twice `LENGTH` bytes: each of those of `LENGTH`, and of those `LENGTH`
/// places on, which wait in registers.
pub(super) struct Doubled<W, S, const LENGTH: usize> {
    halves: S,
    power: W,
    /// The vectors that come before the next one, as many as lie within `LENGTH` places; at least
    /// one.
    last: [W; 4],
}

impl<W: Words, S: Source<W>, const LENGTH: usize> Doubled<W, S, LENGTH> {
    const WAITING: usize = LENGTH.div_ceil(W::LANES);

    #[inline(always)]
    pub unsafe fn of(mut halves: S, base: u32) -> Self {
        // SAFETY: what the caller promises.
        unsafe {
            let power = W::splat(power(base, LENGTH));
            let mut last = [power; 4];
            for vector in &mut last[..Self::WAITING] {
                *vector = halves.next();
            }
            Doubled { halves, power, last }
        }
    }
}

impl<W: Words, S: Source<W>, const LENGTH: usize> Source<W> for Doubled<W, S, LENGTH> {
    #[inline(always)]
    unsafe fn next(&mut self) -> W {
        // SAFETY: what the caller promises.
        unsafe {
            let (first, next) = (self.last[0], self.halves.next());
            let on = if LENGTH < W::LANES { first.shifted::<LENGTH>(next) } else { next };
            self.last.copy_within(1..Self::WAITING, 0);
            self.last[Self::WAITING - 1] = next;
            first.times(self.power).plus(on)
        }
    }
}

/// Hashes that are there.
pub(super) struct Same(pub *const u32);

impl<W: Words> Source<W> for Same {
    #[inline(always)]
    unsafe fn next(&mut self) -> W {
        // SAFETY: what the caller promises.
        unsafe {
            let hashes = W::load(self.0);
            self.0 = self.0.add(W::LANES);
            hashes
        }
    }
}

/// Hashes made of two each that are there: the left one is multiplied by a power of the base.
pub(super) struct Joined<W> {
    pub left: Same,
    pub right: Same,
    pub power: W,
}

impl<W: Words> Source<W> for Joined<W> {
    #[inline(always)]
    unsafe fn next(&mut self) -> W {
        // SAFETY: what the caller promises.
        unsafe {
            let (left, right): (W, W) = (self.left.next(), self.right.next());
            left.times(self.power).plus(right)
        }
    }
}
