//! Where the body of a message ends (RFC 9112 section 6), and whether the connection goes on.

use super::line::trim;
use super::{Error, Fields, Version};

/// How the end of a body is found.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Body {
    /// There is none: the next message begins after the head. After a 2xx response to CONNECT, and
    /// after a 101 response, the bytes of another protocol begin there.
    None,
    /// It has this many bytes.
    Length(u64),
    /// It comes in chunks, which [`Chunked`](super::Chunked) reads.
    Chunked,
    /// It ends when the connection does; only in responses.
    UntilClose,
}

impl Body {
    /// Returns the body, unless its length is said and exceeds the limit.
    pub(super) fn within(self, limit: u64) -> Result<Self, Error> {
        match self {
            Body::Length(length) if length > limit => Err(Error::BodyTooLong { length, limit }),
            body => Ok(body),
        }
    }
}

/// What the fields say about the length of the body.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Framing {
    Unsaid,
    Length(u64),
    Chunked,
    /// There are transfer codings, and `chunked` is not the last one.
    Coded,
}

impl Framing {
    /// Reads Transfer-Encoding and Content-Length, of which at most one may be there (RFC 9112
    /// section 6.3, items 3 to 6).
    pub(super) fn of(version: Version, fields: &Fields<'_>) -> Result<Self, Error> {
        let length = length(fields)?;
        if fields.get("Transfer-Encoding").is_none() {
            return Ok(length.map_or(Framing::Unsaid, Framing::Length));
        }
        if length.is_some() {
            return Err(Error::LengthAndCoding);
        }
        if version == Version::Http10 {
            return Err(Error::CodingInHttp10);
        }
        coding(fields)
    }
}

/// Reads Transfer-Encoding: `chunked` may only be the last coding.
fn coding(fields: &Fields<'_>) -> Result<Framing, Error> {
    let mut last = None;
    for coding in fields.elements("Transfer-Encoding") {
        // Between quotes a comma would not separate; no coding in use has such a parameter.
        if coding.contains(&b'"') {
            return Err(Error::Coding);
        }
        if last == Some(Framing::Chunked) {
            return Err(Error::ChunkedNotLast);
        }
        let is_chunked = coding.eq_ignore_ascii_case(b"chunked");
        last = Some(if is_chunked { Framing::Chunked } else { Framing::Coded });
    }
    last.ok_or(Error::Coding)
}

/// Reads Content-Length. The same number several times counts as one, as the standard permits (RFC
/// 9112 section 6.3, item 5).
fn length(fields: &Fields<'_>) -> Result<Option<u64>, Error> {
    let mut agreed = None;
    let values = fields.all("Content-Length");
    for element in values.flat_map(|value| value.split(|&byte| byte == b',')) {
        let length = decimal(trim(element)).ok_or(Error::ContentLength)?;
        match agreed {
            Some(first) if first != length => {
                return Err(Error::ContentLengths { first, second: length });
            }
            _ => agreed = Some(length),
        }
    }
    Ok(agreed)
}

/// Reads digits and nothing else; `None` if they are none or exceed 64 bits.
fn decimal(digits: &[u8]) -> Option<u64> {
    let add = |number: u64, digit: &u8| {
        let digit = digit.is_ascii_digit().then(|| u64::from(digit - b'0'))?;
        number.checked_mul(10)?.checked_add(digit)
    };
    if digits.is_empty() { None } else { digits.iter().try_fold(0, add) }
}

/// Returns whether the connection is to stay open after a message (RFC 9112 section 9.3).
pub(super) fn keeps_alive(version: Version, fields: &Fields<'_>) -> bool {
    !fields.lists("Connection", "close")
        && (version == Version::Http11 || fields.lists("Connection", "keep-alive"))
}
