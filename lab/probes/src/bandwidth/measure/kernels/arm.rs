//! Vectors of 64-bit Arm. Stores past the caches are `stnp`, which is a hint there.

use super::{PATTERN, Vectors};
use std::arch::aarch64::{uint64x2_t, vaddq_u64, vdupq_n_u64, vgetq_lane_u64, vld1q_u64};

/// Every such CPU has them.
pub(super) const NEON: Vectors = Vectors { name: "NEON", read, write, fill, copy, copy_past };

const BYTES: usize = size_of::<uint64x2_t>();

/// # Safety
/// As [`Vectors::run`].
unsafe fn read(from: *const u8, bytes: usize) -> u64 {
    // SAFETY: every 64-bit Arm CPU has these instructions; the loads are within `bytes`, a multiple
    // of four vectors, and aligned.
    unsafe {
        let mut sums = [vdupq_n_u64(0); 4];
        for at in (0..bytes).step_by(4 * BYTES) {
            for (lane, sum) in sums.iter_mut().enumerate() {
                *sum = vaddq_u64(*sum, vld1q_u64(from.add(at + lane * BYTES).cast()));
            }
        }
        let sum = vaddq_u64(vaddq_u64(sums[0], sums[1]), vaddq_u64(sums[2], sums[3]));
        vgetq_lane_u64::<0>(sum).wrapping_add(vgetq_lane_u64::<1>(sum))
    }
}

/// # Safety
/// As [`Vectors::run`].
unsafe fn write(to: *mut u8, bytes: usize) {
    // SAFETY: every 64-bit Arm CPU has these instructions.
    let value = unsafe { vdupq_n_u64(PATTERN) };
    for at in (0..bytes).step_by(BYTES) {
        // SAFETY: within `bytes`, a multiple of a vector, and aligned.
        unsafe { to.add(at).cast::<uint64x2_t>().write_volatile(value) };
    }
}

/// # Safety
/// As [`Vectors::run`].
unsafe fn fill(to: *mut u8, bytes: usize) {
    for at in (0..bytes).step_by(BYTES) {
        // SAFETY: two words of 64 bits within `bytes`, a multiple of a vector, and aligned.
        unsafe {
            std::arch::asm!(
                "stnp {value}, {value}, [{to}]",
                value = in(reg) PATTERN,
                to = in(reg) to.add(at),
                options(nostack, preserves_flags),
            );
        }
    }
}

/// # Safety
/// As [`Vectors::run`].
unsafe fn copy(from: *const u8, to: *mut u8, bytes: usize) {
    for at in (0..bytes).step_by(BYTES) {
        // SAFETY: within `bytes` of both, a multiple of a vector, and aligned; every such CPU has
        // the instructions.
        unsafe {
            let value = vld1q_u64(from.add(at).cast());
            to.add(at).cast::<uint64x2_t>().write_volatile(value);
        }
    }
}

/// # Safety
/// As [`Vectors::run`].
unsafe fn copy_past(from: *const u8, to: *mut u8, bytes: usize) {
    for at in (0..bytes).step_by(BYTES) {
        // SAFETY: two words of 64 bits within `bytes` of both, a multiple of a vector, and aligned.
        unsafe {
            std::arch::asm!(
                "ldp {first}, {second}, [{from}]",
                "stnp {first}, {second}, [{to}]",
                first = out(reg) _,
                second = out(reg) _,
                from = in(reg) from.add(at),
                to = in(reg) to.add(at),
                options(nostack, preserves_flags),
            );
        }
    }
}
