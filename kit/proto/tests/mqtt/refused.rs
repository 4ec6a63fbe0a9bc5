//! What is refused of values: nothing is encoded that would not be decoded, and nothing is left
//! out.

use crate::common::mqtt::VERSIONS;
use crate::common::{check_sentence, whole};
use crate::vectors::{filter, id, items, message, plain, text};
use tiebreak_proto::TooSmall;
use tiebreak_proto::mqtt::{
    Acknowledgement, Auth, Connack, Connect, Data, Disconnect, EncodeError, Error, Items, Packet,
    Properties, Property, Publish, Qos, REMAINING_LENGTH_MAX, Reason, Suback, Subscribe,
    Subscription, SubscriptionId, Text, TopicFilter, TopicName, Unsuback, Unsubscribe, Version,
    decode,
};

use Version::{V5, V31, V311};

#[track_caller]
fn check(version: Version, packet: impl Into<Packet<'static>>, error: Error) {
    let refused = Err(EncodeError::Refused(error));
    assert_eq!(packet.into().encode(version, &mut [0; 256]), refused);
    check_sentence(&error);
}

const A_PROPERTY: Error = Error::NeedsVersion5 { what: "a property" };
const A_REASON: Error = Error::NeedsVersion5 { what: "a reason" };

#[test]
fn what_earlier_versions_lack() {
    let properties = || items![Property::UserProperty((text("k"), text("v")))];
    let failed = Acknowledgement { reason: Reason::NotAuthorized, ..Acknowledgement::new(id(1)) };
    let explained = Acknowledgement { properties: properties(), ..Acknowledgement::new(id(1)) };
    let packet_id = id(1);
    let subscription = Subscription::new(filter("a"), Qos::AtMostOnce);
    let no_local = Subscription { no_local: true, ..subscription };
    let subscribe = Subscribe {
        packet_id,
        properties: Properties::EMPTY,
        subscriptions: items![subscription, no_local],
    };
    let options = Error::NeedsVersion5 { what: "options of a subscription" };
    let unsuback =
        Unsuback { packet_id, properties: Properties::EMPTY, reasons: items![Reason::Success] };
    let auth = Auth { reason: Reason::Success, properties: Properties::EMPTY };
    for version in [V31, V311] {
        check(version, Connect { properties: properties(), ..plain(version) }, A_PROPERTY);
        check(version, Publish { properties: properties(), ..message(b"") }, A_PROPERTY);
        check(version, Packet::Puback(failed), A_REASON);
        check(version, Packet::Pubrec(explained), A_PROPERTY);
        check(version, Disconnect { reason: Reason::ServerBusy, ..Disconnect::NORMAL }, A_REASON);
        check(version, subscribe, options);
        check(version, unsuback, A_REASON);
        check(version, auth, Error::NeedsVersion5 { what: "the type AUTH" });
        check(version, Publish { topic: None, ..message(b"") }, empty("topic name"));
        let password = Some(Data::new(b"p").unwrap());
        check(version, Connect { password, ..plain(version) }, Error::PasswordAlone);
    }
}

fn empty(what: &'static str) -> Error {
    Error::Empty { what }
}

#[test]
fn reasons_that_a_packet_cannot_have() {
    let connack = |session_present, reason| Connack {
        session_present,
        reason,
        properties: Properties::EMPTY,
    };
    let reason = |reason: Reason, place| Error::Reason { code: reason as u8, place };
    check(V311, connack(false, Reason::ServerBusy), reason(Reason::ServerBusy, "CONNACK"));
    check(V5, connack(false, Reason::GrantedQos1), reason(Reason::GrantedQos1, "CONNACK"));
    check(V5, connack(true, Reason::ServerBusy), Error::SessionOfRefused);
    let session = Error::NeedsVersion311 { what: "Session Present" };
    check(V31, connack(true, Reason::Success), session);
    let suback = |reasons| Suback { packet_id: id(1), properties: Properties::EMPTY, reasons };
    for (version, reason) in
        [(V31, Reason::NotAuthorized), (V311, Reason::NotAuthorized), (V5, Reason::ServerBusy)]
    {
        let error = Error::Reason { code: reason as u8, place: "SUBACK" };
        check(version, suback(items![Reason::Success, reason]), error);
    }
}

