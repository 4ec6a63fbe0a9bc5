//! Studies: built, judged, raced in turns, verified, and resumed.
//!
//! [`find`] and [`read`] find a study's folder and read it. [`line_up`] builds the contestants,
//! judges their answers on every workload, runs the pilots, and begins a run for each workload;
//! [`race`] races them under one error and one budget. [`take_up`] resumes a study from its
//! journals alone, and [`verify`] judges answers on all inputs of the study.

mod find;
mod functions;
mod line_up;
pub mod pilot;
mod plans;
mod prepare;
mod questions;
mod race;
mod request;
mod take_up;
mod threads;
mod trial;
mod verify;

pub use find::{FOLDER, Listed, create, find, list, read};
pub use functions::Functions;
pub use line_up::{Book, LineUp, frame, line_up};
pub use plans::Frame;
pub use prepare::{Prepared, Ready, prepare};
pub use race::race;
pub use request::{Environment, Pinning, Step, StudyRequest};
pub use take_up::take_up;
pub use verify::{Progress, verify};
