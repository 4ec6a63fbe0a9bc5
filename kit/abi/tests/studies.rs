//! The scripts of studies that look at what compilers make.

mod common;

use common::has;
use std::process::Command;

/// Runs a script of the studies, and gives what it printed.
fn script(path: &str) -> String {
    let path = format!("{}/../../studies/{path}", env!("CARGO_MANIFEST_DIR"));
    let output = Command::new("sh").arg(&path).output().expect("a shell is there");
    let text = String::from_utf8_lossy(&output.stdout).into_owned();
    let errors = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{path}\n{text}{errors}");
    text
}

/// Strings that are laid out at compile time are one read-only block, in every language; an array
/// of pointers is not, and the same check refuses it.
#[test]
fn strings_of_byte_table_are_one_block() {
    if !has("nm") {
        return;
    }
    let text = script("byte-table/check.sh");
    assert!(text.contains("contiguous"), "no compiler was there:\n{text}");
    for line in text.lines().filter(|line| !line.contains("skipped")) {
        let is_control = line.starts_with("scattered");
        assert_eq!(line.contains(": refused, "), is_control, "{line}");
        assert_eq!(line.contains(": contiguous"), !is_control, "{line}");
    }
}

/// The errors that the README of strength-reduction quotes are those of the forms.
#[test]
fn errors_of_strength_reduction_are_as_its_page_says() {
    if !has("clang") {
        return;
    }
    let text = script("strength-reduction/accuracy.sh");
    let page = common::page("studies/strength-reduction/README.md");
    assert!(page.contains(&text), "the page does not have\n{text}");
}
