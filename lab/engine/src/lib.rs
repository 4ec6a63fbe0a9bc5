//! The laboratory as a library: settles claims about speed, with a bound on the error.
//!
//! A request becomes a plan, a plan becomes a run, and a run becomes a result:
//!
//! ```
//! use tiebreak_lab::core::plan::Budget;
//! use tiebreak_lab::core::verdict::Verdict;
//! use tiebreak_lab::planning::{self, Request};
//! use tiebreak_lab::run::Ready;
//! use tiebreak_lab::{interrupt, report};
//!
//! let commands = vec!["true".to_owned(), "sleep 0.05".to_owned()];
//! let claims = vec!["A is faster than B".to_owned()];
//! let budget = Some(Budget { rounds: Some(100), seconds: None });
//! let request = Request { claims, budget, ..Request::new(commands, "a seed".to_owned()) };
//! let plan = planning::plan(&request)?;
//!
//! # let folder = tempfile::tempdir().unwrap();
//! # let store = folder.path().join("journal.db");
//! // The store keeps everything that was drawn and measured; `None` is the user's own.
//! let run = Ready::new(plan, interrupt::flag())?.begin(Some(&store), Vec::new())?;
//! let result = run.go(std::io::empty(), |_| {})?;
//! assert_eq!(result.verdicts[0].verdict, Verdict::Holds);
//! println!("{}", report::sentence(&result, &result.verdicts[0]));
//! # Ok::<(), tiebreak_lab::LabError>(())
//! ```
//!
//! # What to use
//!
//! | for | module |
//! |---|---|
//! | programs, from a request or from a journal | [`planning`], [`run`] |
//! | one command, or a stream of lines | [`slo`], then [`run`] |
//! | two revisions of a repository | [`revisions`], then [`run`] |
//! | a file of claims | [`claims_file`] |
//! | the benchmarks that a project has | [`suite`] |
//! | claims in the steps of Cucumber | [`wire`] |
//! | functions, built from source | [`studies`], [`study_view`] |
//! | earlier runs | [`source`], [`replay`], [`history`], [`watch`] |
//! | how long a claim will take | [`forecast`] |
//! | finished sets of numbers | [`resampling`], [`classic`] |
//! | a load on a server, and claims about one | [`load`], [`load_claims`] |
//! | servers against each other | as programs, with [`servers`](planning::Request::servers) |
//! | the machine | [`probes`] with [`probing`] as their laboratory, [`prints`] |
//!
//! Four crates are re-exported whole, because users need many of their names: [`core`] (the nouns:
//! plans, claims, journals, results), [`input`] (claim sentences and files of claims), [`report`]
//! (results as sentences, tables and pictures) and [`probes`] (what the probes find). A function
//! that takes `stop` ends between two rounds when it becomes true.
//!
//! # Inside
//!
//! [`engine`] runs a plan round by round and journals every step, [`referee`] turns rounds into
//! evidence and verdicts, and [`outcome`] assembles the result. The engine is the only place where
//! the clock, the journal, the samples and the evidence meet. The referee is a pure function of the
//! plan and the journal's rounds, so a verdict replays.

#![forbid(unsafe_code)]

mod ahead;
pub mod byteset;
pub mod check;
mod claim_test;
pub mod claims_file;
pub mod classic;
pub mod commands;
mod company;
pub mod engine;
pub mod error;
pub mod forecast;
pub mod history;
mod lines;
pub mod load;
pub mod load_claims;
mod observation;
mod oddities;
pub mod outcome;
mod output_check;
pub mod planning;
pub mod prints;
pub mod probing;
pub mod recorder;
pub mod referee;
pub mod replay;
mod request;
pub mod resampling;
pub mod resume;
pub mod revisions;
mod round_ratio;
pub mod run;
mod self_check;
pub mod servers;
pub mod session;
pub mod slo;
pub mod source;
mod stream;
pub mod studies;
pub mod study_view;
pub mod suite;
pub mod watch;
pub mod wire;

pub use error::LabError;
pub use tiebreak_core as core;
pub use tiebreak_input as input;
#[cfg(feature = "ordinary-user")]
#[doc(hidden)]
pub use tiebreak_machine::ordinary_user;
pub use tiebreak_measure::{interrupt, words, worker};
pub use tiebreak_probes as probes;
pub use tiebreak_report as report;
pub use tiebreak_store::{Store, write_lines};
