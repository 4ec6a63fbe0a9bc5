// A character.

#[macro_use]
mod frame;
use frame::Look;

fn grow(volume: u64, look: Look<'_>) {
    let mut text = String::new();
    while text.len() as u64 <= volume {
        text.push('a');
    }
    look(text.as_bytes());
}

growth!(grow);
