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
    after_help = examples!("tiebreak")
)]
pub struct Arguments {
    #[command(subcommand)]
    /// What to do.
    pub command: Command,
}

#[derive(Debug, Subcommand)]
pub enum Command {
    /// Race whole programs: which is faster, by how much, how sure
    #[command(after_help = examples!("compare"))]
    Compare(Box<crate::compare::CompareOptions>),

    /// Compare a program with itself: how often does this machine cry wolf, and what can it find?
    #[command(after_help = examples!("aa"))]
    Aa(Box<crate::aa::AaOptions>),

    /// Go on with a run that was killed, interrupted or out of budget
    #[command(after_help = examples!("resume"))]
    Resume(crate::resume::ResumeOptions),

    /// The verdict of a run again, bit for bit, from its journal alone
    #[command(after_help = examples!("replay"))]
    Replay(crate::journals::ReplayOptions),

    /// What was measured before
    #[command(after_help = examples!("history"))]
    History(crate::history::HistoryOptions),

    /// The report of a run again, finished or not
    #[command(after_help = examples!("show"))]
    Show(crate::journals::ShowOptions),

    /// A run as data: samples as CSV, the result as JSON, or the whole journal
    #[command(after_help = examples!("export"))]
    Export(crate::journals::ExportOptions),

    /// How often a command succeeds, or how many of a stream's values are good: proven
    #[command(after_help = examples!("slo"))]
    Slo(Box<crate::slo::SloOptions>),

    /// Whether two sets of numbers differ: an exact test by resampling
    #[command(after_help = examples!("exact"))]
    Exact(Box<crate::exact::ExactOptions>),

    /// How many rounds a claim will need, and how often it will end within a budget
    #[command(after_help = examples!("power"))]
    Power(Box<crate::power::PowerOptions>),

    /// Every claim of a file, under one error: what CI calls
    #[command(after_help = examples!("check"))]
    Check(Box<crate::check::CheckOptions>),

    /// Functions in any language, from source: built, judged, raced, beside what was published
    #[command(subcommand, after_help = examples!("study"))]
    Study(crate::study::StudyCommand),

    /// What this machine is, measured: cores, clocks, caches, bandwidth, noise, energy
    #[command(after_help = examples!("machine"))]
    Machine(Box<crate::machine::MachineArguments>),

    /// A run as one page of HTML
    #[command(after_help = examples!("report"))]
    Report(crate::journals::ReportOptions),

    /// The published functions of the Confidence Sequence Method, for scripts
    #[command(after_help = examples!("classic"))]
    Classic(crate::classic::ClassicOptions),

    /// A script that completes tiebreak's options in your shell
    #[command(after_help = examples!("completions"))]
    Completions {
        /// The shell
        shell: clap_complete::Shell,
    },

    /// What aa runs if no program is named: some milliseconds of work
    #[command(name = "__work", hide = true)]
    Work,
}
