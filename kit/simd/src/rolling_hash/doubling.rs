//! The hash of all windows by doubling.
//!
//! If `h(k, i)` is the hash of the `k` bytes from place `i` on, then
//! `h(j + k, i) = h(j, i) * base^k + h(k, i + j)`. So all windows of eight bytes come from those of
//! four, all of 16 from those of eight, and any length from those that it is the sum of. No hash
//! waits for the one before it.
//!
//! Up to 32 bytes, windows are doubled in registers ([`Doubled`]); then from pass to pass through
//! arrays that a level-1 cache holds ([`Part::in_memory`]).
//!
//! A long window is rolled, by [`STRIDE`] places at once: what it had before, without the bytes
//! that leave, and with those that enter, which are windows of [`STRIDE`] bytes.

use super::Kind;
use super::scalar::rolled;
use super::source::{Doubled, Few, Fours, Joined, Same, Source};
use super::words::{Small, Words};
use core::iter;
use core::mem::MaybeUninit;

/// What a form does.
///
/// # Safety
/// The CPU must have the instructions of the form, and the text a window.
#[derive(Debug)]
pub(super) struct Functions {
    pub hashes: Hashes,
    /// Counts the windows that have this hash.
    pub count: unsafe fn(&Kind, &[u8], u32) -> usize,
}

/// Writes the hash of each window; there is room for exactly as many.
type Hashes = unsafe fn(&Kind, &[u8], &mut [u32]);

/// The words that are worked on at once: two such arrays fit into a level-1 cache.
const ROOM: usize = 2048;

/// What is read and written beyond the last word or byte: whole vectors, of which some wait.
const SLACK: usize = 128;

/// The longest window that is hashed by doubling: one of 127 costs as much as to roll it.
const LONGEST: usize = 128;

/// How many places a long window is rolled at once.
const STRIDE: usize = 32;

/// The most lanes that a vector has.
const LANES: usize = 16;

/// As many windows of [`STRIDE`] bytes as there is room for.
const STRIDES: usize = ROOM - STRIDE;

// What waits in registers is 16 words of each of three doublings of vectors of 16, and a load is of
// 19 bytes: 67 bytes from the last window on. Passes read a vector beyond what is needed. What is
// rolled begins with a stride, in whole vectors.
const _: () = assert!(SLACK >= 3 * LANES + 19 && LONGEST + 2 * LANES <= ROOM);
const _: () = assert!(STRIDES.is_multiple_of(STRIDE) && STRIDE.is_multiple_of(LANES));

/// Where hashes go.
///
/// # Safety
/// As [`Words`].
trait Sink<W> {
    /// Takes the hashes at a place and the next ones.
    unsafe fn take(&mut self, place: usize, hashes: W);

    /// Takes fewer than a vector has.
    fn take_few(&mut self, place: usize, hashes: &[u32]);
}

/// Writes them.
struct Written<'into>(&'into mut [u32]);

impl<W: Words> Sink<W> for Written<'_> {
    #[inline(always)]
    unsafe fn take(&mut self, place: usize, hashes: W) {
        // SAFETY: there is room for each hash of the text.
        unsafe { hashes.store(self.0.as_mut_ptr().add(place)) }
    }

    #[inline(always)]
    fn take_few(&mut self, place: usize, hashes: &[u32]) {
        self.0[place..place + hashes.len()].copy_from_slice(hashes);
    }
}

/// Counts those that are equal to one.
struct Counted<W> {
    word: u32,
    words: W,
    found: usize,
}

impl<W: Words> Sink<W> for Counted<W> {
    #[inline(always)]
    unsafe fn take(&mut self, _: usize, hashes: W) {
        // SAFETY: what the caller promises.
        self.found += unsafe { hashes.equal(self.words) } as usize;
    }

    #[inline(always)]
    fn take_few(&mut self, _: usize, hashes: &[u32]) {
        self.found += hashes.iter().filter(|hash| **hash == self.word).count();
    }
}

