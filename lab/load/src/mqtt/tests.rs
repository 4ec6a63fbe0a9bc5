//! Whole conversations with a broker that is played in memory, and with servers that do wrong.

mod room;

use super::*;
use crate::conversation::{Broken, Conversation, Heard};
use crate::played::{Played, Step, check_cuts, check_damage};
use crate::stamp::Stamp;
use room::Room;
use std::num::NonZeroU32;
use tiebreak_proto::Decoded;
use tiebreak_proto::mqtt::{
    Acknowledgement, Connack, Delivery as How, Disconnect, Items, Kind, Packet, PacketId,
    Properties, Property, Publish, Reason, Suback, Text, TopicName, decode,
};

const VERSIONS: [Version; 3] = [Version::V31, Version::V311, Version::V5];
const ALL_QOS: [Qos; 3] = [Qos::AtMostOnce, Qos::AtLeastOnce, Qos::ExactlyOnce];

fn stamp(number: u64) -> Stamp {
    Stamp { number, intended_ns: 1_000 * number, actual_ns: 1_000 * number + 1 }
}

fn options(version: Version, shape: Shape) -> MqttOptions {
    MqttOptions {
        version,
        shape,
        payload_bytes: 16,
        publish_qos: Qos::AtMostOnce,
        subscribe_qos: Qos::AtLeastOnce,
        keep_alive_s: 0,
        seed: 1,
    }
}

fn encoded(packet: &Packet<'_>, version: Version) -> Vec<u8> {
    let mut bytes = Vec::new();
    publisher::append(packet, version, &mut bytes);
    bytes
}

