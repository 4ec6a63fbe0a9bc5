//! A load by WebSocket: echo, relay and broadcast.
//!
//! # What a server must do
//!
//! It accepts the handshake at the target, and sends each message on, text as text and binary as
//! binary, to those that its [`WebSocketShape`] says. It may put up to 1024 bytes before the
//! message, as servers of a chat put `name: `, and nothing behind it. Anything else that it sends
//! as a message (a greeting, half a message) ends the load: a wrong answer is never counted as a
//! fast one. Pings are answered, and may come at any time.
//!
//! Masking keys are drawn from the seed. RFC 6455 section 5.3 wants them unpredictable for the
//! sake of proxies between a browser and a server, which a load does not have.

mod client;
#[cfg(test)]
mod tests;

pub use client::Client;

use crate::conversation::Scenario;
use crate::message::{BadOptions, Form, Message};
use crate::random::Words;
use tiebreak_core::load::WebSocketShape;
use tiebreak_proto::http::{self, Fields};
use tiebreak_proto::websocket::handshake::{Key, Request, request_fields};
use tiebreak_proto::websocket::{Error, Opcode};

/// What is asked of a server of WebSocket.
#[derive(Clone, Debug)]
pub struct WebSocketOptions {
    /// The host and port that the field Host names.
    pub host: String,
    /// What is asked for by GET, such as `/chat`.
    pub target: String,
    /// To whom the server sends a message.
    pub shape: WebSocketShape,
    /// The connections.
    pub connections: u32,
    /// The payload of a message: at least 22 bytes of text or 16 of binary, at most
    /// [`PAYLOAD_BYTES_MAX`](crate::PAYLOAD_BYTES_MAX).
    pub payload_bytes: usize,
    /// Whether messages are text, all in ASCII, and not binary.
    pub text: bool,
    /// Decides the keys of handshakes and masks.
    pub seed: u64,
}

/// The connections of a load by WebSocket.
#[derive(Clone, Debug)]
pub struct WebSocket {
    options: WebSocketOptions,
    message: Message,
}

impl WebSocket {
    /// Makes a load of these options.
    ///
    /// # Errors
    /// Fails for a payload that is too short or too long, a number of connections that the shape
    /// cannot have, and a host or target that no request can have.
    pub fn new(options: WebSocketOptions) -> Result<WebSocket, BadOptions> {
        match (options.shape, options.connections) {
            (WebSocketShape::Relay, 2)
            | (WebSocketShape::PingPong | WebSocketShape::Broadcast, 1..) => {}
            (WebSocketShape::Relay, count) => {
                return Err(BadOptions(format!("{count} connections in a relay: give 2")));
            }
            (_, count) => {
                return Err(BadOptions(format!("{count} connections: give at least 1")));
            }
        }
        let form = if options.text { Form::Text } else { Form::Bytes };
        let message = Message::new(form, options.payload_bytes)?;
        request(&options, &Key::from_bytes([0; 16])).map_err(|error| {
            let WebSocketOptions { host, target, .. } = &options;
            BadOptions(format!("no request for {target:?} at {host:?} can be made: {error}"))
        })?;
        Ok(WebSocket { options, message })
    }
}

/// Returns the request that opens a connection.
fn request(options: &WebSocketOptions, key: &Key) -> Result<Vec<u8>, Error> {
    let fields = request_fields(&options.host, key)?;
    let request = Request::new(http::Request::new("GET", &options.target, Fields::new(&fields))?)?;
    let mut bytes = vec![0; request.encoded_len()];
    request.encode(&mut bytes).expect("the length is the one that it says");
    Ok(bytes)
}

impl Scenario for WebSocket {
    type Conversation = Client;

    fn connections(&self) -> u32 {
        self.options.connections
    }

    fn senders(&self) -> u32 {
        match self.options.shape {
            WebSocketShape::PingPong | WebSocketShape::Broadcast => self.options.connections,
            WebSocketShape::Relay => 1,
        }
    }

    fn connection_of(&self, sender: u32) -> u32 {
        sender
    }

    fn group_of(&self, connection: u32) -> u32 {
        connection % self.senders()
    }

    fn arrivals_a_message(&self) -> u32 {
        match self.options.shape {
            WebSocketShape::PingPong | WebSocketShape::Relay => 1,
            WebSocketShape::Broadcast => self.options.connections,
        }
    }

    fn is_answered(&self) -> bool {
        true
    }

    fn converse(&self, connection: u32) -> Client {
        let options = &self.options;
        let mut words = Words::new(options.seed.wrapping_add(connection.into()));
        let mut key = [0; 16];
        for half in key.as_chunks_mut::<8>().0 {
            *half = words.next_u64().to_le_bytes();
        }
        let request = request(options, &Key::from_bytes(key));
        let request = request.expect("the same was made with another key");
        let opcode = if options.text { Opcode::Text } else { Opcode::Binary };
        let is_answering = connection >= self.senders();
        let relays = options.shape == WebSocketShape::Relay;
        Client::new(request, opcode, self.message, is_answering, relays, words)
    }
}
