//! The payload of a frame that closes.

use crate::common::encoded;
use tiebreak_proto::websocket::{Close, CloseCode, Error};

#[test]
fn codes_that_may_be_sent() {
    for code in 0..=u16::MAX {
        let may = matches!(code, 1000..=1003 | 1007..=1014 | 3000..=4999);
        let expected = if may { Ok(code) } else { Err(Error::CloseCode { code }) };
        assert_eq!(CloseCode::new(code).map(CloseCode::number), expected);
        let decoded = Close::decode(&code.to_be_bytes())
            .map(|close| close.map(|close| (close.code().number(), close.reason().to_owned())));
        assert_eq!(decoded, expected.map(|code| Some((code, String::new()))));
    }
}

#[test]
fn payloads() {
    assert_eq!(Close::decode(b""), Ok(None));
    assert_eq!(Close::decode(b"\x03"), Err(Error::CloseLength));
    assert_eq!(Close::decode(b"\x03\xe8\xff"), Err(Error::NotUtf8));
    assert_eq!(Close::decode(b"\x03\xe8\xc3"), Err(Error::NotUtf8));
    let long = [&b"\x03\xe8"[..], &[b'a'; 124]].concat();
    assert_eq!(Close::decode(&long), Err(Error::ReasonTooLong { length: 124 }));
    let longest = Close::new(CloseCode::GOING_AWAY, "caf\u{e9}").unwrap();
    assert_eq!(encoded(longest.encoded_len(), |out| longest.encode(out)), b"\x03\xe9caf\xc3\xa9");
    let longest = "a".repeat(123);
    assert!(Close::new(CloseCode::NORMAL, &longest).is_ok());
    let long = "a".repeat(124);
    assert_eq!(Close::new(CloseCode::NORMAL, &long), Err(Error::ReasonTooLong { length: 124 }));
}

#[test]
fn each_error_has_its_code() {
    assert_eq!(Error::NotUtf8.close_code().number(), 1007);
    assert_eq!(Error::MessageTooLong { length: 2, limit: 1 }.close_code().number(), 1009);
    assert_eq!(Error::FrameTooLong { length: 2, limit: 1 }.close_code().number(), 1009);
    assert_eq!(Error::NotMasked.close_code().number(), 1002);
}
