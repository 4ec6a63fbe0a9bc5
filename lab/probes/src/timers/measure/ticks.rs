//! The processor's own counter of ticks: TSC on x86-64, CNTVCT on AArch64.

#[cfg(target_arch = "x86_64")]
use std::arch::x86_64::{__cpuid, __rdtscp, _mm_lfence, _rdtsc};

/// What the counter is called, and the instruction of [`now`]; empty where there is none.
pub(super) const NAME: &str = WORDS.0;
/// See [`NAME`].
pub(super) const INSTRUCTION: &str = WORDS.1;

const WORDS: (&str, &str) = if cfg!(target_arch = "x86_64") {
    ("TSC", "rdtsc")
} else if cfg!(target_arch = "aarch64") {
    ("CNTVCT", "mrs cntvct_el0")
} else {
    ("", "")
};

/// Whether the counter can be read by a program. A process may have been forbidden to read it;
/// reading would then end the process.
pub(crate) fn is_there() -> bool {
    const PR_GET_TSC: libc::c_int = 25;
    const PR_TSC_ENABLE: libc::c_int = 1;
    if !cfg!(target_arch = "x86_64") {
        return cfg!(target_arch = "aarch64");
    }
    let mut mode: libc::c_int = 0;
    // SAFETY: `mode` is a valid place for the result.
    let error = unsafe { libc::prctl(PR_GET_TSC, &raw mut mode) };
    error == 0 && mode == PR_TSC_ENABLE
}

/// Returns the counter, as cheaply as it can be read; other instructions may pass it.
#[inline(always)]
pub(super) fn now() -> u64 {
    #[cfg(target_arch = "x86_64")]
    // SAFETY: every x86-64 CPU has the instruction, and callers asked whether it is permitted.
    let ticks = unsafe { _rdtsc() };
    #[cfg(target_arch = "aarch64")]
    let ticks = {
        let ticks: u64;
        // SAFETY: Linux lets every program read this register; it changes nothing.
        unsafe { std::arch::asm!("mrs {}, cntvct_el0", out(reg) ticks, options(nomem, nostack)) };
        ticks
    };
    #[cfg(not(any(target_arch = "x86_64", target_arch = "aarch64")))]
    let ticks = 0;
    ticks
}

/// Returns the counter after everything before it in the program is done.
#[inline(always)]
pub(crate) fn now_in_order() -> u64 {
    #[cfg(target_arch = "x86_64")]
    // SAFETY: every x86-64 CPU has the fence.
    unsafe {
        _mm_lfence();
    }
    #[cfg(target_arch = "aarch64")]
    // SAFETY: a barrier for the instructions before it.
    unsafe {
        std::arch::asm!("isb", options(nostack));
    }
    now()
}

/// Returns the counter by the instruction that waits for what is before it; `None` where there is
/// none.
#[cfg(target_arch = "x86_64")]
pub(super) fn waiting() -> Option<fn() -> u64> {
    // Leaf 0x80000001, EDX bit 27.
    let is_there = __cpuid(0x8000_0001).edx >> 27 & 1 == 1;
    is_there.then_some(|| {
        let mut cpu = 0;
        // SAFETY: the processor says that it has the instruction; `cpu` is a valid place for its
        // second result.
        unsafe { __rdtscp(&raw mut cpu) }
    })
}

/// See above.
#[cfg(not(target_arch = "x86_64"))]
pub(super) fn waiting() -> Option<fn() -> u64> {
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_counter_moves_forward_on_one_cpu() {
        if !is_there() {
            return;
        }
        let cpu = tiebreak_machine::cpus::allowed()[0];
        std::thread::spawn(move || {
            tiebreak_machine::cpus::pin_this_thread(&[cpu]).unwrap();
            let first = now_in_order();
            let then = waiting().map_or_else(now_in_order, |read| read());
            assert!(now_in_order() >= then && then >= first);
        })
        .join()
        .unwrap();
    }
}
