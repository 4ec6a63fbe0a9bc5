//! Failures, their messages, and that nothing is left behind.

use super::repository::git;
use super::*;
use crate::error::Blame;

fn refused(asked: &RevisionRequest, blame: Blame, says: &[&str]) {
    let error = prepare(asked, &mut Vec::new()).unwrap_err();
    assert_eq!(error.blame(), blame, "{error}");
    for text in says {
        assert!(error.to_string().contains(text), "should say '{text}': {error}");
    }
}

#[test]
fn revisions_that_are_not_there() {
    let tiny = Tiny::new();
    let check =
        |base: &str, blame, says| refused(&asked(tiny.path(), base, "HEAD", None), blame, says);
    check("main", Blame::Data, &["'main'", "nothing is checked out"]);
    tiny.commit("app.sh", "one");
    check("mian", Blame::Data, &["'mian'", "git branch --all"]);
    check("main:app.sh", Blame::Data, &["'main:app.sh'"]);
    check("main..main", Blame::Data, &["'main..main'"]);
    for name in ["", " ", "-x", "--upload-pack=touch x", "a\0b"] {
        check(name, Blame::Usage, &["is not a revision"]);
    }
    check("$(touch x)", Blame::Data, &["'$(touch x)'"]);
    assert!(!tiny.path().join("x").exists());
    let elsewhere = tempfile::tempdir().unwrap();
    let outside = asked(elsewhere.path(), "HEAD", "HEAD", None);
    refused(&outside, Blame::Data, &["cannot find a repository", "not a git repository"]);
    let empty = asked(tiny.path(), "HEAD", "HEAD", Some(" "));
    refused(&empty, Blame::Usage, &["--build is empty"]);
}

#[test]
fn revisions_that_were_not_fetched() {
    let tiny = Tiny::new();
    tiny.commit("app.sh", "one");
    tiny.git(&["switch", "--quiet", "--create", "topic"]);
    tiny.commit("app.sh", "two");
    let place = tempfile::tempdir().unwrap();
    let url = format!("file://{}", tiny.path().display());
    git(place.path(), &["clone", "--quiet", "--depth", "1", &url, "shallow"]);
    let shallow = asked(&place.path().join("shallow"), "origin/main", "HEAD", None);
    refused(&shallow, Blame::Data, &["shallow", "fetch-depth: 0", "--unshallow"]);
    git(place.path(), &["clone", "--quiet", &url, "whole"]);
    let whole = |base| asked(&place.path().join("whole"), base, "HEAD", None);
    refused(&whole("origin/later"), Blame::Data, &["'git fetch origin later'"]);
    refused(&whole("main"), Blame::Data, &["did you mean origin/main?"]);
}

#[test]
fn builds_that_fail() {
    let tiny = Tiny::new();
    tiny.commit("app.sh", "one");
    let head = tiny.commit("broken", "");
    let build = "echo on its way; if [ -e broken ]; then echo 'it is broken' >&2; exit 3; fi";
    let says =
        ["build of head", "status 3", "on its way\nit is broken", &head, "git worktree add", build];
    for builds_at_once in [false, true] {
        let asked = asked(tiny.path(), "HEAD~1", "HEAD", Some(build));
        refused(&RevisionRequest { builds_at_once, ..asked }, Blame::Data, &says[..5]);
        assert_eq!(tiny.worktrees(), 1);
    }
    refused(&asked(tiny.path(), "HEAD", "HEAD", Some("kill -9 $$")), Blame::Data, &["status 137"]);
    // If a build removes the permission to write, the worktrees are removed nevertheless.
    let deep = "mkdir -p deep/er && touch deep/er/file && chmod 500 deep/er deep";
    drop(prepare(&asked(tiny.path(), "HEAD", "HEAD", Some(deep)), &mut Vec::new()).unwrap());
    assert_eq!(tiny.worktrees(), 1);
}

#[test]
fn an_interrupted_build_leaves_nothing() {
    let tiny = Tiny::new();
    tiny.commit("app.sh", "one");
    let (stop, ready) = (AtomicBool::new(false), tiny.path().join("ready"));
    let build = format!("pwd > '{}'; sleep 60", ready.display());
    let asked = asked(tiny.path(), "HEAD", "HEAD", Some(&build));
    let folder = std::thread::scope(|scope| {
        let preparing = scope.spawn(|| Revisions::prepare(&asked, &stop, |_| ()));
        while std::fs::read_to_string(&ready).unwrap_or_default().is_empty() {
            std::thread::sleep(std::time::Duration::from_millis(5));
        }
        stop.store(true, Ordering::Relaxed);
        let error = preparing.join().unwrap().unwrap_err();
        assert_eq!(error.blame(), Blame::User, "{error}");
        read(ready.clone())
    });
    assert!(!Path::new(folder.trim()).parent().unwrap().exists());
    assert_eq!(tiny.worktrees(), 1);
    let stopped = Revisions::prepare(&asked, &stop, |_| ()).unwrap_err();
    assert_eq!(stopped.blame(), Blame::User);
    assert_eq!(tiny.worktrees(), 1);
}
