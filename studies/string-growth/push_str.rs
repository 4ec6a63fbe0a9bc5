// A string of one, as published for C++.

#[macro_use]
mod frame;
use frame::Look;

fn grow(volume: u64, look: Look<'_>) {
    let mut text = String::new();
    while text.len() as u64 <= volume {
        text.push_str("a");
    }
    look(text.as_bytes());
}

growth!(grow);
