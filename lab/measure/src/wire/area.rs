//! Memory that the laboratory and a worker share: the running contestant, and the records.

use super::mapping::Mapping;
use crate::files::memory_file;
use crate::system::Usage;
use std::fs::File;
use std::io;
use std::os::fd::OwnedFd;
use std::ptr::NonNull;
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};
use tiebreak_core::counts::Counts;

/// Stands for the worker's own code.
pub(crate) const WORKER_ITSELF: usize = usize::MAX;
/// Stands for an unknown number.
pub(crate) const UNKNOWN: u64 = u64::MAX;
/// The offset of the records. The header has its own page, because it is read while contestants
/// run.
const HEADER_BYTES: usize = 4096;

/// What the worker is doing.
#[repr(C)]
#[derive(Debug)]
pub(crate) struct Header {
    /// Increases with each step.
    beat: AtomicU64,
    /// The contestant whose code runs, by its index in the worker.
    position: AtomicUsize,
    /// The foreign memory that it touched: a [`Touch`], or 0.
    touch: AtomicU64,
}

/// Memory that a contestant touched and must not touch.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Touch {
    /// 1 is the input, 2 the output, 3 the heap.
    pub(crate) place: u32,
    /// 0 is inside, 1 past the end, 2 before the start.
    pub(crate) side: u32,
    /// 0 is unknown, 1 reading, 2 writing.
    pub(crate) access: u32,
    /// How far outside, or which byte of it, counted from 0.
    pub(crate) bytes: u64,
}

impl Touch {
    pub(crate) const INPUT: u32 = 1;
    pub(crate) const OUTPUT: u32 = 2;
    /// No memory was touched: `run` needed memory of the allocator.
    pub(crate) const HEAP: u32 = 3;
    pub(crate) const INSIDE: u32 = 0;
    pub(crate) const PAST_END: u32 = 1;
    pub(crate) const BEFORE_START: u32 = 2;
    pub(crate) const READ: u32 = 1;
    pub(crate) const WROTE: u32 = 2;
}

/// The exit status of a process that has recorded a touch.
pub(crate) const TOUCHED: i32 = 86;

/// What a contestant did to its process, as bits of [`Record::conduct`].
pub(crate) mod conduct {
    /// It changed the CPUs on which the thread may run.
    pub(crate) const AFFINITY: u64 = 1;
    /// It changed how the CPU rounds, or how it treats denormal numbers.
    pub(crate) const ROUNDING: u64 = 2;
    /// It left a process behind.
    pub(crate) const CHILD: u64 = 4;
    /// It left a thread behind that its `run` had started.
    pub(crate) const THREAD: u64 = 8;
    /// Its `run` printed something.
    pub(crate) const PRINTED: u64 = 16;
    /// It left a timer armed.
    pub(crate) const TIMER: u64 = 32;
    /// It changed its priority or its scheduling policy.
    pub(crate) const PRIORITY: u64 = 64;

    /// The description of each of these bits, without its subject.
    pub(crate) const SENTENCES: [(u64, &str); 7] = [
        (AFFINITY, "changed on which CPUs its process may run"),
        (ROUNDING, "changed how the CPU rounds for all who follow"),
        (CHILD, "left a process behind that it had started"),
        (THREAD, "left a thread behind that its 'run' had started"),
        (PRINTED, "printed in 'run', to standard output or standard error"),
        (TIMER, "left a timer armed that signals its process"),
        (PRIORITY, "changed how the scheduler treats its process"),
    ];
}

/// The result of a batch. It consists of plain numbers, so any bytes are valid.
#[repr(C)]
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Record {
    pub(crate) wall_ns: u64,
    pub(crate) usage: Usage,
    /// Time on a CPU, by the thread's own clock.
    pub(crate) run_ns: u64,
    /// Time ready to run and waiting for a CPU; [`UNKNOWN`] if the kernel does not report it.
    pub(crate) delay_ns: u64,
    /// The number of spans that ended on another CPU than they began on.
    pub(crate) moves: u64,
    /// The checksum of the untimed call.
    pub(crate) checksum: u64,
    /// Whether a timed call gave another checksum.
    pub(crate) is_torn: u64,
    /// Whether the clock went backwards.
    pub(crate) is_backwards: u64,
    /// The hardware counts; [`UNKNOWN`] if nothing was counted.
    pub(crate) counts: Counts<u64>,
    pub(crate) is_multiplexed: u64,
    pub(crate) energy_nj: u64,
    /// Whether a thread that was to run at the same time made fewer than half as many calls.
    pub(crate) is_alone: u64,
    /// Time on a CPU of all resets of the batch.
    pub(crate) reset_ns: u64,
    /// Wall time of the dump, if the batch is judged.
    pub(crate) dump_ns: u64,
    /// How often the contestant's input was replaced by another after the batch.
    pub(crate) exchanges: u64,
    /// The checksum of the first call on that other input.
    pub(crate) other_checksum: u64,
    /// Time on a CPU of the shortest call on an input that had just been exchanged.
    pub(crate) exchanged_ns: u64,
    /// What it did to its process: bits of [`conduct`].
    pub(crate) conduct: u64,
    /// The growth of its process' memory in the batch, with the untimed call before it.
    pub(crate) grown_bytes: u64,
    /// Whether its table says that `run` allocates.
    pub(crate) allocates: u64,
    /// Time that its own threads were on a CPU while others were timed since its last batch, and
    /// the time of these batches of others, without waits for a CPU.
    pub(crate) burnt_ns: u64,
    pub(crate) others_ns: u64,
    /// Time on a CPU of its `prepare`.
    pub(crate) prepare_ns: u64,
    /// Picoseconds of a call of an empty function, and of a load from one cache line, as measured
    /// after the batch; 0 if they were not measured.
    pub(crate) empty_call_ps: u64,
    pub(crate) line_ps: u64,
}

