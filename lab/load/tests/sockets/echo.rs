//! The simplest protocol: frames of a letter and a stamp. The client says hello (`h`) and waits for
//! it to come back, then sends messages (`m`). The server answers each (`m`), or refuses it (`n`),
//! and may acknowledge it besides (`a`).

use super::server::Server;
use std::io::{BufReader, Read, Write};
use tiebreak_load::conversation::{Broken, Conversation, Heard, Scenario};
use tiebreak_load::stamp::{STAMP_BYTES, Stamp};

/// The bytes of a frame.
pub const FRAME_BYTES: usize = 1 + STAMP_BYTES;
/// A frame.
pub type Frame = [u8; FRAME_BYTES];

/// Returns a frame.
pub fn frame(letter: u8, stamp: [u8; STAMP_BYTES]) -> Frame {
    let mut frame = [letter; FRAME_BYTES];
    frame[1..].copy_from_slice(&stamp);
    frame
}

/// Returns the stamp of a frame.
pub fn stamp(frame: Frame) -> Stamp {
    Stamp::from_bytes(frame[1..].try_into().unwrap())
}

/// Connections that each send, or of which the first ones do and all hear it.
#[derive(Clone, Copy, Debug)]
pub struct Echo {
    pub connections: u32,
    pub senders: u32,
    pub arrivals_a_message: u32,
    /// The messages that a connection may have sent without an acknowledgement (`a`); without one
    /// it expects none.
    pub window: Option<u32>,
}

impl Echo {
    /// Returns connections that each send, and have their own answers.
    pub fn of(connections: u32) -> Echo {
        Echo { connections, senders: connections, arrivals_a_message: 1, window: None }
    }
}

impl Scenario for Echo {
    type Conversation = Talk;

    fn connections(&self) -> u32 {
        self.connections
    }

    fn senders(&self) -> u32 {
        self.senders
    }

    fn connection_of(&self, sender: u32) -> u32 {
        sender
    }

    fn group_of(&self, connection: u32) -> u32 {
        connection
    }

    fn arrivals_a_message(&self) -> u32 {
        self.arrivals_a_message
    }

    fn is_answered(&self) -> bool {
        true
    }

    fn is_acknowledged(&self) -> bool {
        self.window.is_some()
    }

    fn converse(&self, _connection: u32) -> Talk {
        Talk { most: self.window, window: self.window }
    }
}

/// One connection.
pub struct Talk {
    /// How many messages may be sent before an acknowledgement, in all.
    most: Option<u32>,
    /// How many more messages may be sent before an acknowledgement.
    window: Option<u32>,
}

impl Conversation for Talk {
    fn open(&mut self, out: &mut Vec<u8>, _heard: &mut Vec<Heard>) {
        out.extend(frame(b'h', [0; STAMP_BYTES]));
    }

    fn is_free(&self) -> bool {
        self.window != Some(0)
    }

    fn send(&mut self, stamp: Stamp, out: &mut Vec<u8>) {
        self.window = self.window.map(|window| window - 1);
        out.extend(frame(b'm', stamp.to_bytes()));
    }

    fn receive(
        &mut self,
        bytes: &mut [u8],
        _out: &mut Vec<u8>,
        heard: &mut Vec<Heard>,
    ) -> Result<usize, Broken> {
        let (frames, _) = bytes.as_chunks::<FRAME_BYTES>();
        for frame in frames {
            if frame[0] == b'a' {
                self.window = self.window.map(|window| window + 1);
                continue;
            }
            heard.push(match frame[0] {
                b'h' => Heard::Open,
                b'm' => Heard::Arrived(stamp(*frame)),
                b'n' => Heard::Refused(stamp(*frame), 7),
                letter => return Err(Broken(format!("sent the letter {letter}"))),
            });
        }
        Ok(frames.len() * FRAME_BYTES)
    }

    fn unacknowledged(&self) -> u64 {
        self.most.zip(self.window).map_or(0, |(most, window)| (most - window).into())
    }

    fn end(&mut self, _: bool, _heard: &mut Vec<Heard>) -> Result<(), Broken> {
        Err(Broken("closed the connection".to_owned()))
    }
}

/// Starts a server of this protocol. `answers` is made for each connection, gets its messages, and
/// returns the bytes to answer with, or `None` to close the connection. Answers to messages that
/// came together are written together.
pub fn serve<A: FnMut(Frame) -> Option<Vec<u8>>>(
    make: impl Fn() -> A + Send + Sync + 'static,
) -> Server {
    Server::start(move |mut stream, _| {
        let mut answers = make();
        let mut reader = BufReader::with_capacity(1 << 16, stream.try_clone().unwrap());
        let (mut frame, mut out) = ([0; FRAME_BYTES], Vec::new());
        let mut goes_on = true;
        while goes_on && reader.read_exact(&mut frame).is_ok() {
            let answer = if frame[0] == b'h' { Some(frame.to_vec()) } else { answers(frame) };
            goes_on = answer.is_some();
            out.extend(answer.unwrap_or_default());
            if !goes_on || reader.buffer().len() < FRAME_BYTES {
                goes_on &= stream.write_all(&out).is_ok();
                out.clear();
            }
        }
    })
}
