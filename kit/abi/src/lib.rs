//! The C ABI of a contestant that is a function: `include/tiebreak.h` in Rust.
//!
//! No dependency, no allocation, no standard library: a study builds this file alone with `rustc`.

#![no_std]

mod raw;

pub use raw::*;

/// The header that C, C++ and D contestants include.
pub const HEADER: &str = include_str!("../include/tiebreak.h");
