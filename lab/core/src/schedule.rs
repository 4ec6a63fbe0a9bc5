//! The coins of a round, drawn and journalled before it starts.

use serde::{Deserialize, Serialize};

/// What was drawn for one attempt at a round. Everything random about a round is here.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct RoundCoins {
    /// Rounds are counted from 0.
    pub round: u64,
    /// Attempts at this round are counted from 0; each lost one has a fresh coin after it.
    pub attempt: u32,
    /// The contestant that runs first, untimed, so that who ran last says nothing about who is
    /// warm.
    pub primer: usize,
    /// The contestants of the round in the order in which they run.
    pub order: Vec<usize>,
    /// Bytes of padding in the environment: the primer's, then one an entry of `order`. Of a unit:
    /// in the environment of its worker, then in the heap before each contestant is prepared.
    pub padding_bytes: Vec<u32>,
    /// What else was drawn, if the round is a unit with a process of its own. At scope `layout` the
    /// first round of a session is one, and those after it go on in its process.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub unit: Option<UnitCoins>,
}

/// What is drawn for a process that runs functions, beside the order in which they are loaded and
/// prepared, which is the round's.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct UnitCoins {
    /// The seed of the input that all contestants share.
    pub input_seed: u64,
    /// The seed of the orders of the unit's rounds.
    pub orders_seed: u64,
    /// Bytes by which the stack is moved down.
    pub stack_bytes: u32,
    /// The seed of each contestant's placement, in the order of the round; 0 for "as it was built".
    pub placements: Vec<u64>,
}
