//! `tiebreak classic`: the Confidence Sequence Method as published, for scripts: its functions, its
//! driver and its power.

mod cases;
mod digits;
mod input;
mod report;
mod simulate;

use crate::failure::Failure;
use crate::io::Io;
use clap::{Args, Subcommand};

pub const EXAMPLES: &str = "\
Examples:
  tiebreak classic csm 4000 0.98 3972 -6.907755278982137
  tiebreak classic log-choose 1000 500
  tiebreak classic beta-icdf 3972 28 0.001 upper
  tiebreak classic quantile-index 10000 0.99 -4.605170185988091 lower
  tiebreak classic power 0.97 0.96 1000 --alpha-hi 0.98 --eps 0.001
  printf '10 5\\n20 10\\n' | tiebreak classic log-choose --stdin
  yes 0 | tiebreak classic driver --alpha 0.005 --alpha-hi 0.01 --eps 1e-9

Results have 17 significant digits, enough to read the same number back. With --stdin, blank lines
and what follows a # are skipped; the first line that is wrong ends the command with exit code 65,
after the results of the lines before it.

For new work use 'tiebreak slo': it decides the same questions with fewer trials.";

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
    Driver(simulate::DriverWords),

    /// How often the test would decide rightly in time, found by simulation
    Power(simulate::PowerWords),
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

pub fn run(options: &ClassicOptions, io: &mut Io) -> Result<u8, Failure> {
    match &options.function {
        Function::Csm(words) => cases::run(&cases::CSM, &words.words, words.stdin, io),
        Function::LogChoose(words) => cases::run(&cases::LOG_CHOOSE, &words.words, words.stdin, io),
        Function::BetaIcdf(words) => cases::run(&cases::BETA_ICDF, &words.words, words.stdin, io),
        Function::QuantileIndex(words) => {
            cases::run(&cases::QUANTILE_INDEX, &words.words, words.stdin, io)
        }
        Function::Driver(words) => simulate::drive(words, io),
        Function::Power(words) => simulate::power(words, io),
    }
}
