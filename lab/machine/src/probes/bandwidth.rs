//! The probe of bandwidth.

use super::Budget;
use crate::meters::Unavailable;
use tiebreak_core::machine::Probed;

/// The probe.
#[derive(Debug)]
pub struct Bandwidth {}

/// What it saw.
#[derive(Clone, Debug, PartialEq)]
pub struct Reading {}

impl Bandwidth {
    /// Finds out how it can be measured here.
    ///
    /// # Errors
    /// It cannot be; the error names every way that was tried.
    pub fn new() -> Result<Bandwidth, Unavailable> {
        Ok(Bandwidth {})
    }

    /// Measures, for as long as the budget lasts.
    pub fn measure(&self, _budget: &mut Budget<'_>) -> Probed<Reading> {
        Probed::inconclusive("not measured yet")
    }
}
