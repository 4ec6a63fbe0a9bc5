//! One number, in words of eight bytes.

/// The numbers below 100, two digits each.
pub(super) static PAIRS: [[u8; 2]; 100] = {
    let mut pairs = [[0; 2]; 100];
    let mut number = 0;
    while number < 100 {
        pairs[number] = [b'0' + (number / 10) as u8, b'0' + (number % 10) as u8];
        number += 1;
    }
    pairs
};

/// Eight zeros as text.
pub(super) const ZEROS: u64 = 0x3030_3030_3030_3030;
pub(super) const TEN_8: u64 = 100_000_000;
pub(super) const TEN_16: u64 = TEN_8 * TEN_8;

/// Writes a number; returns how many bytes it has.
///
/// # Safety
/// 24 bytes can be written.
#[inline]
pub(super) unsafe fn write(number: u64, into: *mut u8) -> usize {
    // SAFETY: what the caller promises; at most four, and twice eight, digits.
    unsafe {
        if number < TEN_8 {
            return below_ten_8(number as u32, into);
        }
        let (high, low) = (number / TEN_8, number % TEN_8);
        if high < TEN_8 {
            let bytes = below_ten_8(high as u32, into);
            put(into.add(bytes), digits(low as u32) | ZEROS);
            return bytes + 8;
        }
        let (top, middle) = (high / TEN_8, high % TEN_8);
        let bytes = below_ten_8(top as u32, into);
        put(into.add(bytes), digits(middle as u32) | ZEROS);
        put(into.add(bytes + 8), digits(low as u32) | ZEROS);
        bytes + 16
    }
}

/// Writes a number below 10^8; returns how many bytes it has.
///
/// # Safety
/// Eight bytes can be written.
#[inline(always)]
unsafe fn below_ten_8(number: u32, into: *mut u8) -> usize {
    // SAFETY: what the caller promises.
    unsafe {
        if number < 100 {
            return below_100(number, into);
        }
        let digits = digits(number);
        let leading = digits.trailing_zeros() & !7;
        put(into, (digits | ZEROS) >> leading);
        8 - leading as usize / 8
    }
}

/// Writes a number below 100; returns how many bytes it has.
///
/// # Safety
/// Two bytes can be written.
#[inline(always)]
pub(super) unsafe fn below_100(number: u32, into: *mut u8) -> usize {
    let is_one = number < 10;
    let pair = u16::from_le_bytes(PAIRS[number as usize]) >> (8 * u32::from(is_one));
    // SAFETY: what the caller promises.
    unsafe { into.cast::<[u8; 2]>().write_unaligned(pair.to_le_bytes()) };
    2 - usize::from(is_one)
}

/// Writes eight bytes, the lowest first.
///
/// # Safety
/// They can be written.
#[inline(always)]
pub(super) unsafe fn put(into: *mut u8, bytes: u64) {
    // SAFETY: what the caller promises.
    unsafe { into.cast::<[u8; 8]>().write_unaligned(bytes.to_le_bytes()) }
}

/// Returns the eight digits of a number below 10^8, as numbers in bytes, the first lowest.
///
/// Halves of four digits, of these halves of two, and of these digits, each time all at once: a
/// quotient by a product and a shift, and what it leaves. (Khuong 2017, "How to print integers
/// really fast".)
#[inline(always)]
pub(super) const fn digits(number: u32) -> u64 {
    let high = number / 10_000;
    let halves = high as u64 | ((number - 10_000 * high) as u64) << 32;
    // 10486 / 2^20 is 1 / 100 for less than 10^4.
    let hundreds = (halves * 10_486) >> 20 & 0x7f_0000_007f;
    let pairs = hundreds | (halves - 100 * hundreds) << 16;
    // 103 / 2^10 is 1 / 10 for less than 100.
    let tens = (pairs * 103) >> 10 & 0x000f_000f_000f_000f;
    tens | (pairs - 10 * tens) << 8
}
