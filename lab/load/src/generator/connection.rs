//! One connection: its socket, its conversation, and the bytes between them.

use super::arrivals::Arrivals;
use super::session::Session;
use crate::conversation::{Broken, Conversation, Heard};
use crate::stamp::Stamp;
use crate::tls::Tls;
use std::collections::VecDeque;
use std::io::{self, ErrorKind, Read, Write};
use std::net::TcpStream;
use tiebreak_core::load::TlsAgreed;

/// No more is said while so many bytes wait to be written.
const UNWRITTEN_BYTES_MAX: usize = 32 << 10;
/// The bytes of a read, at least.
const READ_BYTES: usize = 64 << 10;
/// An empty buffer that has room for more bytes than this is freed: most connections are idle most
/// of the time, and there may be many.
const KEPT_BYTES: usize = 4 << 10;

/// How far a connection is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum State {
    /// It has no socket.
    Closed,
    /// The socket is being connected.
    Connecting,
    /// It is connected, and the handshake of TLS goes on.
    Securing,
    /// The conversation has begun.
    Opening,
    /// Messages may be sent.
    Open,
}

/// What became of a write.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Written {
    /// Nothing is left.
    All,
    /// The socket takes no more now.
    Some,
}

/// Buffers that connections share.
#[derive(Default)]
pub(super) struct Buffers {
    /// For conversations to understand.
    pub(super) heard: Vec<u8>,
    /// As TLS has it on the wire.
    wire: Vec<u8>,
}

/// A connection. While it is idle it takes its own size and that of the conversation, and some
/// bytes of buffers.
pub(super) struct Connection<C> {
    /// Its number among all connections.
    pub(super) number: u32,
    /// Its group.
    pub(super) group: u32,
    /// Its sender, by the place among those of the thread.
    pub(super) sender: Option<usize>,
    /// The messages that the generator turned to and that are not said yet.
    pub(super) waiting: VecDeque<Stamp>,
    /// What has arrived here.
    pub(super) arrivals: Arrivals,
    /// How far it is.
    pub(super) state: State,
    /// Whether it is in the list of those that have something to say.
    pub(super) is_listed: bool,
    /// Whether it waits for room to write: `epoll` was asked for it.
    pub(super) is_blocked: bool,
    socket: Option<TcpStream>,
    /// TLS, where it is spoken, once the socket is connected.
    session: Option<Box<Session>>,
    conversation: C,
    /// What the socket is to take.
    unwritten: Vec<u8>,
    /// How many of these bytes were written.
    written: usize,
    /// What has arrived and was not understood without more.
    undone: Vec<u8>,
}

impl<C: Conversation> Connection<C> {
    /// Makes one without a socket.
    pub(super) fn new(number: u32, group: u32, conversation: C) -> Connection<C> {
        Connection {
            number,
            group,
            sender: None,
            waiting: VecDeque::new(),
            arrivals: Arrivals::default(),
            state: State::Closed,
            is_listed: false,
            is_blocked: false,
            socket: None,
            session: None,
            conversation,
            unwritten: Vec::new(),
            written: 0,
            undone: Vec::new(),
        }
    }

    /// Takes a socket that is being connected.
    pub(super) fn connect(&mut self, socket: TcpStream) {
        self.socket = Some(socket);
        self.state = State::Connecting;
        self.is_blocked = true;
    }

    /// Returns the socket.
    pub(super) fn socket(&self) -> Option<&TcpStream> {
        self.socket.as_ref()
    }

    /// Begins the conversation, or first the handshake of TLS.
    ///
    /// # Errors
    /// Fails if the socket could not be connected.
    pub(super) fn open(&mut self, tls: Option<&Tls>, heard: &mut Vec<Heard>) -> io::Result<()> {
        if let Some(error) = self.socket.as_ref().and_then(|socket| socket.take_error().transpose())
        {
            return Err(error.unwrap_or_else(|error| error));
        }
        match tls {
            Some(tls) => {
                self.session = Some(Box::new(Session::new(tls).map_err(io::Error::other)?));
                self.state = State::Securing;
            }
            None => self.converse(heard),
        }
        Ok(())
    }

    /// Begins the conversation if the handshake of TLS has just ended. Returns what was agreed on.
    pub(super) fn secured(&mut self, heard: &mut Vec<Heard>) -> Option<TlsAgreed> {
        if self.state != State::Securing {
            return None;
        }
        let agreed = self.session.as_ref()?.agreed()?;
        self.converse(heard);
        Some(agreed)
    }

    fn converse(&mut self, heard: &mut Vec<Heard>) {
        self.state = State::Opening;
        self.conversation.open(out(&mut self.session, &mut self.unwritten), heard);
    }

    /// Closes the socket. What was to be written to it is forgotten; the messages that wait stay.
    pub(super) fn close(&mut self) {
        self.socket = None;
        self.session = None;
        self.state = State::Closed;
        self.is_blocked = false;
        self.unwritten = Vec::new();
        self.written = 0;
        self.undone = Vec::new();
    }

    /// Returns whether a message can be said now.
    pub(super) fn has_room(&self) -> bool {
        self.state == State::Open && !self.is_full() && self.conversation.is_free()
    }

    /// Returns how many messages the server has not acknowledged.
    pub(super) fn unacknowledged(&self) -> u64 {
        self.conversation.unacknowledged()
    }

