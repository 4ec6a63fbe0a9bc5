//! Two revisions of a repository as contestants. Each is checked out into a separate worktree
//! outside of the tree, built, and raced against the other, never against a stored number.
//!
//! The worktrees are in a new folder under `TMPDIR`, as `base` and `head`, so that their paths are
//! equally long. They are removed when the [`Revisions`] are dropped.

mod build;
mod git;
mod note;
mod planned;
mod snapshot;
#[cfg(test)]
mod tests;
mod worktrees;

pub use note::Note;
pub use planned::{gone, plan};

use crate::error::LabError;
use crate::planning::usage;
use git::Repository;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};
use tiebreak_input as input;
use worktrees::Worktrees;

/// Names of the two contestants, which are equally long.
pub const NAMES: [&str; 2] = [input::BASE_NAME, input::HEAD_NAME];
/// The word for the working tree as it is, committed or not.
pub const WORKING_TREE: &str = ".";
pub use tiebreak_input::SLOWDOWN_MAX;
/// The default of the smallest difference between two revisions that still matters. It is finer
/// than elsewhere, so that a regression half as large again as a gate of 2% allows is not too close
/// to its bar.
pub const RESOLUTION: f64 = 0.005;

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
    /// A note for the user.
    Noted(Note),
    /// A revision is being checked out.
    CheckingOut {
        /// The revision.
        revision: &'a Revision,
    },
    /// A revision is being built.
    Building {
        /// The revision.
        revision: &'a Revision,
        /// The command.
        command: &'a str,
    },
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
    pub notes: Vec<Note>,
}

/// Finds the two revisions.
///
/// # Errors
/// Fails if there is no git, no repository or no such revision, or if the build command is empty;
/// the text says what to do.
pub fn find(asked: &RevisionRequest) -> Result<Found, LabError> {
    if asked.build.as_deref().is_some_and(|command| command.trim().is_empty()) {
        return usage("--build is empty: leave it out if nothing is to be built".to_owned());
    }
    let repository = Repository::of(&asked.directory)?;
    let revision = |name, revision: &String| {
        let commit = match revision.as_str() {
            WORKING_TREE => String::new(),
            revision => repository.commit(revision)?,
        };
        Ok::<_, LabError>(Revision { name, asked: revision.clone(), commit })
    };
    let revisions = [revision(NAMES[0], &asked.base)?, revision(NAMES[1], &asked.head)?];
    let notes = note::notes(&repository, &revisions);
    Ok(Found { repository, revisions, notes })
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
            progress(Step::CheckingOut { revision });
            worktrees.add(revision, stop)?;
            if !worktrees.folder(revision.name).is_dir() {
                let prefix = worktrees.prefix().display();
                let why = format!("it has no folder '{prefix}': start from the top of the tree");
                return Err(LabError::Revision { revision: revision.asked.clone(), why });
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
        let build = |revision: &Revision| {
            let folder = self.worktrees.folder(revision.name);
            let (prefix, keeps) = (self.worktrees.prefix(), self.worktrees.keeps);
            let build = build::Build { revision, command, folder, prefix, keeps };
            build.run(self.worktrees.root(), stop)
        };
        let [base, head] = &self.revisions;
        progress(Step::Building { revision: base, command });
        if !at_once {
            build(base)?;
            progress(Step::Building { revision: head, command });
            return build(head);
        }
        progress(Step::Building { revision: head, command });
        std::thread::scope(|scope| {
            let other = scope.spawn(|| build(base));
            let head = build(head);
            let broken = |_| LabError::Broken("the build of base cannot be waited for".to_owned());
            other.join().map_err(broken)?.and(head)
        })
    }

    /// Returns the folder of a revision that corresponds to the one to which commands are relative.
    pub fn folder(&self, name: &str) -> PathBuf {
        self.worktrees.folder(name)
    }

    /// Returns the folder of the worktrees.
    pub fn root(&self) -> &Path {
        self.worktrees.root()
    }
}
