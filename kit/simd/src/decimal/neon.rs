//! Four numbers at a time on AArch64.

use super::batch::compiled;
use super::eights::{AT_ONCE, Eights, LONGER, PACKED};
use core::arch::aarch64::*;

compiled!(
    #[target_feature(enable = "neon")]
    Neon
);

struct Neon;

impl Eights for Neon {
    #[inline(always)]
    unsafe fn write(numbers: &[u32; AT_ONCE], into: *mut u8, stride: usize) {
        for at in (0..AT_ONCE).step_by(4) {
            // SAFETY: every AArch64 has NEON, and what is written can be.
            unsafe {
                let numbers = vld1q_u32(numbers.as_ptr().add(at));
                // 3 518 437 209 / 2^45 is 1 / 10^4.
                let low = vmull_n_u32(vget_low_u32(numbers), 3_518_437_209);
                let high = vmull_high_n_u32(numbers, 3_518_437_209);
                let high = vshrn_high_n_u64::<32>(vshrn_n_u64::<32>(low), high);
                let high = vshrq_n_u32::<13>(high);
                let low = vmlsq_n_u32(numbers, high, 10_000);
                let halves = vreinterpretq_u16_u32(vsliq_n_u32::<16>(high, low));
                // 5243 / 2^19 is 1 / 100 for less than 10^4.
                let hundreds = vshrq_n_u16::<3>(upper(halves, 5243));
                let rest = vmlsq_n_u16(halves, hundreds, 100);
                let first = digits(vzip1q_u16(hundreds, rest));
                let second = digits(vzip2q_u16(hundreds, rest));
                for (at, text) in [(at, first), (at + 2, second)] {
                    let into = into.add(at * stride);
                    vst1_u8(into, vget_low_u8(text));
                    vst1_u8(into.add(stride), vget_high_u8(text));
                }
            }
        }
    }

    #[inline(always)]
    unsafe fn write_pairs(numbers: &[u32; AT_ONCE], separator: u8, into: *mut u8) -> usize {
        // SAFETY: every AArch64 has NEON, and what is written can be.
        unsafe {
            let first = vmovn_u32(vld1q_u32(numbers.as_ptr()));
            let second = vmovn_u32(vld1q_u32(numbers.as_ptr().add(4)));
            let numbers = vcombine_u16(first, second);
            // A bit of each, added up: no instruction collects them.
            let bits = vld1q_u16([1, 2, 4, 8, 16, 32, 64, 128].as_ptr());
            let are_one = vaddvq_u16(vandq_u16(vcltq_u16(numbers, vdupq_n_u16(10)), bits));
            let (text, separators) = (digits(numbers), vdup_n_u8(separator));
            let order = |set: u16| PACKED[usize::from(set)].as_ptr();
            let first = vcombine_u8(vget_low_u8(text), separators);
            let second = vcombine_u8(vget_high_u8(text), separators);
            vst1q_u8(into, vqtbl1q_u8(first, vld1q_u8(order(are_one & 15))));
            let middle = 12 - (are_one & 15).count_ones() as usize;
            vst1q_u8(into.add(middle), vqtbl1q_u8(second, vld1q_u8(order(are_one >> 4))));
            24 - are_one.count_ones() as usize
        }
    }

    #[inline(always)]
    unsafe fn count(numbers: &[u32; AT_ONCE]) -> [u32; AT_ONCE] {
        let mut counts = [0; AT_ONCE];
        for at in (0..AT_ONCE).step_by(4) {
            // SAFETY: every AArch64 has NEON; both have 16 bytes from there on.
            unsafe {
                let numbers = vreinterpretq_s32_u32(vld1q_u32(numbers.as_ptr().add(at)));
                let mut count = vdupq_n_u32(1);
                for longer in LONGER {
                    count = vsubq_u32(count, vcgtq_s32(numbers, vdupq_n_s32(longer)));
                }
                vst1q_u32(counts.as_mut_ptr().add(at), count);
            }
        }
        counts
    }
}

/// Returns the upper half of each product.
///
/// # Safety
/// Needs nothing: every AArch64 has NEON.
#[inline(always)]
unsafe fn upper(halves: uint16x8_t, factor: u16) -> uint16x8_t {
    // SAFETY: every AArch64 has NEON.
    unsafe {
        let low = vmull_n_u16(vget_low_u16(halves), factor);
        vshrn_high_n_u32::<16>(vshrn_n_u32::<16>(low), vmull_high_n_u16(halves, factor))
    }
}

/// Returns the two digits of each number below 100 as text.
///
/// # Safety
/// Needs nothing: every AArch64 has NEON.
#[inline(always)]
unsafe fn digits(pairs: uint16x8_t) -> uint8x16_t {
    // SAFETY: every AArch64 has NEON.
    unsafe {
        // 6554 / 2^16 is 1 / 10 for less than 100.
        let tens = upper(pairs, 6554);
        let ones = vmlsq_n_u16(pairs, tens, 10);
        let digits = vreinterpretq_u8_u16(vsliq_n_u16::<8>(tens, ones));
        vorrq_u8(digits, vdupq_n_u8(b'0'))
    }
}
