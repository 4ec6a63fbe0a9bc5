//! `tiebreak byteset`: source code that looks for a set of bytes.

use crate::choice::{Names, one_of};
use crate::exit;
use crate::io::Io;
use crate::output::OutputFile;
use clap::Args;
use std::path::PathBuf;
use tiebreak_lab::LabError;
use tiebreak_lab::byteset::{Language, generate};

#[derive(Debug, Args)]
pub struct BytesetOptions {
    /// The set: bytes, ranges such as a-z, \n, \x7f; after a ^ all others
    #[arg(value_name = "SET", allow_hyphen_values = true)]
    set: String,

    /// What the functions are called: NAME_span and NAME_find
    #[arg(long, value_name = "NAME", default_value = "set")]
    name: String,

    /// The language
    #[arg(long = "lang", value_parser = one_of(LANGUAGES), default_value = "c")]
    language: Language,

    /// Write the source to a file, and say which tables it has
    #[arg(long, short, value_name = "FILE")]
    output: Option<PathBuf>,
}

const LANGUAGES: Names<Language> =
    &[("c", "C, for gcc and clang", Language::C), ("rust", "A module of Rust", Language::Rust)];

pub fn run(options: &BytesetOptions, io: &mut Io) -> Result<u8, LabError> {
    let source = generate(&options.set, &options.name, options.language)?;
    match OutputFile::open("output", options.output.as_deref())? {
        Some(file) => {
            file.write(&source.text, io)?;
            io.out(&format!("{}\n", source.about));
        }
        None => io.out(&source.text),
    }
    Ok(exit::HOLDS)
}
