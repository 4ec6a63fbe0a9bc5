//! `barrierd status`.

use clap::Args;
use tiebreak_sync::interrupts::Client;
use tiebreak_sync::interrupts::layout::VERSION;

use super::{DONE, Socket, table, unavailable};

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
        println!("barrierd {}, protocol {VERSION}", env!("CARGO_PKG_VERSION"));
        println!("process {}, generation {}", client.daemon_pid(), client.generation());
        match client.margin_ns() {
            Some(ns) => println!("clocks of two CPUs differ by at most {:.1} us", ns as f64 / 1e3),
            None => println!("clocks are not compared: barriers go by counts"),
        }
        println!("{}", table::barrier(&client));
        print!("{}", table::table(&client, None));
        DONE
    }
}
