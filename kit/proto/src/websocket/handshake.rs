//! The opening handshake (RFC 6455 section 4): a request and a response of HTTP/1.1, after which
//! frames follow on the connection.
//!
//! A client draws a [`Key`], encodes a request with [`request_fields`] and decodes the
//! [`Response`]; a server decodes the [`Request`] and encodes a response with [`response_fields`].
//! What is encoded is checked as what is decoded. Fields of one's own go into the same list.
//!
//! ```
//! use tiebreak_proto::http::{self, Fields};
//! use tiebreak_proto::websocket::handshake::{self, Key, Request, Response};
//!
//! let key = Key::from_bytes(*b"the sample nonce");
//! let fields = handshake::request_fields("server.example.com", &key)?;
//! let request = Request::new(http::Request::new("GET", "/chat", Fields::new(&fields))?)?;
//! assert_eq!(request.key().as_str(), "dGhlIHNhbXBsZSBub25jZQ==");
//!
//! let accept = request.key().accept();
//! assert_eq!(accept.as_str(), "s3pPLMBiTxaQ9kYGzzhZRbK+xOo=");
//! let fields = handshake::response_fields(&accept);
//! let head = http::Response::new(101, "Switching Protocols", Fields::new(&fields))?;
//! let response = Response::new(head, &request)?;
//! assert_eq!(response.protocol(), None);
//! # Ok::<(), tiebreak_proto::websocket::Error>(())
//! ```

use super::{Error, base64, sha1::sha1};
use crate::http::{self, Body, Field, Only, Version};
use crate::{Decoded, TooSmall};

/// What a server appends to the key before it takes the digest (RFC 6455 section 1.3).
const GUID: &[u8; 36] = b"258EAFA5-E914-47DA-95CA-C5AB0DC85B11";
/// The names of fields that several functions ask for.
const KEY: &str = "Sec-WebSocket-Key";
const ACCEPT: &str = "Sec-WebSocket-Accept";
const VERSION: &str = "Sec-WebSocket-Version";
const PROTOCOL: &str = "Sec-WebSocket-Protocol";
const EXTENSIONS: &str = "Sec-WebSocket-Extensions";

/// What a client draws for each connection: the text of 16 bytes in Base64.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Key([u8; 24]);

impl Key {
    /// Returns the key of 16 bytes, which are to be drawn at random for each connection.
    pub fn from_bytes(bytes: [u8; 16]) -> Self {
        let mut text = [0; 24];
        base64::encode(&bytes, &mut text);
        Key(text)
    }

    /// Reads a key.
    ///
    /// # Errors
    /// Fails if it is not the text of 16 bytes in Base64.
    pub fn parse(text: &[u8]) -> Result<Self, Error> {
        match text.try_into() {
            Ok(text) if base64::is_of_16_bytes(&text) => Ok(Key(text)),
            _ => Err(Error::Key),
        }
    }

    /// Returns the text.
    pub fn as_str(&self) -> &str {
        core::str::from_utf8(&self.0).unwrap_or_default()
    }

    /// Returns the server's answer: the SHA-1 of the text and a number that only WebSocket has.
    pub fn accept(&self) -> Accept {
        let mut message = [0; 24 + 36];
        message[..24].copy_from_slice(&self.0);
        message[24..].copy_from_slice(GUID);
        let mut text = [0; 28];
        base64::encode(&sha1(&message), &mut text);
        Accept(text)
    }
}

/// What a server answers to a [`Key`]: a digest in Base64.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Accept([u8; 28]);

impl Accept {
    /// Returns the text.
    pub fn as_str(&self) -> &str {
        core::str::from_utf8(&self.0).unwrap_or_default()
    }
}

/// Returns the fields that every request has. Others, such as Origin and Sec-WebSocket-Protocol,
/// may be added.
///
/// # Errors
/// Fails if `host` has control characters.
pub fn request_fields<'a>(host: &'a str, key: &'a Key) -> Result<[Field<'a>; 5], Error> {
    Ok([
        Field::new("Host", host)?,
        Field::known("Upgrade", "websocket"),
        Field::known("Connection", "Upgrade"),
        Field::known(KEY, key.as_str()),
        Field::known(VERSION, "13"),
    ])
}

/// Returns the fields that every response has. Others, such as Sec-WebSocket-Protocol, may be
/// added.
pub fn response_fields(accept: &Accept) -> [Field<'_>; 3] {
    [
        Field::known("Upgrade", "websocket"),
        Field::known("Connection", "Upgrade"),
        Field::known(ACCEPT, accept.as_str()),
    ]
}

/// A client's part of the handshake.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Request<'a> {
    head: http::Request<'a>,
    key: Key,
}

