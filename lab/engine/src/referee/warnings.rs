//! What a reader of the result should know at this time.

use super::Referee;
use crate::claim_test::ClaimTest;
use crate::referee::effect;
use tiebreak_core::metric::Metric;
use tiebreak_core::plan::{Gate, Kind, PlannedClaim};
use tiebreak_core::verdict::Verdict;
use tiebreak_core::warning::Warning;
use tiebreak_stats::decide::SequentialTest;
use tiebreak_stats::dependence::is_serial;
use tiebreak_stats::drift::Drift;
use tiebreak_stats::exact::Order;
use tiebreak_stats::observation::{self, LogRatio};
use tiebreak_stats::ratio_test::RatioTest;
use tiebreak_stats::share_test::ShareTest;

/// A smaller change of a contestant's time on a CPU along a run is not reported.
const GROWTH_MIN: f64 = 0.1;

impl Referee {
    /// Returns the current warnings: those of the run, of its claims, contestants and samples.
    /// `is_over` adds those that only hold when no more rounds come.
    pub fn warnings(&self, cpus: f64, is_over: bool) -> Vec<Warning> {
        let mut warnings = self.warnings.clone();
        for (index, planned) in self.plan.claims.iter().enumerate() {
            warnings.extend(self.claim_warnings(index, planned, is_over));
        }
        for (index, seen) in self.seen.iter().enumerate().filter(|(_, seen)| seen.timed_out > 0) {
            let contestant = self.plan.contestants[index].name.clone();
            let is_cap =
                self.plan.claims.iter().any(|claim| self.plan.caps_at_timeout(claim, index));
            warnings.push(Warning::TimedOut { contestant, samples: seen.timed_out, is_cap });
        }
        for (seen, contestant) in self.seen.iter().zip(&self.plan.contestants) {
            let served = seen.served.as_ref().filter(|served| served.lossy > 0);
            warnings.extend(served.map(|served| Warning::LostMessages {
                contestant: contestant.name.clone(),
                lost: served.counts.lost,
                arrivals: served.counts.arrived + served.counts.lost,
                samples: served.lossy,
            }));
        }
        let messages = self.loads.iter().map(|load| load.counts.duplicated).sum();
        if messages > 0 {
            warnings.push(Warning::CameAgain { messages });
        }
        let charged = self.claims.iter().any(|claim| claim.test.is_charged());
        let attempts = self.lost - if charged { 0 } else { self.lost_to_faults };
        if attempts > 0 {
            warnings.push(Warning::LostAttempts { attempts, charged });
        }
        if is_over && self.plan.functions.is_none() && self.plan.kind == Kind::Compare {
            warnings.extend((0..self.seen.len()).filter_map(|index| self.growing(index)));
        }
        if self.plan.adjust.strata && self.rounds_without_delay > 0 {
            warnings.push(Warning::NoRunDelay);
        }
        warnings.extend(self.oddities.warnings(cpus));
        warnings
    }

