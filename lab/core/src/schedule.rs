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
    /// Bytes of padding in the environment: the primer's, then one an entry of `order`.
    pub padding_bytes: Vec<u32>,
}
