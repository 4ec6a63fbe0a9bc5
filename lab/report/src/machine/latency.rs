//! Latency, on a screen and as a picture.

use super::Row;
use crate::look::Look;
use tiebreak_core::machine::Latency;

/// The lines of the screen that tells everything at once.
pub(super) fn rows(_found: &Latency) -> Vec<Row> {
    Vec::new()
}

/// Everything that was found, with its pictures in letters.
pub(super) fn page(_found: &Latency, _look: &Look) -> String {
    String::new()
}

/// The picture as SVG.
pub(super) fn svg(_found: &Latency) -> String {
    String::new()
}