    fn claim_warnings(&self, index: usize, planned: &PlannedClaim, is_over: bool) -> Vec<Warning> {
        let claim = &self.claims[index];
        let text = &planned.claim.text;
        let mut warnings = Vec::new();
        if claim.test.rounds() > 0 && claim.test.limits_cross() {
            warnings.push(Warning::LimitsCross { claim: text.clone() });
        }
        if claim.coarse_rounds * 2 > claim.test.rounds().max(1) {
            let metric = planned.claim.metric;
            warnings.push(Warning::CoarseClock {
                step: metric.step(self.plan.clock_step_ns),
                unit: Some(metric.unit()),
                of_means: matches!(claim.test, ClaimTest::MeanRatio(_)),
            });
        }
        if let ClaimTest::Ratio(test) = &claim.test {
            if let Some(slot) = test.slot_effect().filter(|slot| slot.is_active) {
                let cost = observation::factor(slot.effect) - 1.0;
                warnings.push(Warning::SlotTakenOut { claim: text.clone(), cost });
            }
            let (rounds, of) = (test.weighted_rounds(), test.rounds());
            if rounds > 0 {
                warnings.push(Warning::Weighted { rounds, of });
            }
            if is_over && self.plan.functions.is_none() {
                warnings.extend(self.drifting(test, planned));
            }
        }
        if let ClaimTest::Share(test) = &claim.test {
            warnings.extend(dependent(test, text.clone()));
            let z = self.values_z(index).filter(|z| is_serial(*z));
            warnings.extend(z.map(|z| Warning::Serial { claim: text.clone(), z }));
            if is_over && test.left_over() > 0 {
                let (lines, block) = (test.left_over(), test.block);
                warnings.push(Warning::LeftOver { lines, block });
            }
        }
        if let Some(spells) = effect::spells(self, index, true) {
            let mean_spell = spells.mean_spell.filter(|_| spells.is_dependent);
            warnings.extend(match spells.values_z.filter(|z| is_serial(*z)) {
                Some(z) => Some(Warning::Serial { claim: text.clone(), z }),
                None => {
                    mean_spell.map(|mean_spell| Warning::Spells { claim: text.clone(), mean_spell })
                }
            });
        }
        if is_over {
            warnings.extend(self.sooner(index, planned));
        }
        let verdict = self.verdict(index);
        let is_open = matches!(verdict, Verdict::TooClose | Verdict::Undecided);
        if is_over && is_open && planned.gate == Gate::OpenUnlessRefuted {
            warnings.push(Warning::GatePassed { claim: text.clone(), verdict });
        }
        warnings
    }

    fn drifting(&self, test: &RatioTest, planned: &PlannedClaim) -> Option<Warning> {
        let change = observation::factor(test.drift()?.change) - 1.0;
        let ran = [planned.left, planned.right?]
            .map(|one| (self.plan.contestants[one].name.clone(), self.seen[one].ran));
        Some(Warning::Drifts { claim: planned.claim.text.clone(), change, ran })
    }

    /// Warns if a contestant's times on a CPU change by a tenth or more, which other work hardly
    /// causes.
    fn growing(&self, index: usize) -> Option<Warning> {
        let (name, seen) = (&self.plan.contestants[index].name, &self.seen[index]);
        let times_ns = seen.values.get(&Metric::CpuTime)?;
        let logs: Vec<LogRatio> =
            times_ns.iter().map(|ns| LogRatio::exact(observation::log(ns.max(1.0)))).collect();
        let change = observation::factor(Drift::of(&logs)?.change) - 1.0;
        let (contestant, ran) = (name.clone(), seen.ran);
        (change.abs() >= GROWTH_MIN).then_some(Warning::Grows { contestant, change, ran })
    }

    /// Returns how much more alike neighbours are than by chance, in standard deviations, for a
    /// claim about a share whose observations are blocks, or lines with a value. Costs a sort.
    pub(crate) fn values_z(&self, claim: usize) -> Option<f64> {
        let claim = &self.claims[claim];
        let ClaimTest::Share(test) = &claim.test else { return None };
        if test.block > 1 {
            return test.blocks_z();
        }
        let is_stream = matches!(self.plan.kind, Kind::Stream { .. });
        let values = claim.readings.iter().filter(|_| is_stream).map(|reading| reading.high);
        Order::of(&values.collect::<Vec<_>>()).map(|order| order.z)
    }
}

/// Warns about bursts and spells, which matter if an observation is not many times as long as one
/// of them.
fn dependent(test: &ShareTest, claim: String) -> Option<Warning> {
    if test.is_chain {
        return test.is_bursty().then_some(Warning::Memory { claim });
    }
    if let Some(spells) = test.block_spells().filter(|spells| spells.is_long) {
        return Some(Warning::Uneven { claim, spell_lines: spells.spell_lines });
    }
    let dependence = test.dependence();
    let mean_burst = dependence.mean_burst.filter(|_| dependence.is_bursty_in(test.block))?;
    Some(Warning::Dependent { claim, mean_burst })
}
