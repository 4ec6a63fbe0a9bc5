//! The journal and its history, in one SQLite file.
//!
//! A [`Store`] is append-only: coins are committed before a round starts, and samples before any of
//! them is shown, so a killed process loses no finished round. A round that was cut off stays as an
//! attempt without samples, and is counted. Nothing here interprets a sample.
//!
//! The file is in SQLite's WAL mode: when a commit returns, the kernel holds the data.
//! [`Store::sync_if_due`], called between rounds, forces it to the disk within about a second, so a
//! power cut costs at most that. `schema.rs` documents the layout of the tables, for queries with
//! `sqlite3`; [`write_lines`] writes a run as JSON Lines.

#![forbid(unsafe_code)]

mod chain;
mod check;
mod columns;
mod error;
mod history;
mod id;
mod kind;
mod lock;
mod portable;
mod prints;
mod read;
mod schema;
mod store;
mod sync;
#[cfg(test)]
mod tests;
mod write;

pub use chain::first_broken_link;
pub use error::StoreError;
pub use history::{ClaimSummary, RunSummary, StoppedRun};
pub use id::{Id, LATEST, PrintId, RunId};
pub use kind::Kind;
pub use lock::RunLock;
pub use portable::{SCHEMA, read_lines, write_lines};
pub use store::{Store, is_store_file};
