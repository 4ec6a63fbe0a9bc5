//! The fixed header and the Variable Byte Integer.

use crate::common::mqtt::{LIMIT, VERSIONS};
use crate::common::whole;
use tiebreak_proto::Decoded;
use tiebreak_proto::mqtt::{Connect, Error, Header, Kind, REMAINING_LENGTH_MAX, Version, decode};

/// What errors call the length of a packet.
const WHAT: &str = "remaining length";

fn header(bytes: &[u8], version: Version) -> Result<Decoded<Header>, Error> {
    Header::decode(bytes, version, usize::MAX)
}

#[test]
fn lengths_are_those_of_the_standard() {
    // The bounds of 3.1.1 table 2.4 and 5.0 table 1-1.
    let rows: [(usize, &[u8]); 8] = [
        (0, b"\x00"),
        (127, b"\x7f"),
        (128, b"\x80\x01"),
        (16_383, b"\xff\x7f"),
        (16_384, b"\x80\x80\x01"),
        (2_097_151, b"\xff\xff\x7f"),
        (2_097_152, b"\x80\x80\x80\x01"),
        (REMAINING_LENGTH_MAX, b"\xff\xff\xff\x7f"),
    ];
    for (remaining, encoded) in rows {
        for version in VERSIONS {
            let bytes = [&b"\x30"[..], encoded].concat();
            let length = bytes.len();
            let value = Header { kind: Kind::Publish, flags: 0, packet_length: length + remaining };
            let whole = Decoded::Whole { value, length };
            assert_eq!(header(&bytes, version), Ok(whole), "{remaining}");
        }
    }
}

#[test]
fn lengths_have_their_shortest_form_in_version_5_only() {
    for (bytes, length) in [(b"\xc0\x80\x00".to_vec(), 3), (b"\xc0\x80\x80\x80\x00".to_vec(), 5)] {
        for version in [Version::V31, Version::V311] {
            let value = Header { kind: Kind::Pingreq, flags: 0, packet_length: length };
            assert_eq!(header(&bytes, version), Ok(Decoded::Whole { value, length }));
            assert_eq!(whole(decode(&bytes, version, LIMIT)).1, length);
        }
        let error = Err(Error::IntegerNotShortest { what: WHAT });
        assert_eq!(header(&bytes, Version::V5), error);
    }
    // A CONNECT says its version within.
    let rest = |level| [&b"\0\x04MQTT"[..], &[level, 2, 0, 0], b"\0\0\0"].concat();
    let bytes = |level, length| [&b"\x10"[..], length, &rest(level)].concat();
    let version = |bytes: &[u8]| whole(Connect::decode(bytes, LIMIT)).0.version;
    assert_eq!(version(&bytes(5, b"\x0d")), Version::V5);
    let long_5 = bytes(5, b"\x8d\x00");
    let error = Err(Error::IntegerNotShortest { what: WHAT });
    assert_eq!(Connect::decode(&long_5, LIMIT), error);
    assert_eq!(version(&bytes(4, b"\x8c\x00")), Version::V311);
}

#[test]
fn a_fifth_byte_of_a_length_is_refused_at_the_fourth() {
    for version in VERSIONS {
        let error = Err(Error::IntegerTooLong { what: WHAT });
        assert_eq!(header(b"\x30\x80\x80\x80\x80", version), error);
        assert_eq!(header(b"\x30\xff\xff\xff", version), Ok(Decoded::Short { needs: 5 }));
    }
}

#[test]
fn what_is_too_long_is_refused_at_its_header() {
    let bytes = b"\x30\xff\xff\xff\x7f";
    let length = REMAINING_LENGTH_MAX + 5;
    for version in VERSIONS {
        let error = Err(Error::TooLong { length, limit: length - 1 });
        assert_eq!(decode(bytes, version, length - 1), error);
        assert_eq!(decode(bytes, version, length), Ok(Decoded::Short { needs: length }));
    }
    // The limit counts the fixed header, as Maximum Packet Size does.
    let ping = b"\xc0\0";
    assert_eq!(whole(decode(ping, Version::V5, 2)).1, 2);
    assert_eq!(decode(ping, Version::V5, 1), Err(Error::TooLong { length: 2, limit: 1 }));
}

#[test]
fn flags_are_those_of_the_type() {
    for version in VERSIONS {
        for first in 0..=255_u8 {
            let (number, flags) = (first >> 4, first & 15);
            let expected = match (number, flags) {
                (0, _) => Err(Error::PacketType),
                (15, _) if version != Version::V5 => {
                    Err(Error::NeedsVersion5 { what: "the type AUTH" })
                }
                (3, _) | (6 | 8 | 10, 2) => Ok(()),
                // DUP: 3.1 section 2.1.
                (6 | 8 | 10, 0b1010) if version == Version::V31 => Ok(()),
                (1 | 2 | 4 | 5 | 7 | 9 | 11.., 0) => Ok(()),
                _ => Err(Error::Flags { kind: Kind::from_u8(number).unwrap(), flags }),
            };
            let found = header(&[first, 0], version).map(|_| ());
            assert_eq!(found, expected, "{first:#04x} {version:?}");
            // The first byte alone tells.
            assert_eq!(header(&[first], version).map(|_| ()), expected, "{first:#04x}");
        }
    }
}

#[test]
fn the_first_packet_is_a_connect() {
    let bytes = b"\xc0\0";
    assert_eq!(Connect::decode(bytes, LIMIT), Err(Error::NotConnect { kind: Kind::Pingreq }));
    let auth = Err(Error::NotConnect { kind: Kind::Auth });
    assert_eq!(Connect::decode(b"\xf0\x7f", LIMIT), auth);
    assert_eq!(Connect::decode(b"\x10\x7f", LIMIT), Ok(Decoded::Short { needs: 129 }));
    assert_eq!(Connect::decode(b"", LIMIT), Ok(Decoded::Short { needs: 2 }));
}
