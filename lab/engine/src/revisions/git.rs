//! Runs git.

use crate::error::LabError;
use crate::planning::usage;
use std::ffi::OsStr;
use std::io;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

/// Variables that git sets for a hook, and that would make it work in the wrong place if a hook
/// calls this program.
const OF_HOOKS: [&str; 5] =
    ["GIT_DIR", "GIT_WORK_TREE", "GIT_INDEX_FILE", "GIT_PREFIX", "GIT_COMMON_DIR"];

/// A repository, and the folder in it to which commands are relative.
#[derive(Clone, Debug)]
pub(super) struct Repository {
    /// The top of the working tree; for a bare repository the repository itself.
    pub(super) top: PathBuf,
    /// The folder, relative to the top; empty at the top.
    pub(super) prefix: PathBuf,
}

/// Returns a git command in this folder, which prompts for nothing and runs no hooks.
pub(super) fn git(folder: &Path) -> Command {
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
pub(super) fn said(command: &mut Command, doing: &str) -> Result<String, LabError> {
    let failed = |said: String| LabError::Git { doing: doing.to_owned(), said };
    let output = command.output().map_err(|error| failed(not_started(&error)))?;
    if !output.status.success() {
        return Err(failed(String::from_utf8_lossy(&output.stderr).trim().to_owned()));
    }
    let text = String::from_utf8_lossy(&output.stdout).into_owned();
    Ok(text.strip_suffix('\n').unwrap_or(&text).to_owned())
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
        let ask = |what: &str| said(git(folder).args(["rev-parse", what]), &doing);
        if ask("--is-bare-repository")? == "true" {
            let top = PathBuf::from(ask("--absolute-git-dir")?);
            return Ok(Repository { top, prefix: PathBuf::new() });
        }
        let (top, prefix) = (ask("--show-toplevel")?, ask("--show-prefix")?);
        Ok(Repository { top: top.into(), prefix: prefix.trim_end_matches('/').into() })
    }

    fn ask(&self, words: &[impl AsRef<OsStr>], doing: &str) -> Result<String, LabError> {
        said(git(&self.top).args(words), doing)
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
        let commit = format!("{revision}^{{commit}}");
        let found = self.ask(&["rev-parse", "--verify", "--quiet", &commit], "look");
        found.map_err(|_| {
            let why = self.why_unknown(revision);
            LabError::Revision { revision: revision.to_owned(), why }
        })
    }

    /// Returns what to do about an unknown revision.
    fn why_unknown(&self, revision: &str) -> String {
        let has = |name: &str| {
            let commit = format!("{name}^{{commit}}");
            self.ask(&["rev-parse", "--verify", "--quiet", &commit], "look").is_ok()
        };
        if !has("HEAD") {
            return "there is no such commit, and nothing is checked out".to_owned();
        }
        let shallow = self.ask(&["rev-parse", "--is-shallow-repository"], "look");
        if shallow.is_ok_and(|said| said == "true") {
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
        match elsewhere.find(|name| has(name)) {
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
        let not_a_number = |_| LabError::Git { doing: doing.to_owned(), said: count.clone() };
        count.parse().map_err(not_a_number)
    }

    /// Returns whether tracked files have uncommitted changes.
    ///
    /// # Errors
    /// Fails if git fails, or if there is no working tree.
    pub(super) fn is_changed(&self) -> Result<bool, LabError> {
        let words = ["status", "--porcelain", "--untracked-files=no"];
        Ok(!self.ask(&words, "look for changes")?.is_empty())
    }
}
