//! Messages that are drawn at random come back, from another implementation, too, and are read
//! alike however they are cut.

use crate::common::http::{check, chunk, unchunk};
use crate::common::{cut, encoded, whole};
use proptest::prelude::*;
use tiebreak_proto::http::{Body, Field, Fields, Request, Response};

/// Fields whose names have no meaning here.
fn fields() -> impl Strategy<Value = Vec<(String, Vec<u8>)>> {
    let value =
        prop::collection::vec(prop_oneof![0x20_u8..0x7f, 0x80_u8..=0xff, Just(b'\t')], 0..20);
    prop::collection::vec(("X[!#$%&'*+.^_`|~0-9a-zA-Z-]{0,9}", value), 0..5)
}

fn views(fields: &[(String, Vec<u8>)]) -> Vec<Field<'_>> {
    fields.iter().map(|(name, value)| Field::new(name, value).unwrap()).collect()
}

/// Returns fields as another implementation, the crate httparse, has read them.
fn listed<'a>(headers: &[httparse::Header<'a>]) -> Vec<(&'a str, &'a [u8])> {
    headers.iter().map(|header| (header.name, header.value)).collect()
}

fn listed_of<'a>(fields: &[Field<'a>]) -> Vec<(&'a str, &'a [u8])> {
    fields.iter().map(|field| (field.name(), field.value())).collect()
}

proptest! {
    #[test]
    fn heads_come_back(
        method in "[A-Z]{1,9}",
        target in "/[!-\"$-~]{0,20}",
        status in 100_u16..1000,
        reason in "[\t -~]{0,20}",
        drawn in fields(),
        length: u64,
    ) {
        prop_assume!(method != "CONNECT");
        let mut fields = views(&drawn);
        let length_text = length.to_string();
        fields.push(Field::new("Host", "a:1").unwrap());
        fields.push(Field::new("Content-Length", &length_text).unwrap());

        let request = Request::new(&method, &target, Fields::new(&fields)).unwrap();
        let bytes = encoded(request.encoded_len(), |out| request.encode(out));
        let (decoded, taken) = whole(Request::decode(&bytes, bytes.len()));
        prop_assert_eq!((decoded, taken), (request, bytes.len()));
        prop_assert_eq!(decoded.body(u64::MAX), Ok(Body::Length(length)));
        let mut room = [httparse::EMPTY_HEADER; 8];
        let mut other = httparse::Request::new(&mut room);
        prop_assert_eq!(other.parse(&bytes), Ok(httparse::Status::Complete(bytes.len())));
        prop_assert_eq!((other.method, other.path), (Some(&method[..]), Some(&target[..])));
        prop_assert_eq!((other.version, listed(other.headers)), (Some(1), listed_of(&fields)));

        let response = Response::new(status, &reason, Fields::new(&fields)).unwrap();
        let bytes = encoded(response.encoded_len(), |out| response.encode(out));
        let (decoded, taken) = whole(Response::decode(&bytes, bytes.len()));
        prop_assert_eq!((decoded, taken), (response, bytes.len()));
        let mut room = [httparse::EMPTY_HEADER; 8];
        let mut other = httparse::Response::new(&mut room);
        prop_assert_eq!(other.parse(&bytes), Ok(httparse::Status::Complete(bytes.len())));
        prop_assert_eq!((other.code, other.reason), (Some(status), Some(&reason[..])));
        prop_assert_eq!((other.version, listed(other.headers)), (Some(1), listed_of(&fields)));
    }

    #[test]
    fn bodies_in_chunks_come_back(
        body in prop::collection::vec(any::<u8>(), 0..200),
        size in 1_usize..100,
        trailers in fields(),
        a: usize,
        b: usize,
    ) {
        let views = views(&trailers);
        let bytes = chunk(&body, size, Fields::new(&views));
        let got = unchunk(&cut(&bytes, a, b), 200, 1000);
        let trimmed = views.iter().map(|field| (field.name().to_owned(), field.value().to_vec()));
        prop_assert_eq!(got, Ok(((body, trimmed.collect()), true, bytes.len())));
    }

    /// Bytes that are nearly right: one or two of some messages are changed.
    #[test]
    fn changed_messages_are_read_alike(
        at: usize,
        byte in prop::sample::select(&b"\r\n \t:,;0\x00\x7f\xffAa"[..]),
        more: (usize, u8),
        a: usize,
        b: usize,
    ) {
        let vectors: [&[u8]; 4] = [
            b"GET / HTTP/1.1\r\nHost: a\r\nContent-Length: 5, 5\r\nConnection: close\r\n\r\n",
            b"HTTP/1.1 200 OK\r\nTransfer-Encoding: gzip, chunked\r\nA:\r\n\r\n",
            b"4;a=b\r\nWiki\r\n5\r\npedia\r\n0\r\nA: b\r\nC:d\r\n\r\n",
            b"10\r\n0123456789abcdef\r\n00\r\n\r\n",
        ];
        for vector in vectors {
            let mut bytes = vector.to_vec();
            let length = bytes.len();
            bytes[at % length] = byte;
            if more.1 < 128 {
                bytes[more.0 % length] = more.1;
            }
            check(&bytes, a, b);
        }
    }
}
