//! What the probe of noise found.

use super::figure::Figure;
use serde::{Deserialize, Serialize};

/// What the probe of noise found.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Noise {}

impl Noise {
    /// The numbers by which two machines can be compared.
    pub fn figures(&self) -> Vec<Figure> {
        Vec::new()
    }
}
