//! 16 bytes at a time on AArch64.

use super::lookup::{Bytes, compiled, instructions};
use core::arch::aarch64::*;

compiled!(
    #[target_feature(enable = "neon")]
    uint8x16_t
);

impl Bytes for uint8x16_t {
    instructions!(
        and = vandq_u8,
        or = vorrq_u8,
        xor = veorq_u8,
        max = vmaxq_u8,
        minus = vsubq_u8,
        minus_to_zero = vqsubq_u8,
        lookup = vqtbl1q_u8
    );

    #[inline(always)]
    unsafe fn splat(byte: u8) -> uint8x16_t {
        // SAFETY: every AArch64 has NEON.
        unsafe { vdupq_n_u8(byte) }
    }

    #[inline(always)]
    unsafe fn table(bytes: &[u8; 16]) -> uint8x16_t {
        // SAFETY: every AArch64 has NEON; there are 16 bytes.
        unsafe { vld1q_u8(bytes.as_ptr()) }
    }

    #[inline(always)]
    unsafe fn upper(self) -> uint8x16_t {
        // SAFETY: every AArch64 has NEON.
        unsafe { vshrq_n_u8::<4>(self) }
    }

    #[inline(always)]
    unsafe fn follows(self) -> uint8x16_t {
        // SAFETY: every AArch64 has NEON.
        unsafe { vcltq_s8(vreinterpretq_s8_u8(self), vdupq_n_s8(-64)) }
    }

    #[inline(always)]
    unsafe fn moved<const BY: i32>(self) -> uint8x16_t {
        // SAFETY: every AArch64 has NEON.
        unsafe {
            let zeros = vdupq_n_u8(0);
            match BY {
                1 => vextq_u8::<15>(zeros, self),
                2 => vextq_u8::<14>(zeros, self),
                _ => vextq_u8::<13>(zeros, self),
            }
        }
    }

    #[inline(always)]
    unsafe fn has_upper_bit(self) -> bool {
        // SAFETY: every AArch64 has NEON.
        unsafe { vmaxvq_u8(self) >= 0x80 }
    }

    #[inline(always)]
    unsafe fn is_zero(self) -> bool {
        // SAFETY: every AArch64 has NEON.
        unsafe { vmaxvq_u8(self) == 0 }
    }
}
