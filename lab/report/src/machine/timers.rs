//! Timers, on a screen and as a picture.

use super::Row;
use crate::look::Look;
use tiebreak_core::machine::Timers;

/// The lines of the screen that tells everything at once.
pub(super) fn rows(_found: &Timers) -> Vec<Row> {
    Vec::new()
}

/// Everything that was found, with its pictures in letters.
pub(super) fn page(_found: &Timers, _look: &Look) -> String {
    String::new()
}

/// The picture as SVG.
pub(super) fn svg(_found: &Timers) -> String {
    String::new()
}
