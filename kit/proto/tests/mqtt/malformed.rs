//! What is refused of bytes: each case by its own error.

use crate::common::mqtt::LIMIT;
use crate::common::{check_sentence, whole};
use tiebreak_proto::mqtt::{Error, Kind, Reason, Version, decode};

use Version::{V5, V31, V311};

/// Checks the error of a packet. `parts` have the type and flags, then all but the length.
#[track_caller]
fn check(version: Version, first: u8, parts: &[&[u8]], error: Error) {
    let body = parts.concat();
    let bytes = [&[first, u8::try_from(body.len()).unwrap()], &body[..]].concat();
    assert_eq!(decode(&bytes, version, LIMIT), Err(error), "{bytes:x?}");
    assert!(error.reason().is_error());
    check_sentence(&error);
}

const CONNECT: u8 = 0x10;
const CONNACK: u8 = 0x20;
const PUBLISH: u8 = 0x30;
const SUBSCRIBE: u8 = 0x82;
const SUBACK: u8 = 0x90;
const UNSUBSCRIBE: u8 = 0xa2;
const UNSUBACK: u8 = 0xb0;
const AUTH: u8 = 0xf0;

/// Protocol name, level, flags and keep alive.
fn start(level: u8, flags: u8) -> Vec<u8> {
    [&b"\0\x04MQTT"[..], &[level, flags], b"\0\0"].concat()
}

#[test]
fn connects() {
    check(V311, CONNECT, &[b"\0\x04MQTS\x04\x02\0\0\0\0"], Error::ProtocolName);
    check(V311, CONNECT, &[b"\0\x04mqtt\x04\x02\0\0\0\0"], Error::ProtocolName);
    check(V311, CONNECT, &[b"\0\x06MQIsdp\x04\x02\0\0\0\0"], Error::ProtocolLevel { level: 4 });
    for level in [0, 3, 6, 0x84] {
        check(V311, CONNECT, &[&start(level, 2), b"\0\0"], Error::ProtocolLevel { level });
    }
    check(V311, CONNECT, &[&start(4, 3), b"\0\0"], Error::ConnectFlags);
    for flags in [0x08, 0x10, 0x18, 0x20] {
        check(V311, CONNECT, &[&start(4, flags), b"\0\0"], Error::WillFlags);
    }
    let will = b"\0\0\0\x01w\0\0";
    check(V311, CONNECT, &[&start(4, 0x1c), will], Error::Qos { what: "will" });
    check(V311, CONNECT, &[&start(4, 0x42), b"\0\0\0\0"], Error::PasswordAlone);
    check(V311, CONNECT, &[&start(4, 2), b"\0\x02c"], truncated("client identifier"));
    check(V311, CONNECT, &[&start(4, 2), b"\0"], truncated("client identifier"));
    check(V311, CONNECT, &[b"\0\x04MQTT\x04\x02\0"], truncated("keep alive"));
    check(V311, CONNECT, &[b"\0\x04MQT"], truncated("protocol name"));
    check(V311, CONNECT, &[&start(4, 4), b"\0\0"], truncated("will topic"));
    check(V311, CONNECT, &[&start(4, 4), b"\0\0\0\x01w"], truncated("will payload"));
    check(V311, CONNECT, &[&start(4, 0x80), b"\0\0"], truncated("user name"));
    check(V311, CONNECT, &[&start(4, 0xc0), b"\0\0\0\0"], truncated("password"));
    let wildcard = Error::TopicWildcard { what: "will topic" };
    check(V311, CONNECT, &[&start(4, 4), b"\0\0\0\x01+\0\0"], wildcard);
    let empty = Error::Empty { what: "will topic" };
    check(V311, CONNECT, &[&start(4, 4), b"\0\0\0\0\0\0"], empty);
    let trailing = Error::Trailing { kind: Kind::Connect, bytes: 2 };
    check(V311, CONNECT, &[&start(4, 2), b"\0\0", b"\0\0"], trailing);
    check(V311, CONNECT, &[&start(5, 2), b"\0"], truncated("client identifier"));
    check(V311, CONNECT, &[&start(5, 2), b"\x06\x11\0\0\0\0"], truncated("properties"));
    let property = "Authentication Method";
    let missing = Error::PropertyMissing { property, place: "Authentication Data" };
    check(V311, CONNECT, &[&start(5, 2), b"\x03\x16\0\0", b"\0\0"], missing);
}

