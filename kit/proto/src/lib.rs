//! Codecs of network protocols, for clients and servers, without I/O.
//!
//! | module | what it has |
//! |---|---|
//! | [`http`] | HTTP/1.1 (RFC 9112): heads, where bodies end, the chunked coding |
//! | [`mqtt`] | MQTT 3.1, 3.1.1 and 5.0: packets, and which topics a filter matches |
//! | [`websocket`] | WebSocket (RFC 6455): the opening handshake, frames, messages |
//!
//! A codec reads from a slice of bytes and writes into one. It has no socket, clock or buffer,
//! never allocates, and has no dependency. What it decodes is a view of the bytes that were given;
//! only the payload of WebSocket is changed there, as it has to be unmasked. So the cost is known,
//! and whoever uses a codec decides about threads, sockets and memory.
//!
//! *Decoding* gives [`Decoded`]: a value and how many bytes it took, or how many bytes are needed
//! to try again. Once a value is there, more bytes after it do not change it; once bytes are
//! refused, more bytes do not make them right. So bytes may come in pieces of any size.
//!
//! *Encoding* gives the number of bytes written, or [`TooSmall`]. What would not be decoded is not
//! encoded either. Most types are checked when they are made, so encoding them cannot fail
//! otherwise. The packets of MQTT have public fields and depend on a version, so they are checked
//! when they are encoded: see [`mqtt::EncodeError`].
//!
//! *Limits* are arguments. A length above one is refused as soon as it is read, before the bytes
//! that it promises have come.
//!
//! Each module has an `Error` of its own, for bytes that break its standard.

#![no_std]
#![forbid(unsafe_code)]

use core::fmt;

pub mod http;
pub mod mqtt;
pub mod websocket;
mod writer;

/// What decoding gives: a value, or how far the bytes fall short of one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Decoded<T> {
    /// The bytes begin with a whole value.
    Whole {
        /// The value.
        value: T,
        /// How many bytes it took, at least 1. What follows them was not looked at.
        length: usize,
    },
    /// The bytes are the beginning of a value, without a fault so far.
    Short {
        /// The least number of bytes, counted from the same first one, with which it is worth
        /// trying again; always more than were given.
        needs: usize,
    },
}

impl<T> Decoded<T> {
    /// Returns the same with another value, or the error that making it gives.
    pub(crate) fn try_map<U, E>(
        self,
        make: impl FnOnce(T) -> Result<U, E>,
    ) -> Result<Decoded<U>, E> {
        match self {
            Decoded::Whole { value, length } => Ok(Decoded::Whole { value: make(value)?, length }),
            Decoded::Short { needs } => Ok(Decoded::Short { needs }),
        }
    }
}

/// The slice to encode into is too small. What it has then is of no use.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TooSmall {
    /// How many bytes the encoding takes.
    pub needs: usize,
}

impl fmt::Display for TooSmall {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "the slice to encode into is too small: {} bytes are needed", self.needs)
    }
}

impl core::error::Error for TooSmall {}
