//! Bodies in chunks (RFC 9112 section 7.1).

use crate::common::http::{Trailers, chunk, unchunk};
use tiebreak_proto::Decoded;
use tiebreak_proto::http::{Chunk, Chunked, Error, Field, Fields, Piece};

const LIMIT: u64 = 100;
const EXTRA: usize = 20;

#[test]
fn bodies() {
    let trailer = |name: &str, value: &[u8]| vec![(name.to_owned(), value.to_vec())];
    let rows: &[(&[u8], &[u8], Trailers)] = &[
        (b"0\r\n\r\n", b"", vec![]),
        (
            b"4\r\nWiki\r\n6\r\npedia \r\nE\r\nin \r\n\r\nchunks.\r\n0\r\n\r\n",
            b"Wikipedia in \r\n\r\nchunks.",
            vec![],
        ),
        (b"0000000000000004\r\nWiki\r\n000\r\n\r\n", b"Wiki", vec![]),
        (b"a\r\n0123456789\r\nA\r\n0123456789\r\n0\r\n\r\n", b"01234567890123456789", vec![]),
        (b"1;a\r\nx\r\n1 ; b=\"c\"\r\ny\r\n0;d\r\n\r\n", b"xy", vec![]),
        (b"1\r\nx\r\n0\r\nExpires: never\r\n\r\n", b"x", trailer("Expires", b"never")),
    ];
    for (bytes, body, trailers) in rows {
        let expected = Ok(((body.to_vec(), trailers.clone()), true, bytes.len()));
        let with_more = [bytes, &b"GET"[..]].concat();
        assert_eq!(unchunk(&[&with_more], LIMIT, EXTRA), expected);
        let single: Vec<&[u8]> = bytes.chunks(1).collect();
        assert_eq!(unchunk(&single, LIMIT, EXTRA), expected);
        for cut in 0..bytes.len() {
            assert_eq!(unchunk(&[&bytes[..cut], &bytes[cut..]], LIMIT, EXTRA), expected);
            let (_, is_ended, taken) = unchunk(&[&bytes[..cut]], LIMIT, EXTRA).unwrap();
            assert!(!is_ended && taken <= cut, "{cut} of {}", bytes.escape_ascii());
        }
    }
}

#[test]
fn what_is_malformed_has_its_own_error() {
    let long = |length| Error::BodyTooLong { length, limit: LIMIT };
    let extensions = Error::ExtensionsTooLong { limit: EXTRA };
    let rows: &[(&[u8], Error)] = &[
        (b"\r\n", Error::ChunkSize),
        (b"x\r\n", Error::ChunkSize),
        (b" 1\r\nx\r\n", Error::ChunkSize),
        (b"-1\r\nx\r\n", Error::ChunkSize),
        (b";a\r\n", Error::ChunkSize),
        (b"00000000000000001\r\nx", Error::ChunkSize),
        (b"0000000000000000000000000000000000000000000000001\r\nx", Error::ChunkSize),
        (b"1\nx\r\n", Error::BareLf),
        (b"1\rx\r\n", Error::BareCr),
        (b"1;a\nx\r\n", Error::BareLf),
        (b"1 \r\nx\r\n", Error::ChunkExtension),
        (b"1 a\r\nx\r\n", Error::ChunkExtension),
        (b"0x1\r\nx\r\n", Error::ChunkExtension),
        (b"1,1\r\nx\r\n", Error::ChunkExtension),
        (b"1;\x00\r\nx\r\n", Error::ChunkExtension),
        (b"1\r\nxy\r\n", Error::ChunkEnd),
        (b"1\r\nx\n0\r\n", Error::ChunkEnd),
        (b"1\r\nx\r0\r\n", Error::ChunkEnd),
        (b"65\r\n", long(101)),
        (b"1\r\nx\r\n64\r\n", long(101)),
        (b"10000000\r\n", long(256 << 20)),
        (b"ffffffffffffffff\r\n", long(u64::MAX)),
        (b"1\r\nx\r\nffffffffffffffff\r\n", long(u64::MAX)),
        (b"1;12345678901234567890\r\nx\r\n", extensions),
        (b"1;1234567890\r\nx\r\n1;1234567890\r\ny\r\n", extensions),
        (b"1;123456789012345678901234567890123456789", extensions),
        (b"0\r\nA : b\r\n\r\n", Error::SpaceBeforeColon),
        (b"0\r\nA: b\r\n c\r\n\r\n", Error::Folded),
        (b"0\r\nA\r\n\r\n", Error::NoColon),
        (b"0\r\nA: b\n\r\n", Error::BareLf),
        (b"0\r\nA: 1234567890123456\r\n\r\n", Error::TooLong { limit: EXTRA }),
    ];
    for (bytes, error) in rows {
        let single: Vec<&[u8]> = bytes.chunks(1).collect();
        assert_eq!(unchunk(&[bytes], LIMIT, EXTRA), Err(*error), "{}", bytes.escape_ascii());
        assert_eq!(unchunk(&single, LIMIT, EXTRA), Err(*error), "{}", bytes.escape_ascii());
    }
}

/// The longest that passes, of everything that has a limit.
#[test]
fn limits_are_inclusive() {
    let body = [b'x'; 100];
    let bytes = chunk(&body, 7, Fields::default());
    assert_eq!(unchunk(&[&bytes], LIMIT, 0).unwrap().0.0, body);
    let bytes = b"1;234567890\r\nx\r\n0;234567890\r\n\r\n";
    assert!(unchunk(&[bytes], LIMIT, EXTRA).unwrap().1);
    let bytes = b"0\r\nA: 123456789012345\r\n\r\n";
    assert!(unchunk(&[bytes], LIMIT, EXTRA).unwrap().1);
}

/// Data is given on as it comes, and what lies between waits until data or the end is there.
#[test]
fn pieces_are_as_long_as_what_has_come() {
    let mut chunked = Chunked::new(LIMIT, EXTRA);
    let short = |needs| Ok(Decoded::Short { needs });
    let data = |data, length| Ok(Decoded::Whole { value: Piece::Data(data), length });
    assert_eq!(chunked.decode(b""), short(1));
    assert_eq!(chunked.decode(b"4\r\n"), short(4));
    assert_eq!(chunked.decode(b"4\r\nWi"), data(b"Wi", 5));
    assert_eq!(chunked.decode(b""), short(1));
    assert_eq!(chunked.decode(b"ki\r\n1"), data(b"ki", 2));
    assert_eq!(chunked.decode(b"\r\n1\r\n"), short(6));
    assert_eq!(chunked.decode(b"\r\n1\r\nx\r\n"), data(b"x", 6));
    assert_eq!(chunked.decode(b"\r\n0\r\n\r"), short(7));
    let end = Piece::End(Fields::default());
    assert_eq!(chunked.decode(b"\r\n0\r\n\r\nGET"), Ok(Decoded::Whole { value: end, length: 7 }));
    assert!(chunked.is_ended());
    assert_eq!(chunked.decode(b"GET"), Err(Error::BodyEnded));
}

#[test]
fn chunks_are_written() {
    let trailers = [Field::new("A", "b").unwrap()];
    let bytes = chunk(&[b'x'; 18], 17, Fields::new(&trailers));
    assert_eq!(bytes, b"11\r\nxxxxxxxxxxxxxxxxx\r\n1\r\nx\r\n0\r\nA: b\r\n\r\n");
    assert_eq!((Chunk(b"").encoded_len(), Chunk(b"").encode(&mut [])), (0, Ok(0)));
}
