//! Threads that stay while the probe lasts, each with a buffer of its own, and run their jobs at
//! the same time.

use super::*;
use std::sync::mpsc::{Receiver, Sender, channel};
use std::sync::{Arc, Barrier};
use std::thread::Scope;

/// What a thread does until its time is up.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Job {
    /// Goes through its buffer with a kernel, again and again.
    Stream(Traffic),
    /// Reads a piece of its buffer at a period in nanoseconds.
    Trickle(u64),
    /// Follows the pointers that [`Job::Weave`] left, a load at a time.
    Chase,
    /// Makes this many bytes of its buffer one cycle of pointers in random order, or fewer if time
    /// is up; the chunk of its log is their number.
    Weave(usize),
}

/// Bytes between two looks at the clock.
const CHUNK_BYTES: usize = 256 << 10;
/// Bytes that trickle at a time.
pub(super) const PIECE_BYTES: usize = 16 << 10;
/// Number of pieces between two looks at the clock.
const PIECES: usize = 8;
/// Loads between two looks at the clock.
const LOADS: u64 = 128;
/// Bytes of a line, which holds one pointer.
const LINE_BYTES: usize = 64;
/// Lines that are woven between two looks at the clock: some milliseconds.
const STEP_LINES: usize = 1 << 15;
/// More stamps than a thread writes in a stretch; a thread that has used them up ends.
const MOST_STAMPS: usize = 1 << 16;
/// Size of the large pages that are asked for.
pub(super) const LARGE_PAGE_BYTES: usize = HUGE_PAGE;
/// `MPOL_BIND` of `linux/mempolicy.h`: pages come from these nodes or not at all.
const BIND: libc::c_int = 2;
/// Words of a mask of nodes: room for 1024, the most that a kernel supports.
const NODE_WORDS: usize = 16;

// Parts of a buffer begin at whole blocks, and the last one of each half ends with it.
const _: () = assert!(
    LARGE_PAGE_BYTES.is_multiple_of(2 * CHUNK_BYTES)
        && CHUNK_BYTES.is_multiple_of(PIECE_BYTES)
        && PIECE_BYTES.is_multiple_of(2 * BLOCK_BYTES)
);

/// The threads, and the channels to them.
pub(super) struct Team {
    /// For each thread, where its tasks go and where its logs come from.
    workers: Vec<(Sender<Task>, Receiver<Log>)>,
    /// Usable bytes of each buffer.
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
    /// The CPUs, one for each thread; threads that are not pinned run on any of them.
    pub cpus: &'a [usize],
    /// The vectors with which they work.
    pub vectors: &'a Vectors,
    /// Bytes of each buffer.
    pub buffer_bytes: usize,
    /// Bytes that a thread goes through before its work counts.
    pub cache_bytes: usize,
    /// The node of the buffers, if they must be on one.
    pub node: Option<usize>,
    /// When the preparation of buffers ends, on the monotonic clock.
    pub ready_by_ns: u64,
    /// The user wants to stop.
    pub interrupted: &'a AtomicBool,
}

impl Common<'_> {
    /// Returns whether there is time left.
    fn has_time(&self, end_ns: u64) -> bool {
        monotonic_ns() < end_ns && !self.interrupted.load(Ordering::Relaxed)
    }
}

impl Team {
    /// Starts a thread for each CPU; each touches its buffer while it runs there. A buffer that is
    /// not ready in time makes all of them smaller.
    ///
    /// # Errors
    /// A thread cannot be started, there is no address space, or the node has no memory.
    pub(super) fn start<'scope, 'env: 'scope>(
        scope: &'scope Scope<'scope, 'env>,
        common: Common<'env>,
    ) -> io::Result<Team> {
        let mut workers = Vec::new();
        for &cpu in common.cpus {
            let buffer = buffer(common.buffer_bytes, common.node)?;
            let (tasks, own_tasks) = channel();
            let (own_logs, logs) = channel();
            std::thread::Builder::new().spawn_scoped(scope, move || {
                // Without the right to pin, the buffer is still the thread's own.
                let _ = cpus::pin_this_thread(&[cpu]);
                Hand::new(common, cpu, buffer).work(&own_tasks, &own_logs);
            })?;
            workers.push((tasks, logs));
        }
        let mut buffer_bytes = common.buffer_bytes;
        for (_, logs) in &workers {
            let ready = logs.recv();
            let ready = ready.map_err(|_| io::Error::other("a thread of the probe ended early"))?;
            buffer_bytes = buffer_bytes.min(ready.chunk as usize);
        }
        Ok(Team { workers, buffer_bytes })
    }

    /// Runs a job on each of the first threads, at the same time, and returns their logs. Pinned
    /// threads stay on their CPUs, the others run on any of the team's.
    pub(super) fn run(&self, jobs: &[Job], is_pinned: bool, length: Duration) -> Vec<Log> {
        let start = Arc::new(Barrier::new(jobs.len().min(self.workers.len())));
        for ((tasks, _), job) in self.workers.iter().zip(jobs) {
            // A thread ends before the team only if it panics, and then its log is empty.
            let _ = tasks.send(Task { job: *job, is_pinned, length, start: Arc::clone(&start) });
        }
        let logs = self.workers.iter().zip(jobs);
        logs.map(|((_, logs), _)| logs.recv().unwrap_or_default()).collect()
    }
}

