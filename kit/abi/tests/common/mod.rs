//! Compilers: where they are, and what they make.
#![allow(dead_code, reason = "each test uses a part of this")]

use std::path::{Path, PathBuf};
use std::process::Command;
use tempfile::TempDir;

/// The folder of the header.
pub fn include() -> String {
    concat!(env!("CARGO_MANIFEST_DIR"), "/include").to_owned()
}

/// Whether the compiler is there; says on standard error what is not looked at otherwise.
pub fn has(compiler: &str) -> bool {
    let there =
        Command::new(compiler).arg("--version").output().is_ok_and(|it| it.status.success());
    if !there {
        eprintln!("skipped: {compiler} is not on the PATH, so what it makes is not looked at");
    }
    there
}

/// Runs a command that must succeed, and gives what it printed.
pub fn run(command: &[&str]) -> String {
    let output =
        Command::new(command[0]).args(&command[1..]).output().expect("the program is there");
    assert!(
        output.status.success(),
        "{}\n{}",
        command.join(" "),
        String::from_utf8_lossy(&output.stderr)
    );
    String::from_utf8(output.stdout).expect("text")
}

/// A folder that goes when the test ends.
pub struct Folder(TempDir);

impl Folder {
    /// An empty folder.
    pub fn new() -> Folder {
        Folder(tempfile::tempdir().expect("a folder for temporary files"))
    }

    /// A path in it.
    pub fn path(&self, name: &str) -> String {
        self.0.path().join(name).to_string_lossy().into_owned()
    }

    /// Writes a file and gives its path.
    pub fn write(&self, name: &str, text: &str) -> String {
        let path = PathBuf::from(self.path(name));
        std::fs::create_dir_all(path.parent().expect("it is in a folder")).expect("can be made");
        std::fs::write(&path, text).expect("can be written");
        path.to_string_lossy().into_owned()
    }

    /// Builds this crate from what it says of itself, by rustc alone, and gives the library.
    pub fn build_abi(&self) -> String {
        for (path, text) in tiebreak_abi::SOURCES {
            self.write(&format!("abi/{path}"), text);
        }
        let library = self.path("libtiebreak_abi.rlib");
        run(&[
            "rustc",
            "--edition",
            "2024",
            "--crate-type",
            "rlib",
            "--crate-name",
            "tiebreak_abi",
            "-O",
            "-D",
            "warnings",
            &self.path("abi/src/lib.rs"),
            "-o",
            &library,
        ]);
        library
    }
}

/// A file of the repository.
pub fn page(path: &str) -> String {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..").join(path);
    std::fs::read_to_string(&path).unwrap_or_else(|error| panic!("{}: {error}", path.display()))
}