fn connack(reason: Reason, properties: &[Property<'_>]) -> Vec<u8> {
    let properties = Properties::new(properties);
    encoded(&Connack { session_present: false, reason, properties }.into(), Version::V5)
}

fn suback(reason: Reason) -> Vec<u8> {
    let (packet_id, reasons) = (PacketId::MAX, &[reason][..]);
    let reasons = Items::new(reasons);
    encoded(&Suback { packet_id, properties: Properties::EMPTY, reasons }.into(), Version::V5)
}

fn delivery(qos: Qos, packet_id: PacketId) -> How {
    match qos {
        Qos::AtMostOnce => How::AtMostOnce,
        Qos::AtLeastOnce => How::AtLeastOnce { packet_id, dup: false },
        Qos::ExactlyOnce => How::ExactlyOnce { packet_id, dup: false },
    }
}

/// Sends messages in turns as a generator does, and returns what arrives at each connection.
fn arrivals(options: MqttOptions, messages: u64) -> (Mqtt, Vec<Vec<Stamp>>, u64) {
    let mqtt = Mqtt::new(options).unwrap();
    let mut room = Room::new(options);
    for number in 0..messages {
        let sender = (number % u64::from(mqtt.senders())) as u32;
        room.clients[mqtt.connection_of(sender) as usize].send(stamp(number));
        // Some go together, some alone.
        if number % 5 == 0 {
            room.settle();
        }
    }
    room.settle();
    let arrived = room.clients.iter_mut().map(Played::arrived).collect();
    (mqtt, arrived, room.published)
}

#[test]
fn each_message_arrives_where_it_must_in_every_version_and_qos() {
    let messages = 60;
    for version in VERSIONS {
        for (publish_qos, subscribe_qos) in
            ALL_QOS.into_iter().flat_map(|a| ALL_QOS.map(|b| (a, b)))
        {
            let check = |shape, published, expected: &dyn Fn(u32) -> Vec<Stamp>| {
                let options = MqttOptions {
                    publish_qos,
                    subscribe_qos,
                    payload_bytes: 200,
                    ..options(version, shape)
                };
                let (mqtt, arrived, seen) = arrivals(options, messages);
                let expected: Vec<_> = (0..mqtt.connections()).map(expected).collect();
                assert_eq!(arrived, expected, "{options:?}");
                assert_eq!(seen, published);
                let all = messages * u64::from(mqtt.arrivals_a_message());
                assert_eq!(arrived.iter().map(|at| at.len() as u64).sum::<u64>(), all);
            };
            let of = |sender: u32, senders: u64| {
                let numbers = (0..messages).filter(|number| number % senders == u64::from(sender));
                numbers.map(stamp).collect()
            };
            check(Shape::Pairs { connections: 6 }, messages, &|at| match at {
                0..3 => vec![],
                _ => of(at - 3, 3),
            });
            check(Shape::Ping { pairs: 3, wildcards: 2 }, 2 * messages, &|at| match at {
                0..3 => of(at, 3),
                _ => vec![],
            });
            check(Shape::Fan { publishers: 1, subscribers: 4 }, messages, &|at| match at {
                0 => vec![],
                _ => of(0, 1),
            });
            check(Shape::Fan { publishers: 1, subscribers: 1 }, messages, &|at| match at {
                0 => vec![],
                _ => of(0, 1),
            });
        }
    }
}

#[test]
fn many_publishers_reach_one_subscriber() {
    let shape = Shape::Fan { publishers: 7, subscribers: 1 };
    let (_, mut arrived, _) = arrivals(options(Version::V311, shape), 100);
    let mut last = arrived.pop().unwrap();
    assert!(arrived.iter().all(Vec::is_empty));
    last.sort_by_key(|stamp| stamp.number);
    assert_eq!(last, (0..100).map(stamp).collect::<Vec<_>>());
}

#[test]
fn groups_are_those_of_their_senders_and_of_who_answers_them() {
    let check = |shape, groups: &[u32], senders| {
        let mqtt = Mqtt::new(options(Version::V5, shape)).unwrap();
        assert_eq!(mqtt.senders(), senders);
        let found: Vec<_> = (0..mqtt.connections()).map(|at| mqtt.group_of(at)).collect();
        assert_eq!(found, groups);
        for sender in 0..senders {
            assert_eq!(mqtt.group_of(mqtt.connection_of(sender)), sender);
        }
    };
    check(Shape::Pairs { connections: 6 }, &[0, 1, 2, 0, 1, 2], 3);
    check(Shape::Ping { pairs: 2, wildcards: 3 }, &[0, 1, 0, 1, 2, 3, 4], 2);
    check(Shape::Fan { publishers: 2, subscribers: 3 }, &[0, 1, 2, 3, 4], 2);
}

#[test]
fn options_that_cannot_be_are_refused_with_what_can() {
    let check = |shape, payload_bytes, part: &str| {
        let options = MqttOptions { payload_bytes, ..options(Version::V5, shape) };
        let error = Mqtt::new(options).unwrap_err().to_string();
        assert!(error.contains(part) && error.contains(": give "), "{error}");
    };
    check(Shape::Pairs { connections: 7 }, 16, "7 connections in pairs");
    check(Shape::Pairs { connections: 0 }, 16, "at least one");
    check(Shape::Pairs { connections: 2 }, 15, "a payload of 15 bytes");
    check(Shape::Ping { pairs: 0, wildcards: 1 }, 16, "at least one");
    check(Shape::Ping { pairs: u32::MAX, wildcards: 0 }, 16, "fewer connections");
    check(Shape::Fan { publishers: 0, subscribers: 1 }, 16, "at least one");
    check(Shape::Fan { publishers: 1, subscribers: 0 }, 16, "at least one");
    check(Shape::Fan { publishers: 1, subscribers: u32::MAX }, 16, "fewer connections");
}

#[test]
fn loads_of_other_seeds_have_other_names() {
    let names = |seed| {
        let shape = Shape::Pairs { connections: 2 };
        let room = Room::new(MqttOptions { seed, ..options(Version::V311, shape) });
        (room.subscriptions, room.names)
    };
    assert_eq!(names(1), names(1));
    let ((one, first), (two, second)) = (names(1), names(2));
    assert_ne!(one, two);
    assert!(first.is_disjoint(&second));
}

/// A load of one pair by version 5 with this QoS, and one of its ends.
fn end_of_pair(qos: Qos, connection: u32) -> Client {
    let options = MqttOptions {
        publish_qos: qos,
        subscribe_qos: qos,
        ..options(Version::V5, Shape::Pairs { connections: 2 })
    };
    Mqtt::new(options).unwrap().converse(connection)
}

/// What a server delivers to the second end, of the topic that its SUBSCRIBE has.
fn delivered(qos: Qos, packet_id: u16, payload: &[u8]) -> Vec<u8> {
    let topic = Room::new(options(Version::V5, Shape::Pairs { connections: 2 })).subscriptions;
    let publish = Publish {
        delivery: delivery(qos, PacketId::new(packet_id).unwrap()),
        retain: false,
        topic: Some(TopicName::new(&topic[0].1).unwrap()),
        properties: Properties::new(&[Property::MessageExpiryInterval(9)]),
        payload,
    };
    encoded(&publish.into(), Version::V5)
}

fn acknowledgement(kind: Kind, packet_id: u16, reason: Reason) -> Vec<u8> {
    let packet_id = PacketId::new(packet_id).unwrap();
    let acknowledgement = Acknowledgement { reason, ..Acknowledgement::new(packet_id) };
    let packet = match kind {
        Kind::Puback => Packet::Puback(acknowledgement),
        Kind::Pubrec => Packet::Pubrec(acknowledgement),
        Kind::Pubcomp => Packet::Pubcomp(acknowledgement),
        _ => Packet::Pubrel(acknowledgement),
    };
    encoded(&packet, Version::V5)
}

#[test]
fn the_server_may_be_heard_in_pieces_of_any_size() {
    let ack = |kind, id| acknowledgement(kind, id, Reason::Success);
    let (first, second) = (stamp(1), stamp(2));
    let open =
        || Step::Server(connack(Reason::Success, &[Property::ReceiveMaximum(PacketId::MAX)]));

    let steps = [
        open(),
        Step::Server(
            [
                suback(Reason::GrantedQos2),
                delivered(Qos::ExactlyOnce, 7, &first.to_bytes()),
                delivered(Qos::AtMostOnce, 1, &second.to_bytes()),
                ack(Kind::Pubrel, 7),
            ]
            .concat(),
        ),
    ];
    let (heard, broken) = check_cuts(|| end_of_pair(Qos::ExactlyOnce, 1), &steps);
    assert_eq!(heard, [Heard::Open, Heard::Arrived(first), Heard::Arrived(second)]);
    assert_eq!(broken, None);
    check_damage(|| end_of_pair(Qos::ExactlyOnce, 1), &steps);

    let answers = [ack(Kind::Pubrec, 2), ack(Kind::Pubrec, 1), ack(Kind::Pubcomp, 2)].concat();
    let refused = acknowledgement(Kind::Pubrec, 3, Reason::QuotaExceeded);
    let steps = [
        open(),
        Step::Send(first),
        Step::Send(second),
        Step::Send(stamp(3)),
        Step::Server([answers, refused, ack(Kind::Pubcomp, 1)].concat()),
        Step::Server([ack(Kind::Puback, 1), b"what follows is of no matter".to_vec()].concat()),
    ];
    let (heard, broken) = check_cuts(|| end_of_pair(Qos::ExactlyOnce, 0), &steps);
    assert_eq!(heard, [Heard::Open, Heard::Refused(stamp(3), 0x97)]);
    let Broken(why) = broken.unwrap();
    assert_eq!(why, "sent a PUBACK for packet 1, which does not wait for one");
    check_damage(|| end_of_pair(Qos::ExactlyOnce, 0), &steps);
}

#[test]
fn a_sender_is_free_below_the_servers_receive_maximum() {
    let most = PacketId::new(3).unwrap();
    for (qos, last) in [(Qos::AtLeastOnce, Kind::Puback), (Qos::ExactlyOnce, Kind::Pubcomp)] {
        let mut client = Played::new(end_of_pair(qos, 0));
        client.receive(&connack(Reason::Success, &[Property::ReceiveMaximum(most)])).unwrap();
        for number in 0..3 {
            client.send(stamp(number));
        }
        assert!(!client.conversation.is_free());
        if last == Kind::Pubcomp {
            client.receive(&acknowledgement(Kind::Pubrec, 2, Reason::Success)).unwrap();
            assert!(!client.conversation.is_free());
        }
        client.receive(&acknowledgement(last, 2, Reason::Success)).unwrap();
        assert!(client.conversation.is_free());
        client.send(stamp(3));
        assert!(!client.conversation.is_free());
    }
    // QoS 0 has no such limit, and only who publishes sends.
    let mut client = Played::new(end_of_pair(Qos::AtMostOnce, 0));
    client.receive(&connack(Reason::Success, &[Property::ReceiveMaximum(PacketId::MIN)])).unwrap();
    (0..100).for_each(|number| client.send(stamp(number)));
    assert!(!end_of_pair(Qos::AtMostOnce, 1).is_free());
}

#[test]
fn answers_wait_until_the_server_takes_them() {
    let shape = Shape::Ping { pairs: 1, wildcards: 0 };
    let options = MqttOptions { publish_qos: Qos::AtLeastOnce, ..options(Version::V5, shape) };
    let mqtt = Mqtt::new(options).unwrap();
    let (mut asking, mut answering) =
        (Played::new(mqtt.converse(0)), Played::new(mqtt.converse(1)));
    let properties = [Property::ReceiveMaximum(PacketId::MIN)];
    for client in [&mut asking, &mut answering] {
        client.receive(&connack(Reason::Success, &properties)).unwrap();
        client.receive(&suback(Reason::GrantedQos1)).unwrap();
        client.out.clear();
    }
    for number in 1..=3 {
        asking.send(stamp(number));
        asking.receive(&acknowledgement(Kind::Puback, number as u16, Reason::Success)).unwrap();
    }
    // The broker passes all requests on at once; their form is that of a delivery.
    answering.receive(&asking.out).unwrap();
    for number in 1..=3 {
        let mut answers = Vec::new();
        let mut rest = &answering.out[..];
        while let Ok(Decoded::Whole { value, length }) = decode(rest, Version::V5, 1000) {
            if let Packet::Publish(publish) = value {
                answers.push(Stamp::from_bytes(publish.payload.try_into().unwrap()));
            }
            rest = &rest[length..];
        }
        assert_eq!(answers, [stamp(number)]);
        answering.out.clear();
        let ack = acknowledgement(Kind::Puback, number as u16, Reason::Success);
        answering.receive(&ack).unwrap();
    }
    assert!(answering.out.is_empty());
}

#[test]
fn what_a_server_does_wrong_is_said_in_a_sentence() {
    let open = connack(Reason::Success, &[]);
    let subscribed = [open.clone(), suback(Reason::GrantedQos2)].concat();
    let after = |bytes: Vec<u8>| [subscribed.clone(), bytes].concat();
    let said = [Property::ReasonString(Text::new("no \n").unwrap())];
    let reason = Reason::SessionTakenOver;
    let end = encoded(&Disconnect { reason, properties: Properties::EMPTY }.into(), Version::V5);
    let small = Property::MaximumPacketSize(NonZeroU32::new(40).unwrap());
    let foreign = {
        let mut bytes = delivered(Qos::AtMostOnce, 1, &[0; 16]);
        bytes[5] = b'X';
        bytes
    };
    let rows: [(u32, Vec<u8>, &str); 16] = [
        (0, connack(Reason::NotAuthorized, &said), r#"not authorized (0x87), "no \n""#),
        (0, b"\x20\x02\0\x01".to_vec(), "unsupported protocol version (0x01)"),
        (0, b"HTTP/1.1 400 Bad Request\r\n".to_vec(), "sent bytes that are not MQTT: "),
        (0, suback(Reason::Success), "sent a SUBACK before its CONNACK"),
        (0, connack(Reason::Success, &[Property::MaximumQos(Qos::AtLeastOnce)]), "has QoS 1 at"),
        (0, connack(Reason::Success, &[small]), "takes packets of at most 40 bytes"),
        (0, [open.clone(), open.clone()].concat(), "sent a CONNACK that nothing asked for"),
        (0, [open.clone(), delivered(Qos::AtMostOnce, 1, &[0; 16])].concat(), "not subscribed"),
        (0, [open.clone(), end.clone()].concat(), "connection: session taken over (0x8e)"),
        (1, [open.clone(), suback(Reason::NotAuthorized)].concat(), "': not authorized (0x87)"),
        (1, [open.clone(), suback(Reason::GrantedQos1)].concat(), "grants QoS 1 for 'tiebreak/"),
        (1, after(delivered(Qos::AtMostOnce, 1, &[0; 15])), "a payload of 15 bytes that is none"),
        (1, after(delivered(Qos::AtMostOnce, 1, &[0; 17])), "a payload of 17 bytes that is none"),
        (1, after(foreign), "a client that has not subscribed"),
        (1, after(b"\x30\xff\xff\xff\x7f".to_vec()), "268435460 bytes: at most 65552 are accepted"),
        (1, after(acknowledgement(Kind::Puback, 1, Reason::Success)), "a PUBACK that nothing"),
    ];
    for (connection, bytes, part) in rows {
        let steps = [Step::Server(bytes)];
        let (_, broken) = check_cuts(|| end_of_pair(Qos::ExactlyOnce, connection), &steps);
        let Broken(why) = broken.unwrap_or_else(|| panic!("{part}"));
        assert!(why.contains(part) && !why.contains(char::is_control), "{why:?}: {part}");
    }
}

#[test]
fn wildcards_need_a_server_that_has_them() {
    let shape = Shape::Ping { pairs: 1, wildcards: 1 };
    let mqtt = Mqtt::new(options(Version::V5, shape)).unwrap();
    let without = connack(Reason::Success, &[Property::WildcardSubscriptionAvailable(false)]);
    for (connection, is_right) in [(0, true), (1, true), (2, false)] {
        let mut client = Played::new(mqtt.converse(connection));
        assert_eq!(client.receive(&without).is_ok(), is_right);
    }
}

#[test]
fn the_end_of_a_connection_is_never_right() {
    let mut client = Played::new(end_of_pair(Qos::AtMostOnce, 1));
    let mut end = |bytes: &[u8], part: &str| {
        client.receive(bytes).unwrap();
        let Broken(why) = client.conversation.end(false, &mut Vec::new()).unwrap_err();
        assert!(why.ends_with(part), "{why}");
    };
    end(b"\x20", "in place of a CONNACK");
    end(&connack(Reason::Success, &[])[1..], "in place of a SUBACK");
    end(&suback(Reason::Success), "closed the connection");
}

#[test]
fn return_codes_before_version_5_have_their_own_numbers() {
    for (version, code, part) in [
        (Version::V31, 1, "unsupported protocol version (0x01)"),
        (Version::V311, 5, "not authorized (0x05)"),
    ] {
        let mqtt = Mqtt::new(options(version, Shape::Pairs { connections: 2 })).unwrap();
        let steps = [Step::Server(vec![0x20, 2, 0, code])];
        let Broken(why) = check_cuts(|| mqtt.converse(0), &steps).1.unwrap();
        assert!(why.ends_with(part), "{why}");
    }
}
