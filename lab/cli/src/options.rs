//! Options that several commands share. An option that is also a key of a file of claims has its
//! help, the name of its value and its default in the table of inputs, `lab/input/src/inputs.toml`.

use crate::quantities::{self, CpuList};
use clap::{Arg, Args, Command, ValueEnum, ValueHint};
use std::path::PathBuf;
use tiebreak_lab::core::plan::{Adjust, Budget, Centre};
use tiebreak_lab::input::inputs;

/// Completes the options of a command and of its subcommands: those without a help of their own
/// are described by the table of inputs.
pub fn described(command: Command) -> Command {
    command.mut_args(described_option).mut_subcommands(described)
}

fn described_option(mut option: Arg) -> Arg {
    let input = option.get_long().and_then(inputs::option);
    let Some(input) = input.filter(|_| option.get_help().is_none()) else { return option };
    let mut help = input.help.clone();
    if !input.command.is_empty() {
        help += &format!("; {}", input.command);
    }
    let takes_value = option.get_action().takes_values();
    if takes_value && !input.value.is_empty() {
        option = option.value_name(input.value.as_str());
    }
    // The derived command requires each option whose type has no place for its absence.
    if option.is_required_set() {
        option = option.required(false).default_value(input.default.as_str());
    } else if takes_value && !input.default.is_empty() {
        help += &format!(" [default: {}]", input.default);
    }
    option.help(help)
}

/// Options of every command that measures.
#[derive(Debug, Args)]
pub struct Measuring {
    #[arg(long, allow_hyphen_values = true, value_parser = quantities::fraction)]
    pub error: f64,

    #[arg(long, allow_hyphen_values = true, value_parser = quantities::budget)]
    pub budget: Option<Budget>,

    /// The most rounds: as --budget 'N rounds'
    #[arg(long, short = 'r', visible_alias = "max-runs", visible_short_alias = 'M',
          value_name = "N", value_parser = clap::value_parser!(u64).range(1..))]
    pub runs: Option<u64>,

    #[arg(long)]
    pub seed: Option<String>,

    #[arg(long, short = 'S')]
    pub shell: Option<String>,

    /// No shell, which is the default; for those who are used to typing it
    #[arg(short = 'N', conflicts_with = "shell")]
    pub no_shell: bool,

    #[arg(long, value_hint = ValueHint::FilePath)]
    pub input: Option<String>,

    #[arg(long, value_enum)]
    pub output: OutputName,

    #[arg(long, value_parser = quantities::bytes)]
    pub output_limit: u64,

    #[arg(long, value_hint = ValueHint::DirPath)]
    pub directory: Option<String>,

    #[arg(long)]
    pub workload: Option<String>,

    #[arg(long)]
    pub check: Option<String>,

    #[arg(long, value_delimiter = ',', value_parser = clap::value_parser!(i32).range(0..=255))]
    pub success: Vec<i32>,

    #[arg(long, short = 'i')]
    pub ignore_failure: bool,

    #[arg(long, value_parser = quantities::duration_ns)]
    pub timeout: Option<u64>,

    #[arg(long, short = 'w')]
    pub warmup: u32,

    #[arg(long, value_parser = quantities::cpus)]
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
    #[arg(long, allow_hyphen_values = true, value_parser = quantities::fraction)]
    pub resolution: Option<f64>,

    #[arg(long, value_enum)]
    pub centre: Option<CentreName>,

    /// As --centre mean: who needs less in total, rare slow runs counted. Needs --timeout, as a run
    /// that takes longer is ended and counts as that long; the smaller it is, the sooner it ends
    #[arg(long, conflicts_with = "centre")]
    pub mean: bool,

    #[arg(long, value_parser = quantities::adjust)]
    pub adjust: Adjust,

    #[arg(long, value_parser = clap::value_parser!(u64).range(1..))]
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

#[cfg(test)]
mod tests {
    use super::*;
    use clap::CommandFactory;

    fn check(command: &Command) {
        for option in command.get_arguments() {
            let help = option.get_help().map(ToString::to_string).unwrap_or_default();
            assert!(!help.is_empty(), "{} {}", command.get_name(), option.get_id());
        }
        command.get_subcommands().for_each(check);
    }

    #[test]
    fn every_option_has_a_help() {
        let command = crate::args::Arguments::command();
        check(&command);
        command.debug_assert();
    }
}