#[test]
fn lists_that_break_a_rule() {
    let packet_id = id(1);
    for version in VERSIONS {
        let properties = Properties::EMPTY;
        let subscribe = Subscribe { packet_id, properties, subscriptions: Items::EMPTY };
        check(version, subscribe, empty("subscription"));
        let suback = Suback { packet_id, properties, reasons: Items::EMPTY };
        check(version, suback, empty("reason code"));
        let unsubscribe = Unsubscribe { packet_id, properties, filters: Items::EMPTY };
        check(version, unsubscribe, empty("topic filter"));
    }
    let publish = |properties| Publish { properties, ..message(b"") };
    let misplaced = Error::PropertyMisplaced { property: "Receive Maximum", place: "PUBLISH" };
    check(V5, publish(items![Property::ReceiveMaximum(id(1))]), misplaced);
    let content = Property::ContentType(text("t"));
    let repeated = Error::PropertyRepeated { property: "Content Type" };
    check(V5, publish(items![content, content]), repeated);
    let value = Error::PropertyValue { property: "Maximum QoS", valid: "0 or 1" };
    let properties = items![Property::MaximumQos(Qos::ExactlyOnce)];
    let connack = Connack { session_present: false, reason: Reason::Success, properties };
    check(V5, connack, value);
    let unsubscribe = |filters| Unsubscribe { packet_id, properties: Properties::EMPTY, filters };
    check(V5, unsubscribe(items![filter("$share/g")]), Error::Share);
    // Before version 5 that is a filter like any other.
    let bytes = Packet::from(unsubscribe(items![filter("$share/g")])).encode(V311, &mut [0; 32]);
    assert_eq!(bytes, Ok(14));
}

#[test]
fn properties_of_a_will_are_no_properties_of_a_message() {
    // A view that was checked for one place is checked again for another.
    let bytes = b"\x10\x1b\0\x04MQTT\x05\x06\0\0\0\0\0\x05\x18\0\0\0\x01\0\x01w\0\0";
    let bytes = [&bytes[..1], &[bytes.len() as u8 - 2], &bytes[2..]].concat();
    let (packet, _) = whole(decode(&bytes, V5, 256));
    let Packet::Connect(Connect { will: Some(will), .. }) = packet else { panic!("{packet:?}") };
    let publish = Publish { properties: will.properties, ..message(b"") };
    let property = "Will Delay Interval";
    let error = Error::PropertyMisplaced { property, place: "PUBLISH" };
    let encoded = Packet::from(publish).encode(V5, &mut [0; 256]);
    assert_eq!(encoded, Err(EncodeError::Refused(error)));
}

#[test]
fn packets_that_are_too_long() {
    let largest = REMAINING_LENGTH_MAX - 5;
    let payload = vec![0; largest + 1];
    let publish = |payload| Packet::from(Publish { payload, ..message(b"") });
    let mut out = [0; 16];
    // The largest possible packet only lacks the room.
    let (limit, length) = (REMAINING_LENGTH_MAX + 5, REMAINING_LENGTH_MAX + 6);
    let small = EncodeError::TooSmall(TooSmall { needs: limit });
    assert_eq!(publish(&payload[1..]).encode(V311, &mut out), Err(small));
    let refused = EncodeError::Refused(Error::TooLong { length, limit });
    assert_eq!(publish(&payload).encode(V311, &mut out), Err(refused));
}

#[test]
fn fields_check_what_they_are_made_of() {
    let long = "x".repeat(65_536);
    let (what, bytes) = ("text", 65_536);
    assert_eq!(Text::new(&long), Err(Error::FieldTooLong { what, bytes }));
    assert!(Text::new(&long[1..]).is_ok());
    assert_eq!(Text::new("a\0"), Err(Error::Nul { what }));
    assert!(Data::new(&long.as_bytes()[1..]).is_ok());
    let what = "binary data";
    assert_eq!(Data::new(long.as_bytes()), Err(Error::FieldTooLong { what, bytes }));
    assert_eq!(TopicName::new(""), Err(Error::Empty { what: "topic name" }));
    assert_eq!(TopicName::new("a/#"), Err(Error::TopicWildcard { what: "topic name" }));
    let what = "topic filter";
    assert_eq!(TopicFilter::new(&long), Err(Error::FieldTooLong { what, bytes }));
    assert_eq!(SubscriptionId::new(0), None);
    assert_eq!(SubscriptionId::new(REMAINING_LENGTH_MAX as u32 + 1), None);
    let largest = SubscriptionId::new(REMAINING_LENGTH_MAX as u32).unwrap();
    assert_eq!(largest.get() as usize, REMAINING_LENGTH_MAX);
}