/// Arrays in which a part of the text is hashed. They begin where a cache line does: a vector that
/// lies in two costs twice.
#[repr(align(64))]
struct Scratch {
    /// Hashes of windows of 4, 8, 16 and so on.
    doubled: MaybeUninit<[u32; ROOM + SLACK]>,
    /// Hashes of the first bytes of each window: of the powers of two of its length that are joined
    /// so far.
    begun: MaybeUninit<[u32; ROOM + SLACK]>,
    /// The bytes of a text's end, and zeros after them.
    text: MaybeUninit<[u8; ROOM + SLACK]>,
}

impl Scratch {
    #[inline(always)]
    const fn new() -> Scratch {
        let (doubled, begun) = (MaybeUninit::uninit(), MaybeUninit::uninit());
        Scratch { text: MaybeUninit::uninit(), doubled, begun }
    }

    /// Returns where the bytes can be read with [`SLACK`] after those that are there: where they
    /// are, or, at the end of the text, in a copy.
    #[inline(always)]
    fn with_slack(&mut self, text: &[u8], from: usize, count: usize) -> *const u8 {
        let bytes = &text[from..];
        if bytes.len() - count >= SLACK {
            return bytes.as_ptr();
        }
        let bytes = &bytes[..count];
        let copy = self.text.as_mut_ptr().cast::<u8>();
        // SAFETY: at most ROOM bytes are hashed at once.
        unsafe {
            debug_assert!(count <= ROOM);
            core::ptr::copy_nonoverlapping(bytes.as_ptr(), copy, count);
            copy.add(count).write_bytes(0, SLACK);
        }
        copy
    }
}

#[inline(always)]
pub(super) unsafe fn hashes<W: Words>(kind: &Kind, text: &[u8], into: &mut [u32], short: Hashes) {
    // SAFETY: what the caller promises.
    unsafe { all::<W, _>(kind, text, &mut Written(into), short) }
}

#[inline(always)]
pub(super) unsafe fn count<W: Words>(kind: &Kind, text: &[u8], hash: u32, short: Hashes) -> usize {
    // SAFETY: what the caller promises.
    unsafe {
        let mut counted = Counted { word: hash, words: W::splat(hash), found: 0 };
        all(kind, text, &mut counted, short);
        counted.found
    }
}

/// Hashes all windows, of which there is at least one; `short` is what writes those of a stride.
///
/// # Safety
/// As [`Words`]; there is room for all.
#[inline(always)]
unsafe fn all<W: Words, S: Sink<W>>(kind: &Kind, text: &[u8], into: &mut S, short: Hashes) {
    // SAFETY: what the caller promises.
    unsafe {
        match (kind.window <= LONGEST, kind.is_signed) {
            (true, false) => by_doubling::<W, S, false>(kind, text, into),
            (true, true) => by_doubling::<W, S, true>(kind, text, into),
            (false, _) => by_rolling::<W, S>(kind, text, into, short),
        }
    }
}

/// Hashes windows of at most [`LONGEST`] bytes.
///
/// # Safety
/// As [`all`].
#[inline(always)]
unsafe fn by_doubling<W: Words, S: Sink<W>, const IS_SIGNED: bool>(
    kind: &Kind,
    text: &[u8],
    into: &mut S,
) {
    let windows = text.len() - kind.window + 1;
    let at_once = (ROOM - kind.window) / LANES * LANES;
    let mut scratch = Scratch::new();
    for first in (0..windows).step_by(at_once) {
        let count = at_once.min(windows - first);
        let from = scratch.with_slack(text, first, count + kind.window - 1);
        let doubled = scratch.doubled.as_mut_ptr().cast();
        let begun = scratch.begun.as_mut_ptr().cast();
        let part = Part { kind, count, first, doubled, begun, into };
        // SAFETY: what the caller promises; the bytes can be read with the slack.
        unsafe { part.hash::<W, IS_SIGNED>(from) }
    }
}

/// A number of windows that the arrays have room for.
struct Part<'kind, 'into, S> {
    kind: &'kind Kind,
    count: usize,
    /// The place of the first in the text.
    first: usize,
    /// [`Scratch::doubled`] and [`Scratch::begun`].
    doubled: *mut u32,
    begun: *mut u32,
    into: &'into mut S,
}

