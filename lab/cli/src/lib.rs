//! The command line of tiebreak: the only crate that prints or exits.
//!
//! [`main`] is an ordinary function: it takes words and streams and returns an exit code, so tests
//! call it in-process.

#![forbid(unsafe_code)]

mod aa;
mod args;
mod byteset;
mod check;
mod choice;
mod classic;
mod compare;
mod exact;
mod exit;
mod github;
mod history;
mod io;
mod journals;
mod load;
mod machine;
mod options;
mod output;
mod power;
mod quantities;
mod race;
mod resume;
mod screen;
mod slo;
mod study;
mod suite;
mod wire;

pub use io::Io;

use args::{Arguments, Command};
use clap::{CommandFactory, Parser};
use std::ffi::OsString;
use std::path::PathBuf;
use tiebreak_lab::{LabError, probing, worker};

/// Returns the command line as a clap command, for completions and for tests of the help.
pub fn command() -> clap::Command {
    Arguments::command()
}

/// The argument that makes this program a worker.
pub const WORKER: &str = "__worker";

/// Runs the functions of a study for the parent process, and returns the exit code.
pub fn worker() -> u8 {
    worker::main()
}

/// Runs one command and returns its exit code.
pub fn main(words: impl IntoIterator<Item = OsString>, io: &mut Io) -> u8 {
    let words: Vec<OsString> = words.into_iter().collect();
    let arguments = match Arguments::try_parse_from(&words) {
        Ok(arguments) => arguments,
        Err(error) => return explain(&error, io),
    };
    // The recorded name is always tiebreak, whatever the path and the name of this copy.
    let typed = words.iter().skip(1).map(|word| word.to_string_lossy().into_owned());
    io.typed = std::iter::once("tiebreak".to_owned()).chain(typed).collect();
    let code = run(arguments.command, io).unwrap_or_else(|error| {
        let text = error.render(io.err_look().color);
        io.complain(&text);
        github::tell_failure(&text, io);
        exit::of_error(&error)
    });
    finish(code, io)
}

/// Prints help and version as answers, and every other error of clap as a usage error.
fn explain(error: &clap::Error, io: &mut Io) -> u8 {
    let look = if error.use_stderr() { io.err_look() } else { io.out_look() };
    let rendered = error.render();
    let text = if look.color { rendered.ansi().to_string() } else { rendered.to_string() };
    if error.use_stderr() {
        io.err(&text);
        exit::USAGE
    } else {
        io.out(&text);
        finish(exit::HOLDS, io)
    }
}

/// Changes the exit code if standard output could not be written.
fn finish(code: u8, io: &mut Io) -> u8 {
    match io.lost_output() {
        None => code,
        Some(why) => {
            io.complain(&format!("cannot write to standard output: {why}"));
            exit::DATA
        }
    }
}

/// Returns the current folder.
fn here() -> Result<PathBuf, LabError> {
    std::env::current_dir()
        .map_err(|error| LabError::Data(format!("the current folder is not known: {error}")))
}

fn run(asked: Command, io: &mut Io) -> Result<u8, LabError> {
    match asked {
        Command::Compare(options) => compare::run(*options, io),
        Command::Aa(options) => aa::run(*options, io),
        Command::Resume(options) => resume::run(&options, io),
        Command::Replay(options) => journals::replay(&options, io),
        Command::History(options) => history::run(&options, io),
        Command::Show(options) => journals::show(&options, io),
        Command::Export(options) => journals::export(&options, io),
        Command::Slo(options) => slo::run(*options, io),
        Command::Exact(options) => exact::run(&options, io),
        Command::Power(options) => power::run(&options, io),
        Command::Check(options) => check::run(*options, io),
        Command::Study(command) => study::run(command, io),
        Command::Suite(options) => suite::run(*options, io),
        Command::Load(command) => load::run(*command, io),
        Command::Machine(arguments) => machine::run(*arguments, io),
        Command::Report(options) => journals::report(&options, io),
        Command::Wire(options) => wire::run(&options, io),
        Command::Byteset(options) => byteset::run(&options, io),
        Command::Classic(options) => classic::run(&options, io),
        Command::Completions { shell } => {
            let mut script = Vec::new();
            clap_complete::generate(shell, &mut command(), "tiebreak", &mut script);
            io.out(&String::from_utf8_lossy(&script));
            Ok(exit::HOLDS)
        }
        Command::Work => {
            std::hint::black_box(probing::some_milliseconds());
            Ok(exit::HOLDS)
        }
    }
}
