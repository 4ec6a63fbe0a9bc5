//! Base64 (RFC 4648 section 4), as far as the handshake needs it.

const ALPHABET: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";

/// Writes `bytes` as text, padded with `=`, into `text`, which has 4 characters for each 3 bytes or
/// part of them.
pub(super) fn encode(bytes: &[u8], text: &mut [u8]) {
    for (group, place) in bytes.chunks(3).zip(text.as_chunks_mut::<4>().0) {
        let byte = |at: usize| u32::from(group.get(at).copied().unwrap_or(0));
        let bits = byte(0) << 16 | byte(1) << 8 | byte(2);
        *place = [18, 12, 6, 0].map(|shift| ALPHABET[(bits >> shift & 63) as usize]);
        place[group.len() + 1..].fill(b'=');
    }
}

/// Returns whether this is the text of 16 bytes: 22 characters of the alphabet, and the padding.
/// The 4 bits of the last one that stand for nothing may be any.
pub(super) fn is_of_16_bytes(text: &[u8; 24]) -> bool {
    text.ends_with(b"==") && text[..22].iter().all(|character| ALPHABET.contains(character))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The test vectors of RFC 4648 section 10, and all characters.
    #[test]
    fn texts_are_those_of_the_standard() {
        let check = |bytes: &[u8], expected: &str| {
            let mut text = [0; 8];
            encode(bytes, &mut text[..expected.len()]);
            assert_eq!(&text[..expected.len()], expected.as_bytes());
        };
        check(b"", "");
        check(b"f", "Zg==");
        check(b"fo", "Zm8=");
        check(b"foo", "Zm9v");
        check(b"foob", "Zm9vYg==");
        check(b"fooba", "Zm9vYmE=");
        check(b"foobar", "Zm9vYmFy");
        for (value, character) in ALPHABET.iter().enumerate() {
            let mut text = [0; 4];
            encode(&[0, 0, value as u8], &mut text);
            assert_eq!(text[3], *character);
        }
    }

    #[test]
    fn only_the_text_of_16_bytes_is_a_key() {
        assert!(is_of_16_bytes(b"dGhlIHNhbXBsZSBub25jZQ=="));
        assert!(!is_of_16_bytes(b"dGhlIHNhbXBsZSBub25jZWE="));
        assert!(!is_of_16_bytes(b"dGhlIHNhbXBsZSBub25jZQ=a"));
        assert!(!is_of_16_bytes(b"dGhlIHNhbXBsZSBub25jZ-=="));
        assert!(!is_of_16_bytes(b"========================"));
    }
}
