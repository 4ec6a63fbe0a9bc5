//! A pattern: what the compiler makes of a chain of alternatives.

mod frame;

use tiebreak_abi::kernel;

kernel! {
    fn is_forbidden(byte: u8) -> bool {
        matches!(
            byte,
            b'\0' | b'\t' | b'\n' | b'\r' | b' ' | b'#' | b'/' | b':' | b'<' | b'>' | b'?' | b'@'
                | b'[' | b'\\' | b']' | b'^' | b'|'
        )
    }
}

frame::byte_contestant!(is_forbidden, c"pattern");
