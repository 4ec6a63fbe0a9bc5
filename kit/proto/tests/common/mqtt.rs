//! What holds for all bytes that are read as MQTT.

use super::{check_cut, cut, encoded, outcome, whole};
use tiebreak_proto::Decoded;
use tiebreak_proto::mqtt::{Header, Version, decode};

/// All versions.
pub const VERSIONS: [Version; 3] = [Version::V31, Version::V311, Version::V5];

/// A limit that no packet of the tests reaches.
pub const LIMIT: usize = 1 << 20;

/// Checks what holds for all bytes in all versions, cut at two places.
pub fn check(bytes: &[u8], a: usize, b: usize) {
    let [first, second, _] = cut(bytes, a, b);
    for version in VERSIONS {
        check_version(bytes, first.len(), version);
        check_version(bytes, first.len() + second.len(), version);
    }
}

/// Checks what holds for all bytes in a version, cut at a place. A packet has the header that is
/// read alone, and comes back from what it is encoded to, which is never longer than what it was
/// decoded from.
pub fn check_version(bytes: &[u8], cut: usize, version: Version) {
    check_cut(bytes, cut, |bytes| outcome(bytes, decode(bytes, version, LIMIT)));
    if let Ok(Decoded::Whole { value, length }) = decode(bytes, version, LIMIT) {
        let (header, _) = whole(Header::decode(bytes, version, length));
        assert_eq!((header.kind, header.packet_length), (value.kind(), length));

        let shortest = value.encoded_len(version);
        assert!(shortest <= length, "{shortest} > {length}: {bytes:x?}");
        let again = encoded(shortest, |out| value.encode(version, out));
        assert_eq!(whole(decode(&again, version, shortest)), (value, shortest), "{bytes:x?}");
    }
}
