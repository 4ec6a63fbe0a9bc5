//! What the probe of cacheline found.

use super::figure::Figure;
use serde::{Deserialize, Serialize};

/// What the probe of cacheline found.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Cacheline {}

impl Cacheline {
    /// The numbers by which two machines can be compared.
    pub fn figures(&self) -> Vec<Figure> {
        Vec::new()
    }
}
