//! The hash of all windows by doubling.
//!
//! If `h(k, i)` is the hash of the `k` bytes from place `i` on, then
//! `h(j + k, i) = h(j, i) * base^k + h(k, i + j)`. So all windows of eight bytes come from those of
//! four, all of 16 from those of eight, and any length from those that it is the sum of. No hash
//! waits for the one before it.
//!
//! A long window is rolled, by [`STRIDE`] places at once: what it had before, without the bytes that
//! leave, and with those that enter, which are windows of [`STRIDE`] bytes.

use super::Kind;
use super::scalar::number;
use super::words::{Small, Words, few};
use core::mem::MaybeUninit;

/// What a form does.
///
/// # Safety
/// The CPU must have the instructions of the form.
#[derive(Debug)]
pub(super) struct Functions {
    /// Writes the hash of each window; there is room for exactly as many.
    pub hashes: unsafe fn(&Kind, &[u8], &mut [u32]),
    /// Counts the windows that have a hash.
    pub count: unsafe fn(&Kind, &[u8], u32) -> usize,
}

/// The words that are worked on at once: two such arrays fit into a level-1 cache.
const ROOM: usize = 2048;

/// What is read and written beyond the last word or byte: whole vectors.
const SLACK: usize = 64;

/// The longest window that is hashed by doubling. The next would cost as much as to roll it.
const LONGEST: usize = 512;

/// How many places a long window is rolled at once, a power of two.
const STRIDE: usize = 32;

/// The most lanes that a vector has.
const LANES: usize = 16;

/// Where hashes come from.
///
/// # Safety
/// As [`Words`].
trait Source<W> {
    /// Returns the hashes at a place and the next ones.
    unsafe fn at(&self, place: usize) -> W;
}

/// Hashes of a few bytes.
struct Few<W, const IS_SIGNED: bool> {
    text: *const u8,
    count: usize,
    base: W,
}

impl<W: Words, const IS_SIGNED: bool> Source<W> for Few<W, IS_SIGNED> {
    #[inline(always)]
    unsafe fn at(&self, place: usize) -> W {
        // SAFETY: what the caller promises.
        unsafe { few::<W, IS_SIGNED>(self.text.add(place), self.count, self.base) }
    }
}

/// Hashes of four bytes, for a small base.
struct Fours<W, const IS_SIGNED: bool> {
    text: *const u8,
    small: Small<W>,
}

impl<W: Words, const IS_SIGNED: bool> Source<W> for Fours<W, IS_SIGNED> {
    #[inline(always)]
    unsafe fn at(&self, place: usize) -> W {
        // SAFETY: what the caller promises.
        unsafe { W::fours::<IS_SIGNED>(self.text.add(place), self.small) }
    }
}

/// Hashes that are there.
struct Same(*const u32);

impl<W: Words> Source<W> for Same {
    #[inline(always)]
    unsafe fn at(&self, place: usize) -> W {
        // SAFETY: what the caller promises.
        unsafe { W::load(self.0.add(place)) }
    }
}

/// Hashes made of two each: the left one is multiplied by a power of the base.
struct Joined<W> {
    left: *const u32,
    right: *const u32,
    power: W,
}

impl<W: Words> Source<W> for Joined<W> {
    #[inline(always)]
    unsafe fn at(&self, place: usize) -> W {
        // SAFETY: what the caller promises.
        unsafe {
            W::load(self.left.add(place)).times(self.power).plus(W::load(self.right.add(place)))
        }
    }
}

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

