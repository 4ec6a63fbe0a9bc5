//! The file that contains claims, `claims.toml`: contests, their contestants, the claims about
//! them, and how they are run.

mod claims;
mod contest;
mod options;

use crate::document::errors::FileErrors;
use crate::document::{Item, Table, read};
use crate::inputs::Place;
use contest::contests;
use options::Layer;
use tiebreak_core::claim::Claim;
use tiebreak_core::plan::{Adjust, Budget, Centre, Contestant, Gate, Hooks, ProgramPlan};
use tiebreak_core::result::Family;
use toml::de::DeValue;

/// The most claims that a file may hold.
pub const MAX_FILE_CLAIMS: usize = 1000;
/// The most contestants that a contest may have.
pub const MAX_CONTESTANTS: usize = 1000;
/// The name in claims of the revision that is the standard.
pub const BASE_NAME: &str = "base";
/// The name in claims of the revision that is judged.
pub const HEAD_NAME: &str = "head";
/// The default of how much slower `head` may be, as a fraction.
pub const SLOWDOWN_MAX: f64 = 0.02;
/// Errors at or above this one are refused: a coin does as well.
const ERROR_LIMIT: f64 = 0.5;

/// A file with every key, each explained in a comment. It can be run as it is, with a shell's
/// programs and `gzip`, in a second or two.
pub const EXAMPLE: &str = include_str!("file/example.toml");

/// A file of claims, checked. What the file does not contain is `None`.
#[derive(Clone, Debug, PartialEq)]
pub struct ClaimsFile {
    /// The largest probability of any wrong verdict in the file: above 0 and below 0.5.
    pub error: Option<f64>,
    /// The most that all races of the file may use together, without builds and set-up.
    pub budget: Option<Budget>,
    /// How the error is controlled over the claims.
    pub family: Option<Family>,
    /// The seed of every coin.
    pub seed: Option<String>,
    /// The contests, at least one, with unique names, in the order of the file.
    pub contests: Vec<Contest>,
}

impl ClaimsFile {
    /// Returns the number of claims of all contests.
    pub fn claims(&self) -> usize {
        self.contests.iter().map(|contest| contest.claims.len()).sum()
    }
}

/// Contestants that race one another, and the claims about them.
#[derive(Clone, Debug, PartialEq)]
pub struct Contest {
    /// Its name, or `contest-N` for the Nth contest of the file.
    pub name: String,
    /// The line at which it starts, counted from 1.
    pub line: usize,
    /// Its contestants.
    pub entrants: Entrants,
    /// Its claims, at least one.
    pub claims: Vec<FileClaim>,
    /// How it is run.
    pub options: Options,
}

/// The contestants of a contest.
#[derive(Clone, Debug, PartialEq)]
pub enum Entrants {
    /// Programs, at least one, with unique names, in the order of the file; their workload is that
    /// of the options, and they have no parameters.
    Programs(Vec<Contestant>),
    /// One program in two revisions.
    Revisions(Revisions),
}

/// Two revisions of the code around the file: claims call them [`BASE_NAME`] and [`HEAD_NAME`].
#[derive(Clone, Debug, PartialEq)]
pub struct Revisions {
    /// The revision that is the standard, in git's syntax.
    pub base: String,
    /// The revision that is judged, or `.` for the working tree; `HEAD` by default.
    pub head: String,
    /// The command that builds a revision, in its folder, through `sh -c`.
    pub build: Option<String>,
    /// Whether both are built at the same time.
    pub builds_at_once: bool,
    /// How much slower head may be, as a fraction, if the file gives that and no claims; the
    /// corresponding claim is among the contest's.
    pub slowdown_max: Option<f64>,
    /// The command that runs in the folder of each revision.
    pub command: String,
    /// The hooks of both.
    pub hooks: Hooks,
}

/// A claim with its place in the file.
#[derive(Clone, Debug, PartialEq)]
pub struct FileClaim {
    /// The claim. Its names are those of contestants, and its workload is that of its contest.
    pub claim: Claim,
    /// The line of the claim, counted from 1.
    pub line: usize,
    /// The effect of its verdict on the exit code.
    pub gate: Gate,
}

/// How a contest is run: its own options, or else the file's for all contests.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Options {
    /// The smallest ratio that still matters, as a fraction: at least 0 and below 1.
    pub resolution: Option<f64>,
    /// How the ratio is defined.
    pub centre: Option<Centre>,
    /// What is removed from the noise of ratios.
    pub adjust: Option<Adjust>,
    /// The number of runs in one observation of a share or a mean, at least 1.
    pub block_runs: Option<u64>,
    /// The workload of the contestants: as given, or the name of the input, or empty.
    pub workload: String,
    /// How they are loaded, if the contestants are servers: the words of `tiebreak load`.
    pub load: Option<String>,
    /// How long a server may take until it is ready, in nanoseconds.
    pub ready_within_ns: Option<u64>,
    /// How programs are run; by default as in [`ProgramPlan::default`].
    pub program: ProgramPlan,
}

/// Reads a file of claims; errors call it `name`.
///
/// Cost: linear in the file, except that wrong words are compared with what is expected there.
///
/// # Errors
/// Returns all errors of the file, sorted by place. A file that is not TOML has only errors of
/// syntax, because the rest cannot be interpreted.
pub fn parse_file(name: &str, text: &str) -> Result<ClaimsFile, FileErrors> {
    read(name, text, Place::of("claims"), claims_file)
}

fn claims_file(root: &Table<'_>) -> ClaimsFile {
    ClaimsFile {
        error: root.read("error", error),
        budget: root.read("budget", Item::budget),
        family: root.read("family", Item::word),
        seed: root.read("seed", seed),
        contests: contests(root, &Layer::default().with(root)),
    }
}

/// Reads the error of a file: above 0 and below one half.
fn error(item: &Item<'_>) -> Option<f64> {
    let error = item.share()?;
    if error > 0.0 && error < ERROR_LIMIT {
        return Some(error);
    }
    let help = "an error of 0 is never reached, and one of half is what a coin has";
    item.wrong("a share above 0 and below 50%, such as \"1%\"").help(help).none()
}

/// Reads a seed: any text, or a whole number as its digits.
fn seed(item: &Item<'_>) -> Option<String> {
    match item.value {
        DeValue::Integer(integer) => Some(integer.to_string()),
        _ => item.string(),
    }
}
