use super::*;
use repository::Tiny;

mod planned;
pub(super) mod repository;
mod troubles;

/// Builds the program `app` of a tiny repository.
const BUILD: &str = "cp app.sh app && chmod +x app";

fn asked(folder: &Path, base: &str, head: &str, build: Option<&str>) -> RevisionRequest {
    RevisionRequest {
        base: base.to_owned(),
        head: head.to_owned(),
        build: build.map(str::to_owned),
        directory: folder.to_owned(),
        builds_at_once: false,
        keeps: false,
    }
}

/// Prepares two revisions, and writes the steps as lines.
fn prepare(asked: &RevisionRequest, steps: &mut Vec<String>) -> Result<Revisions, LabError> {
    Revisions::prepare(asked, &AtomicBool::new(false), |step| {
        steps.push(match step {
            Step::Noted(note) => note,
            Step::CheckingOut(revision) => format!("{} out", revision.name),
            Step::Building(revision, command) => format!("{}: {command}", revision.name),
        });
    })
}

fn read(path: PathBuf) -> String {
    std::fs::read_to_string(path).unwrap()
}

#[test]
fn both_are_checked_out_and_built_and_then_gone() {
    for builds_at_once in [false, true] {
        let tiny = Tiny::new();
        let first = tiny.commit("app.sh", "#!/bin/sh\necho one\n");
        let second = tiny.commit("app.sh", "#!/bin/sh\necho two\n");
        let mut steps = Vec::new();
        let asked =
            RevisionRequest { builds_at_once, ..asked(tiny.path(), "HEAD~1", "HEAD", Some(BUILD)) };
        let made = prepare(&asked, &mut steps).unwrap();
        let building = [format!("base: {BUILD}"), format!("head: {BUILD}")];
        assert_eq!(steps, ["base out", "head out", &building[0], &building[1]]);
        assert_eq!(made.revisions.clone().map(|revision| revision.commit), [first, second]);
        let [base, head] = NAMES.map(|name| made.folder(name));
        assert_eq!(base.as_os_str().len(), head.as_os_str().len());
        assert!(read(base.join("app")).contains("one") && read(head.join("app")).contains("two"));
        assert!(!base.starts_with(tiny.path()));
        assert_eq!(tiny.worktrees(), 3);
        let root = made.root().to_owned();
        drop(made);
        assert!(!root.exists());
        assert_eq!(tiny.worktrees(), 1);
    }
}

#[test]
fn a_folder_of_the_tree_is_the_same_folder_of_the_worktrees() {
    let tiny = Tiny::new();
    tiny.commit("app.sh", "");
    tiny.commit("sub folder/app.sh", "#!/bin/sh\n");
    let folder = tiny.path().join("sub folder");
    let build = Some("pwd > here && cp app.sh app");
    let made = prepare(&asked(&folder, "HEAD", "HEAD", build), &mut Vec::new()).unwrap();
    let base = made.folder("base");
    assert!(base.ends_with("base/sub folder"));
    assert_eq!(read(base.join("here")).trim(), base.to_str().unwrap());
    drop(made);
    let error = prepare(&asked(&folder, "HEAD~1", "HEAD", build), &mut Vec::new()).unwrap_err();
    assert!(error.to_string().contains("no folder 'sub folder'"), "{error}");
    assert_eq!(tiny.worktrees(), 1);
}

#[test]
fn the_working_tree_is_raced_as_it_is() {
    let tiny = Tiny::new();
    tiny.commit(".gitignore", "ignored\n");
    tiny.commit("app.sh", "one");
    for (name, text) in [("app.sh", "two"), ("new.sh", "three"), ("ignored", "four")] {
        std::fs::write(tiny.path().join(name), text).unwrap();
    }
    tiny.git(&["add", "app.sh"]);
    let before = tiny.git(&["status", "--porcelain"]);
    let mut steps = Vec::new();
    let asked = asked(tiny.path(), "HEAD", WORKING_TREE, None);
    let made = prepare(&asked, &mut steps).unwrap();
    assert_eq!(steps, ["base out", "head out"]);
    let head = made.folder("head");
    assert_eq!(
        (read(head.join("app.sh")), read(head.join("new.sh"))),
        ("two".into(), "three".into())
    );
    assert!(!head.join("ignored").exists());
    assert_eq!(read(made.folder("base").join("app.sh")), "one");
    let again = prepare(&asked, &mut steps).unwrap();
    assert_eq!(again.revisions, made.revisions, "the same tree is the same commit");
    assert_eq!(tiny.git(&["status", "--porcelain"]), before);
    assert_eq!(tiny.git(&["branch"]).lines().count(), 1);
}

