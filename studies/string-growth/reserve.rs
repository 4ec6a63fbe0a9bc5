// A character, with all the room made first.

#[macro_use]
mod frame;
use frame::Look;

fn grow(volume: u64, look: Look<'_>) {
    let mut text = String::with_capacity(volume as usize + 1);
    while text.len() as u64 <= volume {
        text.push('a');
    }
    look(text.as_bytes());
}

growth!(grow);
