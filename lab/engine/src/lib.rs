//! The laboratory as a library.
//!
//! [`planning`] turns a user's request into a plan, [`engine`] runs it round by round and journals
//! every step, [`referee`] turns rounds into evidence and verdicts, and [`outcome`] assembles the
//! result for reports. [`replay`] and [`resume`] start from a journal instead.
//!
//! The engine is the only place where the clock, the journal, the samples and the evidence meet.
//! The referee is a pure function of the plan and the journal's rounds, so a verdict replays.

#![forbid(unsafe_code)]

mod ahead;
pub mod check;
pub mod claim_test;
mod company;
mod contestants;
pub mod engine;
pub mod error;
pub mod file_plan;
pub mod forecast;
pub mod observation;
pub mod oddities;
pub mod outcome;
pub mod output_check;
pub mod planning;
pub mod probing;
pub mod recorder;
pub mod referee;
pub mod replay;
pub mod request;
pub mod resampling;
pub mod resume;
pub mod revisions;
pub mod round_ratio;
pub mod seed;
pub mod self_check;
pub mod session;
pub mod stream;
pub mod studies;
pub mod watch;
pub mod work;

pub use tiebreak_core as core;
pub use tiebreak_input as input;
pub use tiebreak_machine as machine;
pub use tiebreak_measure as measure;
pub use tiebreak_probes as probes;
pub use tiebreak_report as report;
pub use tiebreak_stats as stats;
pub use tiebreak_store as store;
