//! The `tiebreak` program: all of it is [`tiebreak_cli::main`].

#![forbid(unsafe_code)]

use std::process::ExitCode;

fn main() -> ExitCode {
    let mut io = tiebreak_cli::Io::of_process();
    ExitCode::from(tiebreak_cli::main(std::env::args_os(), &mut io))
}
