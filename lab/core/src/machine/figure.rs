//! Numbers by which two machines can be compared.

use serde::{Deserialize, Serialize};

/// One number of a machine.
#[derive(Clone, Debug, PartialEq)]
pub struct Figure {
    /// A stable key: `bandwidth-read-1-thread`.
    pub key: String,
    /// The same in words: `read bandwidth, one thread`.
    pub words: String,
    /// The number.
    pub value: f64,
    /// What it counts.
    pub unit: Unit,
    /// Which way is better.
    pub better: Better,
}

/// What a figure counts.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Unit {
    /// Nanoseconds.
    Nanoseconds,
    /// Bytes.
    Bytes,
    /// Bytes a second.
    BytesPerSecond,
    /// Cycles a second.
    Hertz,
    /// A share, of which 1 is all.
    Share,
    /// Watts.
    Watts,
    /// Things.
    Count,
}

/// Which of two figures a user would rather have.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Better {
    /// The larger one: what a machine gives; per unit of price it is divided by the price.
    Higher,
    /// The smaller one: what something costs; per unit of price it is multiplied by the price.
    Lower,
    /// Neither.
    Neither,
}
