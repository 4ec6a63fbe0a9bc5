//! Heads of messages: examples of RFC 9112, and what it tells a recipient to refuse.

use crate::common::http::{HEAD_LIMIT, request, response};
use crate::common::{Outcome, check_vector, encoded, whole};
use tiebreak_proto::http::{Error, Field, Fields, Request, Response, Version};

/// Decodes a request and encodes it again, which gives the same bytes.
fn check_request(bytes: &str, method: &str, target: &str, fields: &[(&str, &str)]) {
    let (decoded, length) = whole(Request::decode(bytes.as_bytes(), bytes.len()));
    assert_eq!(length, bytes.len());
    assert_eq!((decoded.method(), decoded.target()), (method, target));
    assert_eq!(decoded.version(), Version::Http11);
    let fields: Vec<Field<'_>> =
        fields.iter().map(|(name, value)| Field::new(name, *value).unwrap()).collect();
    assert_eq!(decoded, Request::new(method, target, Fields::new(&fields)).unwrap());
    assert_eq!(encoded(decoded.encoded_len(), |out| decoded.encode(out)), bytes.as_bytes());
}

/// The four forms of targets as RFC 9112 section 3.2 shows them.
#[test]
fn requests_of_the_standard() {
    let bytes = "GET /where?q=now HTTP/1.1\r\nHost: www.example.org\r\n\r\n";
    check_request(bytes, "GET", "/where?q=now", &[("Host", "www.example.org")]);
    let target = "http://www.example.org/pub/WWW/TheProject.html";
    let bytes = format!("GET {target} HTTP/1.1\r\nHost: www.example.org\r\n\r\n");
    check_request(&bytes, "GET", target, &[("Host", "www.example.org")]);
    let bytes = "CONNECT www.example.com:80 HTTP/1.1\r\nHost: www.example.com\r\n\r\n";
    check_request(bytes, "CONNECT", "www.example.com:80", &[("Host", "www.example.com")]);
    let bytes = "OPTIONS * HTTP/1.1\r\nHost: www.example.org:8001\r\n\r\n";
    check_request(bytes, "OPTIONS", "*", &[("Host", "www.example.org:8001")]);
    let bytes = "GET /hello.txt HTTP/1.1\r\nUser-Agent: curl/7.64.1\r\nHost: www.example.com\r\n\
                 Accept-Language: en, mi\r\n\r\n";
    let fields =
        [("User-Agent", "curl/7.64.1"), ("Host", "www.example.com"), ("Accept-Language", "en, mi")];
    check_request(bytes, "GET", "/hello.txt", &fields);
}

#[test]
fn responses() {
    let bytes = b"HTTP/1.1 200 OK\r\nServer: Apache\r\nContent-Length: 51\r\n\r\n";
    let (decoded, length) = whole(Response::decode(bytes, bytes.len()));
    assert_eq!((decoded.status(), decoded.reason(), length), (200, &b"OK"[..], bytes.len()));
    assert_eq!(decoded.fields().get("SERVER"), Some(&b"Apache"[..]));
    assert_eq!(encoded(decoded.encoded_len(), |out| decoded.encode(out)), bytes);

    let bytes = b"HTTP/1.0 404 \xe9\t a\r\n\r\n";
    let (decoded, _) = whole(Response::decode(bytes, bytes.len()));
    assert_eq!((decoded.version(), decoded.reason()), (Version::Http10, &b"\xe9\t a"[..]));
    let (decoded, _) = whole(Response::decode(b"HTTP/1.2 999 \r\n\r\n", 100));
    assert_eq!((decoded.version(), decoded.status()), (Version::Http11, 999));
}

