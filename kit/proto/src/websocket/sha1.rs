//! SHA-1 (FIPS 180-4 section 6.1). The handshake asks for it, and nothing rests on its strength.

/// The bytes of a block.
const BLOCK: usize = 64;

/// Returns the digest of `message`.
pub(super) fn sha1(message: &[u8]) -> [u8; 20] {
    let mut state = [0x6745_2301, 0xefcd_ab89, 0x98ba_dcfe, 0x1032_5476, 0xc3d2_e1f0];
    let (blocks, rest) = message.as_chunks::<BLOCK>();
    for block in blocks {
        compress(&mut state, block);
    }
    // The padding: a bit 1, zeros, and the length in bits as the last 8 bytes of a block.
    let mut last = [0; BLOCK];
    last[..rest.len()].copy_from_slice(rest);
    last[rest.len()] = 0x80;
    if rest.len() >= BLOCK - 8 {
        compress(&mut state, &last);
        last = [0; BLOCK];
    }
    last[BLOCK - 8..].copy_from_slice(&(message.len() as u64 * 8).to_be_bytes());
    compress(&mut state, &last);

    let mut digest = [0; 20];
    for (bytes, word) in digest.as_chunks_mut().0.iter_mut().zip(state) {
        *bytes = u32::to_be_bytes(word);
    }
    digest
}

fn compress(state: &mut [u32; 5], block: &[u8; BLOCK]) {
    let mut words = [0; 80];
    for (word, bytes) in words.iter_mut().zip(block.as_chunks().0) {
        *word = u32::from_be_bytes(*bytes);
    }
    for t in 16..80 {
        words[t] = (words[t - 3] ^ words[t - 8] ^ words[t - 14] ^ words[t - 16]).rotate_left(1);
    }
    let [mut a, mut b, mut c, mut d, mut e] = *state;
    for (t, word) in words.into_iter().enumerate() {
        let (mix, constant) = match t {
            0..20 => (b & c | !b & d, 0x5a82_7999),
            20..40 => (b ^ c ^ d, 0x6ed9_eba1),
            40..60 => (b & c | b & d | c & d, 0x8f1b_bcdc),
            _ => (b ^ c ^ d, 0xca62_c1d6_u32),
        };
        let next = a.rotate_left(5).wrapping_add(mix).wrapping_add(e);
        let next = next.wrapping_add(constant).wrapping_add(word);
        (a, b, c, d, e) = (next, a, b.rotate_left(30), c, d);
    }
    for (sum, word) in state.iter_mut().zip([a, b, c, d, e]) {
        *sum = sum.wrapping_add(word);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(message: &[u8], digest: &str) {
        let bytes = sha1(message);
        for (at, byte) in bytes.iter().enumerate() {
            assert_eq!(Ok(*byte), u8::from_str_radix(&digest[2 * at..2 * at + 2], 16), "{digest}");
        }
    }

    /// The examples of FIPS 180 for SHA-1, and the empty message.
    #[test]
    fn digests_are_those_of_the_standard() {
        check(b"", "da39a3ee5e6b4b0d3255bfef95601890afd80709");
        check(b"abc", "a9993e364706816aba3e25717850c26c9cd0d89d");
        let two_blocks = b"abcdbcdecdefdefgefghfghighijhijkijkljklmklmnlmnomnopnopq";
        check(two_blocks, "84983e441c3bd26ebaae4aa1f95129e5e54670f1");
        check(&[b'a'; 1_000_000], "34aa973cd4c4daa4f61eeb2bdbad27316534016f");
    }
}
