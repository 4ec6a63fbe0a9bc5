//! The daemon that knows, for every CPU, the last time it was surely interrupted.

pub mod bpf;
pub mod kernel;
pub mod memory;
