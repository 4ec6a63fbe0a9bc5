//! Two revisions of a repository as contestants. Each is checked out into a separate worktree
//! outside of the tree, built, and raced against the other, never against a stored number.
//!
//! The worktrees are in a new folder under `TMPDIR`, as `base` and `head`, so that their paths are
//! equally long. They are removed when the [`Revisions`] are dropped.

pub(crate) mod git;
#[cfg(test)]
mod tests;
mod worktrees;

use crate::error::{LabError, data, require, usage};
use crate::planning::{self, Request};
use git::{Repository, without_hooks};
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::atomic::{AtomicBool, Ordering};
use tiebreak_core::claim::{Claim, Relation, Statement};
use tiebreak_core::plan::Plan;
use tiebreak_input as input;
use tiebreak_measure::{StartError, resolve, words};
use tiebreak_report::shell_quote;
use worktrees::{Worktrees, run_logged};

/// Names of the two contestants, which are equally long.
pub const NAMES: [&str; 2] = [input::BASE_NAME, input::HEAD_NAME];
/// The word for the working tree as it is, committed or not.
pub const WORKING_TREE: &str = ".";
pub use tiebreak_input::SLOWDOWN_MAX;
/// The default of the smallest difference between two revisions that still matters. It is finer
/// than elsewhere, so that a regression half as large again as a gate of 2% allows is not too close
/// to its bar.
pub const RESOLUTION: f64 = 0.005;
/// The most lines of a failed build's output that are shown.
const LINES_MAX: usize = 20;
/// The most characters of a line that are shown.
const COLUMNS_MAX: usize = 200;

/// A request for two revisions. Equal requests can be prepared once.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct RevisionRequest {
    /// The revision that is the standard, in git's syntax.
    pub base: String,
    /// The revision that is judged; [`WORKING_TREE`] is the working tree as it is.
    pub head: String,
    /// The command that builds a checkout, through `sh -c` in the folder that corresponds to
    /// `directory`.
    pub build: Option<String>,
    /// A folder of the repository: commands are relative to it.
    pub directory: PathBuf,
    /// Whether both are built at the same time.
    pub builds_at_once: bool,
    /// Whether the worktrees stay at the end.
    pub keeps: bool,
}

/// A step of the preparation of revisions.
#[derive(Clone, Debug)]
pub enum Step<'a> {
    /// A note for the user, which does not prevent the race.
    Noted(String),
    /// A revision is being checked out.
    CheckingOut(&'a Revision),
    /// A revision is being built by this command.
    Building(&'a Revision, &'a str),
}

/// One of the two revisions, as the user named it and as it is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Revision {
    /// `base` or `head`.
    pub name: &'static str,
    /// The revision, as the user named it.
    pub asked: String,
    /// The full commit; empty for the working tree while it has none.
    pub commit: String,
}

impl Revision {
    /// Returns the first digits of the commit.
    pub fn short(&self) -> &str {
        self.commit.get(..10).unwrap_or("the working tree")
    }
}

/// Two revisions found in a repository, before any checkout.
#[derive(Debug)]
pub struct Found {
    repository: Repository,
    /// Base and head.
    pub revisions: [Revision; 2],
    /// Notes for the user.
    pub notes: Vec<String>,
}

/// Finds the two revisions.
///
/// # Errors
/// Fails if there is no git, no repository or no such revision, or if the build command is empty;
/// the text says what to do.
pub fn find(asked: &RevisionRequest) -> Result<Found, LabError> {
    let builds = asked.build.as_deref().is_none_or(|command| !command.trim().is_empty());
    require(builds, "--build is empty: leave it out if nothing is to be built")?;
    let repository = Repository::of(&asked.directory)?;
    let revisions = [
        find_one(&repository, NAMES[0], &asked.base)?,
        find_one(&repository, NAMES[1], &asked.head)?,
    ];
    let notes = notes(&repository, &revisions);
    Ok(Found { repository, revisions, notes })
}

fn find_one(
    repository: &Repository,
    name: &'static str,
    asked: &str,
) -> Result<Revision, LabError> {
    let commit = if asked == WORKING_TREE { String::new() } else { repository.commit(asked)? };
    Ok(Revision { name, asked: asked.to_owned(), commit })
}

/// Returns all notes; what git does not report is not noted.
fn notes(repository: &Repository, [base, head]: &[Revision; 2]) -> Vec<String> {
    let mut notes = Vec::new();
    if base.asked == WORKING_TREE || head.asked == WORKING_TREE {
        return notes;
    }
    let (asked_base, asked_head) = (&base.asked, &head.asked);
    let commits = repository.commits_only_in(&base.commit, &head.commit).unwrap_or(0);
    if base.commit == head.commit {
        let commit = base.short();
        notes.push(format!(
            "base and head are the same commit {commit}: this compares it with itself"
        ));
    } else if commits > 0 {
        notes.push(format!(
            "{asked_base} has {commits} commit{} that {asked_head} has not, and the verdict is \
             about the whole difference: --base \"$(git merge-base {} {})\" leaves them out",
            if commits == 1 { "" } else { "s" },
            shell_quote(asked_base),
            shell_quote(asked_head)
        ));
    }
    let is_checked_out = repository.commit("HEAD").is_ok_and(|commit| commit == head.commit);
    if is_checked_out && repository.is_changed().unwrap_or(false) {
        notes.push(format!(
            "changes that are not committed are not in {asked_head}: commit them, or race the \
             working tree as it is by --head {WORKING_TREE}"
        ));
    }
    notes
}

