//! Bytes in a register, loaded without any beyond them.

#[cfg(target_arch = "x86_64")]
mod part;
#[cfg(target_arch = "x86_64")]
mod x86;

/// Bytes in a register.
///
/// # Safety
/// All functions need the instructions of the form, and bytes that can be read.
pub(crate) trait Block: Copy {
    /// How many there are, at most 64.
    const BYTES: usize;

    /// Whether a mask says which are loaded and stored, so that a part costs what a whole one does.
    const IS_MASKED: bool = false;

    /// Loads as many as there is room for.
    unsafe fn load(from: *const u8) -> Self;

    /// Loads fewer (those with a mask also as many), but at least one, and reads no other; what is
    /// above them is 0.
    unsafe fn load_part(from: *const u8, count: usize) -> Self;
}

/// Returns the mask of a number of bytes, at most 64.
#[inline(always)]
pub(crate) const fn first_bits(count: usize) -> u64 {
    if count >= 64 { u64::MAX } else { (1 << count) - 1 }
}

/// Returns a bit of each of 16 bytes that are all ones or all zeros: no instruction collects them,
/// so they are added up by halves.
///
/// # Safety
/// Needs nothing: every AArch64 has NEON.
#[cfg(target_arch = "aarch64")]
#[inline(always)]
pub(crate) unsafe fn bits_of(all: core::arch::aarch64::uint8x16_t) -> u64 {
    use core::arch::aarch64::*;
    const EACH_BIT: [u8; 16] = [1, 2, 4, 8, 16, 32, 64, 128, 1, 2, 4, 8, 16, 32, 64, 128];
    // SAFETY: every AArch64 has NEON; the table has 16 bytes.
    unsafe {
        let marks = vandq_u8(all, vld1q_u8(EACH_BIT.as_ptr()));
        let (low, high) = (vaddv_u8(vget_low_u8(marks)), vaddv_u8(vget_high_u8(marks)));
        u64::from(low) | u64::from(high) << 8
    }
}

#[cfg(target_arch = "aarch64")]
impl Block for core::arch::aarch64::uint8x16_t {
    const BYTES: usize = 16;

    #[inline(always)]
    unsafe fn load(from: *const u8) -> Self {
        // SAFETY: the caller's 16 bytes can be read.
        unsafe { core::arch::aarch64::vld1q_u8(from) }
    }

    #[inline(always)]
    unsafe fn load_part(from: *const u8, count: usize) -> Self {
        let mut bytes = [0; 16];
        // SAFETY: the caller's bytes can be read, and there are fewer than 16.
        unsafe {
            core::ptr::copy_nonoverlapping(from, bytes.as_mut_ptr(), count);
            core::arch::aarch64::vld1q_u8(bytes.as_ptr())
        }
    }
}
