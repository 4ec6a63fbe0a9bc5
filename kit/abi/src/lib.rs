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

#[doc(hidden)]
pub mod boundary;
mod check;
mod contestant;
mod launder;
mod oracle;
mod random;
mod raw;
mod sink;
mod sources;
mod workload;

pub use check::{Refusal, Table, check};
pub use contestant::Contestant;
pub use launder::{Launder, keep, launder};
pub use oracle::{Oracle, Request, Unknown};
pub use random::Random;
pub use raw::*;
pub use sink::Sink;
pub use sources::{D_MODULE, HEADER, SOURCES};
pub use workload::{Plain, Workload};
