//! Whole conversations with a server that is played in memory, and with servers that do wrong.

use super::*;
use crate::conversation::{Broken, Conversation, Heard};
use crate::played::{Played, Step, check_cuts, check_damage};
use crate::stamp::Stamp;
use std::collections::HashSet;
use tiebreak_core::load::WebSocketShape;
use tiebreak_proto::Decoded;
use tiebreak_proto::websocket::handshake::{Response, response_fields};
use tiebreak_proto::websocket::{Close, CloseCode, Event, Frame, Reader, Role};

fn stamp(number: u64) -> Stamp {
    Stamp { number, intended_ns: 1_000 * number, actual_ns: 1_000 * number + 1 }
}

fn options(shape: WebSocketShape, connections: u32) -> WebSocketOptions {
    WebSocketOptions {
        host: "localhost:8080".into(),
        target: "/chat".into(),
        shape,
        connections,
        payload_bytes: 30,
        text: true,
        seed: 1,
    }
}

/// Returns the response that accepts a request.
fn accepted(request: &[u8]) -> Vec<u8> {
    let Ok(Decoded::Whole { value, length }) = Request::decode(request, 1000) else {
        panic!("{}", request.escape_ascii());
    };
    assert_eq!((value.head().target(), length), ("/chat", request.len()));
    let accept = value.key().accept();
    let fields = response_fields(&accept);
    let head = http::Response::new(101, "Switching Protocols", Fields::new(&fields)).unwrap();
    let response = Response::new(head, &value).unwrap();
    let mut bytes = vec![0; response.encoded_len()];
    response.encode(&mut bytes).unwrap();
    bytes
}

/// Returns a frame as a server sends it.
fn frame(opcode: Opcode, is_final: bool, payload: &[u8]) -> Vec<u8> {
    let frame = Frame::new(opcode, is_final, None, payload).unwrap();
    let mut bytes = vec![0; frame.encoded_len()];
    frame.encode(&mut bytes).unwrap();
    bytes
}

/// Returns the payload of a message.
fn payload(options: &WebSocketOptions, number: u64) -> Vec<u8> {
    let mut payload = Vec::new();
    WebSocket::new(options.clone()).unwrap().message.append(stamp(number), &mut payload);
    payload
}

/// Sends messages in turns through a server that puts `before` before each, and returns what
/// arrives at each connection.
fn arrivals(options: &WebSocketOptions, messages: u64, before: &[u8]) -> Vec<Vec<Stamp>> {
    let socket = WebSocket::new(options.clone()).unwrap();
    let mut clients: Vec<_> =
        (0..socket.connections()).map(|at| Played::new(socket.converse(at))).collect();
    let mut keys = HashSet::new();
    for client in &mut clients {
        let request = std::mem::take(&mut client.out);
        assert!(keys.insert(request.clone()), "each connection has a key of its own");
        client.receive(&accepted(&request)).unwrap();
        assert_eq!(std::mem::take(&mut client.heard), [Heard::Open]);
    }
    let mut readers: Vec<_> = clients.iter().map(|_| Reader::new(Role::Client, 1 << 20)).collect();
    for number in 0..messages {
        let sender = (number % u64::from(socket.senders())) as u32;
        clients[socket.connection_of(sender) as usize].send(stamp(number));
        if number % 3 != 0 || number + 1 == messages {
            while pass(options, &mut clients, &mut readers, before) {}
        }
    }
    clients.iter_mut().map(Played::arrived).collect()
}

/// Lets the server pass on what all clients have said; returns whether that was anything.
fn pass(
    options: &WebSocketOptions,
    clients: &mut [Played<Client>],
    readers: &mut [Reader],
    before: &[u8],
) -> bool {
    let mut sent = vec![Vec::new(); clients.len()];
    for (from, reader) in readers.iter_mut().enumerate() {
        let mut said = std::mem::take(&mut clients[from].out);
        let mut rest = &mut said[..];
        while !rest.is_empty() {
            let Ok(Decoded::Whole { value, length }) = reader.decode(rest) else {
                panic!("half a frame was said");
            };
            let (piece, opcode) = match value {
                Event::Text { piece, is_last: true } => (piece, Opcode::Text),
                Event::Binary { piece, is_last: true } => (piece, Opcode::Binary),
                other => panic!("{other:?}"),
            };
            let bytes = frame(opcode, true, &[before, piece].concat());
            for (to, sent) in sent.iter_mut().enumerate() {
                let is_asked = match options.shape {
                    WebSocketShape::PingPong => to == from,
                    WebSocketShape::Relay => to != from,
                    WebSocketShape::Broadcast => true,
                };
                if is_asked {
                    sent.extend_from_slice(&bytes);
                }
            }
            rest = &mut rest[length..];
        }
    }
    for (client, sent) in clients.iter_mut().zip(&sent) {
        client.receive(sent).unwrap();
    }
    sent.iter().any(|sent| !sent.is_empty())
}

