//! HTTP/1.1 (RFC 9112): each connection asks for the same, again when it has its answer.
//!
//! A request carries no stamp that comes back, so a connection has one under way and knows which.
//! An answer has arrived with the last byte of its body. Bodies are not kept.

use crate::conversation::{Broken, Conversation, Heard, Scenario};
use crate::stamp::Stamp;
use std::num::NonZeroU32;
use std::sync::Arc;
use tiebreak_proto::Decoded;
use tiebreak_proto::http::{Body, Chunked, Error, Field, Fields, Piece, Request, Response};

/// The longest head of an answer, and the longest trailers, in bytes.
const HEAD_BYTES_MAX: usize = 64 << 10;
/// The status of an answer to a request that did not come in time.
const REQUEST_TIMEOUT: u16 = 408;
/// Answers with this status or a higher one are refusals (RFC 9110 section 15).
const REFUSED_FROM: u16 = 400;

/// A load of requests. Every connection is a sender of its own.
#[derive(Clone, Debug)]
pub struct Http {
    request: Arc<Prepared>,
    connections: NonZeroU32,
}

/// The request of all connections.
#[derive(Debug)]
struct Prepared {
    method: String,
    /// It as it is written.
    bytes: Vec<u8>,
}

impl Http {
    /// Makes a load of requests without a body: the method, such as `GET`; the target, such as
    /// `/index.html`; and the host that is asked, with its port if that is not 80.
    ///
    /// # Errors
    /// Fails if no request can be made of these, with the reason.
    pub fn new(
        method: &str,
        target: &str,
        host: &str,
        connections: NonZeroU32,
    ) -> Result<Http, Error> {
        let fields = [Field::new("Host", host)?, Field::new("User-Agent", "tiebreak")?];
        let request = Request::new(method, target, Fields::new(&fields))?;
        let mut bytes = vec![0; request.encoded_len()];
        // The slice has the length that the encoding takes.
        let length = request.encode(&mut bytes).unwrap_or_default();
        bytes.truncate(length);
        Ok(Http { request: Arc::new(Prepared { method: method.to_owned(), bytes }), connections })
    }
}

impl Scenario for Http {
    type Conversation = Exchange;

    fn connections(&self) -> u32 {
        self.connections.get()
    }

    fn senders(&self) -> u32 {
        self.connections.get()
    }

    fn connection_of(&self, sender: u32) -> u32 {
        sender
    }

    fn group_of(&self, connection: u32) -> u32 {
        connection
    }

    fn arrivals_a_message(&self) -> u32 {
        1
    }

    fn is_answered(&self) -> bool {
        true
    }

    fn converse(&self, _connection: u32) -> Exchange {
        Exchange {
            request: Arc::clone(&self.request),
            under_way: None,
            next: Next::Head,
            last: Vec::new(),
            answer: None,
            refused: None,
            keeps_alive: true,
            is_idle_too_long: false,
            has_answered: false,
            has_begun: false,
        }
    }
}

/// One connection.
#[derive(Debug)]
pub struct Exchange {
    request: Arc<Prepared>,
    /// The request without an answer.
    under_way: Option<Stamp>,
    next: Next,
    /// The bytes of the last head, and what they said: most servers answer with the same ones until
    /// the next second.
    last: Vec<u8>,
    answer: Option<Answer>,
    /// The status of the answer that is coming, if it refuses.
    refused: Option<u16>,
    /// Whether the server lets the connection stay open after it.
    keeps_alive: bool,
    /// Whether the answer that is coming only says that the connection was idle for too long.
    is_idle_too_long: bool,
    /// Whether there was an answer on this connection.
    has_answered: bool,
    /// Whether a part of a head has come.
    has_begun: bool,
}

/// What a head says.
#[derive(Clone, Copy, Debug)]
struct Answer {
    status: u16,
    keeps_alive: bool,
    body: Body,
}

/// What comes next of an answer.
#[derive(Debug)]
enum Next {
    Head,
    /// So many more bytes of the body.
    Bytes(u64),
    Chunks(Chunked),
    /// The body, until the server closes the connection.
    UntilClose,
    /// Nothing: the server is to close the connection.
    Close,
}

impl Exchange {
    /// Takes what comes next from the front of these bytes. Returns how many that took; `None` if
    /// it needs more.
    fn take(&mut self, bytes: &[u8], heard: &mut Vec<Heard>) -> Result<Option<usize>, Broken> {
        match &mut self.next {
            Next::Head => self.take_head(bytes, heard),
            Next::Bytes(left) => {
                let taken = bytes.len().min(usize::try_from(*left).unwrap_or(usize::MAX));
                *left -= taken as u64;
                if *left == 0 {
                    self.finish(heard);
                }
                Ok(Some(taken))
            }
            Next::Chunks(chunks) => match chunks.decode(bytes).map_err(not_http)? {
                Decoded::Whole { value: Piece::Data(_), length } => Ok(Some(length)),
                Decoded::Whole { value: Piece::End(_), length } => {
                    self.finish(heard);
                    Ok(Some(length))
                }
                Decoded::Short { .. } => Ok(None),
            },
            Next::UntilClose => Ok(Some(bytes.len())),
            Next::Close => Err(Broken(format!(
                "sent {} more bytes after an answer that it called the last",
                bytes.len()
            ))),
        }
    }

