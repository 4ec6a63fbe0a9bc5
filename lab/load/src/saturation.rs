//! The search for the highest rate that a server sustains.
//!
//! # When a rate is sustained
//!
//! A trial sends by a schedule for some seconds, and looks at what was answered before the
//! schedule's end. The rate is sustained if all of these hold:
//!
//! 1. **Answers keep pace.** From the first answer to the last, they come at no less than 99% of
//!    the rate of the sends. Above its capacity a server answers at its capacity, whatever is
//!    asked, and the rest queues up without limit. Answers that all take equally long come at the
//!    rate of the sends: the first and the last are late alike. And a pause at the end of a trial
//!    is not a lack of capacity.
//! 2. **The backlog is at most a tenth of the sends.** That is the limit of what rule 1 forgives: a
//!    server that stopped half-way and never came back answered at the full rate until then. So a
//!    trial has to last at least ten times as long as a latency.
//! 3. **At most 1 message in 1000 is lost.** A server that throws away what it cannot pass on
//!    answers the rest in time.
//!
//! If the generator sent less than 99% of its schedule, and what it sent was sustained, the trial
//! says nothing about the server above that. The result is then "at least".
//!
//! A trial needs some hundreds of sends: of fewer than a hundred, 1% is less than one message.
//!
//! # How the next rate is chosen
//!
//! From below, rates grow fourfold until one is not sustained. That trial has shown at which rate
//! the server does answer, so the search goes on 2.5% below that, then 2.5% above. From above it
//! does the same at once. If both come out as expected, the interval is narrow enough: at most 5%.
//! That takes 3 trials from above and a few more from below. Otherwise the interval is halved, in
//! the logarithm.
//!
//! A result that may be chance is tried again, and of three the majority counts:
//!
//! - a rate failed by the first rule, but the server answered at that rate in another trial;
//! - a rate failed by another rule, or the generator did not reach it: no other trial shows whether
//!   that was the server's limit;
//! - only one trial failed, and the search would end by it;
//! - a rate is sustained, but when it got more the server answered at less than that. Either one of
//!   the two was chance, or the server passes less when it is asked for more. Both are tried again.
//!
//! So one disturbed trial costs some more trials and does not change the result. A server whose
//! capacity falls under overload is told apart from one that was disturbed. If it recovers, the
//! search goes on to the rate that it sustains ([`Overload::Falls`]). If it sustains less than
//! before the overload, the result is what it sustains afterwards ([`Overload::Fell`]). To see what
//! it does before an overload again, start it afresh.

use crate::schedule::{RATE_PER_SECOND_MAX, SECOND_NS};
use tiebreak_core::load::Overload;

/// From below, each rate is so many times the last.
const GROWTH: u64 = 4;
/// The interval of the result is at most one part in so many of its upper end.
const WIDTH_PARTS: u64 = 20;
/// After a failure no rate is tried below one part in so many, even if all was refused.
const FALL_PARTS_MAX: u64 = 64;

/// What was seen in a trial of one rate.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Trial {
    /// The rate of the schedule.
    pub rate_per_second: u64,
    /// How long the schedule was, in nanoseconds.
    pub duration_ns: u64,
    /// The sends of the schedule.
    pub intended: u64,
    /// The sends that the generator turned to before the schedule's end.
    pub sent: u64,
    /// The messages that were answered, or arrived, before the schedule's end.
    pub completed: u64,
    /// The time from the first of these to the last, in nanoseconds.
    pub completing_ns: u64,
    /// The messages that were still under way at the schedule's end. Those that were sent and are
    /// neither completed nor here are lost.
    pub backlog: u64,
}

/// Why a rate was not sustained.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Shortfall {
    /// Answers came at less than the rate of the sends.
    Pace,
    /// Too much was still under way at the end.
    Backlog,
    /// Messages were lost.
    Lost,
}

/// What a trial says about its rate.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Outcome {
    /// The server sustains it.
    Sustained,
    /// The server does not.
    NotSustained(Shortfall),
    /// The server sustains the rate that the generator reached, which is lower.
    GeneratorBound,
}

