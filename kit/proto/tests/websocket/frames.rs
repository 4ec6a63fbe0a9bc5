//! Single frames: the examples of RFC 6455 section 5.7, the forms of lengths, what is malformed.

use crate::common::websocket::{LIMIT, frame, header};
use crate::common::{Outcome, check_vector, encoded, whole};
use proptest::prelude::*;
use tiebreak_proto::Decoded;
use tiebreak_proto::websocket::{Error, Frame, FrameHeader, Opcode, Role, mask};

const KEY: [u8; 4] = [0x37, 0xfa, 0x21, 0x3d];

/// Decodes a frame and encodes it again: both ways give what the standard shows.
fn check(bytes: &[u8], sender: Role, is_final: bool, opcode: Opcode, payload: &[u8]) {
    let mut copy = bytes.to_vec();
    let (decoded, length) = whole(Frame::decode(&mut copy, sender, 1 << 20));
    let key = (sender == Role::Client).then_some(KEY);
    assert_eq!(decoded, Frame::new(opcode, is_final, key, payload).unwrap());
    assert_eq!(length, bytes.len());
    assert_eq!(encoded(decoded.encoded_len(), |out| decoded.encode(out)), bytes);
}

#[test]
fn examples_of_the_standard() {
    let masked = b"\x81\x85\x37\xfa\x21\x3d\x7f\x9f\x4d\x51\x58";
    check(b"\x81\x05Hello", Role::Server, true, Opcode::Text, b"Hello");
    check(masked, Role::Client, true, Opcode::Text, b"Hello");
    check(b"\x01\x03Hel", Role::Server, false, Opcode::Text, b"Hel");
    check(b"\x80\x02lo", Role::Server, true, Opcode::Continuation, b"lo");
    check(b"\x89\x05Hello", Role::Server, true, Opcode::Ping, b"Hello");
    let pong = b"\x8a\x85\x37\xfa\x21\x3d\x7f\x9f\x4d\x51\x58";
    check(pong, Role::Client, true, Opcode::Pong, b"Hello");
    for (start, length) in [(&b"\x82\x7e\x01\x00"[..], 256), (b"\x82\x7f\0\0\0\0\0\x01\0\0", 65536)]
    {
        let bytes = [start, &vec![7; length]].concat();
        check(&bytes, Role::Server, true, Opcode::Binary, &vec![7; length]);
    }
}

#[test]
fn beginnings_ask_for_more_and_changes_change_only_what_follows() {
    let vectors: [(&[u8], Role); 6] = [
        (b"\x81\x05Hello", Role::Server),
        (b"\x81\x85\x37\xfa\x21\x3d\x7f\x9f\x4d\x51\x58", Role::Client),
        (b"\x01\x00", Role::Server),
        (b"\x88\x80\0\0\0\0", Role::Client),
        (&[&b"\x82\x7e\x00\x7e"[..], &[7; 126]].concat(), Role::Server),
        (&[&b"\x82\xfe\x00\x7e\x01\x02\x03\x04"[..], &[7; 126]].concat(), Role::Client),
    ];
    for (bytes, sender) in vectors {
        check_vector(bytes, |bytes| frame(bytes, sender));
        let Outcome::Whole(_, length) = header(bytes, sender) else {
            panic!("no header in {bytes:x?}");
        };
        check_vector(&bytes[..length], |bytes| header(bytes, sender));
    }
}

/// How many bytes are needed is exact once the second byte is there.
#[test]
fn needs_are_exact() {
    let bytes = [&b"\x82\xfe\x01\x00\x01\x02\x03\x04"[..], &[7; 256]].concat();
    for there in 0..bytes.len() {
        let needs = match there {
            0..2 => 2,
            2..8 => 8,
            _ => 8 + 256,
        };
        assert_eq!(frame(&bytes[..there], Role::Client), Outcome::Short(needs));
    }
}

/// The lengths at which the form changes, and the longest of all.
#[test]
fn lengths_have_their_shortest_form() {
    let check = |payload_length, header_length, mask: Option<[u8; 4]>, sender| {
        let header = FrameHeader::new(Opcode::Binary, true, mask, payload_length).unwrap();
        let bytes = encoded(header.encoded_len(), |out| header.encode(out));
        assert_eq!(bytes.len(), header_length);
        assert!(bytes.len() <= FrameHeader::MAX_BYTES);
        let decoded = whole(FrameHeader::decode(&bytes, sender, u64::MAX));
        assert_eq!(decoded, (header, header_length));
    };
    for (length, bytes) in
        [(0, 2), (125, 2), (126, 4), (65535, 4), (65536, 10), (u64::MAX >> 1, 10)]
    {
        check(length, bytes, None, Role::Server);
        check(length, bytes + 4, Some(KEY), Role::Client);
    }
    let too_long = FrameHeader::new(Opcode::Binary, true, None, 1 << 63);
    assert_eq!(too_long, Err(Error::LengthBit));
}

