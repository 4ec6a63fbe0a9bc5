//! Packets of all types and versions that are drawn at random come back, and are read alike however
//! they are cut.

use crate::common::mqtt::{LIMIT, VERSIONS, check};
use crate::common::{encoded, whole};
use crate::permitted::REASONS;
use proptest::collection::vec;
use proptest::option;
use proptest::prelude::*;
use proptest::sample::select;
use std::num::{NonZeroU16, NonZeroU32};
use tiebreak_proto::Decoded;
use tiebreak_proto::mqtt::{
    Acknowledgement, Auth, Connack, Connect, Data, Delivery, Disconnect, EncodeError, Items, Kind,
    Packet, PacketId, Property, Publish, Qos, REMAINING_LENGTH_MAX, Reason, RetainHandling, Suback,
    Subscribe, Subscription, SubscriptionId, Text, TopicFilter, TopicName, Unsuback, Unsubscribe,
    Version, Will, decode,
};

// A view needs someone who owns its bytes: here the test, to its end.
fn kept(text: String) -> &'static str {
    text.leak()
}

fn text() -> impl Strategy<Value = Text<'static>> {
    let any = prop_oneof![4 => "[^\0]{0,12}", 1 => "[^\0]{100,300}"];
    any.prop_map(|text| Text::new(kept(text)).unwrap())
}

fn data() -> impl Strategy<Value = Data<'static>> {
    vec(any::<u8>(), 0..20).prop_map(|bytes| Data::new(bytes.leak()).unwrap())
}

fn topic() -> impl Strategy<Value = TopicName<'static>> {
    "[^\0+#]{1,12}".prop_map(|name| TopicName::new(kept(name)).unwrap())
}

fn filter() -> impl Strategy<Value = TopicFilter<'static>> {
    "([$]share/g/)?([^\0+#]{1,4}|[+])(/([^\0+#/]{0,4}|[+])){0,3}(/#)?"
        .prop_map(|filter| TopicFilter::new(kept(filter)).unwrap())
}

fn packet_id() -> impl Strategy<Value = PacketId> {
    any::<NonZeroU16>()
}

fn qos() -> impl Strategy<Value = Qos> {
    prop_oneof![Just(Qos::AtMostOnce), Just(Qos::AtLeastOnce), Just(Qos::ExactlyOnce)]
}

/// A reason that the packet may have.
fn reason(kind: Kind, version: Version) -> impl Strategy<Value = Reason> {
    let codes: &[u8] = match (kind, version) {
        (_, Version::V5) => REASONS.iter().find(|(of, _)| *of == kind).unwrap().1,
        // Those that have a return code.
        (Kind::Connack, _) => &[0, 0x84, 0x85, 0x86, 0x87, 0x88],
        (Kind::Suback, _) => &[0, 1, 2, 0x80],
        _ => &[0],
    };
    select(codes).prop_map(|code| Reason::from_u8(code).unwrap())
}

fn property() -> impl Strategy<Value = Property<'static>> {
    let numbers = prop_oneof![
        any::<bool>().prop_map(Property::PayloadFormatIndicator),
        any::<u32>().prop_map(Property::MessageExpiryInterval),
        (1..=REMAINING_LENGTH_MAX as u32)
            .prop_map(|id| Property::SubscriptionIdentifier(SubscriptionId::new(id).unwrap())),
        any::<u32>().prop_map(Property::SessionExpiryInterval),
        any::<u16>().prop_map(Property::ServerKeepAlive),
        any::<u32>().prop_map(Property::WillDelayInterval),
        any::<NonZeroU16>().prop_map(Property::ReceiveMaximum),
        any::<u16>().prop_map(Property::TopicAliasMaximum),
        any::<NonZeroU16>().prop_map(Property::TopicAlias),
        any::<NonZeroU32>().prop_map(Property::MaximumPacketSize),
    ];
    let switches = prop_oneof![
        any::<bool>().prop_map(Property::RequestProblemInformation),
        any::<bool>().prop_map(Property::RequestResponseInformation),
        qos().prop_map(Property::MaximumQos),
        any::<bool>().prop_map(Property::RetainAvailable),
        any::<bool>().prop_map(Property::WildcardSubscriptionAvailable),
        any::<bool>().prop_map(Property::SubscriptionIdentifierAvailable),
        any::<bool>().prop_map(Property::SharedSubscriptionAvailable),
    ];
    let texts = prop_oneof![
        text().prop_map(Property::ContentType),
        topic().prop_map(Property::ResponseTopic),
        data().prop_map(Property::CorrelationData),
        text().prop_map(Property::AssignedClientIdentifier),
        text().prop_map(Property::AuthenticationMethod),
        data().prop_map(Property::AuthenticationData),
        text().prop_map(Property::ResponseInformation),
        text().prop_map(Property::ServerReference),
        text().prop_map(Property::ReasonString),
        (text(), text()).prop_map(Property::UserProperty),
    ];
    prop_oneof![numbers, switches, texts]
}

