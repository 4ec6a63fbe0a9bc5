//! Turns a round's coins into samples of whole programs.
//!
//! [`Programs`] implements [`tiebreak_core::sampler::ProgramSampler`]: one process a sample. It
//! uses a second process, the *launcher*, forked once. The launcher starts contestants by
//! `posix_spawn`, reads the clock around them, waits for them and ends what they leave behind. The
//! calling process opens files, reads meters, checks outputs and runs hooks and judges, all outside
//! the timed span. The launcher is a separate process for four reasons.
//!
//! - Linux counts the peak memory of the process that called `posix_spawn` as the child's own
//!   (`exec` keeps the high-water mark of the memory that it replaces). The launcher's is small and
//!   is reported as [`Programs::peak_memory_floor_bytes`].
//! - Processes that a contestant leaves behind become the launcher's children (it is a
//!   *subreaper*). It finds them without searching the machine, whatever they did to hide.
//! - Its only children are contestants, so nothing that the caller starts can be mistaken for one.
//! - When the caller is killed, the launcher notices and ends what runs, so nothing is left.
//!
//! Linux 5.3 or newer is required (`pidfd_open`).

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