impl<S> Part<'_, '_, S> {
    /// Hashes the windows of a text.
    ///
    /// # Safety
    /// As [`all`]; their bytes and [`SLACK`] after them can be read.
    #[inline(always)]
    unsafe fn hash<W: Words, const IS_SIGNED: bool>(self, text: *const u8)
    where
        S: Sink<W>,
    {
        // SAFETY: what the caller promises.
        unsafe {
            let (window, base) = (self.kind.window, W::splat(self.kind.base));
            let few = |count: usize| Few::<W, IS_SIGNED> { text, count, base };
            if window < 4 {
                return self.give(few(window));
            }
            if window % 4 > 0 {
                fill(few(window % 4), self.count, self.begun);
            }
            match Small::of(self.kind.base) {
                Some(small) => self.in_registers(Fours::<W, IS_SIGNED> { text, small }),
                None => self.in_memory::<W, 4>(few(4)),
            }
        }
    }

    /// Doubles in registers what can be: more than four vectors would wait for windows above 32.
    ///
    /// # Safety
    /// As [`Part::hash`].
    #[inline(always)]
    unsafe fn in_registers<W: Words>(self, fours: impl Source<W>)
    where
        S: Sink<W>,
    {
        let base = self.kind.base;
        // SAFETY: what the caller promises.
        unsafe {
            if self.kind.window != 8 && !self.kind.window.is_multiple_of(16) {
                return self.in_memory::<W, 4>(fours);
            }
            let eights = Doubled::<W, _, 4>::of(fours, base);
            if self.kind.window == 8 {
                return self.give(eights);
            }
            let sixteens = Doubled::<W, _, 8>::of(eights, base);
            match self.kind.window {
                16 => self.give(sixteens),
                32 => self.give(Doubled::<W, _, 16>::of(sixteens, base)),
                _ => self.in_memory::<W, 16>(sixteens),
            }
        }
    }

    /// Makes all hashes of those of windows of `LENGTH`, from pass to pass through the arrays.
    ///
    /// # Safety
    /// As [`Part::hash`].
    #[inline(always)]
    unsafe fn in_memory<W: Words, const LENGTH: usize>(self, source: impl Source<W>)
    where
        S: Sink<W>,
    {
        let (window, doubled, begun) = (self.kind.window, self.doubled, self.begun);
        // Of windows of a length there are as many as the rest of a window needs, and at first a
        // vector more: each pass reads words that the one before it has written.
        let needed = |length: usize| self.count.next_multiple_of(W::LANES) + window - length;
        // SAFETY: what the caller promises; all words lie in the arrays.
        unsafe {
            if window == LENGTH {
                return self.give(source);
            }
            fill(source, needed(LENGTH) + W::LANES, doubled);
            let (mut length, mut has) = (LENGTH, window % 4);
            loop {
                let power = W::splat(power(self.kind.base, length));
                if window & length != 0 {
                    let right = Same(doubled.add(has));
                    if has == 0 {
                        fill::<W>(right, self.count, begun);
                    } else {
                        let joined = Joined { left: Same(begun), right, power };
                        if has + length == window {
                            return self.give(joined);
                        }
                        fill(joined, self.count, begun);
                    }
                    has += length;
                }
                let right = Same(doubled.add(length));
                let joined = Joined { left: Same(doubled), right, power };
                length *= 2;
                if length == window {
                    return self.give(joined);
                }
                fill(joined, needed(length), doubled);
            }
        }
    }

    /// Gives hashes to where they go: exactly one for each window.
    ///
    /// # Safety
    /// As [`Words`].
    #[inline(always)]
    unsafe fn give<W: Words>(self, mut from: impl Source<W>)
    where
        S: Sink<W>,
    {
        let whole = self.count / W::LANES * W::LANES;
        // SAFETY: what the caller promises.
        unsafe {
            for place in (0..whole).step_by(W::LANES) {
                self.into.take(self.first + place, from.next());
            }
            if whole < self.count {
                let left = &words(from.next())[..self.count - whole];
                self.into.take_few(self.first + whole, left);
            }
        }
    }
}

