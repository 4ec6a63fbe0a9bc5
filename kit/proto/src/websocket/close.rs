//! The payload of a frame that closes (RFC 6455 sections 5.5.1 and 7.4).

use super::Error;
use super::header::MAX_CONTROL;
use crate::TooSmall;
use crate::writer::Writer;

/// Why a connection is closed: a code that may be sent.
///
/// These are 1000 to 1003 and 1007 to 1014, which the standard or the registry of IANA define, and
/// 3000 to 4999, which are for libraries and applications. The others mean that there was no code
/// (1005), that the connection broke (1006, 1015), or nothing yet.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CloseCode(u16);

impl CloseCode {
    /// The purpose is fulfilled.
    pub const NORMAL: CloseCode = CloseCode(1000);
    /// A server goes down, or a page is left.
    pub const GOING_AWAY: CloseCode = CloseCode(1001);
    /// The peer broke the protocol.
    pub const PROTOCOL_ERROR: CloseCode = CloseCode(1002);
    /// A message is of a kind that is not accepted.
    pub const UNSUPPORTED: CloseCode = CloseCode(1003);
    /// A text is not UTF-8.
    pub const INVALID_PAYLOAD: CloseCode = CloseCode(1007);
    /// A message breaks a rule of the application.
    pub const POLICY: CloseCode = CloseCode(1008);
    /// A message is too long.
    pub const TOO_LONG: CloseCode = CloseCode(1009);
    /// The server cannot go on.
    pub const INTERNAL_ERROR: CloseCode = CloseCode(1011);

    /// Returns a code.
    ///
    /// # Errors
    /// Fails if it may not be sent.
    pub fn new(code: u16) -> Result<Self, Error> {
        match code {
            1000..=1003 | 1007..=1014 | 3000..=4999 => Ok(CloseCode(code)),
            _ => Err(Error::CloseCode { code }),
        }
    }

    /// Returns the number.
    pub fn number(self) -> u16 {
        self.0
    }
}

/// A code and a reason, which may be empty.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Close<'a> {
    code: CloseCode,
    reason: &'a str,
}

impl<'a> Close<'a> {
    /// Returns a code with a reason.
    ///
    /// # Errors
    /// Fails if the reason has more than 123 bytes.
    pub fn new(code: CloseCode, reason: &'a str) -> Result<Self, Error> {
        if reason.len() > MAX_CONTROL - 2 {
            return Err(Error::ReasonTooLong { length: reason.len() });
        }
        Ok(Close { code, reason })
    }

    /// Decodes the payload of a frame that closes; `None` if it is empty, which is right.
    ///
    /// # Errors
    /// Fails if it has one byte, if the code may not be sent, or if the reason is too long or not
    /// UTF-8.
    pub fn decode(payload: &'a [u8]) -> Result<Option<Self>, Error> {
        match payload {
            [] => Ok(None),
            [_] => Err(Error::CloseLength),
            [high, low, reason @ ..] => {
                let code = CloseCode::new(u16::from_be_bytes([*high, *low]))?;
                let reason = core::str::from_utf8(reason).map_err(|_| Error::NotUtf8)?;
                Self::new(code, reason).map(Some)
            }
        }
    }

    /// Returns the code.
    pub fn code(&self) -> CloseCode {
        self.code
    }

    /// Returns the reason.
    pub fn reason(&self) -> &'a str {
        self.reason
    }

    /// Writes the payload, of at most 125 bytes, and returns how many bytes that took.
    ///
    /// # Errors
    /// Fails if `out` is too small.
    pub fn encode(&self, out: &mut [u8]) -> Result<usize, TooSmall> {
        Writer::fill(out, |writer| {
            writer.put_u16(self.code.0);
            writer.put(self.reason.as_bytes());
        })
    }

    /// Returns how many bytes [`Close::encode`] writes.
    pub fn encoded_len(&self) -> usize {
        2 + self.reason.len()
    }
}
