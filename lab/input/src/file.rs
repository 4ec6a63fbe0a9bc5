//! The file that holds claims, `claims.toml`: contests, who takes part in them, what is claimed of
//! them, and how they are run.

mod claims;
mod contest;
mod entrants;
mod options;
mod places;
mod setting;

use crate::document::errors::FileErrors;
use crate::document::keys::{self, Item};
use crate::document::log::Log;
use crate::document::value;
use contest::contests;
use options::Layer;
use places::Place;
use tiebreak_core::claim::Claim;
use tiebreak_core::plan::{Adjust, Budget, Centre, Contestant, Gate, Hooks, ProgramPlan};
use tiebreak_core::result::Family;

/// The most claims that a file may hold.
pub const MAX_FILE_CLAIMS: usize = 1000;
/// The most contestants that a contest may have.
pub const MAX_CONTESTANTS: usize = 1000;
/// The name by which claims know the revision that is compared with.
pub const BASE_NAME: &str = "base";
/// The name by which claims know the revision that is compared.
pub const HEAD_NAME: &str = "head";
/// By how much `head` may be slower, as a fraction, if nothing is claimed.
pub const SLOWDOWN_MAX: f64 = 0.02;

/// A file with every key, each explained in a comment, which can be run as it is: a shell's
/// programs, `gzip` and a second or two are all that it needs.
pub const EXAMPLE: &str = include_str!("file/example.toml");

/// A file of claims, checked. What the file does not say is `None`.
#[derive(Clone, Debug, PartialEq)]
pub struct ClaimsFile {
    /// The most that the probability of any wrong verdict in the file may be: above 0 and below
    /// 0.5.
    pub error: Option<f64>,
    /// The most that all races of the file may use together, builds and set-up not counted.
    pub budget: Option<Budget>,
    /// How the error is kept over the claims.
    pub family: Option<Family>,
    /// The seed of every coin.
    pub seed: Option<String>,
    /// At least one, with names of their own, in the order of the file.
    pub contests: Vec<Contest>,
}

impl ClaimsFile {
    /// How many claims all contests have.
    pub fn claims(&self) -> usize {
        self.contests.iter().map(|contest| contest.claims.len()).sum()
    }
}

/// Contestants that race one another, and what is claimed of them.
#[derive(Clone, Debug, PartialEq)]
pub struct Contest {
    /// Its name, or `contest-N` for the Nth contest of the file.
    pub name: String,
    /// The line at which it starts, counted from 1.
    pub line: usize,
    /// Who takes part.
    pub entrants: Entrants,
    /// At least one.
    pub claims: Vec<FileClaim>,
    /// How it is run.
    pub options: Options,
}

/// Who takes part in a contest.
#[derive(Clone, Debug, PartialEq)]
pub enum Entrants {
    /// Programs, at least one, with names of their own, in the order of the file; their workload is
    /// that of the options, and they have no parameters.
    Programs(Vec<Contestant>),
    /// One program, as two revisions have it.
    Revisions(Revisions),
}

/// Two revisions of the code around the file: claims call them [`BASE_NAME`] and [`HEAD_NAME`].
#[derive(Clone, Debug, PartialEq)]
pub struct Revisions {
    /// The revision that is compared with, as git knows it.
    pub base: String,
    /// The revision that is compared, or `.` for the working tree; `HEAD` if nothing was said.
    pub head: String,
    /// What builds a revision, in its folder, through `sh -c`.
    pub build: Option<String>,
    /// Whether both are built at the same time.
    pub builds_at_once: bool,
    /// By how much head may be slower, as a fraction, if the file says that and no claims; the
    /// claim that says so is among the contest's.
    pub slowdown_max: Option<f64>,
    /// What is run in the folder of each revision.
    pub command: String,
    /// The hooks of both.
    pub hooks: Hooks,
}

/// A claim with its place in the file.
#[derive(Clone, Debug, PartialEq)]
pub struct FileClaim {
    /// The claim. Its names are those of contestants, and its workload is that of its contest.
    pub claim: Claim,
    /// The line at which it stands, counted from 1.
    pub line: usize,
    /// What its verdict means to whoever waits for the exit code.
    pub gate: Gate,
}

/// How a contest is run: what it says itself, or else what the file says for all contests.
#[derive(Clone, Debug, PartialEq)]
pub struct Options {
    /// How small a ratio, as a fraction, still matters: at least 0 and below 1.
    pub resolution: Option<f64>,
    /// What the ratio is.
    pub centre: Option<Centre>,
    /// What is taken out of the noise of ratios.
    pub adjust: Option<Adjust>,
    /// How many runs make one observation of a share or a mean, at least 1.
    pub block_runs: Option<u64>,
    /// What the contestants work on: what was said, or the name of the input, or nothing.
    pub workload: String,
    /// How programs are run; what was not said is as [`ProgramPlan::default`] has it.
    pub program: ProgramPlan,
}

/// Reads a file of claims; `name` is what errors call it.
///
/// Cost: linear in the file, except that wrong words are compared with what could stand there.
///
/// # Errors
/// All that is wrong with the file, sorted by place. A file that is not TOML has errors of syntax
/// only, as nothing can be said of the rest of it.
pub fn parse_file(name: &str, text: &str) -> Result<ClaimsFile, FileErrors> {
    crate::document::read(name, text, claims_file)
}

fn claims_file(items: &[Item<'_>], log: &mut Log<'_>) -> Option<ClaimsFile> {
    keys::check(items, Place::File, log);
    let defaults = Layer::read(items, &Layer::default(), log);
    let get = |key: &str| items.iter().find(|item| item.key == key);
    let error = get("error").and_then(|item| setting::error(item, log));
    let budget = get("budget").and_then(|item| value::budget(item, log));
    let family = get("family").and_then(|item| setting::family(item, log));
    let seed = get("seed").and_then(|item| setting::seed(item, log));
    let contests = contests(get("contest"), &defaults, log)?;
    Some(ClaimsFile { error, budget, family, seed, contests })
}
