//! Heads of responses (RFC 9112 section 4).

use super::body::{self, Framing};
use super::head::decode;
use super::line::is_text;
use super::{Body, Error, Fields, Version};
use crate::writer::Writer;
use crate::{Decoded, TooSmall};

/// The head of a response.
///
/// Representation: views of the bytes, and what the fields say about the body.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Response<'a> {
    version: Version,
    status: u16,
    reason: &'a [u8],
    fields: Fields<'a>,
    framing: Framing,
}

impl<'a> Response<'a> {
    /// Returns the head of a response of HTTP/1.1; the reason may be empty.
    ///
    /// # Errors
    /// Fails where decoding would: see [`Response::decode`].
    pub fn new(status: u16, reason: &'a str, fields: Fields<'a>) -> Result<Self, Error> {
        Self::checked((Version::Http11, status, reason.as_bytes()), fields)
    }

    /// Decodes a head, which may have at most `limit` bytes. Each call reads it from its beginning.
    ///
    /// # Errors
    /// Fails if the head is too long, or breaks a rule that [`Error`] names.
    pub fn decode(bytes: &'a [u8], limit: usize) -> Result<Decoded<Self>, Error> {
        decode(bytes, 0, limit, status_line)?
            .try_map(|(start, fields)| Self::checked(start, fields))
    }

    fn checked(start: StatusLine<'a>, fields: Fields<'a>) -> Result<Self, Error> {
        let (version, status, reason) = start;
        if !(100..=999).contains(&status) {
            return Err(Error::Status);
        }
        if !reason.iter().all(|&byte| is_text(byte)) {
            return Err(Error::Reason);
        }
        let framing = Framing::of(version, &fields)?;
        Ok(Response { version, status, reason, fields, framing })
    }

    /// Returns the version.
    pub fn version(&self) -> Version {
        self.version
    }

    /// Returns the status, from 100 to 999.
    pub fn status(&self) -> u16 {
        self.status
    }

    /// Returns the reason, which a client ignores.
    pub fn reason(&self) -> &'a [u8] {
        self.reason
    }

    /// Returns the fields.
    pub fn fields(&self) -> Fields<'a> {
        self.fields
    }

    /// Returns where the body ends, if the request had this method (RFC 9112 section 6.3).
    ///
    /// # Errors
    /// Fails if it is said to have more than `limit` bytes.
    pub fn body(&self, request_method: &str, limit: u64) -> Result<Body, Error> {
        let has_none = match (request_method, self.status) {
            ("HEAD", _) | (_, 100..200 | 204 | 304) => true,
            (method, status) => method == "CONNECT" && (200..300).contains(&status),
        };
        let body = match self.framing {
            _ if has_none => Body::None,
            Framing::Length(length) => Body::Length(length),
            Framing::Chunked => Body::Chunked,
            Framing::Unsaid | Framing::Coded => Body::UntilClose,
        };
        body.within(limit)
    }

    /// Returns whether the server lets the connection stay open (RFC 9112 section 9.3). It does not
    /// if the body is [`Body::UntilClose`], whatever this says.
    pub fn keeps_alive(&self) -> bool {
        body::keeps_alive(self.version, &self.fields)
    }

    /// Writes the head and returns how many bytes that took.
    ///
    /// # Errors
    /// Fails if `out` is too small.
    pub fn encode(&self, out: &mut [u8]) -> Result<usize, TooSmall> {
        Writer::fill(out, |writer| self.write(writer))
    }

    /// Returns how many bytes [`Response::encode`] writes.
    pub fn encoded_len(&self) -> usize {
        Writer::count(|writer| self.write(writer))
    }

    fn write(&self, writer: &mut Writer<'_>) {
        writer.put(self.version.name());
        writer.put(b" ");
        writer.put_decimal(self.status.into());
        writer.put(b" ");
        writer.put(self.reason);
        writer.put(b"\r\n");
        self.fields.write(writer);
    }
}

type StatusLine<'a> = (Version, u16, &'a [u8]);

/// Reads a status line; the space after the status is there even if no reason follows.
fn status_line(line: &[u8]) -> Result<StatusLine<'_>, Error> {
    let mut words = line.splitn(3, |&byte| byte == b' ');
    let (Some(version), Some(status), Some(reason)) = (words.next(), words.next(), words.next())
    else {
        return Err(Error::StatusLine);
    };
    let version = Version::parse(version)?;
    match *status {
        [a @ b'1'..=b'9', b @ b'0'..=b'9', c @ b'0'..=b'9'] => {
            let digits = [a, b, c].map(|digit| u16::from(digit - b'0'));
            Ok((version, digits[0] * 100 + digits[1] * 10 + digits[2], reason))
        }
        _ => Err(Error::Status),
    }
}
