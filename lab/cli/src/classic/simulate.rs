//! The driver on a stream, and its power.

use super::input::next_line;
use super::report::{Schedule, line, summary};
use crate::exit;
use crate::failure::Failure;
use crate::io::Io;
use clap::Args;
use std::io::BufRead;
use tiebreak_lab::stats::classic::{
    ClassicError, Driver, DriverOptions, Power, PowerOptions, Progress,
};
use tiebreak_lab::stats::coins::{Purpose, Seed, Stream};

/// What is tested, and on which stream.
#[derive(Debug, Args)]
#[command(after_help = "\
Example:
  yes 0 | tiebreak classic driver --alpha 0.005 --alpha-hi 0.01 --eps 1e-9

Standard input holds 1 for a success and 0 for a failure, one a line; blank lines and what follows a
# are skipped. It is read until the test decides. Each line of the report holds: trials, share of
successes, both ends of the interval, and how many powers of ten the level is below 1. The error is
split evenly over the thresholds and the interval.

Exit codes: 0 the rate differs from a threshold, 2 it cannot be told from either so far.")]
pub struct DriverWords {
    /// The threshold that the success rate is compared with, above 0 and below 1
    #[arg(long, value_name = "RATE", allow_negative_numbers = true)]
    alpha: f64,

    /// A second threshold
    #[arg(long, value_name = "RATE", allow_negative_numbers = true)]
    alpha_hi: Option<f64>,

    /// The error rate of all that is said together
    #[arg(long, value_name = "RATE", default_value_t = 1e-5, allow_negative_numbers = true)]
    eps: f64,

    /// No stop before this many trials
    #[arg(long, value_name = "N", default_value_t = 0)]
    min_count: u64,

    /// No more trials than this
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u64).range(1..))]
    max_count: Option<u64>,
}

/// A test to be tried out.
#[derive(Debug, Args)]
#[command(after_help = "\
Example:
  tiebreak classic power 0.97 0.96 1000 --alpha-hi 0.98 --eps 0.001

Tests trials of rate P against ALPHA again and again, and tests whether that succeeds more or less
often than --success-rate, at an error of 1e-9 and after 100 attempts or more. If the two are nearly
the same that takes very long: limit it with --max-attempts.

Exit codes: 0 the share of successes differs from --success-rate, 2 it cannot be told so far.")]
pub struct PowerWords {
    /// The true success rate of the simulated trials
    #[arg(allow_negative_numbers = true)]
    p: f64,

    /// The threshold of the test
    #[arg(allow_negative_numbers = true)]
    alpha: f64,

    /// The most trials of one test
    #[arg(value_parser = clap::value_parser!(u64).range(1..))]
    max_count: u64,

    /// A second threshold
    #[arg(long, value_name = "RATE", allow_negative_numbers = true)]
    alpha_hi: Option<f64>,

    /// The error rate of the test
    #[arg(long, value_name = "RATE", default_value_t = 1e-5, allow_negative_numbers = true)]
    eps: f64,

    /// The share of tests that should decide rightly
    #[arg(long, value_name = "RATE", default_value_t = 0.99, allow_negative_numbers = true)]
    success_rate: f64,

    /// The most tests to simulate
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u64).range(1..))]
    max_attempts: Option<u64>,

    /// What the simulated trials are drawn from: any text
    #[arg(long, value_name = "TEXT", default_value = "classic")]
    seed: String,
}

/// Converts an error of an argument, named by its option.
fn refuse(error: ClassicError) -> Failure {
    let name = match error.argument {
        "p" => "<P>".to_owned(),
        option => format!("--{}", option.replace('_', "-")),
    };
    Failure::usage(format!("{name} is {}, but must be {}", error.value, error.expected))
}

/// Tests the stream on standard input.
pub fn drive(words: &DriverWords, io: &mut Io) -> Result<u8, Failure> {
    let DriverWords { alpha, alpha_hi, eps, min_count, max_count, .. } = *words;
    let driver = DriverOptions { alpha, alpha_hi, eps, min_count, max_count };
    let driver = Driver::new(&driver).map_err(refuse)?;
    let mut outcomes = Outcomes { input: io.take_input(), number: 0, wrong: None };
    let mut schedule = Schedule::new();
    let end = driver.run(&mut outcomes, |progress| {
        if schedule.is_due(progress.n) {
            io.out(&line(&driver, progress));
        }
    });
    if let Some(wrong) = outcomes.wrong {
        return Err(Failure::data(wrong));
    }
    io.out(&summary(&driver, &end));
    Ok(code(&end))
}

/// The stream of 0 and 1, which ends at the first other line.
struct Outcomes<R> {
    input: R,
    number: u64,
    wrong: Option<String>,
}

impl<R: BufRead> Iterator for Outcomes<R> {
    type Item = bool;

    fn next(&mut self) -> Option<bool> {
        let line = next_line(&mut self.input, &mut self.number);
        let read = line.and_then(|line| {
            let Some(line) = line else { return Ok(None) };
            let words: Vec<&str> = line.words.iter().map(String::as_str).collect();
            match words[..] {
                ["0"] => Ok(Some(false)),
                ["1"] => Ok(Some(true)),
                _ => {
                    let (number, text) = (line.number, words.join(" "));
                    Err(format!("line {number}: '{text}' is neither 0 nor 1, a trial's outcome"))
                }
            }
        });
        read.unwrap_or_else(|wrong| {
            self.wrong = Some(wrong);
            None
        })
    }
}

/// Simulates tests.
pub fn power(words: &PowerWords, io: &mut Io) -> Result<u8, Failure> {
    let PowerWords { p, alpha, max_count, alpha_hi, eps, success_rate, max_attempts, .. } = *words;
    let power = PowerOptions { p, alpha, alpha_hi, max_count, eps, success_rate, max_attempts };
    let power = Power::new(&power).map_err(refuse)?;
    let mut stream = Stream::new(Seed::from_text(&words.seed), Purpose::Simulation, 0, 0);
    let mut schedule = Schedule::new();
    let result = power.run(
        || stream.unit(),
        |progress| {
            if schedule.is_due(progress.n) {
                io.out(&line(power.outer(), progress));
            }
        },
    );
    io.out(&summary(power.outer(), &result.progress));
    io.out(&format!("max inner iteration count: {}\n", result.inner_count_max));
    Ok(code(&result.progress))
}

fn code(progress: &Progress) -> u8 {
    if progress.is_decided() { exit::HOLDS } else { exit::OPEN }
}