/// Writes hashes into an array, whole vectors.
///
/// # Safety
/// As [`Words`]; there is room. The array may be the one they come from, at the same places or
/// behind.
#[inline(always)]
unsafe fn fill<W: Words>(mut from: impl Source<W>, count: usize, into: *mut u32) {
    for place in (0..count).step_by(W::LANES) {
        // SAFETY: what the caller promises.
        unsafe { from.next().store(into.add(place)) }
    }
}

/// Returns the words of a vector.
///
/// # Safety
/// As [`Words`].
#[inline(always)]
unsafe fn words<W: Words>(vector: W) -> [u32; LANES] {
    let mut words = [0; LANES];
    // SAFETY: what the caller promises; a vector has at most so many.
    unsafe { vector.store(words.as_mut_ptr()) };
    words
}

/// Hashes windows of more than [`STRIDE`] bytes: that at a place is
/// `h(i) * base^STRIDE + entering(i) - leaving(i) * base^window`, where `i` is [`STRIDE`] places
/// before it.
///
/// # Safety
/// As [`all`].
#[inline(always)]
unsafe fn by_rolling<W: Words, S: Sink<W>>(kind: &Kind, text: &[u8], into: &mut S, short: Hashes) {
    let windows = text.len() - kind.window + 1;
    let mut last = [0; STRIDE];
    iter::zip(&mut last, rolled(kind, text)).for_each(|(last, hash)| *last = hash);
    into.take_few(0, &last[..STRIDE.min(windows)]);
    let stride = Kind { window: STRIDE, ..*kind };
    let (mut leaving, mut entering) = ([0; STRIDES], [0; STRIDES]);
    // SAFETY: what the caller promises.
    unsafe {
        let out = W::splat(power(kind.base, kind.window));
        let on = W::splat(power(kind.base, STRIDE));
        for first in (STRIDE..windows).step_by(STRIDES) {
            let count = STRIDES.min(windows - first);
            let at = first - STRIDE;
            for (from, hashes) in [(at, &mut leaving), (at + kind.window, &mut entering)] {
                let bytes = &text[from..from + count + STRIDE - 1];
                short(&stride, bytes, &mut hashes[..count]);
            }
            for place in (0..count).step_by(W::LANES) {
                let slot = last.as_mut_ptr().add(place % STRIDE);
                let entered = W::load(entering.as_ptr().add(place));
                let left = W::load(leaving.as_ptr().add(place)).times(out);
                let hashes = W::load(slot).times(on).plus(entered).minus(left);
                hashes.store(slot);
                if place + W::LANES <= count {
                    into.take(first + place, hashes);
                } else {
                    into.take_few(first + place, &words(hashes)[..count - place]);
                }
            }
        }
    }
}

/// Raises to a power, modulo 2^32: an exponent may have more bits than a word.
pub(super) const fn power(base: u32, exponent: usize) -> u32 {
    let (mut result, mut square, mut left) = (1_u32, base, exponent);
    while left > 0 {
        if left % 2 == 1 {
            result = result.wrapping_mul(square);
        }
        square = square.wrapping_mul(square);
        left /= 2;
    }
    result
}

/// Makes the [`Functions`] of a kind of words: the hash is compiled anew with these features.
macro_rules! functions {
    ($(#[$feature:meta])? $words:ty) => {{
        use crate::rolling_hash::{Kind, doubling};

        $(#[$feature])?
        unsafe fn hashes(kind: &Kind, text: &[u8], into: &mut [u32]) {
            // SAFETY: the caller has the instructions.
            unsafe { doubling::hashes::<$words>(kind, text, into, hashes) }
        }

        $(#[$feature])?
        unsafe fn count(kind: &Kind, text: &[u8], hash: u32) -> usize {
            // SAFETY: the caller has the instructions.
            unsafe { doubling::count::<$words>(kind, text, hash, hashes) }
        }

        Functions { hashes, count }
    }};
}
pub(super) use functions;