#[test]
fn each_message_arrives_where_it_must_with_and_without_a_name_before_it() {
    let of = |sender: u64, senders: u64| -> Vec<Stamp> {
        (0..40).filter(|number| number % senders == sender).map(stamp).collect()
    };
    for (text, payload_bytes) in [(true, 22), (true, 126), (true, 70_000), (false, 16), (false, 99)]
    {
        for before in ["", "someone: "] {
            let check = |shape, connections, expected: &[Vec<Stamp>]| {
                let options =
                    WebSocketOptions { text, payload_bytes, ..options(shape, connections) };
                let mut arrived = arrivals(&options, 40, before.as_bytes());
                // A server passes on at once what several have said; the order is its own.
                arrived.iter_mut().for_each(|at| at.sort_by_key(|stamp| stamp.number));
                assert_eq!(arrived, expected, "{options:?}");
            };
            check(WebSocketShape::PingPong, 1, &[of(0, 1)]);
            check(WebSocketShape::PingPong, 3, &[of(0, 3), of(1, 3), of(2, 3)]);
            check(WebSocketShape::Broadcast, 3, &[of(0, 1), of(0, 1), of(0, 1)]);
            if before.is_empty() {
                check(WebSocketShape::Relay, 2, &[of(0, 1), vec![]]);
            }
        }
    }
}

#[test]
fn groups_are_those_of_their_senders_and_of_who_answers_them() {
    let check = |shape, groups: &[u32], senders, arrivals| {
        let socket = WebSocket::new(options(shape, groups.len() as u32)).unwrap();
        assert_eq!((socket.senders(), socket.arrivals_a_message()), (senders, arrivals));
        let found: Vec<_> = (0..socket.connections()).map(|at| socket.group_of(at)).collect();
        assert_eq!(found, groups);
    };
    check(WebSocketShape::PingPong, &[0, 1, 2], 3, 1);
    check(WebSocketShape::Broadcast, &[0, 1, 2], 3, 3);
    check(WebSocketShape::Relay, &[0, 0], 1, 1);
}

#[test]
fn options_that_cannot_be_are_refused_with_a_reason() {
    let check = |options: WebSocketOptions, part: &str| {
        let error = WebSocket::new(options).unwrap_err().to_string();
        assert!(error.contains(part), "{error}");
    };
    let one = options(WebSocketShape::PingPong, 1);
    check(options(WebSocketShape::PingPong, 0), "0 connections: give at least 1");
    check(options(WebSocketShape::Relay, 3), "3 connections in a relay: give 2");
    check(WebSocketOptions { payload_bytes: 21, ..one.clone() }, "give 22");
    check(WebSocketOptions { payload_bytes: 15, text: false, ..one.clone() }, "give 16");
    check(WebSocketOptions { host: "a\r\nb".into(), ..one.clone() }, "no request for");
    check(WebSocketOptions { target: "a b".into(), ..one }, "no request for");
}

/// A connection, the response that opens it, and the payload of a message.
fn echo(text: bool) -> (impl Fn() -> Client, Vec<u8>, Vec<u8>) {
    let options = WebSocketOptions { text, ..options(WebSocketShape::PingPong, 1) };
    let payload = payload(&options, 7);
    let new = move || WebSocket::new(options.clone()).unwrap().converse(0);
    let response = accepted(&Played::new(new()).out);
    (new, response, payload)
}

#[test]
fn the_server_may_be_heard_in_pieces_of_any_size_and_write_in_frames_of_any_size() {
    for text in [true, false] {
        let (new, response, payload) = echo(text);
        let opcode = if text { Opcode::Text } else { Opcode::Binary };
        let (first, second) = payload.split_at(11);
        let bytes = [
            response,
            frame(Opcode::Ping, true, b""),
            frame(opcode, true, &payload),
            frame(opcode, false, "Zo\u{eb}: ".as_bytes()),
            frame(Opcode::Ping, true, b"there?"),
            frame(Opcode::Continuation, false, first),
            frame(Opcode::Continuation, false, b""),
            frame(Opcode::Pong, true, b"unasked"),
            frame(Opcode::Continuation, false, second),
            frame(Opcode::Continuation, true, b""),
            frame(opcode, true, &payload),
        ];
        let steps = [Step::Server(bytes.concat())];
        check_damage(&new, &steps);
        let (heard, broken) = check_cuts(new, &steps);
        let arrived = Heard::Arrived(stamp(7));
        assert_eq!((heard, broken), (vec![Heard::Open, arrived, arrived, arrived], None));
    }
}

