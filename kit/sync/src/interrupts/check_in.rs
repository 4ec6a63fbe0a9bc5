//! Threads on CPUs of their own, which nothing interrupts: they check in by themselves.

use core::marker::PhantomData;
use core::sync::atomic::{AtomicU64, Ordering};
use std::sync::Arc;

use super::CpuSet;
use crate::atomic::Padded;

/// Bit 0 of a word: a thread attends. The rest counts its check-ins.
const ATTENDED: u64 = 1;

/// One check-in.
const STEP: u64 = 2;

/// Where the threads of a program that own their CPUs check in.
///
/// A CPU without regular interrupts (`isolcpus`, `nohz_full`) would make every barrier wait for
/// ever. The thread that owns it executes a locked instruction from time to time instead, and a
/// barrier that [began](super::Client::begin_with) with these check-ins takes a new one in place of
/// the CPU's interrupt.
///
/// The words belong to the program, not to the daemon: a barrier is for the threads of one program,
/// or of programs that trust each other, and no other one can then feign a check-in.
#[derive(Clone, Debug)]
pub struct CheckIns {
    /// One a CPU.
    words: Arc<[Padded<AtomicU64>]>,
}

/// Why a thread cannot attend.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum NotAttended {
    /// The thread can run elsewhere too.
    #[error("the thread is not bound to one CPU: set its affinity to exactly one first")]
    NotBound,
    /// There is no word for the CPU.
    #[error("there are no check-ins for CPU {0}: make them for more CPUs")]
    NoWord(usize),
    /// Another thread attends on the CPU.
    #[error("another thread checks in for CPU {0}: one must stop first")]
    Taken(usize),
}

impl CheckIns {
    /// Check-ins for the CPUs with numbers below `cpus`.
    pub fn new(cpus: usize) -> CheckIns {
        CheckIns { words: (0..cpus).map(|_| Padded::default()).collect() }
    }

    /// From now on, the calling thread checks in for the CPU to which it is bound.
    ///
    /// It must do so until the [`Attendance`] is dropped, or barriers wait.
    ///
    /// # Errors
    ///
    /// The thread may run on several CPUs, there is no word for its CPU, or that one is taken.
    ///
    /// # Safety
    ///
    /// While the attendance lives, no other thread of those that the barriers are about may run on
    /// the same CPU: its check-ins are taken for that whole CPU. And the thread stays bound to it.
    pub unsafe fn attend(&self) -> Result<Attendance, NotAttended> {
        let set = CpuSet::of_thread().ok_or(NotAttended::NotBound)?;
        let mut cpus = set.iter();
        let (Some(cpu), None) = (cpus.next(), cpus.next()) else {
            return Err(NotAttended::NotBound);
        };
        self.attend_on(cpu)
    }

    pub(super) fn attend_on(&self, cpu: usize) -> Result<Attendance, NotAttended> {
        let word = &self.words.get(cpu).ok_or(NotAttended::NoWord(cpu))?.0;
        // SeqCst, here and below: a locked instruction, and so the full fence that a check-in is.
        let before = word.fetch_or(ATTENDED, Ordering::SeqCst);
        if before & ATTENDED != 0 {
            return Err(NotAttended::Taken(cpu));
        }
        Ok(Attendance { check_ins: self.clone(), cpu, _stays_here: PhantomData })
    }

    /// All words as they are now. Called after a full fence.
    pub(super) fn look(&self) -> Box<[u64]> {
        self.words.iter().map(|word| word.0.load(Ordering::Acquire)).collect()
    }

    /// Whether a thread attended on `cpu` when `seen` was looked at, and has checked in since.
    pub(super) fn has_checked_in(&self, cpu: usize, seen: &[u64]) -> bool {
        let (Some(seen), Some(word)) = (seen.get(cpu), self.words.get(cpu)) else { return false };
        // Acquire: what the thread wrote before its check-in is visible to who has seen that.
        seen & ATTENDED != 0 && word.0.load(Ordering::Acquire) != *seen
    }
}

/// A thread that checks in for its CPU, until this is dropped. It stays in that thread.
#[derive(Debug)]
pub struct Attendance {
    check_ins: CheckIns,
    cpu: usize,
    _stays_here: PhantomData<*const ()>,
}

impl Attendance {
    /// Tells waiters that this thread has passed a fence. One locked instruction, on a line that is
    /// the thread's own unless somebody waits.
    #[inline]
    pub fn check_in(&self) {
        // SeqCst: on x86 any locked instruction is a full fence, and this one is.
        self.check_ins.words[self.cpu].0.fetch_add(STEP, Ordering::SeqCst);
    }

    /// The CPU that it is for.
    pub fn cpu(&self) -> usize {
        self.cpu
    }
}

impl Drop for Attendance {
    fn drop(&mut self) {
        // Both at once, so that who has seen the attendance sees a check-in: + STEP - ATTENDED.
        self.check_ins.words[self.cpu].0.fetch_add(STEP - ATTENDED, Ordering::SeqCst);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_a_check_in_since_the_look_counts() {
        let check_ins = CheckIns::new(2);
        let unattended = check_ins.look();
        let attendance = check_ins.attend_on(1).unwrap();
        let attended = check_ins.look();
        assert!(!check_ins.has_checked_in(1, &unattended), "no client attended at the look");
        assert!(!check_ins.has_checked_in(1, &attended), "no check-in yet");
        attendance.check_in();
        assert!(check_ins.has_checked_in(1, &attended));
        assert!(
            !check_ins.has_checked_in(1, &unattended) && !check_ins.has_checked_in(0, &attended)
        );
        assert!(!check_ins.has_checked_in(7, &attended), "no such CPU");
    }

    #[test]
    fn the_end_of_an_attendance_is_a_check_in() {
        let check_ins = CheckIns::new(1);
        let attendance = check_ins.attend_on(0).unwrap();
        assert_eq!(check_ins.attend_on(0).unwrap_err(), NotAttended::Taken(0));
        assert_eq!(check_ins.attend_on(1).unwrap_err(), NotAttended::NoWord(1));
        let attended = check_ins.look();
        drop(attendance);
        assert!(check_ins.has_checked_in(0, &attended));
        assert!(!check_ins.has_checked_in(0, &check_ins.look()));
        assert!(check_ins.attend_on(0).is_ok());
    }
}
