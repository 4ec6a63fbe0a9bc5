//! The contestants of this study that are Rust, one a feature: crates, and ours.

#[cfg(feature = "kit-arena")]
mod arena;
#[cfg(not(feature = "kit-arena"))]
mod each;

/// Size and middle byte, as the contestants in C++ have it.
fn checksum(escaped: &[u8]) -> u64 {
    let middle = escaped.get(escaped.len() / 2).copied().unwrap_or(0);
    escaped.len() as u64 + (u64::from(middle) << 32)
}

/// The strings of an input, each behind its length as 4 bytes, little end first.
fn paths(mut input: &[u8]) -> Vec<&[u8]> {
    let mut paths = Vec::new();
    while let Some((length, rest)) = input.split_first_chunk() {
        let (path, rest) = rest.split_at(u32::from_le_bytes(*length) as usize);
        paths.push(path);
        input = rest;
    }
    paths
}

/// What escapes the percent sign, by our crate.
#[cfg(feature = "tiebreak-simd")]
fn ours() -> Option<tiebreak_simd::percent::Escape> {
    use tiebreak_simd::byte_set::ByteSet;
    tiebreak_simd::percent::Escape::new(&ByteSet::of(b"%")).ok()
}
