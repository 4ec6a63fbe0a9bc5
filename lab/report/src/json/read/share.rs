//! What was counted for a claim about a share, read back.

use serde::Deserialize;
use tiebreak_core::result::{EffectResult, ShareResult};

/// The counts; the density, which is for the eye, is not written.
#[derive(Deserialize)]
pub(super) struct ShareDocument {
    trials: u64,
    successes: u64,
    block: u64,
    left_over: u64,
    least_trials_to_hold: u64,
    least_trials_to_refute: u64,
    mean_burst: Option<f64>,
    runs_z: Option<f64>,
    #[serde(default)]
    spell_lines: Option<f64>,
    values_z: Option<f64>,
    is_bursty: bool,
    #[serde(default)]
    is_chain: bool,
}

impl ShareDocument {
    /// The counts with their rate, which stands beside them.
    pub(super) fn result(self, rate: EffectResult) -> ShareResult {
        ShareResult {
            trials: self.trials,
            successes: self.successes,
            rate,
            block: self.block,
            left_over: self.left_over,
            least_trials_to_hold: self.least_trials_to_hold,
            least_trials_to_refute: self.least_trials_to_refute,
            mean_burst: self.mean_burst,
            runs_z: self.runs_z,
            spell_lines: self.spell_lines,
            values_z: self.values_z,
            is_bursty: self.is_bursty,
            is_chain: self.is_chain,
            density: Vec::new(),
        }
    }
}