/// A thread with its buffer.
struct Hand<'a> {
    common: Common<'a>,
    cpu: usize,
    buffer: Mapped,
    /// Usable bytes of the buffer.
    bytes: usize,
    /// Where the next chunk begins.
    at: usize,
    /// Where the next pointer lies.
    pointer: usize,
    stamps: Vec<u64>,
}

impl<'a> Hand<'a> {
    /// Touches the buffer, as far as there is time.
    fn new(common: Common<'a>, cpu: usize, buffer: Mapped) -> Hand<'a> {
        let bytes = touch(&buffer, || common.has_time(common.ready_by_ns));
        let mut stamps = vec![1; MOST_STAMPS];
        stamps.clear();
        Hand { common, cpu, buffer, bytes, at: 0, pointer: 0, stamps }
    }

    /// Sends the usable bytes as the chunk of a first log, then a log for each task.
    fn work(&mut self, tasks: &Receiver<Task>, logs: &Sender<Log>) {
        // The team waits for this, or has given up.
        let _ = logs.send(Log { stamps: Vec::new(), chunk: self.bytes as u64 });
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
            if logs.send(Log { stamps: self.stamps.clone(), chunk }).is_err() {
                return;
            }
        }
    }

    /// Works for a length of time; returns the size of a chunk.
    fn job(&mut self, job: Job, length_ns: u64) -> u64 {
        let end_ns = monotonic_ns() + length_ns;
        match job {
            Job::Stream(traffic) => {
                self.fill_caches(traffic, end_ns);
                let end_ns = monotonic_ns() + length_ns;
                while self.stamp(end_ns) {
                    self.stream(traffic, CHUNK_BYTES);
                }
                CHUNK_BYTES as u64
            }
            Job::Trickle(period_ns) => {
                let mut next_ns = monotonic_ns();
                while self.stamp(end_ns) {
                    for _ in 0..PIECES {
                        self.stream(Traffic::Read, PIECE_BYTES);
                        next_ns = wait(next_ns + period_ns, period_ns);
                    }
                }
                (PIECES * PIECE_BYTES) as u64
            }
            Job::Chase => {
                while self.stamp(end_ns) {
                    self.chase();
                }
                LOADS
            }
            Job::Weave(bytes) => {
                let common = self.common;
                let lines = bytes.min(self.bytes) / LINE_BYTES;
                (self.weave(lines, || common.has_time(end_ns)) * LINE_BYTES) as u64
            }
        }
    }

    /// Fills the caches with what the kernel leaves there, until the end at most: stores are fast
    /// while they replace lines that were only read, and reads are slow while they replace lines
    /// that must be written first.
    fn fill_caches(&mut self, traffic: Traffic, end_ns: u64) {
        for _ in 0..self.common.cache_bytes / CHUNK_BYTES {
            if !self.common.has_time(end_ns) {
                break;
            }
            self.stream(traffic, CHUNK_BYTES);
        }
    }

    /// Writes down the moment; returns whether there is time for more.
    fn stamp(&mut self, end_ns: u64) -> bool {
        let now_ns = monotonic_ns();
        self.stamps.push(now_ns);
        now_ns < end_ns
            && self.stamps.len() < MOST_STAMPS
            && !self.common.interrupted.load(Ordering::Relaxed)
    }

