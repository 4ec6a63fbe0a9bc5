//! Data of a CPU.
