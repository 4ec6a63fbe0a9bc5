//! The coins of a round, drawn and journalled before it starts.

use serde::{Deserialize, Serialize};

/// The coins of one attempt at a round. Everything random about a round is here.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct RoundCoins {
    /// The round, counted from 0.
    pub round: u64,
    /// The attempt at this round, counted from 0. After a lost attempt, the coins are drawn afresh.
    pub attempt: u32,
    /// The contestant that runs first, untimed, so that the last contestant of the round before
    /// does not decide which one is warm. `None` if nobody does.
    pub primer: Option<usize>,
    /// The contestants of the round in the order in which they run.
    pub order: Vec<usize>,
    /// The bytes of padding in the environment: the primer's, if there is one, then one entry per
    /// entry of `order`.
    /// For a unit: in the environment of its worker, then in the heap before each contestant is
    /// prepared.
    pub padding_bytes: Vec<u32>,
    /// The other coins, if the round is a unit with its own process. At scope `layout`, the first
    /// round of a session is such a unit, and later rounds continue in its process.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub unit: Option<UnitCoins>,
    /// The seed of the loads of the round, if the contestants are servers: all get the same load.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub load_seed: Option<u64>,
}

/// The coins for a process that runs functions. The round's order is the order in which they are
/// loaded and prepared.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct UnitCoins {
    /// The seed of the input that all contestants share.
    pub input_seed: u64,
    /// The seed of the orders of the unit's rounds.
    pub orders_seed: u64,
    /// The bytes by which the stack is moved down.
    pub stack_bytes: u32,
    /// The seed of each contestant's placement, in the order of the round; 0 for "as it was built".
    pub placements: Vec<u64>,
}
