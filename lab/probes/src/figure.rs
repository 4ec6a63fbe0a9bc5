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
    /// Where the number lay while it was measured; absent where the probe does not report it.
    pub spread: Option<Spread>,
    /// The same measured again and again, the earlier first; empty where it was not, as in prints
    /// that are older than this.
    pub parts: Vec<f64>,
    /// Why this print's number says nothing of which machine is the better one.
    pub doubt: Option<String>,
}

/// Parts into which what a probe saw is divided, to be compared with those of another print.
pub const PARTS: usize = 12;

impl Figure {
    /// Returns a number without a spread.
    pub fn new(
        key: impl Into<String>,
        words: impl Into<String>,
        value: f64,
        unit: Unit,
        better: Better,
    ) -> Figure {
        let (key, words) = (key.into(), words.into());
        Figure { key, words, value, unit, better, spread: None, parts: Vec::new(), doubt: None }
    }

    /// Returns the same with parts, whose range is then its spread; unchanged if there are none.
    #[must_use]
    pub fn with_parts(mut self, parts: &[f64]) -> Figure {
        self.spread = Spread::of(parts.iter().copied()).or(self.spread);
        self.parts = parts.to_vec();
        self
    }

    /// Returns the same with this spread, unless that leaves no other number possible.
    #[must_use]
    pub fn with_spread(mut self, spread: Option<Spread>) -> Figure {
        self.spread = spread.filter(|spread| !spread.is_exact());
        self
    }

    /// Returns a fact of the machine: no other number is possible, and neither way is better.
    pub fn fact(key: impl Into<String>, words: impl Into<String>, value: f64, unit: Unit) -> Self {
        let spread = Some(Spread::exact(value));
        Figure { spread, ..Figure::new(key, words, value, unit, Better::Neither) }
    }
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

    /// Returns the least and the greatest of these; `None` if there are none.
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
