//! Adds lines of a stream to the evidence.

use super::Referee;
use crate::claim_test::ClaimTest;
use tiebreak_core::journal::Event;
use tiebreak_core::sample::Reading;

impl Referee {
    /// Adds lines of a stream to the evidence of its claim.
    pub(super) fn take_lines(&mut self, event: &Event) {
        let Event::Observed {
            lines,
            successes,
            failure_runs,
            values,
            transitions,
            by_age,
            elapsed_ns,
        } = event
        else {
            return;
        };
        self.elapsed_ns = *elapsed_ns;
        self.rounds += lines;
        for (claim, planned) in self.claims.iter_mut().zip(&self.plan.claims) {
            let failures = lines - successes;
            self.seen[planned.left].take_lines(*lines, failures, planned.claim.metric, values);
            if !claim.is_open() {
                continue;
            }
            if planned.claim.statement.is_about_quantile() {
                claim.readings.extend(values.iter().copied().map(Reading::exact));
            }
            let settled = match &mut claim.test {
                ClaimTest::Share(test) => {
                    test.observe_lines(*lines, *successes, *failure_runs, transitions, by_age)
                }
                ClaimTest::Mean(test) => {
                    values.iter().fold(None, |_, value| test.observe(Reading::exact(*value)))
                }
                ClaimTest::Ratio(_) | ClaimTest::MeanRatio(_) => None,
            };
            if settled.is_some() {
                claim.ended_ns = Some(*elapsed_ns);
            }
        }
    }
}
