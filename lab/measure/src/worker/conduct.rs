//! What contestants do to their process beside what they are asked: looked at around each of their
//! batches, outside the timed span, and put back where that can be done.

use std::arch::asm;

/// Words of an affinity mask: room for 8192 CPUs, the most that a kernel is built for.
const MASK_WORDS: usize = 128;

/// It changed on which CPUs the thread may run.
pub(crate) const AFFINITY: u64 = 1;
/// It changed how the CPU rounds, or what it makes of tiny numbers.
pub(crate) const ROUNDING: u64 = 2;
/// It left a process behind.
pub(crate) const CHILD: u64 = 4;
/// It left a thread behind that its `run` had started.
pub(crate) const THREAD: u64 = 8;

/// What each of these bits is called, without its subject.
pub(crate) const SENTENCES: [(u64, &str); 4] = [
    (AFFINITY, "changed on which CPUs its process may run"),
    (ROUNDING, "changed how the CPU rounds for all who follow"),
    (CHILD, "left a process behind that it had started"),
    (THREAD, "left a thread behind that its 'run' had started"),
];

/// The thread and its process as they should be.
pub(super) struct Conduct {
    mask: [u64; MASK_WORDS],
    control: u64,
    threads: u64,
    /// Whether a child was found already: it stays, and is nobody else's.
    has_child: bool,
}

impl Conduct {
    /// As they are now.
    pub(super) fn now() -> Conduct {
        Conduct { mask: mask(), control: control(), threads: threads(), has_child: has_child() }
    }

    /// What was changed since the last look; put back, but for what was started.
    pub(super) fn look(&mut self) -> u64 {
        let mut found = 0;
        if mask() != self.mask {
            found |= AFFINITY;
            // SAFETY: the mask is as long as the call is told, and is only read.
            unsafe {
                libc::sched_setaffinity(0, size_of_val(&self.mask), self.mask.as_ptr().cast());
            }
        }
        if control() != self.control {
            found |= ROUNDING;
            self.restore_rounding();
        }
        if !self.has_child && has_child() {
            found |= CHILD;
            self.has_child = true;
        }
        let threads = threads();
        if threads > self.threads {
            found |= THREAD;
            self.threads = threads;
        }
        found
    }

    /// The same after `prepare`, which may start threads where a study is about that.
    pub(super) fn look_at_prepare(&mut self) -> u64 {
        self.look() & !THREAD
    }

    /// Has the CPU round as it should: libraries that were built with -ffast-math change it for the
    /// whole process when they are loaded.
    pub(super) fn restore_rounding(&self) {
        set_control(self.control);
    }
}

fn mask() -> [u64; MASK_WORDS] {
    let mut mask = [0; MASK_WORDS];
    // SAFETY: the mask is as long as the call is told, and the kernel writes no more than that.
    unsafe { libc::sched_getaffinity(0, size_of_val(&mask), mask.as_mut_ptr().cast()) };
    mask
}

/// Whether this process has a child that nobody has waited for.
fn has_child() -> bool {
    let flags = libc::WEXITED | libc::WNOHANG | libc::WNOWAIT | libc::__WALL;
    // SAFETY: all zero bytes are valid there, and the call writes no more than one of them.
    unsafe {
        let mut told: libc::siginfo_t = std::mem::zeroed();
        libc::waitid(libc::P_ALL, 0, &raw mut told, flags) == 0
    }
}

/// How many threads the process has: the kernel counts their folders as links.
fn threads() -> u64 {
    // SAFETY: the path ends with a zero byte, and the call writes no more than one entry.
    unsafe {
        let mut entry: libc::stat = std::mem::zeroed();
        let status = libc::stat(c"/proc/self/task".as_ptr(), &raw mut entry);
        if status == 0 { entry.st_nlink as u64 } else { 0 }
    }
}

/// The bits of MXCSR that control; the others tell what happened.
#[cfg(target_arch = "x86_64")]
fn control() -> u64 {
    let mut word = 0_u32;
    // SAFETY: the instruction writes one word.
    unsafe { asm!("stmxcsr [{}]", in(reg) &raw mut word, options(nostack, preserves_flags)) };
    u64::from(word & !0x3f)
}

#[cfg(target_arch = "x86_64")]
fn set_control(control: u64) {
    let word = control as u32;
    // SAFETY: the word was read by `control`, so all of its bits may be set.
    unsafe {
        asm!("ldmxcsr [{}]", in(reg) &raw const word, options(nostack, preserves_flags, readonly));
    }
}

#[cfg(target_arch = "aarch64")]
fn control() -> u64 {
    let word: u64;
    // SAFETY: the instruction reads a register that every program may read.
    unsafe { asm!("mrs {}, fpcr", out(reg) word, options(nomem, nostack, preserves_flags)) };
    word
}

#[cfg(target_arch = "aarch64")]
fn set_control(control: u64) {
    // SAFETY: the word was read from there.
    unsafe { asm!("msr fpcr, {}", in(reg) control, options(nomem, nostack, preserves_flags)) };
}
