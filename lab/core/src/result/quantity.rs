//! The quantity that a claim is about, under the name of its kind.

use super::EffectResult;
use serde::{Deserialize, Serialize};

/// What a claim is about, with its limits.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(untagged)]
pub enum Quantity {
    /// A ratio claim.
    Ratio {
        /// How many times as much as the left contestant the right one needs.
        ratio: EffectResult,
    },
    /// A claim about a quantile.
    Quantile {
        /// The quantile, in the metric's unit.
        quantile: EffectResult,
        /// The share of the values that are at most the bar; the verdict is about it.
        rate: EffectResult,
    },
    /// A claim about a success rate, or a share of rounds.
    Rate {
        /// The share.
        rate: EffectResult,
    },
    /// A claim about a mean.
    Mean {
        /// The mean, in the metric's unit.
        mean: EffectResult,
    },
}

impl Quantity {
    /// Returns the quantity and its limits.
    pub fn effect(&self) -> EffectResult {
        match *self {
            Quantity::Ratio { ratio } => ratio,
            Quantity::Quantile { quantile, .. } => quantile,
            Quantity::Rate { rate } => rate,
            Quantity::Mean { mean } => mean,
        }
    }

    /// Returns the quantity and its limits for modification.
    pub fn effect_mut(&mut self) -> &mut EffectResult {
        match self {
            Quantity::Ratio { ratio } => ratio,
            Quantity::Quantile { quantile, .. } => quantile,
            Quantity::Rate { rate } => rate,
            Quantity::Mean { mean } => mean,
        }
    }

    /// Returns the share that was counted, if the claim has one.
    pub fn rate(&self) -> Option<EffectResult> {
        match *self {
            Quantity::Rate { rate } | Quantity::Quantile { rate, .. } => Some(rate),
            Quantity::Ratio { .. } | Quantity::Mean { .. } => None,
        }
    }
}
