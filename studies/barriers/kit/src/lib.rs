//! The heavy side of the crate tiebreak-sync, by the strategy that the build names.

use std::sync::OnceLock;
use std::sync::atomic::{Ordering, compiler_fence};
use std::time::{Duration, Instant};
use tiebreak_sync::barrier::{Barrier, Strategy};
use tiebreak_sync::interrupts::Client;

/// The daemon may be silent so long before its barrier has failed: next to other processes it can
/// be late.
const SILENT: Duration = Duration::from_secs(5);

/// A heavy side and its light side.
enum Sides {
    /// A strategy in this process.
    Barrier(Barrier),
    /// The daemon, by the clock.
    Daemon(Client),
    /// The daemon, by its virtual time.
    Virtual(Client),
}

static SIDES: OnceLock<Sides> = OnceLock::new();

/// What the build's environment names, if it works here.
fn sides() -> Option<Sides> {
    let name = option_env!("STRATEGY")?;
    match name {
        "barrierd" => Client::connect().ok().map(Sides::Daemon),
        "barrierd-virtual" => Client::connect().ok().map(Sides::Virtual),
        _ => {
            let strategy = Strategy::ALL.into_iter().find(|strategy| strategy.name() == name)?;
            Barrier::with(strategy).ok().map(Sides::Barrier)
        }
    }
}

/// Waits for the daemon, also where it is late; whether the barrier is complete.
fn waited<E>(wait: impl Fn(Instant) -> Result<bool, E>) -> bool {
    let deadline = Instant::now() + SILENT;
    loop {
        match wait(deadline) {
            Ok(is_complete) => return is_complete,
            Err(_) if Instant::now() < deadline => std::thread::yield_now(),
            Err(_) => return false,
        }
    }
}

/// Whether the strategy works here: 1 or 0.
#[unsafe(no_mangle)]
pub extern "C" fn kit_prepare() -> i32 {
    if SIDES.get().is_none()
        && let Some(made) = sides()
    {
        SIDES.get_or_init(|| made);
    }
    i32::from(SIDES.get().is_some())
}

/// The side that is timed: 1, or 0 if it failed.
#[unsafe(no_mangle)]
pub extern "C" fn kit_heavy() -> i32 {
    i32::from(match SIDES.get() {
        Some(Sides::Barrier(barrier)) => {
            barrier.heavy();
            true
        }
        Some(Sides::Daemon(client)) => {
            let ticket = client.begin();
            waited(|deadline| client.wait(&ticket, Some(deadline)))
        }
        Some(Sides::Virtual(client)) => {
            let ticket = client.begin_virtual();
            waited(|deadline| client.wait_virtual(ticket, Some(deadline)))
        }
        None => false,
    })
}

/// The other side.
#[unsafe(no_mangle)]
pub extern "C" fn kit_light() {
    match SIDES.get() {
        Some(Sides::Barrier(barrier)) => barrier.light(),
        _ => compiler_fence(Ordering::SeqCst),
    }
}
