//! A counter-based generator: the same numbers for the same counter, in any order, on any machine.
//!
//! Philox4x32-10 of Salmon, Moraes, Dror and Shaw, "Parallel random numbers: as easy as 1, 2, 3"
//! (SC 2011): ten rounds of multiplying, swapping and adding to the key. It passes their whole
//! battery of tests and needs no state. The tests below check its published test vectors.

const MULTIPLIERS: [u32; 2] = [0xD251_1F53, 0xCD9E_8D57];
const KEY_STEPS: [u32; 2] = [0x9E37_79B9, 0xBB67_AE85];

/// Returns the four words of a counter under a key.
pub fn philox4x32(counter: [u32; 4], key: [u32; 2]) -> [u32; 4] {
    let (mut c, mut k) = (counter, key);
    for round in 0..10 {
        if round > 0 {
            k = [k[0].wrapping_add(KEY_STEPS[0]), k[1].wrapping_add(KEY_STEPS[1])];
        }
        let first = u64::from(MULTIPLIERS[0]) * u64::from(c[0]);
        let second = u64::from(MULTIPLIERS[1]) * u64::from(c[2]);
        c = [
            (second >> 32) as u32 ^ c[1] ^ k[0],
            second as u32,
            (first >> 32) as u32 ^ c[3] ^ k[1],
            first as u32,
        ];
    }
    c
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The known answers that the authors publish with their library.
    #[test]
    fn known_answers() {
        for (counter, key, expected) in [
            ([0; 4], [0; 2], [0x6627_e8d5, 0xe169_c58d, 0xbc57_ac4c, 0x9b00_dbd8]),
            ([u32::MAX; 4], [u32::MAX; 2], [0x408f_276d, 0x41c8_3b0e, 0xa20b_c7c6, 0x6d54_51fd]),
            (
                [0x243f_6a88, 0x85a3_08d3, 0x1319_8a2e, 0x0370_7344],
                [0xa409_3822, 0x299f_31d0],
                [0xd16c_fe09, 0x94fd_cceb, 0x5001_e420, 0x2412_6ea1],
            ),
        ] {
            assert_eq!(philox4x32(counter, key), expected);
        }
    }
}
