//! Chores of the repository: `cargo xtask tidy`, `cargo xtask splice` and `cargo xtask schema`.

#![forbid(unsafe_code)]

mod aa;
mod circles;
mod copied;
mod edges;
mod finding;
mod gate;
mod generated;
mod lengths;
mod machine;
mod mask;
mod measured;
mod own;
mod pages;
mod peers;
mod ratchet;
mod scopes;
mod shares;
mod sooner;
mod study;
mod table;
mod tidy;
mod tree;
mod truth;
mod unsafety;
mod words;

use anyhow::{Context, Result};
use std::path::{Path, PathBuf};
use std::process::ExitCode;

const USAGE: &str = "\
cargo xtask tidy            checks everything that no compiler checks; one line a finding
cargo xtask tidy --bless    shrinks the entries of xtask/ratchet.txt, then checks
cargo xtask splice COMMAND  writes the block that COMMAND makes into the pages that have it,
                            from what was measured: cargo xtask splice make peers,
                            cargo xtask splice tiebreak study run parse-uint8
cargo xtask schema          writes the JSON schemas, as far as they follow from the code
";

fn main() -> Result<ExitCode> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let words: Vec<&str> = arguments.iter().map(String::as_str).collect();
    let root = root()?;
    match &words[..] {
        ["tidy"] => report(&root),
        ["tidy", "--bless"] => {
            tidy::bless(&root)?;
            report(&root)
        }
        ["splice", command @ ..] if !command.is_empty() => {
            let sources = tree::read(&root)?;
            for page in generated::splice(&root, &sources, &command.join(" "))? {
                println!("{page}");
            }
            Ok(ExitCode::SUCCESS)
        }
        ["schema"] => {
            generated::write_schemas(&root)?;
            Ok(ExitCode::SUCCESS)
        }
        ["help" | "--help" | "-h"] => {
            print!("{USAGE}");
            Ok(ExitCode::SUCCESS)
        }
        _ => {
            eprint!("{USAGE}");
            Ok(ExitCode::from(64))
        }
    }
}

fn report(root: &Path) -> Result<ExitCode> {
    let findings = tidy::check(root)?;
    for finding in &findings {
        println!("{finding}");
    }
    match findings.len() {
        0 => Ok(ExitCode::SUCCESS),
        count => {
            eprintln!("tidy: {count} findings");
            Ok(ExitCode::FAILURE)
        }
    }
}

/// The root of the checkout in which this was built.
fn root() -> Result<PathBuf> {
    let here = Path::new(env!("CARGO_MANIFEST_DIR"));
    let root = here.parent().context("xtask lies in no folder")?;
    root.canonicalize().with_context(|| format!("finding {}", root.display()))
}