#[test]
fn pings_and_closes_are_answered_with_what_they_said() {
    let (new, response, _) = echo(true);
    let close = Close::new(CloseCode::GOING_AWAY, "for lunch").unwrap();
    let mut reason = [0; 11];
    close.encode(&mut reason).unwrap();
    let mut client = Played::new(new());
    client.out.clear();
    client.receive(&response).unwrap();
    client.receive(&frame(Opcode::Ping, true, &[b'p'; 125])).unwrap();
    let Broken(why) = client.receive(&frame(Opcode::Close, true, &reason)).unwrap_err();
    assert_eq!(why, "closed the connection with code 1001, \"for lunch\"");

    let mut reader = Reader::new(Role::Client, 1000);
    let Ok(Decoded::Whole { value, length }) = reader.decode(&mut client.out) else { panic!() };
    assert_eq!(value, Event::Pong(&[b'p'; 125]));
    let Ok(Decoded::Whole { value, .. }) = reader.decode(&mut client.out[length..]) else {
        panic!()
    };
    assert_eq!(value, Event::Close(Some(Close::new(CloseCode::GOING_AWAY, "").unwrap())));
}

#[test]
fn what_a_server_does_wrong_is_said_in_a_sentence() {
    let (_, response, payload) = echo(true);
    let after = |bytes: &[u8]| [&response[..], bytes].concat();
    let message = |payload: &[u8]| after(&frame(Opcode::Text, true, payload));
    let other_key = {
        let socket = WebSocket::new(options(WebSocketShape::PingPong, 2)).unwrap();
        accepted(&Played::new(socket.converse(1)).out)
    };
    let rows: [(Vec<u8>, &str); 12] = [
        (b"HTTP/1.1 404 Not Found\r\nContent-Length: 0\r\n\r\n".to_vec(), "with status 404"),
        (b"SSH-2.0-OpenSSH_9.2p1\r\n\r\n".to_vec(), "answered the handshake wrongly: "),
        (other_key, "answered the handshake wrongly: "),
        (message(b"Welcome!"), "of 8 bytes that does not end with one of those that were sent"),
        (message(&[&payload[..], b"\n"].concat()), "of 31 bytes that does not end with one"),
        (message(&payload[..29]), "of 29 bytes that does not end with one"),
        (message(&[b'.'; 1120]), "1120 bytes"),
        (after(&frame(Opcode::Binary, true, &payload)), "sent a message of binary"),
        (after(b"\x81\x7f\0\0\0\0\x10\0\0\0"), "268435456 bytes of payload: at most 1054"),
        (after(b"\x81\x9e"), "sent bytes that are not WebSocket: a server's frame is masked"),
        (after(&frame(Opcode::Close, true, b"")), "closed the connection without a code"),
        (after(b"\xff\xff"), "sent bytes that are not WebSocket: "),
    ];
    for (bytes, part) in rows {
        let (_, broken) = check_cuts(echo(true).0, &[Step::Server(bytes)]);
        let Broken(why) = broken.unwrap_or_else(|| panic!("{part}"));
        assert!(why.contains(part) && !why.contains(char::is_control), "{why:?}: {part}");
    }
    let Broken(why) = Played::new(echo(true).0()).receive(&[b'x'; 20_000]).unwrap_err();
    assert!(why.starts_with("answered the handshake wrongly: "), "{why}");
}

#[test]
fn the_end_of_a_connection_is_never_right() {
    let (new, response, _) = echo(true);
    let mut client = Played::new(new());
    let mut end = |bytes: &[u8], part: &str| {
        client.receive(bytes).unwrap();
        let Broken(why) = client.conversation.end(false, &mut Vec::new()).unwrap_err();
        assert!(why.ends_with(part), "{why}");
    };
    end(b"HTTP/1.1 101", "in place of a handshake");
    end(&response[12..], "without saying so");
}

#[test]
fn masking_keys_differ_from_frame_to_frame() {
    let (new, response, _) = echo(true);
    let mut client = Played::new(new());
    client.receive(&response).unwrap();
    let keys: HashSet<_> = (0..100)
        .map(|number| {
            client.out.clear();
            client.send(stamp(number));
            client.out[2..6].to_vec()
        })
        .collect();
    assert_eq!(keys.len(), 100);
}
