// Bytes, which need not be UTF-8.

#[macro_use]
mod frame;
use frame::Look;

fn grow(volume: u64, look: Look<'_>) {
    let mut text = Vec::new();
    while text.len() as u64 <= volume {
        text.push(b'a');
    }
    look(&text);
}

growth!(grow);
