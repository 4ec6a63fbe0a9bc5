//! An oracle in Rust.

use crate::sink::Sink;
use core::fmt::{self, Display};

/// What is asked of an oracle.
#[derive(Clone, Copy, Debug)]
pub struct Request<'a> {
    /// The workload's name in study.toml.
    pub workload: &'a str,
    /// Its distribution.
    pub distribution: &'a str,
    /// Of [`Oracle::answer`]: the contract of the contestant that is judged.
    pub contract: &'a str,
    /// The workload's size.
    pub size: u64,
    /// Equal requests give equal bytes, on every machine.
    pub seed: u64,
    /// Which part of an exhaustive input, from 0.
    pub part: u64,
    /// How many parts it has.
    pub parts: u64,
}

/// The request names something that this oracle does not know.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Unknown;

impl Display for Unknown {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("the oracle does not know this distribution, size or contract")
    }
}

impl core::error::Error for Unknown {}

/// A study's oracle: `oracle!(Type);` exports it. It is asked in a process of its own and never
/// timed. The answer is text, a line an item, and is what a correct contestant dumps, byte for
/// byte.
pub trait Oracle {
    /// Whether contestants have an output of the laboratory's.
    const HAS_OUTPUT: bool = false;

    /// Writes the input.
    ///
    /// # Errors
    /// The request is not known.
    fn generate(request: &Request<'_>, sink: &mut Sink<'_>) -> Result<(), Unknown>;

    /// How many items this input has.
    fn items(request: &Request<'_>, input: &[u8]) -> u64;

    /// How large an output contestants need. Only asked if [`Oracle::HAS_OUTPUT`].
    fn output_bytes(_request: &Request<'_>, _input: &[u8]) -> u64 {
        0
    }

    /// Writes the answer and gives the checksum.
    ///
    /// # Errors
    /// The request is not known.
    fn answer(request: &Request<'_>, input: &[u8], sink: &mut Sink<'_>) -> Result<u64, Unknown>;
}

/// Exports an [`Oracle`](crate::Oracle) as `tiebreak_oracle_table`; once a library.
#[macro_export]
macro_rules! oracle {
    ($type:ty) => {
        #[unsafe(no_mangle)]
        #[allow(non_upper_case_globals, missing_docs)]
        pub static tiebreak_oracle_table: $crate::RawOracle = $crate::boundary::oracle::<$type>();
    };
}
