//! The byte form of histograms: whole numbers of variable length, and a reader that trusts nothing.

use std::error::Error;
use std::fmt;

/// The most bytes of a number: 64 bits in groups of 7.
const NUMBER_BYTES_MAX: usize = 10;

/// Bytes that are no histogram.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Damaged {
    /// The place at which this was found, in bytes from the start.
    pub offset_bytes: usize,
    /// What is wrong there.
    pub reason: &'static str,
}

impl fmt::Display for Damaged {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Damaged { offset_bytes, reason } = self;
        write!(f, "damaged histogram at byte {offset_bytes}: {reason}; measure again")
    }
}

impl Error for Damaged {}

/// Appends a number: 7 bits a byte, the lowest first, the top bit set in all bytes but the last
/// (unsigned LEB128; DWARF 5, section 7.6).
pub(crate) fn put_number(bytes: &mut Vec<u8>, mut number: u64) {
    while number >= 0x80 {
        bytes.push(number as u8 | 0x80);
        number >>= 7;
    }
    bytes.push(number as u8);
}

/// Reads bytes from the front.
pub(crate) struct Reader<'a> {
    bytes: &'a [u8],
    offset: usize,
}

impl<'a> Reader<'a> {
    pub(crate) fn new(bytes: &'a [u8]) -> Reader<'a> {
        Reader { bytes, offset: 0 }
    }

    pub(crate) fn is_at_end(&self) -> bool {
        self.offset == self.bytes.len()
    }

    /// Returns the error that there is something wrong at this place.
    pub(crate) fn damaged(&self, reason: &'static str) -> Damaged {
        Damaged { offset_bytes: self.offset, reason }
    }

    /// Reads a number. Each number has one form only, the shortest, so that equal histograms have
    /// equal bytes.
    pub(crate) fn number(&mut self) -> Result<u64, Damaged> {
        let mut number = 0;
        for group in 0..NUMBER_BYTES_MAX {
            let byte = *self.bytes.get(self.offset).ok_or(self.damaged("it ends here"))?;
            let bits = u64::from(byte & 0x7f);
            if bits << (7 * group) >> (7 * group) != bits {
                return Err(self.damaged("a number above 64 bits"));
            }
            number |= bits << (7 * group);
            if byte & 0x80 == 0 {
                if byte == 0 && group > 0 {
                    return Err(self.damaged("a number in a longer form than it needs"));
                }
                self.offset += 1;
                return Ok(number);
            }
            self.offset += 1;
        }
        Err(self.damaged("a number above 64 bits"))
    }

    /// Reads so many bytes.
    pub(crate) fn take(&mut self, length_bytes: u64) -> Result<&'a [u8], Damaged> {
        let rest = &self.bytes[self.offset..];
        let length = usize::try_from(length_bytes).ok().filter(|length| *length <= rest.len());
        let length = length.ok_or(self.damaged("a part is longer than the whole"))?;
        self.offset += length;
        Ok(&rest[..length])
    }

    /// Reads all that is left.
    pub(crate) fn rest(&mut self) -> &'a [u8] {
        let rest = &self.bytes[self.offset..];
        self.offset = self.bytes.len();
        rest
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_round_trip() {
        for number in (0..64).flat_map(|bit| [(1u64 << bit) - 1, 1 << bit]).chain([u64::MAX]) {
            let mut bytes = Vec::new();
            put_number(&mut bytes, number);
            let mut reader = Reader::new(&bytes);
            assert_eq!(reader.number(), Ok(number));
            assert!(reader.is_at_end());
        }
    }

    #[test]
    fn other_forms_are_refused() {
        let mut above = [0xff; 10];
        above[9] = 0x02;
        for (bytes, offset_bytes) in [
            (&[][..], 0),
            (&[0x80][..], 1),
            (&[0x80, 0x00][..], 1),
            (&above[..], 9),
            (&[0xff; 12][..], 9),
        ] {
            let error = Reader::new(bytes).number().unwrap_err();
            assert_eq!(error.offset_bytes, offset_bytes, "{bytes:?}: {error}");
        }
    }
}
