//! By what the data of a CPU is changed, and why so.

use super::rseq;
use crate::atomic::Published;
use std::fmt::{self, Display};

/// By what the data of a CPU is changed in this process.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Mode {
    /// Restartable sequences: no atomic instruction.
    Rseq(Registration),
    /// Atomic instructions on the slot of the CPU on which the thread ran a moment ago.
    Atomics(Reason),
}

/// What has registered where a thread's `struct rseq` is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Registration {
    /// The C library, for each thread that it makes: glibc since 2.35.
    Libc,
    /// This crate, for each thread at its first use: see [`Choice::OwnRegistration`].
    Own,
}

/// Why there are no restartable sequences.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Reason {
    /// Somebody asked for atomics: see [`Choice::Atomics`].
    #[error("the program asked for them")]
    Requested,
    /// They are written for Linux on x86-64 only.
    #[error("restartable sequences are written for x86-64 Linux only")]
    Architecture,
    /// Miri and loom know no restartable sequences.
    #[error("this runs in a model, which knows no restartable sequences")]
    Model,
    /// The C library registers no thread (musl, glibc before 2.35), though the kernel could.
    #[error("the C library registers no threads with rseq(2)")]
    NotOffered,
    /// The C library could have registered and did not, though the kernel answers now:
    /// `GLIBC_TUNABLES=glibc.pthread.rseq=0`.
    #[error(
        "the C library did not register its threads, as under GLIBC_TUNABLES=glibc.pthread.rseq=0"
    )]
    TurnedOff,
    /// The C library has registered, but not the thread that asked first.
    #[error("this thread is not registered with rseq(2)")]
    ThreadNotRegistered,
    /// The kernel, or a filter before it, refuses `rseq(2)` with this error number.
    #[error("rseq(2) is refused: {}", std::io::Error::from_raw_os_error(*.0))]
    Refused(i32),
    /// The layout that the C library tells is none that this crate knows.
    #[error("the C library's struct rseq has an unknown layout")]
    UnknownLayout,
}

/// What a process can ask for.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Choice {
    /// Restartable sequences where the C library has registered its threads, else atomics.
    #[default]
    Libc,
    /// The same, but where the C library does not register, each thread is registered at its first
    /// use, and taken out at its end. Only for programs in which no other library does so: a thread
    /// has one `struct rseq`, and who comes second is refused. (A thread that is refused works too,
    /// by atomics.)
    ///
    /// A thread's first use must not be [in the handler of a
    /// signal](super#in-the-handler-of-a-signal), as it allocates.
    OwnRegistration,
    /// Atomics, whatever there is.
    Atomics,
}

/// The mode of this process: who comes first with one decides, for good.
static MODE: Published<Mode> = Published::none();

/// The mode of this process, chosen at the first call by [`Choice::Libc`].
///
/// ```
/// use tiebreak_sync::per_cpu;
///
/// // "rseq, registered by the C library", or "atomics: ..." and why.
/// assert!(!per_cpu::mode().to_string().is_empty());
/// ```
pub fn mode() -> Mode {
    choose(Choice::Libc)
}

/// Chooses the mode of this process, if that was not done yet, and gives the mode in force.
/// Whatever was made before keeps its own.
///
/// ```
/// use tiebreak_sync::per_cpu::{self, Choice};
///
/// let mode = per_cpu::choose(Choice::OwnRegistration);
/// assert_eq!(per_cpu::choose(Choice::Atomics), mode, "it stays");
/// ```
pub fn choose(choice: Choice) -> Mode {
    *MODE.get_or_make(|| match choice {
        Choice::Atomics => Mode::Atomics(Reason::Requested),
        Choice::Libc => rseq::of_libc().map_or_else(Mode::Atomics, Mode::Rseq),
        Choice::OwnRegistration => {
            rseq::of_libc().or_else(rseq::of_own).map_or_else(Mode::Atomics, Mode::Rseq)
        }
    })
}

impl Display for Mode {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Mode::Rseq(Registration::Libc) => {
                formatter.write_str("rseq, registered by the C library")
            }
            Mode::Rseq(Registration::Own) => formatter.write_str("rseq, registered by tiebreak"),
            Mode::Atomics(reason) => write!(formatter, "atomics: {reason}"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::thread;

    #[test]
    fn threads_that_choose_at_once_agree() {
        static CHOSEN: Published<Mode> = Published::none();
        let modes: Vec<Mode> = thread::scope(|scope| {
            let choose = |errno| *CHOSEN.get_or_make(|| Mode::Atomics(Reason::Refused(errno)));
            let threads: Vec<_> = (0..8).map(|errno| scope.spawn(move || choose(errno))).collect();
            threads.into_iter().map(|thread| thread.join().unwrap()).collect()
        });
        assert!(modes.iter().all(|mode| *mode == modes[0]), "{modes:?}");
        assert_eq!(*CHOSEN.get_or_make(|| Mode::Atomics(Reason::Requested)), modes[0], "it stays");
    }

    #[test]
    #[cfg(not(any(miri, loom)))]
    fn a_process_that_is_forked_during_a_choice_makes_its_own() {
        use std::sync::mpsc;

        const SECONDS_MAX: u32 = 10;
        static CHOSEN: Published<Mode> = Published::none();
        let mode = Mode::Atomics(Reason::NotOffered);
        let ended = thread::scope(|scope| {
            let (begin, begun) = mpsc::channel();
            let (end, ended) = mpsc::channel::<()>();
            scope.spawn(move || {
                *CHOSEN.get_or_make(|| {
                    begin.send(()).unwrap();
                    let _ = ended.recv();
                    mode
                })
            });
            begun.recv().unwrap();
            // SAFETY: the child allocates, which C libraries allow after a fork, and ends. A clock
            // ends it if it waits.
            let child = unsafe { libc::fork() };
            if child == 0 {
                // SAFETY: both take numbers.
                unsafe { libc::alarm(SECONDS_MAX) };
                let own = *CHOSEN.get_or_make(|| Mode::Atomics(Reason::Requested));
                // SAFETY: as above.
                unsafe { libc::_exit(i32::from(own != Mode::Atomics(Reason::Requested))) };
            }
            let mut status = -1;
            // SAFETY: the status may be written.
            let ended = unsafe { libc::waitpid(child, &raw mut status, 0) };
            drop(end);
            (ended == child && child > 0).then_some(status)
        });
        assert_eq!(ended, Some(0), "the child has chosen, and did not wait");
        assert_eq!(*CHOSEN.get_or_make(|| Mode::Atomics(Reason::Requested)), mode);
    }
}
