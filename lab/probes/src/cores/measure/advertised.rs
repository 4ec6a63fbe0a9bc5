//! What CPUs share, as the machine says.

use super::*;

/// A set of CPUs that share something.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Advertised {
    /// What they share.
    pub shares: Shared,
    /// The CPUs, sorted; at least one.
    pub cpus: Vec<usize>,
}

/// The sets that the kernel names, cut down to these CPUs (sorted) and without repetition, by what
/// is shared. What the kernel does not tell is absent.
pub(super) fn read(tree: &Tree, cpus: &[usize]) -> Vec<Advertised> {
    let mut found = Vec::new();
    let mut sockets: BTreeMap<u64, Vec<usize>> = BTreeMap::new();
    for &cpu in cpus {
        let folder = format!("/sys/devices/system/cpu/cpu{cpu}");
        let mut add = |shares: Shared, path: String| {
            let text = tree.text(&path);
            let mut shared = text.as_deref().and_then(parse_list).unwrap_or_default();
            shared.retain(|other| cpus.binary_search(other).is_ok());
            if shared.contains(&cpu) {
                found.push(Advertised { shares, cpus: shared });
            }
        };
        add(Shared::Core, format!("{folder}/topology/thread_siblings_list"));
        for index in tree.names(&format!("{folder}/cache")) {
            let file = |name: &str| format!("{folder}/cache/{index}/{name}");
            let is_for_data = tree.text(&file("type")).is_some_and(|kind| kind != "Instruction");
            match tree.number(&file("level")) {
                Some(2) if is_for_data => add(Shared::L2, file("shared_cpu_list")),
                Some(3) if is_for_data => add(Shared::L3, file("shared_cpu_list")),
                _ => {}
            }
        }
        if let Some(socket) = tree.number(&format!("{folder}/topology/physical_package_id")) {
            sockets.entry(socket).or_default().push(cpu);
        }
    }
    let socket = |cpus| Advertised { shares: Shared::Socket, cpus };
    found.extend(sockets.into_values().map(socket));
    found.sort();
    found.dedup();
    found
}

#[cfg(test)]
mod tests {
    use super::*;
    use tiebreak_machine::cpus::format_list;
    use tiebreak_machine::tree::made_up::tree;

    fn check(files: &[(&str, &str)], cpus: &[usize], expected: &[&str]) {
        let files: Vec<_> = files
            .iter()
            .map(|(path, text)| (format!("sys/devices/system/cpu/{path}"), *text))
            .collect();
        let files: Vec<_> = files.iter().map(|(path, text)| (path.as_str(), *text)).collect();
        let (_folder, tree) = tree(&files);
        let found = read(&tree, cpus);
        let text = |set: &Advertised| format!("{}: {}", set.shares.words(), format_list(&set.cpus));
        assert_eq!(found.iter().map(text).collect::<Vec<_>>(), expected);
    }

    /// Two cores of two threads, an L2 each, no L3, a socket.
    const FILES: [(&str, &str); 24] = [
        ("cpu0/topology/thread_siblings_list", "0,2\n"),
        ("cpu1/topology/thread_siblings_list", "1,3\n"),
        ("cpu2/topology/thread_siblings_list", "0,2\n"),
        ("cpu3/topology/thread_siblings_list", "1,3\n"),
        ("cpu0/topology/physical_package_id", "0\n"),
        ("cpu1/topology/physical_package_id", "0\n"),
        ("cpu2/topology/physical_package_id", "0\n"),
        ("cpu3/topology/physical_package_id", "0\n"),
        ("cpu0/cache/index1/level", "2\n"),
        ("cpu1/cache/index1/level", "2\n"),
        ("cpu2/cache/index1/level", "2\n"),
        ("cpu3/cache/index1/level", "2\n"),
        ("cpu0/cache/index1/type", "Unified\n"),
        ("cpu1/cache/index1/type", "Unified\n"),
        ("cpu2/cache/index1/type", "Unified\n"),
        ("cpu3/cache/index1/type", "Unified\n"),
        ("cpu0/cache/index1/shared_cpu_list", "0,2\n"),
        ("cpu1/cache/index1/shared_cpu_list", "1,3\n"),
        ("cpu2/cache/index1/shared_cpu_list", "0,2\n"),
        ("cpu3/cache/index1/shared_cpu_list", "1,3\n"),
        ("cpu0/cache/index0/level", "2\n"),
        ("cpu0/cache/index0/type", "Instruction\n"),
        ("cpu0/cache/index0/shared_cpu_list", "0\n"),
        ("cpu0/cache/index9/level", "many\n"),
    ];

    #[test]
    fn sets_are_named_once_and_cut_down_to_the_cpus_in_use() {
        let expected =
            ["SMT pair: 0,2", "SMT pair: 1,3", "shared L2: 0,2", "shared L2: 1,3", "socket: 0-3"];
        check(&FILES, &[0, 1, 2, 3], &expected);
        let expected =
            ["SMT pair: 0", "SMT pair: 1", "shared L2: 0", "shared L2: 1", "socket: 0-1"];
        check(&FILES, &[0, 1], &expected);
    }

    #[test]
    fn a_machine_that_says_nothing_has_no_sets() {
        check(&[], &[0, 1], &[]);
        let odd = [
            ("cpu0/topology/thread_siblings_list", "all of them"),
            // A list without the CPU itself is not believed.
            ("cpu1/topology/thread_siblings_list", "0"),
            ("cpu1/topology/physical_package_id", "-1"),
        ];
        check(&odd, &[0, 1], &[]);
    }
}
