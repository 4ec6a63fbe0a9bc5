//! A client of WebSocket: what it says, and what it understands.

use crate::conversation::{Broken, Conversation, Heard};
use crate::message::Message;
use crate::random::Words;
use crate::stamp::{MESSAGES_MAX, Stamp};
use tiebreak_proto::Decoded;
use tiebreak_proto::websocket::handshake::{Request, Response};
use tiebreak_proto::websocket::{
    Close, Error, Event, Frame, FrameHeader, Opcode, Reader, Role, mask,
};

/// The most bytes of a response to the handshake.
const RESPONSE_BYTES_MAX: usize = 1 << 14;
/// The most bytes that a server may put before a message.
const BEFORE_BYTES_MAX: usize = 1024;
/// What an answer's number is above that of its message, in a relay: a server that sends a message
/// back to its sender is then not taken for one that passes it on.
const ANSWERED: u64 = MESSAGES_MAX / 2;

/// A connection of [`WebSocket`](super::WebSocket).
///
/// Representation: the header of a message's frame is encoded once, and only its masking key
/// changes. The pieces of a message that comes in several are kept until it is whole, in memory
/// that is used again.
#[derive(Debug)]
pub struct Client {
    /// The request of the handshake.
    request: Vec<u8>,
    is_open: bool,
    /// Whether it sends back what it gets, and nothing else.
    is_answering: bool,
    /// Whether the server passes messages on to the other connection, and never back.
    relays: bool,
    opcode: Opcode,
    message: Message,
    frame_head: Vec<u8>,
    keys: Words,
    reader: Reader,
    partial: Vec<u8>,
}

impl Client {
    pub(super) fn new(
        request: Vec<u8>,
        opcode: Opcode,
        message: Message,
        is_answering: bool,
        relays: bool,
        keys: Words,
    ) -> Client {
        let header = FrameHeader::new(opcode, true, Some([0; 4]), message.length() as u64);
        let header = header.expect("a final frame of a message has any length");
        let mut frame_head = vec![0; header.encoded_len()];
        header.encode(&mut frame_head).expect("the length is the one that it says");
        let limit = message.length() + BEFORE_BYTES_MAX;
        Client {
            request,
            is_open: false,
            is_answering,
            relays,
            opcode,
            message,
            frame_head,
            keys,
            reader: Reader::new(Role::Server, limit as u64),
            partial: Vec::new(),
        }
    }

    fn next_key(&mut self) -> [u8; 4] {
        (self.keys.next_u64() as u32).to_le_bytes()
    }

    /// Reads the response to the handshake; returns its bytes once it is whole.
    fn response(&self, bytes: &[u8]) -> Result<Option<usize>, Broken> {
        let request = match Request::decode(&self.request, self.request.len()) {
            Ok(Decoded::Whole { value, .. }) => value,
            other => unreachable!("we encoded the request: {other:?}"),
        };
        match Response::decode(bytes, RESPONSE_BYTES_MAX, &request) {
            Ok(Decoded::Whole { length, .. }) => Ok(Some(length)),
            Ok(Decoded::Short { .. }) => Ok(None),
            Err(Error::Status { status }) => Err(Broken(format!(
                "answered the handshake with status {status}, and 101 accepts it"
            ))),
            Err(error) => Err(Broken(format!("answered the handshake wrongly: {error}"))),
        }
    }

    /// Takes what the server says next.
    fn event(
        &mut self,
        event: &Event<'_>,
        out: &mut Vec<u8>,
        heard: &mut Vec<Heard>,
    ) -> Result<(), Broken> {
        let stamp = match *event {
            Event::Text { piece, is_last } => self.piece(Opcode::Text, piece, is_last)?,
            Event::Binary { piece, is_last } => self.piece(Opcode::Binary, piece, is_last)?,
            Event::Ping(payload) => {
                self.control(Opcode::Pong, payload, out);
                None
            }
            Event::Pong(_) => None,
            Event::Close(close) => return Err(self.closed(close, out)),
        };
        match stamp {
            Some(stamp) if self.relays && (stamp.number >= ANSWERED) == self.is_answering => {
                let why = "sent a message back to the connection that had sent it";
                return Err(Broken(why.into()));
            }
            Some(stamp) if self.is_answering => {
                self.send(Stamp { number: stamp.number + ANSWERED, ..stamp }, out);
            }
            Some(stamp) if self.relays => {
                let number = stamp.number - ANSWERED;
                heard.push(Heard::Arrived(Stamp { number, ..stamp }));
            }
            Some(stamp) => heard.push(Heard::Arrived(stamp)),
            None => {}
        }
        Ok(())
    }

