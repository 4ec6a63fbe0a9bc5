//! Sets of CPUs: the kernel's list text, the affinity of the calling thread, and an order in which
//! CPUs share as little as possible.

use crate::tree::Tree;
use std::io;
pub use tiebreak_core::quantity::format_cpus;

/// The words of an affinity mask: room for 8192 CPUs, the most that a kernel is built for.
const MASK_WORDS: usize = 128;

/// The CPUs on which a thread may run, a bit each.
pub type Mask = [u64; MASK_WORDS];

/// Reads a list of CPUs as the kernel writes it (`0-3,7`), sorted and without repetition. Returns
/// `None` if it is not such a list. The empty text is the empty list.
pub fn parse_list(text: &str) -> Option<Vec<usize>> {
    let mut cpus = Vec::new();
    for part in text.trim().split(',').filter(|_| !text.trim().is_empty()) {
        let (first, last) = part.split_once('-').unwrap_or((part, part));

        let (first, last) = (number(first)?, number(last)?);
        if first > last {
            return None;
        }
        cpus.extend(first..=last);
    }
    cpus.sort_unstable();
    cpus.dedup();
    Some(cpus)
}

fn number(text: &str) -> Option<usize> {
    let text = text.trim();
    let plain = !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit());
    text.parse().ok().filter(|cpu| plain && *cpu < MASK_WORDS * 64)
}

/// Returns the CPUs that the calling thread may run on, sorted; empty if the kernel does not report
/// them.
pub fn allowed() -> Vec<usize> {
    let mask = affinity();
    (0..MASK_WORDS * 64).filter(|cpu| mask[cpu / 64] >> (cpu % 64) & 1 == 1).collect()
}

/// Returns the affinity of the calling thread; all 0 if the kernel does not report it.
pub fn affinity() -> Mask {
    let mut mask = [0; MASK_WORDS];
    // SAFETY: the mask has the length that the call is given, and the kernel writes no more than
    // that.
    unsafe { libc::sched_getaffinity(0, size_of_val(&mask), mask.as_mut_ptr().cast()) };
    mask
}

/// Sets the affinity of the calling thread.
///
/// # Errors
/// As [`pin_this_thread`].
pub fn set_affinity(mask: &Mask) -> io::Result<()> {
    // SAFETY: the mask has the length that the call is given, and is only read.
    let error = unsafe { libc::sched_setaffinity(0, size_of_val(mask), mask.as_ptr().cast()) };
    if error == 0 { Ok(()) } else { Err(io::Error::last_os_error()) }
}

/// Restricts the calling thread, and everything that it starts from now on, to these CPUs.
///
/// # Errors
/// Fails with the kernel's error: `EINVAL` if this process may use none of the CPUs.
pub fn pin_this_thread(cpus: &[usize]) -> io::Result<()> {
    set_affinity(&mask_of(cpus))
}

/// Moves the main thread of a process to these CPUs.
///
/// # Errors
/// As [`pin_this_thread`]; fails also if there is no such process, or if it is another user's.
pub fn move_process(process: u32, cpus: &[usize]) -> io::Result<()> {
    let (mask, process) = (mask_of(cpus), process as libc::pid_t);
    // SAFETY: the mask has the length that the call is given, and is only read.
    let error =
        unsafe { libc::sched_setaffinity(process, size_of_val(&mask), mask.as_ptr().cast()) };
    if error == 0 { Ok(()) } else { Err(io::Error::last_os_error()) }
}

fn mask_of(cpus: &[usize]) -> Mask {
    let mut mask: Mask = [0; MASK_WORDS];
    for &cpu in cpus.iter().filter(|cpu| **cpu < MASK_WORDS * 64) {
        mask[cpu / 64] |= 1 << (cpu % 64);
    }
    mask
}

