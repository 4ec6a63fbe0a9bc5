//! The page on the protocol: its contestant runs, and its transcript is what happens.

use super::plan::{PYTHON, root, there};
use std::io::{BufRead, BufReader, Write};
use std::process::{Command, Stdio};

/// The body of the first fenced block of this kind after the heading.
fn block<'a>(page: &'a str, heading: &str, kind: &str) -> &'a str {
    let at = page.find(heading).unwrap_or_else(|| panic!("no heading {heading}"));
    let fence = format!("```{kind}\n");
    let start = at + page[at..].find(&fence).expect("a fenced block") + fence.len();
    let length = page[start..].find("```").expect("the end of the block");
    &page[start..start + length]
}

/// Numbers that differ from run to run become `N`, and versions become `V`.
fn masked(line: &str) -> String {
    let word = |word: &str| match word.split_once('=') {
        Some(("elapsed_ns", _)) => "elapsed_ns=N".to_owned(),
        Some(("parts_ns", value)) => {
            format!("parts_ns={}", vec!["N"; value.split(',').count()].join(","))
        }
        _ => word.to_owned(),
    };
    match line.strip_prefix("hello 1 ") {
        Some(rest) => format!("hello 1 {} V", rest.split(' ').next().unwrap_or_default()),
        None => line.split(' ').map(word).collect::<Vec<_>>().join(" "),
    }
}

#[test]
fn the_transcript_is_what_happens() {
    if !there(&[&PYTHON]) {
        return;
    }
    let page = std::fs::read_to_string(root().join("docs/runner-protocol.md")).unwrap();
    let folder = tempfile::tempdir().unwrap();
    let heading = "## A session";
    std::fs::write(folder.path().join("count.py"), block(&page, heading, "python")).unwrap();
    std::fs::write(folder.path().join("words.txt"), "to be or not to be").unwrap();
    let mut runner = Command::new(PYTHON.as_str())
        .arg("count.py")
        .env("PYTHONPATH", root().join("sdk/python"))
        .env("PYTHONDONTWRITEBYTECODE", "1")
        .current_dir(folder.path())
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    let mut requests = runner.stdin.take().unwrap();
    let mut answers = BufReader::new(runner.stdout.take().unwrap()).lines();
    let mut exchanged = 0;
    for line in block(&page, heading, "text").lines() {
        match line.split_at(2) {
            ("> ", request) => writeln!(requests, "{request}").unwrap(),
            (_, expected) => {
                let answer = answers.next().unwrap().unwrap();
                assert_eq!(masked(&answer), masked(expected));
                exchanged += 1;
            }
        }
    }
    assert!(exchanged >= 5, "{exchanged}");
    assert!(answers.next().is_none(), "nothing comes after bye");
    assert!(runner.wait().unwrap().success());
    assert_eq!(
        std::fs::read_to_string(folder.path().join("answer.txt")).unwrap(),
        "be 2\nnot 1\nor 1\nto 2\n"
    );
}
