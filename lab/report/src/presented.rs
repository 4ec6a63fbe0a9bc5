//! The quantity of a claim in the direction in which it is shown, with its bars.

use crate::contestants::short_name;
use crate::look::Look;
use crate::number::{GIVEN_DECIMALS, Kind, finite, share_text, value_text};
use crate::text::shorten_middle;
use tiebreak_core::claim::{Property, Relation, Statement};
use tiebreak_core::metric::Unit;
use tiebreak_core::result::{ClaimResult, EffectResult, Quantity};
use tiebreak_core::verdict::Verdict;

/// The subject of a quantity.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Subject<'a> {
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

/// A quantity as it is shown: for a question that the right contestant won, the ratio is inverted,
/// so that the winner's factor is above 1.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Presented<'a> {
    /// Its subject.
    pub subject: Subject<'a>,
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
    /// Returns the quantity of a claim.
    pub(crate) fn of(claim: &'a ClaimResult) -> Presented<'a> {
        let left = claim.left.as_str();
        let unit = claim.metric.unit();
        let right = claim.right.as_deref().unwrap_or_default();
        let (subject, bars) = match claim.statement {
            Statement::Ratio(relation) => {
                (Subject::Ratio { ahead: left, behind: right }, bars(relation))
            }
            Statement::Property(property) => match property {
                Property::InShareOfRounds { share, .. } => (Subject::Rounds, vec![share]),
                Property::Succeeds { good, bad } => (Subject::Rate(left), thresholds(good, bad)),
                // Where no values are kept, only the share is known.
                Property::Quantile { good, bad, bar }
                    if matches!(claim.quantity, Quantity::Rate { .. }) =>
                {
                    (Subject::UpTo(bar, unit), thresholds(good, bad))
                }
                Property::Quantile { good, bar, .. } => {
                    (Subject::Quantile(left, good, unit), vec![bar])
                }
                Property::Mean { bar, .. } => (Subject::Mean(left, unit), vec![bar]),
            },
        };
        let quantity = Presented::with(claim, subject, claim.effect(), bars);
        let right_won = claim.winner.is_some() && claim.winner == claim.right;
        let turned = claim.is_question && claim.verdict == Verdict::Holds && right_won;
        if turned { quantity.turned_round() } else { quantity }
    }

    /// The share that a claim about a share counts: of a quantile that of the values which are at
    /// most the bar, of the others the quantity itself.
    pub(crate) fn share_of(claim: &'a ClaimResult) -> Option<Presented<'a>> {
        let effect = claim.share.as_ref().and(claim.quantity.rate())?;
        let (subject, good, bad) = match claim.statement.property()? {
            Property::InShareOfRounds { share, .. } => (Subject::Rounds, share, share),
            Property::Succeeds { good, bad } => (Subject::Rate(&claim.left), good, bad),
            Property::Quantile { good, bad, bar } => {
                (Subject::UpTo(bar, claim.metric.unit()), good, bad)
            }
            Property::Mean { .. } => return None,
        };
        Some(Presented::with(claim, subject, effect, thresholds(good, bad)))
    }

    fn with(
        claim: &ClaimResult,
        subject: Subject<'a>,
        effect: EffectResult,
        bars: Vec<f64>,
    ) -> Presented<'a> {
        // The numbers of a void claim are not shown.
        let is_void = claim.verdict == Verdict::Void;
        let is_ratio = matches!(subject, Subject::Ratio { .. });
        let [estimate, low, high] = [effect.estimate, effect.low, effect.high]
            .map(|value| finite(value).filter(|value| (!is_ratio || *value > 0.0) && !is_void));
        let bars = bars.into_iter().filter(|bar| bar.is_finite()).collect();
        Presented { subject, estimate, low, high, bars }
    }

    fn turned_round(self) -> Presented<'a> {
        let subject = match self.subject {
            Subject::Ratio { ahead, behind } => Subject::Ratio { ahead: behind, behind: ahead },
            other => other,
        };
        let [estimate, low, high] =
            [self.estimate, self.high, self.low].map(|value| value.map(|value| 1.0 / value));
        let bars = self.bars.into_iter().map(|bar| 1.0 / bar).collect();
        Presented { subject, estimate, low, high, bars }
    }

    /// Whether it is a ratio, which is drawn by its logarithm.
    pub(crate) fn is_ratio(&self) -> bool {
        self.kind() == Kind::Ratio
    }

    /// Whether it is a share, from 0 to 1.
    pub(crate) fn is_share(&self) -> bool {
        self.kind() == Kind::Share
    }

    /// All that an axis should show.
    pub(crate) fn values(&self) -> impl Iterator<Item = f64> {
        let known = [self.estimate, self.low, self.high].into_iter().flatten();
        known.chain(self.bars.iter().copied())
    }

    /// Whether there is an estimate or a limit.
    pub(crate) fn is_known(&self) -> bool {
        self.estimate.is_some() || self.low.is_some() || self.high.is_some()
    }

    /// Returns its label, with names cut by `short`: `B / A`, `rate of A`, `p99 of A`.
    pub(crate) fn label(&self, short: impl Fn(&str) -> String) -> String {
        match self.subject {
            Subject::Ratio { ahead, behind } => format!("{} / {}", short(behind), short(ahead)),
            Subject::Rate(of) => format!("rate of {}", short(of)),
            Subject::UpTo(bar, unit) => format!("at most {}", value_text(unit, bar)),
            Subject::Rounds => "share of rounds".to_owned(),
            Subject::Quantile(of, at, _) => format!("{} of {}", quantile_name(at), short(of)),
            Subject::Mean(of, _) => format!("mean of {}", short(of)),
        }
    }

    /// Returns the kind of its values, which decides how they are written.
    fn kind(&self) -> Kind {
        match self.subject {
            Subject::Ratio { .. } => Kind::Ratio,
            Subject::Rate(_) | Subject::UpTo(..) | Subject::Rounds => Kind::Share,
            Subject::Quantile(_, _, unit) | Subject::Mean(_, unit) => Kind::Value(unit),
        }
    }

    /// Estimate, lower and upper limit with equally many decimals, limits rounded outwards.
    pub(crate) fn numbers(&self) -> [Option<String>; 3] {
        self.kind().numbers([self.estimate, self.low, self.high], &self.bars)
    }

    /// Writes a single value of the quantity: `1.5x`, `98%`, `5 ms`.
    pub(crate) fn mark(&self, value: f64) -> String {
        self.kind().mark(value)
    }

    /// Writes estimate and limits: `1.42x (1.31x to 1.55x)`.
    pub(crate) fn found(&self) -> String {
        self.with_limits(self.limits())
    }

    /// Writes the estimate with these words about its limits, or these alone.
    pub(crate) fn with_limits(&self, limits: String) -> String {
        match self.numbers() {
            [Some(estimate), ..] => format!("{estimate} ({limits})"),
            [None, ..] => limits,
        }
    }

    /// Writes the limits in words: `1.31x to 1.55x`, `at least 1.03x; no upper bound yet`.
    pub(crate) fn limits(&self) -> String {
        let [_, low, high] = self.numbers();
        match (low, high) {
            (Some(low), Some(high)) => format!("{low} to {high}"),
            (Some(low), None) => format!("at least {low}; no upper bound yet"),
            (None, Some(high)) => format!("at most {high}; no lower bound yet"),
            (None, None) => "no bounds yet".to_owned(),
        }
    }

    /// Returns the bar that is closest to the estimate.
    pub(crate) fn nearest_bar(&self) -> f64 {
        let estimate = self.estimate.unwrap_or(1.0);
        let distances = self.bars.iter().map(|bar| {
            if self.is_ratio() {
                ((estimate / bar).ln().abs(), *bar)
            } else {
                ((estimate - bar).abs(), *bar)
            }
        });
        distances.min_by(|a, b| a.0.total_cmp(&b.0)).map_or(1.0, |(_, bar)| bar)
    }

    /// Returns the ranges in which either verdict is right: around the bar of a ratio as far as the
    /// resolution goes, and between a bad and a good rate.
    pub(crate) fn zones(&self, resolution: f64) -> Vec<(f64, f64)> {
        let reach = 1.0 + resolution;
        match self.bars.as_slice() {
            bars if self.is_ratio() => bars.iter().map(|bar| (bar / reach, bar * reach)).collect(),
            [bad, good] => vec![(*bad, *good)],
            _ => Vec::new(),
        }
    }
}

