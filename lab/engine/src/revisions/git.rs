//! Runs git, and makes a commit of the working tree without changing the tree, its index or its
//! branches.

use super::unfit;
use crate::error::{LabError, usage};
use std::io;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

/// Variables that git sets for a hook, and that would make it work in the wrong place if a hook
/// calls this program.
const OF_HOOKS: [&str; 5] =
    ["GIT_DIR", "GIT_WORK_TREE", "GIT_INDEX_FILE", "GIT_PREFIX", "GIT_COMMON_DIR"];

/// The author and the date of a commit of the working tree: always the same, so that the same tree
/// is the same commit.
const IDENTITY: [(&str, &str); 6] = [
    ("GIT_AUTHOR_NAME", "tiebreak"),
    ("GIT_AUTHOR_EMAIL", "tiebreak@localhost"),
    ("GIT_AUTHOR_DATE", "@0 +0000"),
    ("GIT_COMMITTER_NAME", "tiebreak"),
    ("GIT_COMMITTER_EMAIL", "tiebreak@localhost"),
    ("GIT_COMMITTER_DATE", "@0 +0000"),
];

/// A repository, and the folder in it to which commands are relative.
#[derive(Clone, Debug)]
pub(super) struct Repository {
    /// The top of the working tree; for a bare repository the repository itself.
    pub(super) top: PathBuf,
    /// The folder, relative to the top; empty at the top.
    pub(super) prefix: PathBuf,
}

/// Returns a git command in this folder, which prompts for nothing and runs no hooks.
pub(crate) fn git(folder: &Path) -> Command {
    let mut command = Command::new("git");
    command.arg("-C").arg(folder).args(["-c", "core.hooksPath=/dev/null"]);
    command.env("GIT_TERMINAL_PROMPT", "0").stdin(Stdio::null());
    without_hooks(&mut command);
    command
}

/// Makes a command find the repository of the folder that it runs in, and no other.
pub(super) fn without_hooks(command: &mut Command) {
    for name in OF_HOOKS {
        command.env_remove(name);
    }
}

/// Returns what git printed, without the last line break.
///
/// # Errors
/// Fails if there is no git, or if it fails; `doing` completes "cannot".
pub(crate) fn output(command: &mut Command, doing: &str) -> Result<String, LabError> {
    let output = command.output().map_err(|error| failed(doing, not_started(&error)))?;
    if !output.status.success() {
        return Err(failed(doing, String::from_utf8_lossy(&output.stderr).trim().to_owned()));
    }
    let text = String::from_utf8_lossy(&output.stdout).into_owned();
    Ok(text.strip_suffix('\n').unwrap_or(&text).to_owned())
}

/// Returns the error of a command that printed this message; `doing` completes "cannot".
pub(super) fn failed(doing: &str, message: String) -> LabError {
    LabError::Data(format!("cannot {doing}: {message}"))
}

/// Returns why git could not be started.
pub(super) fn not_started(error: &io::Error) -> String {
    match error.kind() {
        io::ErrorKind::NotFound => "git is not here: install it".to_owned(),
        _ => error.to_string(),
    }
}

impl Repository {
    /// Returns the repository that contains a folder.
    ///
    /// # Errors
    /// Fails if none does, or if git refuses to use it.
    pub(super) fn of(folder: &Path) -> Result<Repository, LabError> {
        let doing = format!("find a repository at {}", folder.display());
        let here = Repository { top: folder.to_owned(), prefix: PathBuf::new() };
        if here.ask(&["rev-parse", "--is-bare-repository"], &doing)? == "true" {
            let top = here.ask(&["rev-parse", "--absolute-git-dir"], &doing)?.into();
            return Ok(Repository { top, ..here });
        }
        let top = here.ask(&["rev-parse", "--show-toplevel"], &doing)?;
        let prefix = here.ask(&["rev-parse", "--show-prefix"], &doing)?;
        Ok(Repository { top: top.into(), prefix: prefix.trim_end_matches('/').into() })
    }

    /// Runs git with these words, and returns what it prints.
    ///
    /// # Errors
    /// As [`output`].
    pub(super) fn ask(&self, words: &[&str], doing: &str) -> Result<String, LabError> {
        output(git(&self.top).args(words), doing)
    }

