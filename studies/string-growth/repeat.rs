// So many copies at once.

#[macro_use]
mod frame;
use frame::Look;

fn grow(volume: u64, look: Look<'_>) {
    look("a".repeat(volume as usize + 1).as_bytes());
}

growth!(grow);
