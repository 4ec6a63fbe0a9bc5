use super::sight::{needs, needs_by, writing};
use super::table::Words;
use super::*;
use crate::noise::measure::Interrupts;
use crate::tools::wide::Wide;
use std::collections::BTreeMap;
use tempfile::TempDir;
use tiebreak_machine::tree::made_up;

mod files;
mod measured;

const CPU: &str = "sys/devices/system/cpu";
const HERE: Place = Place { cpus_allowed: 4, is_virtual: true, is_root: false, has_counters: true };
const NONE: [&str; 2] = ["", ""];

/// A second in which nothing was to be seen.
fn calm() -> Second {
    Second {
        late_ns: Ok(vec![4000; 1000]),
        interrupts: Vec::new(),
        smis: Ok(0),
        wide: Ok(Wide { vectors: "AVX2", ordinary_ns: [9; 3], wide_ns: [9; 3] }),
    }
}

/// These files, of which `CPU` is the folder of CPUs, below a root of their own.
fn place_files(files: &[(&str, &str)]) -> (TempDir, Tree) {
    let owned: Vec<(String, &str)> =
        files.iter().map(|(path, text)| (path.replace("CPU", CPU), *text)).collect();
    let files: Vec<_> = owned.iter().map(|(path, text)| (path.as_str(), *text)).collect();
    made_up::tree(&files)
}

fn look_at(tree: &Tree, place: Place, second: Second, knob: &str) -> Setting {
    let settings = below(&Sight { tree, place, second }).settings;
    settings.into_iter().find(|setting| setting.knob == knob).unwrap()
}

/// Checks how a setting stands, and the commands that change it and put it back.
fn check(files: &[(&str, &str)], knob: &str, standing: Standing, now: &str, commands: [&str; 2]) {
    let (_folder, tree) = place_files(files);
    let found = look_at(&tree, HERE, calm(), knob);
    assert_eq!((found.standing, found.now.as_str()), (standing, now), "{knob}");
    let change = found.change.as_ref();
    let told = [change.map(|c| &c.command), change.and_then(|c| c.undo.as_ref())];
    assert_eq!(told.map(|text| text.map_or("", String::as_str)), commands, "{knob}");
}

/// All files below a root, with their bytes.
fn all_files(tree: &Tree, folder: &str) -> BTreeMap<String, Vec<u8>> {
    let mut all = BTreeMap::new();
    for name in tree.names(folder) {
        let path = format!("{folder}/{name}");
        match std::fs::read(tree.path(&path)) {
            Ok(bytes) => drop(all.insert(path, bytes)),
            Err(_) => all.extend(all_files(tree, &path)),
        }
    }
    all
}

/// Runs a command as a shell would, with the files of the made-up root in place of the machine's.
fn run(tree: &Tree, command: &str) {
    let root = tree.path("").display().to_string();
    let mut command = command.to_owned();
    for folder in [" /proc/", " /sys/"] {
        assert!(command.contains("/proc/") || command.contains("/sys/"), "{command}");
        let below = format!(" {}{}", root.trim_end_matches('/'), &folder[1..]);
        command = command.replace(folder, &below);
    }
    assert!(!command.contains("sudo"), "{command}");
    let output = std::process::Command::new("sh").args(["-c", &command]).output().unwrap();
    assert!(output.status.success(), "{command}: {output:?}");
}

/// The command mends it, and the undo puts every byte back.
fn is_mended_and_put_back(files: &[(&str, &str)], knob: &str) {
    let (_folder, tree) = place_files(files);
    let before = all_files(&tree, "");
    let found = look_at(&tree, HERE, calm(), knob);
    let change = found.change.unwrap_or_else(|| panic!("{knob}: {:?}", found.now));
    assert_eq!(change.needs, Needs::Nothing, "{knob}");
    run(&tree, &change.command);
    assert_ne!(all_files(&tree, ""), before, "{knob}");
    assert_eq!(look_at(&tree, HERE, calm(), knob).standing, Standing::Fine, "{knob}");
    run(&tree, &change.undo.unwrap());
    assert_eq!(all_files(&tree, ""), before, "{knob}");
}

