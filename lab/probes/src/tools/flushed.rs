//! Loads that no cache answers: of lines that were flushed just before.
//!
//! What a machine says of its last cache is no measure of what a program gets of it: a guest of a
//! machine shares it with others. A load of a flushed line comes from memory whatever the caches
//! hold, so a latency near that of flushed lines is memory's.

/// A latency is memory's if it is at least this share of what a load of a flushed line takes. Lines
/// that are flushed and loaded again may find their DRAM row open, which takes up to a fifth less
/// time; caches answer in two thirds of the time at most.
pub const MEMORY_SHARE: f64 = 0.75;

/// Writes a line back and takes it out of all caches; `false` where no program may do that.
///
/// # Safety
/// The address can be read.
#[inline]
pub(crate) unsafe fn line(at: *const u8) -> bool {
    #[cfg(target_arch = "x86_64")]
    {
        // SAFETY: the caller's; contents do not change, and every x86-64 has the instruction.
        unsafe { std::arch::x86_64::_mm_clflush(at) };
        true
    }
    #[cfg(not(target_arch = "x86_64"))]
    {
        let _ = at;
        false
    }
}

/// Waits until all flushes before it are done.
#[inline]
pub(crate) fn wait() {
    #[cfg(target_arch = "x86_64")]
    // SAFETY: a fence has no conditions.
    unsafe {
        std::arch::x86_64::_mm_mfence();
    }
}
