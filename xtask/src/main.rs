//! Chores of the repository: `cargo xtask tidy`, `splice`, `elsewhere` and `schema`.

#![forbid(unsafe_code)]

mod aa;
mod circles;
mod copied;
mod edges;
mod finding;
mod gallery;
mod gate;
mod generated;
mod lengths;
mod load_peers;
mod machine;
mod mask;
mod measured;
mod own;
mod pages;
mod peers;
mod placements;
mod programs;
mod rounds;
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
use std::path::Path;
use std::process::ExitCode;

const USAGE: &str = "\
cargo xtask tidy            checks everything that no compiler checks; one line a finding
cargo xtask splice COMMAND  writes the block that COMMAND makes into the pages that have it,
                            from what was measured: cargo xtask splice make peers,
                            cargo xtask splice tiebreak study run parse-uint8
cargo xtask elsewhere DIR   takes over what 'make studies' has measured on another machine: DIR is
                            docs/measured of the checkout there
cargo xtask schema          writes the JSON schemas, as far as they follow from the code
";

fn main() -> Result<ExitCode> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let words: Vec<&str> = arguments.iter().map(String::as_str).collect();
    // The root of the checkout in which this was built.
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("..").canonicalize();
    let root = root.context("finding the root of the checkout")?;
    match &words[..] {
        ["tidy"] => return report(&root),
        ["splice", command @ ..] if !command.is_empty() => {
            let sources = tree::read(&root)?;
            let written = generated::splice(&root, &sources, &command.join(" "))?;
            written.iter().for_each(|page| println!("{page}"));
        }
        ["elsewhere", folder] => {
            let sources = tree::read(&root)?;
            let written = generated::take_elsewhere(&root, &sources, Path::new(folder))?;
            written.iter().for_each(|page| println!("{page}"));
        }
        ["schema"] => {
            generated::write_schemas(&root)?;
        }
        ["help" | "--help" | "-h"] => print!("{USAGE}"),
        _ => {
            eprint!("{USAGE}");
            return Ok(ExitCode::from(64));
        }
    }
    Ok(ExitCode::SUCCESS)
}

fn report(root: &Path) -> Result<ExitCode> {
    let findings = tidy::check(root)?;
    findings.iter().for_each(|finding| println!("{finding}"));
    if findings.is_empty() {
        return Ok(ExitCode::SUCCESS);
    }
    eprintln!("tidy: {} findings", findings.len());
    Ok(ExitCode::FAILURE)
}
