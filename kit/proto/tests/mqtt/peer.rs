//! Another implementation, the crate symqtt-codec: packets of all types that are drawn at random
//! come back from it, by its reading and by its writing. It does not have version 3.1.

use crate::common::{encoded, whole};
use crate::round_trips::packet;
use bytes::BytesMut;
use proptest::prelude::*;
use symqtt_codec::{v3, v5};
use tiebreak_proto::mqtt::{
    Acknowledgement, Auth, Connack, Connect, Disconnect, Items, Packet, Properties, Publish,
    Suback, Subscribe, Unsuback, Unsubscribe, Version, Will, decode,
};

/// Has the other implementation read a packet, all of it, and write it.
fn through(version: Version, bytes: &[u8]) -> BytesMut {
    let (mut read, mut written) = (BytesMut::from(bytes), BytesMut::new());
    match version {
        Version::V5 => {
            let packet = v5::Packet::decode(&mut read).unwrap().unwrap();
            packet.encode(&mut written).unwrap();
        }
        _ => {
            let packet = v3::Packet::decode(&mut read).unwrap().unwrap();
            packet.encode(&mut written).unwrap();
        }
    }
    assert!(read.is_empty());
    written
}

/// Returns properties in the order of their numbers, which means the same: only those that may
/// stand more than once keep their order (5.0 section 2.2.2.2).
fn sorted(properties: Properties<'_>) -> Properties<'_> {
    let mut all: Vec<_> = properties.iter().collect();
    all.sort_by_key(|property| property.id());
    Items::new(all.leak())
}

/// Returns a packet with its properties in the order of their numbers.
fn normal(packet: Packet<'_>) -> Packet<'_> {
    match packet {
        Packet::Connect(of) => {
            let will = of.will.map(|will| Will { properties: sorted(will.properties), ..will });
            Connect { properties: sorted(of.properties), will, ..of }.into()
        }
        Packet::Connack(of) => Connack { properties: sorted(of.properties), ..of }.into(),
        Packet::Publish(of) => Publish { properties: sorted(of.properties), ..of }.into(),
        Packet::Puback(of) => Packet::Puback(acknowledged(of)),
        Packet::Pubrec(of) => Packet::Pubrec(acknowledged(of)),
        Packet::Pubrel(of) => Packet::Pubrel(acknowledged(of)),
        Packet::Pubcomp(of) => Packet::Pubcomp(acknowledged(of)),
        Packet::Subscribe(of) => Subscribe { properties: sorted(of.properties), ..of }.into(),
        Packet::Suback(of) => Suback { properties: sorted(of.properties), ..of }.into(),
        Packet::Unsubscribe(of) => Unsubscribe { properties: sorted(of.properties), ..of }.into(),
        Packet::Unsuback(of) => Unsuback { properties: sorted(of.properties), ..of }.into(),
        Packet::Pingreq | Packet::Pingresp => packet,
        Packet::Disconnect(of) => Disconnect { properties: sorted(of.properties), ..of }.into(),
        Packet::Auth(of) => Auth { properties: sorted(of.properties), ..of }.into(),
    }
}

fn acknowledged(of: Acknowledgement<'_>) -> Acknowledgement<'_> {
    Acknowledgement { properties: sorted(of.properties), ..of }
}

proptest! {
    #[test]
    fn packets_come_back_from_another_implementation((version, packet) in packet()) {
        prop_assume!(version != Version::V31);
        let bytes = encoded(packet.encoded_len(version), |out| packet.encode(version, out));
        let written = through(version, &bytes);
        let (again, length) = whole(decode(&written, version, written.len()));
        prop_assert_eq!(length, written.len());
        prop_assert_eq!(normal(again), normal(packet));
    }
}
