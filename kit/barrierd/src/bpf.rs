//! The kernel's side: maps, programs and how they are attached, by `bpf(2)` alone.

pub mod assembler;
pub mod programs;
pub mod ring;
pub mod system;
