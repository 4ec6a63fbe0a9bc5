//! Threads that stay while the probe lasts, each with a buffer of its own, and do what they are
//! told at the same time.

use super::*;
use std::sync::mpsc::{Receiver, Sender, channel};
use std::sync::{Arc, Barrier};
use std::thread::Scope;

/// What a thread does until its time is up.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Job {
    /// Goes through its buffer with a kernel, again and again.
    Stream(Traffic),
    /// Reads a piece of its buffer every so many nanoseconds.
    Trickle(u64),
    /// Follows the pointers that [`Job::Weave`] left, a load at a time.
    Chase,
    /// Makes so many bytes of its buffer one cycle of pointers in random order, or fewer if time is
    /// up; the chunk of its log is how many.
    Weave(usize),
}

/// Bytes between two looks at the clock.
const CHUNK_BYTES: usize = 256 << 10;
/// Bytes that trickle at a time.
pub(super) const PIECE_BYTES: usize = 16 << 10;
/// So many pieces lie between two looks at the clock.
const PIECES: usize = 8;
/// Loads between two looks at the clock.
const LOADS: u64 = 128;
/// There is a pointer a line.
const LINE_BYTES: usize = 64;
/// Lines that are woven between two looks at the clock: some milliseconds.
const STEP_LINES: usize = 1 << 15;
/// More stamps than a thread writes in a stretch; a thread that has used them up ends.
const MOST_STAMPS: usize = 1 << 16;

// Parts of a buffer begin at whole blocks, and the last one of each half ends with it.
const _: () = assert!(
    LARGE_PAGE_BYTES.is_multiple_of(2 * CHUNK_BYTES)
        && CHUNK_BYTES.is_multiple_of(PIECE_BYTES)
        && PIECE_BYTES.is_multiple_of(2 * BLOCK_BYTES)
);

/// The threads, and how they are told.
pub(super) struct Team {
    /// Of each thread, where its tasks go and where its logs come from.
    workers: Vec<(Sender<Task>, Receiver<Log>)>,
    /// Bytes of each buffer that may be used.
    pub buffer_bytes: usize,
}

struct Task {
    job: Job,
    is_pinned: bool,
    length: Duration,
    start: Arc<Barrier>,
}

/// What all threads of a team have in common.
#[derive(Clone, Copy)]
pub(super) struct Common<'a> {
    /// The CPUs, one a thread; those that are not pinned run on any of them.
    pub cpus: &'a [usize],
    /// The vectors with which they work.
    pub vectors: &'a Vectors,
    /// Bytes of each buffer.
    pub buffer_bytes: usize,
    /// Bytes that a thread goes through before its work counts.
    pub cache_bytes: usize,
    /// The node of the buffers, if they must be on one.
    pub node: Option<usize>,
    /// When buffers that are not ready stay as they are, on the monotonic clock.
    pub ready_by_ns: u64,
    /// Who wants to stop.
    pub interrupted: &'a AtomicBool,
}