/// Two revisions, checked out and built. Dropping them removes the worktrees, unless they must be
/// kept.
#[derive(Debug)]
pub struct Revisions {
    /// Base and head.
    pub revisions: [Revision; 2],
    worktrees: Worktrees,
}

impl Revisions {
    /// Finds, checks out and builds both revisions. After an error or an interrupt, nothing is left
    /// behind.
    ///
    /// # Errors
    /// As [`find`]; also fails if a checkout or a build fails, or with [`LabError::Interrupted`].
    pub fn prepare(
        asked: &RevisionRequest,
        stop: &AtomicBool,
        mut progress: impl FnMut(Step<'_>),
    ) -> Result<Revisions, LabError> {
        let Found { repository, mut revisions, notes } = find(asked)?;
        notes.into_iter().for_each(|note| progress(Step::Noted(note)));
        let mut worktrees = Worktrees::new(repository, asked.keeps)?;
        for revision in &mut revisions {
            if revision.commit.is_empty() {
                revision.commit = worktrees.snapshot()?;
            }
            progress(Step::CheckingOut(revision));
            worktrees.add(revision, stop)?;
            if !worktrees.folder(revision.name).is_dir() {
                let prefix = worktrees.repository.prefix.display();
                let why = format!("it has no folder '{prefix}': start from the top of the tree");
                return Err(unfit(&revision.asked, &why));
            }
        }
        let prepared = Revisions { revisions, worktrees };
        if let Some(command) = &asked.build {
            prepared.build(command, asked.builds_at_once, stop, progress)?;
        }
        if stop.load(Ordering::Relaxed) {
            return Err(LabError::Interrupted);
        }
        Ok(prepared)
    }

    fn build(
        &self,
        command: &str,
        at_once: bool,
        stop: &AtomicBool,
        mut progress: impl FnMut(Step<'_>),
    ) -> Result<(), LabError> {
        let [base, head] = &self.revisions;
        progress(Step::Building(base, command));
        if !at_once {
            self.build_one(base, command, stop)?;
            progress(Step::Building(head, command));
            return self.build_one(head, command, stop);
        }
        progress(Step::Building(head, command));
        std::thread::scope(|scope| {
            let other = scope.spawn(|| self.build_one(base, command, stop));
            let head = self.build_one(head, command, stop);
            let Ok(base) = other.join() else {
                return Err(LabError::Broken("the build of base cannot be waited for".to_owned()));
            };
            base.and(head)
        })
    }

    /// Runs the command through `sh -c`, with its output in a file in the folder of the worktrees.
    ///
    /// # Errors
    /// Fails if the command fails, with the end of its output in the text, or if the user
    /// interrupts.
    fn build_one(
        &self,
        revision: &Revision,
        command: &str,
        stop: &AtomicBool,
    ) -> Result<(), LabError> {
        let name = revision.name;
        let path = self.root().join(format!("build-{name}.log"));
        let mut shell = Command::new("sh");
        shell.args(["-c", command]).current_dir(self.folder(name)).stdin(Stdio::null());
        without_hooks(shell.env("TIEBREAK_CONTESTANT", name));
        match run_logged(&mut shell, &path, stop) {
            Err(error) => {
                Err(LabError::Broken(format!("the build of {name} cannot be run: {error}")))
            }
            Ok(Some(0)) => Ok(()),
            Ok(None) => Err(LabError::Interrupted),
            Ok(Some(status)) => data(format!(
                "the build of {name} ({}) failed with status {status}:\n{}\nto make it again: {}",
                revision.short(),
                tail(&fs::read(&path).unwrap_or_default()),
                self.build_again(revision, command)
            )),
        }
    }

    /// Returns a line for the user's shell that repeats a build.
    fn build_again(&self, revision: &Revision, command: &str) -> String {
        let build = format!("sh -c {}", shell_quote(command));
        if self.worktrees.keeps {
            let folder = self.folder(revision.name).display().to_string();
            return format!("cd {} && {build}", shell_quote(&folder));
        }
        let top = format!("../{}-{}", revision.name, revision.short());
        let within = Path::new(&top).join(&self.worktrees.repository.prefix).display().to_string();
        let within = shell_quote(within.trim_end_matches('/'));
        let commit = &revision.commit;
        format!("git worktree add --detach {top} {commit} && cd {within} && {build}")
    }

    /// Returns the folder of a revision that corresponds to the one to which commands are relative.
    pub fn folder(&self, name: &str) -> PathBuf {
        self.worktrees.folder(name)
    }

    /// Returns the folder of the worktrees.
    pub fn root(&self) -> &Path {
        &self.worktrees.root
    }

    /// Sets the folders of the contestants of a plan of [`plan`] to these worktrees: the first
    /// one's is that of base, the second one's that of head.
    ///
    /// # Errors
    /// Fails if the program is not in a worktree, or if the plan's folder lies outside.
    pub fn place(&self, plan: &mut Plan) -> Result<(), LabError> {
        let within = plan.program.directory.take().unwrap_or_default();
        if Path::new(&within).is_absolute() {
            return usage(format!(
                "--directory {within} is one folder for both revisions: name it as it is called \
                 within the tree"
            ));
        }
        let revisions = self.revisions.iter();
        for (contestant, revision) in plan.contestants.iter_mut().zip(revisions) {
            let folder = self.folder(revision.name).join(&within);
            let folder: PathBuf = folder.components().collect();
            check_program(revision, &contestant.command, &folder, &plan.program.shell)?;
            let Some(folder) = folder.to_str() else {
                return usage(format!(
                    "the path {} is not UTF-8: set TMPDIR to another folder",
                    folder.display()
                ));
            };
            contestant.directory = Some(folder.to_owned());
            contestant.parameters.push(("commit".to_owned(), revision.commit.clone()));
        }
        Ok(())
    }
}

/// Returns the last lines of an output, in a form that a terminal can show.
fn tail(output: &[u8]) -> String {
    let text = String::from_utf8_lossy(output);
    let lines: Vec<&str> = text.trim_end().lines().collect();
    let last = &lines[lines.len().saturating_sub(LINES_MAX)..];
    let shown = last.iter().map(|line| {
        let shown = line.chars().take(COLUMNS_MAX);
        shown.map(|c| if c.is_control() { ' ' } else { c }).collect::<String>()
    });
    shown.collect::<Vec<_>>().join("\n")
}

/// Makes the plan of a race of two revisions of the same command. The contestants are called `base`
/// and `head`, and without a claim head may need at most `1 + slowdown_max` times what base needs.
/// The request says whether that is a gate. [`Revisions::place`] fills in their folders.
///
/// # Errors
/// As [`planning::plan`]; also fails unless there is one command, or for names or parameters, which
/// revisions do not have.
pub fn plan(mut request: Request, slowdown_max: f64) -> Result<Plan, LabError> {
    let [command] = &request.commands[..] else {
        return usage(format!(
            "two revisions run the same command, and here are {}: give one after --base",
            request.commands.len()
        ));
    };
    let (names, parameters) = (&request.names, &request.parameters);
    require(names.is_empty(), "two revisions are called base and head: leave --name out")?;
    require(parameters.is_empty(), "--parameter is not for --base: race each value by itself")?;
    check_slowdown(slowdown_max)?;
    request.commands = vec![command.clone(), command.clone()];
    request.names = NAMES.map(str::to_owned).to_vec();
    if request.claims.is_empty() {
        let statement = Statement::Ratio(Relation::NoMoreThan { fraction: slowdown_max });
        let [base, head] = NAMES.map(str::to_owned);
        let text = String::new();
        let (metric, workload) = (request.metric, None);
        let claim = Claim { text, left: head, right: Some(base), statement, metric, workload };
        request.claims.push(input::display(&claim));
    }
    planning::plan(&request)
}

/// Checks the largest slowdown that a gate allows.
pub(crate) fn check_slowdown(slowdown_max: f64) -> Result<(), LabError> {
    require(
        (0.0..1.0).contains(&slowdown_max),
        format!(
            "a slowdown of {slowdown_max} is not a bound: it must be at least 0 and below 1, such \
             as --max-slowdown 2%"
        ),
    )
}

/// Returns why a run's contestants cannot run again in their folders, if they cannot: the worktrees
/// of two revisions are removed after the race.
pub fn gone(plan: &Plan) -> Option<String> {
    let mut folders = plan.contestants.iter().filter_map(|each| each.directory.as_ref());
    let gone = folders.find(|folder| !Path::new(folder).is_dir())?;
    Some(format!(
        "its folder {gone} is gone, as the worktrees of revisions are when a race ends: start a \
         new run, with --keep if it is to be resumed"
    ))
}

/// Distinguishes a program that a build should have made but did not from a wrong word.
fn check_program(
    revision: &Revision,
    command: &str,
    folder: &Path,
    shell: &Option<String>,
) -> Result<(), LabError> {
    let words = words::split(command).unwrap_or_default();
    let Some(word) = words.first().filter(|_| shell.is_none()) else {
        return Ok(());
    };
    match resolve(word, Some(folder)) {
        Err(StartError::NotFound { .. }) if word.contains('/') => {
            let why = format!(
                "{} has no program '{word}' after its build: --build makes it, in the folder \
                 of the worktree in which the command runs",
                revision.name
            );
            Err(unfit(&revision.asked, &why))
        }
        _ => Ok(()),
    }
}

/// Returns the error of a revision, as the user named it, that cannot be raced.
fn unfit(asked: &str, why: &str) -> LabError {
    LabError::Data(format!("the revision '{asked}' cannot be raced: {why}"))
}
