//! Draws permutations and measures them.

use super::program::{NoAnswer, Program};
use super::{Question, StatisticOf};
use crate::error::LabError;
use std::sync::atomic::{AtomicBool, Ordering};
use tiebreak_core::resampling::Sides;
use tiebreak_stats::coins::Seed;
use tiebreak_stats::exact::{Difference, Resampler, Statistic, is_extreme};

/// The number of differences that are kept for the histogram: the first ones.
const KEPT_MAX: usize = 1 << 16;

/// The permutations as they are drawn, and what is known about them.
pub(super) struct Drawing<'a> {
    resampler: Resampler,
    measure: Measure,
    sides: Sides,
    pub observed: Difference,
    pub kept: Vec<f64>,
    stop: &'a AtomicBool,
    /// Why no more can be drawn.
    pub ended: Option<NoAnswer>,
}

enum Measure {
    Each { statistic: Statistic, is_studentised: bool },
    Program(Box<Program>),
}

impl<'a> Drawing<'a> {
    /// Measures the sets as they are; `None` if it was interrupted.
    pub fn start(
        question: &Question,
        stop: &'a AtomicBool,
    ) -> Result<Option<Drawing<'a>>, LabError> {
        let seed = Seed::from_text(&question.seed);
        let (x, y) = (&question.x.values, &question.y.values);
        let measure = match &question.statistic {
            StatisticOf::Each(statistic) => {
                Measure::Each { statistic: *statistic, is_studentised: question.is_studentised() }
            }
            StatisticOf::Program(command) => Measure::Program(Box::new(Program::start(command)?)),
        };
        let nothing = Difference { value: 0.0, size: 0.0 };
        let design = question.design();
        let mut drawing = Drawing {
            resampler: Resampler::new(design, x, y, question.null, seed),
            measure,
            sides: question.sides,
            observed: nothing,
            kept: Vec::new(),
            stop,
            ended: None,
        };
        match drawing.measure() {
            Ok(observed) => drawing.observed = observed,
            Err(NoAnswer::Interrupted) => return Ok(None),
            Err(NoAnswer::Failed(error)) => return Err(error),
        }
        let value = drawing.observed.value;
        if value.is_nan() || value.is_infinite() && !question.is_studentised() {
            return Err(LabError::Numbers {
                place: format!("{} and {}", question.x.name, question.y.name),
                what: "the numbers are too large for their difference to be computed".to_owned(),
            });
        }
        Ok(Some(drawing))
    }

    fn measure(&mut self) -> Result<Difference, NoAnswer> {
        match &mut self.measure {
            Measure::Each { statistic, is_studentised } => {
                Ok(self.resampler.difference(*statistic, *is_studentised))
            }
            Measure::Program(program) => {
                let (x, y) = self.resampler.as_observed();
                let value = program.ask(x, &y, self.stop)?;
                Ok(Difference { value, size: value.abs() })
            }
        }
    }
}

impl Iterator for Drawing<'_> {
    type Item = bool;

    /// Draws the next permutation and returns whether it is extreme; `None` if no more can be
    /// drawn.
    fn next(&mut self) -> Option<bool> {
        if self.stop.load(Ordering::Relaxed) {
            self.ended = Some(NoAnswer::Interrupted);
        }
        if self.ended.is_some() {
            return None;
        }
        self.resampler.draw();
        match self.measure() {
            Ok(difference) => {
                if self.kept.len() < KEPT_MAX {
                    self.kept.push(difference.value);
                }
                Some(is_extreme(self.sides, difference, self.observed))
            }
            Err(no_answer) => {
                self.ended = Some(no_answer);
                None
            }
        }
    }
}
