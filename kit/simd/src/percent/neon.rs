//! Five bytes in a register of 16, on AArch64.

use super::steps::{FIVE, ORDERS, Steps};
use core::arch::aarch64::*;

/// No byte of a lookup: it gives 0.
const NONE: u8 = 255;

impl Steps for uint8x16_t {
    const STEP: usize = FIVE;

    #[inline(always)]
    unsafe fn store(self, into: *mut u8) {
        // SAFETY: every AArch64 has NEON; the caller's bytes can be written.
        unsafe { vst1q_u8(into, self) }
    }

    #[inline(always)]
    unsafe fn write(from: *const u8, _left: usize, escaped: usize, into: *mut u8) {
        const TWICE: [u8; 16] = [NONE, NONE, NONE, NONE, NONE, 0, 1, 2, 3, 4, 0, 1, 2, 3, 4, NONE];
        /// Upper halves are moved down by four bits, all else by none.
        const DOWN: [i8; 16] = [0, 0, 0, 0, 0, -4, -4, -4, -4, -4, 0, 0, 0, 0, 0, 0];
        /// Bytes 0 to 4 are no digits, and the last is the sign.
        const DIGITS: [u8; 16] = [0, 0, 0, 0, 0, 15, 15, 15, 15, 15, 15, 15, 15, 15, 15, 0];
        const FIRST: [u8; 16] = [0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, NONE];
        // SAFETY: every AArch64 has NEON; the caller's bytes can be read and written.
        unsafe {
            let bytes = vcombine_u8(vld1_u8(from), vdup_n_u8(0));
            let twice = vqtbl1q_u8(bytes, vld1q_u8(TWICE.as_ptr()));
            let is_digit = vld1q_u8(DIGITS.as_ptr());
            let halves = vandq_u8(vshlq_u8(twice, vld1q_s8(DOWN.as_ptr())), is_digit);
            let digits = vqtbl1q_u8(vld1q_u8(b"0123456789ABCDEF".as_ptr()), halves);
            let all = vbslq_u8(vtstq_u8(is_digit, is_digit), digits, bytes);
            // The last byte becomes the sign, whose place no lookup finds.
            let all = vqtbx1q_u8(vdupq_n_u8(b'%'), all, vld1q_u8(FIRST.as_ptr()));
            vst1q_u8(into, vqtbl1q_u8(all, vld1q_u8(ORDERS[escaped].as_ptr())));
        }
    }
}
