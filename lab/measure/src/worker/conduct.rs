//! Side effects of contestants on their process: checked around each of their batches, outside the
//! timed span, and undone where possible.

use crate::wire::area::{Record, conduct};
use crate::wire::mapping::PAGE_BYTES;
use std::arch::asm;
use std::fs::File;
use std::os::unix::fs::FileExt;
use tiebreak_machine::cpus;

/// The original state of the thread and its process.
pub(super) struct Conduct {
    mask: cpus::Mask,
    priority: Priority,
    control: u64,
    threads: u64,
    /// The threads of the worker itself.
    own_threads: u64,
    /// Whether `prepare` may start processes.
    starts_processes: bool,
    /// Whether a child was found already: it stays, and counts only once.
    has_child: bool,
    /// The file of the kernel that lists the timers that the process has made.
    timers: Option<File>,
    /// The file of the kernel that says how much memory the process has.
    memory: Option<File>,
    /// How much was printed, and how much memory was mapped, when the last run began.
    printed_bytes: i64,
    mapped_bytes: u64,
}

impl Conduct {
    /// Records the current state.
    pub(super) fn now(starts_processes: bool) -> Conduct {
        Conduct {
            mask: cpus::affinity(),
            priority: priority(),
            control: control(),
            threads: threads(),
            own_threads: threads(),
            starts_processes,
            has_child: has_child(),
            timers: File::open("/proc/self/timers").ok(),
            memory: File::open("/proc/self/statm").ok(),
            printed_bytes: 0,
            mapped_bytes: 0,
        }
    }

    /// Records the state before the calls that [`Conduct::look_at_run`] checks.
    pub(super) fn begin_run(&mut self) {
        self.printed_bytes = printed_bytes();
        self.mapped_bytes = self.mapped_bytes();
    }

    /// Records in the batch's record what has changed since [`Conduct::begin_run`]. Output and
    /// memory belong to the whole process: if a `prepare` started threads, the contestant that
    /// caused a change is unknown, and none is accused.
    pub(super) fn look_at_run(&mut self, record: &mut Record) {
        let is_alone = threads() <= self.own_threads;
        record.conduct |= self.look();
        if is_alone {
            record.grown_bytes = self.mapped_bytes().saturating_sub(self.mapped_bytes);
            if printed_bytes() > self.printed_bytes {
                record.conduct |= conduct::PRINTED;
            }
        }
    }

    /// Returns all that this process has mapped, shared and private, files and memory: the first
    /// number of its `statm`; 0 if the kernel does not report it.
    fn mapped_bytes(&self) -> u64 {
        let mut text = [0; 128];
        let length = self.memory.as_ref().and_then(|file| file.read_at(&mut text, 0).ok());
        let text = std::str::from_utf8(&text[..length.unwrap_or(0)]).unwrap_or_default();
        let pages = text.split_ascii_whitespace().next().and_then(|pages| pages.parse().ok());
        pages.unwrap_or(0) * PAGE_BYTES as u64
    }

    /// Returns what was changed since the last check, and undoes it, except for what was started.
    pub(super) fn look(&mut self) -> u64 {
        let mut found = 0;
        if cpus::affinity() != self.mask {
            found |= conduct::AFFINITY;
            let _ = cpus::set_affinity(&self.mask);
        }
        if priority() != self.priority {
            found |= conduct::PRIORITY;
            // SAFETY: the words contain their own length, and are only read.
            unsafe { libc::syscall(libc::SYS_sched_setattr, 0, self.priority.as_ptr(), 0) };
        }
        if control() != self.control {
            found |= conduct::ROUNDING;
            set_control(self.control);
        }
        if !self.has_child && has_child() {
            found |= conduct::CHILD;
            self.has_child = true;
        }
        let threads = threads();
        if threads > self.threads {
            found |= conduct::THREAD;
            self.threads = threads;
        }
        if self.disarm_timers() {
            found |= conduct::TIMER;
        }
        found
    }

    /// Checks the same after `prepare`, which may start threads if a study is about that, and
    /// processes if the study says so; so many threads were started by the worker itself.
    pub(super) fn look_at_prepare(&mut self, started: usize) -> u64 {
        self.own_threads += started as u64;
        let child = if self.starts_processes { conduct::CHILD } else { 0 };
        self.look() & !(conduct::THREAD | child)
    }

