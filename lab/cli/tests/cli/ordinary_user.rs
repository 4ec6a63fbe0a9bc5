//! `tiebreak machine` for an ordinary user in a container: without rights, or on one CPU.

use crate::common::{Place, Ran, validate_print};
use serde_json::Value;
use std::fs::Permissions;
use std::io::ErrorKind;
use std::os::unix::fs::PermissionsExt;
use std::os::unix::process::ExitStatusExt;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};
use tiebreak_lab::ordinary_user::{Rights, restrict};
use tiebreak_lab::probes::Probe;
use tiebreak_lab::probing::chosen_cpus;

/// How long each probe may take.
const EACH: Duration = Duration::from_millis(150);
/// How many budgets of all probes a busy machine may take for it, starting and ending included.
const SLACK: u32 = 40;

/// A place of which anyone may use everything, with a copy of the program.
fn open_place() -> (Place, PathBuf) {
    let place = Place::new();
    let program = place.path("tiebreak");
    std::fs::copy(env!("CARGO_BIN_EXE_tiebreak"), &program).unwrap();
    std::fs::set_permissions(&program, Permissions::from_mode(0o755)).unwrap();
    std::fs::set_permissions(place.folder(), Permissions::from_mode(0o777)).unwrap();
    (place, program)
}

/// The command with these rights only; `None` where the kernel cannot take rights away.
fn start(place: &Place, program: &Path, words: &[&str], rights: Rights) -> Option<Child> {
    let mut command = Command::new(program);
    command.args(words).current_dir(place.folder()).env("TIEBREAK_STORE", place.path("j.db"));
    command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
    restrict(&mut command, rights);
    let mut spawned = command.spawn();
    // Another test may be between fork and exec, and hold the copy of the program open meanwhile.
    for _ in 0..100 {
        match &spawned {
            Err(error) if error.kind() == ErrorKind::ExecutableFileBusy => {}
            _ => break,
        }
        std::thread::sleep(Duration::from_millis(20));
        spawned = command.spawn();
    }
    match spawned {
        Ok(child) => Some(child),
        Err(error) if error.kind() == ErrorKind::InvalidInput => {
            println!("skipped: this kernel has no filters of system calls ({error})");
            None
        }
        Err(error) if error.kind() == ErrorKind::PermissionDenied => {
            println!("skipped: nobody may start a program here ({error})");
            None
        }
        Err(error) => panic!("{error}"),
    }
}

/// Waits for the end, and ends what takes longer than a probe with a budget ever should.
fn end(mut child: Child) -> Ran {
    let limit = EACH * Probe::ALL.len() as u32 * SLACK;
    let begin = Instant::now();
    while child.try_wait().unwrap().is_none() {
        if begin.elapsed() > limit {
            child.kill().unwrap();
            panic!("not done after {limit:?}: {:?}", child.wait_with_output().unwrap());
        }
        std::thread::sleep(Duration::from_millis(20));
    }
    let output = child.wait_with_output().unwrap();
    assert_eq!(output.status.signal(), None, "{output:?}");
    Ran::of(output)
}

/// Every probe has a state, and a reason for each state but the best.
fn check_print(print: &Value) {
    validate_print(print);
    for probe in Probe::ALL {
        let found = &print[probe.name()];
        let given = |key: &str| match &found[key] {
            Value::String(text) => !text.is_empty(),
            Value::Array(texts) => !texts.is_empty(),
            _ => false,
        };
        let is_right = match found["state"].as_str() {
            Some("measured") => true,
            Some("degraded") => given("reasons"),
            Some("unavailable") => given("what") && given("tried"),
            Some("inconclusive") => given("why"),
            _ => false,
        };
        assert!(is_right, "{}: {found:#}", probe.name());
    }
}

fn check(rights: Rights) {
    let (place, program) = open_place();
    let each = format!("{}ms", EACH.as_millis());
    // Into a file: a pipe that nobody reads yet would stop the program.
    let words = ["machine", "--budget", &each, "--json", "print.json"];
    let Some(child) = start(&place, &program, &words, rights) else { return };
    let said = end(child);
    assert_eq!(said.code, 0, "{rights:?}: {said:?}");
    assert!(!said.err.contains("panicked"), "{rights:?}: {said:?}");
    let json = std::fs::read_to_string(place.path("print.json")).unwrap();
    check_print(&serde_json::from_str(&json).unwrap());
    let shown = end(start(&place, &program, &["machine", "show"], rights).unwrap());
    assert_eq!(shown.code, 0, "{shown:?}");
    for probe in Probe::ALL {
        assert!(shown.out.contains(probe.words()), "{}: {shown:?}", probe.words());
    }
}

fn one_cpu() -> Option<usize> {
    chosen_cpus(None).unwrap().first().copied()
}

#[test]
fn without_rights_every_probe_says_what_became_of_it() {
    check(Rights { affinity: true, only_cpu: None });
}

#[test]
fn without_rights_and_without_a_choice_of_cpus() {
    check(Rights { affinity: false, only_cpu: None });
}

#[test]
fn without_rights_on_one_cpu() {
    check(Rights { affinity: true, only_cpu: one_cpu() });
}

#[test]
fn without_rights_on_one_cpu_without_a_choice_of_cpus() {
    check(Rights { affinity: false, only_cpu: one_cpu() });
}

/// The other tests would say nothing if the rights were still there.
#[test]
fn the_rights_are_gone() {
    let (place, _) = open_place();
    let script = "id -u; grep -E '^(NoNewPrivs|Seccomp|Cpus_allowed_list|CapEff):' \
                  /proc/self/status; taskset -p 1 $$";
    let rights = Rights { affinity: false, only_cpu: one_cpu() };
    let Some(child) = start(&place, Path::new("/bin/sh"), &["-c", script], rights) else { return };
    let said = end(child);
    let words: Vec<&str> = said.out.split_whitespace().collect();
    let after = |key: &str| words.iter().skip_while(|word| **word != key).nth(1).copied();
    assert_ne!(words.first(), Some(&"0"), "{said:?}");
    assert_eq!(after("NoNewPrivs:"), Some("1"), "{said:?}");
    assert_eq!(after("Seccomp:"), Some("2"), "{said:?}");
    assert_eq!(after("CapEff:"), Some("0000000000000000"), "{said:?}");
    let cpu = one_cpu().map(|cpu| cpu.to_string());
    assert_eq!(after("Cpus_allowed_list:"), cpu.as_deref(), "{said:?}");
    // Where there is no taskset, the shell says so.
    let refused = said.err.contains("not permitted") || said.err.contains("not found");
    assert!(refused, "{said:?}");
}
