//! Threads that run the same contestant at the same time as the timed thread.
//!
//! A helper has its own CPU, and its own state, which it prepared itself, of each contestant that
//! runs on that many threads. It sleeps until it must run one, then calls it repeatedly until it
//! must stop, and counts its calls where the timed thread can read them. The count proves that both
//! ran at the same time.

mod helper;

use super::library::Contestant;
use super::message::{HelperCpus, Sizes};
use super::sink::Sink;
use helper::{Answer, Helper, Order};
use std::fs::File;
use std::io;
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::{Duration, Instant};

/// The longest wait until all helpers run, in addition to the calls: as long as a few other
/// processes may hold a CPU before a helper gets it.
const START_MAX: Duration = Duration::from_millis(20);
/// The number of call times added to that wait.
const START_CALLS_MAX: u32 = 4;
/// After this many reads of the others' counts the thread yields its CPU, if they may need it.
const LOOKS: u32 = 64;

/// The helpers of a worker. Dropping it ends them.
pub(super) struct Helpers {
    helpers: Vec<Helper>,
    /// Whether each has its own CPU.
    is_pinned: bool,
    /// The counts of calls at the last read.
    seen: Vec<u64>,
    /// Whether each was in a call at the last read.
    is_inside: Vec<bool>,
}

/// The result of the helpers of a batch.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Ran {
    /// Whether a call of theirs gave another checksum than expected.
    pub(super) is_torn: bool,
}

impl Helpers {
    /// Starts this many helpers, each on the next of these CPUs.
    ///
    /// # Errors
    /// Fails if a thread cannot be started or pinned, or if there are too few CPUs.
    pub(super) fn start(count: usize, cpus: &HelperCpus) -> io::Result<Helpers> {
        let is_pinned = !cpus.is_empty();
        if is_pinned && cpus.len() < count {
            return Err(io::Error::other("there are fewer CPUs than threads"));
        }
        let on = |index: usize| Helper::start(cpus.get(index).map(|cpu| *cpu as usize));
        let helpers = (0..count).map(on).collect::<io::Result<_>>()?;
        Ok(Helpers { helpers, is_pinned, seen: vec![0; count], is_inside: vec![false; count] })
    }

    /// Lets the first `count` helpers prepare a state of the contestant at this index, one after
    /// the other, and returns whether all succeeded.
    ///
    /// # Errors
    /// Fails if there is no memory for it.
    ///
    /// # Safety
    /// The input must be mapped, with the slack that the contestant needs, as long as the helpers
    /// exist.
    pub(super) unsafe fn prepare(
        &mut self,
        count: usize,
        position: u32,
        contestant: Contestant,
        input: (&Sizes, *const u8),
        padding: u32,
    ) -> io::Result<bool> {
        for helper in &self.helpers[..count] {
            let (sizes, input) = (*input.0, input.1 as usize);
            let order = Order::Prepare { position, contestant, sizes, input, padding };
            match helper.ask(order)? {
                Answer::Prepared => {}
                _ => return Ok(false),
            }
        }
        Ok(true)
    }

    /// Starts the first `count` helpers, which call the contestant at this index repeatedly from
    /// now on.
    pub(super) fn begin(&mut self, count: usize, position: u32) -> io::Result<()> {
        self.helpers[..count].iter().try_for_each(|helper| helper.begin(position))
    }

    /// Waits until each of the first `count` helpers has made a call since now, or until enough
    /// time has passed for a slow call. The batch's own counts prove whether a helper ran at the
    /// same time.
    pub(super) fn wait_until_running(&mut self, count: usize, a_call: Duration) {
        let until = Instant::now() + START_MAX + START_CALLS_MAX * a_call;
        self.look(count);
        let mut looks = 0_u32;
        while (0..count).any(|index| self.since(index) == 0) && Instant::now() < until {
            looks += 1;
            if !self.is_pinned && looks.is_multiple_of(LOOKS) {
                std::thread::yield_now();
            }
            std::hint::spin_loop();
        }
    }

    /// Reads the counts of the first `count` helpers.
    pub(super) fn look(&mut self, count: usize) {
        let all = self.seen.iter_mut().zip(&mut self.is_inside).zip(&self.helpers);
        for ((seen, is_inside), helper) in all.take(count) {
            *seen = helper.desk.calls.load(Ordering::Acquire);
            *is_inside = helper.desk.begun.load(Ordering::Acquire) != *seen;
        }
    }

    /// Returns the fewest calls that one of the first `count` helpers has made since the last read.
    /// A helper that was in a call then and still is counts as one: [`Helpers::end_soon`] says
    /// whether it may.
    pub(super) fn fewest_beside(&self, count: usize) -> u64 {
        let beside = |index: usize| self.since(index).max(u64::from(self.is_inside[index]));
        (0..count).map(beside).min().unwrap_or(0)
    }

    /// Returns whether each of the first `count` helpers has ended a call since the last read, or
    /// does so within this time. A call that began before a batch and takes longer than twice the
    /// batch is too slow, or its thread has lost the CPU: it proves nothing.
    pub(super) fn end_soon(&self, count: usize, within: Duration) -> bool {
        let begin = Instant::now();
        while self.fewest_since(count) == 0 {
            if begin.elapsed() > within {
                return false;
            }
            std::hint::spin_loop();
        }
        true
    }

    /// Returns the fewest calls that one of the first `count` helpers has made since the last read.
    pub(super) fn fewest_since(&self, count: usize) -> u64 {
        (0..count).map(|index| self.since(index)).min().unwrap_or(0)
    }

    fn since(&self, index: usize) -> u64 {
        let calls = self.helpers[index].desk.calls.load(Ordering::Acquire);
        calls.wrapping_sub(self.seen[index])
    }

    /// Stops the first `count` helpers, waits until each has finished its last call, and returns
    /// whether a call gave another checksum than this.
    ///
    /// # Errors
    /// Fails if a helper has ended.
    pub(super) fn end(&mut self, count: usize, expected: u64) -> io::Result<Ran> {
        self.helpers[..count].iter().for_each(Helper::stop);
        let mut ran = Ran::default();
        for helper in &self.helpers[..count] {
            let Answer::Ran { checksum, is_torn } = helper.answer()? else {
                return Err(io::Error::other("a thread did something else than it was asked"));
            };
            ran.is_torn |= is_torn || checksum.is_some_and(|checksum| checksum != expected);
        }
        Ok(ran)
    }

    /// Lets a helper call the contestant at this index once and dump its answer to a file, and
    /// returns the checksum.
    ///
    /// # Errors
    /// Fails if the file cannot be written.
    pub(super) fn dump(&self, index: usize, position: u32, file: File) -> io::Result<u64> {
        match self.helpers[index]
            .ask(Order::Dump { position, sink: Sink::new(Some(file.into())) })?
        {
            Answer::Dumped(checksum) => checksum,
            _ => Err(io::Error::other("a thread did something else than it was asked")),
        }
    }

    /// Lets all helpers release the states that they have prepared, and ends them.
    ///
    /// # Errors
    /// Fails if a helper has ended.
    pub(super) fn release(self) -> io::Result<()> {
        self.helpers.iter().try_for_each(|helper| helper.ask(Order::Release).map(drop))
    }
}

#[cfg(test)]
mod tests;
