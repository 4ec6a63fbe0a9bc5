//! Notes for the user about two revisions before they are raced.

use super::git::Repository;
use super::{Revision, WORKING_TREE};
use std::fmt;
use tiebreak_report::shell_quote;

/// A note that does not prevent the race of two revisions.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Note {
    /// Both names stand for one commit.
    SameCommit {
        /// Its first digits.
        commit: String,
    },
    /// Tracked files have uncommitted changes, and no commit contains them.
    Uncommitted {
        /// The revision that may have been meant as the working tree.
        head: String,
    },
    /// Base has commits that head does not have.
    Diverged {
        /// Base, as the user named it.
        base: String,
        /// Head, as the user named it.
        head: String,
        /// The number of these commits.
        commits: u64,
    },
}

impl fmt::Display for Note {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Note::SameCommit { commit } => write!(
                f,
                "base and head are the same commit {commit}: this compares it with itself"
            ),
            Note::Uncommitted { head } => write!(
                f,
                "changes that are not committed are not in {head}: commit them, or race the \
                 working tree as it is by --head {WORKING_TREE}"
            ),
            Note::Diverged { base, head, commits } => write!(
                f,
                "{base} has {commits} commit{} that {head} has not, and the verdict is about the \
                 whole difference: --base \"$(git merge-base {} {})\" leaves them out",
                if *commits == 1 { "" } else { "s" },
                shell_quote(base),
                shell_quote(head)
            ),
        }
    }
}

/// Returns all notes; what git does not report is not noted.
pub(super) fn notes(repository: &Repository, revisions: &[Revision; 2]) -> Vec<Note> {
    let [base, head] = revisions;
    let mut notes = Vec::new();
    if base.asked == WORKING_TREE || head.asked == WORKING_TREE {
        return notes;
    }
    if base.commit == head.commit {
        notes.push(Note::SameCommit { commit: base.short().to_owned() });
    } else {
        let commits = repository.commits_only_in(&base.commit, &head.commit).unwrap_or(0);
        if commits > 0 {
            let (base, head) = (base.asked.clone(), head.asked.clone());
            notes.push(Note::Diverged { base, head, commits });
        }
    }
    let is_checked_out = repository.commit("HEAD").is_ok_and(|commit| commit == head.commit);
    if is_checked_out && repository.is_changed().unwrap_or(false) {
        notes.push(Note::Uncommitted { head: head.asked.clone() });
    }
    notes
}
