//! The journal and its history, in one SQLite file.
//!
//! A [`Store`] is append-only: coins are committed before a round starts and samples before
//! anything of it is shown, so a killed process loses no finished round. A round that was cut off
//! stays behind as an attempt without samples, and is counted. Nothing here interprets a sample.
//!
//! The file is in SQLite's WAL mode: a commit is in the kernel's hands when the call returns, and
//! [`Store::sync_if_due`], called between rounds, has it on the disk within about a second, so a
//! power cut costs at most that. The layout of the tables is documented in `schema.rs`, for those
//! who want to ask with `sqlite3`; [`write_lines`] gives a run as JSON Lines.

#![forbid(unsafe_code)]

mod chain;
mod check;
mod columns;
mod error;
mod find;
mod history;
mod id;
#[cfg(test)]
mod killed;
mod lock;
mod portable;
mod prints;
mod read;
mod schema;
mod stopped;
mod store;
mod sync;
#[cfg(test)]
mod test_journal;
mod write;

pub use chain::first_broken_link;
pub use error::StoreError;
pub use history::{ClaimSummary, RunSummary};
pub use id::RunId;
pub use lock::RunLock;
pub use portable::{SCHEMA, read_lines, write_lines};
pub use prints::{PrintId, PrintSummary};
pub use stopped::StoppedRun;
pub use store::{Store, is_store_file};