#[test]
fn a_machine_that_tells_nothing_needs_nothing() {
    let (_folder, tree) = place_files(&[]);
    let mut second = calm();
    second.smis = Err("cannot be read".to_owned());
    second.late_ns = Err("no thread".to_owned());
    let settings = below(&Sight { tree: &tree, place: HERE, second }).settings;
    assert_eq!(settings.len(), ROWS.len());
    for setting in settings {
        let expected = match setting.knob.as_str() {
            "wide-vectors" => Standing::Fine,
            "smi" | "wake-up-latency" => Standing::Unknown,
            _ => Standing::Absent,
        };
        assert_eq!((setting.standing, setting.change), (expected, None), "{}", setting.knob);
        assert!(!setting.now.is_empty(), "{} says no reason", setting.knob);
    }
}

#[test]
fn each_row_has_words_and_its_own_name() {
    for (at, row) in ROWS.iter().enumerate() {
        let before = &ROWS[..at];
        assert!(before.iter().all(|one| one.knob != row.knob && one.name != row.name));
        assert!(row.why.ends_with('.') && row.help.ends_with('.'), "{}", row.knob);
        // Rows of a group lie next to each other.
        let is_known = before.iter().any(|other| other.group == row.group);
        assert!(!is_known || before[at - 1].group == row.group, "{}", row.knob);
    }
}

#[test]
fn what_is_said_of_a_file_follows_its_row() {
    // What is said of halt-polling depends on the governor too.
    let rows = ROWS.iter().filter(|row| row.knob != "halt-polling");
    for (knob, words) in rows.flat_map(|row| row.files.iter().map(|words| (&row.knob[..], words))) {
        let file = words.path.replace("cpu*", "cpu0");
        let (_folder, tree) = place_files(&[(&format!("{file}/below"), "")]);
        let found = look_at(&tree, HERE, calm(), knob);
        let now = format!("{file}: is a directory (EISDIR)");
        assert_eq!((found.standing, found.now), (Standing::Unknown, now), "not readable");
        for (text, shown, standing) in &words.words {
            one_word(knob, words, &file, text, Some((shown, *standing)));
        }
        let of_number = words.numbers.or(words.others).map(|standing| ("57", standing));
        one_word(knob, words, &file, "57", of_number);
        let of_word = words.others.map(|standing| ("banana", standing));
        one_word(knob, words, &file, "banana", of_word);
        one_word(knob, words, &file, "", None);
    }
}

/// What is said of a file with one word in it, and that the command mends it.
fn one_word(knob: &str, words: &Words, file: &str, text: &str, expected: Option<(&str, Standing)>) {
    let line = format!("{text}\n");
    let files = [(file, line.as_str())];
    let (_folder, tree) = place_files(&files);
    let found = look_at(&tree, HERE, calm(), knob);
    let Some((shown, standing)) = expected else {
        let now = format!("{file} holds '{text}', which is not known here");
        assert_eq!((found.standing, found.now), (Standing::Unknown, now), "{knob}");
        return;
    };
    assert_eq!((found.standing, found.now.as_str()), (standing, shown), "{knob}");
    if standing == Standing::Fine {
        assert_eq!(found.change, None, "{knob}");
        return;
    }
    is_mended_and_put_back(&files, knob);
    // Where the kernel does not offer the right word there is no command.
    if let Some(offers) = &words.offers {
        let (_folder, tree) =
            place_files(&[files[0], (&offers.replace("cpu*", "cpu0"), "one other")]);
        let found = look_at(&tree, HERE, calm(), knob);
        assert_eq!((found.standing, found.change), (standing, None), "{knob}");
        assert!(!found.help.is_empty());
    }
}

#[test]
fn the_words_of_many_cpus_are_put_back_each() {
    let file = |cpu: usize| format!("CPU/cpu{cpu}/cpufreq/scaling_governor");
    let files: Vec<(String, &str)> = (0..12)
        .map(|cpu| (file(cpu), ["powersave\n", "performance\n", "ondemand\n"][cpu % 3]))
        .collect();
    let files: Vec<(&str, &str)> = files.iter().map(|(path, text)| (&path[..], *text)).collect();
    is_mended_and_put_back(&files, "governor");
    let (_folder, tree) = place_files(&files);
    let found = look_at(&tree, HERE, calm(), "governor");
    assert_eq!(found.now, "ondemand and performance and powersave");
    let two = &files[..1];
    let file = "/sys/devices/system/cpu/cpu0/cpufreq/scaling_governor";
    let commands = ["performance", "powersave"].map(|word| format!("echo {word} | tee {file}"));
    let commands = [&commands[0][..], &commands[1]];
    check(two, "governor", Standing::Noisy, "powersave", commands);
}

