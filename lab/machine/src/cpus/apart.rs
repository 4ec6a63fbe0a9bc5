//! An order of CPUs in which they share as little as possible.

use super::parse_list;
use crate::tree::Tree;
use std::path::Path;

/// Returns the CPUs of `allowed` other than `first`, in the order in which threads beside one on
/// `first` get them: a CPU of each other core, then the second CPU of each core, and so on. So no
/// two threads share a core while another core is idle.
///
/// The kernel reports which CPUs share a core. A CPU without a report counts as a core by itself.
/// Cost: one small file per CPU.
pub fn apart(first: usize, allowed: &[usize]) -> Vec<usize> {
    apart_in(&Tree::at(Path::new("/")), first, allowed)
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
    let text = |name: &str| tree.text(&format!("sys/devices/system/cpu/cpu{cpu}/topology/{name}"));
    let list = text("core_cpus_list").or_else(|| text("thread_siblings_list"));
    list.and_then(|list| parse_list(&list)).unwrap_or_else(|| vec![cpu])
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tree::made_up::tree;

    #[test]
    fn cores_come_before_their_second_cpus() {
        let check = |lists: &[&str], first: usize, allowed: &[usize], expected: &[usize]| {
            let path =
                |cpu| format!("sys/devices/system/cpu/cpu{cpu}/topology/thread_siblings_list");
            let files: Vec<(String, &str)> =
                lists.iter().enumerate().map(|(cpu, list)| (path(cpu), *list)).collect();
            let files: Vec<(&str, &str)> =
                files.iter().map(|(path, list)| (path.as_str(), *list)).collect();
            let (_folder, tree) = tree(&files);
            assert_eq!(apart_in(&tree, first, allowed), expected, "{lists:?} {first}");
        };
        check(&[], 0, &[0], &[]);
        check(&[], 3, &[1, 2, 3, 7], &[1, 2, 7]);
        check(&["0-1", "0-1", "2-3", "2-3"], 3, &[0, 1, 2, 3], &[0, 1, 2]);
        check(&["0-1", "0-1", "2-3", "2-3"], 0, &[0, 1, 2, 3], &[2, 1, 3]);
        check(&["0,2", "1,3", "0,2", "1,3"], 3, &[0, 1, 2, 3], &[0, 1, 2]);
        check(&["0-1", "0-1", "2-3", "2-3"], 3, &[1, 2, 3], &[1, 2]);
        check(&["nonsense", "0-1"], 1, &[0, 1], &[0]);
    }
}