/// Any properties in any order; [`fitting`] leaves out those that are misplaced. Versions before 5
/// have none.
fn properties(version: Version) -> BoxedStrategy<Vec<Property<'static>>> {
    let count = if version == Version::V5 { 0..24 } else { 0..1 };
    vec(property(), count).boxed()
}

type Properties = Items<'static, Property<'static>>;

fn listed(properties: Vec<Property<'static>>) -> Properties {
    Items::new(properties.leak())
}

/// Leaves out each property that makes the packet one which is refused.
fn fitting(
    version: Version,
    properties: Vec<Property<'static>>,
    packet: impl Fn(Properties) -> Packet<'static>,
) -> Packet<'static> {
    let mut kept = Vec::new();
    for property in properties {
        kept.push(property);
        let tried = packet(listed(kept.clone()));
        let room = tried.encoded_len(version);
        if let Err(error) = tried.encode(version, &mut vec![0; room]) {
            assert!(matches!(error, EncodeError::Refused(_)), "{error}");
            kept.pop();
        }
    }
    packet(listed(kept))
}

fn connect(version: Version) -> impl Strategy<Value = Packet<'static>> {
    let will = (qos(), any::<bool>(), properties(version), topic(), data());
    let head = (any::<bool>(), any::<u16>(), properties(version), text());
    let rest = (option::of(will), option::of(text()), option::of(data()));
    (head, rest).prop_map(move |(head, (will, user_name, password))| {
        let (clean_start, keep_alive_seconds, properties, client_id) = head;
        let password = password.filter(|_| version == Version::V5 || user_name.is_some());
        let bare = Connect {
            version,
            clean_start,
            keep_alive_seconds,
            properties: Items::EMPTY,
            client_id,
            will: None,
            user_name,
            password,
        };
        let with_will = match will {
            None => bare.into(),
            Some((qos, retain, of_will, topic, payload)) => {
                fitting(version, of_will, |properties| {
                    let will = Some(Will { qos, retain, properties, topic, payload });
                    Connect { will, ..bare }.into()
                })
            }
        };
        fitting(version, properties, |properties| match with_will {
            Packet::Connect(connect) => Connect { properties, ..connect }.into(),
            other => other,
        })
    })
}

fn delivery() -> impl Strategy<Value = Delivery> {
    let sent = || (packet_id(), any::<bool>());
    prop_oneof![
        Just(Delivery::AtMostOnce),
        sent().prop_map(|(packet_id, dup)| Delivery::AtLeastOnce { packet_id, dup }),
        sent().prop_map(|(packet_id, dup)| Delivery::ExactlyOnce { packet_id, dup }),
    ]
}

