//! Claims: sentences that are true or false on this machine.

use crate::metric::Metric;
use serde::{Deserialize, Serialize};

/// A claim about the ratio of two contestants, as it was said.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Claim {
    /// The sentence, or the question that stands for it when nothing was claimed.
    pub text: String,
    /// The contestant that the sentence is about.
    pub left: String,
    /// The contestant that it is compared with.
    pub right: String,
    /// What is said of the two.
    pub relation: Relation,
    /// The metric that is compared.
    pub metric: Metric,
    /// The workload that the sentence names, if it names one.
    pub workload: Option<String>,
}

/// What a ratio claim says of its two contestants.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case", tag = "form")]
pub enum Relation {
    /// No claim, but a question: which of the two needs less?
    Order,
    /// The left one needs at most `1 / factor` of what the right one needs; 1 means just less.
    AtLeast {
        /// How many times, above 0.
        #[serde(with = "crate::float")]
        factor: f64,
    },
    /// The left one needs at most `1 + fraction` times what the right one needs.
    NoMoreThan {
        /// 0.02 for 2%.
        #[serde(with = "crate::float")]
        fraction: f64,
    },
    /// The two differ by at most a factor of `1 + fraction`, either way.
    Within {
        /// 0.02 for 2%.
        #[serde(with = "crate::float")]
        fraction: f64,
    },
}
