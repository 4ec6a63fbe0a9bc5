//! The crate tungstenite.

use super::{ALIVE, CLOSE, CLOSED, CODES, IN_PIECES, PIECES, PING, REASON, SIZES};
use super::{ask, serve, text, thirds};
use std::net::{TcpListener, TcpStream};
use tungstenite::protocol::CloseFrame;
use tungstenite::protocol::frame::Frame;
use tungstenite::protocol::frame::coding::{Data, OpCode};
use tungstenite::{Error, Message, WebSocket};

type Socket = WebSocket<TcpStream>;

/// Sends a message in pieces.
fn send_pieces(socket: &mut Socket, kind: Data, pieces: &[&[u8]]) {
    for (number, piece) in (1..).zip(pieces) {
        let kind = if number == 1 { kind } else { Data::Continue };
        let is_final = number == pieces.len();
        let frame = Frame::message(piece.to_vec(), OpCode::Data(kind), is_final);
        socket.send(Message::Frame(frame)).unwrap();
    }
}

/// Returns the next message; pings are answered meanwhile, and pongs are messages, too.
fn next(socket: &mut Socket) -> Message {
    loop {
        match socket.read().unwrap() {
            Message::Ping(_) => {}
            message => return message,
        }
    }
}

/// Does what our client asks for.
fn answer(socket: &mut Socket) {
    loop {
        let message = match socket.read() {
            Ok(message) => message,
            Err(Error::ConnectionClosed) => return,
            Err(error) => panic!("{error}"),
        };
        match &message {
            Message::Text(text) if *text == PING => {
                socket.send(Message::Ping("there?".into())).unwrap();
                assert_eq!(next(socket), Message::Pong("there?".into()));
                socket.send(ALIVE.into()).unwrap();
            }
            Message::Text(text) if *text == PIECES => {
                send_pieces(socket, Data::Text, &IN_PIECES.map(str::as_bytes));
            }
            Message::Text(text) if *text == CLOSE => {
                let (code, reason) = (CLOSED.0.into(), CLOSED.1.into());
                socket.close(Some(CloseFrame { code, reason })).unwrap();
            }
            Message::Text(_) | Message::Binary(_) => socket.send(message).unwrap(),
            Message::Close(Some(close)) => {
                assert!([REASON, CLOSED.1].contains(&close.reason.as_str()), "{close}");
            }
            _ => {}
        }
    }
}

#[test]
fn our_client_and_the_server_of_tungstenite() {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let port = listener.local_addr().unwrap().port();
    let connections = 1 + CODES.len();
    let server = std::thread::spawn(move || {
        for stream in listener.incoming().take(connections) {
            answer(&mut tungstenite::accept(stream.unwrap()).unwrap());
        }
    });
    ask(port);
    server.join().unwrap();
}

#[test]
fn our_server_and_the_client_of_tungstenite() {
    let port = serve();
    let connect = || {
        let stream = TcpStream::connect(("127.0.0.1", port)).unwrap();
        tungstenite::client(format!("ws://127.0.0.1:{port}/chat"), stream).unwrap().0
    };
    let mut socket = connect();
    for size in SIZES {
        let text = text(size);
        let (bytes, as_text) = (text.clone().into_bytes(), Message::text(text));
        let as_binary = Message::binary(bytes.clone());
        for (kind, message) in [(Data::Text, as_text), (Data::Binary, as_binary)] {
            socket.send(message.clone()).unwrap();
            assert_eq!(next(&mut socket), message);
            send_pieces(&mut socket, kind, &thirds(&bytes));
            assert_eq!(next(&mut socket), message);
        }
    }
    socket.send(Message::Ping("there?".into())).unwrap();
    assert_eq!(next(&mut socket), Message::Pong("there?".into()));
    for (command, answer) in [(PING, ALIVE.to_owned()), (PIECES, IN_PIECES.concat())] {
        socket.send(command.into()).unwrap();
        assert_eq!(next(&mut socket), Message::text(answer));
    }
    socket.send(CLOSE.into()).unwrap();
    let Message::Close(Some(close)) = next(&mut socket) else { panic!("no close") };
    assert_eq!((u16::from(close.code), close.reason.as_str()), CLOSED);
    assert!(matches!(socket.read(), Err(Error::ConnectionClosed)));
    for code in CODES {
        let mut socket = connect();
        let said = code.map(|code| CloseFrame { code: code.into(), reason: REASON.into() });
        socket.close(said.clone()).unwrap();
        assert_eq!(next(&mut socket), Message::Close(said));
    }
}
