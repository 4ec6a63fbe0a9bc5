//! The command line: every command, each with its help and an example.

use clap::{Parser, Subcommand};

/// Which of two programs is faster, proven: runs them fairly, stops as soon as the evidence is
/// conclusive at the error you chose, and says how sure it is.
#[derive(Debug, Parser)]
#[command(
    name = "tiebreak",
    version,
    max_term_width = 100,
    mut_subcommands = crate::options::described,
    after_help = "\
Example:
  tiebreak compare 'gzip -1 -c text.txt' 'gzip -6 -c text.txt'

Exit codes: 0 holds (without a claim: an order, or too close, is proven), 1 refuted,
2 undecided or too close, 3 void, 64 usage, 65 bad input, 70 a fault of tiebreak's own,
130 interrupted."
)]
pub struct Arguments {
    #[command(subcommand)]
    /// What to do.
    pub command: Command,
}

#[derive(Debug, Subcommand)]
pub enum Command {
    /// Race whole programs: which is faster, by how much, how sure
    #[command(after_help = "\
Examples:
  tiebreak compare 'gzip -1 -c text.txt' 'gzip -6 -c text.txt'
  tiebreak compare 'sort text.txt' 'gzip -c text.txt' --claim 'A is faster than B' --budget 10s
  tiebreak compare 'gzip -{level} -c' --parameter level=1,6 --input text.txt --check exit
  tiebreak compare 'sort text.txt' 'gzip -c text.txt' --mean --timeout 100ms --budget 5s
  tiebreak compare --base origin/main --build 'cc -O2 -o app app.c' ./app --budget 5s

Without --claim it says which is faster, or that they are too close to matter. Commands are split
into words as a shell does, but no shell is started unless --shell asks for one.

With --base two revisions of a repository are checked out beside it, built, and raced: the verdict
is whether head is no more than 2% slower than base, and only a proof that it is slower fails.")]
    Compare(Box<crate::compare::CompareOptions>),

    /// Compare a program with itself: how often does this machine cry wolf, and what can it find?
    #[command(after_help = "\
Example:
  tiebreak aa 'gzip -1 -c text.txt' --comparisons 20 --rounds-each 30 --budget 10s

Exit code 1 says that the rate of false verdicts is proven to be above the error asked for.")]
    Aa(Box<crate::aa::AaOptions>),

    /// Go on with a run that was killed, interrupted or out of budget
    #[command(after_help = "\
Example:
  tiebreak resume latest --more 20s

The evidence of a run stays: the same hypothesis goes on where it stood. Of a stream (slo --stdin)
the new lines are read from standard input. Only the budget may change; a run on another machine,
or of files that have changed, is refused.")]
    Resume(crate::resume::ResumeOptions),

    /// The verdict of a run again, bit for bit, from its journal alone
    #[command(after_help = "\
Example:
  tiebreak replay latest")]
    Replay(crate::journals::ReplayOptions),

    /// What was measured before
    #[command(after_help = "\
Example:
  tiebreak history --limit 5
  tiebreak history --watch

With --watch the exit code is 1 if the latest run of a claim raises the alarm.")]
    History(crate::history::HistoryOptions),

    /// The report of a run again, finished or not
    #[command(after_help = "\
Example:
  tiebreak show latest")]
    Show(crate::journals::ShowOptions),

    /// A run as data: samples as CSV, the result as JSON, or the whole journal
    #[command(after_help = "\
Example:
  tiebreak export latest --csv samples.csv --json result.json --journal run.jsonl")]
    Export(crate::journals::ExportOptions),

    /// How often a command succeeds, or how many of a stream's values are good: proven
    #[command(after_help = crate::slo::EXAMPLES)]
    Slo(Box<crate::slo::SloOptions>),

    /// Whether two sets of numbers differ: an exact test by resampling
    #[command(after_help = crate::exact::EXAMPLES)]
    Exact(Box<crate::exact::ExactOptions>),

    /// How many rounds a claim will need, and how often it will end within a budget
    #[command(after_help = crate::power::EXAMPLES)]
    Power(Box<crate::power::PowerOptions>),

    /// Every claim of a file, under one error: what CI calls
    #[command(after_help = crate::check::EXAMPLES)]
    Check(Box<crate::check::CheckOptions>),

    /// Functions in any language, from source: built, judged, raced, beside what was published
    #[command(subcommand, after_help = crate::study::EXAMPLES)]
    Study(crate::study::StudyCommand),

    /// What this machine is, measured: cores, clocks, caches, bandwidth, noise, energy
    #[command(after_help = crate::machine::EXAMPLES)]
    Machine(Box<crate::machine::MachineArguments>),

    /// A run as one page of HTML
    #[command(after_help = crate::journals::REPORT_EXAMPLES)]
    Report(crate::journals::ReportOptions),

    /// The published functions of the Confidence Sequence Method, for scripts
    #[command(after_help = crate::classic::EXAMPLES)]
    Classic(crate::classic::ClassicOptions),

    /// A script that completes tiebreak's options in your shell
    #[command(after_help = "\
Example:
  tiebreak completions bash")]
    Completions {
        /// The shell
        shell: clap_complete::Shell,
    },

    /// What aa runs if no program is named: some milliseconds of work
    #[command(name = "__work", hide = true)]
    Work,
}
