//! The table, made by a `const fn`.

mod frame;

use tiebreak_abi::kernel;

const SET: &[u8] = b"\0\t\n\r #/:<>?@[\\]^|";

const fn table() -> [bool; 256] {
    let mut table = [false; 256];
    let mut i = 0;
    while i < SET.len() {
        table[SET[i] as usize] = true;
        i += 1;
    }
    table
}

static TABLE: [bool; 256] = table();

kernel! {
    fn is_forbidden(byte: u8) -> bool {
        TABLE[usize::from(byte)]
    }
}

frame::byte_contestant!(is_forbidden, c"table of a const fn");
