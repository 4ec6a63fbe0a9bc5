//! Packets byte by byte: the examples of the standards, and one or more for each type and version.

use crate::common::mqtt::VERSIONS;
use std::num::{NonZeroU16, NonZeroU32};
use tiebreak_proto::mqtt::{
    Acknowledgement, Auth, Connack, Connect, Data, Delivery, Disconnect, Items, Packet, PacketId,
    Properties, Property, Publish, Qos, Reason, RetainHandling, Suback, Subscribe, Subscription,
    SubscriptionId, Text, TopicFilter, TopicName, Unsuback, Unsubscribe, Version, Will,
};

use Version::{V5, V31, V311};

/// The encoded form of a packet, and the versions that have it so.
pub struct Vector {
    pub name: &'static str,
    pub versions: &'static [Version],
    pub bytes: Vec<u8>,
    pub packet: Packet<'static>,
}

const BEFORE_5: &[Version] = &[V31, V311];

pub fn id(number: u16) -> PacketId {
    NonZeroU16::new(number).unwrap()
}

pub fn text(text: &'static str) -> Text<'static> {
    Text::new(text).unwrap()
}

pub fn data(bytes: &'static [u8]) -> Data<'static> {
    Data::new(bytes).unwrap()
}

pub fn topic(name: &'static str) -> TopicName<'static> {
    TopicName::new(name).unwrap()
}

pub fn filter(filter: &'static str) -> TopicFilter<'static> {
    TopicFilter::new(filter).unwrap()
}

/// A list that lives as long as the test.
macro_rules! items {
    ($($item:expr),+ $(,)?) => { Items::new(Vec::leak(vec![$($item),+])) };
}
pub(crate) use items;

/// A client that says the least.
pub fn plain(version: Version) -> Connect<'static> {
    Connect {
        version,
        clean_start: true,
        keep_alive_seconds: 60,
        properties: Properties::EMPTY,
        client_id: text("c"),
        will: None,
        user_name: None,
        password: None,
    }
}

/// A message that says the least.
pub fn message(payload: &'static [u8]) -> Publish<'static> {
    Publish {
        delivery: Delivery::AtMostOnce,
        retain: false,
        topic: Some(topic("a/b")),
        properties: Properties::EMPTY,
        payload,
    }
}

pub fn vectors() -> Vec<Vector> {
    let mut all = connects();
    all.extend(connacks());
    all.extend(messages());
    all.extend(acknowledgements());
    all.extend(subscriptions());
    all.extend(others());
    all
}

fn vector(
    name: &'static str,
    versions: &'static [Version],
    parts: &[&[u8]],
    packet: impl Into<Packet<'static>>,
) -> Vector {
    Vector { name, versions, bytes: parts.concat(), packet: packet.into() }
}

/// The flags and the keep alive of the standards' example of a CONNECT (3.1.1 section 3.1.2.12, 5.0
/// section 3.1.2.12): all but the reserved flag and the retained will, 10 seconds.
fn example(version: Version) -> Connect<'static> {
    Connect {
        keep_alive_seconds: 10,
        will: Some(Will {
            qos: Qos::AtLeastOnce,
            retain: false,
            properties: Properties::EMPTY,
            topic: topic("w"),
            payload: data(b"gone"),
        }),
        user_name: Some(text("u")),
        password: Some(data(b"\0\xff")),
        ..plain(version)
    }
}

fn connects() -> Vec<Vector> {
    let full_will = Will {
        qos: Qos::ExactlyOnce,
        retain: true,
        properties: items![Property::WillDelayInterval(9), Property::PayloadFormatIndicator(true)],
        topic: topic("w"),
        payload: data(b"gone"),
    };
    let full = Connect {
        version: V5,
        clean_start: false,
        keep_alive_seconds: 0x1234,
        properties: items![
            Property::SessionExpiryInterval(10),
            Property::ReceiveMaximum(id(20)),
            Property::MaximumPacketSize(NonZeroU32::new(0x10000).unwrap()),
            Property::TopicAliasMaximum(7),
            Property::RequestResponseInformation(true),
            Property::RequestProblemInformation(false),
            Property::UserProperty((text("k"), text("v"))),
            Property::UserProperty((text("k"), text(""))),
            Property::AuthenticationMethod(text("m")),
            Property::AuthenticationData(data(b"\x80")),
        ],
        client_id: Text::EMPTY,
        will: Some(full_will),
        user_name: None,
        password: Some(data(b"p")),
    };
    let example_5 =
        Connect { properties: items![Property::SessionExpiryInterval(10)], ..example(V5) };
    vec![
        vector(
            "connect_31",
            &VERSIONS,
            &[
                b"\x10\x0f",          // type and flags, remaining length
                b"\0\x06MQIsdp\x03",  // protocol name and level
                b"\x02\0\x3c\0\x01c", // flags: clean session; keep alive; client identifier
            ],
            plain(V31),
        ),
        vector(
            "connect_311",
            &VERSIONS,
            &[b"\x10\x0d", b"\0\x04MQTT\x04", b"\x02\0\x3c\0\x01c"],
            plain(V311),
        ),
        vector(
            "connect_311_example",
            &VERSIONS,
            &[
                b"\x10\x1d",
                b"\0\x04MQTT\x04",
                b"\xce\0\x0a",          // flags, keep alive
                b"\0\x01c",             // client identifier
                b"\0\x01w\0\x04gone",   // will topic, will payload
                b"\0\x01u\0\x02\0\xff", // user name, password
            ],
            example(V311),
        ),
        vector(
            "connect_5_example",
            &VERSIONS,
            &[
                b"\x10\x24",
                b"\0\x04MQTT\x05",
                b"\xce\0\x0a",
                b"\x05\x11\0\0\0\x0a", // property length, Session Expiry Interval
                b"\0\x01c",
                b"\0", // property length of the will
                b"\0\x01w\0\x04gone",
                b"\0\x01u\0\x02\0\xff",
            ],
            example_5,
        ),
        vector(
            "connect_5_full",
            &VERSIONS,
            &[
                b"\x10\x4a",
                b"\0\x04MQTT\x05",
                b"\x74\x12\x34",       // flags: will with QoS 2, retained; password
                b"\x29",               // property length
                b"\x11\0\0\0\x0a",     // Session Expiry Interval
                b"\x21\0\x14",         // Receive Maximum
                b"\x27\0\x01\0\0",     // Maximum Packet Size
                b"\x22\0\x07",         // Topic Alias Maximum
                b"\x19\x01\x17\x00",   // Request Response and Problem Information
                b"\x26\0\x01k\0\x01v", // User Property
                b"\x26\0\x01k\0\x00",  // another
                b"\x15\0\x01m",        // Authentication Method
                b"\x16\0\x01\x80",     // Authentication Data
                b"\0\0",               // client identifier
                b"\x07\x18\0\0\0\x09\x01", // Will Delay Interval, Payload Format Indicator
                b"\x01",
                b"\0\x01w\0\x04gone",
                b"\0\x01p",
            ],
            full,
        ),
    ]
}

fn connacks() -> Vec<Vector> {
    let connack = |session_present, reason| Connack {
        session_present,
        reason,
        properties: Properties::EMPTY,
    };
    let full = Connack {
        properties: items![
            Property::SessionExpiryInterval(0),
            Property::ReceiveMaximum(id(1)),
            Property::MaximumQos(Qos::AtLeastOnce),
            Property::RetainAvailable(false),
            Property::MaximumPacketSize(NonZeroU32::MAX),
            Property::AssignedClientIdentifier(text("me")),
            Property::TopicAliasMaximum(0xffff),
            Property::ReasonString(text("ok")),
            Property::WildcardSubscriptionAvailable(true),
            Property::SubscriptionIdentifierAvailable(false),
            Property::SharedSubscriptionAvailable(true),
            Property::ServerKeepAlive(60),
            Property::ResponseInformation(text("r")),
            Property::ServerReference(text("s")),
        ],
        ..connack(true, Reason::Success)
    };
    let bad_password = connack(false, Reason::BadUserNameOrPassword);
    vec![
        vector("connack", BEFORE_5, &[b"\x20\x02", b"\0\0"], connack(false, Reason::Success)),
        vector("connack_session", &[V311], &[b"\x20\x02\x01\0"], connack(true, Reason::Success)),
        vector("connack_refused", BEFORE_5, &[b"\x20\x02\0\x04"], bad_password),
        vector("connack_5_refused", &[V5], &[b"\x20\x03", b"\0\x86", b"\0"], bad_password),
        vector(
            "connack_5_full",
            &[V5],
            &[
                b"\x20\x32",
                b"\x01\x00",     // Session Present, reason code
                b"\x2f",         // property length
                b"\x11\0\0\0\0", // Session Expiry Interval
                b"\x21\0\x01",   // Receive Maximum
                b"\x24\x01",     // Maximum QoS
                b"\x25\0",       // Retain Available
                b"\x27\xff\xff\xff\xff",
                b"\x12\0\x02me",       // Assigned Client Identifier
                b"\x22\xff\xff",       // Topic Alias Maximum
                b"\x1f\0\x02ok",       // Reason String
                b"\x28\x01\x29\0\x2a", // Wildcard Subscription, Subscription Identifier and
                b"\x01",               // Shared Subscription Available
                b"\x13\0\x3c",         // Server Keep Alive
                b"\x1a\0\x01r",        // Response Information
                b"\x1c\0\x01s",        // Server Reference
            ],
            full,
        ),
    ]
}

fn messages() -> Vec<Vector> {
    // The standards' example of a variable header (section 3.3.2.3 in 3.1.1, 3.3.2.4 in 5.0).
    let example = Publish {
        delivery: Delivery::AtLeastOnce { packet_id: id(10), dup: false },
        ..message(b"")
    };
    let repeated = Publish {
        delivery: Delivery::ExactlyOnce { packet_id: id(0xffff), dup: true },
        retain: true,
        ..message(b"\0\x01")
    };
    let full = Publish {
        properties: items![
            Property::PayloadFormatIndicator(true),
            Property::MessageExpiryInterval(1),
            Property::TopicAlias(id(5)),
            Property::ResponseTopic(topic("r")),
            Property::CorrelationData(data(b"\x09")),
            Property::UserProperty((text("k"), text("v"))),
            Property::SubscriptionIdentifier(SubscriptionId::new(1).unwrap()),
            Property::SubscriptionIdentifier(SubscriptionId::new(268_435_455).unwrap()),
            Property::ContentType(text("t")),
        ],
        ..message(b"hi")
    };
    let alias = items![Property::TopicAlias(id(5))];
    let long: &[u8] = &[0x55; 200];
    vec![
        vector("publish", BEFORE_5, &[b"\x30\x07", b"\0\x03a/b", b"hi"], message(b"hi")),
        vector("publish_5", &[V5], &[b"\x30\x08", b"\0\x03a/b", b"\0", b"hi"], message(b"hi")),
        vector("publish_example", BEFORE_5, &[b"\x32\x07", b"\0\x03a/b", b"\0\x0a"], example),
        vector("publish_5_example", &[V5], &[b"\x32\x08", b"\0\x03a/b", b"\0\x0a\0"], example),
        vector(
            "publish_repeated",
            BEFORE_5,
            &[b"\x3d\x09", b"\0\x03a/b", b"\xff\xff", b"\0\x01"],
            repeated,
        ),
        vector(
            "publish_long",
            BEFORE_5,
            &[b"\x30\xcd\x01", b"\0\x03a/b", long], // 205 bytes: two bytes of length
            message(long.to_vec().leak()),
        ),
        vector(
            "publish_5_alias",
            &[V5],
            &[b"\x30\x08", b"\0\0", b"\x03\x23\0\x05", b"hi"], // no topic, but Topic Alias
            Publish { topic: None, properties: alias, ..message(b"hi") },
        ),
        vector(
            "publish_5_full",
            &[V5],
            &[
                b"\x30\x2c",
                b"\0\x03a/b",
                b"\x24",           // property length
                b"\x01\x01",       // Payload Format Indicator
                b"\x02\0\0\0\x01", // Message Expiry Interval
                b"\x23\0\x05",     // Topic Alias
                b"\x08\0\x01r",    // Response Topic
                b"\x09\0\x01\x09", // Correlation Data
                b"\x26\0\x01k\0\x01v",
                b"\x0b\x01",             // Subscription Identifier
                b"\x0b\xff\xff\xff\x7f", // another
                b"\x03\0\x01t",          // Content Type
                b"hi",
            ],
            full,
        ),
    ]
}

fn acknowledgements() -> Vec<Vector> {
    let ok = Acknowledgement::new(id(0x0102));
    let failed = Acknowledgement { reason: Reason::QuotaExceeded, ..ok };
    let unknown = Acknowledgement { reason: Reason::PacketIdNotFound, ..ok };
    let why = Acknowledgement { properties: items![Property::ReasonString(text("no"))], ..failed };
    let fine = Acknowledgement { properties: items![Property::ReasonString(text("no"))], ..ok };
    vec![
        vector("puback", &VERSIONS, &[b"\x40\x02", b"\x01\x02"], Packet::Puback(ok)),
        vector("pubrec", &VERSIONS, &[b"\x50\x02", b"\x01\x02"], Packet::Pubrec(ok)),
        vector("pubrel", &VERSIONS, &[b"\x62\x02", b"\x01\x02"], Packet::Pubrel(ok)),
        vector("pubcomp", &VERSIONS, &[b"\x70\x02", b"\x01\x02"], Packet::Pubcomp(ok)),
        vector("puback_5", &[V5], &[b"\x40\x03", b"\x01\x02", b"\x97"], Packet::Puback(failed)),
        vector("pubrel_5", &[V5], &[b"\x62\x03", b"\x01\x02", b"\x92"], Packet::Pubrel(unknown)),
        vector("pubcomp_5", &[V5], &[b"\x70\x03", b"\x01\x02", b"\x92"], Packet::Pubcomp(unknown)),
        vector(
            "pubrec_5_why",
            &[V5],
            &[b"\x50\x09", b"\x01\x02", b"\x97", b"\x05\x1f\0\x02no"], // Reason String
            Packet::Pubrec(why),
        ),
        vector(
            "puback_5_why",
            &[V5],
            &[b"\x40\x09", b"\x01\x02", b"\x00", b"\x05\x1f\0\x02no"],
            Packet::Puback(fine),
        ),
    ]
}

fn subscriptions() -> Vec<Vector> {
    // The standards' examples (sections 3.8.3 to 3.10.3), with packet identifier 10.
    let two = || {
        items![
            Subscription::new(filter("a/b"), Qos::AtLeastOnce),
            Subscription::new(filter("c/d"), Qos::ExactlyOnce)
        ]
    };
    let (packet_id, properties) = (id(10), Properties::EMPTY);
    let subscribe = Subscribe { packet_id, properties, subscriptions: two() };
    let all_options = Subscribe {
        packet_id,
        properties: items![
            Property::SubscriptionIdentifier(SubscriptionId::new(128).unwrap()),
            Property::UserProperty((text("k"), text("v"))),
        ],
        subscriptions: items![
            Subscription {
                no_local: true,
                retain_as_published: true,
                retain_handling: RetainHandling::DoNotSend,
                ..Subscription::new(filter("+/#"), Qos::ExactlyOnce)
            },
            Subscription {
                retain_handling: RetainHandling::SendIfNew,
                ..Subscription::new(filter("$share/g/+"), Qos::AtMostOnce)
            },
        ],
    };
    let reasons = || items![Reason::Success, Reason::GrantedQos2];
    let suback = |reasons| Suback { packet_id, properties, reasons };
    let failing = items![Reason::Success, Reason::GrantedQos2, Reason::UnspecifiedError];
    let filters = items![filter("a/b"), filter("c/d")];
    let unsubscribe = Unsubscribe { packet_id, properties, filters };
    let unsuback = |reasons| Unsuback { packet_id, properties, reasons };
    let answers = items![Reason::Success, Reason::NoSubscriptionExisted];
    let head = b"\0\x0a"; // packet identifier
    let five = b"\0\x0a\0"; // packet identifier, property length
    vec![
        vector(
            "subscribe",
            BEFORE_5,
            &[b"\x82\x0e", head, b"\0\x03a/b\x01", b"\0\x03c/d\x02"],
            subscribe,
        ),
        vector(
            "subscribe_5",
            &[V5],
            &[b"\x82\x0f", five, b"\0\x03a/b\x01", b"\0\x03c/d\x02"],
            subscribe,
        ),
        vector(
            "subscribe_5_options",
            &[V5],
            &[
                b"\x82\x20",
                head,
                b"\x0a\x0b\x80\x01",   // property length, Subscription Identifier
                b"\x26\0\x01k\0\x01v", // User Property
                b"\0\x03+/#\x2e",      // QoS 2, No Local, Retain As Published, handling 2
                b"\0\x0a$share/g/+\x10", // QoS 0, handling 1
            ],
            all_options,
        ),
        vector("suback", BEFORE_5, &[b"\x90\x04", head, b"\0\x02"], suback(reasons())),
        vector("suback_failure", BEFORE_5, &[b"\x90\x05", head, b"\0\x02\x80"], suback(failing)),
        vector("suback_5", &[V5], &[b"\x90\x06", five, b"\0\x02\x80"], suback(failing)),
        vector(
            "unsubscribe",
            BEFORE_5,
            &[b"\xa2\x0c", head, b"\0\x03a/b", b"\0\x03c/d"],
            unsubscribe,
        ),
        vector(
            "unsubscribe_5",
            &[V5],
            &[b"\xa2\x0d", five, b"\0\x03a/b", b"\0\x03c/d"],
            unsubscribe,
        ),
        vector("unsuback", BEFORE_5, &[b"\xb0\x02", head], unsuback(Items::EMPTY)),
        vector("unsuback_5", &[V5], &[b"\xb0\x05", five, b"\0\x11"], unsuback(answers)),
    ]
}

fn others() -> Vec<Vector> {
    let moved = Disconnect {
        reason: Reason::ServerMoved,
        properties: items![Property::ServerReference(text("there"))],
    };
    let takeover = Disconnect { reason: Reason::SessionTakenOver, properties: Properties::EMPTY };
    let auth = Auth {
        reason: Reason::ContinueAuthentication,
        properties: items![
            Property::AuthenticationMethod(text("m")),
            Property::AuthenticationData(data(b"\0")),
        ],
    };
    let success = Auth { reason: Reason::Success, properties: Properties::EMPTY };
    vec![
        vector("pingreq", &VERSIONS, &[b"\xc0\0"], Packet::Pingreq),
        vector("pingresp", &VERSIONS, &[b"\xd0\0"], Packet::Pingresp),
        vector("disconnect", &VERSIONS, &[b"\xe0\0"], Disconnect::NORMAL),
        vector("disconnect_5", &[V5], &[b"\xe0\x01\x8e"], takeover),
        vector(
            "disconnect_5_moved",
            &[V5],
            &[b"\xe0\x0a", b"\x9d", b"\x08\x1c\0\x05there"], // Server Reference
            moved,
        ),
        vector("auth_5", &[V5], &[b"\xf0\x0a", b"\x18", b"\x08\x15\0\x01m", b"\x16\0\x01\0"], auth),
        vector("auth_5_success", &[V5], &[b"\xf0\0"], success),
    ]
}
