//! Which properties and reasons may stand in which packet: all of them in all packets, compared
//! with the tables of the standard.

use crate::common::mqtt::LIMIT;
use tiebreak_proto::Decoded;
use tiebreak_proto::mqtt::{Error, Kind, Property, Reason, Version, decode};

/// What has properties: its name, and what comes before and after them.
const PLACES: [(&str, u8, &[u8], &[u8]); 14] = [
    ("CONNECT", 0x10, b"\0\x04MQTT\x05\x02\0\0", b"\0\0"),
    ("will", 0x10, b"\0\x04MQTT\x05\x06\0\0\0\0\0", b"\0\x01w\0\0"),
    ("CONNACK", 0x20, b"\0\0", b""),
    ("PUBLISH", 0x30, b"\0\x01a", b""),
    ("PUBACK", 0x40, b"\0\x01\0", b""),
    ("PUBREC", 0x50, b"\0\x01\0", b""),
    ("PUBREL", 0x62, b"\0\x01\0", b""),
    ("PUBCOMP", 0x70, b"\0\x01\0", b""),
    ("SUBSCRIBE", 0x82, b"\0\x01", b"\0\x01a\0"),
    ("SUBACK", 0x90, b"\0\x01", b"\0"),
    ("UNSUBSCRIBE", 0xa2, b"\0\x01", b"\0\x01a"),
    ("UNSUBACK", 0xb0, b"\0\x01", b"\0"),
    ("DISCONNECT", 0xe0, b"\0", b""),
    ("AUTH", 0xf0, b"\x18", b""),
];

/// 5.0 table 2-4, a row a property: its bytes, and the places where it may stand.
const PROPERTIES: [(&[u8], &str); 27] = [
    (b"\x01\x01", "PUBLISH will"),
    (b"\x02\0\0\0\0", "PUBLISH will"),
    (b"\x03\0\0", "PUBLISH will"),
    (b"\x08\0\x01r", "PUBLISH will"),
    (b"\x09\0\0", "PUBLISH will"),
    (b"\x0b\x01", "PUBLISH SUBSCRIBE"),
    (b"\x11\0\0\0\0", "CONNECT CONNACK DISCONNECT"),
    (b"\x12\0\0", "CONNACK"),
    (b"\x13\0\0", "CONNACK"),
    (b"\x15\0\0", "CONNECT CONNACK AUTH"),
    (b"\x16\0\0", "CONNECT CONNACK AUTH"),
    (b"\x17\0", "CONNECT"),
    (b"\x18\0\0\0\0", "will"),
    (b"\x19\0", "CONNECT"),
    (b"\x1a\0\0", "CONNACK"),
    (b"\x1c\0\0", "CONNACK DISCONNECT"),
    (b"\x1f\0\0", "CONNACK PUBACK PUBREC PUBREL PUBCOMP SUBACK UNSUBACK DISCONNECT AUTH"),
    (b"\x21\0\x01", "CONNECT CONNACK"),
    (b"\x22\0\0", "CONNECT CONNACK"),
    (b"\x23\0\x01", "PUBLISH"),
    (b"\x24\0", "CONNACK"),
    (b"\x25\0", "CONNACK"),
    (
        b"\x26\0\0\0\0",
        "CONNECT CONNACK PUBLISH will PUBACK PUBREC PUBREL PUBCOMP SUBSCRIBE SUBACK UNSUBSCRIBE \
         UNSUBACK DISCONNECT AUTH",
    ),
    (b"\x27\0\0\0\x01", "CONNECT CONNACK"),
    (b"\x28\0", "CONNACK"),
    (b"\x29\0", "CONNACK"),
    (b"\x2a\0", "CONNACK"),
];

/// Decodes a packet with these properties there, and with what it needs to be complete.
fn with_properties(place: usize, properties: &[&[u8]]) -> Result<(), Error> {
    let (name, first, before, after) = PLACES[place];
    let mut properties = properties.concat();
    let method = b"\x15\0\0";
    let (id, needs_method) = (properties[0], matches!(name, "AUTH" | "CONNECT"));
    if (id == 0x16 || name == "AUTH") && id != 0x15 && needs_method {
        properties.extend(method);
    }
    let body = [before, &[properties.len() as u8], &properties, after].concat();
    let bytes = [&[first, body.len() as u8], &body[..]].concat();
    decode(&bytes, Version::V5, LIMIT)
        .map(|decoded| assert!(matches!(decoded, Decoded::Whole { .. }), "{bytes:x?}"))
}

