//! Options that several commands share. An option that is also a key of a file of claims or of a
//! study has its help, the name of its value and its default in the table of inputs,
//! `lab/input/src/inputs`.

use crate::choice::{Names, one_of};
use crate::output::{OutputFile, Targets};
use crate::quantities::{self, Cpus, above_0};
use clap::{Arg, Args, Command, ValueHint};
use std::path::{Path, PathBuf};
use tiebreak_lab::LabError;
use tiebreak_lab::core::plan::{Adjust, Budget, Centre, OutputPlan, Primer};
use tiebreak_lab::input::inputs;

/// The examples at the end of each command's help, after a line with the command's words.
const EXAMPLES: &str = include_str!("../help.txt");

/// Returns the examples of the command with these words; `None` if it has none.
pub fn examples(words: &str) -> Option<&'static str> {
    let section = |text: &'static str| text.strip_prefix(words)?.strip_prefix('\n');
    EXAMPLES.split("== ").find_map(section).map(str::trim_ascii_end)
}

/// Completes a command and its subcommands, once it is asked for: adds the examples, and describes
/// the options that have no help of their own by the table of inputs.
pub fn described(command: Command) -> Command {
    let words = command.get_name().to_owned();
    described_below(command, &words)
}

fn described_below(command: Command, words: &str) -> Command {
    let file = match command.get_name() {
        "check" => Some("claims"),
        "run" => Some("study"),
        _ => None,
    };
    command
        .after_help(examples(words).unwrap_or_default())
        .mut_args(|option| described_option(option, file))
        .mut_subcommands(|below| {
            let words = format!("{words} {}", below.get_name());
            described_below(below, &words)
        })
}

/// Describes an option of a command, which reads a file if its options override those of one.
fn described_option(mut option: Arg, file: Option<&str>) -> Arg {
    // A path is completed as that of a file, unless its option says otherwise.
    if option.get_value_hint() == ValueHint::AnyPath {
        option = option.value_hint(ValueHint::FilePath);
    }
    let name = option.get_long().filter(|_| option.get_help().is_none()).unwrap_or_default();
    let of_file = file.and_then(|file| inputs::key(file, name));
    let Some(input) = of_file.or_else(|| inputs::option(name)) else { return option };
    let mut help = input.option_help();
    let takes_value = option.get_action().takes_values();
    if takes_value && !input.value.is_empty() {
        option = option.value_name(input.value.as_str());
    }
    // The derived command requires each option whose type has no place for its absence.
    if option.is_required_set() {
        option = option.required(false).default_value(input.default.as_str());
    } else if takes_value && !input.default.is_empty() {
        let said = if of_file.is_some() { "what the file says, or " } else { "" };
        help += &format!(" [default: {said}{}]", input.option_default());
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
          value_name = "N", value_parser = above_0::<u64>())]
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

    #[arg(long, value_parser = one_of(OUTPUTS))]
    pub output: OutputPlan,

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
    pub cpus: Option<Cpus>,

    /// Do not wait for a quiet machine before a round
    #[arg(long)]
    pub no_wait: bool,

    #[command(flatten)]
    pub reporting: Reporting,

    #[command(flatten)]
    pub store: Store,

    /// Say what would be raced, and run nothing
    #[arg(long)]
    pub dry_run: bool,
}

/// What becomes of standard output.
const OUTPUTS: Names<OutputPlan> = &[
    ("capture", "Kept in memory, and looked at when the clock has stopped", OutputPlan::Capture),
    ("null", "Thrown away", OutputPlan::Null),
];

/// Options of the commands that judge ratios.
#[derive(Debug, Args)]
pub struct Judging {
    #[arg(long, allow_hyphen_values = true, value_parser = quantities::fraction)]
    pub resolution: Option<f64>,

    #[arg(long, value_parser = one_of(CENTRES))]
    pub centre: Option<Centre>,

    /// As --centre mean: who needs less in total, rare slow runs counted. Needs --timeout, as a run
    /// that takes longer is ended and counts as that long; the smaller it is, the sooner it ends
    #[arg(long, conflicts_with = "centre")]
    pub mean: bool,

    #[arg(long, value_parser = quantities::adjust)]
    pub adjust: Adjust,

    #[arg(long, value_parser = above_0::<u64>())]
    pub block: u64,

    #[arg(long, value_parser = one_of(PRIMERS))]
    pub primer: Option<Primer>,
}

/// Which rounds begin with an untimed run.
const PRIMERS: Names<Primer> = &[
    ("always", "All of them", Primer::Always),
    ("short", "All, unless a run of the first round takes longer than a second", Primer::Short),
    ("never", "None", Primer::Never),
];

/// What a ratio may be.
pub const CENTRES: Names<Centre> = &[
    ("factor", "One factor for all rounds", Centre::Factor),
    ("median", "The median of paired ratios", Centre::Median),
    (
        "mean",
        "The ratio of the mean times, what lasts longer than --timeout counting as it",
        Centre::Mean,
    ),
];

/// A result as data.
#[derive(Debug, Args)]
pub struct Json {
    /// Write the result as JSON; - for standard output
    #[arg(long, value_name = "FILE")]
    pub json: Option<PathBuf>,
}

impl Json {
    /// Opens the target, if one is named; `text` makes its content.
    pub fn open<R: 'static>(&self, text: fn(&R) -> String) -> Result<Targets<R>, LabError> {
        Ok(Targets::of(OutputFile::open_json(self.json.as_deref())?, text))
    }
}

/// Files for CI systems.
#[derive(Debug, Args)]
pub struct CiFiles {
    /// Write the results as JUnit XML, which CI systems read
    #[arg(long, value_name = "FILE")]
    pub junit: Option<PathBuf>,

    /// Write the results as Markdown, for a comment or a summary
    #[arg(long, value_name = "FILE")]
    pub markdown: Option<PathBuf>,
}

impl CiFiles {
    /// Opens those that are named.
    pub fn open<R: 'static>(
        &self,
        targets: Targets<R>,
        junit: impl Fn(&R) -> String + 'static,
        markdown: fn(&R) -> String,
    ) -> Result<Targets<R>, LabError> {
        targets.file("junit", self.junit.as_deref(), junit)?.file(
            "markdown",
            self.markdown.as_deref(),
            markdown,
        )
    }
}

/// Where a result goes, and how much of it is printed.
#[derive(Debug, Args)]
pub struct Reporting {
    #[command(flatten)]
    pub json: Json,

    /// No progress, and of the report the verdicts only
    #[arg(long, short = 'q')]
    pub quiet: bool,
}

/// Where runs and prints of machines are kept.
#[derive(Debug, Args)]
pub struct Store {
    /// The journal, which keeps runs and prints of machines [default: the user's data folder]
    #[arg(long, value_name = "FILE")]
    store: Option<PathBuf>,
}

impl Store {
    /// Returns the file that the user named, if any.
    pub fn path(&self) -> Option<&Path> {
        self.store.as_deref()
    }
}

/// Where a journal is read from.
#[derive(Debug, Args)]
pub struct Source {
    /// A run by its name, or a file: an exported journal or another store [default: the latest run]
    #[arg(value_name = "RUN|FILE", value_hint = ValueHint::FilePath)]
    pub run: Option<String>,

    #[command(flatten)]
    pub store: Store,
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
        let mut command = crate::args::Arguments::command();
        command.build();
        check(&command);
        command.debug_assert();
    }
}
