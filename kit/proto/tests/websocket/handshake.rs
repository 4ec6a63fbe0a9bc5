//! The opening handshake: the example of RFC 6455 section 1.3, and what is refused.

use crate::common::websocket::{HEAD_LIMIT, check, request, response};
use crate::common::{check_sentence, check_vector, encoded, whole};
use proptest::prelude::*;
use tiebreak_proto::http::{self, Field, Fields};
use tiebreak_proto::websocket::Error;
use tiebreak_proto::websocket::handshake::{
    Key, Request, Response, request_fields, response_fields,
};

const REQUEST: &str = "GET /chat HTTP/1.1\r\n\
    Host: server.example.com\r\n\
    Upgrade: websocket\r\n\
    Connection: Upgrade\r\n\
    Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n\
    Origin: http://example.com\r\n\
    Sec-WebSocket-Protocol: chat, superchat\r\n\
    Sec-WebSocket-Version: 13\r\n\r\n";
const RESPONSE: &str = "HTTP/1.1 101 Switching Protocols\r\n\
    Upgrade: websocket\r\n\
    Connection: Upgrade\r\n\
    Sec-WebSocket-Accept: s3pPLMBiTxaQ9kYGzzhZRbK+xOo=\r\n\
    Sec-WebSocket-Protocol: chat\r\n\r\n";

#[test]
fn example_of_the_standard() {
    let (request, length) = whole(Request::decode(REQUEST.as_bytes(), REQUEST.len()));
    assert_eq!(length, REQUEST.len());
    assert_eq!(request.head().target(), "/chat");
    assert_eq!(request.head().fields().get("origin"), Some(&b"http://example.com"[..]));
    assert!(request.protocols().eq([&b"chat"[..], b"superchat"]));
    assert_eq!(*request.key(), Key::from_bytes(*b"the sample nonce"));
    assert_eq!(request.key().accept().as_str(), "s3pPLMBiTxaQ9kYGzzhZRbK+xOo=");
    assert_eq!(encoded(request.encoded_len(), |out| request.encode(out)), REQUEST.as_bytes());

    let decoded = Response::decode(RESPONSE.as_bytes(), RESPONSE.len(), &request);
    let (response, length) = whole(decoded);
    assert_eq!((response.protocol(), length), (Some(&b"chat"[..]), RESPONSE.len()));
    assert_eq!(encoded(response.encoded_len(), |out| response.encode(out)), RESPONSE.as_bytes());
}

#[test]
fn beginnings_ask_for_more_and_changes_change_only_what_follows() {
    // What may be left out is, as the cost grows with the square of the length.
    let shorter = REQUEST.replace("Origin: http://example.com\r\n", "");
    let shorter = shorter.replace("Sec-WebSocket-Protocol: chat, superchat\r\n", "");
    check_vector(shorter.as_bytes(), request);
    check_vector(RESPONSE.as_bytes(), response);
}

/// Refused requests: what is replaced in the example, by what, and the error.
#[test]
fn requests_that_are_refused() {
    let rows = [
        ("GET", "POST", Error::Method),
        ("GET", "get", Error::Method),
        ("HTTP/1.1", "HTTP/1.0", Error::HttpVersion),
        ("Origin: http://example.com", "Content-Length: 1", Error::Body),
        ("Origin: http://example.com", "Transfer-Encoding: chunked", Error::Body),
        ("Upgrade: websocket\r\n", "", Error::Upgrade),
        ("Upgrade: websocket", "Upgrade: websockets", Error::Upgrade),
        ("Connection: Upgrade", "Connection: close", Error::Connection),
        ("Version: 13", "Version: 8", Error::Version),
        ("Version: 13", "Version: 13, 8", Error::Version),
        ("Version: 13", "Version: 013", Error::Version),
        ("Origin: http://example.com", "Sec-WebSocket-Version: 13", Error::Version),
        ("-Version: 13", "-Versions: 13", Error::Version),
        ("-Key: ", "-Keys: ", Error::Key),
        ("ZQ==", "ZQ=", Error::Key),
        ("ZQ==", "ZWE=", Error::Key),
        ("ZQ==", "Z-==", Error::Key),
        ("Origin: http://example.com", "Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==", Error::Key),
        ("Host: ", "Hosts: ", Error::Http(http::Error::NoHost)),
        ("Host: ", "Host : ", Error::Http(http::Error::SpaceBeforeColon)),
    ];
    for (from, to, error) in rows {
        let bytes = REQUEST.replace(from, to);
        assert_ne!(bytes, REQUEST);
        assert_eq!(Request::decode(bytes.as_bytes(), HEAD_LIMIT), Err(error), "{bytes}");
        check_sentence(&error);
    }
    let limit = REQUEST.len() - 1;
    let long = Err(Error::Http(http::Error::TooLong { limit }));
    assert_eq!(Request::decode(REQUEST.as_bytes(), limit), long);
}

