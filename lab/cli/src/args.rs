//! The command line as types: every option once, with its help.

use crate::quantities::{self, CpuList, Parameter};
use clap::{Args, Parser, Subcommand, ValueEnum, ValueHint};
use std::path::PathBuf;
use tiebreak_lab::core::metric::Metric;
use tiebreak_lab::core::plan::{Adjust, Budget, Centre};

/// Which of two programs is faster, proven: runs them fairly, stops as soon as the evidence is
/// conclusive at the error you chose, and says how sure it is.
#[derive(Debug, Parser)]
#[command(
    name = "tiebreak",
    version,
    max_term_width = 100,
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
    Compare(Box<CompareOptions>),

    /// Compare a program with itself: how often does this machine cry wolf, and what can it find?
    #[command(after_help = "\
Example:
  tiebreak aa 'gzip -1 -c text.txt' --comparisons 20 --rounds-each 30 --budget 10s

Exit code 1 says that the rate of false verdicts is proven to be above the error asked for.")]
    Aa(Box<AaOptions>),

    /// Go on with a run that was killed, interrupted or out of budget
    #[command(after_help = "\
Example:
  tiebreak resume latest --more 20s

The evidence of a run stays: the same hypothesis goes on where it stood. Of a stream (slo --stdin)
the new lines are read from standard input. Only the budget may change; a run on another machine,
or of files that have changed, is refused.")]
    Resume(ResumeOptions),

    /// The verdict of a run again, bit for bit, from its journal alone
    #[command(after_help = "\
Example:
  tiebreak replay latest")]
    Replay(ReplayOptions),

    /// What was measured before
    #[command(after_help = "\
Example:
  tiebreak history --limit 5
  tiebreak history --watch

With --watch the exit code is 1 if the latest run of a claim raises the alarm.")]
    History(HistoryOptions),

    /// The report of a run again, finished or not
    #[command(after_help = "\
Example:
  tiebreak show latest")]
    Show(ShowOptions),

    /// A run as data: samples as CSV, the result as JSON, or the whole journal
    #[command(after_help = "\
Example:
  tiebreak export latest --csv samples.csv --json result.json --journal run.jsonl")]
    Export(ExportOptions),

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
    #[command(after_help = crate::report::EXAMPLES)]
    Report(crate::report::ReportOptions),

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

/// Options of every command that measures.
#[derive(Debug, Args)]
pub struct Measuring {
    /// The most that the probability of a wrong verdict may be, over the whole run
    #[arg(long, value_name = "RATE", default_value = "1%", allow_hyphen_values = true,
          value_parser = quantities::fraction)]
    pub error: f64,

    /// The most that the run may use: 30s, '500 rounds', or both with a comma [default: 60s a
    /// claim; of a stream, its end]
    #[arg(long, value_name = "BUDGET", allow_hyphen_values = true,
          value_parser = quantities::budget)]
    pub budget: Option<Budget>,

    /// The most rounds: as --budget 'N rounds'
    #[arg(long, short = 'r', visible_alias = "max-runs", visible_short_alias = 'M',
          value_name = "N", value_parser = clap::value_parser!(u64).range(1..))]
    pub runs: Option<u64>,

    /// Seed of every coin: any text [default: from the system, and printed]
    #[arg(long, value_name = "TEXT")]
    pub seed: Option<String>,

    /// Run the commands through this shell, such as sh or bash [default: none is started]
    #[arg(long, short = 'S', value_name = "SHELL")]
    pub shell: Option<String>,

    /// No shell: what happens anyway, for those whose fingers know it
    #[arg(short = 'N', conflicts_with = "shell")]
    pub no_shell: bool,

    /// Give this file to every run as standard input [default: nothing]
    #[arg(long, value_name = "FILE", value_hint = ValueHint::FilePath)]
    pub input: Option<String>,

    /// What becomes of standard output
    #[arg(long, value_enum, default_value_t = OutputName::Capture)]
    pub output: OutputName,

    /// A run that writes more than this is ended, and its contestant void
    #[arg(long, value_name = "SIZE", default_value = "256MiB", value_parser = quantities::bytes)]
    pub output_limit: u64,

    /// Run the commands in this folder
    #[arg(long, value_name = "DIR", value_hint = ValueHint::DirPath)]
    pub directory: Option<String>,

    /// What the programs work on, in a word, for claims that say 'on WORKLOAD' [default: the input]
    #[arg(long, value_name = "NAME")]
    pub workload: Option<String>,

    /// How outputs are judged: same-output, exit (status only), or a program that gets an output on
    /// standard input and accepts it with status 0 [default: outputs that agree in the first round
    /// must go on agreeing]
    #[arg(long, value_name = "RULE")]
    pub check: Option<String>,

    /// Exit statuses that are success, beside 0
    #[arg(long, value_name = "STATUS,...", value_delimiter = ',',
          value_parser = clap::value_parser!(i32).range(0..=255))]
    pub success: Vec<i32>,

    /// Any exit status is success
    #[arg(long, short = 'i')]
    pub ignore_failure: bool,

    /// End a run after this time; it then counts as 'at least that long', with --mean as exactly
    /// that long [default: 10 times the slowest of the first round, at least 10s]
    #[arg(long, value_name = "TIME", value_parser = quantities::duration_ns)]
    pub timeout: Option<u64>,

    /// Untimed runs of every program before the first round
    #[arg(long, short = 'w', value_name = "N", default_value_t = 0)]
    pub warmup: u32,

    /// Run on these CPUs only, such as 1 or 0,2-5 [default: where the kernel puts it]
    #[arg(long, value_name = "LIST", value_parser = quantities::cpus)]
    pub cpus: Option<CpuList>,

    /// Do not wait for a quiet machine before a round
    #[arg(long)]
    pub no_wait: bool,

    /// Write the result as JSON; - for standard output
    #[arg(long, value_name = "FILE", value_hint = ValueHint::FilePath)]
    pub json: Option<PathBuf>,

    /// The journal [default: the user's data folder]
    #[arg(long, value_name = "FILE", value_hint = ValueHint::FilePath)]
    pub store: Option<PathBuf>,

    /// No progress, and of the report the verdict only
    #[arg(long, short = 'q')]
    pub quiet: bool,

    /// Say what would be raced, and run nothing
    #[arg(long)]
    pub dry_run: bool,
}

