//! The facts about a round other than its log ratio.

/// The conditions of a round. They do not reveal which contestant was faster (rule A8).
///
/// Two facts may help the bets: the order, which is a fair coin, and the time for which the
/// contestants waited for a CPU. Only the larger waiting time is kept, so that swapping the two
/// contestants changes only the sign of `slot`.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Conditions {
    /// 1 if the left contestant ran before the right one, -1 if after it, 0 if unknown.
    pub slot: f64,
    /// The larger of the two runs' shares of their time, from 0 to 1, in which they were ready to
    /// run and waited for a CPU; `None` unless it is known for both.
    pub delay: Option<f64>,
    /// Whether a further round of the same block of primers follows. Nothing is learnt or decided
    /// before the block's end (rule A3).
    pub goes_on: bool,
    /// Whether rounds before this one show which of the two ran once more; no bets are made then.
    pub rests: bool,
}

impl Conditions {
    /// The conditions when nothing is known.
    pub const UNKNOWN: Conditions =
        Conditions { slot: 0.0, delay: None, goes_on: false, rests: false };

    /// Returns the conditions with the contestants swapped.
    #[must_use]
    pub fn mirrored(self) -> Conditions {
        // Subtracted from 0, so that an unknown order stays a positive zero.
        Conditions { slot: 0.0 - self.slot, ..self }
    }
}
