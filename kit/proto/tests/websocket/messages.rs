//! Messages of many frames, as they come in pieces.

use crate::common::websocket::{LIMIT, Received, check, read};
use crate::common::{cut, encoded, whole};
use proptest::prelude::*;
use tiebreak_proto::websocket::{
    Close, CloseCode, Error, Frame, FrameHeader, Opcode, Role, Sequence,
};

const KEY: [u8; 4] = [0x37, 0xfa, 0x21, 0x3d];

fn frame(opcode: Opcode, is_final: bool, payload: &[u8]) -> Vec<u8> {
    let frame = Frame::new(opcode, is_final, None, payload).unwrap();
    encoded(frame.encoded_len(), |out| frame.encode(out))
}

/// The fragmented example of RFC 6455 section 5.7, with a ping between its frames.
#[test]
fn a_ping_may_stand_within_a_message() {
    let bytes = b"\x01\x03Hel\x89\x05Hello\x80\x02lo";
    let expected = vec![Received::Ping(b"Hello".to_vec()), Received::Text("Hello".to_owned())];
    for at in 0..bytes.len() {
        let (said, end) = read(&[&bytes[..at], &bytes[at..]], Role::Server, LIMIT);
        assert_eq!((said, end), (expected.clone(), Ok(bytes.len())));
    }
}

#[test]
fn empty_frames_are_part_of_messages() {
    let bytes = b"\x01\x00\x00\x00\x80\x00\x82\x00\x02\x00\x80\x01a";
    let expected = vec![
        Received::Text(String::new()),
        Received::Binary(vec![]),
        Received::Binary(b"a".to_vec()),
    ];
    assert_eq!(read(&[bytes], Role::Server, LIMIT), (expected, Ok(bytes.len())));
}

/// Sequences that are wrong, the error, and what is read before it.
#[test]
fn what_may_not_follow_has_its_own_error() {
    let text = |text: &str| Received::Text(text.to_owned());
    let long = |length| Error::MessageTooLong { length, limit: 5 };
    let frame_long = Error::FrameTooLong { length: 6, limit: 5 };
    let rows: Vec<(&[u8], Vec<Received>, Error)> = vec![
        (b"\x80\x01a", vec![], Error::NothingToContinue),
        (b"\x81\x01a\x00\x01a", vec![text("a")], Error::NothingToContinue),
        (b"\x01\x01a\x81\x01a", vec![], Error::MessageNotEnded),
        (b"\x02\x01a\x02\x01a", vec![], Error::MessageNotEnded),
        (b"\x88\x00\x89\x00", vec![Received::Close(None)], Error::AfterClose),
        (b"\x01\x01a\x88\x00\x80\x00", vec![Received::Close(None)], Error::AfterClose),
        (b"\x82\x06", vec![], frame_long),
        (b"\x02\x03abc\x80\x03", vec![], long(6)),
        (
            b"\x82\x03abc\x82\x03abc\x01\x05abcde\x00\x01",
            vec![Received::Binary(b"abc".to_vec()); 2],
            long(6),
        ),
        (b"\x81\x01\xff", vec![], Error::NotUtf8),
        (b"\x81\x01\xc3", vec![], Error::NotUtf8),
        (b"\x01\x01\xc3\x80\x01a", vec![], Error::NotUtf8),
        (b"\x01\x01\xc3\x00\x00\x80\x00", vec![], Error::NotUtf8),
        (b"\x81\x02\xc3\xa9\x81\x03\xed\xa0\x80", vec![text("\u{e9}")], Error::NotUtf8),
        (b"\x88\x01\x03", vec![], Error::CloseLength),
        (b"\x88\x02\x03\xed", vec![], Error::CloseCode { code: 1005 }),
        (b"\x88\x03\x03\xe8\xff", vec![], Error::NotUtf8),
    ];
    for (bytes, said, error) in rows {
        for at in 0..=bytes.len() {
            let got = read(&[&bytes[..at], &bytes[at..]], Role::Server, 5);
            assert_eq!(got, (said.clone(), Err(error)), "{bytes:x?} at {at}");
        }
    }
}

/// A text is refused at its first wrong byte, long before its end.
#[test]
fn wrong_text_is_refused_early() {
    let (said, end) = read(&[b"\x81\x7e\x03\xe8ab\xf4\x90"], Role::Server, LIMIT);
    assert_eq!((said, end), (vec![], Err(Error::NotUtf8)));
}

#[test]
fn sequences_take_payload_as_it_was_announced() {
    let header = FrameHeader::new(Opcode::Text, true, None, 2).unwrap();
    let mut sequence = Sequence::new(5);
    assert_eq!(sequence.begin(&header), Ok(()));
    assert_eq!(sequence.clone().begin(&header), Err(Error::FrameNotEnded { left: 2 }));
    let too_long = Error::PieceTooLong { length: 3, left: 2 };
    assert_eq!(sequence.clone().payload(b"abc"), Err(too_long));
    assert_eq!(sequence.payload(b"\xc3"), Ok(false));
    assert_eq!(sequence.payload(b"\xa9"), Ok(true));
    assert!(!sequence.is_closed());

    let close = Frame::new(Opcode::Close, true, None, b"").unwrap();
    assert_eq!(sequence.accept(&close), Ok(false));
    assert!(sequence.is_closed());
    assert_eq!(sequence.accept(&close), Err(Error::AfterClose));
}

