//! Per-CPU data where there are restartable sequences, and where something is missing: each case in
//! a process of its own, as the mode of a process is chosen once. The process is this program,
//! started to run one test; that test does the same in every case and prints the mode that it had.

#![cfg(not(any(miri, loom)))]

#[cfg(all(target_arch = "x86_64", target_pointer_width = "64"))]
#[path = "common/seccomp.rs"]
mod seccomp;

use std::io;
use std::os::unix::process::CommandExt;
use std::process::Command;
use std::thread;
use tiebreak_sync::per_cpu::{self, Choice, Counter, List, Mode, Node, PerCpu, Word};

/// What a child is asked to choose.
const CHOICE: &str = "TIEBREAK_TEST_PER_CPU_CHOICE";
const THREADS: u64 = 6;
const STEPS: u64 = 20_000;

#[test]
fn everything_is_exact() {
    let choice = match std::env::var(CHOICE).as_deref() {
        Ok("own") => Choice::OwnRegistration,
        Ok("atomics") => Choice::Atomics,
        _ => Choice::Libc,
    };
    let mode = per_cpu::choose(choice);
    assert_eq!(per_cpu::mode(), mode, "it is chosen once");
    println!("MODE {mode:?}");
    println!("{mode}");
    let (counter, word, list) = (Counter::new(), Word::new(0), List::new());
    assert_eq!(counter.mode(), mode);
    let popped: u64 = thread::scope(|scope| {
        let work = || (0..STEPS).map(|step| one_step(step, &counter, &word, &list)).sum::<u64>();
        let threads: Vec<_> = (0..THREADS).map(|_| scope.spawn(work)).collect();
        threads.into_iter().map(|thread| thread.join().unwrap()).sum()
    });
    let mut list = list;
    let left: u64 = list.drain().map(|node| node.value).sum();
    let each = STEPS * (STEPS - 1) / 2;
    assert_eq!(popped + left, THREADS * each, "what was pushed comes out once");
    assert_eq!(counter.sum(), (THREADS * each) as i64);
    assert_eq!(word.values().sum::<u64>(), THREADS * STEPS);
}

/// Adds, updates, pushes, and pops in two of three steps; gives what it popped.
fn one_step(step: u64, counter: &Counter, word: &Word, list: &List<u64>) -> u64 {
    counter.add(step as i64);
    assert!(word.update(|value| Some(value + 1)).is_ok());
    list.push(Box::new(Node::new(step)));
    if step.is_multiple_of(3) {
        return 0;
    }
    list.pop().map_or(0, |node| node.value)
}

#[test]
fn there_is_a_slot_for_each_cpu_and_one_for_none() {
    let slots = PerCpu::new(|| ());
    let cpus = thread::available_parallelism().map_or(1, usize::from);
    assert!(slots.iter().count() > cpus);
}

/// A copy of this program that runs the first test.
fn child(choice: &str) -> Command {
    let mut command = Command::new(std::env::current_exe().unwrap());
    command.args(["--exact", "everything_is_exact", "--nocapture", "--test-threads=1"]);
    command.env(CHOICE, choice).env_remove("GLIBC_TUNABLES");
    command
}

/// Its mode, as `Debug` prints it.
fn mode_of(mut child: Command) -> io::Result<String> {
    let output = child.output()?;
    let text = String::from_utf8_lossy(&output.stdout).into_owned();
    let errors = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{}: {text}{errors}", output.status);
    let mode = text.lines().find_map(|line| line.split_once("MODE ")).map(|(_, mode)| mode);
    Ok(mode.unwrap_or_else(|| panic!("no mode in: {text}")).to_owned())
}

fn without_registration(choice: &str) -> Command {
    let mut command = child(choice);
    command.env("GLIBC_TUNABLES", "glibc.pthread.rseq=0");
    command
}

/// Whether the C library has registered this thread.
fn has_sections() -> bool {
    matches!(per_cpu::mode(), Mode::Rseq(_))
}

#[test]
fn atomics_can_be_asked_for() {
    assert_eq!(mode_of(child("atomics")).unwrap(), "Atomics(Requested)");
}

#[test]
fn a_libc_that_does_not_register_leads_to_atomics() {
    let mode = mode_of(without_registration("libc")).unwrap();
    println!("{mode}");
    assert!(mode.starts_with("Atomics("), "{mode}");
    if has_sections() {
        // With a C library that does register unless it is asked not to.
        assert_eq!(mode, "Atomics(TurnedOff)");
    }
}

#[test]
fn a_program_may_register_its_threads_itself() {
    let mode = mode_of(without_registration("own")).unwrap();
    println!("{mode}");
    assert!(mode == "Rseq(Own)" || is_refused(&mode), "{mode}");
    // Where the C library has registered, it stays so.
    let mode = mode_of(child("own")).unwrap();
    println!("{mode}");
    let of_libc = has_sections();
    assert!(
        mode == if of_libc { "Rseq(Libc)" } else { "Rseq(Own)" } || is_refused(&mode),
        "{mode}"
    );
}

/// Elsewhere, and where the kernel does not know the call or a filter stands before it.
fn is_refused(mode: &str) -> bool {
    mode.starts_with("Atomics(Refused(") || mode == "Atomics(Architecture)"
}

#[cfg(all(target_arch = "x86_64", target_pointer_width = "64"))]
mod refused {
    use super::seccomp::{Filter, Rule};
    use super::*;

    #[test]
    fn a_filter_leads_to_atomics_and_is_named() {
        for errno in [libc::ENOSYS, libc::EPERM, libc::EACCES] {
            for choice in ["libc", "own"] {
                let mut child = child(choice);
                let filter = Filter::new(&[Rule::all(libc::SYS_rseq)], errno).unwrap();
                // SAFETY: between fork and exec it makes two system calls.
                unsafe { child.pre_exec(move || filter.install()) };
                match mode_of(child) {
                    Ok(mode) => assert_eq!(mode, format!("Atomics(Refused({errno}))"), "{choice}"),
                    Err(error) => println!("skipped: no filter can be set here: {error}"),
                }
            }
        }
    }
}
