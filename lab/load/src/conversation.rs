//! What a protocol does on one connection, without the socket: bytes in, bytes out.
//!
//! The [generator](crate::generator) owns sockets, threads and time. A [`Scenario`] says which
//! connections there are and who sends; a [`Conversation`] is one of those connections. Neither
//! reads a clock, so both are tested without a network.

use crate::stamp::Stamp;
use std::fmt;

/// A kind of load: which connections it has, and what each of them says.
pub trait Scenario: Sync {
    /// One connection of it.
    type Conversation: Conversation;

    /// Returns the number of connections, at least 1.
    fn connections(&self) -> u32;

    /// Returns the number of senders, at least 1 and at most the connections. They take turns:
    /// message `number` is that of sender `number mod senders`.
    fn senders(&self) -> u32;

    /// Returns the connection of a sender. Each has its own, in its own group.
    fn connection_of(&self, sender: u32) -> u32;

    /// Returns the group of a connection. Connections of a group are served by the same thread, and
    /// a message that arrives in its sender's group is answered: in a closed loop, that sender may
    /// send the next. Sender `s` is in group `s`.
    fn group_of(&self, connection: u32) -> u32;

    /// Returns how often each message is to arrive, over all connections.
    fn arrivals_a_message(&self) -> u32;

    /// Returns whether each message arrives in its sender's group, so that a closed loop can wait
    /// for it.
    fn is_answered(&self) -> bool;

    /// Returns whether the server says of each message that it has taken it, besides its arrival.
    fn is_acknowledged(&self) -> bool {
        false
    }

    /// Begins the conversation of a connection.
    fn converse(&self, connection: u32) -> Self::Conversation;
}

/// One connection: what it says, and what it understands.
pub trait Conversation: Send {
    /// Appends what this side says first, once the socket is connected. It may be nothing.
    fn open(&mut self, out: &mut Vec<u8>, heard: &mut Vec<Heard>);

    /// Returns whether a message can be sent now. Otherwise it waits for its turn; it counts as
    /// sent, since the wait is the server's doing.
    fn is_free(&self) -> bool;

    /// Appends a message, after [`Heard::Open`] and while it [is free](Conversation::is_free).
    fn send(&mut self, stamp: Stamp, out: &mut Vec<u8>);

    /// Takes what has arrived, appends what must be said to it, and adds what it meant. Returns how
    /// many of the bytes are done with; the others come again, with more behind them.
    ///
    /// # Errors
    /// Fails if the bytes are not the protocol's, or the server ends or refuses the conversation.
    fn receive(
        &mut self,
        bytes: &mut [u8],
        out: &mut Vec<u8>,
        heard: &mut Vec<Heard>,
    ) -> Result<usize, Broken>;

    /// Returns of how many messages the server has not said yet that it has taken them, where it is
    /// to say so. It is asked when all has arrived, and not before.
    fn unacknowledged(&self) -> u64 {
        0
    }

    /// Takes the end of what the server says: it has closed its side, or broken the connection off,
    /// so that what it said last may be missing. The connection is then made
    /// again, as HTTP allows between two answers, and begins with [`open`](Conversation::open).
    /// What is still to be answered has to be said there again.
    ///
    /// # Errors
    /// Fails if that was not the time to close, with what was missing.
    fn end(&mut self, is_broken_off: bool, heard: &mut Vec<Heard>) -> Result<(), Broken>;
}

/// What the bytes of a server meant.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Heard {
    /// The conversation is open: messages may be sent.
    Open,
    /// A message has arrived, or its answer has.
    Arrived(Stamp),
    /// The server said that it will not do what this message asked for, by this status of HTTP or
    /// reason code of MQTT.
    Refused(Stamp, u16),
}

/// Why a conversation cannot go on, as the end of the sentence "the server ...": `answered with
/// status 404`, `sent 3 bytes that are not MQTT: ...`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Broken(pub String);

impl fmt::Display for Broken {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl std::error::Error for Broken {}