fn publish(version: Version) -> impl Strategy<Value = Packet<'static>> {
    let payload = vec(any::<u8>(), 0..300);
    (delivery(), any::<bool>(), topic(), any::<bool>(), properties(version), payload).prop_map(
        move |(delivery, retain, topic, has_alias, properties, payload)| {
            let payload: &[u8] = payload.leak();
            let packet =
                |topic, properties| Publish { delivery, retain, topic, properties, payload }.into();
            let alias = Property::TopicAlias(NonZeroU16::MIN);
            if has_alias && version == Version::V5 {
                let mut all = vec![alias];
                all.extend(properties);
                fitting(version, all, |properties| packet(None, properties))
            } else {
                fitting(version, properties, |properties| packet(Some(topic), properties))
            }
        },
    )
}

fn subscription(version: Version) -> impl Strategy<Value = Subscription<'static>> {
    let handling = prop_oneof![
        Just(RetainHandling::Send),
        Just(RetainHandling::SendIfNew),
        Just(RetainHandling::DoNotSend)
    ];
    (filter(), qos(), any::<bool>(), any::<bool>(), handling).prop_map(
        move |(filter, qos, no_local, retain_as_published, retain_handling)| {
            let plain = Subscription::new(filter, qos);
            if version != Version::V5 {
                return plain;
            }
            let no_local = no_local && filter.shared() == Ok(None);
            Subscription { no_local, retain_as_published, retain_handling, ..plain }
        },
    )
}

fn acknowledgement(version: Version) -> impl Strategy<Value = Packet<'static>> {
    let kind = select(vec![Kind::Puback, Kind::Pubrec, Kind::Pubrel, Kind::Pubcomp]);
    let with_reason = kind.prop_flat_map(move |kind| (Just(kind), reason(kind, version)));
    (with_reason, packet_id(), properties(version)).prop_map(
        move |((kind, reason), packet_id, properties)| {
            fitting(version, properties, |properties| {
                let acknowledgement = Acknowledgement { packet_id, reason, properties };
                match kind {
                    Kind::Puback => Packet::Puback(acknowledgement),
                    Kind::Pubrec => Packet::Pubrec(acknowledgement),
                    Kind::Pubrel => Packet::Pubrel(acknowledgement),
                    _ => Packet::Pubcomp(acknowledgement),
                }
            })
        },
    )
}

fn requests(version: Version) -> impl Strategy<Value = Packet<'static>> {
    let subscriptions = vec(subscription(version), 1..5);
    let subscribe = (packet_id(), properties(version), subscriptions).prop_map(
        move |(packet_id, properties, subscriptions)| {
            let subscriptions = Items::new(subscriptions.leak());
            fitting(version, properties, |properties| {
                Subscribe { packet_id, properties, subscriptions }.into()
            })
        },
    );
    let filters = vec(filter(), 1..5);
    let unsubscribe = (packet_id(), properties(version), filters).prop_map(
        move |(packet_id, properties, filters)| {
            let filters = Items::new(filters.leak());
            fitting(version, properties, |properties| {
                Unsubscribe { packet_id, properties, filters }.into()
            })
        },
    );
    prop_oneof![subscribe, unsubscribe]
}

fn answers(version: Version) -> impl Strategy<Value = Packet<'static>> {
    let reasons = vec(reason(Kind::Suback, version), 1..5);
    let suback = (packet_id(), properties(version), reasons).prop_map(
        move |(packet_id, properties, reasons)| {
            let reasons = Items::new(reasons.leak());
            fitting(version, properties, |properties| {
                Suback { packet_id, properties, reasons }.into()
            })
        },
    );
    let count = if version == Version::V5 { 1..5 } else { 0..1 };
    let reasons = vec(reason(Kind::Unsuback, version), count);
    let unsuback = (packet_id(), properties(version), reasons).prop_map(
        move |(packet_id, properties, reasons)| {
            let reasons = Items::new(reasons.leak());
            fitting(version, properties, |properties| {
                Unsuback { packet_id, properties, reasons }.into()
            })
        },
    );
    let connack = (any::<bool>(), reason(Kind::Connack, version), properties(version)).prop_map(
        move |(session_present, reason, properties)| {
            let session_present =
                session_present && reason == Reason::Success && version != Version::V31;
            fitting(version, properties, |properties| {
                Connack { session_present, reason, properties }.into()
            })
        },
    );
    prop_oneof![suback, unsuback, connack]
}

