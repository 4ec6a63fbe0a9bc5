//! Other implementations over sockets of this machine: our client with their server, and their
//! client with our server. Both sides follow one script, which the others have in their own words.
//!
//! A server returns each message, except those that ask for something: for a ping, for a message in
//! pieces, or to be closed.

mod python;
mod tungstenite;

use crate::common::encoded;
use crate::common::websocket::Received;
use std::io::{Read, Write};
use std::net::{TcpListener, TcpStream};
use std::time::Duration;
use tiebreak_proto::Decoded;
use tiebreak_proto::http::{self, Fields};
use tiebreak_proto::websocket::handshake::{Key, Request, Response};
use tiebreak_proto::websocket::handshake::{request_fields, response_fields};
use tiebreak_proto::websocket::{Close, CloseCode, Event, Frame, Opcode, Reader, Role};

/// Where the length of a frame gets another form, and sizes around.
const SIZES: [usize; 8] = [0, 1, 125, 126, 127, 65_535, 65_536, 100_000];
/// Codes that may be sent, and none.
const CODES: [Option<u16>; 6] = [None, Some(1000), Some(1001), Some(1011), Some(3000), Some(4999)];
const REASON: &str = "enough";

const PING: &str = "do: ping";
const ALIVE: &str = "alive";
const PIECES: &str = "do: pieces";
const IN_PIECES: [&str; 3] = ["one ", "two ", "three"];
const CLOSE: &str = "do: close";
const CLOSED: (u16, &str) = (4001, "as asked");

/// A side of a connection, by the codecs alone.
struct Ours {
    stream: TcpStream,
    peer: Role,
    reader: Reader,
    bytes: Vec<u8>,
    /// The last masking key; any will do here.
    key: u32,
}

impl Ours {
    fn new(stream: TcpStream, peer: Role) -> Ours {
        stream.set_nodelay(true).unwrap();
        // A test that waits for ever says nothing.
        stream.set_read_timeout(Some(Duration::from_secs(60))).unwrap();
        let reader = Reader::new(peer, 1 << 20);
        Ours { stream, peer, reader, bytes: Vec::new(), key: 1 }
    }

    /// Connects as a client.
    fn connect(port: u16) -> Ours {
        let mut ours = Ours::new(TcpStream::connect(("127.0.0.1", port)).unwrap(), Role::Server);
        let (host, key) = (format!("127.0.0.1:{port}"), Key::from_bytes(*b"the sample nonce"));
        let fields = request_fields(&host, &key).unwrap();
        let head = http::Request::new("GET", "/", Fields::new(&fields)).unwrap();
        let request = Request::new(head).unwrap();
        ours.write(&encoded(request.encoded_len(), |out| request.encode(out)));
        let length = ours.read_until(|bytes| match Response::decode(bytes, 4096, &request) {
            Ok(Decoded::Whole { length, .. }) => Some(length),
            Ok(Decoded::Short { .. }) => None,
            Err(error) => panic!("{error}"),
        });
        ours.bytes.drain(..length);
        ours
    }

    /// Takes a connection as a server.
    fn accept(stream: TcpStream) -> Ours {
        let mut ours = Ours::new(stream, Role::Client);
        let mut key = None;
        let length = ours.read_until(|bytes| match Request::decode(bytes, 4096) {
            Ok(Decoded::Whole { value, length }) => {
                key = Some(*value.key());
                Some(length)
            }
            Ok(Decoded::Short { .. }) => None,
            Err(error) => panic!("{error}"),
        });
        ours.bytes.drain(..length);
        let accept = key.unwrap().accept();
        let fields = response_fields(&accept);
        let head = http::Response::new(101, "Switching Protocols", Fields::new(&fields)).unwrap();
        ours.write(&encoded(head.encoded_len(), |out| head.encode(out)));
        ours
    }

    fn write(&mut self, bytes: &[u8]) {
        self.stream.write_all(bytes).unwrap();
    }

    /// Reads until what was read is enough.
    fn read_until<T>(&mut self, mut enough: impl FnMut(&mut Vec<u8>) -> Option<T>) -> T {
        loop {
            if let Some(value) = enough(&mut self.bytes) {
                return value;
            }
            let mut more = [0; 1 << 14];
            let length = self.stream.read(&mut more).unwrap();
            assert!(length > 0, "closed after {:?}", self.bytes);
            self.bytes.extend_from_slice(&more[..length]);
        }
    }

    fn say(&mut self, opcode: Opcode, is_final: bool, payload: &[u8]) {
        let mask = (self.peer == Role::Server).then(|| {
            self.key = self.key.wrapping_mul(0x9e37_79b9);
            self.key.to_be_bytes()
        });
        let frame = Frame::new(opcode, is_final, mask, payload).unwrap();
        self.write(&encoded(frame.encoded_len(), |out| frame.encode(out)));
    }

    fn say_text(&mut self, text: &str) {
        self.say(Opcode::Text, true, text.as_bytes());
    }

    fn say_pieces(&mut self, opcode: Opcode, pieces: &[&[u8]]) {
        for (number, piece) in (1..).zip(pieces) {
            let opcode = if number == 1 { opcode } else { Opcode::Continuation };
            self.say(opcode, number == pieces.len(), piece);
        }
    }

    fn say_close(&mut self, close: Option<(u16, &str)>) {
        let payload = close.map_or(Vec::new(), |(code, reason)| {
            let close = Close::new(CloseCode::new(code).unwrap(), reason).unwrap();
            encoded(close.encoded_len(), |out| close.encode(out))
        });
        self.say(Opcode::Close, true, &payload);
    }

