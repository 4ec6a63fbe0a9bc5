//! What a claim is about, the way round in which it is told, with the bar that it is held against.

use crate::number::{
    Rounding, Scale, finite, ratio, ratio_decimals, share, share_decimals, value_text,
};
use crate::text::shorten_middle;
use tiebreak_core::claim::{Property, Relation, Statement};
use tiebreak_core::metric::Unit;
use tiebreak_core::result::{ClaimResult, EffectResult};
use tiebreak_core::verdict::Verdict;

/// What kind of quantity is told.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Quantity<'a> {
    /// The ratio `behind / ahead`.
    Ratio {
        /// The contestant that needs less if the ratio is above 1.
        ahead: &'a str,
        /// The contestant that it is compared with.
        behind: &'a str,
    },
    /// The share of a contestant's runs or lines that succeed.
    Rate(&'a str),
    /// The share of a contestant's values that are at most this, in which unit.
    UpTo(f64, Unit),
    /// The share of rounds in which a contestant was so much better than the other.
    Rounds,
    /// A quantile of a contestant's values: at which share, and in which unit.
    Quantile(&'a str, f64, Unit),
    /// The mean of a contestant's values.
    Mean(&'a str, Unit),
}

/// A quantity as it is told: of a question that the right contestant won the ratio is turned round,
/// so that the winner's factor is above 1.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Presented<'a> {
    /// What it is.
    pub quantity: Quantity<'a>,
    /// The estimate; finite, and of a ratio above 0.
    pub estimate: Option<f64>,
    /// The lower limit; the same.
    pub low: Option<f64>,
    /// The upper limit; the same.
    pub high: Option<f64>,
    /// Where the claim's truth changes: one value, or two of `within` and of a good and a bad rate.
    pub bars: Vec<f64>,
}

impl<'a> Presented<'a> {
    /// The quantity of a claim.
    pub(crate) fn of(claim: &'a ClaimResult) -> Presented<'a> {
        let left = claim.left.as_str();
        let unit = claim.metric.unit();
        let right = claim.right.as_deref().unwrap_or_default();
        let (quantity, bars) = match claim.statement {
            Statement::Ratio(relation) => {
                (Quantity::Ratio { ahead: left, behind: right }, bars(relation))
            }
            Statement::Property(property) => match property {
                Property::InShareOfRounds { share, .. } => (Quantity::Rounds, vec![share]),
                Property::Succeeds { good, bad } => (Quantity::Rate(left), thresholds(good, bad)),
                Property::Quantile { good, bar, .. } => {
                    (Quantity::Quantile(left, good, unit), vec![bar])
                }
                Property::Mean { bar, .. } => (Quantity::Mean(left, unit), vec![bar]),
            },
        };
        let told = Presented::with(claim, quantity, claim.effect(), bars);
        let right_won = claim.winner.is_some() && claim.winner == claim.right;
        let turned = claim.is_question && claim.verdict == Verdict::Holds && right_won;
        if turned { told.turned_round() } else { told }
    }

    /// The share that a claim about a share counts: of a quantile that of the values which are at
    /// most the bar, of the others the quantity itself.
    pub(crate) fn share_of(claim: &'a ClaimResult) -> Option<Presented<'a>> {
        let effect = claim.share.as_ref().and(claim.quantity.rate())?;
        let (quantity, good, bad) = match claim.statement.property()? {
            Property::InShareOfRounds { share, .. } => (Quantity::Rounds, share, share),
            Property::Succeeds { good, bad } => (Quantity::Rate(&claim.left), good, bad),
            Property::Quantile { good, bad, bar } => {
                (Quantity::UpTo(bar, claim.metric.unit()), good, bad)
            }
            Property::Mean { .. } => return None,
        };
        Some(Presented::with(claim, quantity, effect, thresholds(good, bad)))
    }

    fn with(
        claim: &ClaimResult,
        quantity: Quantity<'a>,
        effect: EffectResult,
        bars: Vec<f64>,
    ) -> Presented<'a> {
        // Nothing can be said of a void claim, so what its rounds gave is not shown.
        let is_void = claim.verdict == Verdict::Void;
        let is_ratio = matches!(quantity, Quantity::Ratio { .. });
        let usable = |value| finite(value).filter(|value| (!is_ratio || *value > 0.0) && !is_void);
        Presented {
            quantity,
            estimate: usable(effect.estimate),
            low: usable(effect.low),
            high: usable(effect.high),
            bars: bars.into_iter().filter(|bar| bar.is_finite()).collect(),
        }
    }

    fn turned_round(self) -> Presented<'a> {
        let inverse = |value: Option<f64>| value.map(|value| 1.0 / value);
        let quantity = match self.quantity {
            Quantity::Ratio { ahead, behind } => Quantity::Ratio { ahead: behind, behind: ahead },
            other => other,
        };
        Presented {
            quantity,
            estimate: inverse(self.estimate),
            low: inverse(self.high),
            high: inverse(self.low),
            bars: self.bars.into_iter().map(|bar| 1.0 / bar).collect(),
        }
    }

    /// Whether it is a ratio, which is drawn by its logarithm.
    pub(crate) fn is_ratio(&self) -> bool {
        matches!(self.quantity, Quantity::Ratio { .. })
    }

    /// Whether it is a share, from 0 to 1.
    pub(crate) fn is_share(&self) -> bool {
        matches!(self.quantity, Quantity::Rate(_) | Quantity::UpTo(..) | Quantity::Rounds)
    }

    /// Whether there is an estimate or a limit.
    pub(crate) fn is_known(&self) -> bool {
        self.estimate.is_some() || self.low.is_some() || self.high.is_some()
    }

    /// What it is in a few words, with names cut by `short`: `B / A`, `rate of A`, `p99 of A`.
    pub(crate) fn label(&self, short: impl Fn(&str) -> String) -> String {
        match self.quantity {
            Quantity::Ratio { ahead, behind } => format!("{} / {}", short(behind), short(ahead)),
            Quantity::Rate(of) => format!("rate of {}", short(of)),
            Quantity::UpTo(bar, unit) => format!("at most {}", value_text(unit, bar)),
            Quantity::Rounds => "share of rounds".to_owned(),
            Quantity::Quantile(of, at, _) => format!("{} of {}", quantile_name(at), short(of)),
            Quantity::Mean(of, _) => format!("mean of {}", short(of)),
        }
    }

    /// Estimate, lower and upper limit with equally many decimals, limits rounded outwards.
    pub(crate) fn numbers(&self) -> [Option<String>; 3] {
        let roundings = [Rounding::Nearest, Rounding::Down, Rounding::Up];
        let values = [self.estimate, self.low, self.high];
        let write: Box<dyn Fn(f64, Rounding) -> String> = match self.quantity {
            Quantity::Ratio { .. } => {
                let decimals = ratio_decimals(self.estimate, [self.low, self.high]);
                Box::new(move |value, rounding| ratio(value, decimals, rounding))
            }
            Quantity::Rate(_) | Quantity::UpTo(..) | Quantity::Rounds => {
                let decimals = share_decimals(&values, &self.bars);
                Box::new(move |value, rounding| share(value, decimals, rounding))
            }
            Quantity::Quantile(_, _, unit) | Quantity::Mean(_, unit) => {
                let scale = self.scale(unit);
                Box::new(move |value, rounding| scale.write_rounded(value, rounding))
            }
        };
        [0, 1, 2].map(|index| values[index].map(|value| write(value, roundings[index])))
    }

    /// The unit and the decimals for values, so that they are read against each other at a glance.
    fn scale(&self, unit: Unit) -> Scale {
        let known: Vec<f64> = [self.estimate, self.low, self.high].into_iter().flatten().collect();
        let bar = self.bars.first().copied().unwrap_or(0.0);
        Scale::shared(unit, &known).unwrap_or_else(|| {
            Scale::of(unit, self.estimate.or(self.low).or(self.high).unwrap_or(bar))
        })
    }

    /// A value of the quantity as people write it: `1.5x`, `98%`, `5 ms`.
    pub(crate) fn mark(&self, value: f64) -> String {
        match self.quantity {
            Quantity::Ratio { .. } => bar_text(value),
            Quantity::Rate(_) | Quantity::UpTo(..) | Quantity::Rounds => rate_text(value),
            Quantity::Quantile(_, _, unit) | Quantity::Mean(_, unit) => value_text(unit, value),
        }
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
        let distance = |bar: &f64| {
            if self.is_ratio() { (estimate / bar).ln().abs() } else { (estimate - bar).abs() }
        };
        let nearest = self.bars.iter().copied().min_by(|a, b| distance(a).total_cmp(&distance(b)));
        nearest.unwrap_or(1.0)
    }

    /// The stretches in which no verdict needs to be right: around the bar of a ratio as far as the
    /// resolution goes, and between a bad and a good rate.
    pub(crate) fn zones(&self, resolution: f64) -> Vec<(f64, f64)> {
        match (self.is_ratio(), self.bars.as_slice()) {
            (true, bars) => {
                let zone = |bar: &f64| (bar / (1.0 + resolution), bar * (1.0 + resolution));
                bars.iter().map(zone).collect()
            }
            (false, [bad, good]) => vec![(*bad, *good)],
            (false, _) => Vec::new(),
        }
    }
}

/// `B / A` or `p99 of A`, cut to some columns.
pub(crate) fn short_label(told: &Presented, columns: usize, look: crate::Look) -> String {
    let short = |name: &str| crate::contestants::short_name(name, look);
    shorten_middle(&told.label(short), columns, look)
}

/// `p99` for 0.99, `p99.9` for 0.999, `median` for one half.
pub(crate) fn quantile_name(at: f64) -> String {
    if at == 0.5 {
        return "median".to_owned();
    }
    format!("p{}", rate_text(at).trim_end_matches('%'))
}

/// Where a claim about `right / left` changes its truth. Fractions below `-1` or so cannot be meant
/// and give no bar.
fn bars(relation: Relation) -> Vec<f64> {
    let bars = match relation {
        Relation::Order | Relation::Measure { .. } => vec![1.0],
        Relation::AtLeast { factor } => vec![factor],
        Relation::NoMoreThan { fraction } => vec![1.0 / (1.0 + fraction)],
        Relation::Within { fraction } => vec![1.0 / (1.0 + fraction), 1.0 + fraction],
    };
    bars.into_iter().filter(|bar| bar.is_finite() && *bar > 0.0).collect()
}

/// The bad rate and the good one, or the only one.
fn thresholds(good: f64, bad: f64) -> Vec<f64> {
    if good == bad { vec![good] } else { vec![bad, good] }
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

/// A rate as people write it: `98%`, `99.95%`: as many digits as it was said with.
pub(crate) fn rate_text(rate: f64) -> String {
    let text = format!("{:.9}", rate * 100.0);
    format!("{}%", text.trim_end_matches('0').trim_end_matches('.'))
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

    #[test]
    fn rates_values_and_quantiles_are_written_as_they_are_said() {
        for (rate, text) in [(0.98, "98%"), (0.9999, "99.99%"), (1.0, "100%"), (0.0, "0%")] {
            assert_eq!(rate_text(rate), text);
        }
        for (unit, value, text) in [
            (Unit::Nanoseconds, 5e6, "5 ms"),
            (Unit::Bytes, 1572864.0, "1.5 MiB"),
            (Unit::Count, 4200.0, "4200"),
            (Unit::Count, 0.25, "0.25"),
        ] {
            assert_eq!(value_text(unit, value), text);
        }
        for (at, text) in [(0.5, "median"), (0.99, "p99"), (0.999, "p99.9")] {
            assert_eq!(quantile_name(at), text);
        }
    }
}