    fn take_head(&mut self, bytes: &[u8], heard: &mut Vec<Heard>) -> Result<Option<usize>, Broken> {
        let unasked = || Broken(format!("sent {} bytes that nobody asked for", bytes.len()));
        let is_asked = self.under_way.is_some();
        let read = self.read(bytes);
        let answer = read.map_err(|error| if is_asked { not_http(error) } else { unasked() })?;
        let Some(Answer { status, keeps_alive, body }) = answer else {
            self.has_begun = true;
            return Ok(None);
        };
        let length = self.last.len();
        self.has_begun = false;
        // A connection that was idle for too long (RFC 9110 section 15.5.9). On a new one, it is
        // the answer to a request.
        self.is_idle_too_long = status == REQUEST_TIMEOUT && (self.has_answered || !is_asked);
        if !is_asked && !self.is_idle_too_long {
            return Err(unasked());
        }
        match status {
            101 => return Err(Broken("changed to another protocol, unasked".to_owned())),
            // The answer itself is still to come (RFC 9110 section 15.2).
            100..200 => return Ok(Some(length)),
            status => self.refused = (status >= REFUSED_FROM).then_some(status),
        }
        self.keeps_alive = keeps_alive;
        match body {
            Body::None | Body::Length(0) => self.finish(heard),
            Body::Length(bytes) => self.next = Next::Bytes(bytes),
            Body::Chunked => self.next = Next::Chunks(Chunked::new(u64::MAX, HEAD_BYTES_MAX)),
            Body::UntilClose => self.next = Next::UntilClose,
        }
        Ok(Some(length))
    }

    /// Reads the head that `bytes` begin with, and keeps it; `None` if its end is not there.
    fn read(&mut self, bytes: &[u8]) -> Result<Option<Answer>, Error> {
        if self.answer.is_some() && bytes.starts_with(&self.last) {
            return Ok(self.answer);
        }
        let Decoded::Whole { value: response, length } = Response::decode(bytes, HEAD_BYTES_MAX)?
        else {
            return Ok(None);
        };
        self.answer = Some(Answer {
            status: response.status(),
            keeps_alive: response.keeps_alive(),
            body: response.body(&self.request.method, u64::MAX)?,
        });
        self.last.clear();
        self.last.extend_from_slice(&bytes[..length]);
        Ok(self.answer)
    }

    /// Takes the end of an answer.
    fn finish(&mut self, heard: &mut Vec<Heard>) {
        if self.is_idle_too_long {
            // The request, if one was on its way, is made again on the next connection.
            self.next = Next::Close;
            return;
        }
        let refused = self.refused;
        let settled = |stamp| match refused {
            Some(status) => Heard::Refused(stamp, status),
            None => Heard::Arrived(stamp),
        };
        heard.extend(self.under_way.take().map(settled));
        self.has_answered = true;
        self.next = if self.keeps_alive { Next::Head } else { Next::Close };
    }
}

impl Conversation for Exchange {
    fn open(&mut self, out: &mut Vec<u8>, heard: &mut Vec<Heard>) {
        self.next = Next::Head;
        self.has_answered = false;
        heard.push(Heard::Open);
        // The connection before this one was closed before it answered.
        if self.under_way.is_some() {
            out.extend_from_slice(&self.request.bytes);
        }
    }

    fn is_free(&self) -> bool {
        self.under_way.is_none() && matches!(self.next, Next::Head)
    }

    fn send(&mut self, stamp: Stamp, out: &mut Vec<u8>) {
        self.under_way = Some(stamp);
        out.extend_from_slice(&self.request.bytes);
    }

    fn receive(
        &mut self,
        bytes: &mut [u8],
        _out: &mut Vec<u8>,
        heard: &mut Vec<Heard>,
    ) -> Result<usize, Broken> {
        let mut done = 0;
        while done < bytes.len() {
            match self.take(&bytes[done..], heard)? {
                Some(length) => done += length,
                None => break,
            }
        }
        Ok(done)
    }

    /// A server may close a connection between two answers, even while a request is on its way
    /// there (RFC 9112 section 9.5). The request is then made again. A connection that never gave
    /// an answer gives no reason to hope for one.
    fn end(&mut self, is_broken_off: bool, heard: &mut Vec<Heard>) -> Result<(), Broken> {
        let broken = |why: &str| Err(Broken(why.to_owned()));
        match self.next {
            Next::UntilClose if is_broken_off && !self.is_idle_too_long => {
                return broken("broke the connection off in the middle of an answer");
            }
            Next::UntilClose => self.finish(heard),
            Next::Bytes(left) => {
                let why = format!("closed the connection {left} bytes before the end of an answer");
                return Err(Broken(why));
            }
            Next::Chunks(_) => return broken("closed the connection in the middle of an answer"),
            Next::Head if self.has_begun => {
                return broken("closed the connection in the middle of the head of an answer");
            }
            Next::Head if self.under_way.is_some() && !self.has_answered => {
                return broken("closed the connection without an answer");
            }
            Next::Head | Next::Close => {}
        }
        Ok(())
    }
}

fn not_http(error: Error) -> Broken {
    Broken(format!("gave an answer that is not HTTP/1.1: {error}"))
}