#[test]
fn a_pattern_means_the_files_and_no_others() {
    let (_folder, tree) = place_files(&[
        ("CPU/cpu0/power/a", ""),
        ("CPU/cpu1/power/a", ""),
        ("CPU/cpu1/power/b", ""),
        ("CPU/cpu2/power/c", ""),
        ("CPU/cpu3/power/c", ""),
        ("CPU/cpu4/power/c", ""),
        ("CPU/cpu5/power/c", ""),
        ("CPU/cpu10/power/c", ""),
        ("proc/irq/5/smp", ""),
        ("proc/irq/17/smp", ""),
    ]);
    let check = |files: &[(&str, &str)], command: &str, undo: &str| {
        let folder = "/sys/devices/system/cpu";
        let write = |(file, old): &(&str, &str)| Write {
            file: file.replace("CPU", folder),
            old: (*old).to_owned(),
            new: "x".to_owned(),
        };
        let writes: Vec<Write> = files.iter().map(write).collect();
        let change = writing(&tree, &writes);
        let expected = [command, undo].map(|text| text.replace("CPU", folder));
        assert_eq!([change.command, change.undo.unwrap()], expected);
    };
    let both = [("CPU/cpu0/power/a", "1"), ("CPU/cpu1/power/a", "1")];
    check(&both, "echo x | tee CPU/cpu*/power/a", "echo 1 | tee CPU/cpu*/power/a");
    let undo = "echo 1 | tee CPU/cpu0/power/a; echo 'b c' | tee CPU/cpu1/power/a";
    let differing = [both[0], ("CPU/cpu1/power/a", "b c")];
    check(&differing, "echo x | tee CPU/cpu*/power/a", undo);
    check(&both[1..], "echo x | tee CPU/cpu1/power/a", "echo 1 | tee CPU/cpu1/power/a");
    let some = [2, 3, 4, 10].map(|cpu| format!("CPU/cpu{cpu}/power/c"));
    let some = [(&some[0][..], "1"), (&some[1], "1"), (&some[2], "1"), (&some[3], "1")];
    let of_some =
        |value| format!("for n in 2 3 4 10; do echo {value} | tee CPU/cpu$n/power/c; done");
    check(&some, &of_some("x"), &of_some("1"));
    let mut more = some.to_vec();
    more.push(("CPU/cpu1/power/b", "1"));
    let command = format!("echo x | tee CPU/cpu1/power/b; {}", of_some("x"));
    check(&more, &command, &format!("echo 1 | tee CPU/cpu1/power/b; {}", of_some("1")));
    let irqs = [("/proc/irq/5/smp", "it's"), ("/proc/irq/17/smp", "it's")];
    check(&irqs, "echo x | tee /proc/irq/*/smp", "echo 'it'\\''s' | tee /proc/irq/*/smp");
}

#[test]
fn who_may_write() {
    assert_eq!(needs_by(Some(libc::EROFS)), Needs::Host);
    assert_eq!(needs_by(Some(libc::EACCES)), Needs::Root);
    let (_folder, tree) = made_up::tree(&[("sys/a", "1")]);
    assert_eq!(needs(&tree, "/sys/a"), Needs::Nothing);
    assert_eq!(needs(&tree, "/sys/b"), Needs::Root);
    let write = |file: &str| Write { file: file.to_owned(), old: "1".into(), new: "0".into() };
    let change = writing(&tree, &[write("/sys/a"), write("/sys/b")]);
    assert_eq!(
        (change.needs, &change.command[..]),
        (Needs::Root, "echo 0 | sudo tee /sys/a /sys/b")
    );
}

#[test]
fn this_machine_is_looked_at_and_left_as_it_is() {
    let tuning = read();
    assert_eq!((tuning.schema.as_str(), tuning.settings.len()), (Tuning::SCHEMA, ROWS.len()));
    for setting in tuning.settings {
        let is_bad = matches!(setting.standing, Standing::Noisy | Standing::Could);
        assert!(is_bad || setting.change.is_none(), "{setting:?}");
        assert!(!is_bad || setting.change.is_some() || !setting.help.is_empty(), "{setting:?}");
        assert!(!setting.now.is_empty(), "{setting:?}");
    }
}