/// Arrays in which a part of the text is hashed.
struct Scratch {
    /// The bytes of a text's end, and zeros after them.
    text: MaybeUninit<[u8; ROOM + SLACK]>,
    /// Hashes of windows of 4, 8, 16 and so on.
    doubled: MaybeUninit<[u32; ROOM + SLACK]>,
    /// Hashes of the first bytes of each window, as many as some powers of two are in its length.
    begun: MaybeUninit<[u32; ROOM + SLACK]>,
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
        let bytes = &text[from..from + count];
        if text.len() - from - count >= SLACK {
            return bytes.as_ptr();
        }
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
pub(super) unsafe fn hashes<W: Words>(kind: &Kind, text: &[u8], into: &mut [u32]) {
    // SAFETY: what the caller promises.
    unsafe { all::<W, _>(kind, text, &mut Written(into)) }
}

#[inline(always)]
pub(super) unsafe fn count<W: Words>(kind: &Kind, text: &[u8], hash: u32) -> usize {
    // SAFETY: what the caller promises.
    unsafe {
        let mut counted = Counted { word: hash, words: W::splat(hash), found: 0 };
        all(kind, text, &mut counted);
        counted.found
    }
}

/// Hashes all windows.
///
/// # Safety
/// As [`Words`]; there is room for all.
#[inline(always)]
unsafe fn all<W: Words, S: Sink<W>>(kind: &Kind, text: &[u8], into: &mut S) {
    if text.len() < kind.window {
        return;
    }
    // SAFETY: what the caller promises.
    unsafe {
        match (kind.window <= LONGEST, kind.is_signed) {
            (true, false) => by_doubling::<W, S, false>(kind, text, into),
            (true, true) => by_doubling::<W, S, true>(kind, text, into),
            (false, false) => by_rolling::<W, S, false>(kind, text, into),
            (false, true) => by_rolling::<W, S, true>(kind, text, into),
        }
    }
}

/// Hashes windows of at most [`LONGEST`] bytes, of which there is at least one.
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
        // SAFETY: what the caller promises; the bytes can be read with the slack.
        unsafe { part::<W, S, IS_SIGNED>(kind, from, count, first, &mut scratch, into) }
    }
}

/// Hashes a number of windows that the arrays have room for; the first is at a place of the text.
///
/// # Safety
/// As [`all`]; their bytes and [`SLACK`] after them can be read.
#[inline(always)]
unsafe fn part<W: Words, S: Sink<W>, const IS_SIGNED: bool>(
    kind: &Kind,
    text: *const u8,
    count: usize,
    first: usize,
    scratch: &mut Scratch,
    into: &mut S,
) {
    let doubled = scratch.doubled.as_mut_ptr().cast::<u32>();
    let begun = scratch.begun.as_mut_ptr().cast::<u32>();
    // SAFETY: what the caller promises. Each pass reads words that the one before it has written:
    // of windows of `length` bytes there are as many as the rest of a window needs, and a vector.
    unsafe {
        let base = W::splat(kind.base);
        if kind.window < 4 {
            let few = Few::<W, IS_SIGNED> { text, count: kind.window, base };
            return give(few, count, first, into);
        }
        let needed = |length: usize| count.next_multiple_of(W::LANES) + kind.window - length;
        let mut has = kind.window % 4;
        if has > 0 {
            fill(Few::<W, IS_SIGNED> { text, count: has, base }, count, begun);
        }
        let (mut length, mut factor) = (4, power(kind.base, 4));
        match Small::of(kind.base) {
            Some(small) if kind.window == 4 => {
                return give(Fours::<W, IS_SIGNED> { text, small }, count, first, into);
            }
            Some(small) => {
                fill(Fours::<W, IS_SIGNED> { text, small }, needed(4) + W::LANES, doubled);
            }
            None => {
                let fours = Few::<W, IS_SIGNED> { text, count: 4, base };
                fill(fours, needed(4) + W::LANES, doubled);
            }
        }
        loop {
            // What is begun and does not end with this length is filled; what ends is given.
            let is_in = kind.window & length != 0;
            let by = W::splat(factor);
            if is_in && has > 0 {
                let joined = Joined { left: begun, right: doubled.add(has), power: by };
                has += length;
                if has == kind.window {
                    return give(joined, count, first, into);
                }
                fill(joined, count, begun);
            } else if is_in {
                has = length;
                if has == kind.window {
                    return give::<W, _>(Same(doubled), count, first, into);
                }
                fill::<W, _>(Same(doubled), count, begun);
            }
            let joined = Joined { left: doubled, right: doubled.add(length), power: by };
            length *= 2;
            if length == kind.window {
                return give(joined, count, first, into);
            }
            fill(joined, needed(length), doubled);
            factor = factor.wrapping_mul(factor);
        }
    }
}

