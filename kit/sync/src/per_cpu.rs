//! Data of a CPU, changed without atomic instructions.
//!
//! Threads that run on different CPUs and change different memory need not agree on anything; those
//! of one CPU run one after the other. So what is kept *for each CPU* could be changed by ordinary
//! instructions, if only a thread could not lose its CPU in the middle. A restartable sequence
//! (`rseq(2)`, since Linux 4.18) is a stretch of code that the kernel begins again if that happens
//! in it: others see it as a whole or not at all.
//!
//! | type | a CPU has | changed by |
//! |---|---|---|
//! | [`Counter`] | a number | [`add`](Counter::add); all have a [`sum`](Counter::sum) |
//! | [`List`] | a stack of nodes | [`push`](List::push), [`pop`](List::pop) |
//! | [`Word`] | a word | [`compare_and_store`](Word::compare_and_store) |
//! | [`PerCpu`] | any value that bears several threads | what the value has |
//!
//! # Two modes
//!
//! [`mode()`] says which is in force, and why. [`Mode::Rseq`] needs x86-64 and threads that are
//! registered with the kernel: glibc does so since 2.35. Everywhere else ([`Reason`] has the list)
//! the same types work by atomic instructions on the slot of `sched_getcpu(3)`: those are rarely
//! contended and always right, and cost what an atomic instruction costs. With musl or an older
//! glibc a program may have its threads registered by this crate ([`Choice::OwnRegistration`]). On
//! AArch64 sections are not offered: nobody has written and tested them.
//!
//! Each object has one mode for as long as it lives, so its slots are never changed by sections and
//! by atomic instructions at once.
//!
//! # In the handler of a signal
//!
//! [`Counter::add`], [`List::push`] and [`List::pop`] neither allocate nor lock, and may be called
//! there. The exception is a thread that this crate is to register ([`Registration::Own`]) and that
//! has not used anything of this module yet: its first use has the thread's end taken note of, for
//! which the Rust and C libraries allocate. So in such a process let each thread use something once
//! before it can get such a signal; [`PerCpu::here`] is enough.
//!
//! # Why it is right
//!
//! The theorem: of two sections on the slot of one CPU, one happens wholly before the other. The
//! second can only run on that CPU after the first has lost it or has ended; if it has lost it
//! before its last instruction, it begins again, and nobody has seen anything of it. What this
//! rests on, and who must hold it:
//!
//! - A thread that is interrupted in a section goes on at the abort handler: the kernel, for every
//!   thread that is registered.
//! - A thread that is not registered has a number above all CPUs: the kernel and the C library,
//!   which write that mark. Sections look at it.
//! - Slots of CPUs are changed by sections alone: this crate. A thread that cannot have a section
//!   uses a slot that is no CPU's, by atomic instructions.
//! - Each thread has a thread pointer and an area of its own: whoever makes threads. It is not so
//!   in the child of `vfork(2)`, or of a `clone(2)` by hand that keeps the parent's thread pointer;
//!   there nothing of this may be used.
//!
//! So in the cases that come to mind:
//!
//! - *Signals*: a section that a signal interrupts begins again after the handler, which may use
//!   the same objects.
//! - *Fork*: the child's thread keeps its registration and gets its copy of all slots.
//! - *Hotplug*: there is a slot for each CPU that the machine can ever have. The slot of one that
//!   is gone keeps what it has. A CPU beyond them, should there be one, uses the slot that is no
//!   CPU's.
//! - *Reading from elsewhere* ([`Counter::sum`]) sees each slot before or after a section, as the
//!   one store that others can see is one aligned word.
//! - *Unloading* (`dlclose`): the kernel may look at what describes a section after its end. So
//!   where [`Mode::Rseq`] is chosen, the library that this code is linked into is marked as one
//!   that stays (`RTLD_NODELETE`). To empty the thread's pointer after each section instead would
//!   cost a store each time.
//! - *Debuggers*: who steps through a section by single instructions never ends it, as each step
//!   interrupts it. Set the next stop behind it.
//!
//! # History
//!
//! Until Linux had this call, a thread could notice its preemption by a null selector in the
//! register GS (Paul Khuong, 2018): writing 0 to it set the base of the segment to 0, and the
//! kernel, which did not save that, put back the old base when the thread ran again. A write
//! relative to GS then went elsewhere. Kernels that save the base itself, as Linux does since 5.9
//! on CPUs with FSGSBASE, put back the 0. The example `null_gs` of this crate says which it is.
//! Nothing here uses it.

mod counter;
mod cpus;
mod list;
mod mode;
mod rseq;
mod section;
mod slots;
mod word;

#[cfg(all(test, not(any(miri, loom))))]
mod tests;

pub use counter::Counter;
pub use list::{List, Node};
pub use mode::{Choice, Mode, Reason, Registration, choose, mode};
pub use slots::PerCpu;
pub use word::{ObservedWord, Word};
