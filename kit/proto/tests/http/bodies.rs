//! Where bodies end (RFC 9112 section 6.3), and whether connections go on.

use crate::common::{check_sentence, whole};
use tiebreak_proto::Decoded;
use tiebreak_proto::http::{Body, Error, Request, Response};

const LIMIT: u64 = 1000;

fn request(version: &str, fields: &str) -> Result<(Body, bool), Error> {
    let bytes = format!("POST / HTTP/{version}\r\nHost: a\r\n{fields}\r\n");
    let decoded = Request::decode(bytes.as_bytes(), 1000)?;
    let Decoded::Whole { value, .. } = decoded else { panic!("{bytes} is short") };
    Ok((value.body(LIMIT)?, value.keeps_alive()))
}

fn response(method: &str, status: u16, fields: &str) -> Result<Body, Error> {
    let bytes = format!("HTTP/1.1 {status} \r\n{fields}\r\n");
    let decoded = Response::decode(bytes.as_bytes(), 1000)?;
    let Decoded::Whole { value, .. } = decoded else { panic!("{bytes} is short") };
    value.body(method, LIMIT)
}

const CHUNKED: &str = "Transfer-Encoding: chunked\r\n";
const FIVE: &str = "Content-Length: 5\r\n";

#[test]
fn bodies_of_requests() {
    let rows = [
        ("", Body::None),
        (FIVE, Body::Length(5)),
        ("content-length:0\r\n", Body::Length(0)),
        ("Content-Length: 1000\r\n", Body::Length(1000)),
        ("Content-Length: 5, 5\r\n", Body::Length(5)),
        ("Content-Length: 5\r\nContent-Length: 005\r\n", Body::Length(5)),
        (CHUNKED, Body::Chunked),
        ("transfer-encoding: CHUNKED\r\n", Body::Chunked),
        ("Transfer-Encoding: gzip, chunked\r\n", Body::Chunked),
        ("Transfer-Encoding: gzip\r\nTransfer-Encoding: , chunked,\r\n", Body::Chunked),
    ];
    for (fields, body) in rows {
        assert_eq!(request("1.1", fields), Ok((body, true)), "{fields}");
    }
}

/// Ways to say a length of which two recipients could make two different messages.
#[test]
fn lengths_that_are_refused() {
    let differ = |first, second| Error::ContentLengths { first, second };
    let rows = [
        ("Content-Length: 5\r\nTransfer-Encoding: chunked\r\n", Error::LengthAndCoding),
        ("Transfer-Encoding: chunked\r\nContent-Length: 5\r\n", Error::LengthAndCoding),
        ("Transfer-Encoding: identity\r\nContent-Length: 5\r\n", Error::LengthAndCoding),
        ("Content-Length: 5\r\nContent-Length: 6\r\n", differ(5, 6)),
        ("Content-Length: 5, 5, 0\r\n", differ(5, 0)),
        ("Content-Length:\r\n", Error::ContentLength),
        ("Content-Length: 5,\r\n", Error::ContentLength),
        ("Content-Length: +5\r\n", Error::ContentLength),
        ("Content-Length: -5\r\n", Error::ContentLength),
        ("Content-Length: 0x5\r\n", Error::ContentLength),
        ("Content-Length: 5 5\r\n", Error::ContentLength),
        ("Content-Length: 5.0\r\n", Error::ContentLength),
        ("Content-Length: 18446744073709551616\r\n", Error::ContentLength),
        ("Transfer-Encoding:\r\n", Error::Coding),
        ("Transfer-Encoding: ,\r\n", Error::Coding),
        ("Transfer-Encoding: a;b=\"c, chunked\r\n", Error::Coding),
        ("Transfer-Encoding: chunked, gzip\r\n", Error::ChunkedNotLast),
        ("Transfer-Encoding: chunked, chunked\r\n", Error::ChunkedNotLast),
    ];
    for (fields, error) in rows {
        assert_eq!(request("1.1", fields), Err(error), "{fields}");
        assert_eq!(response("GET", 200, fields), Err(error), "{fields}");
        assert_eq!(response("HEAD", 200, fields), Err(error), "{fields}");
        check_sentence(&error);
    }
    // Without `chunked` as the last coding a response ends with the connection, a request nowhere.
    for coding in ["identity", "xchunked", "chunked;a=b"] {
        let fields = format!("Transfer-Encoding: {coding}\r\n");
        assert_eq!(request("1.1", &fields), Err(Error::ChunkedNotLast), "{fields}");
        assert_eq!(response("GET", 200, &fields), Ok(Body::UntilClose), "{fields}");
    }
    assert_eq!(request("1.0", CHUNKED), Err(Error::CodingInHttp10));
    let long = Error::BodyTooLong { length: 256 << 20, limit: LIMIT };
    assert_eq!(request("1.1", "Content-Length: 268435456\r\n"), Err(long));
    assert_eq!(response("GET", 200, "Content-Length: 268435456\r\n"), Err(long));
    assert_eq!(response("HEAD", 200, "Content-Length: 268435456\r\n"), Ok(Body::None));
}

#[test]
fn bodies_of_responses() {
    let rows = [
        ("GET", 200, "", Body::UntilClose),
        ("GET", 200, FIVE, Body::Length(5)),
        ("GET", 200, CHUNKED, Body::Chunked),
        ("GET", 200, "Transfer-Encoding: gzip\r\n", Body::UntilClose),
        ("GET", 200, "Transfer-Encoding: gzip, chunked\r\n", Body::Chunked),
        ("GET", 404, FIVE, Body::Length(5)),
        ("GET", 199, FIVE, Body::None),
        ("GET", 101, "", Body::None),
        ("GET", 204, FIVE, Body::None),
        ("GET", 205, FIVE, Body::Length(5)),
        ("GET", 304, FIVE, Body::None),
        ("GET", 304, CHUNKED, Body::None),
        ("HEAD", 200, FIVE, Body::None),
        ("HEAD", 200, CHUNKED, Body::None),
        ("head", 200, FIVE, Body::Length(5)),
        ("CONNECT", 200, FIVE, Body::None),
        ("CONNECT", 299, CHUNKED, Body::None),
        ("CONNECT", 300, FIVE, Body::Length(5)),
        ("CONNECT", 407, "", Body::UntilClose),
    ];
    for (method, status, fields, body) in rows {
        assert_eq!(response(method, status, fields), Ok(body), "{method} {status} {fields}");
    }
}

#[test]
fn connections_go_on_or_end() {
    let rows = [
        ("1.1", "", true),
        ("1.1", "Connection: close\r\n", false),
        ("1.1", "Connection: Close\r\n", false),
        ("1.1", "Connection: foo, close\r\n", false),
        ("1.1", "Connection: foo\r\nConnection: close\r\n", false),
        ("1.1", "Connection: keep-alive, close\r\n", false),
        ("1.1", "Connection: closed\r\n", true),
        ("1.1", "Connection: Upgrade\r\n", true),
        ("1.0", "", false),
        ("1.0", "Connection: keep-alive\r\n", true),
        ("1.0", "Connection: Keep-Alive, foo\r\n", true),
        ("1.0", "Connection: keep-alive, close\r\n", false),
    ];
    for (version, fields, goes_on) in rows {
        assert_eq!(request(version, fields), Ok((Body::None, goes_on)), "{version} {fields}");
        let bytes = format!("HTTP/{version} 200 OK\r\n{fields}\r\n");
        let response = whole(Response::decode(bytes.as_bytes(), 1000)).0;
        assert_eq!(response.keeps_alive(), goes_on, "{version} {fields}");
    }
}