/// Writes hashes into an array, whole vectors.
///
/// # Safety
/// As [`Words`]; there is room. The array may be the one they come from, at the same places or
/// behind.
#[inline(always)]
unsafe fn fill<W: Words, S: Source<W>>(from: S, count: usize, into: *mut u32) {
    for place in (0..count).step_by(W::LANES) {
        // SAFETY: what the caller promises.
        unsafe { from.at(place).store(into.add(place)) }
    }
}

/// Gives hashes to where they go: exactly so many.
///
/// # Safety
/// As [`Words`]; there is room, and a vector can be had at the last place.
#[inline(always)]
unsafe fn give<W: Words, S: Source<W>>(
    from: S,
    count: usize,
    first: usize,
    into: &mut impl Sink<W>,
) {
    let whole = count / W::LANES * W::LANES;
    // SAFETY: what the caller promises.
    unsafe {
        for place in (0..whole).step_by(W::LANES) {
            into.take(first + place, from.at(place));
        }
        if whole < count {
            into.take_few(first + whole, &words(from.at(whole))[..count - whole]);
        }
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

/// Hashes windows of more than [`STRIDE`] bytes, of which there is at least one: that at a place is
/// `h(i) * base^STRIDE + entering(i) - leaving(i) * base^window`, where `i` is [`STRIDE`] places
/// before it.
///
/// # Safety
/// As [`all`].
#[inline(always)]
unsafe fn by_rolling<W: Words, S: Sink<W>, const IS_SIGNED: bool>(
    kind: &Kind,
    text: &[u8],
    into: &mut S,
) {
    /// As many windows of [`STRIDE`] bytes as there is room for.
    const AT_ONCE: usize = ROOM - STRIDE;

    let windows = text.len() - kind.window + 1;
    let mut last = first_hashes(kind, text);
    into.take_few(0, &last[..STRIDE.min(windows)]);
    let short = Kind { window: STRIDE, ..*kind };
    let (mut leaving, mut entering) = ([0; AT_ONCE], [0; AT_ONCE]);
    // SAFETY: what the caller promises.
    unsafe {
        let out = W::splat(power(kind.base, kind.window));
        let on = W::splat(power(kind.base, STRIDE));
        for first in (STRIDE..windows).step_by(AT_ONCE) {
            let count = AT_ONCE.min(windows - first);
            let at = first - STRIDE;
            for (from, hashes) in [(at, &mut leaving), (at + kind.window, &mut entering)] {
                let bytes = &text[from..from + count + STRIDE - 1];
                by_doubling::<W, _, IS_SIGNED>(&short, bytes, &mut Written(&mut hashes[..count]));
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

/// Returns the hashes of the first windows, as many as there are of [`STRIDE`].
fn first_hashes(kind: &Kind, text: &[u8]) -> [u32; STRIDE] {
    let number = |at: usize| number(text[at], kind.is_signed);
    let add = |hash: u32, at: usize| hash.wrapping_mul(kind.base).wrapping_add(number(at));
    let out = power(kind.base, kind.window);
    let mut hash = (0..kind.window).fold(0, add);
    let mut hashes = [hash; STRIDE];
    let others = text.len() - kind.window;
    for (at, into) in hashes.iter_mut().skip(1).take(others).enumerate() {
        hash = add(hash, at + kind.window).wrapping_sub(out.wrapping_mul(number(at)));
        *into = hash;
    }
    hashes
}

/// Raises to a power, modulo 2^32: an exponent may have more bits than a word.
const fn power(base: u32, exponent: usize) -> u32 {
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
            unsafe { doubling::hashes::<$words>(kind, text, into) }
        }

        $(#[$feature])?
        unsafe fn count(kind: &Kind, text: &[u8], hash: u32) -> usize {
            // SAFETY: the caller has the instructions.
            unsafe { doubling::count::<$words>(kind, text, hash) }
        }

        Functions { hashes, count }
    }};
}
pub(super) use functions;
