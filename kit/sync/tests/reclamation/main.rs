//! Epochs, hazard pointers and the collections over them, with several threads: every object that a
//! reader sees is alive as long as the reader holds it, and in the end none is left.
//!
//! `TIEBREAK_FULL=1` makes the runs long.

#![cfg(not(loom))]

mod canary;
mod churn;
mod collections;
mod fork;
#[path = "../common/length.rs"]
mod length;
mod scale;
mod stalled;
mod threads;
