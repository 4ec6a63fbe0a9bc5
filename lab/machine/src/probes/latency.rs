//! The probe of latency.

use super::Budget;
use crate::meters::Unavailable;
use tiebreak_core::machine::Probed;

/// The probe.
#[derive(Debug)]
pub struct Latency {}

/// What it saw.
#[derive(Clone, Debug, PartialEq)]
pub struct Reading {}

impl Latency {
    /// Finds out how it can be measured here.
    ///
    /// # Errors
    /// It cannot be; the error names every way that was tried.
    pub fn new() -> Result<Latency, Unavailable> {
        Ok(Latency {})
    }

    /// Measures, for as long as the budget lasts.
    pub fn measure(&self, _budget: &mut Budget<'_>) -> Probed<Reading> {
        Probed::inconclusive("not measured yet")
    }
}