/// A message, cut into frames at these places, with a ping after each.
type Message = (Received, Vec<usize>, bool);

fn message() -> impl Strategy<Value = Message> {
    let said = prop_oneof![
        any::<String>().prop_map(Received::Text),
        prop::collection::vec(any::<u8>(), 0..200).prop_map(Received::Binary),
    ];
    (said, prop::collection::vec(any::<usize>(), 0..4), any::<bool>())
}

/// Writes messages as one side sends them. Returns the bytes and what a reader is to say.
fn write(messages: Vec<Message>, key: Option<[u8; 4]>) -> (Vec<u8>, Vec<Received>) {
    let (mut bytes, mut expected) = (Vec::new(), Vec::new());
    let mut put = |opcode, is_final, payload: &[u8]| {
        let frame = Frame::new(opcode, is_final, key, payload).unwrap();
        bytes.extend(encoded(frame.encoded_len(), |out| frame.encode(out)));
    };
    for (said, mut cuts, pings) in messages {
        let (first, payload) = match &said {
            Received::Text(text) => (Opcode::Text, text.as_bytes()),
            Received::Binary(payload) => (Opcode::Binary, &payload[..]),
            _ => unreachable!("only messages are drawn"),
        };
        cuts.iter_mut().for_each(|cut| *cut %= payload.len() + 1);
        cuts.sort_unstable();
        cuts.push(payload.len());
        let (mut opcode, mut start) = (first, 0);
        for (at, &end) in cuts.iter().enumerate() {
            let is_final = at + 1 == cuts.len();
            put(opcode, is_final, &payload[start..end]);
            (opcode, start) = (Opcode::Continuation, end);
            if pings && !is_final {
                put(Opcode::Ping, true, &[at as u8]);
                expected.push(Received::Ping(vec![at as u8]));
            }
        }
        expected.push(said.clone());
    }
    let mut payload = [0; 125];
    let close = Close::new(CloseCode::NORMAL, "done").unwrap();
    let length = close.encode(&mut payload).unwrap();
    put(Opcode::Close, true, &payload[..length]);
    expected.push(Received::Close(Some((1000, "done".to_owned()))));
    (bytes, expected)
}

proptest! {
    #[test]
    fn messages_come_back_however_they_are_cut(
        messages in prop::collection::vec(message(), 0..4),
        is_masked: bool,
        a: usize,
        b: usize,
    ) {
        let key = is_masked.then_some(KEY);
        let sender = if is_masked { Role::Client } else { Role::Server };
        let (bytes, expected) = write(messages, key);
        let (said, end) = read(&cut(&bytes, a, b), sender, 1 << 20);
        prop_assert_eq!(said, expected);
        prop_assert_eq!(end, Ok(bytes.len()));
        let single: Vec<&[u8]> = bytes.chunks(1).collect();
        prop_assert_eq!(read(&single, sender, 1 << 20), read(&[&bytes], sender, 1 << 20));
    }

    /// Bytes that are nearly right: a byte of some messages is changed.
    #[test]
    fn changed_bytes_are_read_alike_however_they_are_cut(
        messages in prop::collection::vec(message(), 0..4),
        at: usize,
        flip: u8,
        a: usize,
        b: usize,
    ) {
        let (mut bytes, _) = write(messages, None);
        let at = at % bytes.len();
        bytes[at] ^= flip;
        check(&bytes, a, b);
    }

    #[test]
    fn any_bytes_are_read_alike_however_they_are_cut(
        bytes in prop::collection::vec(any::<u8>(), 0..40),
        a: usize,
        b: usize,
    ) {
        check(&bytes, a, b);
    }
}

/// Whole frames and a sequence give the messages that the reader gives.
#[test]
fn frames_and_a_sequence_say_what_the_reader_says() {
    let mut bytes = [
        frame(Opcode::Text, false, b"a"),
        frame(Opcode::Pong, true, b""),
        frame(Opcode::Continuation, true, b"b"),
        frame(Opcode::Binary, true, b"c"),
    ]
    .concat();
    let (said, _) = read(&[&bytes], Role::Server, LIMIT);
    let expected =
        [Received::Pong(vec![]), Received::Text("ab".to_owned()), Received::Binary(b"c".to_vec())];
    assert_eq!(said, expected);

    let (mut rest, mut sequence) = (&mut bytes[..], Sequence::new(LIMIT));
    let (mut message, mut messages) = (Vec::new(), Vec::new());
    while !rest.is_empty() {
        let (frame, length) = whole(Frame::decode(rest, Role::Server, LIMIT));
        let is_last = sequence.accept(&frame).unwrap();
        if !frame.header().opcode().is_control() {
            message.extend_from_slice(frame.payload());
        }
        if is_last {
            messages.push(std::mem::take(&mut message));
        }
        rest = &mut rest[length..];
    }
    assert_eq!(messages, [&b"ab"[..], b"c"]);
}
