//! The program's commands.

mod cost;

use std::ffi::OsString;
use std::fmt::Display;
use std::io::{IsTerminal, Write};
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use clap::{Args, Parser, Subcommand};
use tiebreak_sync::interrupts::layout::{DEFAULT_SOCKET, VERSION};
use tiebreak_sync::interrupts::{Age, Client};

use crate::daemon::{Daemon, Prepared};
use crate::privileges::{self, Confined, NOBODY};
use crate::signals::Signals;

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
/// and lets every program read that. Programs build barriers on it that disturb no other thread.
#[derive(Debug, Parser)]
#[command(name = "barrierd", version, after_help = EXAMPLES, max_term_width = 100)]
struct Barrierd {
    #[command(subcommand)]
    command: Command,
}

#[derive(Debug, Subcommand)]
enum Command {
    /// Runs the daemon in the foreground
    #[command(after_help = RUN_EXAMPLES)]
    Run {
        #[command(flatten)]
        socket: Socket,

        /// The user to become, by number, when started as root; not root itself
        #[arg(
            long,
            value_name = "UID",
            default_value_t = NOBODY,
            // The last number stands for "no change" in the kernel's calls.
            value_parser = clap::value_parser!(u32).range(1..u32::MAX as i64)
        )]
        user: u32,
    },
    /// Asks a daemon how it is
    #[command(after_help = "Examples:\n  barrierd status\n  \
                            barrierd status --socket /run/mine/socket")]
    Status {
        #[command(flatten)]
        socket: Socket,
    },
    /// Says what would work here, without starting a daemon
    #[command(after_help = CHECK_EXAMPLES)]
    Check,
    /// Measures what the programs cost
    Cost(cost::Cost),
    /// Shows every CPU, once a second
    #[command(after_help = "Examples:\n  barrierd watch\n  barrierd watch --count 3 > log")]
    Watch {
        #[command(flatten)]
        socket: Socket,

        /// Ends after so many tables
        #[arg(long, value_name = "N")]
        count: Option<u64>,
    },
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
    let result = match barrierd.command {
        Command::Run { socket, user } => run(&socket.socket, user),
        Command::Status { socket } => status(&socket),
        Command::Check => check(),
        Command::Cost(cost) => cost.execute(),
        Command::Watch { socket, count } => watch(&socket, count.unwrap_or(u64::MAX)),
    };
    match result {
        Ok(()) => DONE,
        Err(Failed { status, reason }) => {
            eprintln!("barrierd: {reason}");
            status
        }
    }
}

/// Why a command has no result.
struct Failed {
    status: u8,
    reason: String,
}

/// There is no daemon, or there cannot be one here.
fn unavailable(reason: impl Display) -> Failed {
    Failed { status: UNAVAILABLE, reason: reason.to_string() }
}

/// Something failed that should not.
fn fault(reason: impl Display) -> Failed {
    Failed { status: FAULT, reason: reason.to_string() }
}

/// Writes a line. Who has closed the other end wants no more of it.
macro_rules! say {
    ($($text:tt)*) => {{
        let _ = writeln!(std::io::stdout(), $($text)*);
    }};
}
use say;

impl Socket {
    fn connect(&self) -> Result<Client, Failed> {
        Client::connect_to(&self.socket).map_err(unavailable)
    }
}

fn block_signals() -> Result<Signals, Failed> {
    Signals::block().map_err(|error| fault(format_args!("cannot block signals: {error}")))
}

const RUN_EXAMPLES: &str = "\
It needs CAP_BPF and CAP_PERFMON, which root has, until it listens. Then it becomes another user,
drops every capability and filters its system calls. SIGTERM, SIGINT and SIGHUP end it.
The socket of a daemon that became another user stays, as that user must not be able to replace it:
to connect is then refused, and the next daemon replaces it.
It serves 512 clients: at most 448 of root, and 64 of each other user.

Examples:
  barrierd run
  barrierd run --socket /run/mine/socket --user 1000";

/// Runs the daemon.
fn run(socket: &Path, user: u32) -> Result<(), Failed> {
    // First of all, so that a signal at any later time ends the daemon in order.
    let signals = block_signals()?;
    let prepared = Prepared::new().map_err(unavailable)?;
    for warning in warnings(&prepared) {
        eprintln!("barrierd: {warning}");
    }
    let margin = margin_words(&prepared);
    let mut daemon = Daemon::new(prepared, socket, signals).map_err(unavailable)?;
    let Confined { user, calls } = privileges::drop_all(user)
        .map_err(|error| fault(format_args!("cannot give up its rights: {error}")))?;
    say!("barrierd listens at {}", socket.display());
    say!("{margin}");
    say!("it runs as user {user}, without capabilities, with {calls} system calls");
    let ended = daemon.run();
    ended.map_err(|error| fault(format_args!("waiting for events failed: {error}")))
}

/// How barriers will go.
fn margin_words(prepared: &Prepared) -> String {
    let clock = prepared.machine.clock().unwrap_or_else(|| "of unknown name".to_string());
    match prepared.margin_ns() {
        Some(ns) => format!("clock {clock}: CPUs differ by at most {:.1} us", ns as f64 / 1e3),
        None => format!("clock {clock}: CPUs cannot be compared, so barriers go by counts"),
    }
}

