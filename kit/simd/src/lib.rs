//! Kernels in the widest instructions that the CPU has.
//!
//! | module | what it has |
//! |---|---|
//! | [`byte_set`] | find, span, count and split by any set of bytes |
//! | [`decimal`] | whole numbers as text, one or many |
//! | [`names`] | which name of a list a text is, whatever its case |
//! | [`percent`] | bytes of any set as a percent sign and two digits |
//! | [`rolling_hash`] | the hash of every window of a text |
//! | [`uint8`] | numbers from 0 to 255 read from text, one or a line each |
//! | [`utf8`] | whether bytes are UTF-8, and where they are not |
//!
//! A kernel has a [`Form`] for each kind of instructions: one for any CPU, and others that only
//! some CPUs can run. A handle such as [`byte_set::Finder`] takes a form once, when it is made, and
//! can only be made of one that this CPU has. The variable `TIEBREAK_SIMD` forces one, by its name.
//!
//! All forms give the same answers. No function allocates, or reads or writes outside its slices;
//! the rolling hash takes up to 36 KiB of stack.

#![cfg_attr(not(any(test, feature = "std")), no_std)]

pub mod byte_set;
pub mod decimal;
pub mod names;
pub mod percent;
pub mod rolling_hash;
pub mod uint8;
pub mod utf8;

mod block;
mod form;

pub use form::{Form, Refused};
