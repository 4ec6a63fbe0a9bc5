//! What the probe of cores found.

use super::figure::Figure;
use serde::{Deserialize, Serialize};

/// What the probe of cores found.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Cores {}

impl Cores {
    /// The numbers by which two machines can be compared.
    pub fn figures(&self) -> Vec<Figure> {
        Vec::new()
    }
}