impl Team {
    /// Starts a thread for each CPU; each gives its buffer memory while it runs there. A buffer
    /// that is not ready in time makes all of them smaller.
    ///
    /// # Errors
    /// A thread cannot be started, there is no address space, or memory of a node cannot be had.
    pub(super) fn start<'scope, 'env: 'scope>(
        scope: &'scope Scope<'scope, 'env>,
        common: Common<'env>,
    ) -> io::Result<Team> {
        let mut workers = Vec::new();
        let mut ready = Vec::new();
        for cpu in common.cpus.iter().copied() {
            let (tasks, told) = channel();
            let (done, logs) = channel();
            let (say, said) = channel();
            let work = move || {
                // Without the right to pin, the buffer is still the thread's own.
                let _ = cpus::pin_this_thread(&[cpu]);
                match Hand::new(common, cpu) {
                    Ok(mut hand) => {
                        let _ = say.send(Ok(hand.bytes));
                        hand.work(&told, &done);
                    }
                    Err(error) => drop(say.send(Err(error))),
                }
            };
            std::thread::Builder::new().spawn_scoped(scope, work)?;
            workers.push((tasks, logs));
            ready.push(said);
        }
        let mut buffer_bytes = common.buffer_bytes;
        for said in ready {
            let lost = |_| Err(io::Error::other("a thread of the probe ended early"));
            buffer_bytes = buffer_bytes.min(said.recv().unwrap_or_else(lost)?);
        }
        Ok(Team { workers, buffer_bytes })
    }

    /// Lets the first threads do a job each for so long, at the same time, and gives their logs.
    /// Pinned threads stay on their CPUs, the others run on any of the team's.
    pub(super) fn run(&self, jobs: &[Job], is_pinned: bool, length: Duration) -> Vec<Log> {
        let start = Arc::new(Barrier::new(jobs.len().min(self.workers.len())));
        let told = self.workers.iter().zip(jobs);
        for ((tasks, _), job) in told.clone() {
            let task = Task { job: *job, is_pinned, length, start: Arc::clone(&start) };
            // A thread ends before the team only if it panics, and then its log is empty.
            let _ = tasks.send(task);
        }
        told.map(|((_, logs), _)| logs.recv().unwrap_or_default()).collect()
    }
}

/// A thread with its buffer.
struct Hand<'a> {
    common: Common<'a>,
    cpu: usize,
    buffer: Buffer,
    /// Bytes that may be used.
    bytes: usize,
    /// Where the next chunk begins.
    at: usize,
    /// Where the next pointer lies.
    pointer: usize,
    stamps: Vec<u64>,
}