/// Options of the commands that judge ratios.
#[derive(Debug, Args)]
pub struct Judging {
    /// How small a difference still matters; 0 for any [default: 1%; with --base 0.5%]
    #[arg(long, value_name = "SHARE", allow_hyphen_values = true,
          value_parser = quantities::fraction)]
    pub resolution: Option<f64>,

    /// What the ratio is: the median of paired ratios, one factor for all rounds, or the ratio of
    /// the mean times [default: median; with --adjust factor]
    #[arg(long, value_enum)]
    pub centre: Option<CentreName>,

    /// As --centre mean: who needs less in total, rare slow runs counted. Needs --timeout, as a run
    /// that takes longer is ended and counts as that long; the smaller it is, the sooner it ends
    #[arg(long, conflicts_with = "centre")]
    pub mean: bool,

    /// What is taken out of the noise before it is bet on: slot (what running second costs) and
    /// strata (rounds in which somebody waited for a CPU count less), with a comma, or none
    #[arg(long, value_name = "WHAT", default_value = "none", value_parser = quantities::adjust)]
    pub adjust: Adjust,

    /// How many runs make one observation, for claims about shares, quantiles and means: more than
    /// 1 where failures come in bursts
    #[arg(long, value_name = "N", default_value_t = 1,
          value_parser = clap::value_parser!(u64).range(1..))]
    pub block: u64,
}

#[derive(Debug, Args)]
pub struct CompareOptions {
    /// The programs: two or more, called A, B, ... or by --name; after --base one
    #[arg(value_name = "COMMAND", required = true, value_hint = ValueHint::CommandString)]
    pub commands: Vec<String>,

    /// Name of a program, in the order of the commands; one with spaces stands in quotes in a claim
    #[arg(long = "name", short = 'n', value_name = "NAME")]
    pub names: Vec<String>,

    /// A claim to settle, such as 'A is at least 1.5x faster than B'; may be repeated
    #[arg(long = "claim", value_name = "SENTENCE")]
    pub claims: Vec<String>,

    /// Without a claim: compare each with the first, or all pairs [default: first]
    #[arg(long, value_enum)]
    pub pairs: Option<Pairs>,

    /// Without a claim: the metric that is compared [default: wall time]
    #[arg(long, value_name = "METRIC", value_parser = quantities::metric)]
    pub by: Option<Metric>,

