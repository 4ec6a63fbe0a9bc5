//! A tiny repository.

use std::path::Path;
use std::process::Command;

pub struct Tiny {
    folder: tempfile::TempDir,
}

/// Runs git with fixed settings, independent of the user who runs the test.
pub fn git(folder: &Path, words: &[&str]) -> String {
    let mut git = Command::new("git");
    git.arg("-C").arg(folder).args(["-c", "user.name=T", "-c", "user.email=t@localhost"]);
    git.args(words).env("GIT_CONFIG_GLOBAL", "/dev/null").env_remove("GIT_DIR");
    let output = git.output().unwrap();
    assert!(output.status.success(), "git {words:?}: {output:?}");
    String::from_utf8(output.stdout).unwrap().trim_end().to_owned()
}

impl Tiny {
    /// Creates a repository without commits, on the branch `main`.
    pub fn new() -> Tiny {
        let tiny = Tiny { folder: tempfile::tempdir().unwrap() };
        tiny.git(&["init", "--quiet", "--initial-branch", "main"]);
        tiny
    }

    pub fn path(&self) -> &Path {
        self.folder.path()
    }

    pub fn git(&self, words: &[&str]) -> String {
        git(self.path(), words)
    }

    /// Commits a file and returns the commit.
    pub fn commit(&self, name: &str, text: &str) -> String {
        let path = self.path().join(name);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(path, text).unwrap();
        self.git(&["add", name]);
        self.git(&["commit", "--quiet", "--message", name]);
        self.git(&["rev-parse", "HEAD"])
    }

    /// Returns how many worktrees the repository knows, with its own.
    pub fn worktrees(&self) -> usize {
        self.git(&["worktree", "list", "--porcelain"])
            .lines()
            .filter(|line| line.starts_with("worktree "))
            .count()
    }
}
