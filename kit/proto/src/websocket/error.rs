//! What is wrong with a frame, a message or a handshake.

use super::CloseCode;
use crate::http;
use core::fmt;

/// Why bytes are no WebSocket, or none that is accepted.
///
/// An error of a handshake is answered with a status of HTTP by a server, a client closes the
/// connection. After the handshake, [`Error::close_code`] says what to close with.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Error {
    /// A frame has reserved bits, which only extensions set.
    ReservedBits {
        /// The three bits.
        bits: u8,
    },
    /// A frame has an opcode that is not defined.
    Opcode {
        /// The opcode.
        opcode: u8,
    },
    /// A control frame is not final.
    FragmentedControl,
    /// A control frame has more than 125 bytes of payload.
    ControlTooLong,
    /// A length has more bytes than it needs.
    LengthForm {
        /// The length.
        length: u64,
    },
    /// A length does not fit into 63 bits.
    LengthBit,
    /// A frame has more bytes of payload than the limit.
    FrameTooLong {
        /// How many it has.
        length: u64,
        /// The most that are accepted.
        limit: u64,
    },
    /// The frames of a message have more bytes of payload than the limit.
    MessageTooLong {
        /// How many they have, so far.
        length: u64,
        /// The most that are accepted.
        limit: u64,
    },
    /// A client sent a frame that is not masked.
    NotMasked,
    /// A server sent a frame that is masked.
    Masked,
    /// A frame continues a message, and none is open.
    NothingToContinue,
    /// A frame begins a message, and another one is open.
    MessageNotEnded,
    /// A frame follows the one that closes.
    AfterClose,
    /// A frame was begun before the whole payload of the one before it was given.
    FrameNotEnded {
        /// How many bytes were not given.
        left: u64,
    },
    /// More payload was given than a frame has.
    PieceTooLong {
        /// How many bytes were given.
        length: usize,
        /// How many bytes were left.
        left: u64,
    },
    /// A text or a reason is not UTF-8.
    NotUtf8,
    /// A frame that closes has one byte of payload, which is no code.
    CloseLength,
    /// A code may not be sent.
    CloseCode {
        /// The code.
        code: u16,
    },
    /// A reason has more than 123 bytes.
    ReasonTooLong {
        /// How many it has.
        length: usize,
    },
    /// A handshake is no message of HTTP/1.1.
    Http(http::Error),
    /// A handshake is of HTTP/1.0.
    HttpVersion,
    /// A handshake does not ask by GET.
    Method,
    /// A handshake has a body.
    Body,
    /// A server does not switch protocols.
    Status {
        /// What it answers.
        status: u16,
    },
    /// The field Upgrade does not say `websocket`.
    Upgrade,
    /// The field Connection does not list `Upgrade`.
    Connection,
    /// The field Sec-WebSocket-Version does not say 13, once.
    Version,
    /// The field Sec-WebSocket-Key is not 16 bytes in Base64, once.
    Key,
    /// The field Sec-WebSocket-Accept does not answer the key, once.
    Accept,
    /// A server accepts an extension, and none was offered.
    Extension,
    /// A server chooses a protocol that was not offered, or several.
    Protocol,
}

impl Error {
    /// Returns the code to close a connection with after this error (RFC 6455 section 7.4.1).
    pub fn close_code(&self) -> CloseCode {
        match self {
            Error::NotUtf8 => CloseCode::INVALID_PAYLOAD,
            Error::FrameTooLong { .. } | Error::MessageTooLong { .. } => CloseCode::TOO_LONG,
            _ => CloseCode::PROTOCOL_ERROR,
        }
    }
}

impl From<http::Error> for Error {
    fn from(error: http::Error) -> Self {
        Error::Http(error)
    }
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match *self {
            Error::ReservedBits { bits } => {
                write!(
                    f,
                    "a frame has the reserved bits {bits:#05b}: they must be 0 without extensions"
                )
            }
            Error::Opcode { opcode } => {
                write!(f, "a frame has the opcode {opcode:#x}: it must be 0 to 2 or 8 to 0xa")
            }
            Error::FragmentedControl => {
                f.write_str("a control frame is not final: it may not be fragmented")
            }
            Error::ControlTooLong => {
                f.write_str("a control frame has too much payload: at most 125 bytes are possible")
            }
            Error::LengthForm { length } => {
                write!(
                    f,
                    "the length {length} has more bytes than it needs: it must have the fewest"
                )
            }
            Error::LengthBit => {
                f.write_str("the length of a frame has 64 bits: at most 63 are possible")
            }
            Error::FrameTooLong { length, limit } => {
                write!(f, "a frame has {length} bytes of payload: at most {limit} are accepted")
            }
            Error::MessageTooLong { length, limit } => {
                write!(f, "a message has {length} bytes or more: at most {limit} are accepted")
            }
            Error::NotMasked => {
                f.write_str("a client's frame is not masked: clients must mask every frame")
            }
            Error::Masked => f.write_str("a server's frame is masked: servers must mask none"),
            Error::NothingToContinue => f.write_str(
                "a frame continues a message and none is open: a text or binary frame begins one",
            ),
            Error::MessageNotEnded => f.write_str(
                "a frame begins a message and another one is open: a continuation goes on with it",
            ),
            Error::AfterClose => {
                f.write_str("a frame follows the one that closes: that one is the last")
            }
            Error::FrameNotEnded { left } => {
                write!(f, "a frame is begun too early: {left} bytes of the one before it are left")
            }
            Error::PieceTooLong { length, left } => {
                write!(f, "{length} bytes of payload are given: the frame has {left} left")
            }
            Error::NotUtf8 => {
                f.write_str("a text is not UTF-8: other bytes go into binary messages")
            }
            Error::CloseLength => f.write_str(
                "a frame that closes has one byte of payload: a code has two, or there is none",
            ),
            Error::CloseCode { code } => write!(
                f,
                "the code {code} may not be sent: 1000 to 1003, 1007 to 1014 and 3000 to 4999 may"
            ),
            Error::ReasonTooLong { length } => {
                write!(f, "a reason has {length} bytes: at most 123 are possible")
            }
            Error::Http(error) => write!(f, "the handshake is no HTTP/1.1: {error}"),
            Error::HttpVersion => f.write_str("the handshake is of HTTP/1.0: it needs 1.1"),
            Error::Method => f.write_str("the handshake has another method: it must be GET"),
            Error::Body => f.write_str("the handshake has a body: it must have none"),
            Error::Status { status } => {
                write!(f, "the server answers {status}: it accepts a connection by 101")
            }
            Error::Upgrade => f.write_str("the field Upgrade is wrong: it must say 'websocket'"),
            Error::Connection => {
                f.write_str("the field Connection is wrong: it must list 'Upgrade'")
            }
            Error::Version => {
                f.write_str("the field Sec-WebSocket-Version is wrong: it must say 13, once")
            }
            Error::Key => f.write_str(
                "the field Sec-WebSocket-Key is wrong: it must be 16 bytes in Base64, once",
            ),
            Error::Accept => {
                f.write_str("the field Sec-WebSocket-Accept is wrong: it must answer the key, once")
            }
            Error::Extension => f.write_str("the server accepts an extension: none was offered"),
            Error::Protocol => f.write_str(
                "the server chooses a protocol that was not offered, or several: it chooses at \
                 most one of those",
            ),
        }
    }
}

impl core::error::Error for Error {}
