//! This crate's own files, for a laboratory that builds contestants without a checkout.

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
    ("src/boundary.rs", include_str!("boundary.rs")),
    ("src/check.rs", include_str!("check.rs")),
    ("src/contestant.rs", include_str!("contestant.rs")),
    ("src/launder.rs", include_str!("launder.rs")),
    ("src/lib.rs", include_str!("lib.rs")),
    ("src/oracle.rs", include_str!("oracle.rs")),
    ("src/random.rs", include_str!("random.rs")),
    ("src/raw.rs", include_str!("raw.rs")),
    ("src/sink.rs", include_str!("sink.rs")),
    ("src/sources.rs", include_str!("sources.rs")),
    ("src/workload.rs", include_str!("workload.rs")),
];
