//! The worktrees of two revisions, in a folder that is removed with them.

use super::Revision;
use super::git::{Repository, failed, git, not_started};
use crate::error::LabError;
use crate::request::drawn_seed;
use std::fs::{self, DirBuilder, File, Permissions};
use std::io;
use std::os::unix::fs::{DirBuilderExt, PermissionsExt};
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::atomic::AtomicBool;
use tiebreak_measure::run_job;

#[cfg(test)]
mod tests;

/// The name of the folder, before some digits.
const FOLDER: &str = "tiebreak-revisions-";
/// The file in it that is locked while a process needs the folder. A folder that must be kept has
/// none, so it is never mistaken for a leftover, not even after its maker was killed.
const LOCK: &str = "lock";
/// The file in it with git's output.
const LOG: &str = "git.log";

/// A folder with worktrees.
#[derive(Debug)]
pub(super) struct Worktrees {
    pub(super) repository: Repository,
    /// The folder that contains everything.
    pub(super) root: PathBuf,
    /// The trees, finished or about to be made.
    trees: Vec<PathBuf>,
    /// Whether all stays when this is dropped.
    pub(super) keeps: bool,
    lock: Option<File>,
}

impl Worktrees {
    /// Creates the folder, and removes what killed processes left.
    ///
    /// # Errors
    /// Fails if the folder cannot be created, or if it lies within the repository.
    pub(super) fn new(repository: Repository, keeps: bool) -> Result<Worktrees, LabError> {
        sweep(&repository);
        let temporary = std::env::temp_dir();
        let failed = |error: io::Error| {
            let doing = format!("make a folder for worktrees in {}", temporary.display());
            failed(&doing, format!("{error}; TMPDIR names another place"))
        };
        let parent = temporary.canonicalize().map_err(failed)?;
        if parent.starts_with(&repository.top) {
            return Err(failed(io::Error::other(
                "it lies within the repository, whose files builds would find",
            )));
        }
        let digits = drawn_seed().map_err(|why| failed(io::Error::other(why)))?;
        let root = parent.join(format!("{FOLDER}{digits}"));
        DirBuilder::new().mode(0o700).create(&root).map_err(failed)?;
        let trees = Vec::new();
        // From here on, dropping it removes what was made, unless it must be kept.
        let mut made = Worktrees { repository, root, trees, keeps, lock: None };
        if !keeps {
            let lock = File::create(made.root.join(LOCK)).map_err(failed)?;
            lock.lock().map_err(failed)?;
            made.lock = Some(lock);
        }
        Ok(made)
    }

    /// Returns the folder of a worktree that corresponds to the one to which commands are relative.
    pub(super) fn folder(&self, name: &str) -> PathBuf {
        // Without the slash at the end that an empty prefix makes.
        self.root.join(name).join(&self.repository.prefix).components().collect()
    }

    /// Makes a commit of the working tree.
    ///
    /// # Errors
    /// Fails if git fails.
    pub(super) fn snapshot(&self) -> Result<String, LabError> {
        self.repository.snapshot(&self.root.join("index"))
    }

    /// Checks a revision out, with the submodules that are initialised in the repository.
    ///
    /// # Errors
    /// Fails if git fails, or if the user interrupts.
    pub(super) fn add(&mut self, revision: &Revision, stop: &AtomicBool) -> Result<(), LabError> {
        let tree = self.root.join(revision.name);
        self.trees.push(tree.clone());
        let mut add = git(&self.repository.top);
        add.args(["worktree", "add", "--quiet", "--detach"]).arg(&tree).arg(&revision.commit);
        let doing = format!("check {} out", revision.asked);
        self.run(&mut add, &doing, stop)?;
        if !tree.join(".gitmodules").exists() {
            return Ok(());
        }
        let doing = format!("check the submodules of {} out", revision.asked);
        self.run(git(&tree).args(["submodule", "--quiet", "update"]), &doing, stop)?;
        // Nested submodules are not registered anywhere yet, so initialising them changes nothing
        // of the user's.
        let within = "git submodule --quiet update --init --recursive";
        self.run(git(&tree).args(["submodule", "--quiet", "foreach", within]), &doing, stop)
    }