    /// Returns whether so much waits to be written that no more is said.
    pub(super) fn is_full(&self) -> bool {
        let unsealed = self.session.as_ref().map_or(0, |session| session.said.len());
        self.unwritten.len() - self.written + unsealed >= UNWRITTEN_BYTES_MAX
    }

    /// Returns whether bytes wait to be written.
    pub(super) fn has_unwritten(&self) -> bool {
        let has_unsealed = self.session.as_ref().is_some_and(|session| session.has_more());
        self.written < self.unwritten.len() || has_unsealed
    }

    /// Returns whether the server has said, in TLS, that nothing more comes.
    pub(super) fn is_ended(&self) -> bool {
        self.session.as_ref().is_some_and(|session| session.is_ended)
    }

    /// Says a message, while it [has room](Connection::has_room).
    pub(super) fn say(&mut self, stamp: Stamp) {
        self.conversation.send(stamp, out(&mut self.session, &mut self.unwritten));
    }

    /// Writes once, adds the bytes to `count`, and says whether all were taken.
    ///
    /// A failed write is not an error here: reading gives what the server still said, and then the
    /// reason.
    pub(super) fn write(&mut self, count: &mut u64) -> Written {
        let Some(socket) = &mut self.socket else { return Written::All };
        if let Some(session) = &mut self.session {
            session.seal(&mut self.unwritten);
        }
        while self.written < self.unwritten.len() {
            match socket.write(&self.unwritten[self.written..]) {
                Ok(bytes) => {
                    *count += bytes as u64;
                    self.written += bytes;
                    if self.written < self.unwritten.len() {
                        self.forget_written();
                        return Written::Some;
                    }
                }
                Err(error) if error.kind() == ErrorKind::Interrupted => {}
                Err(error) if error.kind() == ErrorKind::WouldBlock => return Written::Some,
                Err(_) => self.written = self.unwritten.len(),
            }
        }
        self.written = 0;
        empty(&mut self.unwritten);
        Written::All
    }

    /// Moves what is left to the front once much lies before it: a connection that is never quite
    /// done would grow otherwise.
    fn forget_written(&mut self) {
        if self.written >= UNWRITTEN_BYTES_MAX {
            self.unwritten.drain(..self.written);
            self.written = 0;
        }
    }

    /// Reads once, through buffers that connections share, and adds the bytes to `count`. Returns
    /// how many `heard` then has for [`understand`](Connection::understand), and how many of them
    /// are new: 0 at the end of what the server says. `None` if there is nothing new.
    ///
    /// # Errors
    /// Fails as reading does, and with TLS as [`Session::open`].
    pub(super) fn read(
        &mut self,
        buffers: &mut Buffers,
        count: &mut u64,
    ) -> io::Result<Option<(usize, usize)>> {
        let Some(socket) = &mut self.socket else { return Ok(None) };
        let Buffers { heard, wire } = buffers;
        let undone = self.undone.len();
        // As much as there is already: a long message is then copied a few times, not each time.
        let room = undone + undone.max(READ_BYTES);
        if heard.len() < room {
            heard.resize(room, 0);
        }
        heard[..undone].copy_from_slice(&self.undone);
        let into = match &self.session {
            None => &mut heard[undone..room],
            Some(_) => {
                wire.resize(READ_BYTES, 0);
                &mut wire[..]
            }
        };
        let bytes = match socket.read(into) {
            Ok(bytes) => bytes,
            Err(error) => match error.kind() {
                ErrorKind::WouldBlock | ErrorKind::Interrupted => return Ok(None),
                _ => return Err(error),
            },
        };
        *count += bytes as u64;
        let Some(session) = &mut self.session else { return Ok(Some((undone + bytes, bytes))) };
        let new = session.open(&wire[..bytes], heard, undone);
        if new.is_err() {
            // The server gets to know why, if it still listens.
            self.write(&mut 0);
        }
        Ok(new?.map(|new| (undone + new, new)))
    }

    /// Takes what was read, and keeps what was not understood.
    ///
    /// # Errors
    /// Fails as the conversation does.
    pub(super) fn understand(
        &mut self,
        bytes: &mut [u8],
        heard: &mut Vec<Heard>,
    ) -> Result<(), Broken> {
        let out = out(&mut self.session, &mut self.unwritten);
        let done = self.conversation.receive(bytes, out, heard)?;
        empty(&mut self.undone);
        self.undone.extend_from_slice(&bytes[done.min(bytes.len())..]);
        Ok(())
    }

    /// Takes the end of what the server says, or that it broke off.
    ///
    /// # Errors
    /// Fails if this was not the time to end.
    pub(super) fn end(
        &mut self,
        is_broken_off: bool,
        heard: &mut Vec<Heard>,
    ) -> Result<(), Broken> {
        if self.state == State::Securing {
            return Err(Broken("closed the connection in the handshake of TLS".to_owned()));
        }
        self.conversation.end(is_broken_off, heard)
    }
}

/// Returns where a conversation says what it says: before it is sealed, if that is to be.
fn out<'a>(session: &'a mut Option<Box<Session>>, unwritten: &'a mut Vec<u8>) -> &'a mut Vec<u8> {
    session.as_mut().map_or(unwritten, |session| &mut session.said)
}

/// Empties a buffer, and frees it if it is large.
pub(super) fn empty(buffer: &mut Vec<u8>) {
    if buffer.capacity() > KEPT_BYTES {
        *buffer = Vec::new();
    }
    buffer.clear();
}
