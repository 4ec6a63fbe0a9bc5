//! What contestants do to their process beside what they are asked: looked at around each of their
//! batches, outside the timed span, and put back where that can be done.

use super::area::Record;
use super::memory::PAGE_BYTES;
use std::arch::asm;
use std::fs::File;
use std::os::unix::fs::FileExt;

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
/// Its `run` printed something.
pub(crate) const PRINTED: u64 = 16;

/// What each of these bits is called, without its subject.
pub(crate) const SENTENCES: [(u64, &str); 5] = [
    (AFFINITY, "changed on which CPUs its process may run"),
    (ROUNDING, "changed how the CPU rounds for all who follow"),
    (CHILD, "left a process behind that it had started"),
    (THREAD, "left a thread behind that its 'run' had started"),
    (PRINTED, "printed in 'run', to standard output or standard error"),
];

/// The thread and its process as they should be.
pub(super) struct Conduct {
    mask: [u64; MASK_WORDS],
    control: u64,
    threads: u64,
    /// The threads of the worker itself.
    own_threads: u64,
    /// Whether a child was found already: it stays, and is nobody else's.
    has_child: bool,
    /// Where the kernel tells how much memory the process has.
    memory: Option<File>,
    /// How much was printed, and how many addresses had memory, when the last run began.
    printed_bytes: i64,
    mapped_bytes: u64,
}

impl Conduct {
    /// As they are now.
    pub(super) fn now() -> Conduct {
        Conduct {
            mask: mask(),
            control: control(),
            threads: threads(),
            own_threads: threads(),
            has_child: has_child(),
            memory: File::open("/proc/self/statm").ok(),
            printed_bytes: 0,
            mapped_bytes: 0,
        }
    }

    /// To be called before the calls that [`Conduct::look_at_run`] is about.
    pub(super) fn begin_run(&mut self) {
        self.printed_bytes = printed_bytes();
        self.mapped_bytes = self.mapped_bytes();
    }

    /// What runs since [`Conduct::begin_run`] did, into the record of their batch. What is printed
    /// and what memory is kept is the process's: beside threads that a `prepare` started nobody
    /// knows whose it is, and nobody is accused.
    pub(super) fn look_at_run(&mut self, record: &mut Record) {
        let is_alone = threads() <= self.own_threads;
        record.conduct |= self.look();
        if is_alone {
            record.grown_bytes = self.mapped_bytes().saturating_sub(self.mapped_bytes);
            if printed_bytes() > self.printed_bytes {
                record.conduct |= PRINTED;
            }
        }
    }

    /// All that this process has mapped, shared and its own, files and memory: the first number of
    /// its `statm`. 0 where the kernel does not say.
    fn mapped_bytes(&self) -> u64 {
        let read = || {
            let mut text = [0; 128];
            let length = self.memory.as_ref()?.read_at(&mut text, 0).ok()?;
            let text = std::str::from_utf8(&text[..length]).ok()?;
            text.split_ascii_whitespace().next()?.parse::<u64>().ok()
        };
        read().unwrap_or(0) * PAGE_BYTES as u64
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

/// How much was printed so far: both standard streams of a worker are one file, with one place at
/// which is written next. What waits in the buffer of C's `stdout` is written first.
fn printed_bytes() -> i64 {
    unsafe extern "C" {
        static mut stdout: *mut libc::FILE;
    }
    // SAFETY: the C library keeps its stream there for as long as the process lives, and the calls
    // write what its buffer holds and ask for a number.
    unsafe {
        libc::fflush(stdout);
        libc::lseek(libc::STDERR_FILENO, 0, libc::SEEK_CUR)
    }
}

/// How many threads the process has: the kernel counts their folders as links.
pub(super) fn threads() -> u64 {
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