#[test]
fn properties_stand_where_the_standard_has_them() {
    for (bytes, places) in PROPERTIES {
        for (place, (name, ..)) in PLACES.iter().enumerate() {
            let is_permitted = places.split(' ').any(|permitted| permitted == *name);
            let found = with_properties(place, &[bytes]);
            match found {
                Ok(()) => assert!(is_permitted, "{bytes:x?} in {name}"),
                Err(Error::PropertyMisplaced { place, .. }) => {
                    assert!(!is_permitted && place == *name, "{bytes:x?} in {name}");
                }
                Err(error) => panic!("{bytes:x?} in {name}: {error}"),
            }
            if is_permitted {
                let is_repeatable = matches!((bytes[0], *name), (0x26, _) | (0x0b, "PUBLISH"));
                let twice = with_properties(place, &[bytes, bytes]);
                let repeated = matches!(twice, Err(Error::PropertyRepeated { .. }));
                assert_eq!(twice.is_ok(), is_repeatable, "{bytes:x?} in {name}");
                assert_eq!(repeated, !is_repeatable, "{bytes:x?} in {name}: {twice:?}");
            }
        }
    }
    assert_eq!(Property::TopicAliasMaximum(0).id(), 0x22);
    assert_eq!(Property::TopicAliasMaximum(0).name(), "Topic Alias Maximum");
}

#[test]
fn other_identifiers_are_unknown() {
    for id in 0..=127 {
        if PROPERTIES.iter().all(|(bytes, _)| bytes[0] != id) {
            let unknown = Err(Error::PropertyUnknown { id: u32::from(id) });
            assert_eq!(with_properties(3, &[&[id, 0, 0, 0, 0]]), unknown);
        }
    }
}

/// The reason codes of version 5, a row a packet: the tables of sections 3.2 to 3.15. The standard
/// disagrees with itself about 0x8c in a DISCONNECT: table 2-6 has it, section 3.14 does not.
pub const REASONS: [(Kind, &[u8]); 9] = [
    (
        Kind::Connack,
        b"\0\x80\x81\x82\x83\x84\x85\x86\x87\x88\x89\x8a\x8c\x90\x95\x97\x99\x9a\x9b\x9c\x9d\x9f",
    ),
    (Kind::Puback, b"\0\x10\x80\x83\x87\x90\x91\x97\x99"),
    (Kind::Pubrec, b"\0\x10\x80\x83\x87\x90\x91\x97\x99"),
    (Kind::Pubrel, b"\0\x92"),
    (Kind::Pubcomp, b"\0\x92"),
    (Kind::Suback, b"\0\x01\x02\x80\x83\x87\x8f\x91\x97\x9e\xa1\xa2"),
    (Kind::Unsuback, b"\0\x11\x80\x83\x87\x8f\x91"),
    (
        Kind::Disconnect,
        b"\0\x04\x80\x81\x82\x83\x87\x89\x8b\x8c\x8d\x8e\x8f\x90\x93\x94\x95\x96\x97\x98\x99\x9a\
          \x9b\x9c\x9d\x9e\x9f\xa0\xa1\xa2",
    ),
    (Kind::Auth, b"\0\x18\x19"),
];

#[test]
fn reasons_stand_where_the_standard_has_them() {
    for (kind, codes) in REASONS {
        for code in 0..=255_u8 {
            let body: Vec<u8> = match kind {
                Kind::Connack => vec![0, code, 0],
                Kind::Suback | Kind::Unsuback => vec![0, 1, 0, code],
                Kind::Disconnect => vec![code],
                Kind::Auth => vec![code, 3, 0x15, 0, 0],
                _ => vec![0, 1, code],
            };
            let flags = if kind == Kind::Pubrel { 2 } else { 0 };
            let head = [(kind as u8) << 4 | flags, body.len() as u8];
            let decoded = decode(&[&head[..], &body].concat(), Version::V5, LIMIT).map(|_| ());
            let error = Error::Reason { code, place: kind.name() };
            let expected = if codes.contains(&code) { Ok(()) } else { Err(error) };
            assert_eq!(decoded, expected, "{code:#04x} in {kind}");
        }
    }
}

#[test]
fn reasons_are_their_codes() {
    let known: Vec<Reason> = (0..=255).filter_map(Reason::from_u8).collect();
    assert_eq!(known.len(), 43);
    for reason in known {
        assert_eq!(Reason::from_u8(reason as u8), Some(reason));
        assert_eq!(reason.is_error(), reason as u8 >= 0x80);
        assert!(REASONS.iter().any(|(_, codes)| codes.contains(&(reason as u8))), "{reason}");
    }
}
