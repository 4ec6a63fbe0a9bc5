//! HTTP/1.1 (RFC 9112): heads of requests and responses, where bodies end, the chunked coding.
//!
//! A [`Request`] or [`Response`] is the head of a message: its start line and its [`Fields`]. It is
//! a view of the bytes that it was decoded from, or of a list of fields that is to be encoded.
//! [`Request::body`] and [`Response::body`] say where the body ends; [`Chunked`] reads a body that
//! comes in chunks, [`Chunk`] and [`LastChunk`] write one.
//!
//! Decoding is as strict as the standard lets a recipient be, since two recipients that are lenient
//! in different ways can be made to see different messages in the same bytes (request smuggling,
//! RFC 9112 section 11.2). Lines end with CRLF only, a field is never folded, and a message whose
//! length is said in two ways is refused. One leniency remains, as the standard asks for it: an
//! empty line before a request (section 2.2).
//!
//! Of the fields only Host, Content-Length, Transfer-Encoding and Connection are understood, and
//! nothing is decompressed.
//!
//! ```
//! use tiebreak_proto::Decoded;
//! use tiebreak_proto::http::{Body, Field, Fields, Request, Response};
//!
//! let fields = [Field::new("Host", "www.example.com")?];
//! let request = Request::new("GET", "/hello.txt", Fields::new(&fields))?;
//! let mut out = [0; 64];
//! let length = request.encode(&mut out)?;
//! assert_eq!(&out[..length], b"GET /hello.txt HTTP/1.1\r\nHost: www.example.com\r\n\r\n");
//!
//! let bytes = b"HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nhello";
//! let Decoded::Whole { value: response, length } = Response::decode(bytes, 8192)? else {
//!     panic!("the head is whole");
//! };
//! assert_eq!((response.status(), length), (200, 38));
//! assert_eq!(response.body("GET", 1 << 20)?, Body::Length(5));
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

mod body;
mod chunked;
mod error;
mod fields;
mod head;
mod line;
mod response;

pub use body::Body;
pub use chunked::{Chunk, Chunked, LastChunk, Piece};
pub use error::Error;
pub(crate) use fields::Only;
pub use fields::{Field, Fields, FieldsIter};
pub use head::{Request, Version};
pub use response::Response;
