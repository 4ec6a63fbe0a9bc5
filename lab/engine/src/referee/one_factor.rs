//! Whether the ratio of a claim is one factor, and what to report instead if it is not.

use crate::claim_test::{ClaimTest, share_test};
use crate::referee::Referee;
use tiebreak_core::metric::Metric;
use tiebreak_core::result::{EffectResult, OneFactorResult, RatioRow, Statistic};
use tiebreak_core::sample::Reading;
use tiebreak_stats::conditions::Conditions;
use tiebreak_stats::decide::SequentialTest;
use tiebreak_stats::limits::Limits;
use tiebreak_stats::mean_ratio_test::MeanRatioBets;
use tiebreak_stats::observation::factor;
use tiebreak_stats::one_factor::{self, OneFactor};
use tiebreak_stats::share_test::quantile_estimate;

/// The percentiles that are compared, each with the least number of rounds for it.
const QUANTILES: [(Statistic, f64, usize); 3] =
    [(Statistic::Median, 0.5, 0), (Statistic::P90, 0.9, 0), (Statistic::P99, 0.99, 100)];

/// Returns what the rounds of a ratio of two programs show about one factor. For functions, whose
/// ratios are summaries of units, it is only tested if a claim is about one factor.
pub(crate) fn of_claim(referee: &Referee, claim: usize) -> Option<OneFactorResult> {
    let plan = &referee.plan;
    let planned = &plan.claims[claim];
    let ClaimTest::Ratio(test) = referee.test(claim) else { return None };
    if plan.functions.is_some() && !test.asks_one_factor {
        return None;
    }
    let found = test.one_factor()?;
    let slow = if found.is_below { planned.left } else { planned.right? };
    let ratios = if found.is_denied() && plan.functions.is_none() {
        rows(
            plan.engine_version,
            &referee.claims[claim].pairs,
            cap(referee, planned.claim.metric),
            test.error(),
        )
    } else {
        Vec::new()
    };
    let OneFactor { evidence, rounds, far, far_opposite, times, is_least, .. } = found;
    Some(OneFactorResult {
        is_denied: found.is_denied(),
        evidence,
        needed: 1.0 / one_factor::ERROR,
        error: one_factor::ERROR,
        rounds,
        far,
        far_opposite,
        slow: plan.contestants[slow].name.clone(),
        times,
        is_least,
        ratios,
    })
}

/// Returns the bound above which no value of the metric lies: for wall time the time-out, as in the
/// plan or as the first round determined it.
fn cap(referee: &Referee, metric: Metric) -> Option<Cap> {
    let is_planned = referee.plan.program.timeout_ns.is_some();
    let is_known = metric == Metric::WallTime && referee.rounds > 0;
    is_known.then(|| Cap { most: referee.timeout_ns() as f64, is_planned })
}

/// A cap. One that is not planned was determined by the first round, and holds for those after it.
#[derive(Clone, Copy)]
struct Cap {
    most: f64,
    is_planned: bool,
}

/// The two values of each round that counts as evidence of a ratio, in the order in which they came
/// to count.
#[derive(Clone, Debug, Default)]
pub(crate) struct Pairs {
    counted: Vec<(Reading, Reading)>,
    /// The rounds of the current block of primers in which bets do not rest.
    block: Vec<(Reading, Reading)>,
    /// The index of the run's first round.
    first: Option<usize>,
}

/// Nothing is known about an attempt that was cut off, so every row takes it as the worst (rule
/// A9).
const LOST: (Reading, Reading) = (Reading::UNKNOWN, Reading::UNKNOWN);

impl Pairs {
    /// Adds a round, which counts once its block of primers is over (rule A3).
    pub(crate) fn observe(&mut self, is_first: bool, pair: (Reading, Reading), how: &Conditions) {
        if !how.rests {
            if is_first {
                self.first = Some(self.counted.len() + self.block.len());
            }
            self.block.push(pair);
        }
        if !how.goes_on {
            self.counted.append(&mut self.block);
        }
    }

    /// Counts an attempt that was cut off.
    pub(crate) fn lose_attempt(&mut self) {
        let place = self.counted.len();
        self.first = self.first.map(|first| first + usize::from(first >= place));
        self.counted.push(LOST);
    }

    /// Returns the rounds that count and were not cut off.
    fn known(&self) -> impl Iterator<Item = &(Reading, Reading)> + Clone {
        self.counted.iter().filter(|pair| **pair != LOST)
    }
}

