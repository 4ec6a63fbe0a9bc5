//! WebSocket (RFC 6455): the opening handshake, frames, and messages that are made of them.
//!
//! | to | use |
//! |---|---|
//! | open a connection | [`handshake`] |
//! | write a frame | [`Frame`], or [`FrameHeader`] and [`mask`] |
//! | read frames that come whole | [`Frame::decode`], then [`Sequence`] |
//! | read messages of any size, as they come | [`Reader`] |
//! | read or write the payload of a frame that closes | [`Close`] |
//!
//! No extension is built: one that is offered is not accepted, a response that accepts one is
//! refused, and the reserved bits of a frame are 0. Masking keys come from the caller, who has to
//! draw each from an unpredictable source (section 5.3).
//!
//! ```
//! use tiebreak_proto::Decoded;
//! use tiebreak_proto::websocket::{Event, Frame, Opcode, Reader, Role};
//!
//! let frame = Frame::new(Opcode::Text, true, Some([0x37, 0xfa, 0x21, 0x3d]), b"Hello")?;
//! let mut bytes = [0; 32];
//! let length = frame.encode(&mut bytes)?;
//!
//! let mut reader = Reader::new(Role::Client, 1 << 20);
//! let read = reader.decode(&mut bytes[..length])?;
//! let value = Event::Text { piece: b"Hello", is_last: true };
//! assert_eq!(read, Decoded::Whole { value, length });
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

mod base64;
mod close;
mod error;
mod frame;
pub mod handshake;
mod header;
mod reader;
mod sequence;
mod sha1;
mod utf8;

pub use close::{Close, CloseCode};
pub use error::Error;
pub use frame::{Frame, mask};
pub use header::{FrameHeader, Opcode, Role};
pub use reader::{Event, Reader};
pub use sequence::Sequence;
pub use utf8::Utf8;