    /// Returns the full commit that a name stands for, if there is one.
    fn find(&self, name: &str) -> Option<String> {
        let commit = format!("{name}^{{commit}}");
        self.ask(&["rev-parse", "--verify", "--quiet", &commit], "look").ok()
    }

    /// Returns the full commit that a revision names.
    ///
    /// # Errors
    /// Fails if it names none; the text says how to get it.
    pub(super) fn commit(&self, revision: &str) -> Result<String, LabError> {
        if revision.trim().is_empty() || revision.starts_with('-') || revision.contains('\0') {
            return usage(format!(
                "'{}' is not a revision: give a branch, a tag or a commit, such as origin/main",
                revision.replace('\0', "?")
            ));
        }
        self.find(revision).ok_or_else(|| unfit(revision, &self.why_unknown(revision)))
    }

    /// Returns what to do about an unknown revision.
    fn why_unknown(&self, revision: &str) -> String {
        if self.find("HEAD").is_none() {
            return "there is no such commit, and nothing is checked out".to_owned();
        }
        let shallow = self.ask(&["rev-parse", "--is-shallow-repository"], "look");
        if shallow.is_ok_and(|answer| answer == "true") {
            return "it is not here, and this clone is shallow: 'git fetch --unshallow' gets the \
                    rest (on GitHub 'fetch-depth: 0' for actions/checkout, on GitLab \
                    'GIT_DEPTH: 0')"
                .to_owned();
        }
        let remotes = self.ask(&["remote"], "look").unwrap_or_default();
        let remote = remotes.lines().find_map(|remote| {
            let branch = revision.strip_prefix(remote)?.strip_prefix('/')?;
            Some((remote, branch))
        });
        if let Some((remote, branch)) = remote {
            return format!("it is not here: 'git fetch {remote} {branch}' may get it");
        }
        let mut elsewhere = remotes.lines().map(|remote| format!("{remote}/{revision}"));
        match elsewhere.find(|name| self.find(name).is_some()) {
            Some(name) => format!("it is not here; did you mean {name}?"),
            None => {
                "it is not here: 'git branch --all' and 'git tag' list names, 'git fetch' gets \
                     what is new"
                    .to_owned()
            }
        }
    }

    /// Returns how many commits lead to `this` and not to `other`.
    ///
    /// # Errors
    /// Fails if git fails.
    pub(super) fn commits_only_in(&self, this: &str, other: &str) -> Result<u64, LabError> {
        let doing = "count commits";
        let count = self.ask(&["rev-list", "--count", this, &format!("^{other}")], doing)?;
        count.parse().map_err(|_| failed(doing, count))
    }

    /// Returns whether tracked files have uncommitted changes.
    ///
    /// # Errors
    /// Fails if git fails, or if there is no working tree.
    pub(super) fn is_changed(&self) -> Result<bool, LabError> {
        let words = ["status", "--porcelain", "--untracked-files=no"];
        Ok(!self.ask(&words, "look for changes")?.is_empty())
    }

    /// Writes all files of the working tree that are not ignored to a commit that is on no branch,
    /// through a separate index at `index`, and returns the commit. git deletes it eventually.
    ///
    /// # Errors
    /// Fails if git fails: there is no working tree, or no commit yet.
    pub(super) fn snapshot(&self, index: &Path) -> Result<String, LabError> {
        let doing = "take the working tree as it is";
        // A copy of the index knows which files have not changed since they were last read.
        let theirs = self.top.join(self.ask(&["rev-parse", "--git-path", "index"], doing)?);
        if theirs.exists() {
            std::fs::copy(&theirs, index).map_err(|error| failed(doing, error.to_string()))?;
        }
        let mut add = git(&self.top);
        output(add.args(["add", "--all"]).env("GIT_INDEX_FILE", index), doing)?;
        let tree = output(git(&self.top).arg("write-tree").env("GIT_INDEX_FILE", index), doing)?;
        let words = ["commit-tree", &tree, "-p", "HEAD", "-m", "The working tree"];
        output(git(&self.top).args(words).envs(IDENTITY), doing)
    }
}