/// Returns the rows of the table. Each ratio of quantiles lies between limits of both quantiles,
/// each of which uses a quarter of the error.
fn rows(version: u32, pairs: &Pairs, cap: Option<Cap>, error: f64) -> Vec<RatioRow> {
    let (lefts, rights): (Vec<Reading>, Vec<Reading>) = pairs.counted.iter().copied().unzip();
    let known = pairs.known().count();
    let quantiles = QUANTILES.iter().filter(|(.., least)| known >= *least);
    let quantiles = quantiles.map(|(statistic, share, _)| {
        let test = share_test(version, (*share, *share), 1, error / 4.0);
        let [left, right] = [&lefts, &rights]
            .map(|readings| (quantile_estimate(readings, *share), test.quantile_limits(readings)));
        RatioRow {
            statistic: *statistic,
            left: left.0,
            right: right.0,
            ratio: EffectResult {
                estimate: over(right.0, left.0),
                low: over(right.1.low, left.1.high),
                high: over(right.1.high, left.1.low),
                confidence: 1.0 - error,
            },
            cap: None,
        }
    });
    quantiles.chain([mean(pairs, cap, error)]).collect()
}

/// Returns the mean of what the readings reach at most; `None` without any.
fn mean_of(readings: impl Iterator<Item = Reading> + Clone, most: f64) -> Option<f64> {
    let count = readings.clone().count() as f64;
    let mean = readings.map(|reading| reading.high.min(most)).sum::<f64>() / count;
    mean.is_finite().then_some(mean)
}

/// Returns the means, and their ratio with limits if there is a cap.
fn mean(pairs: &Pairs, cap: Option<Cap>, error: f64) -> RatioRow {
    let most = cap.map_or(f64::MAX, |cap| cap.most);
    let left = mean_of(pairs.known().map(|pair| pair.0), most);
    let right = mean_of(pairs.known().map(|pair| pair.1), most);
    let limits = cap.map_or(Limits { low: None, high: None }, |cap| {
        let mut bets = MeanRatioBets::default();
        for (place, pair) in pairs.counted.iter().enumerate() {
            match *pair {
                LOST => drop(bets.push_lost()),
                _ if !cap.is_planned && pairs.first == Some(place) => {}
                (left, right) => drop(bets.push(left, right, cap.most)),
            }
        }
        bets.limits(error / 2.0)
    });
    RatioRow {
        statistic: Statistic::Mean,
        left,
        right,
        ratio: EffectResult {
            estimate: over(right, left),
            low: limits.low.map(factor),
            high: limits.high.map(factor),
            confidence: 1.0 - error,
        },
        cap: cap.map(|cap| cap.most),
    }
}

fn over(right: Option<f64>, left: Option<f64>) -> Option<f64> {
    let ratio = right? / left?;
    ratio.is_finite().then_some(ratio)
}

#[cfg(test)]
mod tests {
    use super::*;
    use tiebreak_core::plan::ENGINE_VERSION;
    use tiebreak_stats::coins::{Purpose, Seed, Stream};
    use tiebreak_stats::rate;

    const ALL: [Statistic; 4] =
        [Statistic::Median, Statistic::P90, Statistic::P99, Statistic::Mean];

    /// Returns A's time as a function of a uniform number: a fifth of the runs is slow. B's has no
    /// tail.
    fn time_of_a(u: f64) -> f64 {
        if u < 0.8 { 1.0 + u } else { 3.0 + 5.0 * (u - 0.8) }
    }

    fn counted(pairs: &[(Reading, Reading)]) -> Pairs {
        let mut counted = Pairs::default();
        for (round, pair) in pairs.iter().enumerate() {
            counted.observe(round == 0, *pair, &Conditions::UNKNOWN);
        }
        counted
    }

    #[test]
    fn rounds_count_at_the_end_of_their_block_and_lost_attempts_at_once() {
        let of = |i: u32| (Reading::exact(f64::from(i)), Reading::exact(1.0));
        let conditions = |goes_on, rests| Conditions { goes_on, rests, ..Conditions::UNKNOWN };
        let mut pairs = Pairs::default();
        pairs.observe(true, of(0), &conditions(true, false));
        assert_eq!((pairs.counted.len(), pairs.first), (0, Some(0)));
        pairs.lose_attempt();
        assert_eq!((pairs.counted.len(), pairs.first), (1, Some(1)));
        pairs.observe(false, of(1), &conditions(true, true));
        pairs.observe(false, of(2), &conditions(false, false));
        assert_eq!(pairs.counted, [LOST, of(0), of(2)]);
        pairs.lose_attempt();
        assert_eq!((pairs.known().count(), pairs.first), (2, Some(1)));
    }