    /// Values for {name} in commands, hooks and names: level=1,6,9 or threads=1..8 or n=10..90..20;
    /// may be repeated
    #[arg(long = "parameter", short = 'L', visible_alias = "parameter-list",
          value_name = "NAME=VALUES", value_parser = quantities::parameter)]
    pub parameters: Vec<Parameter>,

    /// Run once before a program's first run, untimed; once for all, or once a command
    #[arg(long, short = 's', value_name = "CMD")]
    pub setup: Vec<String>,

    /// Run before every run, untimed; once for all, or once a command
    #[arg(long, short = 'p', value_name = "CMD")]
    pub prepare: Vec<String>,

    /// Run after every run, untimed; once for all, or once a command
    #[arg(long, short = 'C', value_name = "CMD")]
    pub conclude: Vec<String>,

    /// Run once after a program's last run; once for all, or once a command
    #[arg(long, short = 'c', value_name = "CMD")]
    pub cleanup: Vec<String>,

    #[command(flatten)]
    pub revisions: RevisionOptions,

    #[command(flatten)]
    pub judging: Judging,

    #[command(flatten)]
    pub measuring: Measuring,
}

/// Options that make a race one of two revisions, and a claim a gate.
#[derive(Debug, Args)]
#[command(next_help_heading = "Two revisions, and gates")]
pub struct RevisionOptions {
    /// Race this revision of the repository, called base, against --head: a branch, a tag, a commit
    #[arg(long, value_name = "REVISION", allow_hyphen_values = true)]
    pub base: Option<String>,

    /// The revision that is judged, called head; '.' is the working tree as it is [default: HEAD]
    #[arg(long, value_name = "REVISION", requires = "base", allow_hyphen_values = true)]
    pub head: Option<String>,

    /// Build each revision by this, through sh -c, in its own worktree; not timed
    #[arg(long, value_name = "CMD", requires = "base")]
    pub build: Option<String>,

    /// How many builds run at the same time: 1 or 2
    #[arg(long, value_name = "N", requires = "base", default_value_t = 1,
          value_parser = clap::value_parser!(u8).range(1..=2))]
    pub build_jobs: u8,

    /// Without a claim: how much slower head may be (by --by, how much more it may need)
    #[arg(long, value_name = "SHARE", requires = "base", default_value = "2%",
          allow_hyphen_values = true, value_parser = quantities::fraction)]
    pub max_slowdown: f64,

    /// Leave the worktrees where they are, so that the run can be resumed
    #[arg(long, requires = "base")]
    pub keep: bool,

    /// Only 'refuted' fails: 'too close' and 'undecided' pass with a warning; --base implies it
    #[arg(long)]
    pub gate: bool,

    /// Of a gate: only 'holds' passes
    #[arg(long)]
    pub strict: bool,
}

#[derive(Debug, Args)]
pub struct AaOptions {
    /// The program [default: some milliseconds of tiebreak's own work]
    #[arg(value_name = "COMMAND", value_hint = ValueHint::CommandString)]
    pub command: Option<String>,

    /// How many comparisons to make
    #[arg(long, value_name = "N", default_value_t = 200,
          value_parser = clap::value_parser!(u32).range(1..))]
    pub comparisons: u32,

    /// The most rounds of one comparison
    #[arg(long, value_name = "N", default_value_t = 60,
          value_parser = clap::value_parser!(u32).range(1..))]
    pub rounds_each: u32,

    #[command(flatten)]
    pub judging: Judging,

    #[command(flatten)]
    pub measuring: Measuring,
}

/// Which pairs are compared without a claim.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum Pairs {
    /// Each with the first
    First,
    /// Every pair
    All,
}

/// What the ratio is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum CentreName {
    /// One factor for all rounds
    Factor,
    /// The median of paired ratios
    Median,
    /// The ratio of the mean times, what lasts longer than --timeout counting as it
    Mean,
}

impl From<CentreName> for Centre {
    fn from(name: CentreName) -> Centre {
        match name {
            CentreName::Factor => Centre::Factor,
            CentreName::Median => Centre::Median,
            CentreName::Mean => Centre::Mean,
        }
    }
}

/// What becomes of standard output.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum OutputName {
    /// Kept in memory, and looked at when the clock has stopped
    Capture,
    /// Thrown away
    Null,
}

#[derive(Debug, Args)]
pub struct ResumeOptions {
    /// A run by its name or the beginning of it [default: the latest]
    pub run: Option<String>,

