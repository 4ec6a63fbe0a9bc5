//! Lines, and the sets of bytes that they are made of.

use super::Error;

/// Returns the line that `bytes` begin with, without its CRLF; `None` if its end is not there.
///
/// # Errors
/// Fails at a CR or an LF alone, both of which some recipients take for the end of a line (RFC 9112
/// section 2.2).
pub(super) fn line(bytes: &[u8]) -> Result<Option<&[u8]>, Error> {
    let Some(end) = bytes.iter().position(|&byte| byte == b'\r' || byte == b'\n') else {
        return Ok(None);
    };
    match (bytes[end], bytes.get(end + 1)) {
        (b'\n', _) => Err(Error::BareLf),
        (_, Some(b'\n')) => Ok(Some(&bytes[..end])),
        (_, Some(_)) => Err(Error::BareCr),
        (_, None) => Ok(None),
    }
}

/// Returns whether this is a token: a method, the name of a field, an option (RFC 9110 section
/// 5.6.2).
pub(super) fn is_token(bytes: &[u8]) -> bool {
    !bytes.is_empty() && bytes.iter().all(|&byte| IS_TOKEN[byte as usize])
}

/// Returns whether a byte may stand in the value of a field or in a reason (RFC 9110 section 5.5).
pub(super) fn is_text(byte: u8) -> bool {
    byte == b'\t' || (byte >= b' ' && byte != 0x7f)
}

/// Returns whether a byte is optional white space (RFC 9110 section 5.6.3).
pub(super) fn is_space(byte: u8) -> bool {
    byte == b' ' || byte == b'\t'
}

/// Returns `bytes` without the white space around them.
pub(super) fn trim(bytes: &[u8]) -> &[u8] {
    let Some(first) = bytes.iter().position(|&byte| !is_space(byte)) else {
        return &[];
    };
    let last = bytes.iter().rposition(|&byte| !is_space(byte)).unwrap_or(first);
    &bytes[first..=last]
}

/// Returns `bytes` as text; they were found to be ASCII before.
pub(super) fn ascii(bytes: &[u8]) -> &str {
    core::str::from_utf8(bytes).unwrap_or_default()
}

/// The bytes of a token.
const IS_TOKEN: [bool; 256] = {
    let mut table = [false; 256];
    let mut byte = 0;
    while byte < 128 {
        let marks = b"!#$%&'*+-.^_`|~";
        let mut is_token = (byte as u8).is_ascii_alphanumeric();
        let mut at = 0;
        while at < marks.len() {
            is_token |= marks[at] == byte as u8;
            at += 1;
        }
        table[byte] = is_token;
        byte += 1;
    }
    table
};
