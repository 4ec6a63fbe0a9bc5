//! The `tiebreak` program: all of it is [`tiebreak_cli::main`].

#![forbid(unsafe_code)]

use std::process::ExitCode;

fn main() -> ExitCode {
    // A worker is this program again, and must do nothing else before.
    if std::env::args_os().nth(1).is_some_and(|word| word == tiebreak_cli::WORKER) {
        return ExitCode::from(tiebreak_cli::worker());
    }
    let mut io = tiebreak_cli::Io::of_process();
    ExitCode::from(tiebreak_cli::main(std::env::args_os(), &mut io))
}
