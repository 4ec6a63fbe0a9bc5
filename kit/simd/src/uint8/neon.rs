//! Four lines in a register of 16 bytes on AArch64.

use super::lines::{STEP_BYTES, Step, compiled};
use crate::block::bits_of;
use core::arch::aarch64::*;

compiled!(neon, uint8x16_t, #[target_feature(enable = "neon")]);

impl Step for uint8x16_t {
    #[inline(always)]
    unsafe fn load(from: *const u8) -> uint8x16_t {
        // SAFETY: every AArch64 has NEON; the caller's bytes can be read.
        unsafe { vld1q_u8(from) }
    }

    #[inline(always)]
    unsafe fn ends(self) -> u32 {
        // SAFETY: every AArch64 has NEON.
        unsafe { bits_of(vceqq_u8(self, vdupq_n_u8(b'\n'))) as u32 }
    }

    #[inline(always)]
    unsafe fn numbers(self, order: &[u8; STEP_BYTES]) -> (u64, bool) {
        const WEIGHTS: [u8; 16] = [100, 10, 1, 0, 100, 10, 1, 0, 100, 10, 1, 0, 100, 10, 1, 0];
        // SAFETY: every AArch64 has NEON; there are 16 bytes of an order.
        unsafe {
            let digits = vsubq_u8(self, vdupq_n_u8(b'0'));
            let cells = vqtbl1q_u8(digits, vld1q_u8(order.as_ptr()));
            let weights = vld1q_u8(WEIGHTS.as_ptr());
            let low = vmull_u8(vget_low_u8(cells), vget_low_u8(weights));
            let high = vmull_high_u8(cells, weights);
            let sums = vpaddq_u16(vpaddq_u16(low, high), vdupq_n_u16(0));
            let numbers = vgetq_lane_u64::<0>(vreinterpretq_u64_u16(sums));
            (numbers, vmaxvq_u8(cells) <= 9 && vmaxvq_u16(sums) <= 255)
        }
    }
}
