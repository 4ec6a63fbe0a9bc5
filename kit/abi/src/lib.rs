//! The C ABI of a contestant that is a function: `include/tiebreak.h` in Rust.
//!
//! A Rust contestant implements [`Contestant`] and ends with `contestant!(Type);`; an oracle
//! implements [`Oracle`] and ends with `oracle!(Type);`. The laboratory's loader uses [`check`] and
//! the tables of `raw.rs`.
//!
//! The crate has no dependency, does not allocate and does not use the standard library. rustc
//! alone builds it from [`SOURCES`], so an installed laboratory can build Rust contestants
//! anywhere.
//!
//! ```
//! use tiebreak_abi::{Contestant, Sink, Workload, contestant};
//!
//! struct Sum;
//! impl Contestant for Sum {
//!     const NAME: &'static core::ffi::CStr = c"sum";
//!     type State<'w> = Workload<'w>;
//!     fn prepare(workload: Workload<'_>) -> Option<Workload<'_>> {
//!         Some(workload)
//!     }
//!     fn run(workload: &mut Workload<'_>) -> u64 {
//!         workload.input().iter().map(|byte| u64::from(*byte)).sum()
//!     }
//!     fn dump(workload: &mut Workload<'_>, sink: &mut Sink<'_>) {
//!         sink.line(Sum::run(workload));
//!     }
//! }
//! contestant!(Sum);
//! # fn main() { assert_eq!(tiebreak_contestant_table.magic, tiebreak_abi::MAGIC); }
//! ```

#![no_std]

mod check;
mod contestant;
mod launder;
mod oracle;
mod random;
mod raw;
mod sink;
mod workload;

pub use check::{Refusal, Table, check};
pub use contestant::Contestant;
#[doc(hidden)]
pub use contestant::{prepare, table as contestant_table};
pub use launder::{Launder, keep, launder};
#[doc(hidden)]
pub use oracle::table as oracle_table;
pub use oracle::{Oracle, Request, Unknown};
pub use random::Random;
pub use raw::*;
pub use sink::Sink;
pub use workload::{Plain, Workload};

/// The header that C and C++ contestants include.
pub const HEADER: &str = include_str!("../include/tiebreak.h");

/// The module that D contestants import.
pub const D_MODULE: &str = include_str!("../include/tiebreak.d");

/// Every file of the crate, as (path, content). Once they are written to a folder, this command
/// builds the crate: `rustc --edition 2024 --crate-type rlib --crate-name tiebreak_abi
/// FOLDER/src/lib.rs`.
pub const SOURCES: &[(&str, &str)] = &[
    ("include/tiebreak.d", D_MODULE),
    ("include/tiebreak.h", HEADER),
    ("src/check.rs", include_str!("check.rs")),
    ("src/contestant.rs", include_str!("contestant.rs")),
    ("src/launder.rs", include_str!("launder.rs")),
    ("src/lib.rs", include_str!("lib.rs")),
    ("src/oracle.rs", include_str!("oracle.rs")),
    ("src/random.rs", include_str!("random.rs")),
    ("src/raw.rs", include_str!("raw.rs")),
    ("src/sink.rs", include_str!("sink.rs")),
    ("src/workload.rs", include_str!("workload.rs")),
];
