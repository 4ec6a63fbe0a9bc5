//! What the probe of timers found.

use super::figure::Figure;
use serde::{Deserialize, Serialize};

/// What the probe of timers found.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Timers {}

impl Timers {
    /// The numbers by which two machines can be compared.
    pub fn figures(&self) -> Vec<Figure> {
        Vec::new()
    }
}
