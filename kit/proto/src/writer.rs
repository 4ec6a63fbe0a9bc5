//! Writing into a slice, or only counting what would be written.

use crate::TooSmall;

/// Appends to a slice. What does not fit is counted, not written, so one function both encodes a
/// value and says how many bytes that takes.
///
/// It is public for the traits of [`mqtt`](crate::mqtt) only; users cannot name it.
pub struct Writer<'a> {
    out: &'a mut [u8],
    /// How many bytes were put; more than `out` has if they did not fit.
    length: usize,
}

impl<'a> Writer<'a> {
    /// Lets `write` fill `out` from its start, and returns how many bytes that took.
    ///
    /// # Errors
    /// Fails if they did not fit.
    pub(crate) fn fill(
        out: &'a mut [u8],
        write: impl FnOnce(&mut Writer<'a>),
    ) -> Result<usize, TooSmall> {
        let mut writer = Writer { out, length: 0 };
        write(&mut writer);
        let needs = writer.length;
        if needs <= writer.out.len() { Ok(needs) } else { Err(TooSmall { needs }) }
    }

    /// Returns how many bytes `write` puts.
    pub(crate) fn count(write: impl FnOnce(&mut Writer<'_>)) -> usize {
        let mut writer = Writer { out: &mut [], length: 0 };
        write(&mut writer);
        writer.length
    }

    /// Appends `length` bytes, and returns the place for them if there is one.
    #[inline]
    pub(crate) fn place(&mut self, length: usize) -> Option<&mut [u8]> {
        // No slice is longer than memory, but all that a list refers to together can be.
        let end = self.length.saturating_add(length);
        let start = core::mem::replace(&mut self.length, end);
        self.out.get_mut(start..end)
    }

    /// Appends bytes.
    #[inline]
    pub(crate) fn put(&mut self, bytes: &[u8]) {
        if let Some(place) = self.place(bytes.len()) {
            place.copy_from_slice(bytes);
        }
    }

    /// Appends a byte.
    pub(crate) fn put_u8(&mut self, number: u8) {
        self.put(&[number]);
    }

    /// Appends two bytes, the most significant one first.
    pub(crate) fn put_u16(&mut self, number: u16) {
        self.put(&number.to_be_bytes());
    }

    /// Appends four bytes, the most significant one first.
    pub(crate) fn put_u32(&mut self, number: u32) {
        self.put(&number.to_be_bytes());
    }

    /// Appends a number in decimal digits.
    pub(crate) fn put_decimal(&mut self, number: u64) {
        self.put_digits(number, 10);
    }

    /// Appends a number in hexadecimal digits, without leading zeros.
    pub(crate) fn put_hex(&mut self, number: u64) {
        self.put_digits(number, 16);
    }

    fn put_digits(&mut self, mut number: u64, base: u64) {
        let mut digits = [0; 20];
        let mut first = digits.len();
        loop {
            first -= 1;
            digits[first] = b"0123456789abcdef"[(number % base) as usize];
            number /= base;
            if number == 0 {
                break;
            }
        }
        self.put(&digits[first..]);
    }
}
