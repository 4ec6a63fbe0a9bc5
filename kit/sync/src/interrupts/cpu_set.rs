//! Sets of CPUs.

use core::fmt;
use core::str::FromStr;
use std::io;

/// A set of CPU numbers: a bit for each.
///
/// ```
/// use tiebreak_sync::interrupts::CpuSet;
///
/// let set: CpuSet = "0-2,5".parse().unwrap();
/// assert!(set.contains(2) && !set.contains(3));
/// assert_eq!(set.to_string(), "0-2,5");
/// ```
#[derive(Clone, Debug, Default)]
pub struct CpuSet {
    words: Vec<u64>,
}

/// Numbers above this are no CPUs.
const LIMIT: usize = 1 << 16;

impl CpuSet {
    /// No CPU at all.
    pub const fn new() -> CpuSet {
        CpuSet { words: Vec::new() }
    }

    /// The CPUs on which the calling thread may run now; nothing if the kernel does not say.
    pub fn of_thread() -> Option<CpuSet> {
        CpuSet::of(0)
    }

    /// The same of another thread of this process, 0 for the caller. The room is that of the
    /// kernel's own sets.
    pub(crate) fn of(thread: libc::pid_t) -> Option<CpuSet> {
        // The kernel refuses a mask that has fewer bits than it has CPUs.
        let mut words = vec![0_u64; LIMIT / 64];
        // SAFETY: the kernel writes at most so many bytes, which `words` has.
        let bytes = unsafe {
            libc::syscall(libc::SYS_sched_getaffinity, thread, words.len() * 8, words.as_mut_ptr())
        };
        words.truncate(usize::try_from(bytes).ok()?.div_ceil(8));
        Some(CpuSet { words })
    }

    /// Lets the calling thread run on these CPUs only; when this returns, it is on one of them.
    ///
    /// # Errors
    ///
    /// The kernel refuses: `EINVAL` if the thread may run on none of them.
    pub fn bind_thread(&self) -> io::Result<()> {
        // SAFETY: the kernel reads so many bytes, which `words` has; 0 is this thread.
        let result = unsafe {
            let (bytes, words) = (self.words.len() * 8, self.words.as_ptr());
            libc::syscall(libc::SYS_sched_setaffinity, 0, bytes, words)
        };
        if result < 0 { Err(io::Error::last_os_error()) } else { Ok(()) }
    }

    /// One more than the highest number for which there is room without growing.
    pub(crate) fn room(&self) -> usize {
        self.words.len() * 64
    }

    /// Puts a CPU into the set; `false` if it is there already, or if the number is too high to be
    /// that of a CPU.
    pub fn insert(&mut self, cpu: usize) -> bool {
        if cpu >= LIMIT || self.contains(cpu) {
            return false;
        }
        if cpu / 64 >= self.words.len() {
            self.words.resize(cpu / 64 + 1, 0);
        }
        self.words[cpu / 64] |= 1 << (cpu % 64);
        true
    }

    /// Whether a CPU is in the set.
    pub fn contains(&self, cpu: usize) -> bool {
        self.words.get(cpu / 64).is_some_and(|word| word >> (cpu % 64) & 1 == 1)
    }

    /// The CPUs, in ascending order.
    pub fn iter(&self) -> impl Iterator<Item = usize> + '_ {
        (0..self.room()).filter(|cpu| self.contains(*cpu))
    }

    /// How many there are.
    pub fn len(&self) -> usize {
        self.words.iter().map(|word| word.count_ones() as usize).sum()
    }

    /// Whether there is none.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }
}

impl PartialEq for CpuSet {
    fn eq(&self, other: &CpuSet) -> bool {
        self.iter().eq(other.iter())
    }
}

impl Eq for CpuSet {}

impl FromIterator<usize> for CpuSet {
    fn from_iter<I: IntoIterator<Item = usize>>(cpus: I) -> CpuSet {
        let mut set = CpuSet::new();
        cpus.into_iter().for_each(|cpu| _ = set.insert(cpu));
        set
    }
}

impl fmt::Display for CpuSet {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut cpus = self.iter().peekable();
        let mut comma = "";
        while let Some(first) = cpus.next() {
            let mut last = first;
            while let Some(next) = cpus.next_if(|next| *next == last + 1) {
                last = next;
            }
            match last - first {
                0 => write!(formatter, "{comma}{first}")?,
                _ => write!(formatter, "{comma}{first}-{last}")?,
            }
            comma = ",";
        }
        Ok(())
    }
}

/// What is no list of CPUs, such as `0-3,7` is one.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("'{0}' is not a CPU or a range of CPUs: write for example 0-3,7")]
pub struct NotCpus(String);

impl FromStr for CpuSet {
    type Err = NotCpus;

    fn from_str(text: &str) -> Result<CpuSet, NotCpus> {
        let mut set = CpuSet::new();
        for part in text.trim().split(',').filter(|part| !part.is_empty()) {
            let not_cpus = || NotCpus(part.to_string());
            let (first, last) = part.split_once('-').unwrap_or((part, part));
            let first: usize = first.trim().parse().map_err(|_| not_cpus())?;
            let last: usize = last.trim().parse().map_err(|_| not_cpus())?;
            if first > last || last >= LIMIT {
                return Err(not_cpus());
            }
            (first..=last).for_each(|cpu| _ = set.insert(cpu));
        }
        Ok(set)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lists_are_read_and_written_as_the_kernel_does() {
        let cases =
            [("", ""), ("0", "0"), ("0-1\n", "0-1"), ("3,0-2,64", "0-3,64"), ("5,7", "5,7")];
        for (text, expected) in cases {
            assert_eq!(text.parse::<CpuSet>().unwrap().to_string(), expected, "{text:?}");
        }
        for text in ["x", "1-", "-1", "3-1", "0-99999999999", "70000"] {
            assert!(text.parse::<CpuSet>().is_err(), "{text:?}");
        }
    }

    #[test]
    fn sets_are_equal_whatever_their_room() {
        let mut set: CpuSet = [1, 200].into_iter().collect();
        assert_eq!(set.len(), 2);
        assert!(!set.insert(200) && !set.insert(LIMIT));
        assert_ne!(set, [1].into_iter().collect());
        set.words[3] = 0;
        assert_eq!(set, [1].into_iter().collect());
    }

    #[test]
    #[cfg_attr(miri, ignore = "Miri has its own idea of affinity")]
    fn this_thread_may_run_somewhere() {
        assert!(!CpuSet::of_thread().expect("the kernel says").is_empty());
    }
}
