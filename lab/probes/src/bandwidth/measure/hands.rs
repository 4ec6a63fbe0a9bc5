//! Buffers, one for each CPU, and threads that go through them at the same time.

use super::*;
use std::sync::{Mutex, PoisonError};

/// Bytes between two looks at the clock.
const CHUNK_BYTES: usize = 256 << 10;
/// More stamps than a thread writes in a stretch; a thread that has used them up ends.
const MOST_STAMPS: usize = 1 << 16;
/// `MPOL_BIND` of `linux/mempolicy.h`: pages come from these nodes or not at all.
const BIND: libc::c_int = 2;
/// Words of a mask of nodes: room for 1024, the most that a kernel supports.
const NODE_WORDS: usize = 16;

// Parts of a buffer begin at whole blocks, and the last one of each half ends with it.
const _: () = assert!(
    HUGE_PAGE.is_multiple_of(2 * CHUNK_BYTES) && CHUNK_BYTES.is_multiple_of(2 * BLOCK_BYTES)
);

/// What all buffers and threads have in common.
#[derive(Clone, Copy)]
pub(super) struct Setup<'a> {
    /// The CPUs, one for each buffer.
    pub cpus: &'a [usize],
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

/// The buffers of a number of CPUs.
pub(super) struct Hands<'a> {
    /// What they have in common, with the usable bytes of each buffer.
    pub setup: Setup<'a>,
    hands: Vec<Mutex<Hand<'a>>>,
}