impl Trial {
    /// Judges the trial by the rules of [this page](self).
    pub fn outcome(&self) -> Outcome {
        let sent = u128::from(self.sent);
        let lost = self.sent.saturating_sub(self.completed).saturating_sub(self.backlog);
        // answers / completing time >= 99% of sends / duration, without rounding.
        let answers = u128::from(self.completed.saturating_sub(1));
        let pace = answers.saturating_mul(u128::from(self.duration_ns)).saturating_mul(100);
        let pace_min = sent.saturating_mul(u128::from(self.completing_ns)).saturating_mul(99);
        let shortfall = if self.sent == 0 || pace < pace_min {
            Some(Shortfall::Pace)
        } else if u128::from(self.backlog) * 10 > sent {
            Some(Shortfall::Backlog)
        } else {
            (u128::from(lost) * 1000 > sent).then_some(Shortfall::Lost)
        };
        match shortfall {
            Some(shortfall) => Outcome::NotSustained(shortfall),
            None if sent * 100 < u128::from(self.intended) * 99 => Outcome::GeneratorBound,
            None => Outcome::Sustained,
        }
    }

    /// Returns the rate of the answers, from the first to the last, rounded down. The first begins
    /// the time and is not counted. It is 0 for fewer than two.
    pub fn pace_per_second(&self) -> u64 {
        per_second(self.completed.saturating_sub(1), self.completing_ns)
    }
}

/// Returns the rate of so many messages in a time, rounded down.
fn per_second(messages: u64, time_ns: u64) -> u64 {
    let rate = u128::from(messages) * u128::from(SECOND_NS) / u128::from(time_ns.max(1));
    u64::try_from(rate).unwrap_or(u64::MAX)
}

/// What a search has found.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Saturation {
    /// The highest rate that the server was seen to sustain, per second; 0 if there is none.
    pub low_per_second: u64,
    /// The lowest rate that it did not; `None` if there is none. The two are at most 5% of it, or 1
    /// a second, apart, unless the generator ended the search, or it has not ended.
    pub high_per_second: Option<u64>,
    /// Whether the generator could not ask for more than the lower rate.
    pub is_generator_bound: bool,
    /// What the server does above its capacity.
    pub overload: Overload,
    /// The trials that this took.
    pub trials: usize,
}

/// What a search wants next.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Step {
    /// A trial of this rate, per second.
    Try(u64),
    /// Nothing: it has ended.
    Done(Saturation),
}

/// A search for the highest rate that a server sustains. It runs nothing itself: ask for a
/// [`step`](Search::step), run the trial, [`record`](Search::record) it, and ask again.
#[derive(Clone, Debug)]
pub struct Search {
    start_per_second: u64,
    trials: Vec<(Trial, Outcome)>,
}

impl Search {
    /// Starts at this rate: below the capacity to come from below, above it to come from above. A
    /// rate outside 1 to [`RATE_PER_SECOND_MAX`] is moved to the nearest inside.
    pub fn new(start_per_second: u64) -> Search {
        let start_per_second = start_per_second.clamp(1, RATE_PER_SECOND_MAX);
        Search { start_per_second, trials: Vec::new() }
    }

    /// Takes what was seen in the trial that the last step wanted.
    pub fn record(&mut self, trial: Trial) {
        self.trials.push((trial, trial.outcome()));
    }

    /// Returns what to do next: a function of the trials so far.
    ///
    /// A rate is tried at most three times, and a new rate lies strictly inside the interval, so a
    /// search ends whatever a server does.
    pub fn step(&self) -> Step {
        let rates = self.rates();
        if let Some(rate) = doubtful(&rates) {
            return Step::Try(rate.per_second);
        }
        let (below, high) = split(&rates);
        let low = below.iter().rfind(|rate| rate.outcome() == Outcome::Sustained);
        if below.iter().any(|rate| rate.outcome() == Outcome::GeneratorBound) {
            return Step::Done(self.saturation(&rates));
        }
        let next = match (low, high) {
            (None, None) => Some(self.start_per_second),
            (Some(low), None) if low.per_second >= RATE_PER_SECOND_MAX => None,
            (Some(low), None) => Some((GROWTH * low.per_second).clamp(1, RATE_PER_SECOND_MAX)),
            (None, Some(high)) => {
                let failed = rates.iter().filter(|rate| rate.is_failed()).count();
                (high.per_second > 1).then(|| first_below(high, failed))
            }
            (Some(low), Some(high)) => {
                let failures = self.trials.iter().filter(|(_, outcome)| is_failure(*outcome));
                let is_only_failure = failures.count() == 1;
                between(low.per_second, high).or(is_only_failure.then_some(high.per_second))
            }
        };
        next.map_or_else(|| Step::Done(self.saturation(&rates)), Step::Try)
    }

