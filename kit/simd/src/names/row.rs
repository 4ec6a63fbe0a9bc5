//! A name that texts are compared with, whatever their case.

use super::MOST;

/// A name, such that `(text | fold) ^ name` is 0 where a text is the name: `fold` has the bit that
/// is the case of a letter where the name has a letter, and all bits behind its end.
#[derive(Clone, Copy, Debug)]
#[repr(align(64))]
pub(super) struct Row {
    name: [u8; MOST],
    fold: [u8; MOST],
    length: usize,
}

impl Row {
    /// No name.
    pub(super) const NONE: Row = Row { name: [u8::MAX; MOST], fold: [u8::MAX; MOST], length: 0 };

    /// Makes the row of a name, which has at most [`MOST`] bytes.
    pub(super) const fn of(name: &[u8]) -> Row {
        let mut row = Row::NONE;
        row.length = name.len();
        let mut at = 0;
        while at < name.len() {
            row.name[at] = name[at].to_ascii_lowercase();
            row.fold[at] = if name[at].is_ascii_alphabetic() { b'a' - b'A' } else { 0 };
            at += 1;
        }
        row
    }

    /// Returns whether a text of at least one byte is the name.
    #[inline(always)]
    pub(super) fn is(&self, text: &[u8]) -> bool {
        let length = text.len();
        if length != self.length {
            return false;
        }
        let differs = if length >= 8 {
            // Words that overlap: two bytes too many cost less than a branch for each length.
            let (second, third) = (8.min(length - 8), length.saturating_sub(16));
            let mut differs = self.word(text, 0) | self.word(text, second);
            differs |= self.word(text, third) | self.word(text, length - 8);
            let mut at = 16;
            while at + 16 < length {
                differs |= self.word(text, at);
                at += 8;
            }
            differs
        } else if length >= 4 {
            u64::from(self.half(text, 0) | self.half(text, length - 4))
        } else {
            u64::from(
                self.byte(text, 0) | self.byte(text, length / 2) | self.byte(text, length - 1),
            )
        };
        differs == 0
    }

    /// Returns whether the first bytes of a text are the name.
    #[inline(always)]
    pub(super) fn is_first(&self, text: &[u8; MOST], length: usize) -> bool {
        let mut differs = (self.length ^ length) as u64;
        for at in (0..MOST / 2).step_by(8) {
            differs |= self.word(text, at);
        }
        if length > MOST / 2 {
            for at in (MOST / 2..MOST).step_by(8) {
                differs |= self.word(text, at);
            }
        }
        differs == 0
    }

    /// Returns what eight bytes of a text, from a place on, have that the name does not.
    #[inline(always)]
    fn word(&self, text: &[u8], at: usize) -> u64 {
        (u64::from_le_bytes(bytes(text, at)) | u64::from_le_bytes(bytes(&self.fold, at)))
            ^ u64::from_le_bytes(bytes(&self.name, at))
    }

    /// Returns the same of four bytes.
    #[inline(always)]
    fn half(&self, text: &[u8], at: usize) -> u32 {
        (u32::from_le_bytes(bytes(text, at)) | u32::from_le_bytes(bytes(&self.fold, at)))
            ^ u32::from_le_bytes(bytes(&self.name, at))
    }

    /// Returns the same of one.
    #[inline(always)]
    fn byte(&self, text: &[u8], at: usize) -> u8 {
        (text[at] | self.fold[at]) ^ self.name[at]
    }
}

/// Returns so many bytes of a text from a place on.
#[inline(always)]
fn bytes<const COUNT: usize>(text: &[u8], at: usize) -> [u8; COUNT] {
    *text[at..].first_chunk().expect("the text is so long")
}