impl<'a> Hands<'a> {
    /// Maps a buffer for each CPU, which a thread on that CPU touches as far as there is time.
    ///
    /// # Errors
    /// A thread cannot be started or pinned, there is no address space, the node cannot be used, or
    /// not even two large pages of each buffer were ready in time.
    pub(super) fn new(mut setup: Setup<'a>) -> io::Result<Hands<'a>> {
        let new = setup.cpus.iter().map(|_| Ok(Mutex::new(Hand::new(setup)?)));
        let hands: Vec<_> = new.collect::<io::Result<_>>()?;
        let ready = together(setup.cpus, |place| lock(&hands[place.index]).touch())?;
        setup.buffer_bytes = ready.into_iter().min().unwrap_or(0);
        if setup.buffer_bytes < 2 * HUGE_PAGE {
            return Err(io::Error::other("none was ready in time"));
        }
        Ok(Hands { setup, hands })
    }

    /// Returns the share of the first buffer that lies in large pages; `None` if the kernel does
    /// not report it.
    pub(super) fn large_page_share(&self) -> Option<f64> {
        lock(&self.hands[0]).buffer.huge_share()
    }

    /// Runs a job on a thread for each of the first buffers, at the same time and pinned to their
    /// CPUs, and returns what their stamps show.
    pub(super) fn run(&self, threads: usize, job: impl Fn(usize, &mut Hand<'a>) + Sync) -> Windows {
        let logs = together(&self.setup.cpus[..threads], |place| {
            let mut hand = lock(&self.hands[place.index]);
            hand.log.stamps.clear();
            place.meet();
            job(place.index, &mut hand);
            hand.log.clone()
        });
        // A thread that cannot be started leaves no windows.
        common(&logs.unwrap_or_default(), WINDOW_NS)
    }
}

pub(super) fn lock<T>(mutex: &Mutex<T>) -> std::sync::MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

/// A buffer, and the thread that goes through it.
pub(super) struct Hand<'a> {
    setup: Setup<'a>,
    vectors: Vectors,
    buffer: Mapped,
    /// Usable bytes of the buffer.
    bytes: usize,
    /// Where the next chunk begins.
    at: usize,
    log: Log,
}

impl<'a> Hand<'a> {
    fn new(setup: Setup<'a>) -> io::Result<Hand<'a>> {
        let buffer = Mapped::new(setup.buffer_bytes, Pages::Huge)?;
        if let Some(node) = setup.node {
            bind(&buffer, node)?;
        }
        let mut stamps = vec![1; MOST_STAMPS];
        stamps.clear();
        let (vectors, log) = (Vectors::widest(), Log { stamps, chunk: 0 });
        Ok(Hand { setup, vectors, buffer, bytes: 0, at: 0, log })
    }

    /// Writes into every page for the first time, which allocates its memory, while there is time;
    /// returns the bytes that are ready.
    fn touch(&mut self) -> usize {
        while self.bytes < self.buffer.bytes() && self.has_time(self.setup.ready_by_ns) {
            for page in (self.bytes..self.bytes + HUGE_PAGE).step_by(BLOCK_BYTES) {
                // SAFETY: the address lies in the mapping, which belongs to this thread alone.
                unsafe { self.buffer.at(page).write_volatile(1) };
            }
            self.bytes += HUGE_PAGE;
        }
        self.bytes
    }

    fn has_time(&self, end_ns: u64) -> bool {
        monotonic_ns() < end_ns && !self.setup.interrupted.load(Ordering::Relaxed)
    }

    /// Goes through the buffer with a kernel, again and again. Before that, it fills the caches
    /// with what the kernel leaves there, for as long at most: stores are fast while they replace
    /// lines that were only read, and reads are slow while they replace lines that must be written
    /// first.
    pub(super) fn stream(&mut self, traffic: Traffic, length: Duration) {
        let end_ns = monotonic_ns() + length.as_nanos() as u64;
        let mut filled = 0;
        while filled < self.setup.cache_bytes && self.has_time(end_ns) {
            self.go_through(traffic);
            filled += CHUNK_BYTES;
        }
        self.chunks(CHUNK_BYTES, length, |hand| hand.go_through(traffic));
    }

    /// Does chunks of work of this size until time is up, and stamps the moments between them.
    pub(super) fn chunks(
        &mut self,
        chunk: usize,
        length: Duration,
        mut work: impl FnMut(&mut Self),
    ) {
        let end_ns = monotonic_ns() + length.as_nanos() as u64;
        self.log.chunk = chunk as u64;
        self.log.stamps.push(monotonic_ns());
        while self.log.stamps.len() < MOST_STAMPS && self.has_time(end_ns) {
            work(self);
            self.log.stamps.push(monotonic_ns());
        }
    }

    /// Runs a kernel over the next chunk of the buffer, from its start again after its end.
    fn go_through(&mut self, traffic: Traffic) {
        // A copy goes from the first half to the second.
        let parts = if traffic.is_copy() { 2 } else { 1 };
        let (step, end) = (CHUNK_BYTES / parts, self.bytes / parts);
        self.at = if self.at + step > end { 0 } else { self.at };
        let at = self.buffer.at(self.at);
        // SAFETY: start, step and half are multiples of large fractions of a large page, so of
        // blocks; the part lies in the touched bytes, which are two large pages at least and belong
        // to this thread alone.
        let sum = unsafe { self.vectors.run(traffic, at, self.bytes / 2, CHUNK_BYTES) };
        std::hint::black_box(sum);
        self.at += step;
    }
}

/// Lets all pages of memory that nobody touched yet come from a node, whatever the policy of the
/// process is.
fn bind(memory: &Mapped, node: usize) -> io::Result<()> {
    let mut mask = [0_u64; NODE_WORDS];
    *mask.get_mut(node / 64).ok_or(io::ErrorKind::InvalidInput)? = 1 << (node % 64);
    let bits = (NODE_WORDS * 64) as libc::c_ulong;
    let (start, bytes) = (memory.at(0), memory.bytes());
    // SAFETY: the range is the mapping, and the mask has `bits` bits.
    let error =
        unsafe { libc::syscall(libc::SYS_mbind, start, bytes, BIND, mask.as_ptr(), bits, 0_u32) };
    if error == 0 { Ok(()) } else { Err(io::Error::last_os_error()) }
}

#[cfg(test)]
mod tests;
