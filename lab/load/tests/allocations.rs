//! Once a conversation is under way, no message allocates memory.

use std::alloc::{GlobalAlloc, Layout, System};
use std::cell::Cell;
use tiebreak_core::load::WebSocketShape;
use tiebreak_load::conversation::{Conversation, Heard, Scenario};
use tiebreak_load::mqtt::{Mqtt, MqttOptions, Qos, Shape, Version};
use tiebreak_load::stamp::Stamp;
use tiebreak_load::websocket::{WebSocket, WebSocketOptions};
use tiebreak_proto::Decoded;
use tiebreak_proto::http::{self, Fields};
use tiebreak_proto::websocket::handshake::{Request, response_fields};
use tiebreak_proto::websocket::{Event, Frame, Opcode, Reader, Role};

/// The system's allocator, which counts what it gives to each thread.
struct Counting;

thread_local! {
    static ALLOCATIONS: Cell<u64> = const { Cell::new(0) };
}

#[global_allocator]
static ALLOCATOR: Counting = Counting;

// SAFETY: all is left to the system's allocator.
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        ALLOCATIONS.set(ALLOCATIONS.get() + 1);
        // SAFETY: the caller's promises are passed on.
        unsafe { System.alloc(layout) }
    }

    unsafe fn dealloc(&self, memory: *mut u8, layout: Layout) {
        // SAFETY: the caller's promises are passed on, and `alloc` got the memory there.
        unsafe { System.dealloc(memory, layout) }
    }

    unsafe fn realloc(&self, memory: *mut u8, layout: Layout, bytes: usize) -> *mut u8 {
        ALLOCATIONS.set(ALLOCATIONS.get() + 1);
        // SAFETY: the caller's promises are passed on, and `alloc` got the memory there.
        unsafe { System.realloc(memory, layout, bytes) }
    }
}

/// A connection with its buffers.
struct Connection<C> {
    conversation: C,
    out: Vec<u8>,
    heard: Vec<Heard>,
}

impl<C: Conversation> Connection<C> {
    fn new(conversation: C) -> Connection<C> {
        Connection { conversation, out: Vec::new(), heard: Vec::new() }
    }

    fn receive(&mut self, bytes: &mut [u8]) {
        let length = bytes.len();
        let done = self.conversation.receive(bytes, &mut self.out, &mut self.heard).unwrap();
        assert_eq!(done, length);
    }
}

fn stamp(number: u64) -> Stamp {
    Stamp { number, intended_ns: number, actual_ns: number }
}

/// Runs rounds, and checks that those after the first hundred do not allocate.
fn check(mut round: impl FnMut(u64)) {
    (0..100).for_each(&mut round);
    let before = ALLOCATIONS.get();
    (100..70_000).for_each(&mut round);
    assert_eq!(ALLOCATIONS.get(), before);
}

#[test]
fn no_message_of_mqtt_allocates() {
    for qos in [Qos::AtMostOnce, Qos::AtLeastOnce, Qos::ExactlyOnce] {
        let mqtt = Mqtt::new(MqttOptions {
            version: Version::V311,
            shape: Shape::Pairs { connections: 2 },
            payload_bytes: 100,
            publish_qos: qos,
            subscribe_qos: qos,
            keep_alive_s: 0,
            seed: 1,
        });
        let mqtt = mqtt.unwrap();
        let mut publisher = Connection::new(mqtt.converse(0));
        let mut subscriber = Connection::new(mqtt.converse(1));
        for connection in [&mut publisher, &mut subscriber] {
            connection.receive(&mut [0x20, 2, 0, 0]);
        }
        subscriber.receive(&mut [0x90, 3, 0xff, 0xff, qos as u8]);
        check(|number| {
            for connection in [&mut publisher, &mut subscriber] {
                connection.out.clear();
                connection.heard.clear();
            }
            // What each says has the form in which the server passes it on: the server is left out.
            publisher.conversation.send(stamp(number), &mut publisher.out);
            subscriber.receive(&mut publisher.out);
            publisher.out.clear();
            publisher.receive(&mut subscriber.out);
            if qos == Qos::ExactlyOnce {
                subscriber.out.clear();
                subscriber.receive(&mut publisher.out);
                publisher.receive(&mut subscriber.out);
            }
            assert_eq!(subscriber.heard, [Heard::Arrived(stamp(number))]);
        });
    }
}

#[test]
fn no_message_of_websocket_allocates() {
    let socket = WebSocket::new(WebSocketOptions {
        host: "localhost".into(),
        target: "/".into(),
        shape: WebSocketShape::PingPong,
        connections: 1,
        payload_bytes: 100,
        text: true,
        seed: 1,
    });
    let mut connection = Connection::new(socket.unwrap().converse(0));
    connection.conversation.open(&mut connection.out, &mut connection.heard);
    let Ok(Decoded::Whole { value, .. }) = Request::decode(&connection.out, 1000) else { panic!() };
    let accept = value.key().accept();
    let fields = response_fields(&accept);
    let response = http::Response::new(101, "Yes", Fields::new(&fields)).unwrap();
    let mut bytes = vec![0; response.encoded_len()];
    response.encode(&mut bytes).unwrap();
    connection.receive(&mut bytes);

    let mut reader = Reader::new(Role::Client, 1000);
    let mut echo = vec![0; 206];
    check(|number| {
        connection.out.clear();
        connection.heard.clear();
        connection.conversation.send(stamp(number), &mut connection.out);
        let read = reader.decode(&mut connection.out);
        let Ok(Decoded::Whole { value: Event::Text { piece, .. }, .. }) = read else { panic!() };
        // Once whole, once in two frames.
        let (first, second) = piece.split_at(50);
        let whole = Frame::new(Opcode::Text, true, None, piece).unwrap();
        let first = Frame::new(Opcode::Text, false, None, first).unwrap();
        let second = Frame::new(Opcode::Continuation, true, None, second).unwrap();
        let mut length = 0;
        for frame in [whole, first, second] {
            length += frame.encode(&mut echo[length..]).unwrap();
        }
        connection.receive(&mut echo[..length]);
        assert_eq!(connection.heard, [Heard::Arrived(stamp(number)); 2]);
    });
}
