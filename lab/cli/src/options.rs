//! Options that several commands share, each defined once, with its help.

use crate::quantities::{self, CpuList};
use clap::{Args, ValueEnum, ValueHint};
use std::path::PathBuf;
use tiebreak_lab::core::plan::{Adjust, Budget, Centre};

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
