//! Four words at a time on AArch64.

use super::doubling::{Functions, functions};
use super::words::{Words, instructions};
use core::arch::aarch64::*;

pub(super) static NEON: Functions = functions!(
    #[target_feature(enable = "neon")]
    uint32x4_t
);

impl Words for uint32x4_t {
    const LANES: usize = 4;

    instructions!(vdupq_n_u32, vld1q_u32, vst1q_u32, vaddq_u32, vsubq_u32);

    #[inline(always)]
    unsafe fn times(self, other: uint32x4_t) -> uint32x4_t {
        // SAFETY: every AArch64 has NEON.
        unsafe { vmulq_u32(self, other) }
    }

    #[inline(always)]
    unsafe fn equal(self, other: uint32x4_t) -> u32 {
        // SAFETY: every AArch64 has NEON.
        unsafe { vaddvq_u32(vshrq_n_u32::<31>(vceqq_u32(self, other))) }
    }

    #[inline(always)]
    unsafe fn bytes<const IS_SIGNED: bool>(from: *const u8) -> uint32x4_t {
        // SAFETY: the caller's four bytes can be read; every AArch64 has NEON.
        unsafe {
            let bytes = vcreate_u8(u64::from(from.cast::<u32>().read_unaligned()));
            if IS_SIGNED {
                let halves = vmovl_s8(vreinterpret_s8_u8(bytes));
                vreinterpretq_u32_s32(vmovl_s16(vget_low_s16(halves)))
            } else {
                vmovl_u16(vget_low_u16(vmovl_u8(bytes)))
            }
        }
    }
}