    /// Undoes what libraries change for the whole process when they are loaded: how the CPU rounds,
    /// if they were built with -ffast-math, and timers.
    pub(super) fn restore(&self) {
        set_control(self.control);
        self.disarm_timers();
    }

    /// Stops every timer that would signal this process, and returns whether there was one. POSIX
    /// timers are found if the kernel lists them (`CONFIG_CHECKPOINT_RESTORE`).
    fn disarm_timers(&self) -> bool {
        let mut found = false;
        for which in [libc::ITIMER_REAL, libc::ITIMER_VIRTUAL, libc::ITIMER_PROF] {
            // SAFETY: all zero bytes are valid there; the call reads one of them and writes one.
            unsafe {
                let never: libc::itimerval = std::mem::zeroed();
                let mut timer = never;
                libc::setitimer(which, &raw const never, &raw mut timer);
                found |= timer.it_value.tv_sec != 0 || timer.it_value.tv_usec != 0;
            }
        }
        let Some(timers) = &self.timers else { return found };
        let (mut text, mut at) = ([0; 4096], 0);
        while let Ok(length) = timers.read_at(&mut text, at)
            && let Some(end) = text[..length].iter().rposition(|byte| *byte == b'\n')
        {
            let lines = text[..end].split(|byte| *byte == b'\n');
            for number in lines.filter_map(|line| line.strip_prefix(b"ID: ")) {
                let number = std::str::from_utf8(number).ok().and_then(|text| text.parse().ok());
                found |= number.is_some_and(disarm_made);
            }
            at += end as u64 + 1;
        }
        found
    }
}

/// The kernel's `sched_attr`: its length and the policy, flags, the nice value and the priority;
/// then what concerns only deadlines, or a time slice that the kernel may change by itself.
type Priority = [u64; 6];

/// Returns how the scheduler treats this thread; all 0 if the kernel does not report it.
fn priority() -> Priority {
    let mut words: Priority = [0; 6];
    let bytes = size_of_val(&words);
    // SAFETY: the call gets the length of the words, and the kernel writes no more than that.
    unsafe { libc::syscall(libc::SYS_sched_getattr, 0, words.as_mut_ptr(), bytes, 0) };
    words[3..].fill(0);
    words
}

/// Returns whether this process has a child that was not waited for.
fn has_child() -> bool {
    let flags = libc::WEXITED | libc::WNOHANG | libc::WNOWAIT | libc::__WALL;
    // SAFETY: all zero bytes are valid there, and the call writes no more than one of them.
    unsafe {
        let mut found: libc::siginfo_t = std::mem::zeroed();
        libc::waitid(libc::P_ALL, 0, &raw mut found, flags) == 0
    }
}

/// Stops a POSIX timer, given the kernel's number for it, and returns whether it was armed.
fn disarm_made(number: i32) -> bool {
    // SAFETY: all zero bytes are valid there; the call reads one of them and writes one at most.
    // The kernel refuses the number of a deleted timer.
    unsafe {
        let never: libc::itimerspec = std::mem::zeroed();
        let mut timer = never;
        libc::syscall(libc::SYS_timer_settime, number, 0, &raw const never, &raw mut timer);
        timer.it_value.tv_sec != 0 || timer.it_value.tv_nsec != 0
    }
}

/// Returns how many bytes were printed so far: both standard streams of a worker are one file with
/// one write position. Flushes the buffer of C's `stdout` first.
fn printed_bytes() -> i64 {
    unsafe extern "C" {
        static mut stdout: *mut libc::FILE;
    }
    // SAFETY: the C library keeps its stream there as long as the process lives; the calls write
    // out its buffer and return a number.
    unsafe {
        libc::fflush(stdout);
        libc::lseek(libc::STDERR_FILENO, 0, libc::SEEK_CUR)
    }
}

/// Returns how many threads the process has: the kernel counts their folders as links.
pub(super) fn threads() -> u64 {
    // SAFETY: the path ends with a zero byte, and the call writes no more than one entry.
    unsafe {
        let mut entry: libc::stat = std::mem::zeroed();
        let status = libc::stat(c"/proc/self/task".as_ptr(), &raw mut entry);
        if status == 0 { entry.st_nlink as u64 } else { 0 }
    }
}

/// Returns the control bits of MXCSR; the others are status flags.
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
    // SAFETY: the word was read from the same register.
    unsafe { asm!("msr fpcr, {}", in(reg) control, options(nomem, nostack, preserves_flags)) };
}