/// Returns the label of a quantity, `B / A` or `p99 of A`, cut to a quarter of the screen.
pub(crate) fn pair(quantity: &Presented, look: Look) -> String {
    let label = quantity.label(|name| short_name(name, look));
    shorten_middle(&label, look.columns() / 4, look)
}

/// `p99` for 0.99, `p99.9` for 0.999, `median` for one half.
pub(crate) fn quantile_name(at: f64) -> String {
    if at == 0.5 {
        return "median".to_owned();
    }
    format!("p{}", share_text(at, GIVEN_DECIMALS).trim_end_matches('%'))
}

/// Returns the bars of a claim about `right / left`. Fractions of `-1` and below make no sense
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

/// Returns the bad rate and the good one, or the only one.
fn thresholds(good: f64, bad: f64) -> Vec<f64> {
    if good == bad { vec![good] } else { vec![bad, good] }
}

/// The position of a share's interval among its thresholds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Sign {
    /// Above all of them.
    Above,
    /// Below all of them.
    Below,
    /// Between the bad rate and the good one.
    Inside,
    /// Above the bad one, and on both sides of the good one.
    AtLeast,
    /// Below the good one, and on both sides of the bad one.
    AtMost,
    /// On both sides of all of them.
    Open,
}

impl Sign {
    /// Returns the sign of a share; `None` for other quantities and where nothing is known.
    pub(crate) fn of(quantity: &Presented) -> Option<Sign> {
        let (bad, good) = match quantity.bars.as_slice() {
            [only] => (*only, *only),
            [bad, good] => (*bad, *good),
            _ => return None,
        };
        if !quantity.is_share() || !quantity.is_known() {
            return None;
        }
        let (low, high) = (quantity.low.unwrap_or(0.0), quantity.high.unwrap_or(1.0));
        Some(match () {
            () if low > good => Sign::Above,
            () if high < bad => Sign::Below,
            () if low > bad && high < good => Sign::Inside,
            () if low > bad => Sign::AtLeast,
            () if high < good => Sign::AtMost,
            () => Sign::Open,
        })
    }

