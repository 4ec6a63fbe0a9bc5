//! Turns a round's coins into samples: whole programs
//!
//! [`Programs`] implements [`tiebreak_core::sampler::ProgramSampler`]: one process a sample. It
//! works with a second process of our own, the *launcher*, forked once, which starts contestants by
//! `posix_spawn`, reads the clock around them, waits for them and ends what they leave behind. The
//! calling process opens files, reads meters, looks at outputs and runs hooks and judges, all
//! outside the timed span. The launcher is a process of its own for four reasons.
//!
//! - Linux counts the peak memory of the process that called `posix_spawn` as the child's own
//!   (`exec` keeps the high-water mark of the memory that it replaces). The launcher's is small and
//!   is told as [`Programs::peak_memory_floor_bytes`].
//! - Processes that a contestant leaves behind become the launcher's children (it is a
//!   *subreaper*), so they are found without looking through the machine, whatever they did to
//!   hide.
//! - Its only children are contestants, so nothing that the caller starts can be mistaken for one.
//! - When the caller is killed, the launcher sees it and ends what runs, so nothing is left.
//!
//! Linux 5.3 or newer is needed (`pidfd_open`).

pub mod build;
mod channel;
mod clients;
mod error;
mod files;
mod honesty;
mod image;
pub mod interrupt;
mod job;
mod launcher;
mod leader;
mod meters;
pub mod oracle;
mod output;
mod program;
mod resources;
pub mod runners;
mod sampler;
mod shell;
mod waits;
pub mod words;
pub mod worker;
pub mod workers;

pub use error::StartError;
pub use files::print_file;
pub use job::run_job;
pub use meters::MissingMeter;
pub use program::resolve;
pub use sampler::{Programs, problems};
