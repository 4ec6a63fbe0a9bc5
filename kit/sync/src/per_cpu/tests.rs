//! Sections that are really interrupted: each has a delay before its last instruction, so that
//! most interrupts fall into it, and six threads share two CPUs.

mod crew;
mod list;
mod signals;
mod threads;
mod windows;

use super::section::Form;
use super::{Choice, Mode, choose, current_cpu, end_of, possible_cpus};
use std::cell::Cell;

std::thread_local! {
    /// How often sections of this thread were interrupted.
    static ABORTS: Cell<u64> = const { Cell::new(0) };
}

/// As it is used, but slow: a thread spends nearly all of its time inside.
struct Wide;

impl Form for Wide {
    const DELAY: u32 = 200;
    const ARMED: bool = true;

    fn aborts() -> *mut u64 {
        ABORTS.with(Cell::as_ptr)
    }
}

/// The control: the kernel does not know of it, so it goes on where it was.
struct Unarmed;

impl Form for Unarmed {
    const DELAY: u32 = 200;
    const ARMED: bool = false;

    fn aborts() -> *mut u64 {
        ABORTS.with(Cell::as_ptr)
    }
}

/// The mode of all tests here: with musl, where it is not the default, threads are registered.
fn mode() -> Mode {
    choose(Choice::OwnRegistration)
}

/// Whether there is something to test here.
fn has_sections() -> bool {
    let has = matches!(mode(), Mode::Rseq(_));
    if !has {
        println!("skipped: there are no sections here: {}", mode());
    }
    has
}

#[test]
fn lists_are_read_as_the_kernel_writes_them() {
    for (list, end) in [
        ("0\n", Some(1)),
        ("0-1\n", Some(2)),
        ("0-3,8-11\n", Some(12)),
        ("2,5", Some(6)),
        ("", None),
        ("0-x", None),
        ("0-99999999", None),
    ] {
        assert_eq!(end_of(list), end, "{list:?}");
    }
}

#[test]
fn this_cpu_is_one_of_the_possible_ones() {
    let cpu = current_cpu();
    if cpu == usize::MAX {
        println!("skipped: getcpu(2) is refused here");
        return;
    }
    assert!(cpu < possible_cpus(), "CPU {cpu} of {}", possible_cpus());
}
