use super::*;
use crate::revisions::tests::repository::Tiny;

fn worktrees(tiny: &Tiny, keeps: bool) -> Worktrees {
    let repository = Repository::of(tiny.path()).unwrap();
    let mut made = Worktrees::new(repository, keeps).unwrap();
    let commit = tiny.git(&["rev-parse", "HEAD"]);
    for name in ["base", "head"] {
        let revision = Revision { name, asked: "HEAD".to_owned(), commit: commit.clone() };
        made.add(&revision, &AtomicBool::new(false)).unwrap();
    }
    made
}

/// Does what kill -9 does: releases the lock, and removes nothing.
fn kill(mut made: Worktrees) -> PathBuf {
    made.lock = None;
    let root = made.root.clone();
    std::mem::forget(made);
    root
}

#[test]
fn a_kill_leaves_what_is_to_be_kept_and_nothing_else() {
    for keeps in [false, true] {
        let tiny = Tiny::new();
        tiny.commit("app.sh", "one");
        let root = kill(worktrees(&tiny, keeps));
        assert!(root.join("base/app.sh").exists() && root.join("head/app.sh").exists());
        drop(worktrees(&tiny, false));
        for name in ["base/app.sh", "head/app.sh"] {
            assert_eq!(root.join(name).exists(), keeps, "{name}");
        }
        assert_eq!((root.exists(), tiny.worktrees()), (keeps, if keeps { 3 } else { 1 }));
        remove_folder(&root);
    }
}

/// A build can write anything to the file `.git` of its tree.
#[test]
fn where_a_tree_says_that_it_is_known_nothing_is_removed() {
    let (tiny, other) = (Tiny::new(), Tiny::new());
    let place = tempfile::tempdir().unwrap();
    for repository in [&tiny, &other] {
        repository.commit("app.sh", "one");
    }
    let add = |tiny: &Tiny, name: &str| {
        let tree = place.path().join(name);
        tiny.git(&["worktree", "add", "--detach", tree.to_str().unwrap()]);
        tiny.path().join(".git/worktrees").join(name)
    };
    let (mine, others) = (add(&tiny, "mine"), add(&other, "others"));
    let elsewhere = place.path().join("worktrees/precious");
    fs::create_dir_all(&elsewhere).unwrap();
    for named in [&mine, &others, &elsewhere] {
        let made = worktrees(&tiny, false);
        let root = made.root.clone();
        fs::write(root.join("base/.git"), format!("gitdir: {}\n", named.display())).unwrap();
        drop(made);
        assert!(named.exists(), "{}", named.display());
        assert!(!root.exists());
        assert_eq!((tiny.worktrees(), other.worktrees()), (2, 2));
    }
}
