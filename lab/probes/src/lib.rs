//! `tiebreak machine`: what this machine is, measured. A folder a probe.
//!
//! The folder of a probe has what it found (the file of its name), how it measures, what it makes
//! of that, and how it is shown. The registry in `print.rs` has a line for each, and with that line
//! it is on the screen, in the print, in comparisons and on the command line.
//!
//! All of it works as an ordinary user; no thread here ever has a real-time priority, so none can
//! hang a CPU. Statistics are those of `tiebreak-stats`.

mod bandwidth;
mod cacheline;
pub mod compare;
mod cores;
mod energy;
mod figure;
mod finding;
mod html;
mod latency;
mod noise;
mod print;
mod probed;
mod screen;
mod show;
#[cfg(test)]
mod tests;
mod timers;
mod tools;
mod topology;
pub mod tune;

pub use bandwidth::*;
pub use cacheline::*;
pub use cores::*;
pub use energy::*;
pub use figure::{Better, Figure, PARTS, Spread, Unit};
pub use finding::{Lab, Options, OwnWork, take};
pub use html::machine_page;
pub use latency::*;
pub use noise::*;
pub use print::{MachinePrint, Probe};
pub use probed::{Probed, Tried};
pub use screen::{json, measured, page, progress, screen, svg};
pub use show::head::{ListRow, list};
pub use timers::*;
pub use topology::*;
