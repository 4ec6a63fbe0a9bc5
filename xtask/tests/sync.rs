//! `scripts/sync.sh` refuses what it cannot do before it runs anything, and skips what is missing.

#![forbid(unsafe_code)]

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::LazyLock;

/// A cargo that runs nothing, and whose one toolchain next to its own is `+there`, without Miri.
const CARGO: &str = r#"#!/bin/sh
case "$*" in
    "--version" | "+there --version") echo "cargo 1.95.0" ;;
    *) exit 101 ;;
esac
"#;

/// A folder with it, and with a rustup that fetches nothing. It is made before any test runs a
/// program: a file that is open for writing, if only in a child that is being made, does not run.
static FOLDER: LazyLock<PathBuf> = LazyLock::new(|| {
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join("sync");
    fs::create_dir_all(&folder).unwrap();
    for (name, text) in [("cargo", CARGO), ("rustup", "#!/bin/sh\nexit 1\n")] {
        let path = folder.join(name);
        fs::write(&path, text).unwrap();
        fs::set_permissions(&path, fs::Permissions::from_mode(0o755)).unwrap();
    }
    folder
});

/// Runs the script, with this cargo if not the one above; its status and what it said.
fn sync(words: &[&str], cargo: Option<&str>, nightly: Option<&str>) -> (Option<i32>, String) {
    let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("../scripts/sync.sh");
    let path = format!("{}:/usr/bin:/bin", FOLDER.display());
    let mut command = Command::new("/bin/sh");
    command.arg(script).args(words).env_clear().env("PATH", path);
    command.envs(cargo.map(|cargo| ("CARGO", cargo)));
    command.envs(nightly.map(|nightly| ("NIGHTLY", nightly)));
    let output = command.output().unwrap();
    let said = String::from_utf8([output.stdout, output.stderr].concat()).unwrap();
    (output.status.code(), said)
}

#[test]
fn a_wrong_word_is_refused_before_anything_runs() {
    for words in [&["short", "miri", "bogus"][..], &["short", "bogus", "miri"]] {
        let (status, said) = sync(words, None, None);
        assert_eq!(status, Some(64), "{said}");
        assert!(
            said.contains("no job is called 'bogus'") && !said.contains("sync: miri"),
            "{said}"
        );
    }
    for words in [&[][..], &["miri"]] {
        let (status, said) = sync(words, None, None);
        assert_eq!((status, said.contains("say short or full")), (Some(64), true), "{said}");
    }
}

#[test]
fn a_cargo_or_toolchain_that_was_asked_for_has_to_be_there() {
    let (status, said) = sync(&["short", "miri"], Some("/nonexistent"), None);
    assert_eq!((status, said.contains("'/nonexistent' does not run")), (Some(70), true), "{said}");
    let (status, said) = sync(&["short", "miri"], None, Some("+nosuch"));
    assert_eq!((status, said.contains("no toolchain '+nosuch'")), (Some(70), true), "{said}");
}

#[test]
fn what_was_not_asked_for_may_be_missing() {
    for (nightly, install) in [(None, "install nightly"), (Some("+there"), "install there")] {
        let (status, said) = sync(&["short", "miri"], None, nightly);
        assert_eq!(status, Some(0), "{said}");
        assert!(said.contains("miri: skipped") && said.contains(install), "{said}");
    }
}
