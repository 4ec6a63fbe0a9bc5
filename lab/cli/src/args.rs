//! The command line: every command, each with its help and an example.

use clap::{Parser, Subcommand};

/// Which of two programs is faster, proven: runs them fairly, stops as soon as the evidence is
/// conclusive at the error you chose, and says how sure it is.
#[derive(Debug, Parser)]
#[command(
    name = "tiebreak",
    version,
    max_term_width = 100,
    mut_subcommands = |below| below.defer(crate::options::described),
    after_help = crate::options::examples("tiebreak").unwrap_or_default()
)]
pub struct Arguments {
    #[command(subcommand)]
    /// What to do.
    pub command: Command,
}

#[derive(Debug, Subcommand)]
pub enum Command {
    /// Race whole programs: which is faster, by how much, how sure
    Compare(Box<crate::compare::CompareOptions>),

    /// Compare a program with itself: how often are alarms false here, and what can it find?
    Aa(Box<crate::aa::AaOptions>),

    /// Go on with a run that was killed, interrupted or out of budget
    Resume(crate::resume::ResumeOptions),

    /// The verdict of a run again, bit for bit, from its journal alone
    Replay(crate::journals::ReplayOptions),

    /// What was measured before
    History(crate::history::HistoryOptions),

    /// The report of a run again, finished or not
    Show(crate::journals::ShowOptions),

    /// A run as data: samples as CSV, the result as JSON, or the whole journal
    Export(crate::journals::ExportOptions),

    /// How often a command succeeds, or how many of a stream's values are good: proven
    Slo(Box<crate::slo::SloOptions>),

    /// Whether two sets of numbers differ: an exact test by resampling
    Exact(Box<crate::exact::ExactOptions>),

    /// How many rounds a claim will need, and how often it will end within a budget
    Power(Box<crate::power::PowerOptions>),

    /// Every claim of a file, under one error: what CI calls
    Check(Box<crate::check::CheckOptions>),

    /// The benchmarks that a project has already, base against head: which are slower, proven
    Suite(Box<crate::suite::SuiteOptions>),

    /// Functions in any language, from source: built, judged, raced, next to what was published
    #[command(subcommand)]
    Study(crate::study::StudyCommand),

    /// Load a server: how fast it answers, at a rate, and how much it sustains
    #[command(subcommand)]
    Load(Box<crate::load::LoadCommand>),

    /// What this machine is, measured: cores, clocks, caches, bandwidth, noise, energy
    Machine(Box<crate::machine::MachineArguments>),

    /// A run as one page of HTML
    Report(crate::journals::ReportOptions),

    /// Claims as steps of Cucumber: a server of its wire protocol
    Wire(crate::wire::WireOptions),

    /// Source code that looks for a set of bytes, for people who want no library
    Byteset(crate::byteset::BytesetOptions),

    /// The published functions of the Confidence Sequence Method, for scripts
    Classic(crate::classic::ClassicOptions),

    /// A script that completes tiebreak's options in your shell
    Completions {
        /// The shell
        shell: clap_complete::Shell,
    },

    /// What aa runs if no program is named: some milliseconds of work
    #[command(name = "__work", hide = true)]
    Work,
}