    /// Returns what the peer says next, messages as a whole.
    fn hear(&mut self) -> Received {
        let (mut reader, mut message) = (self.reader.clone(), Vec::new());
        let said = self.read_until(|bytes| {
            loop {
                let (said, length) = match reader.decode(bytes).unwrap() {
                    Decoded::Whole { value, length } => (received(value, &mut message), length),
                    Decoded::Short { .. } => return None,
                };
                bytes.drain(..length);
                if said.is_some() {
                    return said;
                }
            }
        });
        self.reader = reader;
        said
    }
}

/// Returns what an event ends, if it does.
fn received(event: Event<'_>, message: &mut Vec<u8>) -> Option<Received> {
    let (piece, is_last, is_text) = match event {
        Event::Text { piece, is_last } => (piece, is_last, true),
        Event::Binary { piece, is_last } => (piece, is_last, false),
        Event::Ping(payload) => return Some(Received::Ping(payload.to_vec())),
        Event::Pong(payload) => return Some(Received::Pong(payload.to_vec())),
        Event::Close(close) => {
            let said = close.map(|close| (close.code().number(), close.reason().to_owned()));
            return Some(Received::Close(said));
        }
    };
    message.extend_from_slice(piece);
    let whole = is_last.then(|| std::mem::take(message))?;
    Some(if is_text {
        Received::Text(String::from_utf8(whole).unwrap())
    } else {
        Received::Binary(whole)
    })
}

/// Returns a text of so many bytes, most of its characters being of two.
fn text(bytes: usize) -> String {
    "\u{e9}".repeat(bytes / 2) + &"x".repeat(bytes % 2)
}

/// Cuts a message into three, within a character if it has some.
fn thirds(message: &[u8]) -> [&[u8]; 3] {
    let third = (message.len() / 3) | 1;
    let (first, rest) = message.split_at(third.min(message.len()));
    let (second, last) = rest.split_at(third.min(rest.len()));
    [first, second, last]
}

/// Asks a server for all that it must do.
fn ask(port: u16) {
    let mut ours = Ours::connect(port);
    for size in SIZES {
        let (text, bytes) = (text(size), text(size).into_bytes());
        let as_text = Received::Text(text);
        let as_binary = Received::Binary(bytes.clone());
        for (opcode, expected) in [(Opcode::Text, as_text), (Opcode::Binary, as_binary)] {
            ours.say(opcode, true, &bytes);
            assert_eq!(ours.hear(), expected, "{size}");
            // A ping may stand within a message, and is answered before it.
            let [first, second, last] = thirds(&bytes);
            ours.say(opcode, false, first);
            ours.say(Opcode::Ping, true, b"within");
            ours.say(Opcode::Continuation, false, second);
            ours.say(Opcode::Continuation, true, last);
            assert_eq!(ours.hear(), Received::Pong(b"within".to_vec()), "{size}");
            assert_eq!(ours.hear(), expected, "{size}");
        }
    }
    ours.say(Opcode::Ping, true, &[b'p'; 125]);
    assert_eq!(ours.hear(), Received::Pong(vec![b'p'; 125]));
    ours.say_text(PING);
    let Received::Ping(payload) = ours.hear() else { panic!("no ping") };
    ours.say(Opcode::Pong, true, &payload);
    assert_eq!(ours.hear(), Received::Text(ALIVE.to_owned()));
    ours.say_text(PIECES);
    assert_eq!(ours.hear(), Received::Text(IN_PIECES.concat()));
    ours.say_text(CLOSE);
    assert_eq!(ours.hear(), Received::Close(Some((CLOSED.0, CLOSED.1.to_owned()))));
    ours.say_close(Some(CLOSED));
    for code in CODES {
        let mut ours = Ours::connect(port);
        ours.say_close(code.map(|code| (code, REASON)));
        let Received::Close(answer) = ours.hear() else { panic!("no close") };
        // Who answers a close without a code may say that all is well.
        let answer = answer.map(|(code, _)| code);
        assert!(answer == code || code.is_none() && answer == Some(1000), "{code:?}: {answer:?}");
    }
}

/// Serves connections, one after the other. Returns the port.
fn serve() -> u16 {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let port = listener.local_addr().unwrap().port();
    std::thread::spawn(move || {
        for stream in listener.incoming() {
            answer(Ours::accept(stream.unwrap()));
        }
    });
    port
}

/// Does what a client asks for, until it closes.
fn answer(mut ours: Ours) {
    loop {
        match ours.hear() {
            Received::Text(text) => match text.as_str() {
                PING => {
                    ours.say(Opcode::Ping, true, b"there?");
                    assert_eq!(ours.hear(), Received::Pong(b"there?".to_vec()));
                    ours.say_text(ALIVE);
                }
                PIECES => ours.say_pieces(Opcode::Text, &IN_PIECES.map(str::as_bytes)),
                CLOSE => {
                    ours.say_close(Some(CLOSED));
                    assert!(matches!(ours.hear(), Received::Close(_)));
                    return;
                }
                text => ours.say_text(text),
            },
            Received::Binary(bytes) => ours.say(Opcode::Binary, true, &bytes),
            Received::Ping(payload) => ours.say(Opcode::Pong, true, &payload),
            Received::Pong(_) => {}
            Received::Close(close) => {
                let close = close.as_ref().map(|(code, reason)| (*code, reason.as_str()));
                ours.say_close(close);
                return;
            }
        }
    }
}
