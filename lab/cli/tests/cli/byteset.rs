//! `tiebreak byteset`: what it writes compiles without a warning, and its own test passes.

use crate::common::Place;
use std::path::Path;
use std::process::Command;

/// Sets with tables by halves, by columns, and with NUL and bytes that are not ASCII.
const SETS: [&str; 3] =
    ["A-Za-z0-9_-", r"\x00\x11\x22\x33\x44\x55\x66\x77\x88\x99", r"^\0\r\n\xff"];

/// Runs a program in a folder; returns whether it succeeded, and what it said.
fn said(folder: &Path, words: &[&str]) -> (bool, String) {
    let ran = Command::new(words[0]).args(&words[1..]).current_dir(folder).output().unwrap();
    let text = [ran.stdout, ran.stderr].concat();
    (ran.status.success(), String::from_utf8(text).unwrap())
}

fn generated(place: &Place, set: &str, language: &str) -> String {
    let file = format!("made.{language}");
    let words = ["byteset", set, "--name", "made", "--lang", language, "--output", &file];
    let ran = place.run(&words);
    assert_eq!((ran.code, ran.err.as_str()), (0, ""), "{ran:?}");
    assert!(ran.out.contains("tables by"), "{ran:?}");
    file
}

#[test]
fn c_is_right_on_this_cpu() {
    let place = Place::new();
    for set in SETS {
        let file = generated(&place, set, "c");
        let flags = ["-O2", "-Wall", "-Wextra", "-Wconversion", "-Werror", "-Dmade_TEST"];
        let words = [&["cc"][..], &flags, &["-o", "made", &file]].concat();
        assert_eq!(said(place.folder(), &words), (true, String::new()), "{set}");
        let (is_right, text) = said(place.folder(), &["./made"]);
        assert!(is_right && text.ends_with("forms are right\n"), "{set}: {text}");
    }
}

#[test]
fn c_is_right_on_arm() {
    let place = Place::new();
    let (compiler, machine) = ("aarch64-linux-gnu-gcc", "qemu-aarch64");
    for tool in [compiler, machine] {
        if Command::new(tool).arg("--version").output().is_err() {
            println!("skipped: there is no {tool} here; scripts/setup.sh test installs it");
            return;
        }
    }
    for set in SETS {
        let file = generated(&place, set, "c");
        let words = [compiler, "-O2", "-static", "-Werror", "-Dmade_TEST", "-o", "made", &file];
        assert_eq!(said(place.folder(), &words), (true, String::new()), "{set}");
        assert_eq!(
            said(place.folder(), &[machine, "./made"]),
            (true, "made: 2 forms are right\n".to_owned()),
            "{set}"
        );
    }
}

#[test]
fn rust_is_right_on_this_cpu() {
    let place = Place::new();
    for set in SETS {
        let file = generated(&place, set, "rust");
        let words =
            ["rustc", "--test", "--edition", "2021", "-O", "-D", "warnings", "-o", "made", &file];
        assert_eq!(said(place.folder(), &words), (true, String::new()), "{set}");
        let (is_right, text) = said(place.folder(), &["./made"]);
        assert!(is_right, "{set}: {text}");
    }
}

#[test]
fn mistakes_are_pointed_at() {
    let place = Place::new();
    for (words, expected) in [
        (&["z-a"][..], "'z-a' runs backwards"),
        (&[""], "no byte is in the set"),
        (&["^"], "all 256 bytes are in the set"),
        (&["a", "--name", "2x"], "'2x' is no name for functions"),
        (&["a", "--lang", "js"], "possible values: c, rust"),
    ] {
        let ran = place.run(&[&["byteset"], words].concat());
        assert_eq!(ran.code, 64, "{ran:?}");
        assert!(ran.err.contains(expected), "{ran:?}");
    }
}
