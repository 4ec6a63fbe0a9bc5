//! One hash after the other, on any CPU: rolled, since there are no vectors.

use super::Kind;
use super::doubling::{Functions, power};
use core::iter;

pub(super) static SCALAR: Functions = Functions { hashes, count };

/// Needs nothing; its type is that of all forms.
unsafe fn hashes(kind: &Kind, text: &[u8], into: &mut [u32]) {
    iter::zip(into, rolled(kind, text)).for_each(|(into, hash)| *into = hash);
}

/// As [`hashes`].
unsafe fn count(kind: &Kind, text: &[u8], hash: u32) -> usize {
    rolled(kind, text).filter(|rolled| *rolled == hash).count()
}

/// Returns the hash of each window, of which there is at least one: the one before, without the
/// byte that leaves and with the one that enters.
pub(super) fn rolled(kind: &Kind, text: &[u8]) -> impl Iterator<Item = u32> {
    let Kind { window, base, is_signed } = *kind;
    let (begin, rest) = text.split_at(window);
    let out = power(base, window);
    let add =
        move |hash: u32, byte: &u8| hash.wrapping_mul(base).wrapping_add(number(*byte, is_signed));
    let mut hash = begin.iter().fold(0, add);
    iter::once(hash).chain(iter::zip(text, rest).map(move |(leaving, entering)| {
        hash = add(hash, entering).wrapping_sub(out.wrapping_mul(number(*leaving, is_signed)));
        hash
    }))
}

/// Returns the number that a byte is.
#[inline(always)]
pub(super) const fn number(byte: u8, is_signed: bool) -> u32 {
    if is_signed { byte as i8 as u32 } else { byte as u32 }
}