/// What is malformed is refused at the byte that shows it, by its own error.
#[test]
fn what_is_malformed_has_its_own_error() {
    let long = |length: u64| Error::FrameTooLong { length, limit: LIMIT };
    let rows: &[(&[u8], Role, Error)] = &[
        (b"\xc1", Role::Server, Error::ReservedBits { bits: 0b100 }),
        (b"\xa1", Role::Server, Error::ReservedBits { bits: 0b010 }),
        (b"\x91", Role::Server, Error::ReservedBits { bits: 0b001 }),
        (b"\x83", Role::Server, Error::Opcode { opcode: 3 }),
        (b"\x87", Role::Server, Error::Opcode { opcode: 7 }),
        (b"\x8b", Role::Server, Error::Opcode { opcode: 11 }),
        (b"\x8f", Role::Server, Error::Opcode { opcode: 15 }),
        (b"\x08", Role::Server, Error::FragmentedControl),
        (b"\x09", Role::Server, Error::FragmentedControl),
        (b"\x0a", Role::Server, Error::FragmentedControl),
        (b"\x89\x7e", Role::Server, Error::ControlTooLong),
        (b"\x88\xff", Role::Client, Error::ControlTooLong),
        (b"\x81\x05", Role::Client, Error::NotMasked),
        (b"\x81\x85", Role::Server, Error::Masked),
        (b"\x82\x7e\x00\x7d", Role::Server, Error::LengthForm { length: 125 }),
        (b"\x82\xfe\x00\x00", Role::Client, Error::LengthForm { length: 0 }),
        (b"\x82\x7f\0\0\0\0\0\0\xff\xff", Role::Server, Error::LengthForm { length: 65535 }),
        (b"\x82\x7f\x80\0\0\0\0\0\0\0", Role::Server, Error::LengthBit),
        (b"\x82\x7e\x03\xe9", Role::Server, long(1001)),
        (b"\x82\xff\0\0\0\0\x10\0\0\0", Role::Client, long(256 << 20)),
    ];
    for (bytes, sender, error) in rows {
        assert_eq!(FrameHeader::decode(bytes, *sender, LIMIT), Err(*error), "{bytes:x?}");
        let mut copy = [bytes, &[0; 20][..]].concat();
        assert_eq!(Frame::decode(&mut copy, *sender, LIMIT), Err(*error), "{bytes:x?}");
        for cut in 0..bytes.len() {
            let first = header(&bytes[..cut], *sender);
            assert!(matches!(first, Outcome::Short(_)), "{cut} of {bytes:x?}: {first:?}");
        }
    }
    assert_eq!(Frame::new(Opcode::Ping, false, None, b""), Err(Error::FragmentedControl));
    assert_eq!(Frame::new(Opcode::Pong, true, None, &[0; 126]), Err(Error::ControlTooLong));
    assert!(Frame::new(Opcode::Close, true, None, &[0; 125]).is_ok());
}

/// A limit is for messages; control frames have their own.
#[test]
fn limits_count_payload_and_spare_control_frames() {
    assert_eq!(whole(FrameHeader::decode(b"\x82\x05", Role::Server, 5)).1, 2);
    let long = Error::FrameTooLong { length: 6, limit: 5 };
    assert_eq!(FrameHeader::decode(b"\x82\x06", Role::Server, 5), Err(long));
    assert_eq!(whole(FrameHeader::decode(b"\x89\x7d", Role::Server, 5)).1, 2);
}

#[test]
fn masks_byte_by_byte_from_any_offset() {
    let payload: Vec<u8> = (0..100).collect();
    for start in 0..12 {
        for end in start..payload.len() {
            let mut part = payload[start..end].to_vec();
            mask(&mut part, KEY, start as u64);
            let expected = (start..end).map(|at| payload[at] ^ KEY[at % 4]);
            assert!(part.iter().copied().eq(expected), "{start} to {end}");
        }
    }
    let mut last = [1];
    mask(&mut last, KEY, u64::MAX);
    assert_eq!(last, [1 ^ KEY[3]]);
}

proptest! {
    #[test]
    fn frames_come_back(
        payload in prop::collection::vec(any::<u8>(), 0..300),
        key: Option<[u8; 4]>,
        is_final: bool,
        is_text: bool,
    ) {
        let opcode = if is_text { Opcode::Text } else { Opcode::Binary };
        let frame = Frame::new(opcode, is_final, key, &payload).unwrap();
        let mut bytes = encoded(frame.encoded_len(), |out| frame.encode(out));
        let length = bytes.len();
        bytes.push(9);
        let sender = if key.is_some() { Role::Client } else { Role::Server };
        let decoded = Frame::decode(&mut bytes, sender, 300);
        prop_assert_eq!(decoded, Ok(Decoded::Whole { value: frame, length }));
    }
}
