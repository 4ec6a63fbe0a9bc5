//! `barrierd status`.

use clap::Args;
use tiebreak_sync::interrupts::Client;
use tiebreak_sync::interrupts::layout::VERSION;

use super::{DONE, Socket, say, table, unavailable};

/// Asks a daemon how it is.
#[derive(Debug, Args)]
#[command(after_help = "Examples:\n  barrierd status\n  barrierd status --socket /run/mine/socket")]
pub(super) struct Status {
    #[command(flatten)]
    socket: Socket,
}

impl Status {
    pub(super) fn execute(&self) -> u8 {
        let client = match Client::connect_to(&self.socket.socket) {
            Ok(client) => client,
            Err(reason) => return unavailable(reason),
        };
        // The first line says which daemon it is, and stays the same when it is started again.
        say(format_args!("barrierd {}, protocol {VERSION}", env!("CARGO_PKG_VERSION")));
        say(format_args!("process {}, generation {}", client.daemon_pid(), client.generation()));
        match client.margin_ns() {
            Some(ns) => {
                say(format_args!("clocks of two CPUs differ by at most {:.1} us", ns as f64 / 1e3))
            }
            None => say(format_args!("clocks are not compared: barriers go by counts")),
        }
        say(table::barrier(&client));
        say(table::table(&client, None).trim_end());
        DONE
    }
}