    /// Returns the sign in at most two columns, as one mathematical character for pictures, and as
    /// a word.
    fn names(self) -> (&'static str, char, &'static str) {
        match self {
            Sign::Above => (">>", '\u{226b}', "above"),
            Sign::Below => ("<<", '\u{226a}', "below"),
            Sign::Inside => ("~=", '\u{2248}', "inside"),
            Sign::AtLeast => (">=", '\u{2265}', "not bad"),
            Sign::AtMost => ("<=", '\u{2264}', "not good"),
            Sign::Open => ("?", '\u{bf}', "open"),
        }
    }

    /// Returns the sign in at most two columns.
    pub(crate) fn symbol(self, look: Look) -> &'static str {
        if self == Sign::Open { look.pick("\u{bf}", "?") } else { self.names().0 }
    }

    /// Returns the sign as one mathematical character, for pictures.
    pub(crate) fn glyph(self) -> char {
        self.names().1
    }

    /// Returns the sign as a word.
    pub(crate) fn word(self) -> &'static str {
        self.names().2
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::number::ratio_text;

    #[test]
    fn bars_lie_where_claims_change_their_truth() {
        for (relation, expected) in [
            (Relation::Order, "1x"),
            (Relation::AtLeast { factor: 1.5 }, "1.5x"),
            (Relation::NoMoreThan { fraction: 0.02 }, "0.98x"),
            (Relation::Within { fraction: 0.02 }, "0.98x 1.02x"),
            (Relation::Within { fraction: f64::INFINITY }, ""),
        ] {
            let texts: Vec<_> = bars(relation).into_iter().map(ratio_text).collect();
            assert_eq!(texts.join(" "), expected);
        }
    }

    #[test]
    fn rates_values_and_quantiles_are_written_as_they_are_said() {
        for (rate, text) in [(0.98, "98%"), (0.9999, "99.99%"), (1.0, "100%"), (0.0, "0%")] {
            assert_eq!(share_text(rate, GIVEN_DECIMALS), text);
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

    #[test]
    fn the_sign_says_where_the_interval_lies() {
        for (low, high, bars, expected) in [
            (Some(0.985), Some(0.999), vec![0.96, 0.98], Sign::Above),
            (Some(0.9), Some(0.959), vec![0.96, 0.98], Sign::Below),
            (Some(0.961), Some(0.979), vec![0.96, 0.98], Sign::Inside),
            (Some(0.961), Some(0.99), vec![0.96, 0.98], Sign::AtLeast),
            (Some(0.95), Some(0.979), vec![0.96, 0.98], Sign::AtMost),
            (Some(0.95), Some(0.99), vec![0.96, 0.98], Sign::Open),
            (None, Some(0.97), vec![0.98], Sign::Below),
            (Some(0.99), None, vec![0.98], Sign::Above),
            (None, Some(0.99), vec![0.98], Sign::Open),
        ] {
            let subject = Subject::Rate("A");
            let quantity = Presented { subject, estimate: None, low, high, bars };
            assert_eq!(Sign::of(&quantity), Some(expected), "{quantity:?}");
            let unknown = Presented { low: None, high: None, ..quantity };
            assert_eq!(Sign::of(&unknown), None);
        }
    }
}