fn truncated(what: &'static str) -> Error {
    Error::Truncated { what }
}

#[test]
fn texts() {
    let name = "client identifier";
    let connect = |id: &[u8], error| check(V311, CONNECT, &[&start(4, 2), id], error);
    connect(b"\0\x02a\0", Error::Nul { what: name });
    connect(b"\0\x03ab\x80", Error::Utf8 { what: name, at: 2 });
    // Half of a surrogate pair, and a form that is too long (5.0 section 1.5.4).
    connect(b"\0\x03\xed\xa0\x80", Error::Utf8 { what: name, at: 0 });
    connect(b"\0\x02\xc0\xaf", Error::Utf8 { what: name, at: 0 });
    // The standards' example: "A" and U+2A6D4; and U+FEFF, which stays a character.
    for id in [&b"\0\x05\x41\xf0\xaa\x9b\x94"[..], b"\0\x03\xef\xbb\xbf"] {
        let body = [&start(4, 2), id].concat();
        let bytes = [&[CONNECT, body.len() as u8], &body[..]].concat();
        assert_eq!(whole(decode(&bytes, V311, LIMIT)).1, bytes.len(), "{id:x?}");
    }
}

#[test]
fn connacks() {
    check(V311, CONNACK, &[b"\x02\0"], Error::ConnackFlags { byte: 2 });
    check(V5, CONNACK, &[b"\x81\0\0"], Error::ConnackFlags { byte: 0x81 });
    check(V311, CONNACK, &[b"\x01\x05"], Error::SessionOfRefused);
    check(V5, CONNACK, &[b"\x01\x87\0"], Error::SessionOfRefused);
    check(V31, CONNACK, &[b"\x01\0"], Error::NeedsVersion311 { what: "Session Present" });
    check(V311, CONNACK, &[b"\0\x06"], Error::Reason { code: 6, place: "CONNACK" });
    check(V311, CONNACK, &[b"\0\x87"], Error::Reason { code: 0x87, place: "CONNACK" });
    check(V5, CONNACK, &[b"\0\x01\0"], Error::Reason { code: 1, place: "CONNACK" });
    check(V311, CONNACK, &[b"\0"], truncated("reason code"));
    check(V5, CONNACK, &[b"\0\0"], truncated("property length"));
    let kind = Kind::Connack;
    check(V311, CONNACK, &[b"\0\0\0"], Error::Trailing { kind, bytes: 1 });
    check(V5, CONNACK, &[b"\0\0\0\0"], Error::Trailing { kind, bytes: 1 });
}

#[test]
fn messages() {
    check(V311, 0x36, &[b"\0\x01a\0\x01"], Error::Qos { what: "PUBLISH" });
    check(V5, 0x3e, &[b"\0\x01a\0\x01\0"], Error::Qos { what: "PUBLISH" });
    check(V311, 0x38, &[b"\0\x01a"], Error::DupAtQos0);
    check(V311, 0x32, &[b"\0\x01a\0\0"], Error::PacketIdZero);
    check(V311, 0x34, &[b"\0\x01a\0"], truncated("packet identifier"));
    check(V311, PUBLISH, &[b"\0\x02a"], truncated("topic name"));
    check(V311, PUBLISH, &[], truncated("topic name"));
    for topic in [b"\0\x01#", b"\0\x01+"] {
        check(V311, PUBLISH, &[topic], Error::TopicWildcard { what: "topic name" });
    }
    check(V311, PUBLISH, &[b"\0\0hi"], Error::Empty { what: "topic name" });
    check(V5, PUBLISH, &[b"\0\0", b"\x02\x01\0", b"hi"], Error::Empty { what: "topic name" });
    check(V5, PUBLISH, &[b"\0\x01a"], truncated("property length"));
    check(V5, PUBLISH, &[b"\0\x01a\x02\x01"], truncated("properties"));
}

