//! Claims: sentences that are true or false on this machine.

use crate::metric::Metric;
use serde::{Deserialize, Serialize};

/// A claim about a contestant, or about two of them, as it was said.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Claim {
    /// The sentence, or the question that stands for it when nothing was claimed.
    pub text: String,
    /// The contestant that the sentence is about.
    pub left: String,
    /// The contestant that it is compared with, if it is with one.
    pub right: Option<String>,
    /// What is said of them.
    #[serde(rename = "relation")]
    pub statement: Statement,
    /// The metric that it is about; of a success rate it says nothing.
    pub metric: Metric,
    /// The workload that the sentence names, if it names one.
    pub workload: Option<String>,
}

/// What a claim says.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(untagged)]
pub enum Statement {
    /// Something about the ratio of two contestants, as one number.
    Ratio(Relation),
    /// Something else.
    Property(Property),
}

impl Statement {
    /// What is said of the ratio, if it is about one.
    pub fn relation(self) -> Option<Relation> {
        match self {
            Statement::Ratio(relation) => Some(relation),
            Statement::Property(_) => None,
        }
    }

    /// What is said otherwise.
    pub fn property(self) -> Option<Property> {
        match self {
            Statement::Ratio(_) => None,
            Statement::Property(property) => Some(property),
        }
    }

    /// Whether it is a question, which nobody claims to know the answer of.
    pub fn is_question(self) -> bool {
        matches!(self, Statement::Ratio(Relation::Order | Relation::Measure { .. }))
    }

    /// Whether it asks how large a ratio is.
    pub fn is_measure(self) -> bool {
        matches!(self, Statement::Ratio(Relation::Measure { .. }))
    }

    /// Whether it is about a quantile.
    pub fn is_about_quantile(self) -> bool {
        matches!(self, Statement::Property(Property::Quantile { .. }))
    }

    /// Whether it is about how often runs succeed, so that a failed run is an observation.
    pub fn is_about_success(self) -> bool {
        matches!(self, Statement::Property(Property::Succeeds { .. }))
    }
}

/// What a ratio claim says of its two contestants.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case", tag = "form")]
pub enum Relation {
    /// No claim, but a question: which of the two needs less?
    Order,
    /// No claim, but a question: how many times what the left one needs does the right one need?
    /// It is answered when both limits lie within a factor of `1 + precision` of their middle.
    Measure {
        /// 0.05 for 5%, above 0.
        #[serde(with = "crate::float")]
        precision: f64,
    },
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

/// What a claim says that is not about a ratio as one number.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case", tag = "form")]
pub enum Property {
    /// Of two contestants: in this share of the rounds the left one needs at most `1 / factor` of
    /// what the right one needs.
    InShareOfRounds {
        /// How many times, above 0.
        #[serde(with = "crate::float")]
        factor: f64,
        /// 0.98 for 98%, above 0 and below 1.
        #[serde(with = "crate::float")]
        share: f64,
    },
    /// Of one contestant: at least this share of its runs succeeds.
    Succeeds {
        /// `refuted` says that the rate is below this one.
        #[serde(with = "crate::float")]
        good: f64,
        /// `holds` says that the rate is above this one; at most `good`, and equal to it if only
        /// one rate was said.
        #[serde(with = "crate::float")]
        bad: f64,
    },
    /// Of one contestant: at least this share of its values is at most `bar`, which is to say that
    /// the quantile at that share is.
    Quantile {
        /// `refuted` says that the share is below this one.
        #[serde(with = "crate::float")]
        good: f64,
        /// `holds` says that the share is above this one; at most `good`, and equal to it if only
        /// one share was said.
        #[serde(with = "crate::float")]
        bad: f64,
        /// In the unit of the metric.
        #[serde(with = "crate::float")]
        bar: f64,
    },
    /// Of one contestant: the mean of its values lies on this side of `bar`.
    Mean {
        /// Whether the mean is claimed to be below the bar, not above it.
        is_below: bool,
        /// In the unit of the metric.
        #[serde(with = "crate::float")]
        bar: f64,
        /// No value is larger, in the unit of the metric: larger ones count as this much. A mean
        /// cannot be proven to be below anything without a cap (Bahadur and Savage 1956).
        #[serde(with = "crate::float::option", default)]
        cap: Option<f64>,
    },
}