    /// Takes a piece of a message; returns its stamp once it is whole.
    fn piece(
        &mut self,
        opcode: Opcode,
        piece: &[u8],
        is_last: bool,
    ) -> Result<Option<Stamp>, Broken> {
        if opcode != self.opcode {
            let (is, was) = (name(opcode), name(self.opcode));
            return Err(Broken(format!("sent a message of {is}, and those of ours are of {was}")));
        }
        if is_last && self.partial.is_empty() {
            return self.read(piece).map(Some);
        }
        self.partial.extend_from_slice(piece);
        if !is_last {
            return Ok(None);
        }
        let stamp = self.read(&self.partial);
        self.partial.clear();
        stamp.map(Some)
    }

    /// Reads a message, which ends with one of ours.
    fn read(&self, payload: &[u8]) -> Result<Stamp, Broken> {
        let length = self.message.length();
        let start = payload.len().checked_sub(length);
        start.and_then(|start| self.message.read(&payload[start..])).ok_or_else(|| {
            Broken(format!(
                "sent a message of {} bytes that does not end with one of those that were sent, \
                 of {length}",
                payload.len()
            ))
        })
    }

    fn control(&mut self, opcode: Opcode, payload: &[u8], out: &mut Vec<u8>) {
        let frame = Frame::new(opcode, true, Some(self.next_key()), payload);
        let frame = frame.expect("what a control frame had fits into another");
        let start = out.len();
        out.resize(start + frame.encoded_len(), 0);
        frame.encode(&mut out[start..]).expect("the length is the one that it says");
    }

    /// Answers the server's close, and says why it was.
    fn closed(&mut self, close: Option<Close<'_>>, out: &mut Vec<u8>) -> Broken {
        let Some(close) = close else {
            self.control(Opcode::Close, &[], out);
            return Broken("closed the connection without a code".into());
        };
        let code = close.code().number();
        self.control(Opcode::Close, &code.to_be_bytes(), out);
        Broken(match close.reason() {
            "" => format!("closed the connection with code {code}"),
            reason => format!("closed the connection with code {code}, {reason:?}"),
        })
    }
}

impl Conversation for Client {
    fn open(&mut self, out: &mut Vec<u8>, _: &mut Vec<Heard>) {
        out.extend_from_slice(&self.request);
    }

    fn is_free(&self) -> bool {
        true
    }

    fn send(&mut self, stamp: Stamp, out: &mut Vec<u8>) {
        let key = self.next_key();
        let (_, place) = self.frame_head.split_last_chunk_mut().expect("the key is at the end");
        *place = key;
        out.extend_from_slice(&self.frame_head);
        let start = out.len();
        self.message.append(stamp, out);
        mask(&mut out[start..], key, 0);
    }

    fn receive(
        &mut self,
        bytes: &mut [u8],
        out: &mut Vec<u8>,
        heard: &mut Vec<Heard>,
    ) -> Result<usize, Broken> {
        let mut done = 0;
        if !self.is_open {
            let Some(length) = self.response(bytes)? else { return Ok(0) };
            done = length;
            self.is_open = true;
            heard.push(Heard::Open);
        }
        loop {
            match self.reader.decode(&mut bytes[done..]) {
                Ok(Decoded::Whole { value, length }) => {
                    self.event(&value, out, heard)?;
                    done += length;
                }
                Ok(Decoded::Short { .. }) => return Ok(done),
                Err(error) => {
                    return Err(Broken(format!("sent bytes that are not WebSocket: {error}")));
                }
            }
        }
    }

    fn end(&mut self, _: bool, _: &mut Vec<Heard>) -> Result<(), Broken> {
        Err(Broken(if self.is_open {
            "closed the connection without saying so".into()
        } else {
            "closed the connection in place of a handshake".into()
        }))
    }
}

/// Returns what messages of this kind are of.
fn name(opcode: Opcode) -> &'static str {
    if opcode == Opcode::Text { "text" } else { "binary" }
}