impl<'a> Hand<'a> {
    fn new(common: Common<'a>, cpu: usize) -> io::Result<Hand<'a>> {
        let mut buffer = Buffer::new(common.buffer_bytes, common.node)?;
        let go_on =
            || !common.interrupted.load(Ordering::Relaxed) && monotonic_ns() < common.ready_by_ns;
        let bytes = buffer.touch(go_on);
        let mut stamps = vec![1; MOST_STAMPS];
        stamps.clear();
        Ok(Hand { common, cpu, buffer, bytes, at: 0, pointer: 0, stamps })
    }

    fn work(&mut self, tasks: &Receiver<Task>, done: &Sender<Log>) {
        let mut was_pinned = true;
        while let Ok(task) = tasks.recv() {
            if task.is_pinned != was_pinned {
                let own = [self.cpu];
                let _ = cpus::pin_this_thread(if task.is_pinned { &own } else { self.common.cpus });
                was_pinned = task.is_pinned;
            }
            self.stamps.clear();
            task.start.wait();
            let chunk = self.job(task.job, task.length.as_nanos() as u64);
            if done.send(Log { stamps: self.stamps.clone(), chunk }).is_err() {
                return;
            }
        }
    }

    /// Works for so long and gives what a chunk is.
    fn job(&mut self, job: Job, length_ns: u64) -> u64 {
        let end_ns = monotonic_ns() + length_ns;
        match job {
            Job::Stream(traffic) => {
                self.fill_caches(traffic, end_ns);
                let end_ns = monotonic_ns() + length_ns;
                while self.goes_on(end_ns) {
                    self.stream(traffic, CHUNK_BYTES);
                }
                CHUNK_BYTES as u64
            }
            Job::Trickle(period_ns) => {
                let mut next_ns = monotonic_ns();
                while self.goes_on(end_ns) {
                    for _ in 0..PIECES {
                        self.stream(Traffic::Read, PIECE_BYTES);
                        next_ns = wait(next_ns + period_ns, period_ns);
                    }
                }
                (PIECES * PIECE_BYTES) as u64
            }
            Job::Chase => {
                while self.goes_on(end_ns) {
                    self.chase();
                }
                LOADS
            }
            Job::Weave(bytes) => {
                let interrupted = self.common.interrupted;
                let go_on = || monotonic_ns() < end_ns && !interrupted.load(Ordering::Relaxed);
                let lines = self.weave(bytes.min(self.bytes) / LINE_BYTES, go_on);
                (lines * LINE_BYTES) as u64
            }
        }
    }

    /// Fills the caches with what the kernel leaves there, unless that takes longer than the end:
    /// stores are fast as long as they replace lines that were only read, and reads are slow as
    /// long as they replace lines that must be written first.
    fn fill_caches(&mut self, traffic: Traffic, end_ns: u64) {
        let chunks = self.common.cache_bytes / CHUNK_BYTES;
        for _ in 0..chunks {
            if monotonic_ns() >= end_ns || self.common.interrupted.load(Ordering::Relaxed) {
                break;
            }
            self.stream(traffic, CHUNK_BYTES);
        }
    }

    /// Writes down the moment; whether there is time for more.
    fn goes_on(&mut self, end_ns: u64) -> bool {
        let now_ns = monotonic_ns();
        self.stamps.push(now_ns);
        now_ns < end_ns
            && self.stamps.len() < MOST_STAMPS
            && !self.common.interrupted.load(Ordering::Relaxed)
    }

    /// Lets a kernel go through the next bytes of the buffer, from its begin again after its end.
    fn stream(&mut self, traffic: Traffic, bytes: usize) {
        let half = self.bytes / 2;
        let (step, end) = if traffic.is_copy() { (bytes / 2, half) } else { (bytes, self.bytes) };
        self.at = if self.at + step > end { 0 } else { self.at };
        // SAFETY: `at`, `step` and `half` are multiples of large fractions of a large page, so of
        // blocks; the part lies in the touched bytes, which are two large pages at least and belong
        // to this thread alone.
        let sum = unsafe {
            let at = self.buffer.start().add(self.at);
            self.common.vectors.run(traffic, at, half, bytes)
        };
        std::hint::black_box(sum);
        self.at += step;
    }

    /// Makes the first lines, of which there is one at least, one cycle, until `go_on` says no;
    /// gives how many they are. Each line holds the offset of the next. A new line is put behind
    /// any of those that are there, so that there is a cycle at all times, and every order of it is
    /// as likely as the other, as with the algorithm of Sattolo (1986).
    fn weave(&mut self, lines: usize, go_on: impl Fn() -> bool) -> usize {
        let start = self.buffer.start();
        // SAFETY: all lines lie in the touched bytes, which belong to this thread alone.
        let slot = |line: usize| unsafe { start.add(line * LINE_BYTES).cast::<u64>() };
        // SAFETY: as above; lines are aligned.
        unsafe { slot(0).write(0) };
        let mut random = Random::new(1);
        let mut woven = 1;
        while woven < lines {
            let end = lines.min(woven + STEP_LINES);
            for new in woven..end {
                let old = random.below(new);
                // SAFETY: as above; `old` is less than `new`, so it was written.
                unsafe {
                    let next = slot(old).replace((new * LINE_BYTES) as u64);
                    slot(new).write(next);
                }
            }
            woven = end;
            if !go_on() {
                break;
            }
        }
        self.pointer = 0;
        woven
    }

    /// Loads that wait for each other.
    fn chase(&mut self) {
        let start = self.buffer.start();
        for _ in 0..LOADS {
            // SAFETY: each pointer that was woven is the offset of a line in the touched bytes.
            self.pointer =
                unsafe { start.add(self.pointer).cast::<u64>().read_volatile() } as usize;
        }
    }
}

/// Spins until a moment, which is at most a period away, and gives it; or now, if it is gone.
fn wait(until_ns: u64, period_ns: u64) -> u64 {
    if period_ns == 0 {
        return until_ns;
    }
    loop {
        let now_ns = monotonic_ns();
        if now_ns >= until_ns {
            return if now_ns > until_ns + period_ns { now_ns } else { until_ns };
        }
        std::hint::spin_loop();
    }
}

#[cfg(test)]
mod tests;
