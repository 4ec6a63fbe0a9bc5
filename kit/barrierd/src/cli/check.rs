//! `barrierd check`.

use super::run::{margin_words, warnings};
use super::{DONE, say, unavailable};
use crate::daemon::Prepared;

pub(super) const EXAMPLES: &str = "\
It needs the same rights as `barrierd run`, and leaves nothing behind.

Examples:
  barrierd check
  barrierd check && barrierd run";

pub(super) fn execute() -> u8 {
    let prepared = match Prepared::new() {
        Ok(prepared) => prepared,
        Err(error) => {
            say(format_args!("no: {error}"));
            return unavailable("it cannot run here");
        }
    };
    let tracepoints: Vec<&str> = prepared.kernel.tracepoints().collect();
    say(format_args!("ok: both programs load, and are attached to {}", tracepoints.join(", ")));
    match prepared.machine.online() {
        Ok(online) => {
            say(format_args!("ok: CPUs {online} are online of {}", prepared.machine.possible))
        }
        Err(error) => say(format_args!("no: the list of CPUs cannot be read: {error}")),
    }
    say(format_args!("ok: {}", margin_words(&prepared)));
    for warning in warnings(&prepared) {
        say(format_args!("but: {warning}"));
    }
    DONE
}
