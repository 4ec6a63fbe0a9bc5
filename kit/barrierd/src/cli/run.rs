//! `barrierd run`.

use clap::Args;

use super::{DONE, Socket, fault, say, unavailable};
use crate::daemon::{Daemon, Prepared};
use crate::privileges::{self, Confined, NOBODY};
use crate::signals::Signals;

const EXAMPLES: &str = "\
It needs CAP_BPF and CAP_PERFMON, which root has, until it listens. Then it becomes another user,
drops every capability and filters its system calls. SIGTERM, SIGINT and SIGHUP end it.
The socket of a daemon that became another user stays, as that user must not be able to replace it:
to connect is then refused, and the next daemon replaces it.
It serves 512 clients: at most 448 of root, and 64 of each other user.

Examples:
  barrierd run
  barrierd run --socket /run/mine/socket --user 1000";

/// Runs the daemon.
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
pub(super) struct Run {
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
}

impl Run {
    pub(super) fn execute(&self) -> u8 {
        // First of all, so that a signal at any later time ends the daemon in order.
        let signals = match Signals::block() {
            Ok(signals) => signals,
            Err(error) => return fault(format!("cannot block signals: {error}")),
        };
        let prepared = match Prepared::new() {
            Ok(prepared) => prepared,
            Err(error) => return unavailable(error),
        };
        for warning in warnings(&prepared) {
            eprintln!("barrierd: {warning}");
        }
        let margin = margin_words(&prepared);
        let mut daemon = match Daemon::new(prepared, &self.socket.socket, signals) {
            Ok(daemon) => daemon,
            Err(error) => return unavailable(error),
        };
        let confined = match privileges::drop_all(self.user) {
            Ok(confined) => confined,
            Err(error) => return fault(format!("cannot give up its rights: {error}")),
        };
        self.say_so(&margin, confined);
        match daemon.run() {
            Ok(()) => DONE,
            Err(error) => fault(format!("waiting for events failed: {error}")),
        }
    }

    fn say_so(&self, margin: &str, confined: Confined) {
        say(format_args!("barrierd listens at {}", self.socket.socket.display()));
        say(margin);
        let Confined { user, calls } = confined;
        say(format_args!(
            "it runs as user {user}, without capabilities, with {calls} system calls"
        ));
    }
}

/// How barriers will go.
pub(super) fn margin_words(prepared: &Prepared) -> String {
    let clock = prepared.machine.clock().unwrap_or_else(|| "of unknown name".to_string());
    match prepared.margin_ns() {
        Some(ns) => format!("clock {clock}: CPUs differ by at most {:.1} us", ns as f64 / 1e3),
        None => format!("clock {clock}: CPUs cannot be compared, so barriers go by counts"),
    }
}

/// What works less well than it could.
pub(super) fn warnings(prepared: &Prepared) -> Vec<String> {
    let mut warnings = Vec::new();
    for (tracepoint, error) in &prepared.kernel.missing {
        warnings.push(format!("not attached to {tracepoint}: {error}; barriers take longer"));
    }
    if !prepared.machine.tickless.is_empty() {
        let cpus = &prepared.machine.tickless;
        warnings.push(format!("the kernel keeps the tick from CPUs {cpus} (nohz_full)"));
    }
    if !prepared.survey.silent.is_empty() {
        let cpus = &prepared.survey.silent;
        warnings.push(format!("CPUs {cpus} were busy for 60 ms and not interrupted: no tick?"));
    }
    if !prepared.survey.unvisited.is_empty() {
        let cpus = &prepared.survey.unvisited;
        warnings.push(format!(
            "may not run on CPUs {cpus}: start it without a set of CPUs, or clocks are not used"
        ));
    }
    warnings
}