#[test]
fn beginnings_ask_for_more_and_changes_change_only_what_follows() {
    check_vector(b"GET / HTTP/1.1\r\nHost: a\r\nA:b\r\n\r\n", request);
    check_vector(b"\r\nPOST / HTTP/1.1\r\nHost:\r\nContent-Length: 5\r\n\r\n", request);
    check_vector(b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n", response);
    check_vector(b"HTTP/1.0 404 \r\n\r\n", response);
}

/// Fields are read lazily, by any letters of their name, and as lists.
#[test]
fn fields_are_found() {
    let bytes = b"HTTP/1.1 200 OK\r\nA:  1 2\t\r\nb:\r\nList: x,, y\r\na:3\r\nLIST:,z ,\r\n\r\n";
    let fields = whole(Response::decode(bytes, 1000)).0.fields();
    let names: Vec<&str> = fields.iter().map(|field| field.name()).collect();
    assert_eq!(names, ["A", "b", "List", "a", "LIST"]);
    assert!(fields.all("a").eq([&b"1 2"[..], b"3"]));
    assert_eq!((fields.get("A"), fields.get("B")), (Some(&b"1 2"[..]), Some(&b""[..])));
    assert_eq!(fields.get("c"), None);
    assert!(fields.elements("list").eq([&b"x"[..], b"y", b"z"]));
    assert!(fields.lists("list", "Y") && !fields.lists("list", ""));
    let rebuilt: Vec<Field<'_>> = fields.iter().collect();
    assert_eq!(Fields::new(&rebuilt), fields);
    assert_ne!(Fields::new(&rebuilt[1..]), fields);
    assert_eq!(Fields::default().iter().count(), 0);
}

/// Requests that are refused: the lines, and the error.
#[test]
fn requests_that_are_refused() {
    let rows: &[(&[u8], Error)] = &[
        (b"GET / HTTP/1.1\nHost: a\r\n\r\n", Error::BareLf),
        (b"GET / HTTP/1.1\r\nHost: a\n\r\n", Error::BareLf),
        (b"GET / HTTP/1.1\r\nHost: a\r\n\n", Error::BareLf),
        (b"GET / HTTP/1.1\rHost: a\r\n\r\n", Error::BareCr),
        (b"GET / HTTP/1.1\r\nHost: a\rb\r\n\r\n", Error::BareCr),
        (b"GET / HTTP/1.1\r\r\nHost: a\r\n\r\n", Error::BareCr),
        (b"GET /\r\nHost: a\r\n\r\n", Error::RequestLine),
        (b"GET  / HTTP/1.1\r\nHost: a\r\n\r\n", Error::RequestLine),
        (b"GET / HTTP/1.1 \r\nHost: a\r\n\r\n", Error::RequestLine),
        (b"\r\n\r\nGET / HTTP/1.1\r\nHost: a\r\n\r\n", Error::RequestLine),
        (b" / HTTP/1.1\r\nHost: a\r\n\r\n", Error::Method),
        (b"G\tT / HTTP/1.1\r\nHost: a\r\n\r\n", Error::Method),
        (b"GET \x00 HTTP/1.1\r\nHost: a\r\n\r\n", Error::Target),
        (b"GET /\xff HTTP/1.1\r\nHost: a\r\n\r\n", Error::Target),
        (b"GET /# HTTP/1.1\r\nHost: a\r\n\r\n", Error::Target),
        (b"GET * HTTP/1.1\r\nHost: a\r\n\r\n", Error::Target),
        (b"GET path HTTP/1.1\r\nHost: a\r\n\r\n", Error::Target),
        (b"GET 1http:a HTTP/1.1\r\nHost: a\r\n\r\n", Error::Target),
        (b"CONNECT / HTTP/1.1\r\nHost: a\r\n\r\n", Error::Target),
        (b"CONNECT a: HTTP/1.1\r\nHost: a\r\n\r\n", Error::Target),
        (b"CONNECT a:b HTTP/1.1\r\nHost: a\r\n\r\n", Error::Target),
        (b"GET / HTTP/2.0\r\nHost: a\r\n\r\n", Error::Version),
        (b"GET / http/1.1\r\nHost: a\r\n\r\n", Error::Version),
        (b"GET / HTTP/1.10\r\nHost: a\r\n\r\n", Error::Version),
        (b"GET / HTTP/1.1\r\n Host: a\r\n\r\n", Error::Folded),
        (b"GET / HTTP/1.1\r\nHost: a\r\n\tb\r\n\r\n", Error::Folded),
        (b"GET / HTTP/1.1\r\nHost: a\r\nb\r\n\r\n", Error::NoColon),
        (b"GET / HTTP/1.1\r\nHost : a\r\n\r\n", Error::SpaceBeforeColon),
        (b"GET / HTTP/1.1\r\nHost\t: a\r\n\r\n", Error::SpaceBeforeColon),
        (b"GET / HTTP/1.1\r\n: a\r\n\r\n", Error::FieldName),
        (b"GET / HTTP/1.1\r\nHo st: a\r\n\r\n", Error::FieldName),
        (b"GET / HTTP/1.1\r\nH\xc3\xb6st: a\r\n\r\n", Error::FieldName),
        (b"GET / HTTP/1.1\r\nHost: a\x00\r\n\r\n", Error::FieldValue { byte: 0 }),
        (b"GET / HTTP/1.1\r\nHost: a\x7f\r\n\r\n", Error::FieldValue { byte: 0x7f }),
        (b"GET / HTTP/1.1\r\n\r\n", Error::NoHost),
        (b"GET / HTTP/1.1\r\nHost: a\r\nhost: a\r\n\r\n", Error::SeveralHosts),
        (b"GET / HTTP/1.0\r\nHost: a\r\nhost: a\r\n\r\n", Error::SeveralHosts),
        (b"GET / HTTP/1.1\r\nHost: a b\r\n\r\n", Error::Host),
        (b"GET / HTTP/1.1\r\nHost: a/b\r\n\r\n", Error::Host),
        (b"GET / HTTP/1.1\r\nHost: u@a\r\n\r\n", Error::Host),
    ];
    for (bytes, error) in rows {
        let shown = bytes.escape_ascii();
        assert_eq!(Request::decode(bytes, HEAD_LIMIT), Err(*error), "{shown}");
        for cut in 0..bytes.len() {
            match request(&bytes[..cut]) {
                Outcome::Short(_) => {}
                other => assert_eq!(other, request(bytes), "{cut} of {shown}"),
            }
        }
    }
}

#[test]
fn responses_that_are_refused() {
    let rows: &[(&[u8], Error)] = &[
        (b"HTTP/1.1 200\r\n\r\n", Error::StatusLine),
        (b"HTTP/1.1\r\n\r\n", Error::StatusLine),
        (b"HTTP/1.1  200 OK\r\n\r\n", Error::Status),
        (b"HTTP/1.1 20 OK\r\n\r\n", Error::Status),
        (b"HTTP/1.1 2000 OK\r\n\r\n", Error::Status),
        (b"HTTP/1.1 099 OK\r\n\r\n", Error::Status),
        (b"HTTP/1.1 +20 OK\r\n\r\n", Error::Status),
        (b"HTTP/3 200 OK\r\n\r\n", Error::Version),
        (b"\r\nHTTP/1.1 200 OK\r\n\r\n", Error::StatusLine),
        (b"HTTP/1.1 200 O\x01\r\n\r\n", Error::Reason),
        (b"HTTP/1.1 200 OK\r\nA: b\r\n c\r\n\r\n", Error::Folded),
    ];
    for (bytes, error) in rows {
        assert_eq!(Response::decode(bytes, HEAD_LIMIT), Err(*error), "{}", bytes.escape_ascii());
    }
}

/// What the standard lets pass, or asks to.
#[test]
fn requests_that_are_taken() {
    let rows: &[&[u8]] = &[
        b"\r\nGET / HTTP/1.1\r\nHost: a\r\n\r\n",
        b"GET / HTTP/1.0\r\n\r\n",
        b"GET / HTTP/1.0\r\nHost: a\r\n\r\n",
        b"GET / HTTP/1.1\r\nHost:\r\n\r\n",
        b"GET / HTTP/1.1\r\nHost: [::1]:80\r\n\r\n",
        b"GET / HTTP/1.7\r\nHost: a\r\n\r\n",
        b"get a+b:c HTTP/1.1\r\nHost: a\r\nX: \xff\t\"\r\n\r\n",
        b"M-SEARCH / HTTP/1.1\r\nHost: a\r\n!#$%&'*+-.^_`|~09azAZ: x\r\n\r\n",
    ];
    for bytes in rows {
        assert_eq!(whole(Request::decode(bytes, bytes.len())).1, bytes.len());
    }
}

/// A head of the longest length passes; one byte more is refused, before its end has come.
#[test]
fn heads_have_a_limit() {
    let bytes = b"GET / HTTP/1.1\r\nHost: a\r\n\r\n";
    let limit = bytes.len();
    assert_eq!(whole(Request::decode(bytes, limit)).1, limit);
    let longer = b"GET / HTTP/1.1\r\nHost: ab\r\n\r\n";
    assert_eq!(Request::decode(longer, limit), Err(Error::TooLong { limit }));
    assert_eq!(Request::decode(&longer[..limit], limit), Err(Error::TooLong { limit }));
    assert!(matches!(request(&longer[..limit]), Outcome::Short(_)));
    let longer = b"\r\nGET / HTTP/1.1\r\nHost: a\r\n\r\n";
    assert_eq!(Request::decode(longer, limit), Err(Error::TooLong { limit }));
    assert_eq!(Request::decode(b"\r\n", 1), Err(Error::TooLong { limit: 1 }));
}

#[test]
fn what_a_server_would_refuse_is_not_made() {
    let host = [Field::new("Host", "a").unwrap()];
    let both = [
        host[0],
        Field::new("Content-Length", "1").unwrap(),
        Field::new("Transfer-Encoding", "chunked").unwrap(),
    ];
    assert_eq!(Field::new("A", "b\r\nC: d"), Err(Error::FieldValue { byte: b'\r' }));
    assert_eq!(Field::new("A: b", "c"), Err(Error::FieldName));
    assert_eq!(Field::new("A", " b\t").unwrap().value(), b"b");
    assert_eq!(Request::new("GET", "/", Fields::default()), Err(Error::NoHost));
    assert_eq!(Request::new("", "/", Fields::new(&host)), Err(Error::Method));
    assert_eq!(Request::new("GET", "/ HTTP/1.1\r\n", Fields::new(&host)), Err(Error::Target));
    assert_eq!(Request::new("GET", "", Fields::new(&host)), Err(Error::Target));
    assert_eq!(Request::new("GET", "/", Fields::new(&both)), Err(Error::LengthAndCoding));
    assert_eq!(Response::new(200, "", Fields::new(&both)), Err(Error::LengthAndCoding));
    assert_eq!(Response::new(99, "", Fields::default()), Err(Error::Status));
    assert_eq!(Response::new(200, "O\nK", Fields::default()), Err(Error::Reason));
}