fn others(version: Version) -> impl Strategy<Value = Packet<'static>> {
    let disconnect = (reason(Kind::Disconnect, version), properties(version)).prop_map(
        move |(reason, properties)| {
            fitting(version, properties, |properties| Disconnect { reason, properties }.into())
        },
    );
    let pings = prop_oneof![Just(Packet::Pingreq), Just(Packet::Pingresp)];
    if version != Version::V5 {
        return prop_oneof![disconnect, pings].boxed();
    }
    let auth = (reason(Kind::Auth, version), text(), properties(version)).prop_map(
        move |(reason, method, properties)| {
            let mut all = vec![Property::AuthenticationMethod(method)];
            all.extend(properties);
            fitting(version, all, |properties| Auth { reason, properties }.into())
        },
    );
    prop_oneof![disconnect, pings, auth].boxed()
}

pub fn packet() -> impl Strategy<Value = (Version, Packet<'static>)> {
    select(&VERSIONS[..]).prop_flat_map(|version| {
        let packet = prop_oneof![
            connect(version),
            publish(version),
            acknowledgement(version),
            requests(version),
            answers(version),
            others(version),
        ];
        (Just(version), packet)
    })
}

proptest! {
    #[test]
    fn packets_come_back((version, packet) in packet()) {
        let length = packet.encoded_len(version);
        let bytes = encoded(length, |out| packet.encode(version, out));
        prop_assert_eq!(whole(decode(&bytes, version, length)), (packet, length));
        for cut in 0..length {
            let decoded = decode(&bytes[..cut], version, LIMIT);
            let Ok(Decoded::Short { needs }) = decoded else { panic!("{decoded:?}") };
            prop_assert!(needs > cut && needs <= length);
        }
    }

    #[test]
    fn changed_packets_are_read_alike(
        (version, packet) in packet(),
        changes in vec((any::<usize>(), any::<u8>()), 1..4),
        a: usize,
        b: usize,
    ) {
        let mut bytes = encoded(packet.encoded_len(version), |out| packet.encode(version, out));
        for (at, byte) in changes {
            let at = at % bytes.len();
            bytes[at] = byte;
        }
        check(&bytes, a, b);
    }

    #[test]
    fn any_bytes_are_read_alike(mut bytes in vec(any::<u8>(), 0..64), a: usize, b: usize) {
        check(&bytes, a, b);
        // Nearly always the length is too large; one that fits goes further.
        if let [_, length, rest @ ..] = &mut bytes[..] {
            *length = rest.len() as u8;
            check(&bytes, a, b);
        }
    }

    #[test]
    fn offsets_patch_a_message(
        (version, packet) in select(&VERSIONS[..])
            .prop_flat_map(|version| (Just(version), publish(version))),
        new_id in packet_id(),
        byte in any::<u8>(),
    ) {
        let Packet::Publish(publish) = packet else { unreachable!() };
        let mut bytes = encoded(packet.encoded_len(version), |out| packet.encode(version, out));
        let offsets = publish.offsets(version);
        if let Some(at) = offsets.packet_id {
            bytes[at..at + 2].copy_from_slice(&new_id.get().to_be_bytes());
        }
        bytes[offsets.payload..offsets.end].fill(byte);
        let delivery = match publish.delivery {
            Delivery::AtMostOnce => Delivery::AtMostOnce,
            Delivery::AtLeastOnce { dup, .. } => Delivery::AtLeastOnce { packet_id: new_id, dup },
            Delivery::ExactlyOnce { dup, .. } => Delivery::ExactlyOnce { packet_id: new_id, dup },
        };
        let payload = vec![byte; publish.payload.len()];
        let value = Publish { delivery, payload: &payload, ..publish }.into();
        let length = bytes.len();
        prop_assert_eq!(decode(&bytes, version, length), Ok(Decoded::Whole { value, length }));
    }
}