/// What works less well than it could.
fn warnings(prepared: &Prepared) -> Vec<String> {
    let missing = prepared.kernel.missing.iter();
    let mut warnings: Vec<String> = missing
        .map(|(tracepoint, error)| {
            format!("not attached to {tracepoint}: {error}; barriers take longer")
        })
        .collect();
    let (tickless, survey) = (&prepared.machine.tickless, &prepared.survey);
    if !tickless.is_empty() {
        warnings.push(format!("the kernel keeps the tick from CPUs {tickless} (nohz_full)"));
    }
    if !survey.silent.is_empty() {
        let cpus = &survey.silent;
        warnings.push(format!("CPUs {cpus} were busy for 60 ms and not interrupted: no tick?"));
    }
    if !survey.unvisited.is_empty() {
        let cpus = &survey.unvisited;
        warnings.push(format!(
            "may not run on CPUs {cpus}: start it without a set of CPUs, or clocks are not used"
        ));
    }
    warnings
}

const CHECK_EXAMPLES: &str = "\
It needs the same rights as `barrierd run`, and leaves nothing behind.

Examples:
  barrierd check
  barrierd check && barrierd run";

fn check() -> Result<(), Failed> {
    let prepared = Prepared::new().map_err(|error| {
        say!("no: {error}");
        unavailable("it cannot run here")
    })?;
    let tracepoints: Vec<&str> = prepared.kernel.tracepoints().collect();
    say!("ok: both programs load, and are attached to {}", tracepoints.join(", "));
    match prepared.machine.online() {
        Ok(online) => say!("ok: CPUs {online} are online of {}", prepared.machine.possible),
        Err(error) => say!("no: the list of CPUs cannot be read: {error}"),
    }
    say!("ok: {}", margin_words(&prepared));
    for warning in warnings(&prepared) {
        say!("but: {warning}");
    }
    Ok(())
}

/// Asks a daemon how it is.
fn status(socket: &Socket) -> Result<(), Failed> {
    let client = socket.connect()?;
    // The first line says which daemon it is, and stays the same when it is started again.
    say!("barrierd {}, protocol {VERSION}", env!("CARGO_PKG_VERSION"));
    say!("process {}, generation {}", client.daemon_pid(), client.generation());
    match client.margin_ns() {
        Some(ns) => say!("clocks of two CPUs differ by at most {:.1} us", ns as f64 / 1e3),
        None => say!("clocks are not compared: barriers go by counts"),
    }
    say!("{}", barrier(&client));
    say!("{}", table(&client, None).trim_end());
    Ok(())
}

/// Shows every CPU, once a second, until Ctrl-C or after so many tables.
fn watch(socket: &Socket, count: u64) -> Result<(), Failed> {
    let client = socket.connect()?;
    let signals = block_signals()?;
    for _ in 0..count {
        let (before, start) = (client.events(), Instant::now());
        if signals.came_within(1000) {
            break;
        }
        let barrier = barrier(&client);
        let table = table(&client, Some((&before, start.elapsed())));
        if !show(&format!("{barrier}\n{table}")) {
            break;
        }
        if client.has_ended() {
            return Err(unavailable("the daemon has ended"));
        }
    }
    Ok(())
}

/// Prints a table, on a terminal over the one before; whether there still is somebody who reads.
fn show(text: &str) -> bool {
    let mut out = std::io::stdout().lock();
    // To the upper left corner, and clear what is below.
    let begin = if out.is_terminal() { "\x1b[H\x1b[J" } else { "" };
    write!(out, "{begin}{text}").and_then(|()| out.flush()).is_ok()
}

/// A CPU that is not interrupted for so long is named.
const SILENT_NS: u64 = 100_000_000;

/// One line a CPU that is not offline. `before` are the events at an earlier time, if there is one.
fn table(client: &Client, before: Option<(&[u64], Duration)>) -> String {
    let (ages, events, tickless) = (client.ages(), client.events(), client.tickless());
    let mut text = String::from("CPU  state    last fence    events\n");
    for (cpu, (age, events)) in ages.into_iter().zip(&events).enumerate() {
        let (state, last) = match age {
            Age::Busy(ns) if ns > SILENT_NS => ("silent", milliseconds(ns)),
            Age::Busy(ns) => ("busy", milliseconds(ns)),
            Age::Idle => ("idle", String::new()),
            Age::Unknown => ("unknown", String::new()),
            Age::Offline => continue,
        };
        let events = match before {
            Some((before, time)) => {
                let more = events.saturating_sub(before[cpu]);
                format!("{:.0} a second", more as f64 / time.as_secs_f64())
            }
            None => events.to_string(),
        };
        let tickless = if tickless.contains(cpu) { "  tickless" } else { "" };
        text += &format!("{cpu:>3}  {state:<7}  {last:<12}  {events}{tickless}\n");
    }
    text
}

fn milliseconds(ns: u64) -> String {
    format!("{:.2} ms ago", ns as f64 / 1e6)
}

/// One barrier, in words.
fn barrier(client: &Client) -> String {
    let start = Instant::now();
    let ticket = client.begin();
    match client.wait(&ticket, Some(start + Duration::from_secs(1))) {
        Ok(true) => format!("a barrier took {:.2} ms", start.elapsed().as_secs_f64() * 1e3),
        Ok(false) => "a barrier was not complete within a second".to_string(),
        Err(stale) => format!("a barrier failed: {stale}"),
    }
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
