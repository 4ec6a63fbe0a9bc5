//! Claims: sentences that are true or false on this machine.

use crate::metric::Metric;
use serde::{Deserialize, Serialize};

/// A claim about one or two contestants, as the user stated it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Claim {
    /// The sentence, or the question that stands for it when nothing was claimed.
    pub text: String,
    /// The name of the contestant that the sentence is about.
    pub left: String,
    /// The name of the contestant that it is compared with, if any.
    pub right: Option<String>,
    /// The statement about them.
    #[serde(rename = "relation")]
    pub statement: Statement,
    /// The metric of the claim; it has no meaning for a success rate.
    pub metric: Metric,
    /// The workload that the sentence names, if it names one.
    pub workload: Option<String>,
}

/// The statement of a claim.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(untagged)]
pub enum Statement {
    /// A statement about the ratio of two contestants, as one number.
    Ratio(Relation),
    /// Any other statement.
    Property(Property),
}

impl Statement {
    /// Returns whether it is about two contestants, round by round.
    pub fn is_of_two(self) -> bool {
        matches!(self, Statement::Ratio(_) | Statement::Property(Property::InShareOfRounds { .. }))
    }

    /// Returns the statement about the ratio, if it is about one.
    pub fn relation(self) -> Option<Relation> {
        if let Statement::Ratio(relation) = self { Some(relation) } else { None }
    }

    /// Returns the property, if it is about one.
    pub fn property(self) -> Option<Property> {
        if let Statement::Property(property) = self { Some(property) } else { None }
    }

    /// Returns whether it is a question, so that no answer is claimed.
    pub fn is_question(self) -> bool {
        matches!(self, Statement::Ratio(Relation::Order | Relation::Measure { .. }))
    }

    /// Returns whether it asks how large a ratio is.
    pub fn is_measure(self) -> bool {
        matches!(self, Statement::Ratio(Relation::Measure { .. }))
    }

    /// Returns whether it is about a quantile.
    pub fn is_about_quantile(self) -> bool {
        matches!(self, Statement::Property(Property::Quantile { .. }))
    }

    /// Returns whether it is about how often runs succeed, so that a failed run is an observation.
    pub fn is_about_success(self) -> bool {
        matches!(self, Statement::Property(Property::Succeeds { .. }))
    }
}

/// The statement of a ratio claim about its two contestants.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case", tag = "form")]
pub enum Relation {
    /// A question, not a claim: which of the two needs less?
    Order,
    /// A question, not a claim: how many times as much as the left one does the right one need? It
    /// is answered when both limits lie within a factor of `1 + precision` of their middle.
    Measure {
        /// The precision, above 0: 0.05 for 5%.
        #[serde(with = "crate::float")]
        precision: f64,
    },
    /// The left one needs at most `1 / factor` of what the right one needs; a factor of 1 means
    /// just less.
    AtLeast {
        /// The factor, above 0.
        #[serde(with = "crate::float")]
        factor: f64,
    },
    /// The left one needs at most `1 + fraction` times what the right one needs.
    NoMoreThan {
        /// The fraction: 0.02 for 2%.
        #[serde(with = "crate::float")]
        fraction: f64,
    },
    /// The two differ by at most a factor of `1 + fraction`, in either direction.
    Within {
        /// The fraction: 0.02 for 2%.
        #[serde(with = "crate::float")]
        fraction: f64,
    },
}

/// The statement of a claim that is not about a ratio as one number.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case", tag = "form")]
pub enum Property {
    /// For two contestants: in this share of the rounds, the left one needs at most `1 / factor` of
    /// what the right one needs.
    InShareOfRounds {
        /// The factor, above 0.
        #[serde(with = "crate::float")]
        factor: f64,
        /// The share, above 0 and below 1: 0.98 for 98%.
        #[serde(with = "crate::float")]
        share: f64,
    },
    /// For one contestant: at least this share of its runs succeeds.
    Succeeds {
        /// `refuted` means that the rate is below this one.
        #[serde(with = "crate::float")]
        good: f64,
        /// `holds` means that the rate is above this one. It is at most `good`, and equal to it if
        /// only one rate was given.
        #[serde(with = "crate::float")]
        bad: f64,
    },
    /// For one contestant: at least this share of its values is at most `bar`. In other words, the
    /// quantile at that share is at most `bar`.
    Quantile {
        /// `refuted` means that the share is below this one.
        #[serde(with = "crate::float")]
        good: f64,
        /// `holds` means that the share is above this one. It is at most `good`, and equal to it if
        /// only one share was given.
        #[serde(with = "crate::float")]
        bad: f64,
        /// The bar, in the unit of the metric.
        #[serde(with = "crate::float")]
        bar: f64,
    },
    /// For one contestant: the mean of its values lies on this side of `bar`.
    Mean {
        /// Whether the mean is claimed to be below the bar, not above it.
        is_below: bool,
        /// The bar, in the unit of the metric.
        #[serde(with = "crate::float")]
        bar: f64,
        /// The largest value, in the unit of the metric: larger values count as this one. Without a
        /// cap, no mean can be proven to be below anything (Bahadur and Savage 1956).
        #[serde(with = "crate::float::option", default)]
        cap: Option<f64>,
    },
}
