//! UTF-8 that comes in pieces.

use super::Error;

/// Checks UTF-8 that comes in pieces, which may be cut within a character.
///
/// Representation: the bytes of a character that is not whole, at most 3. The rest is left to the
/// standard library, so a byte that cannot be right is found in the piece that has it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Utf8 {
    partial: [u8; 4],
    partial_length: usize,
}

impl Utf8 {
    /// Begins a text.
    pub const fn new() -> Self {
        Utf8 { partial: [0; 4], partial_length: 0 }
    }

    /// Checks the next piece. Cost: that of `core::str::from_utf8`.
    ///
    /// # Errors
    /// Fails if the pieces so far are the beginning of no UTF-8.
    pub fn check(&mut self, piece: &[u8]) -> Result<(), Error> {
        let mut rest = piece;
        while self.partial_length > 0 {
            let Some((&byte, after)) = rest.split_first() else {
                return Ok(());
            };
            rest = after;
            // At most 3 bytes are kept below, so there is a place for one more.
            self.partial[self.partial_length] = byte;
            let length = self.partial_length + 1;
            self.partial_length = match core::str::from_utf8(&self.partial[..length]) {
                Ok(_) => 0,
                Err(error) if error.error_len().is_none() => length,
                Err(_) => return Err(Error::NotUtf8),
            };
        }
        if let Err(error) = core::str::from_utf8(rest) {
            if error.error_len().is_some() {
                return Err(Error::NotUtf8);
            }
            let cut = &rest[error.valid_up_to()..];
            self.partial[..cut.len()].copy_from_slice(cut);
            self.partial_length = cut.len();
        }
        Ok(())
    }

    /// Returns whether the pieces so far end where a character ends.
    pub fn is_whole(&self) -> bool {
        self.partial_length == 0
    }
}
