//! `scripts/setup.sh` on machines that are made up: a folder of fake programs is all there is.

#![forbid(unsafe_code)]

use std::fs;
use std::os::unix::fs::{PermissionsExt, symlink};
use std::path::{Path, PathBuf};
use std::process::Command;

/// Programs of the real machine that the script itself needs.
const TOOLS: [&str; 6] = ["sh", "cut", "sort", "head", "printf", "env"];

const RUST: (&str, &str) = ("rustc", "echo rustc 1.95.0 '(abc 2026-04-14)'");
const CC: (&str, &str) = ("cc", "exit 0");
const ROOT: (&str, &str) = ("id", "echo 0");
const USER: (&str, &str) = ("id", "echo 1000");
const APT: (&str, &str) = ("apt-get", "echo apt-get \"$@\"");

/// Makes a folder with these programs and what the script needs of the real ones.
fn machine(name: &str, programs: &[(&str, &str)]) -> PathBuf {
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join(name);
    let _ = fs::remove_dir_all(&folder);
    fs::create_dir_all(&folder).unwrap();
    for tool in TOOLS {
        let places = ["/bin", "/usr/bin"].map(|place| Path::new(place).join(tool));
        let place = places.iter().find(|place| place.exists()).unwrap();
        symlink(place, folder.join(tool)).unwrap();
    }
    for (program, script) in programs {
        let path = folder.join(program);
        fs::write(&path, format!("#!/bin/sh\n{script}\n")).unwrap();
        fs::set_permissions(&path, fs::Permissions::from_mode(0o755)).unwrap();
    }
    folder
}

/// Runs the script there; all `expected` lines must appear, and nothing at all if there are none.
#[track_caller]
fn check(name: &str, programs: &[(&str, &str)], job: &str, status: i32, expected: &[&str]) {
    let folder = machine(name, programs);
    let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("../scripts/setup.sh");
    let output = Command::new("/bin/sh")
        .arg(script)
        .arg(job)
        .env_clear()
        .env("PATH", &folder)
        .env("SSL_CERT_FILE", "here")
        .output()
        .unwrap();
    fs::remove_dir_all(&folder).unwrap();
    let said = String::from_utf8([output.stdout, output.stderr].concat()).unwrap();
    assert_eq!(output.status.code(), Some(status), "{said}");
    for line in expected {
        assert!(said.lines().any(|said| said == *line), "no '{line}' in:\n{said}");
    }
    assert!(!expected.is_empty() || said.is_empty(), "{said}");
}

#[test]
fn where_all_is_there_nothing_is_said() {
    check("whole", &[RUST, CC], "build", 0, &[]);
}

#[test]
fn root_installs_what_is_missing_and_says_so() {
    check(
        "root",
        &[RUST, ROOT, APT],
        "build",
        0,
        &[
            "setup: missing: gcc libc6-dev; running apt-get install -y --no-install-recommends \
             gcc libc6-dev",
            "apt-get update -qq",
            "apt-get install -y --no-install-recommends gcc libc6-dev -qq -o Dpkg::Use-Pty=0",
        ],
    );
}

#[test]
fn others_use_sudo_where_it_asks_nothing() {
    let sudo = ("sudo", "[ \"$1\" = -n ] && exit 0; echo as root: \"$@\"");
    check(
        "sudo",
        &[RUST, USER, APT, sudo],
        "fuzz",
        0,
        &["as root: env DEBIAN_FRONTEND=noninteractive apt-get update -qq"],
    );
}

#[test]
fn where_it_may_not_install_it_says_what_to_run() {
    let command = "    sudo sh -c 'apt-get update && \
                   apt-get install -y --no-install-recommends gcc libc6-dev'";
    let refusing = ("sudo", "exit 1");
    check("user", &[RUST, USER, APT], "build", 1, &[command]);
    check("refused", &[RUST, USER, APT, refusing], "build", 1, &[command]);
    check(
        "other",
        &[RUST, ROOT],
        "build",
        1,
        &["setup: missing, by their names in Debian: gcc libc6-dev"],
    );
}

#[test]
fn an_install_that_fails_says_what_to_do() {
    let failing = ("apt-get", "exit 100");
    check(
        "failing",
        &[RUST, ROOT, failing],
        "build",
        1,
        &["setup: apt-get failed. Install gcc libc6-dev by hand, then try again."],
    );
}

#[test]
fn an_old_or_missing_rust_is_said() {
    let old = ("rustc", "echo rustc 1.94.2 '(abc 2026-01-14)'");
    let said = "setup: Rust 1.95 or newer is needed; here is 1.94.2.";
    check("old", &[old, CC], "build", 1, &[said]);
    let rustup = ("rustup", "exit 0");
    check("rustup", &[old, CC, rustup], "build", 1, &[said, "    rustup update stable"]);
    check("without", &[CC], "build", 1, &["setup: Rust 1.95 or newer is needed; here is none."]);
    let newer = ("rustc", "echo rustc 1.100.0-nightly '(abc 2026-12-14)'");
    check("newer", &[newer, CC], "build", 0, &[]);
}

#[test]
fn an_unknown_job_is_said() {
    let said = "setup: no job is called 'tea'; there are build, test, peers, gate, fuzz, \
                functions, load, load-peers, servers and studies.";
    check("tea", &[RUST, CC], "tea", 64, &[said]);
}