#[test]
fn properties() {
    let publish = |properties: &[u8], error| {
        let length = [properties.len() as u8];
        check(V5, PUBLISH, &[b"\0\x01a", &length, properties], error);
    };
    publish(b"\x00", Error::PropertyUnknown { id: 0 });
    publish(b"\x04", Error::PropertyUnknown { id: 4 });
    publish(b"\x7f", Error::PropertyUnknown { id: 0x7f });
    publish(b"\x80\x01", Error::PropertyUnknown { id: 0x80 });
    publish(b"\x81\x00\x00", Error::IntegerNotShortest { what: "property identifier" });
    publish(b"\x80", truncated("property identifier"));
    publish(b"\x01", truncated("Payload Format Indicator"));
    publish(b"\x02\0\0\0", truncated("Message Expiry Interval"));
    publish(b"\x03\0\x02t", truncated("Content Type"));
    publish(b"\x26\0\x01k\0", truncated("User Property"));
    let (property, place) = ("Will Delay Interval", "PUBLISH");
    publish(b"\x18\0\0\0\0", Error::PropertyMisplaced { property, place });
    publish(b"\x23\0\x01\x23\0\x01", Error::PropertyRepeated { property: "Topic Alias" });
    let value = |property, valid| Error::PropertyValue { property, valid };
    publish(b"\x01\x02", value("Payload Format Indicator", "0 or 1"));
    publish(b"\x23\0\0", value("Topic Alias", "at least 1"));
    publish(b"\x0b\0", value("Subscription Identifier", "at least 1"));
    publish(b"\x0b\x80\0", Error::IntegerNotShortest { what: "Subscription Identifier" });
    publish(b"\x0b\x80\x80\x80\x80", Error::IntegerTooLong { what: "Subscription Identifier" });
    publish(b"\x08\0\x01+", Error::TopicWildcard { what: "Response Topic" });
    publish(b"\x08\0\0", Error::Empty { what: "Response Topic" });
    publish(b"\x03\0\x01\xff", Error::Utf8 { what: "Content Type", at: 0 });
    publish(b"\x26\0\x01k\0\x01\0", Error::Nul { what: "User Property" });
    let long_length = b"\0\x01a\x80\x00";
    check(V5, PUBLISH, &[long_length], Error::IntegerNotShortest { what: "property length" });

    let connack = |properties: &[u8], error| {
        check(V5, CONNACK, &[b"\0\0", &[properties.len() as u8], properties], error);
    };
    connack(b"\x24\x02", value("Maximum QoS", "0 or 1"));
    connack(b"\x21\0\0", value("Receive Maximum", "at least 1"));
    connack(b"\x27\0\0\0\0", value("Maximum Packet Size", "at least 1"));
    // A SUBSCRIBE has one subscription identifier, a PUBLISH may have many.
    let property = "Subscription Identifier";
    let twice = b"\0\x01\x04\x0b\x01\x0b\x02\0\x01a\0";
    check(V5, SUBSCRIBE, &[twice], Error::PropertyRepeated { property });
}

#[test]
fn acknowledgements() {
    for (first, kind) in [
        (0x40, Kind::Puback),
        (0x50, Kind::Pubrec),
        (0x62, Kind::Pubrel),
        (0x70, Kind::Pubcomp),
        (0xb0, Kind::Unsuback),
    ] {
        check(V311, first, &[b"\0\0"], Error::PacketIdZero);
        check(V5, first, &[b"\0"], truncated("packet identifier"));
        check(V311, first, &[b"\0\x01\0"], Error::Trailing { kind, bytes: 1 });
    }
    check(V5, 0x40, &[b"\0\x01\x92"], Error::Reason { code: 0x92, place: "PUBACK" });
    check(V5, 0x62, &[b"\0\x01\x80"], Error::Reason { code: 0x80, place: "PUBREL" });
    let kind = Kind::Puback;
    check(V5, 0x40, &[b"\0\x01\0\0\0"], Error::Trailing { kind, bytes: 1 });
    check(V5, 0x40, &[b"\0\x01\0\x01"], truncated("properties"));
}