    /// Returns what the trials until now have found, wherever the search is; `None` if there was
    /// none. What the server does above its capacity is known at the end alone, and whether the
    /// generator is the limit once that was tried again.
    pub fn so_far(&self) -> Option<Saturation> {
        let rates = self.rates();
        if rates.is_empty() {
            return None;
        }
        let found = self.saturation(&rates);
        let is_generator_bound = found.is_generator_bound && doubtful(&rates).is_none();
        Some(Saturation { is_generator_bound, overload: Overload::Unknown, ..found })
    }

    /// Returns the trials of each rate, the lowest rate first.
    fn rates(&self) -> Vec<TriedRate> {
        let mut rates: Vec<TriedRate> = Vec::new();
        for (trial, outcome) in &self.trials {
            let per_second = trial.rate_per_second;
            match rates.iter_mut().find(|rate| rate.per_second == per_second) {
                Some(rate) => rate.trials.push((*trial, *outcome)),
                None => {
                    rates.push(TriedRate { per_second, trials: vec![(*trial, *outcome)] });
                }
            }
        }
        rates.sort_by_key(|rate| rate.per_second);
        rates
    }

    fn saturation(&self, rates: &[TriedRate]) -> Saturation {
        let (below, high) = split(rates);
        let low_per_second = below.iter().filter_map(TriedRate::reached_per_second).max();
        let low_per_second = low_per_second.unwrap_or(0);
        let bound = below.iter().find(|rate| rate.outcome() == Outcome::GeneratorBound);
        Saturation {
            low_per_second,
            high_per_second: high.map(|rate| rate.per_second),
            is_generator_bound: bound.is_some(),
            overload: self.overload(rates, low_per_second),
            trials: self.trials.len(),
        }
    }

    fn overload(&self, rates: &[TriedRate], low_per_second: u64) -> Overload {
        let failed = rates.iter().filter(|rate| rate.is_failed());
        // Below this lies what cannot be told from the upper end of the interval.
        let high = failed.clone().map(|rate| rate.per_second).min().unwrap_or(u64::MAX);
        let mut fell = failed.clone().filter(|rate| {
            let before = self.trials.iter().take_while(|(_, outcome)| !is_failure(*outcome));
            let mut sustained = before.map(|(trial, _)| trial.rate_per_second);
            rate.per_second - high > high / WIDTH_PARTS && sustained.any(|r| r == rate.per_second)
        });
        if let Some(rate) = fell.next_back() {
            return Overload::Fell { from_per_second: rate.per_second };
        }
        match failed.filter_map(TriedRate::failing_pace).min() {
            None => Overload::Unknown,
            Some(pace) if is_below(pace, 95, low_per_second) => {
                Overload::Falls { to_per_second: pace }
            }
            Some(_) => Overload::Holds,
        }
    }
}

/// A rate and its trials, the earliest first.
struct TriedRate {
    per_second: u64,
    trials: Vec<(Trial, Outcome)>,
}

impl TriedRate {
    /// Returns the outcome that two trials agree on, otherwise that of the last.
    fn outcome(&self) -> Outcome {
        let agreed = self.trials.iter().enumerate().find(|(at, (_, outcome))| {
            self.trials[..*at].iter().any(|(_, earlier)| is_alike(*earlier, *outcome))
        });
        agreed.map_or(self.trials[self.trials.len() - 1].1, |(_, (_, outcome))| *outcome)
    }

    fn is_failed(&self) -> bool {
        is_failure(self.outcome())
    }

    fn is_tried_once(&self) -> bool {
        self.trials.len() == 1
    }

    fn is_tied(&self) -> bool {
        matches!(self.trials[..], [(_, one), (_, other)] if !is_alike(one, other))
    }

    /// Returns the highest rate of its answers in a trial that failed because of that rate.
    fn failing_pace(&self) -> Option<u64> {
        let failing = (self.trials.iter())
            .filter(|(_, outcome)| *outcome == Outcome::NotSustained(Shortfall::Pace));
        failing.map(|(trial, _)| trial.pace_per_second()).max()
    }

    /// Returns the rate that was sustained, if one was: what the generator reached of it.
    fn reached_per_second(&self) -> Option<u64> {
        match self.outcome() {
            Outcome::NotSustained(_) => None,
            Outcome::Sustained => Some(self.per_second),
            Outcome::GeneratorBound => {
                let sent = self.trials.iter().map(|(trial, _)| {
                    per_second(trial.sent, trial.duration_ns).min(self.per_second)
                });
                sent.max()
            }
        }
    }
}

