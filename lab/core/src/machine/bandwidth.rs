//! What the probe of bandwidth found.

use super::figure::Figure;
use serde::{Deserialize, Serialize};

/// What the probe of bandwidth found.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Bandwidth {}

impl Bandwidth {
    /// The numbers by which two machines can be compared.
    pub fn figures(&self) -> Vec<Figure> {
        Vec::new()
    }
}