    fn run(&self, command: &mut Command, doing: &str, stop: &AtomicBool) -> Result<(), LabError> {
        let path = self.root.join(LOG);
        match run_logged(command, &path, stop) {
            Err(error) => Err(failed(doing, not_started(&error))),
            Ok(None) => Err(LabError::Interrupted),
            Ok(Some(0)) => Ok(()),
            Ok(Some(_)) => {
                let log = fs::read(&path).unwrap_or_default();
                Err(failed(doing, String::from_utf8_lossy(&log).trim().to_owned()))
            }
        }
    }
}

/// Runs a command with its output in a file, and returns its exit status, or 128 + the signal;
/// `None` if the user interrupted.
///
/// # Errors
/// Fails if the command cannot be run, or the file cannot be created.
pub(super) fn run_logged(
    command: &mut Command,
    log: &Path,
    stop: &AtomicBool,
) -> io::Result<Option<i32>> {
    let log = File::create(log)?;
    run_job(command.stdout(log.try_clone()?).stderr(log), stop)
}

impl Drop for Worktrees {
    fn drop(&mut self) {
        if self.keeps {
            return;
        }
        for tree in &self.trees {
            remove_tree(&self.repository, tree);
        }
        remove_folder(&self.root);
    }
}

/// Removes what killed processes left of this repository: folders of this kind whose lock is free.
/// Those that must be kept have no lock.
fn sweep(repository: &Repository) {
    let list = git(&repository.top).args(["worktree", "list", "--porcelain"]).output();
    let list = list.map(|output| output.stdout).unwrap_or_default();
    for line in String::from_utf8_lossy(&list).lines() {
        let Some(tree) = line.strip_prefix("worktree ").map(Path::new) else { continue };
        let Some(root) = tree.parent() else { continue };
        if !root.file_name().is_some_and(|name| name.to_string_lossy().starts_with(FOLDER)) {
            continue;
        }
        let lock = File::open(root.join(LOCK));
        if lock.is_ok_and(|lock| lock.try_lock().is_ok()) {
            remove_tree(repository, tree);
            // The folder is removed with its last worktree.
            if fs::read_dir(root).is_ok_and(|mut entries| !entries.any(has_tree)) {
                remove_folder(root);
            }
        }
    }
}

fn has_tree(entry: io::Result<fs::DirEntry>) -> bool {
    entry.is_ok_and(|entry| entry.path().join(".git").exists())
}

/// Removes one of our worktrees and the repository's entry for it. Entries of other worktrees stay,
/// so there is no prune. `git worktree remove` fails for some trees: without the permission to
/// write, or with another `.git`.
fn remove_tree(repository: &Repository, tree: &Path) {
    let known = known_of(repository, tree);
    remove_folder(tree);
    if let Some(known) = known {
        remove_folder(&known);
    }
}

/// Returns where the repository keeps its entry for a worktree. The search is in the repository,
/// because a build may have changed the tree's own file `.git`.
fn known_of(repository: &Repository, tree: &Path) -> Option<PathBuf> {
    let common = repository.ask(&["rev-parse", "--git-common-dir"], "find the repository").ok()?;
    let common = repository.top.join(common).canonicalize().ok()?;
    let entries = fs::read_dir(common.join("worktrees")).ok()?;
    entries.flatten().map(|entry| entry.path()).find(|known| {
        let link = fs::read_to_string(known.join("gitdir")).unwrap_or_default();
        let link = known.join(link.trim_end_matches('\n'));
        link.parent().is_some_and(|linked| real(linked) == real(tree))
    })
}

fn real(path: &Path) -> PathBuf {
    path.canonicalize().unwrap_or_else(|_| path.to_owned())
}

/// Removes a folder, even if a build removed the permission to write.
fn remove_folder(folder: &Path) {
    if fs::remove_dir_all(folder).is_err() {
        make_writable(folder);
        let _ = fs::remove_dir_all(folder);
    }
}

fn make_writable(folder: &Path) {
    let _ = fs::set_permissions(folder, Permissions::from_mode(0o700));
    let entries = fs::read_dir(folder).into_iter().flatten().flatten();
    for entry in entries {
        if entry.file_type().is_ok_and(|kind| kind.is_dir()) {
            make_writable(&entry.path());
        }
    }
}
