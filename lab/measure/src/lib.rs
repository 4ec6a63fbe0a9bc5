//! Turns a round's coins into samples, for the four kinds of contestants.
//!
//! - *Programs* ([`Programs`]): one process is one run, which is a sample.
//! - *Servers* ([`Servers`]): one process, with all that it starts, is loaded; the load is the
//!   sample.
//! - *Functions* in a shared library ([`workers::Workers`]): one process, the [`worker`], runs all
//!   rounds of a unit.
//! - *Runners*, functions in another runtime ([`runners::Runners`]): one process is one contestant
//!   in
//!   a unit.
//!
//! [`build`] makes the contestants of the last two kinds from a study's recipes, and [`oracle`]
//! knows the right answers. Output, errors, judges and hooks are handled outside the timed spans.
//!
//! **Programs** ([`tiebreak_core::sampler::ProgramSampler`]) are started by the launcher, a second
//! process that is forked once. It starts contestants by `posix_spawn`, reads the clock around
//! them, waits for them and ends what they leave behind. The calling process opens files, reads
//! meters, checks outputs and runs hooks and judges. The launcher is a separate process for four
//! reasons.
//!
//! - Linux counts the peak memory of the process that called `posix_spawn` as the child's own
//!   (`exec` keeps the high-water mark of the memory that it replaces). The launcher's is small and
//!   is reported as [`Programs::peak_memory_floor_bytes`].
//! - Processes that a contestant leaves behind become the launcher's children (it is a
//!   *subreaper*). It finds them without searching the machine, whatever they did to hide.
//! - Its only children are contestants, so nothing that the caller starts can be mistaken for one.
//! - When the caller is killed, the launcher notices and ends what runs, so nothing is left.
//!
//! **Servers** (the same trait) are started by it, too, and stay until it is asked to stop them. It
//! reads the accounts of all that is below it. Who loads them is a [`Driver`] of the caller's.
//!
//! [`Driver`]: tiebreak_core::server::Driver
//!
//! **Functions** ([`tiebreak_core::sampler::FunctionSampler`]) run in a worker: a process that
//! loads both sides of a claim, each in the placement that was drawn, and runs the rounds of a unit
//! on one request. It shares memory with the caller, so that nothing is sent, allocated or locked
//! between two readings of the clock. A crash or a hang is attributed to the contestant whose code
//! ran.
//!
//! **Runners** (the same trait) are programs in another language, one for each contestant of a
//! unit. They keep running, speak the runner protocol (`docs/runner-protocol.md`) over two pipes,
//! and time themselves.
//!
//! Linux 5.4 or newer is required (`pidfd_open`, `waitid` of a process descriptor).

mod answers;
pub mod build;
mod children;
mod clients;
pub mod disassembly;
mod error;
mod files;
pub mod harnesses;
mod honesty;
mod image;
pub mod interrupt;
mod launcher;
pub mod oracle;
mod program;
mod programs;
mod resources;
pub mod runners;
mod stillness;
mod system;
mod wire;
pub mod words;
pub mod worker;
mod worker_process;
pub mod workers;

pub use children::{Leader, run_job};
pub use error::StartError;
pub use files::digest_file;
pub use program::resolve;
pub use programs::servers::Servers;
pub use programs::{Programs, problems};
pub use resources::MissingMeter;