#[test]
fn subscriptions() {
    let id = b"\0\x01";
    check(V311, SUBSCRIBE, &[b"\0\0", b"\0\x01a\0"], Error::PacketIdZero);
    check(V311, SUBSCRIBE, &[id], Error::Empty { what: "subscription" });
    check(V5, SUBSCRIBE, &[id, b"\0"], Error::Empty { what: "subscription" });
    check(V311, SUBSCRIBE, &[id, b"\0\x01a"], truncated("subscription options"));
    check(V311, SUBSCRIBE, &[id, b"\0\x01a\x03"], Error::Qos { what: "subscription" });
    let options = |byte| Error::SubscriptionOptions { byte };
    for byte in [0x04, 0x08, 0x10, 0x20, 0x40, 0x80] {
        check(V311, SUBSCRIBE, &[id, b"\0\x01a", &[byte]], options(byte));
    }
    for byte in [0x40, 0x80] {
        check(V5, SUBSCRIBE, &[id, b"\0\0\x01a", &[byte]], options(byte));
    }
    check(V5, SUBSCRIBE, &[id, b"\0\0\x01a\x30"], Error::RetainHandling);
    check(V5, SUBSCRIBE, &[id, b"\0\0\x0a$share/g/a\x04"], Error::ShareNoLocal);
    check(V5, SUBSCRIBE, &[id, b"\0\0\x08$share/g\0"], Error::Share);
    check(V311, SUBSCRIBE, &[id, b"\0\0\0"], Error::Empty { what: "topic filter" });
    check(V311, SUBSCRIBE, &[id, b"\0\x02a+\0"], Error::FilterWildcard);
    // Only the second filter is wrong.
    check(V311, SUBSCRIBE, &[id, b"\0\x01a\0", b"\0\x03#/a\0"], Error::FilterWildcard);

    check(V311, SUBACK, &[id], Error::Empty { what: "reason code" });
    check(V31, SUBACK, &[id, b"\x81"], Error::Reason { code: 0x81, place: "SUBACK" });
    check(V311, SUBACK, &[id, b"\0\x03"], Error::Reason { code: 3, place: "SUBACK" });
    check(V5, SUBACK, &[id, b"\0\x11"], Error::Reason { code: 0x11, place: "SUBACK" });

    check(V311, UNSUBSCRIBE, &[id], Error::Empty { what: "topic filter" });
    check(V311, UNSUBSCRIBE, &[id, b"\0\x02a"], truncated("topic filter"));
    check(V5, UNSUBSCRIBE, &[id, b"\0\0\x09$share//a"], Error::Share);
    check(V5, UNSUBACK, &[id, b"\0"], Error::Empty { what: "reason code" });
    check(V5, UNSUBACK, &[id, b"\0\x01"], Error::Reason { code: 1, place: "UNSUBACK" });
}

#[test]
fn others() {
    check(V5, 0xc0, &[b"\0"], Error::Trailing { kind: Kind::Pingreq, bytes: 1 });
    check(V311, 0xd0, &[b"\0"], Error::Trailing { kind: Kind::Pingresp, bytes: 1 });
    check(V311, 0xe0, &[b"\0"], Error::Trailing { kind: Kind::Disconnect, bytes: 1 });
    check(V5, 0xe0, &[b"\x01"], Error::Reason { code: 1, place: "DISCONNECT" });
    check(V5, 0xe0, &[b"\0\0\0"], Error::Trailing { kind: Kind::Disconnect, bytes: 1 });
    let missing = Error::PropertyMissing { property: "Authentication Method", place: "an AUTH" };
    check(V5, AUTH, &[b"\x18"], missing);
    check(V5, AUTH, &[b"\0\x03\x16\0\0"], missing);
}

#[test]
fn errors_have_the_reasons_of_the_standard() {
    let rows = [
        (Error::TooLong { length: 9, limit: 8 }, Reason::PacketTooLarge),
        (Error::ProtocolLevel { level: 6 }, Reason::UnsupportedProtocolVersion),
        (Error::PropertyRepeated { property: "Topic Alias" }, Reason::ProtocolError),
        (Error::Empty { what: "subscription" }, Reason::ProtocolError),
        (Error::PacketType, Reason::MalformedPacket),
    ];
    for (error, reason) in rows {
        assert_eq!(error.reason(), reason, "{error}");
    }
}

#[test]
fn errors_say_what_is_wrong_and_what_is_right() {
    let rows = [
        (Error::PacketType, "packet type 0 is reserved: there are types 1 to 15"),
        (
            Error::Flags { kind: Kind::Subscribe, flags: 0 },
            "the flags of a SUBSCRIBE are 0b0000: they must be 0b0010",
        ),
        (
            Error::TooLong { length: 268_435_460, limit: 65_536 },
            "the packet has 268435460 bytes: at most 65536 are accepted",
        ),
        (
            Error::Reason { code: 0x92, place: "PUBACK" },
            "a PUBACK has the code 0x92: this version has no such reason for it",
        ),
        (
            Error::PropertyMisplaced { property: "Will Delay Interval", place: "PUBLISH" },
            "a PUBLISH has the property Will Delay Interval: it may not stand there",
        ),
        (
            Error::SubscriptionOptions { byte: 0x40 },
            "the subscription options are 0b01000000: the reserved bits are 0",
        ),
    ];
    for (error, sentence) in rows {
        assert_eq!(error.to_string(), sentence);
    }
}
