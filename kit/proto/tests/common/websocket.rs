//! What holds for all bytes that are read as WebSocket.

use super::{Outcome, check_cut, cut, encoded, feed, outcome, whole};
use tiebreak_proto::Decoded;
use tiebreak_proto::http::{self, Fields};
use tiebreak_proto::websocket::handshake::{self, Key};
use tiebreak_proto::websocket::{Close, Error, Event, Frame, FrameHeader, Reader, Role};

/// The most bytes of a message.
pub const LIMIT: u64 = 1000;
/// The most bytes of a head.
pub const HEAD_LIMIT: usize = 1000;

/// What a peer said, of whole messages and control frames.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Received {
    Text(String),
    Binary(Vec<u8>),
    Ping(Vec<u8>),
    Pong(Vec<u8>),
    Close(Option<(u16, String)>),
}

/// Reads what comes in pieces. Returns what was said, and how many bytes it took or the error.
pub fn read(pieces: &[&[u8]], sender: Role, limit: u64) -> (Vec<Received>, Result<usize, Error>) {
    let mut reader = Reader::new(sender, limit);
    let (mut said, mut message) = (Vec::new(), Vec::new());
    let end = feed(pieces, |bytes| {
        let (event, length) = match reader.decode(bytes)? {
            Decoded::Whole { value, length } => (value, length),
            Decoded::Short { needs } => return Ok(Decoded::Short { needs }),
        };
        said.extend(match event {
            Event::Text { piece, is_last } => {
                message.extend_from_slice(piece);
                is_last
                    .then(|| std::mem::take(&mut message))
                    .map(|text| Received::Text(String::from_utf8(text).expect("a text is UTF-8")))
            }
            Event::Binary { piece, is_last } => {
                message.extend_from_slice(piece);
                is_last.then(|| Received::Binary(std::mem::take(&mut message)))
            }
            Event::Ping(payload) => Some(Received::Ping(payload.to_vec())),
            Event::Pong(payload) => Some(Received::Pong(payload.to_vec())),
            Event::Close(close) => Some(Received::Close(
                close.map(|close| (close.code().number(), close.reason().to_owned())),
            )),
        });
        Ok(Decoded::Whole { value: false, length })
    });
    (said, end)
}

/// Decodes a header.
pub fn header(bytes: &[u8], sender: Role) -> Outcome {
    outcome(bytes, FrameHeader::decode(bytes, sender, LIMIT))
}

/// Decodes a whole frame.
pub fn frame(bytes: &[u8], sender: Role) -> Outcome {
    let mut copy = bytes.to_vec();
    let outcome = outcome(bytes, Frame::decode(&mut copy, sender, LIMIT));
    match outcome {
        Outcome::Whole(_, length) => assert_eq!(bytes[length..], copy[length..]),
        _ => assert_eq!(bytes, copy, "only a whole frame is unmasked"),
    }
    outcome
}

/// Decodes a client's handshake.
pub fn request(bytes: &[u8]) -> Outcome {
    outcome(bytes, handshake::Request::decode(bytes, HEAD_LIMIT))
}

/// Decodes the answer to the handshake of RFC 6455 section 1.3.
pub fn response(bytes: &[u8]) -> Outcome {
    let key = Key::from_bytes(*b"the sample nonce");
    let mut fields = handshake::request_fields("server.example.com", &key).unwrap().to_vec();
    fields.push(http::Field::new("Sec-WebSocket-Protocol", "chat, superchat").unwrap());
    let head = http::Request::new("GET", "/chat", Fields::new(&fields)).unwrap();
    let request = handshake::Request::new(head).unwrap();
    let decoded = handshake::Response::decode(bytes, HEAD_LIMIT, &request);
    if let Ok(Decoded::Whole { value, .. }) = &decoded {
        let again = encoded(value.encoded_len(), |out| value.encode(out));
        assert_eq!(whole(handshake::Response::decode(&again, again.len(), &request)).0, *value);
    }
    outcome(bytes, decoded)
}

/// Checks what holds for all bytes of either side, cut at two places.
pub fn check(bytes: &[u8], a: usize, b: usize) {
    let pieces = cut(bytes, a, b);
    let first = pieces[0].len();
    for sender in [Role::Client, Role::Server] {
        check_cut(bytes, first, |bytes| header(bytes, sender));
        check_cut(bytes, first, |bytes| frame(bytes, sender));
        check_again(bytes, sender);
        assert_eq!(read(&pieces, sender, LIMIT), read(&[bytes], sender, LIMIT));
    }
    check_cut(bytes, first, request);
    check_cut(bytes, first, response);
    if let Ok(Decoded::Whole { value, .. }) = handshake::Request::decode(bytes, HEAD_LIMIT) {
        let again = encoded(value.encoded_len(), |out| value.encode(out));
        assert_eq!(whole(handshake::Request::decode(&again, again.len())).0, value);
        assert_eq!(Key::parse(value.key().as_str().as_bytes()), Ok(*value.key()));
    }
    if let Ok(Some(close)) = Close::decode(bytes) {
        assert_eq!(encoded(close.encoded_len(), |out| close.encode(out)), bytes);
    }
}

/// Checks that a frame is encoded as it was decoded: there is one form of each.
fn check_again(bytes: &[u8], sender: Role) {
    let mut copy = bytes.to_vec();
    if let Ok(Decoded::Whole { value, length }) = FrameHeader::decode(bytes, sender, LIMIT) {
        let again = encoded(value.encoded_len(), |out| value.encode(out));
        assert_eq!(again, bytes[..length]);
    }
    if let Ok(Decoded::Whole { value, length }) = Frame::decode(&mut copy, sender, LIMIT) {
        let again = encoded(value.encoded_len(), |out| value.encode(out));
        assert_eq!(again, bytes[..length]);
    }
}
