//! The program's commands.

mod check;
mod cost;
mod run;
mod status;
mod table;
mod watch;

use std::ffi::OsString;
use std::io::Write;
use std::path::PathBuf;

use clap::{Args, Parser, Subcommand};
use tiebreak_sync::interrupts::layout::DEFAULT_SOCKET;

/// All is well.
pub const DONE: u8 = 0;
/// There is no daemon, or there cannot be one here.
pub const UNAVAILABLE: u8 = 2;
/// The command line is wrong.
pub const USAGE: u8 = 64;
/// A fault of the machine, or of the program.
pub const FAULT: u8 = 70;

const EXAMPLES: &str = "\
Examples:
  barrierd check             would it work here, and if not, why
  barrierd run               the daemon, in the foreground, until Ctrl-C
  barrierd status            is there one, and how old is each CPU's stamp
  barrierd watch             the same, once a second
  barrierd cost --seconds 5  what the programs cost, measured by the kernel

Exit status: 0; 2 if there is no daemon or there cannot be one, with the reason; 64 if the command
line is wrong; 70 if something failed that should not.";

/// Knows, for every CPU, when it last passed a fence because it was interrupted or switched tasks,
/// and lets every program read that. Programs build barriers on it that disturb nobody.
#[derive(Debug, Parser)]
#[command(name = "barrierd", version, after_help = EXAMPLES, max_term_width = 100)]
struct Barrierd {
    #[command(subcommand)]
    command: Command,
}

#[derive(Debug, Subcommand)]
enum Command {
    /// Runs the daemon in the foreground
    Run(run::Run),
    /// Asks a daemon how it is
    Status(status::Status),
    /// Says what would work here, without starting a daemon
    #[command(after_help = check::EXAMPLES)]
    Check,
    /// Measures what the programs cost
    Cost(cost::Cost),
    /// Shows every CPU, once a second
    Watch(watch::Watch),
}

/// Where the daemon is.
#[derive(Debug, Args)]
struct Socket {
    /// The daemon's socket
    #[arg(long, value_name = "PATH", default_value = DEFAULT_SOCKET)]
    socket: PathBuf,
}

/// Runs the program. Gives its exit status.
pub fn main(arguments: impl IntoIterator<Item = OsString>) -> u8 {
    let barrierd = match Barrierd::try_parse_from(arguments) {
        Ok(barrierd) => barrierd,
        Err(error) => {
            let _ = error.print();
            return if error.use_stderr() { USAGE } else { DONE };
        }
    };
    match barrierd.command {
        Command::Run(run) => run.execute(),
        Command::Status(status) => status.execute(),
        Command::Check => check::execute(),
        Command::Cost(cost) => cost.execute(),
        Command::Watch(watch) => watch.execute(),
    }
}

/// Writes a line. Who has closed the other end wants no more of it.
fn say(line: impl std::fmt::Display) {
    let _ = writeln!(std::io::stdout(), "{line}");
}

/// Says why there is no result, and gives the exit status for it.
fn unavailable(reason: impl std::fmt::Display) -> u8 {
    eprintln!("barrierd: {reason}");
    UNAVAILABLE
}

/// Says what failed, and gives the exit status for it.
fn fault(reason: impl std::fmt::Display) -> u8 {
    eprintln!("barrierd: {reason}");
    FAULT
}

#[cfg(test)]
mod tests {
    use clap::CommandFactory;

    use super::*;

    #[test]
    fn the_command_line_is_well_formed() {
        Barrierd::command().debug_assert();
    }

    #[test]
    fn every_command_has_examples() {
        for command in Barrierd::command().get_subcommands_mut() {
            let help = command.render_long_help().to_string();
            assert!(help.contains("Examples:\n  barrierd "), "{help}");
        }
    }

    #[test]
    fn any_user_but_root_may_be_named() {
        for user in ["1", "1000", "65534", "4294967294"] {
            let line = ["barrierd", "run", "--user", user];
            assert!(Barrierd::try_parse_from(line).is_ok(), "{user}");
        }
    }

    #[test]
    fn wrong_lines_and_missing_daemons_have_their_exit_status() {
        let cases: [(&[&str], u8); 8] = [
            (&["barrierd", "--help"], DONE),
            (&["barrierd", "run", "--nonsense"], USAGE),
            (&["barrierd"], USAGE),
            (&["barrierd", "run", "--user", "0"], USAGE),
            (&["barrierd", "run", "--user", "4294967295"], USAGE),
            (&["barrierd", "run", "--user", "4294967296"], USAGE),
            (&["barrierd", "status", "--socket", "/no/such/socket"], UNAVAILABLE),
            (&["barrierd", "watch", "--count", "1", "--socket", "/no/such/socket"], UNAVAILABLE),
        ];
        for (line, expected) in cases {
            assert_eq!(main(line.iter().map(OsString::from)), expected, "{line:?}");
        }
    }
}
