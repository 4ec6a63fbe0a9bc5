//! Sections that are really interrupted: each has a delay before its last instruction, so that
//! most interrupts fall into it, and six threads share two CPUs.

mod crew;
mod list;
mod signals;
mod threads;
mod windows;

use super::section::Form;
use super::{Choice, Mode, choose};

/// As it is used, but slow: a thread spends nearly all of its time inside.
struct Wide;

impl Form for Wide {
    const DELAY: u32 = 200;
    const ARMED: bool = true;
}

/// The control: the kernel does not know of it, so it goes on where it was.
struct Unarmed;

impl Form for Unarmed {
    const DELAY: u32 = 200;
    const ARMED: bool = false;
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