    /// A is three times as slow in a tenth of its runs, and its mean is that of B; a watcher cuts
    /// off three in ten of the rounds in which it is.
    #[test]
    fn a_watcher_that_kills_slow_rounds_proves_nothing() {
        fn missed(charges: bool) -> usize {
            let of_stream = |stream: &u64| {
                let mut chance =
                    Stream::new(Seed::from_text("kills"), Purpose::Simulation, *stream, 0);
                let mut pairs = Pairs::default();
                for round in 0..1500 {
                    let mut pair = || {
                        let slow = chance.unit() < 0.1;
                        let a = (if slow { 3.0 } else { 1.0 }) + (chance.unit() - 0.5) * 0.02;
                        let is_killed = slow && chance.unit() < 0.3;
                        ((Reading::exact(a), Reading::exact(1.2)), is_killed)
                    };
                    let mut drawn = pair();
                    while drawn.1 {
                        if charges {
                            pairs.lose_attempt();
                        }
                        drawn = pair();
                    }
                    pairs.observe(round == 0, drawn.0, &Conditions::UNKNOWN);
                }
                let rows =
                    rows(ENGINE_VERSION, &pairs, Some(Cap { most: 5.0, is_planned: true }), 0.05);
                rows[3].ratio.low.is_some_and(|low| low > 1.0)
            };
            (0..40).filter(of_stream).count()
        }
        let (charged, not_charged) = (missed(true), missed(false));
        assert!(charged <= 2 && not_charged >= 20, "{charged} {not_charged}");
    }

    /// Over all looks at a growing run, each row misses the true ratio no more often than the
    /// error, and so do the three of quantiles together: they use far less than the error.
    #[test]
    fn rows_have_the_true_ratios() {
        const ERROR: f64 = 0.05;
        let mean_of_a = 0.8 + 0.8 * 0.8 / 2.0 + 3.0 * 0.2 + 2.5 * 0.2 * 0.2;
        let [p50, p90, p99] = [0.5, 0.9, 0.99].map(|u: f64| (1.0 + u) / time_of_a(u));
        let truths = [p50, p90, p99, 1.5 / mean_of_a];
        let (streams, mut missed, mut any, mut found) = (200u64, [0u64; 4], 0u64, [0u64; 4]);
        for stream in 0..streams {
            let mut chance = Stream::new(Seed::from_text("rows"), Purpose::Simulation, stream, 0);
            let mut pair = || {
                let (a, b) = (time_of_a(chance.unit()), 1.0 + chance.unit());
                (Reading::exact(a), Reading::exact(b))
            };
            let pairs: Vec<_> = (0..600).map(|_| pair()).collect();
            let cap = Some(Cap { most: 4.0, is_planned: true });
            let mut misses = [false; 4];
            for rounds in [40, 100, 160, 250, 400, 600] {
                let rows = rows(ENGINE_VERSION, &counted(&pairs[..rounds]), cap, ERROR);
                for (row, name) in ALL.into_iter().enumerate() {
                    let Some(found_row) = rows.iter().find(|one| one.statistic == name) else {
                        continue;
                    };
                    let EffectResult { low, high, .. } = found_row.ratio;
                    let truth = truths[row];
                    misses[row] |= low.is_some_and(|low| low > truth * (1.0 + 1e-12));
                    misses[row] |= high.is_some_and(|high| high < truth * (1.0 - 1e-12));
                    found[row] += u64::from(rounds == 600 && high.is_some_and(|high| high < 1.0));
                }
            }
            missed.iter_mut().zip(misses).for_each(|(count, miss)| *count += u64::from(miss));
            any += u64::from(misses.contains(&true));
        }
        println!("missed {missed:?}, any {any}, B proven shorter {found:?}, of {streams}");
        let is_too_often =
            |count: u64| rate::compare_with(streams, count, ERROR, 1e-4) == Some(true);
        assert!(!missed.into_iter().chain([any]).any(is_too_often), "{missed:?} {any}");
        assert!(found[0] == 0 && found[1] > streams / 2 && found[3] > streams / 2, "{found:?}");
    }

    #[test]
    fn each_ratio_has_limits_around_it_or_none() {
        fn pair(i: u32) -> (Reading, Reading) {
            let noise = f64::from(i * 7919 % 997) * 1e3;
            let a = 2e9 + noise + if i % 10 == 3 { 4e9 } else { 0.0 };
            (Reading::exact(a), Reading::exact(2e9 + f64::from(i * 7907 % 991) * 1e3))
        }
        let pairs: Vec<_> = (0..400).map(pair).collect();
        let pairs = counted(&pairs);
        let rows = rows(ENGINE_VERSION, &pairs, Some(Cap { most: 10e9, is_planned: false }), 0.01);
        let names: Vec<_> = rows.iter().map(|row| row.statistic).collect();
        assert_eq!(names, ALL);
        for (row, expected) in rows.iter().zip([1.0, 1.0, 1.0 / 3.0, 1.0 / 1.2]) {
            let EffectResult { estimate, low, high, .. } = row.ratio;
            assert!((estimate.unwrap() / expected - 1.0).abs() < 0.01, "{row:?}");
            assert!(low.is_none_or(|low| low <= expected), "{row:?}");
            assert!(high.is_none_or(|high| high >= expected * 0.999), "{row:?}");
        }
        assert!(rows[3].ratio.high.is_some_and(|high| high < 1.0), "{:?}", rows[3]);
        let open = mean(&pairs, None, 0.01);
        assert_eq!((open.ratio.low, open.ratio.high, open.cap), (None, None, None));
    }
}
