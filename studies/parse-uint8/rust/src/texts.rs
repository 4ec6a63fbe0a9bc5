//! The strings of an input, laid out as those of the contestants in C++.

use std::slice;

/// A short `std::string` of libstdc++: the characters stand after pointer and length.
#[repr(C)]
struct Text {
    data: *const u8,
    size: usize,
    local: [u8; 16],
}

/// The strings. They point into themselves, so they are never moved.
pub struct Texts(Box<[Text]>);

impl Texts {
    /// The strings of 8-byte records: 7 bytes of text, then the length.
    pub fn new(records: &[u8]) -> Texts {
        let text = |record: &[u8]| {
            let mut local = [0; 16];
            local[..7].copy_from_slice(&record[..7]);
            Text { data: std::ptr::null(), size: usize::from(record[7]), local }
        };
        let mut texts: Box<[Text]> = records.chunks_exact(8).map(text).collect();
        for text in &mut texts {
            text.data = text.local.as_ptr();
        }
        Texts(texts)
    }

    /// Each string, through its pointer, of which the compiler knows nothing, with what is behind
    /// it in memory, and its size.
    #[cfg(feature = "kit-hash")]
    pub fn iter(&self) -> impl Iterator<Item = (&[u8; 4], usize)> {
        tiebreak_abi::launder(&self.0[..]).iter().map(|text| {
            // SAFETY: `data` points to the 16 bytes of `local` of the same text, which lives as
            // long as `self` and stays where it is.
            (unsafe { &*text.data.cast() }, text.size)
        })
    }

    /// Each string, through its pointer, of which the compiler knows nothing.
    #[cfg(not(feature = "kit-hash"))]
    pub fn iter(&self) -> impl Iterator<Item = (&[u8], ())> {
        tiebreak_abi::launder(&self.0[..]).iter().map(|text| {
            // SAFETY: as above; `size` is at most 7.
            (unsafe { slice::from_raw_parts(text.data, text.size) }, ())
        })
    }
}