/// Returns the CPUs of `allowed` other than `first`, in the order in which threads next to one on
/// `first` get them: a CPU of each other core, then the second CPU of each core, and so on. So no
/// two threads share a core while another core is idle.
///
/// The kernel reports which CPUs share a core. A CPU without a report counts as a core by itself.
/// Cost: one small file per CPU.
pub fn apart(first: usize, allowed: &[usize]) -> Vec<usize> {
    apart_in(&Tree::here(), first, allowed)
}

fn apart_in(tree: &Tree, first: usize, allowed: &[usize]) -> Vec<usize> {
    // A core's CPUs take turns in the order of the list; the core of `first` has had its first
    // turn.
    let mut turns: Vec<(usize, usize)> = Vec::with_capacity(allowed.len());
    for cpu in allowed.iter().copied().filter(|cpu| *cpu != first) {
        let core = core(tree, cpu);
        let before = |other: usize| other == first || (other < cpu && allowed.contains(&other));
        turns.push((core.iter().filter(|other| **other != cpu && before(**other)).count(), cpu));
    }
    turns.sort_unstable();
    turns.into_iter().map(|(_, cpu)| cpu).collect()
}

/// Returns the CPUs of the core that a CPU belongs to.
fn core(tree: &Tree, cpu: usize) -> Vec<usize> {
    let list = ["core_cpus_list", "thread_siblings_list"]
        .iter()
        .find_map(|name| tree.text(&format!("sys/devices/system/cpu/cpu{cpu}/topology/{name}")));
    list.and_then(|list| parse_list(&list)).unwrap_or_else(|| vec![cpu])
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tree::made_up::tree;

    #[test]
    fn lists_read_and_write() {
        fn check(text: &str, cpus: &[usize], written: &str) {
            assert_eq!(parse_list(text).as_deref(), Some(cpus), "{text}");
            assert_eq!(format_cpus(cpus), written);
        }
        check("0-3,7", &[0, 1, 2, 3, 7], "0-3,7");
        check(" 5, 1-2 ,2\n", &[1, 2, 5], "1-2,5");
        check("", &[], "");
        for wrong in ["a", "1-", "-1", "3-1", "1,,2", "0-99999999", "+1"] {
            assert_eq!(parse_list(wrong), None, "{wrong}");
        }
    }

    #[test]
    fn a_thread_can_be_pinned_to_one_of_its_cpus() {
        let before = allowed();
        let last = *before.last().unwrap();
        let pinned = std::thread::spawn(move || {
            pin_this_thread(&[last]).unwrap();
            allowed()
        });
        assert_eq!(pinned.join().unwrap(), [last]);
        assert_eq!(allowed(), before);
        assert!(pin_this_thread(&[8191]).is_err());
    }

    #[test]
    fn cores_come_before_their_second_cpus() {
        fn check(lists: &[&str], first: usize, allowed: &[usize], expected: &[usize]) {
            let path =
                |cpu| format!("sys/devices/system/cpu/cpu{cpu}/topology/thread_siblings_list");
            let files: Vec<(String, &str)> =
                lists.iter().enumerate().map(|(cpu, list)| (path(cpu), *list)).collect();
            let files: Vec<(&str, &str)> =
                files.iter().map(|(path, list)| (path.as_str(), *list)).collect();
            let (_folder, tree) = tree(&files);
            assert_eq!(apart_in(&tree, first, allowed), expected, "{lists:?} {first}");
        }
        check(&[], 0, &[0], &[]);
        check(&[], 3, &[1, 2, 3, 7], &[1, 2, 7]);
        check(&["0-1", "0-1", "2-3", "2-3"], 3, &[0, 1, 2, 3], &[0, 1, 2]);
        check(&["0-1", "0-1", "2-3", "2-3"], 0, &[0, 1, 2, 3], &[2, 1, 3]);
        check(&["0,2", "1,3", "0,2", "1,3"], 3, &[0, 1, 2, 3], &[0, 1, 2]);
        check(&["0-1", "0-1", "2-3", "2-3"], 3, &[1, 2, 3], &[1, 2]);
        check(&["nonsense", "0-1"], 1, &[0, 1], &[0]);
    }
}