#[test]
fn what_is_worth_a_note_is_noted() {
    let tiny = Tiny::new();
    tiny.commit("app.sh", "one");
    tiny.git(&["branch", "topic"]);
    tiny.commit("app.sh", "two");
    tiny.commit("app.sh", "three");
    let notes = |base: &str, head: &str| {
        find(&asked(tiny.path(), base, head, None)).unwrap().notes.join("; ")
    };
    assert_eq!(notes("topic", "main"), "");
    assert!(notes("HEAD", "main").contains("the same commit"));
    let diverged = "main has 2 commits that topic has not";
    assert!(notes("main", "topic").contains(diverged), "{}", notes("main", "topic"));
    // The command in the note quotes the name for a shell.
    tiny.git(&["branch", "$(touch${IFS}x);'", "main"]);
    let note = notes("$(touch${IFS}x);'", "topic");
    assert!(note.contains(r#""$(git merge-base '$(touch${IFS}x);'\''' topic)""#), "{note}");
    std::fs::write(tiny.path().join("app.sh"), "four").unwrap();
    assert!(notes("topic", "HEAD").contains("not committed are not in HEAD"));
    assert_eq!(notes("topic", "main~1"), "");
}

#[test]
fn worktrees_that_are_kept_stay() {
    let tiny = Tiny::new();
    tiny.commit("app.sh", "one");
    let keeps = RevisionRequest { keeps: true, ..asked(tiny.path(), "HEAD", "HEAD", Some(BUILD)) };
    let root = prepare(&keeps, &mut Vec::new()).unwrap().root().to_owned();
    drop(prepare(&asked(tiny.path(), "HEAD", "HEAD", None), &mut Vec::new()).unwrap());
    assert!(root.join("base/app").exists() && root.join("head/app").exists());
    assert_eq!(tiny.worktrees(), 3);
    std::fs::remove_dir_all(root).unwrap();
}

#[test]
fn what_a_killed_process_left_is_taken_away_and_nothing_else() {
    let tiny = Tiny::new();
    tiny.commit("app.sh", "one");
    let place = tempfile::tempdir().unwrap();
    let tree = |folder: &str, lock: Option<&str>| {
        let folder = place.path().join(folder);
        let tree = folder.join("base");
        tiny.git(&["worktree", "add", "--detach", tree.to_str().unwrap()]);
        lock.map(|lock| std::fs::File::create(folder.join(lock)).unwrap())
    };
    drop(tree("tiebreak-revisions-1", Some("lock")));
    let held = tree("tiebreak-revisions-2", Some("lock")).unwrap();
    held.lock().unwrap();
    tree("tiebreak-revisions-3", None);
    drop(tree("other", Some("lock")));
    // A worktree of another program, whose folder is missing: it may be on a disk that is not
    // mounted.
    let gone = tree("another", None).is_none().then(|| place.path().join("another"));
    std::fs::remove_dir_all(gone.unwrap()).unwrap();
    drop(prepare(&asked(tiny.path(), "HEAD", "HEAD", None), &mut Vec::new()).unwrap());
    let there = |folder: &str| place.path().join(folder).exists();
    assert!(!there("tiebreak-revisions-1"));
    assert!(there("tiebreak-revisions-2") && there("tiebreak-revisions-3") && there("other"));
    assert_eq!(tiny.worktrees(), 5);
}

#[test]
fn tails_are_short_and_plain() {
    fn check(output: &str, expected: &str) {
        assert_eq!(tail(output.as_bytes()), expected);
    }
    check("", "");
    check("one\n\x1b[31mtwo\r\n\n", "one\n [31mtwo");
    let many: String = (1..=30).map(|line| format!("{line}\n")).collect();
    let last: Vec<String> = (11..=30).map(|line| line.to_string()).collect();
    check(&many, &last.join("\n"));
    check(&"x".repeat(1000), &"x".repeat(COLUMNS_MAX));
}
