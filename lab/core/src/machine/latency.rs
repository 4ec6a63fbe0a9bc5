//! What the probe of latency found.

use super::figure::Figure;
use serde::{Deserialize, Serialize};

/// What the probe of latency found.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Latency {}

impl Latency {
    /// The numbers by which two machines can be compared.
    pub fn figures(&self) -> Vec<Figure> {
        Vec::new()
    }
}
