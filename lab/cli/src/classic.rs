//! `tiebreak classic`: the Confidence Sequence Method as published, for scripts: its functions, its
//! driver and its power.

use crate::exit;
use crate::io::Io;
use crate::quantities::above_0;
use clap::{Args, Subcommand};
use tiebreak_lab::LabError;
use tiebreak_lab::classic::{self, DriverOptions, PowerOptions};

#[derive(Debug, Args)]
pub struct ClassicOptions {
    #[command(subcommand)]
    function: Function,
}

#[derive(Debug, Subcommand)]
enum Function {
    /// Whether S successes in N trials rule out the success rate ALPHA: 0 or 1, and ln of the level
    #[command(override_usage = "\
tiebreak classic csm <N> <ALPHA> <S> <LOG_EPS>
       tiebreak classic csm --stdin")]
    Csm(Words),

    /// An upper bound of ln C(N, S)
    #[command(override_usage = "\
tiebreak classic log-choose <N> <S>
       tiebreak classic log-choose --stdin")]
    LogChoose(Words),

    /// A bound of the ALPHA (lower) or 1 - ALPHA (upper) quantile of Beta(A, B), from outside
    #[command(override_usage = "\
tiebreak classic beta-icdf <A> <B> <ALPHA> <lower|upper>
       tiebreak classic beta-icdf --stdin")]
    BetaIcdf(Words),

    /// The rank from 0 in N sorted values at which an end of the interval of the quantile Q lies
    #[command(override_usage = "\
tiebreak classic quantile-index <N> <Q> <LOG_EPS> <lower|estimate|upper>
       tiebreak classic quantile-index --stdin")]
    QuantileIndex(Words),

    /// The test over a stream of 0 and 1, one a line, until it decides
    Driver(DriverWords),

    /// How often the test would decide rightly in time, found by simulation
    Power(PowerWords),
}

/// A case, or the word that cases come on standard input.
#[derive(Debug, Args)]
struct Words {
    /// The arguments in order
    #[arg(value_name = "WORD", allow_negative_numbers = true)]
    words: Vec<String>,

    /// Read cases from standard input, one a line
    #[arg(long, conflicts_with = "words")]
    stdin: bool,
}

/// What is tested, and on which stream.
#[derive(Debug, Args)]
struct DriverWords {
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
    #[arg(long, value_name = "N", value_parser = above_0::<u64>())]
    max_count: Option<u64>,
}

/// A test to be tried out.
#[derive(Debug, Args)]
struct PowerWords {
    /// The true success rate of the simulated trials
    #[arg(allow_negative_numbers = true)]
    p: f64,

    /// The threshold of the test
    #[arg(allow_negative_numbers = true)]
    alpha: f64,

    /// The most trials of one test
    #[arg(value_parser = above_0::<u64>())]
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
    #[arg(long, value_name = "N", value_parser = above_0::<u64>())]
    max_attempts: Option<u64>,

    /// What the simulated trials are drawn from: any text
    #[arg(long, value_name = "TEXT", default_value = "classic")]
    seed: String,
}

pub fn run(options: &ClassicOptions, io: &mut Io) -> Result<u8, LabError> {
    let is_decided = match &options.function {
        Function::Csm(words) => return answer(&classic::CSM, words, io),
        Function::LogChoose(words) => return answer(&classic::LOG_CHOOSE, words, io),
        Function::BetaIcdf(words) => return answer(&classic::BETA_ICDF, words, io),
        Function::QuantileIndex(words) => return answer(&classic::QUANTILE_INDEX, words, io),
        Function::Driver(words) => {
            let DriverWords { alpha, alpha_hi, eps, min_count, max_count } = *words;
            let options = DriverOptions { alpha, alpha_hi, eps, min_count, max_count };
            let input = io.take_input();
            classic::drive(&options, input, |text| io.out(text))?
        }
        Function::Power(words) => {
            let PowerWords {
                p, alpha, max_count, alpha_hi, eps, success_rate, max_attempts, ..
            } = *words;
            let options =
                PowerOptions { p, alpha, alpha_hi, max_count, eps, success_rate, max_attempts };
            classic::power(&options, &words.seed, |text| io.out(text))?
        }
    };
    Ok(if is_decided { exit::HOLDS } else { exit::OPEN })
}

/// Answers the case of the command line, or each line of standard input.
fn answer(function: &classic::Function, words: &Words, io: &mut Io) -> Result<u8, LabError> {
    if words.stdin {
        function.of_lines(&mut io.take_input(), |answer| {
            io.out(&(answer + "\n"));
            !io.out_is_closed()
        })?;
    } else {
        io.out(&(function.of_words(&words.words)? + "\n"));
    }
    Ok(exit::HOLDS)
}
