//! What is known of a round beside its log ratio.

/// What a round was like, without a word about who was the faster (rule A8).
///
/// Two things may help the bets: the order, which is a fair coin, and how long the contestants
/// waited for a CPU, of which only the larger one is told, so that swapping the two contestants
/// changes nothing but the sign of `slot`.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Conditions {
    /// 1 if the left contestant ran before the right one, -1 if after it, 0 if that is not known.
    pub slot: f64,
    /// The larger of the two runs' shares of their time, from 0 to 1, that they were ready to run
    /// and waited for a CPU; `None` if it is not known of both.
    pub delay: Option<f64>,
    /// Whether a further round of the same block of primers follows. Nothing is learnt or decided
    /// before its end (rule A3).
    pub goes_on: bool,
    /// Whether rounds before this one tell which of the two ran once more: the bets rest then.
    pub rests: bool,
}

impl Conditions {
    /// Nothing is known.
    pub const UNKNOWN: Conditions =
        Conditions { slot: 0.0, delay: None, goes_on: false, rests: false };

    /// The conditions with the contestants swapped.
    #[must_use]
    pub fn mirrored(self) -> Conditions {
        // Subtracted from 0, so that an unknown order stays a positive zero.
        Conditions { slot: 0.0 - self.slot, ..self }
    }
}
