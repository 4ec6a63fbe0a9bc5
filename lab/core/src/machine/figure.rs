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
    /// Where the number lay while it was measured; absent where the probe does not tell.
    pub spread: Option<Spread>,
}

/// Where a number lay within one measurement. It does not bound what the next one will find.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Spread {
    /// Its low end, in the figure's unit.
    pub low: f64,
    /// Its high end, not below the low one.
    pub high: f64,
}

impl Spread {
    /// That of a number which is a fact, such as a count: no other one is possible.
    pub fn exact(value: f64) -> Spread {
        Spread { low: value, high: value }
    }

    /// The least and the greatest of these; `None` if there are none.
    pub fn of(values: impl IntoIterator<Item = f64>) -> Option<Spread> {
        let mut values = values.into_iter();
        let first = Spread::exact(values.next()?);
        Some(values.fold(first, |all, value| Spread {
            low: all.low.min(value),
            high: all.high.max(value),
        }))
    }

    /// Whether it leaves no other number possible.
    pub fn is_exact(self) -> bool {
        self.low == self.high
    }

    /// Whether both hold some number.
    pub fn overlaps(self, other: Spread) -> bool {
        self.low <= other.high && other.low <= self.high
    }
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
