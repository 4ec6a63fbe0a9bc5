//! The trait of an oracle in Rust.

use crate::sink::Sink;
use core::fmt::{self, Display};

/// A request to an oracle.
#[derive(Clone, Copy, Debug)]
pub struct Request<'a> {
    /// The workload's name in study.toml.
    pub workload: &'a str,
    /// Its distribution.
    pub distribution: &'a str,
    /// The contract of the contestant that is judged; only for [`Oracle::answer`].
    pub contract: &'a str,
    /// The workload's size.
    pub size: u64,
    /// The seed. Equal requests give equal bytes, on every machine.
    pub seed: u64,
    /// The index of the part of an exhaustive input, from 0.
    pub part: u64,
    /// The number of parts.
    pub parts: u64,
}

/// The error of a request that names something that this oracle does not know.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Unknown;

impl Display for Unknown {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("the oracle does not know this distribution, size or contract")
    }
}

impl core::error::Error for Unknown {}

/// A study's oracle. `oracle!(Type);` exports it. It runs in its own process and is never timed.
/// Its answer is text with one line per item. A correct contestant dumps the same text, byte for
/// byte.
pub trait Oracle {
    /// Whether the laboratory gives contestants an output buffer.
    const HAS_OUTPUT: bool = false;

    /// Writes the input.
    ///
    /// # Errors
    /// Fails if the oracle does not know the request.
    fn generate(request: &Request<'_>, sink: &mut Sink<'_>) -> Result<(), Unknown>;

    /// Counts the items of this input.
    fn items(request: &Request<'_>, input: &[u8]) -> u64;

    /// Returns the size in bytes of the output that contestants need. Called only if
    /// [`Oracle::HAS_OUTPUT`].
    fn output_bytes(_request: &Request<'_>, _input: &[u8]) -> u64 {
        0
    }

    /// Writes the answer and returns the checksum.
    ///
    /// # Errors
    /// Fails if the oracle does not know the request.
    fn answer(request: &Request<'_>, input: &[u8], sink: &mut Sink<'_>) -> Result<u64, Unknown>;
}

/// Exports an [`Oracle`](crate::Oracle) as `tiebreak_oracle_table`, once per library.
#[macro_export]
macro_rules! oracle {
    ($type:ty) => {
        #[unsafe(no_mangle)]
        #[allow(non_upper_case_globals, missing_docs)]
        pub static tiebreak_oracle_table: $crate::RawOracle = $crate::boundary::oracle::<$type>();
    };
}
