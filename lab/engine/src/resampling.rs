//! `tiebreak exact`: tests whether two finished sets of numbers differ, by resampling.

mod decided;
mod drawing;
mod interval;
pub mod numbers;
mod program;
mod result;
#[cfg(test)]
mod tests;

use crate::error::LabError;
use decided::{by_classic, by_mixture};
use drawing::Drawing;
use numbers::Numbers;
use std::sync::atomic::AtomicBool;
use tiebreak_core::resampling::{Null, ResamplingMethod, ResamplingResult, Sides};
use tiebreak_stats::classic::{Driver, DriverOptions};
use tiebreak_stats::exact::{self, Design, ExactTest, Statistic};

/// The error of the classic method as published.
pub const CLASSIC_ERROR: f64 = 1e-9;
/// The default error of statements about p.
pub const ERROR: f64 = 1e-3;

/// A question about two sets.
#[derive(Clone, Debug)]
pub struct Question {
    /// The first set.
    pub x: Numbers,
    /// The second set.
    pub y: Numbers,
    /// The statistic that is computed.
    pub statistic: StatisticOf,
    /// Whether differences count as they are, and not relative to their spread.
    pub is_plain: bool,
    /// Whether the numbers at the same index of X and Y are a pair.
    pub is_paired: bool,
    /// What counts as extreme.
    pub sides: Sides,
    /// The null hypothesis.
    pub null: Null,
    /// The level.
    pub alpha: f64,
    /// The error of statements about p.
    pub error: f64,
    /// The most permutations.
    pub permutations_max: u64,
    /// The rule by which it stops.
    pub method: ResamplingMethod,
    /// The seed of the permutations.
    pub seed: String,
}

impl Question {
    /// Returns whether differences count relative to their spread. Those of pairs need not: only
    /// their signs are drawn.
    fn is_studentised(&self) -> bool {
        !self.is_plain && !self.is_paired && matches!(self.statistic, StatisticOf::Each(_))
    }

    fn design(&self) -> Design {
        if self.is_paired { Design::Pairs } else { Design::Sets }
    }

    /// Returns, for each pair, the number of Y minus that of X.
    fn pair_differences(&self) -> Vec<f64> {
        self.y.values.iter().zip(&self.x.values).map(|(y, x)| y - x).collect()
    }
}

/// The source of the statistic.
#[derive(Clone, Debug, PartialEq)]
pub enum StatisticOf {
    /// A built-in one, of each set; the difference is Y's minus X's.
    Each(Statistic),
    /// A program, of both sets.
    Program(String),
}

/// Answers the question. Calls `watch` after each permutation with the number of permutations and
/// of extreme ones.
///
/// If `stop` is set, the answer is what is known at that time. Costs, for each permutation, as many
/// coins as the smaller set has numbers and a pass over both.
///
/// # Errors
/// Fails if a number is out of its range, a shift is combined with a two-sided statistic of a
/// program, or the program fails.
pub fn answer(
    question: &Question,
    stop: &AtomicBool,
    mut watch: impl FnMut(u64, u64),
) -> Result<ResamplingResult, LabError> {
    check(question)?;
    let Some(mut drawing) = Drawing::start(question, stop)? else {
        return Err(LabError::Interrupted);
    };
    match question.method {
        ResamplingMethod::Mixture => {
            let mut test = ExactTest::new(question.alpha, question.error);
            while test.permutations() < question.permutations_max {
                let Some(extreme) = drawing.next() else { break };
                let ended = test.observe(extreme);
                watch(test.permutations(), test.extreme());
                if ended.is_some() {
                    break;
                }
            }
            let shift = interval::of(question, test.permutations(), stop);
            result::of(question, drawing, &by_mixture(&test), shift)
        }
        ResamplingMethod::Classic => {
            let driver = Driver::new(&classic_options(question))
                .map_err(|error| LabError::Usage(error.to_string()))?;
            let progress = driver.run(&mut drawing, |progress| watch(progress.n, progress.s));
            result::of(question, drawing, &by_classic(&driver, &progress), None)
        }
    }
}

fn check(question: &Question) -> Result<(), LabError> {
    let usage = |text: String| Err(LabError::Usage(text));
    let open = |value: f64| value > 0.0 && value < 1.0;
    if !open(question.alpha) || !open(question.error) {
        return usage("--alpha and --error must be above 0 and below 1".to_owned());
    }
    match question.null {
        Null::Shift { by } if !by.is_finite() => {
            return usage("--shift must be a finite number".to_owned());
        }
        Null::Ratio { factor } if !(factor.is_finite() && factor > 0.0) => {
            return usage("--ratio must be a finite number above 0".to_owned());
        }
        _ => {}
    }
    let by_program = matches!(question.statistic, StatisticOf::Program(_));
    if by_program && question.sides == Sides::Two && question.null != Null::Same {
        return usage(
            "what a program computes has no known middle under --shift or --ratio: say --sides \
             greater or --sides less"
                .to_owned(),
        );
    }
    let counts = [question.x.values.len(), question.y.values.len()];
    if question.is_paired && counts[0] != counts[1] {
        return usage(format!(
            "--paired takes numbers at one place of X and Y for a pair, and there are {} and {}",
            counts[0], counts[1]
        ));
    }
    let least = exact::least_permutations(question.alpha);
    if question.method == ResamplingMethod::Mixture && question.permutations_max < least {
        return usage(format!(
            "{} permutations cannot prove anything at --alpha {}: that takes {least}",
            question.permutations_max, question.alpha
        ));
    }
    Ok(())
}

fn classic_options(question: &Question) -> DriverOptions {
    DriverOptions {
        alpha: question.alpha / 2.0,
        alpha_hi: Some(question.alpha),
        eps: question.error,
        min_count: 0,
        max_count: Some(question.permutations_max),
    }
}
