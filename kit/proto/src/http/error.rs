//! What is wrong with a message.

use core::fmt;

/// Why bytes are no message of HTTP/1.1, or none that is accepted.
///
/// A server answers it with the status 400 (431 and 413 if something is too long) and closes the
/// connection; a client closes it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Error {
    /// A head, or the trailers, have more bytes than the limit.
    TooLong {
        /// The most bytes that are accepted.
        limit: usize,
    },
    /// A line ends with LF alone.
    BareLf,
    /// A CR is not followed by LF.
    BareCr,
    /// A request line is not three words with single spaces between them.
    RequestLine,
    /// A method is no token.
    Method,
    /// The target of a request has none of the forms that its method may have.
    Target,
    /// A version is neither 1.0 nor a later 1.x.
    Version,
    /// A status line lacks the space after the version or after the status.
    StatusLine,
    /// A status is not three digits that begin with 1 to 9.
    Status,
    /// A reason has control characters.
    Reason,
    /// A line begins with white space: folding is obsolete.
    Folded,
    /// A line of the fields has no colon.
    NoColon,
    /// White space stands between the name of a field and the colon.
    SpaceBeforeColon,
    /// The name of a field is no token.
    FieldName,
    /// The value of a field has a control character.
    FieldValue {
        /// The character.
        byte: u8,
    },
    /// A request of HTTP/1.1 lacks the field Host.
    NoHost,
    /// A request has several fields Host.
    SeveralHosts,
    /// The field Host has a character that no host or port has.
    Host,
    /// Content-Length is not a number of 64 bits.
    ContentLength,
    /// Content-Length says two different numbers.
    ContentLengths {
        /// The first number.
        first: u64,
        /// The number that differs from it.
        second: u64,
    },
    /// Both Content-Length and Transfer-Encoding are there.
    LengthAndCoding,
    /// Transfer-Encoding stands in a message of HTTP/1.0.
    CodingInHttp10,
    /// Transfer-Encoding names no coding, or has a quoted parameter.
    Coding,
    /// The coding `chunked` is not the last one, or stands there twice.
    ChunkedNotLast,
    /// A body has more bytes than the limit.
    BodyTooLong {
        /// How many it has, as far as is known.
        length: u64,
        /// The most bytes that are accepted.
        limit: u64,
    },
    /// The size of a chunk is not 1 to 16 hexadecimal digits.
    ChunkSize,
    /// What follows the size of a chunk is no extension.
    ChunkExtension,
    /// The extensions of the chunks of a body have more bytes than the limit.
    ExtensionsTooLong {
        /// The most bytes that are accepted.
        limit: usize,
    },
    /// The data of a chunk is not followed by CRLF.
    ChunkEnd,
    /// The body in chunks has ended, and more was to be decoded.
    BodyEnded,
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match *self {
            Error::TooLong { limit } => {
                write!(
                    f,
                    "the head or the trailers are too long: at most {limit} bytes are accepted"
                )
            }
            Error::BareLf => f.write_str("a line ends with LF alone: it must end with CRLF"),
            Error::BareCr => f.write_str("a CR stands alone: LF must follow it"),
            Error::RequestLine => f.write_str(
                "the request line has other words or spaces: it must be 'METHOD TARGET VERSION'",
            ),
            Error::Method => f.write_str(
                "the method is no token: it may have letters, digits and !#$%&'*+-.^_`|~",
            ),
            Error::Target => f.write_str(
                "the target is none of this method: it must be a path, a URI, '*' of OPTIONS or \
                 'host:port' of CONNECT",
            ),
            Error::Version => {
                f.write_str("the version is unknown: it must be HTTP/1.0 or HTTP/1.1")
            }
            Error::StatusLine => f.write_str(
                "the status line lacks a space: it must be 'VERSION STATUS REASON', where the \
                 reason may be empty",
            ),
            Error::Status => f.write_str("the status is no number from 100 to 999: it must be one"),
            Error::Reason => {
                f.write_str("the reason has a control character: only the tab is permitted")
            }
            Error::Folded => f.write_str("a field goes on in a second line: it must stand in one"),
            Error::NoColon => {
                f.write_str("a line of the fields has no colon: it must be 'NAME: VALUE'")
            }
            Error::SpaceBeforeColon => {
                f.write_str("white space stands before the colon of a field: none may")
            }
            Error::FieldName => f.write_str(
                "the name of a field is no token: it may have letters, digits and !#$%&'*+-.^_`|~",
            ),
            Error::FieldValue { byte } => write!(
                f,
                "the value of a field has the byte {byte:#04x}: of the control characters only \
                 the tab is permitted"
            ),
            Error::NoHost => f.write_str("the request has no field Host: HTTP/1.1 needs one"),
            Error::SeveralHosts => {
                f.write_str("the request has several fields Host: it must have one")
            }
            Error::Host => f.write_str(
                "the field Host has a wrong character: it must be 'host' or 'host:port'",
            ),
            Error::ContentLength => {
                f.write_str("Content-Length is no decimal number below 2^64: it must be one")
            }
            Error::ContentLengths { first, second } => {
                write!(f, "Content-Length says both {first} and {second}: it must say one number")
            }
            Error::LengthAndCoding => f.write_str(
                "both Content-Length and Transfer-Encoding are there: at most one may be",
            ),
            Error::CodingInHttp10 => {
                f.write_str("a message of HTTP/1.0 has Transfer-Encoding: only 1.1 has it")
            }
            Error::Coding => f.write_str(
                "Transfer-Encoding names no coding or has quotes: it must be a list without them",
            ),
            Error::ChunkedNotLast => {
                f.write_str("'chunked' is not the last transfer coding: it must be, and only once")
            }
            Error::BodyTooLong { length, limit } => {
                write!(f, "the body has {length} bytes or more: at most {limit} are accepted")
            }
            Error::ChunkSize => {
                f.write_str("a chunk has no size: it must be 1 to 16 hexadecimal digits")
            }
            Error::ChunkExtension => f.write_str(
                "what follows the size of a chunk is no extension: it must begin with ';'",
            ),
            Error::ExtensionsTooLong { limit } => write!(
                f,
                "the extensions of chunks are too long: at most {limit} bytes are accepted"
            ),
            Error::ChunkEnd => {
                f.write_str("the data of a chunk goes on after its size: CRLF must end it")
            }
            Error::BodyEnded => f.write_str("the body has ended: what follows is the next message"),
        }
    }
}

impl core::error::Error for Error {}