impl<'a> Request<'a> {
    /// Returns a request with this head.
    ///
    /// # Errors
    /// Fails if it is not GET by HTTP/1.1 without a body, if Upgrade does not list `websocket` or
    /// Connection `Upgrade`, if the version is not 13 (the answer is then 426 with the field
    /// `Sec-WebSocket-Version: 13`), or if the key is not right (RFC 6455 section 4.2.1).
    pub fn new(head: http::Request<'a>) -> Result<Self, Error> {
        let fields = head.fields();
        if head.method() != "GET" {
            return Err(Error::Method);
        }
        if head.version() != Version::Http11 {
            return Err(Error::HttpVersion);
        }
        if !matches!(head.body(0), Ok(Body::None | Body::Length(0))) {
            return Err(Error::Body);
        }
        if !fields.lists("Upgrade", "websocket") {
            return Err(Error::Upgrade);
        }
        if !fields.lists("Connection", "Upgrade") {
            return Err(Error::Connection);
        }
        if fields.only(VERSION) != Only::One(b"13") {
            return Err(Error::Version);
        }
        let Only::One(key) = fields.only(KEY) else {
            return Err(Error::Key);
        };
        let key = Key::parse(key)?;
        Ok(Request { head, key })
    }

    /// Decodes a request, whose head may have at most `limit` bytes.
    ///
    /// # Errors
    /// Fails where [`http::Request::decode`] and [`Request::new`] do.
    pub fn decode(bytes: &'a [u8], limit: usize) -> Result<Decoded<Self>, Error> {
        http::Request::decode(bytes, limit)?.try_map(Self::new)
    }

    /// Returns the head, which has the target and all fields.
    pub fn head(&self) -> http::Request<'a> {
        self.head
    }

    /// Returns the key.
    pub fn key(&self) -> &Key {
        &self.key
    }

    /// Iterates over the protocols that the client offers, the one that it likes best first.
    pub fn protocols(&self) -> impl Iterator<Item = &'a [u8]> + use<'a> {
        self.head.fields().elements(PROTOCOL)
    }

    /// Writes the request and returns how many bytes that took.
    ///
    /// # Errors
    /// Fails if `out` is too small.
    pub fn encode(&self, out: &mut [u8]) -> Result<usize, TooSmall> {
        self.head.encode(out)
    }

    /// Returns how many bytes [`Request::encode`] writes.
    pub fn encoded_len(&self) -> usize {
        self.head.encoded_len()
    }
}

/// A server's part of the handshake, when it accepts the connection.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Response<'a> {
    head: http::Response<'a>,
    protocol: Option<&'a [u8]>,
}

impl<'a> Response<'a> {
    /// Returns a response with this head to a request.
    ///
    /// # Errors
    /// Fails if the status is not 101, or the version HTTP/1.1; if Upgrade is not `websocket`, or
    /// Connection does not list `Upgrade`; if the key is not answered; if an extension is accepted;
    /// or if a protocol is chosen that was not offered (RFC 6455 section 4.1).
    pub fn new(head: http::Response<'a>, request: &Request<'_>) -> Result<Self, Error> {
        let fields = head.fields();
        if head.status() != 101 {
            return Err(Error::Status { status: head.status() });
        }
        if head.version() != Version::Http11 {
            return Err(Error::HttpVersion);
        }
        match fields.only("Upgrade") {
            Only::One(value) if value.eq_ignore_ascii_case(b"websocket") => {}
            _ => return Err(Error::Upgrade),
        }
        if !fields.lists("Connection", "Upgrade") {
            return Err(Error::Connection);
        }
        if fields.only(ACCEPT) != Only::One(request.key.accept().as_str().as_bytes()) {
            return Err(Error::Accept);
        }
        if fields.elements(EXTENSIONS).next().is_some() {
            return Err(Error::Extension);
        }
        let protocol = match fields.only(PROTOCOL) {
            Only::One(chosen) if request.protocols().any(|offered| offered == chosen) => {
                Some(chosen)
            }
            Only::Missing => None,
            _ => return Err(Error::Protocol),
        };
        Ok(Response { head, protocol })
    }

    /// Decodes the response to a request; its head may have at most `limit` bytes.
    ///
    /// # Errors
    /// Fails where [`http::Response::decode`] and [`Response::new`] do.
    pub fn decode(
        bytes: &'a [u8],
        limit: usize,
        request: &Request<'_>,
    ) -> Result<Decoded<Self>, Error> {
        http::Response::decode(bytes, limit)?.try_map(|head| Self::new(head, request))
    }

    /// Returns the head.
    pub fn head(&self) -> http::Response<'a> {
        self.head
    }

    /// Returns the protocol that the server chose, if it chose one.
    pub fn protocol(&self) -> Option<&'a [u8]> {
        self.protocol
    }

    /// Writes the response and returns how many bytes that took.
    ///
    /// # Errors
    /// Fails if `out` is too small.
    pub fn encode(&self, out: &mut [u8]) -> Result<usize, TooSmall> {
        self.head.encode(out)
    }

    /// Returns how many bytes [`Response::encode`] writes.
    pub fn encoded_len(&self) -> usize {
        self.head.encoded_len()
    }
}