/// What another client may write, and a server takes; an extension is offered in vain.
#[test]
fn requests_that_are_taken() {
    let rows = [
        ("Connection: Upgrade", "connection: keep-alive, UPGRADE"),
        ("Connection: Upgrade", "Connection: keep-alive\r\nConnection: upgrade"),
        ("Upgrade: websocket", "upgrade:WebSocket"),
        ("Upgrade: websocket", "Upgrade: h2c, websocket"),
        ("Version: 13", "version:13 "),
        ("Origin: http://example.com", "Content-Length: 0"),
        ("Origin: http://example.com", "Sec-WebSocket-Extensions: permessage-deflate"),
    ];
    for (from, to) in rows {
        let bytes = REQUEST.replace(from, to);
        assert_ne!(bytes, REQUEST);
        assert_eq!(whole(Request::decode(bytes.as_bytes(), HEAD_LIMIT)).1, bytes.len());
    }
}

#[test]
fn responses_that_are_refused() {
    let rows = [
        ("101 Switching Protocols", "200 OK", Error::Status { status: 200 }),
        ("HTTP/1.1", "HTTP/1.0", Error::HttpVersion),
        ("Upgrade: websocket", "Upgrade: websocket, h2c", Error::Upgrade),
        ("Upgrade: websocket", "Upgrade: websocket\r\nUpgrade: websocket", Error::Upgrade),
        ("Upgrade: websocket\r\n", "", Error::Upgrade),
        ("Connection: Upgrade", "Connection: keep-alive", Error::Connection),
        ("-Accept: s3", "-Accept: S3", Error::Accept),
        ("-Accept: ", "-Accepts: ", Error::Accept),
        ("Protocol: chat", "Protocol: Chat", Error::Protocol),
        ("Protocol: chat", "Protocol: chat, superchat", Error::Protocol),
        ("Protocol: chat", "Protocol: chat\r\nSec-WebSocket-Protocol: chat", Error::Protocol),
        ("Protocol: chat", "Extensions: permessage-deflate", Error::Extension),
    ];
    let (request, _) = whole(Request::decode(REQUEST.as_bytes(), HEAD_LIMIT));
    for (from, to, error) in rows {
        let bytes = RESPONSE.replace(from, to);
        assert_ne!(bytes, RESPONSE);
        let decoded = Response::decode(bytes.as_bytes(), HEAD_LIMIT, &request);
        assert_eq!(decoded, Err(error), "{bytes}");
        check_sentence(&error);
    }
    let bytes = RESPONSE.replace("Protocol: chat", "Extensions: ").replace("cket\r", "CKET\r");
    let decoded = Response::decode(bytes.as_bytes(), HEAD_LIMIT, &request);
    assert_eq!(whole(decoded).0.protocol(), None, "an empty list accepts nothing");
}

#[test]
fn what_a_server_would_refuse_is_not_made() {
    let key = Key::from_bytes([7; 16]);
    assert_eq!(
        request_fields("a\r\nb", &key),
        Err(Error::Http(http::Error::FieldValue { byte: 13 }))
    );
    let fields = request_fields("a", &key).unwrap();
    let head = http::Request::new("GET", "/", Fields::new(&fields[1..]));
    assert_eq!(head, Err(http::Error::NoHost));
    let head = http::Request::new("GET", "/", Fields::new(&fields[..4])).unwrap();
    assert_eq!(Request::new(head), Err(Error::Version));
}

proptest! {
    /// A client and a server of any key understand each other.
    #[test]
    fn handshakes_come_back(bytes: [u8; 16], protocol in "[a-z]{1,9}") {
        let key = Key::from_bytes(bytes);
        prop_assert_eq!(Key::parse(key.as_str().as_bytes()), Ok(key));
        let mut fields = request_fields("localhost:80", &key).unwrap().to_vec();
        fields.push(Field::new("Sec-WebSocket-Protocol", &protocol).unwrap());
        let head = http::Request::new("GET", "/", Fields::new(&fields)).unwrap();
        let sent = Request::new(head).unwrap();
        let sent_bytes = encoded(sent.encoded_len(), |out| sent.encode(out));
        let (got, _) = whole(Request::decode(&sent_bytes, HEAD_LIMIT));
        prop_assert_eq!(got, sent);

        let accept = got.key().accept();
        let mut fields = response_fields(&accept).to_vec();
        fields.push(Field::new("Sec-WebSocket-Protocol", &protocol).unwrap());
        let head = http::Response::new(101, "", Fields::new(&fields)).unwrap();
        let answer = Response::new(head, &got).unwrap();
        let answer_bytes = encoded(answer.encoded_len(), |out| answer.encode(out));
        let (got, _) = whole(Response::decode(&answer_bytes, HEAD_LIMIT, &sent));
        prop_assert_eq!(got.protocol(), Some(protocol.as_bytes()));
    }

    #[test]
    fn changed_handshakes_are_read_alike(at: usize, byte: u8, a: usize, b: usize) {
        for vector in [REQUEST, RESPONSE] {
            let mut bytes = vector.as_bytes().to_vec();
            let at = at % bytes.len();
            bytes[at] = byte;
            check(&bytes, a, b);
        }
    }
}
