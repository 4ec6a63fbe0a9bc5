//! The processor's own counter of ticks: TSC on x86-64, CNTVCT on AArch64.

pub(crate) use imp::is_there;
pub(super) use imp::{INSTRUCTION, NAME, now, now_in_order, waiting};

#[cfg(target_arch = "x86_64")]
mod imp {
    use std::arch::x86_64::{__rdtscp, _mm_lfence, _rdtsc};

    /// What the counter is called.
    pub const NAME: &str = "TSC";
    /// The instruction of [`now`].
    pub const INSTRUCTION: &str = "rdtsc";
    const PR_GET_TSC: libc::c_int = 25;
    const PR_TSC_ENABLE: libc::c_int = 1;

    /// Whether the counter can be read by a program. A process may have been forbidden to read it;
    /// reading would then end the process.
    pub fn is_there() -> bool {
        let mut mode: libc::c_int = 0;
        // SAFETY: `mode` is a valid place for the result.
        let error = unsafe { libc::prctl(PR_GET_TSC, &raw mut mode) };
        error == 0 && mode == PR_TSC_ENABLE
    }

    /// Returns the counter, as cheaply as it can be read; other instructions may pass it.
    #[inline(always)]
    pub fn now() -> u64 {
        // SAFETY: every x86-64 CPU has the instruction, and callers asked whether it is permitted.
        unsafe { _rdtsc() }
    }

    /// Returns the counter after everything before it in the program is done.
    #[inline(always)]
    pub fn now_in_order() -> u64 {
        // SAFETY: every x86-64 CPU has the fence.
        unsafe { _mm_lfence() };
        now()
    }

    /// Returns the counter by the instruction that waits for what is before it; `None` where there
    /// is none.
    pub fn waiting() -> Option<fn() -> u64> {
        // Leaf 0x80000001, EDX bit 27.
        let is_there = std::arch::x86_64::__cpuid(0x8000_0001).edx >> 27 & 1 == 1;
        is_there.then_some(read_waiting as fn() -> u64)
    }

    #[inline(always)]
    fn read_waiting() -> u64 {
        let mut cpu = 0;
        // SAFETY: only called where the processor says that it has the instruction; `cpu` is a
        // valid place for its second result.
        unsafe { __rdtscp(&raw mut cpu) }
    }
}

#[cfg(target_arch = "aarch64")]
mod imp {
    pub const NAME: &str = "CNTVCT";
    pub const INSTRUCTION: &str = "mrs cntvct_el0";

    pub fn is_there() -> bool {
        true
    }

    #[inline(always)]
    pub fn now() -> u64 {
        let ticks: u64;
        // SAFETY: Linux lets every program read this register; it changes nothing.
        unsafe { std::arch::asm!("mrs {}, cntvct_el0", out(reg) ticks, options(nomem, nostack)) };
        ticks
    }

    #[inline(always)]
    pub fn now_in_order() -> u64 {
        // SAFETY: a barrier for the instructions before it.
        unsafe { std::arch::asm!("isb", options(nostack)) };
        now()
    }

    pub fn waiting() -> Option<fn() -> u64> {
        None
    }
}

#[cfg(not(any(target_arch = "x86_64", target_arch = "aarch64")))]
mod imp {
    pub const NAME: &str = "";
    pub const INSTRUCTION: &str = "";

    pub fn is_there() -> bool {
        false
    }

    pub fn now() -> u64 {
        0
    }

    pub fn now_in_order() -> u64 {
        0
    }

    pub fn waiting() -> Option<fn() -> u64> {
        None
    }
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
