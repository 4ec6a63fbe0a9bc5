//! A claim's ratio the way round in which it is told, with the bar that it is held against.

use crate::number::{Rounding, finite, ratio, ratio_decimals};
use tiebreak_core::claim::Relation;
use tiebreak_core::result::ClaimResult;
use tiebreak_core::verdict::Verdict;

/// A ratio as it is told: of a question that the right contestant won it is turned round, so that
/// the winner's factor is above 1.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Told<'a> {
    /// The contestant that needs less if the ratio is above 1.
    pub ahead: &'a str,
    /// The contestant that it is compared with.
    pub behind: &'a str,
    /// The estimate; finite and above 0.
    pub estimate: Option<f64>,
    /// The lower limit; finite and above 0.
    pub low: Option<f64>,
    /// The upper limit; finite and above 0.
    pub high: Option<f64>,
    /// Where the claim's truth changes: one ratio, or the two edges of `within`.
    pub bars: Vec<f64>,
}

impl<'a> Told<'a> {
    /// The ratio of a claim.
    pub(crate) fn of(claim: &'a ClaimResult) -> Told<'a> {
        // Nothing can be said of a void claim, so what its rounds gave is not shown.
        let is_void = claim.verdict == Verdict::Void;
        let positive = |value| finite(value).filter(|value| *value > 0.0 && !is_void);
        let told = Told {
            ahead: &claim.left,
            behind: &claim.right,
            estimate: positive(claim.ratio.estimate),
            low: positive(claim.ratio.low),
            high: positive(claim.ratio.high),
            bars: bars(claim.relation),
        };
        let right_won = claim.winner.as_deref() == Some(claim.right.as_str());
        let turned = claim.is_question && claim.verdict == Verdict::Holds && right_won;
        if turned { told.turned_round() } else { told }
    }

    fn turned_round(self) -> Told<'a> {
        let inverse = |value: Option<f64>| value.map(|value| 1.0 / value);
        Told {
            ahead: self.behind,
            behind: self.ahead,
            estimate: inverse(self.estimate),
            low: inverse(self.high),
            high: inverse(self.low),
            bars: self.bars.into_iter().map(|bar| 1.0 / bar).collect(),
        }
    }

    /// Whether there is an estimate or a limit.
    pub(crate) fn is_known(&self) -> bool {
        self.estimate.is_some() || self.low.is_some() || self.high.is_some()
    }

    /// Estimate, lower and upper limit with equally many decimals, limits rounded outwards.
    pub(crate) fn numbers(&self) -> [Option<String>; 3] {
        let decimals = ratio_decimals(self.estimate, [self.low, self.high]);
        let write = |value: Option<f64>, rounding| value.map(|v| ratio(v, decimals, rounding));
        [
            write(self.estimate, Rounding::Nearest),
            write(self.low, Rounding::Down),
            write(self.high, Rounding::Up),
        ]
    }

    /// The limits in words: `1.31x to 1.55x`, `at least 1.03x; no upper bound yet`.
    pub(crate) fn limits(&self) -> String {
        let [_, low, high] = self.numbers();
        match (low, high) {
            (Some(low), Some(high)) => format!("{low} to {high}"),
            (Some(low), None) => format!("at least {low}; no upper bound yet"),
            (None, Some(high)) => format!("at most {high}; no lower bound yet"),
            (None, None) => "no bounds yet".to_owned(),
        }
    }

    /// The bar that the estimate is closest to.
    pub(crate) fn nearest_bar(&self) -> f64 {
        let estimate = self.estimate.unwrap_or(1.0);
        let distance = |bar: &f64| (estimate / bar).ln().abs();
        let nearest = self.bars.iter().copied().min_by(|a, b| distance(a).total_cmp(&distance(b)));
        nearest.unwrap_or(1.0)
    }
}

/// Where a claim about `right / left` changes its truth. Fractions below `-1` or so cannot be meant
/// and give no bar.
fn bars(relation: Relation) -> Vec<f64> {
    let bars = match relation {
        Relation::Order => vec![1.0],
        Relation::AtLeast { factor } => vec![factor],
        Relation::NoMoreThan { fraction } => vec![1.0 / (1.0 + fraction)],
        Relation::Within { fraction } => vec![1.0 / (1.0 + fraction), 1.0 + fraction],
    };
    bars.into_iter().filter(|bar| bar.is_finite() && *bar > 0.0).collect()
}

/// A bar as people write it: `1x`, `1.5x`, `0.98x`.
pub(crate) fn bar_text(bar: f64) -> String {
    let text = ratio(bar, ratio_decimals(Some(bar), [None, None]), Rounding::Nearest);
    match text.strip_suffix('x') {
        Some(digits) if digits.contains('.') && !digits.contains('e') => {
            format!("{}x", digits.trim_end_matches('0').trim_end_matches('.'))
        }
        _ => text,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bars_lie_where_claims_change_their_truth() {
        for (relation, expected) in [
            (Relation::Order, "1x"),
            (Relation::AtLeast { factor: 1.5 }, "1.5x"),
            (Relation::NoMoreThan { fraction: 0.02 }, "0.98x"),
            (Relation::Within { fraction: 0.02 }, "0.98x 1.02x"),
            (Relation::Within { fraction: f64::INFINITY }, ""),
        ] {
            let texts: Vec<_> = bars(relation).into_iter().map(bar_text).collect();
            assert_eq!(texts.join(" "), expected);
        }
    }
}
