//! `barrierd watch`.

use std::io::{IsTerminal, Write};
use std::time::Instant;

use clap::Args;
use tiebreak_sync::interrupts::Client;

use super::{DONE, Socket, fault, table, unavailable};
use crate::signals::Signals;

/// Shows every CPU, once a second, until Ctrl-C.
#[derive(Debug, Args)]
#[command(after_help = "Examples:\n  barrierd watch\n  barrierd watch --count 3 > log")]
pub(super) struct Watch {
    #[command(flatten)]
    socket: Socket,

    /// Ends after so many tables
    #[arg(long, value_name = "N")]
    count: Option<u64>,
}

impl Watch {
    pub(super) fn execute(&self) -> u8 {
        let client = match Client::connect_to(&self.socket.socket) {
            Ok(client) => client,
            Err(reason) => return unavailable(reason),
        };
        let signals = match Signals::block() {
            Ok(signals) => signals,
            Err(error) => return fault(format!("cannot block signals: {error}")),
        };
        let mut shown = 0;
        while self.count.is_none_or(|count| shown < count) {
            let (before, start) = (client.events(), Instant::now());
            if signals.came_within(1000) {
                break;
            }
            let barrier = table::barrier(&client);
            let table = table::table(&client, Some((&before, start.elapsed())));
            if !show(&format!("{barrier}\n{table}")) {
                break;
            }
            if client.has_ended() {
                return unavailable("the daemon has ended");
            }
            shown += 1;
        }
        DONE
    }
}

/// Prints a table, on a terminal over the one before; whether there still is somebody who reads.
fn show(text: &str) -> bool {
    let mut out = std::io::stdout().lock();
    // To the upper left corner, and clear what is below.
    let begin = if out.is_terminal() { "\x1b[H\x1b[J" } else { "" };
    write!(out, "{begin}{text}").and_then(|()| out.flush()).is_ok()
}