/// Returns the rates below the lowest one that failed, and that one.
fn split(rates: &[TriedRate]) -> (&[TriedRate], Option<&TriedRate>) {
    let below = rates.iter().take_while(|rate| !rate.is_failed()).count();
    (&rates[..below], rates.get(below))
}

fn is_failure(outcome: Outcome) -> bool {
    matches!(outcome, Outcome::NotSustained(_))
}

/// Returns whether two outcomes are of the same kind.
fn is_alike(one: Outcome, other: Outcome) -> bool {
    one == other || is_failure(one) && is_failure(other)
}

/// Returns whether a rate is below so many hundredths of another.
fn is_below(rate: u64, hundredths: u64, other: u64) -> bool {
    u128::from(rate) * 100 < u128::from(other) * u128::from(hundredths)
}

/// Returns a rate that has to be tried again.
fn doubtful(rates: &[TriedRate]) -> Option<&TriedRate> {
    let alone =
        rates.iter().find(|rate| rate.is_tied() || rate.is_tried_once() && is_weak(rate, rates));
    alone.or_else(|| doubtful_of_a_fall(rates))
}

/// Returns whether the only trial of this rate is not enough: it failed, or did not reach the rate,
/// for a reason that no other trial supports.
fn is_weak(rate: &TriedRate, rates: &[TriedRate]) -> bool {
    match rate.outcome() {
        Outcome::Sustained => false,
        Outcome::NotSustained(Shortfall::Pace) => {
            let others = rates.iter().filter(|other| other.per_second != rate.per_second);
            let mut trials = others.flat_map(|other| &other.trials);
            trials.any(|(trial, _)| trial.pace_per_second() >= rate.per_second)
        }
        Outcome::NotSustained(_) | Outcome::GeneratorBound => true,
    }
}

/// Returns a rate to be tried again because a sustained rate is higher than what the server
/// answered when it got more. There is none once both were tried again: then its capacity does
/// fall.
fn doubtful_of_a_fall(rates: &[TriedRate]) -> Option<&TriedRate> {
    let sustained = rates.iter().filter(|rate| rate.outcome() == Outcome::Sustained);
    let mut falls = sustained.flat_map(|low| {
        let above = rates.iter().filter(move |high| high.per_second > low.per_second);
        let above = above.filter(|high| high.is_failed());
        let falling = above.filter(move |high| {
            high.failing_pace().is_some_and(|pace| is_below(pace, 99, low.per_second))
        });
        falling.map(move |high| (low, high))
    });
    let is_sure =
        |(low, high): (&TriedRate, &TriedRate)| !low.is_tried_once() && !high.is_tried_once();
    if falls.clone().any(is_sure) {
        return None;
    }
    let (low, high) = falls.next()?;
    Some(if high.is_tried_once() { high } else { low })
}

/// Returns the first rate to try below one that failed, if none is sustained: just below the rate
/// of its answers, or the half if that was no good advice before.
fn first_below(high: &TriedRate, failed: usize) -> u64 {
    let advised = high.failing_pace().filter(|_| failed == 1);
    let next = advised.map_or(high.per_second / 2, |pace| pace - step(pace));
    next.clamp((high.per_second / FALL_PARTS_MAX).max(1), high.per_second - 1)
}

/// Returns the next rate to try between one that is sustained and one that failed; `None` if they
/// are close enough.
fn between(low: u64, high: &TriedRate) -> Option<u64> {
    let (pace, high) = (high.failing_pace(), high.per_second);
    if high - low <= (high / WIDTH_PARTS).max(1) {
        return None;
    }
    let middle = (u128::from(low) * u128::from(high)).isqrt() as u64;
    // If the server answered less than it sustains, that is no advice.
    let advised = pace.filter(|pace| !is_below(*pace, 95, low)).and_then(|pace| {
        let below = pace.min(high) - step(pace.min(high));
        let above = pace.max(low) + step(pace.max(low));
        let is_above_low = below > low + step(low) / 2;
        if is_above_low { Some(below) } else { Some(above).filter(|above| *above < high) }
    });
    Some(advised.unwrap_or(middle).clamp(low + 1, high - 1))
}

/// Returns by how much the rates to try lie below and above a rate that they are to enclose.
fn step(rate: u64) -> u64 {
    rate / (2 * WIDTH_PARTS)
}

#[cfg(test)]
mod tests;
