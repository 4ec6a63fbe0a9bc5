//! What holds for every vector, whole, cut and changed.

use crate::common::mqtt::{LIMIT, VERSIONS, check_version};
use crate::common::{encoded, whole};
use crate::vectors::{Vector, vectors};
use tiebreak_proto::Decoded;
use tiebreak_proto::mqtt::{Packet, PacketId, Version, decode};

/// Every vector in every version that has it.
fn each(mut function: impl FnMut(&Vector, Version)) {
    for vector in &vectors() {
        for version in vector.versions {
            function(vector, *version);
        }
    }
}

#[test]
fn vectors_are_decoded_and_encoded() {
    each(|Vector { name, bytes, packet, .. }, version| {
        let length = bytes.len();
        let (view, taken) = whole(decode(bytes, version, length));
        assert_eq!((view, taken), (*packet, length), "{name}");
        for packet in [*packet, view] {
            assert_eq!(packet.encoded_len(version), length, "{name}");
            assert_eq!(encoded(length, |out| packet.encode(version, out)), *bytes, "{name}");
        }
        let mut longer = vec![0xee; length + 1];
        assert_eq!(packet.encode(version, &mut longer), Ok(length), "{name}");
        assert_eq!(longer[length], 0xee, "{name}");
    });
}

#[test]
fn every_type_and_version_has_a_vector() {
    for version in VERSIONS {
        let mut found = [false; 16];
        each(|vector, of| found[vector.packet.kind() as usize] |= of == version);
        let last = if version == Version::V5 { 15 } else { 14 };
        assert!(found[1..=last].iter().all(|found| *found), "{version:?}: {found:?}");
    }
}

#[test]
fn every_truncation_is_short_and_says_what_it_needs() {
    each(|Vector { name, bytes, .. }, version| {
        let header = 2 + bytes[1..].iter().take_while(|byte| **byte >= 0x80).count();
        for cut in 0..bytes.len() {
            let needs = if cut < header { (cut + 1).max(2) } else { bytes.len() };
            let decoded = decode(&bytes[..cut], version, LIMIT);
            assert_eq!(decoded, Ok(Decoded::Short { needs }), "{name} cut to {cut}");
        }
    });
}

#[test]
fn changed_vectors_are_read_alike() {
    each(|Vector { bytes, .. }, version| {
        let length = bytes.len();
        // A 1 after the packet reads as much of anything; where a length became larger, it is part.
        let mut bytes = [&bytes[..], &[1; 300]].concat();
        // The longest has more, but only of payload.
        for at in 0..length.min(80) {
            let right = bytes[at];
            for wrong in 0..=255 {
                bytes[at] = wrong;
                check_version(&bytes, at, version);
            }
            bytes[at] = right;
        }
    });
}

#[test]
fn offsets_are_where_the_parts_lie() {
    each(|Vector { name, bytes, packet, .. }, version| {
        let Packet::Publish(publish) = packet else { return };
        let offsets = publish.offsets(version);
        assert_eq!(offsets.end, bytes.len(), "{name}");
        assert_eq!(&bytes[offsets.payload..offsets.end], publish.payload, "{name}");
        let found = offsets.packet_id.map(|at| u16::from_be_bytes([bytes[at], bytes[at + 1]]));
        assert_eq!(found.and_then(PacketId::new), publish.delivery.packet_id(), "{name}");
    });
}
