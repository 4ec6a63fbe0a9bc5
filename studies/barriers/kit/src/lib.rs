//! The heavy side of the crate tiebreak-sync, by the strategy that the build names.

use std::sync::OnceLock;
use tiebreak_sync::barrier::{Barrier, Strategy};

static BARRIER: OnceLock<Barrier> = OnceLock::new();

/// The strategy whose name the build's environment has.
fn strategy() -> Option<Strategy> {
    Strategy::ALL.into_iter().find(|strategy| Some(strategy.name()) == option_env!("STRATEGY"))
}

fn barrier() -> Barrier {
    // The frame calls a side only after `kit_prepare` has said that it works.
    *BARRIER.get().unwrap_or(const { &Barrier::seq_cst() })
}

/// Whether the strategy works here: 1 or 0.
#[unsafe(no_mangle)]
pub extern "C" fn kit_prepare() -> i32 {
    let Some(made) = strategy().and_then(|strategy| Barrier::with(strategy).ok()) else { return 0 };
    BARRIER.get_or_init(|| made);
    1
}

/// The side that is timed.
#[unsafe(no_mangle)]
pub extern "C" fn kit_heavy() {
    barrier().heavy();
}

/// The other side.
#[unsafe(no_mangle)]
pub extern "C" fn kit_light() {
    barrier().light();
}
