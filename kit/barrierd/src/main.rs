//! The program `barrierd`: all of it is [`barrierd::cli::main`].

use std::process::ExitCode;

fn main() -> ExitCode {
    ExitCode::from(barrierd::cli::main(std::env::args_os()))
}