    /// Runs a kernel over the next bytes of the buffer, from its start again after its end.
    fn stream(&mut self, traffic: Traffic, bytes: usize) {
        let half = self.bytes / 2;
        let (step, end) = if traffic.is_copy() { (bytes / 2, half) } else { (bytes, self.bytes) };
        self.at = if self.at + step > end { 0 } else { self.at };
        // SAFETY: `at`, `step` and `half` are multiples of large fractions of a large page, so of
        // blocks; the part lies in the touched bytes, which are two large pages at least and belong
        // to this thread alone.
        let sum = unsafe {
            let at = self.buffer.at(0).add(self.at);
            self.common.vectors.run(traffic, at, half, bytes)
        };
        std::hint::black_box(sum);
        self.at += step;
    }

    /// Makes the first lines, at least one, one cycle, until `go_on` returns `false`; returns their
    /// number. Each line holds the offset of the next. A new line is inserted after any of the
    /// present ones, so that there is a cycle at all times, and every order of it is equally
    /// likely, as with the algorithm of Sattolo (1986).
    fn weave(&mut self, lines: usize, go_on: impl Fn() -> bool) -> usize {
        self.pointer = 0;
        let start = self.buffer.at(0);
        let mut random = Random::new(1);
        let mut woven = 1;
        // SAFETY: all lines lie in the touched bytes, which belong to this thread alone, and are
        // aligned; `old` is less than `new`, so it was written.
        unsafe {
            start.cast::<u64>().write(0);
            while woven < lines {
                let end = lines.min(woven + STEP_LINES);
                for new in woven..end {
                    let old = random.below(new);
                    let [old, slot] =
                        [old, new].map(|line| start.add(line * LINE_BYTES).cast::<u64>());
                    slot.write(old.replace((new * LINE_BYTES) as u64));
                }
                woven = end;
                if !go_on() {
                    break;
                }
            }
        }
        woven
    }

    /// Makes loads that wait for each other.
    fn chase(&mut self) {
        let start = self.buffer.at(0);
        for _ in 0..LOADS {
            // SAFETY: each pointer that was woven is the offset of a line in the touched bytes.
            self.pointer =
                unsafe { start.add(self.pointer).cast::<u64>().read_volatile() } as usize;
        }
    }
}

/// Spins until a moment, which is at most a period away, and returns it; or now, if it is long
/// past.
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

/// Maps address space of at least `bytes`, in whole large pages where the kernel gives them, none
/// of it touched yet. With a node, all of its pages will come from there.
///
/// # Errors
/// There is not enough address space, or the node cannot be used.
pub(super) fn buffer(bytes: usize, node: Option<usize>) -> io::Result<Mapped> {
    let mapped = Mapped::new(bytes, Pages::Huge)?;
    let Some(node) = node else { return Ok(mapped) };
    let mask = node_mask(node).ok_or(io::ErrorKind::InvalidInput)?;
    let bits = (NODE_WORDS * 64) as libc::c_ulong;
    let (start, bytes) = (mapped.at(0), mapped.bytes());
    // SAFETY: the range is the mapping, and the mask has `bits` bits.
    let error =
        unsafe { libc::syscall(libc::SYS_mbind, start, bytes, BIND, mask.as_ptr(), bits, 0_u32) };
    if error == 0 { Ok(mapped) } else { Err(io::Error::last_os_error()) }
}

/// Writes into every page for the first time, which allocates its memory, until `go_on` returns
/// `false`; returns the bytes that are ready.
fn touch(buffer: &Mapped, mut go_on: impl FnMut() -> bool) -> usize {
    for at in (0..buffer.bytes()).step_by(LARGE_PAGE_BYTES) {
        if !go_on() {
            return at;
        }
        for page in (at..at + LARGE_PAGE_BYTES).step_by(BLOCK_BYTES) {
            // SAFETY: the address lies in the mapping, which belongs to this thread alone.
            unsafe { buffer.at(page).write_volatile(1) };
        }
    }
    buffer.bytes()
}

/// Returns the mask with this node alone; `None` if the kernel cannot have such a node.
fn node_mask(node: usize) -> Option<[u64; NODE_WORDS]> {
    let mut mask = [0; NODE_WORDS];
    *mask.get_mut(node / 64)? = 1 << (node % 64);
    Some(mask)
}

#[cfg(test)]
mod tests;
