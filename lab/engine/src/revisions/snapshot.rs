//! Makes a commit of the working tree without changing the tree, its index or its branches.

use super::git::{Repository, git, said};
use crate::error::LabError;
use std::path::Path;
use std::process::Command;

/// The author and the date of the commit: always the same, so that the same tree is the same
/// commit.
const IDENTITY: [(&str, &str); 6] = [
    ("GIT_AUTHOR_NAME", "tiebreak"),
    ("GIT_AUTHOR_EMAIL", "tiebreak@localhost"),
    ("GIT_AUTHOR_DATE", "@0 +0000"),
    ("GIT_COMMITTER_NAME", "tiebreak"),
    ("GIT_COMMITTER_EMAIL", "tiebreak@localhost"),
    ("GIT_COMMITTER_DATE", "@0 +0000"),
];

/// Writes all files of the working tree that are not ignored to a commit that is on no branch,
/// through a separate index at `index`, and returns the commit. git deletes it eventually.
///
/// # Errors
/// Fails if git fails: there is no working tree, or no commit yet.
pub(super) fn commit(repository: &Repository, index: &Path) -> Result<String, LabError> {
    let doing = "take the working tree as it is";
    let broken =
        |error: std::io::Error| LabError::Git { doing: doing.to_owned(), said: error.to_string() };
    let ask = |command: &mut Command| said(command.env("GIT_INDEX_FILE", index), doing);
    // A copy of the index knows which files have not changed since they were last read.
    let theirs = said(git(&repository.top).args(["rev-parse", "--git-path", "index"]), doing)?;
    let theirs = repository.top.join(theirs);
    if theirs.exists() {
        std::fs::copy(&theirs, index).map_err(broken)?;
    }
    ask(git(&repository.top).args(["add", "--all"]))?;
    let tree = ask(git(&repository.top).arg("write-tree"))?;
    let mut commit = git(&repository.top);
    commit.args(["commit-tree", &tree, "-p", "HEAD", "-m", "The working tree"]);
    ask(commit.envs(IDENTITY))
}
