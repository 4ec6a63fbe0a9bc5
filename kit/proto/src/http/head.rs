//! Heads of requests (RFC 9112 section 3), and what both kinds of heads share.

use super::body::{self, Framing};
use super::line::{ascii, is_token, line};
use super::{Body, Error, Fields, Only};
use crate::writer::Writer;
use crate::{Decoded, TooSmall};

/// A version of HTTP/1 (RFC 9112 section 2.3).
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Version {
    /// HTTP/1.0.
    Http10,
    /// HTTP/1.1, and what calls itself a later 1.x, which is read as 1.1 (RFC 9110 section 2.5).
    Http11,
}

impl Version {
    pub(super) fn parse(word: &[u8]) -> Result<Self, Error> {
        match word {
            b"HTTP/1.0" => Ok(Version::Http10),
            [b'H', b'T', b'T', b'P', b'/', b'1', b'.', b'1'..=b'9'] => Ok(Version::Http11),
            _ => Err(Error::Version),
        }
    }

    pub(super) fn name(self) -> &'static [u8] {
        match self {
            Version::Http10 => b"HTTP/1.0",
            Version::Http11 => b"HTTP/1.1",
        }
    }
}

/// The head of a request.
///
/// Representation: views of the bytes, and what the fields say about the body.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Request<'a> {
    method: &'a str,
    target: &'a str,
    version: Version,
    fields: Fields<'a>,
    framing: Framing,
}

impl<'a> Request<'a> {
    /// Returns the head of a request of HTTP/1.1.
    ///
    /// # Errors
    /// Fails where decoding would: see [`Request::decode`].
    pub fn new(method: &'a str, target: &'a str, fields: Fields<'a>) -> Result<Self, Error> {
        if !is_token(method.as_bytes()) {
            return Err(Error::Method);
        }
        if !is_target(method, target) {
            return Err(Error::Target);
        }
        Self::checked(method, target, Version::Http11, fields)
    }

    /// Decodes a head, which may have at most `limit` bytes, with the empty line that may precede
    /// it. Each call reads the head from its beginning.
    ///
    /// # Errors
    /// Fails if the head is too long, or breaks a rule that [`Error`] names. The target has one of
    /// the four forms (RFC 9112 section 3.2) and consists of visible ASCII but `#`. Host is there
    /// in HTTP/1.1, never twice, and consists of the characters of a host and port.
    pub fn decode(bytes: &'a [u8], limit: usize) -> Result<Decoded<Self>, Error> {
        let skipped = if bytes.starts_with(b"\r\n") { 2 } else { 0 };
        decode(bytes, skipped, limit, request_line)?.try_map(
            |((method, target, version), fields)| Self::checked(method, target, version, fields),
        )
    }

    fn checked(
        method: &'a str,
        target: &'a str,
        version: Version,
        fields: Fields<'a>,
    ) -> Result<Self, Error> {
        match fields.only("Host") {
            Only::One(host) if host.iter().all(|&byte| is_host(byte)) => {}
            Only::Missing if version == Version::Http10 => {}
            Only::One(_) => return Err(Error::Host),
            Only::Missing => return Err(Error::NoHost),
            Only::Several => return Err(Error::SeveralHosts),
        }
        let framing = Framing::of(version, &fields)?;
        if framing == Framing::Coded {
            return Err(Error::ChunkedNotLast);
        }
        Ok(Request { method, target, version, fields, framing })
    }

    /// Returns the method, whose letters matter.
    pub fn method(&self) -> &'a str {
        self.method
    }

    /// Returns the target as it came: nothing in it is decoded.
    pub fn target(&self) -> &'a str {
        self.target
    }

    /// Returns the version.
    pub fn version(&self) -> Version {
        self.version
    }

    /// Returns the fields.
    pub fn fields(&self) -> Fields<'a> {
        self.fields
    }

    /// Returns where the body ends: never [`Body::UntilClose`].
    ///
    /// # Errors
    /// Fails if it is said to have more than `limit` bytes.
    pub fn body(&self, limit: u64) -> Result<Body, Error> {
        let body = match self.framing {
            Framing::Length(length) => Body::Length(length),
            Framing::Chunked => Body::Chunked,
            // A request that is only coded was refused.
            Framing::Unsaid | Framing::Coded => Body::None,
        };
        body.within(limit)
    }

    /// Returns whether the client wants the connection to stay open (RFC 9112 section 9.3).
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

    /// Returns how many bytes [`Request::encode`] writes.
    pub fn encoded_len(&self) -> usize {
        Writer::count(|writer| self.write(writer))
    }

    fn write(&self, writer: &mut Writer<'_>) {
        writer.put(self.method.as_bytes());
        writer.put(b" ");
        writer.put(self.target.as_bytes());
        writer.put(b" ");
        writer.put(self.version.name());
        writer.put(b"\r\n");
        self.fields.write(writer);
    }
}

/// Decodes the start line, which `start` reads, and the fields, all from `skipped` on.
pub(super) fn decode<'a, S>(
    bytes: &'a [u8],
    skipped: usize,
    limit: usize,
    start: fn(&'a [u8]) -> Result<S, Error>,
) -> Result<Decoded<(S, Fields<'a>)>, Error> {
    // What lies beyond the limit is not read, so that how the bytes are cut changes nothing.
    let head = &bytes[..bytes.len().min(limit)];
    let head = head.get(skipped..).unwrap_or_default();
    if let Some(first) = line(head)? {
        let value = start(first)?;
        let length = first.len() + 2;
        if let Some((fields, fields_length)) = Fields::decode(&head[length..])? {
            let length = skipped + length + fields_length;
            return Ok(Decoded::Whole { value: (value, fields), length });
        }
    }
    if bytes.len() < limit {
        Ok(Decoded::Short { needs: bytes.len() + 1 })
    } else {
        Err(Error::TooLong { limit })
    }
}

fn request_line(line: &[u8]) -> Result<(&str, &str, Version), Error> {
    let mut words = line.split(|&byte| byte == b' ');
    let (Some(method), Some(target), Some(version), None) =
        (words.next(), words.next(), words.next(), words.next())
    else {
        return Err(Error::RequestLine);
    };
    if !is_token(method) {
        return Err(Error::Method);
    }
    let method = ascii(method);
    match core::str::from_utf8(target) {
        Ok(target) if is_target(method, target) => Ok((method, target, Version::parse(version)?)),
        _ => Err(Error::Target),
    }
}

/// Returns whether a target has one of the forms of RFC 9112 section 3.2, as its method asks for.
fn is_target(method: &str, target: &str) -> bool {
    if !target.bytes().all(|byte| byte.is_ascii_graphic() && byte != b'#') {
        return false;
    }
    match target {
        "*" => method == "OPTIONS",
        authority if method == "CONNECT" => {
            authority.bytes().all(is_host)
                && authority.rsplit_once(':').is_some_and(|(host, port)| {
                    !host.is_empty()
                        && !port.is_empty()
                        && port.bytes().all(|byte| byte.is_ascii_digit())
                })
        }
        path if path.starts_with('/') => true,
        absolute => absolute.split_once(':').is_some_and(|(scheme, rest)| {
            !rest.is_empty()
                && scheme.starts_with(|first: char| first.is_ascii_alphabetic())
                && scheme.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"+-.".contains(&byte))
        }),
    }
}

/// Returns whether a byte may stand in a host and port (RFC 3986 section 3.2.2).
fn is_host(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || b"-._~%!$&'()*+,;=:[]".contains(&byte)
}