/// The shared memory, mapped in this process.
#[derive(Debug)]
pub(crate) struct Area {
    mapping: Mapping,
    /// The number of records.
    pub(crate) capacity: usize,
}

impl Area {
    /// Creates an area for the records of this many batches, and the file through which a worker
    /// maps it.
    ///
    /// # Errors
    /// Fails if there is no memory for it.
    pub(crate) fn create(capacity: usize) -> io::Result<(Area, OwnedFd)> {
        let file = memory_file()?;
        file.set_len((HEADER_BYTES + capacity * size_of::<Record>()) as u64)?;
        let file = OwnedFd::from(file);
        let area = Area::map(&file)?;
        area.header().position.store(WORKER_ITSELF, Ordering::Relaxed);
        Ok((area, file))
    }

    /// Maps an area that the other side has created.
    ///
    /// # Errors
    /// Fails if the file is too short or cannot be mapped.
    pub(crate) fn map(file: &OwnedFd) -> io::Result<Area> {
        let length = File::from(file.try_clone()?).metadata()?.len() as usize;
        let records = length.checked_sub(HEADER_BYTES).ok_or(io::ErrorKind::UnexpectedEof)?;
        let mapping = Mapping::shared(file, length)?;
        Ok(Area { mapping, capacity: records / size_of::<Record>() })
    }

    pub(crate) fn header(&self) -> &Header {
        // SAFETY: the mapping is page-aligned, longer than the header and lives as long as `self`;
        // the header consists of atomic numbers, for which any bytes are valid.
        unsafe { self.mapping.start().cast::<Header>().as_ref() }
    }

    pub(crate) fn record(&self, index: usize) -> Record {
        // SAFETY: `record_at` is valid for any index below the capacity; any bytes are a record.
        unsafe { self.record_at(index).read_volatile() }
    }

    pub(crate) fn set_record(&self, index: usize, record: &Record) {
        // SAFETY: `record_at` is valid for any index below the capacity.
        unsafe { self.record_at(index).write_volatile(*record) }
    }

    fn record_at(&self, index: usize) -> NonNull<Record> {
        assert!(index < self.capacity);
        // SAFETY: the mapping has room for `capacity` records after the header, which is a page.
        unsafe { self.mapping.start().add(HEADER_BYTES).cast::<Record>().add(index) }
    }
}

impl Header {
    /// Records that this contestant's code runs from now on, or the worker's own code for
    /// [`WORKER_ITSELF`].
    pub(crate) fn enter(&self, position: usize) {
        self.position.store(position, Ordering::Release);
        self.beat.fetch_add(1, Ordering::Release);
    }

    /// Returns the number of steps so far, and whose code runs.
    pub(crate) fn look(&self) -> (u64, usize) {
        (self.beat.load(Ordering::Acquire), self.position.load(Ordering::Acquire))
    }

    /// Records what was touched. It only stores a number, so a signal handler may call it.
    pub(crate) fn record_touch(&self, Touch { place, side, access, bytes }: Touch) {
        let word = bytes << 6 | u64::from(access << 4 | side << 2 | place);
        self.touch.store(word, Ordering::Release);
    }

    /// Clears what was recorded.
    pub(crate) fn clear_touch(&self) {
        self.touch.store(0, Ordering::Release);
    }

    pub(crate) fn touch(&self) -> Option<Touch> {
        let word = self.touch.load(Ordering::Acquire);
        let [place, side, access] = [0, 2, 4].map(|shift| (word >> shift) as u32 & 3);
        (place != 0).then_some(Touch { place, side, access, bytes: word >> 6 })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn both_sides_see_the_same() {
        let (ours, file) = Area::create(3).unwrap();
        let theirs = Area::map(&file).unwrap();
        assert_eq!((ours.capacity, theirs.capacity), (3, 3));
        assert_eq!(theirs.header().look(), (0, WORKER_ITSELF));
        theirs.header().enter(5);
        assert_eq!(ours.header().look(), (1, 5));
        for index in 0..3 {
            let record = Record { wall_ns: index as u64, energy_nj: 9, ..Record::default() };
            theirs.set_record(index, &record);
        }
        assert_eq!([0, 1, 2].map(|index| ours.record(index).wall_ns), [0, 1, 2]);
        assert_eq!(ours.record(2).energy_nj, 9);
        assert_eq!(ours.header().touch(), None);
        let touch = Touch { place: Touch::INPUT, side: 1, access: Touch::READ, bytes: 7 };
        theirs.header().record_touch(touch);
        assert_eq!(ours.header().touch(), Some(touch));
        File::from(file.try_clone().unwrap()).set_len(HEADER_BYTES as u64 - 1).unwrap();
        assert!(Area::map(&file).is_err(), "it is shorter than a header");
    }
}
