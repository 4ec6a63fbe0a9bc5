//! What every probe finds, what is wanted of the probes, and what they ask of the laboratory.

use crate::figure::Figure;
use crate::probed::{Probed, Tried};
use crate::show::Row;
use std::sync::atomic::AtomicBool;
use std::time::Duration;
use tiebreak_core::language::Tool;
use tiebreak_core::sampler::RunFailure;
use tiebreak_machine::meters::Unavailable;
use tiebreak_report::Look;

/// What a probe finds, whichever it is; the registry makes one of each.
pub(crate) trait Finding {
    /// Returns the numbers by which two machines can be compared.
    fn figures(&self) -> Vec<Figure>;

    /// Its lines on the screen that shows all probes.
    fn rows(&self) -> Vec<Row>;

    /// Everything that was found, with its pictures in letters.
    fn page(&self, look: &Look) -> String;

    /// Returns the picture as SVG; empty if there is none.
    fn svg(&self) -> String;
}

/// What the probes ask of the laboratory: they start no programs themselves.
pub trait Lab {
    /// Returns the compilers and interpreters along `PATH`, asked for so long at most.
    fn compilers(&self, longest: Duration, interrupted: &AtomicBool) -> Vec<Tool>;

    /// This program's own work of some milliseconds, ready to be run against itself; `None` where
    /// this is another program.
    ///
    /// # Errors
    /// Why it cannot be run, in a sentence.
    fn own_work(&self) -> Result<Option<Box<dyn OwnWork>>, String>;
}

/// Runs of this program's own work.
pub trait OwnWork {
    /// Runs a primer and both sides once, in drawn order, after a wait for a quiet machine of at
    /// most `wait`, and gives the log ratio of their wall times. No run takes longer than `left`.
    ///
    /// # Errors
    /// A run failed or was interrupted.
    fn round(&mut self, round: u64, wait: Duration, left: Duration) -> Result<f64, RunFailure>;

    /// Returns the share of the runs' time for which they were ready and waited for a CPU, if it is
    /// known of all.
    fn lost_share(&self) -> Option<f64>;
}

/// What is wanted of the probes.
#[derive(Clone)]
pub struct Options<'a> {
    /// The CPUs that may be used.
    pub cpus: Vec<usize>,
    /// A short look: all probes together take half a minute at most.
    pub is_quick: bool,
    /// How long each probe may take, instead of what it would like.
    pub each: Option<Duration>,
    /// Who runs programs for them.
    pub lab: &'a dyn Lab,
}

/// Returns what a probe finds where it can run, and what was tried where it cannot.
pub(crate) fn probed<P, T>(
    probe: Result<P, Unavailable>,
    measure: impl FnOnce(P) -> Probed<T>,
) -> Probed<T> {
    probe.map_or_else(Probed::from, measure)
}

impl<T> From<Unavailable> for Probed<T> {
    fn from(Unavailable { what, tried }: Unavailable) -> Probed<T> {
        let tried = tried.into_iter().map(|(way, error)| Tried { way, error }).collect();
        Probed::Unavailable { what: what.to_owned(), tried }
    }
}

/// Says that something is not there, by the one way that was tried.
pub(crate) fn lacks(what: &'static str, way: &str, error: impl ToString) -> Unavailable {
    Unavailable { what, tried: vec![(way.to_owned(), error.to_string())] }
}

#[cfg(test)]
pub(crate) mod tests {
    use super::*;

    /// A laboratory that runs nothing.
    struct Idle;

    impl Lab for Idle {
        fn compilers(&self, _longest: Duration, _interrupted: &AtomicBool) -> Vec<Tool> {
            Vec::new()
        }

        fn own_work(&self) -> Result<Option<Box<dyn OwnWork>>, String> {
            Ok(None)
        }
    }

    /// A short look, on these CPUs.
    pub(crate) fn options(cpus: Vec<usize>) -> Options<'static> {
        Options { cpus, is_quick: true, each: None, lab: &Idle }
    }
}
