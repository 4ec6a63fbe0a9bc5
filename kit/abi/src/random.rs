//! A stream of numbers that is the same on every machine.

/// SplitMix64 (Steele, Lea and Flood 2014, "Fast splittable pseudorandom number generators"), bit
/// for bit equal to the header's `tiebreak_random`. Oracles use it for their inputs.
///
/// ```
/// let mut random = tiebreak_abi::Random::new(0);
/// assert_eq!(random.next_u64(), 0xe220_a839_7b1d_cdaf);
/// ```
#[derive(Clone, Debug)]
pub struct Random(u64);

impl Random {
    /// Starts the stream of this seed.
    pub fn new(seed: u64) -> Random {
        Random(seed)
    }

    /// Returns the next 64 bits.
    pub fn next_u64(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let word = (self.0 ^ (self.0 >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let word = (word ^ (word >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        word ^ (word >> 31)
    }

    /// Returns a number below `end`, or 0 if `end` is 0: the upper half of the 128-bit product
    /// (Lemire 2019, "Fast random integer generation in an interval"). Its bias, at most `end` in
    /// 2^64, does not matter for an input.
    pub fn below(&mut self, end: u64) -> u64 {
        ((u128::from(self.next_u64()) * u128::from(end)) >> 64) as u64
    }
}
