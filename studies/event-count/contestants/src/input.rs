//! The input: what `task.h` says of it.

/// What a run does.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Task {
    /// So many increments, and no thread waits.
    Alone,
    /// An increment after each record's hash, and no thread waits.
    InWork,
    /// One increment that wakes a thread.
    Waiter,
    /// The same, and the thread's word that it runs.
    Wake,
    /// So many of these, one after the other.
    Turns,
    /// So many increments, however the waiting thread keeps up.
    Chase,
}

impl Task {
    fn of(number: u8) -> Option<Task> {
        let all = [Task::Alone, Task::InWork, Task::Waiter, Task::Wake, Task::Turns, Task::Chase];
        all.get(usize::from(number)).copied()
    }

    /// Whether a thread waits.
    pub fn has_waiter(self) -> bool {
        !matches!(self, Task::Alone | Task::InWork)
    }
}

const HEAD_BYTES: usize = 16;
/// Words of a record.
pub const RECORD_WORDS: usize = 32;
const RECORD_BYTES: usize = 8 * RECORD_WORDS;

pub type Record = [u64; RECORD_WORDS];

/// Task, count and records; nothing if the input is not one of this study.
pub fn read(input: &[u8]) -> Option<(Task, u64, Vec<Record>)> {
    let (head, rest) = input.split_at_checked(HEAD_BYTES)?;
    let task = Task::of(head[0])?;
    let count = u64::from_le_bytes(head[8..].try_into().ok()?);
    let word = |bytes: &[u8]| bytes.iter().rev().fold(0, |word, byte| word << 8 | u64::from(*byte));
    let record = |bytes: &[u8]| {
        let mut record = [0; RECORD_WORDS];
        for (to, from) in record.iter_mut().zip(bytes.chunks_exact(8)) {
            *to = word(from);
        }
        record
    };
    Some((task, count, rest.chunks_exact(RECORD_BYTES).map(record).collect()))
}

/// The work of a record: each word's step needs the one before it.
#[inline(always)]
pub fn hash(record: &Record) -> u64 {
    record.iter().fold(0xcbf2_9ce4_8422_2325, |hash, word| {
        let mixed = (hash ^ word).wrapping_mul(0x9e37_79b9_7f4a_7c15);
        mixed ^ mixed >> 32
    })
}
