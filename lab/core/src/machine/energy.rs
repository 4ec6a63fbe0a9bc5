//! What the probe of energy found.

use super::figure::Figure;
use serde::{Deserialize, Serialize};

/// What the probe of energy found.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Energy {}

impl Energy {
    /// The numbers by which two machines can be compared.
    pub fn figures(&self) -> Vec<Figure> {
        Vec::new()
    }
}
