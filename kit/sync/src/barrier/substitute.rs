//! What is done when a heavy side fails that used to work: a filter of system calls was installed
//! since, the daemon is gone, or a child lost what its parent had registered.
//!
//! The light sides have no fence and cannot get one, so the barrier must be had in another way, or
//! the program must not go on.

use core::sync::atomic::{AtomicU8, AtomicU64, Ordering};

use super::{Reason, Strategy, choice, walk};

/// How the last heavy side that needed it was done: a place in [`Strategy::ALL`], or [`WALK`].
static LAST: AtomicU8 = AtomicU8::new(0);
static COUNT: AtomicU64 = AtomicU64::new(0);

const WALK: u8 = Strategy::ALL.len() as u8;

/// That heavy sides had to be done in another way than by their own strategy, because that failed
/// after it had been chosen. An operator should hear of it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Substituted {
    /// How the last of them was done; nothing for running on each CPU in turn.
    pub by: Option<Strategy>,
    /// How many there were in this process, so far.
    pub count: u64,
}

impl Substituted {
    /// Of this process; nothing while every heavy side did what was chosen.
    pub fn so_far() -> Option<Substituted> {
        // Relaxed: the two are for people, and each is true of some moment.
        let count = COUNT.load(Ordering::Relaxed);
        let by = Strategy::ALL.get(usize::from(LAST.load(Ordering::Relaxed))).copied();
        (count != 0).then_some(Substituted { by, count })
    }
}

impl core::fmt::Display for Substituted {
    fn fmt(&self, formatter: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        let by = self.by.map_or("running on each CPU in turn", Strategy::name);
        write!(formatter, "heavy sides by a substitute: {}, the last by {by}", self.count)
    }
}

/// A whole heavy side, by whatever works. To make a strategy ready ends with one trial of it, and
/// that is a heavy side; it begins after the caller's fence.
pub(super) fn heavy(failed: Strategy, reason: Reason) {
    let is_usable =
        |strategy: &Strategy| strategy.light_is_free() && choice::prepare(*strategy).is_ok();
    let place = match Strategy::ALL.iter().position(is_usable) {
        Some(place) => place as u8,
        None if walk::walk() => WALK,
        None => give_up(failed, reason),
    };
    LAST.store(place, Ordering::Relaxed);
    COUNT.fetch_add(1, Ordering::Relaxed);
}

/// To return would be to promise an order that was not made.
fn give_up(failed: Strategy, reason: Reason) -> ! {
    let text = format!(
        "tiebreak-sync: the barrier {failed} worked before and fails now ({reason}), and so does \
         every other that needs no fence on its light side. Going on could corrupt memory. \
         Allow membarrier(2) in the filter that was installed.\n"
    );
    // SAFETY: the pointer and the length are those of a string that lives until after the call.
    unsafe { libc::write(libc::STDERR_FILENO, text.as_ptr().cast(), text.len()) };
    std::process::abort()
}