    /// The budget from here on, earlier rounds and seconds included
    #[arg(long, value_name = "BUDGET", allow_hyphen_values = true,
          value_parser = quantities::budget)]
    pub budget: Option<Budget>,

    /// Go on for so much longer, with all the evidence so far [default, if nothing is said: the
    /// run's own budget once more]
    #[arg(long, value_name = "BUDGET", num_args = 0..=1, conflicts_with = "budget",
          value_parser = quantities::more)]
    pub more: Option<Option<Budget>>,

    /// Write the result as JSON; - for standard output
    #[arg(long, value_name = "FILE", value_hint = ValueHint::FilePath)]
    pub json: Option<PathBuf>,

    /// The journal [default: the user's data folder]
    #[arg(long, value_name = "FILE", value_hint = ValueHint::FilePath)]
    pub store: Option<PathBuf>,

    /// No progress, and of the report the verdict only
    #[arg(long, short = 'q')]
    pub quiet: bool,
}

/// Where a journal is read from.
#[derive(Debug, Args)]
pub struct Source {
    /// A run by its name, or a file: an exported journal or another store [default: the latest run]
    #[arg(value_name = "RUN|FILE", value_hint = ValueHint::FilePath)]
    pub run: Option<String>,

    /// The journal [default: the user's data folder]
    #[arg(long, value_name = "FILE", value_hint = ValueHint::FilePath)]
    pub store: Option<PathBuf>,
}

#[derive(Debug, Args)]
pub struct ReplayOptions {
    #[command(flatten)]
    pub source: Source,

    /// How the chain over the journal must end, as a report of the run has it
    #[arg(long, value_name = "HASH", value_parser = quantities::chain_head)]
    pub head: Option<String>,

    /// Write the result as JSON; - for standard output
    #[arg(long, value_name = "FILE", value_hint = ValueHint::FilePath)]
    pub json: Option<PathBuf>,

    /// Of the report, the verdict only
    #[arg(long, short = 'q')]
    pub quiet: bool,
}

#[derive(Debug, Args)]
pub struct HistoryOptions {
    /// How many runs, the latest first
    #[arg(long, value_name = "N", default_value_t = 20,
          value_parser = clap::value_parser!(u64).range(1..))]
    pub limit: u64,

    /// All runs
    #[arg(long)]
    pub all: bool,

    /// As JSON
    #[arg(long)]
    pub json: bool,

    /// Watch each claim over all runs of it, and raise an alarm when it has changed
    #[arg(long, conflicts_with_all = ["limit", "all"])]
    pub watch: bool,

    /// With --watch: of this claim only
    #[arg(long, value_name = "SENTENCE", requires = "watch")]
    pub claim: Option<String>,

    /// With --watch: so many runs pass on average, at least, between two false alarms
    #[arg(long, value_name = "RUNS", default_value_t = 1000, requires = "watch",
          value_parser = clap::value_parser!(u64).range(2..))]
    pub between_alarms: u64,

    /// The journal [default: the user's data folder]
    #[arg(long, value_name = "FILE", value_hint = ValueHint::FilePath)]
    pub store: Option<PathBuf>,
}

#[derive(Debug, Args)]
pub struct ShowOptions {
    #[command(flatten)]
    pub source: Source,

    /// Write the result as JSON; - for standard output
    #[arg(long, value_name = "FILE", value_hint = ValueHint::FilePath)]
    pub json: Option<PathBuf>,
}

#[derive(Debug, Args)]
pub struct ExportOptions {
    #[command(flatten)]
    pub source: Source,

    /// Samples as CSV, one a line; - for standard output [default, if nothing else is asked for]
    #[arg(long, value_name = "FILE", num_args = 0..=1, default_missing_value = "-",
          value_hint = ValueHint::FilePath)]
    pub csv: Option<PathBuf>,

    /// The result as JSON; - for standard output
    #[arg(long, value_name = "FILE", num_args = 0..=1, default_missing_value = "-",
          value_hint = ValueHint::FilePath)]
    pub json: Option<PathBuf>,

    /// The whole journal as JSON lines, which replay reads; - for standard output
    #[arg(long, value_name = "FILE", num_args = 0..=1, default_missing_value = "-",
          value_hint = ValueHint::FilePath)]
    pub journal: Option<PathBuf>,
}
