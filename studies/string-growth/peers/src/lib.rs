//! The peers of this study that are Rust crates, one a feature.

#[macro_use]
#[path = "../../frame.rs"]
mod frame;
use frame::Look;

/// Short strings stand in the object itself: 24 bytes, as of `String`.
#[cfg(feature = "compact_str")]
fn grow(volume: u64, look: Look<'_>) {
    let mut text = compact_str::CompactString::default();
    while text.len() as u64 <= volume {
        text.push_str("a");
    }
    look(text.as_bytes());
}

/// The same for bytes.
#[cfg(feature = "smallvec")]
fn grow(volume: u64, look: Look<'_>) {
    let mut text = smallvec::SmallVec::<[u8; 16]>::new();
    while text.len() as u64 <= volume {
        text.push(b'a');
    }
    look(&text);
}

growth!(grow);
