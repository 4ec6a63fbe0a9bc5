//! What a seed decides of a placement.

/// Numbers from a seed by SplitMix64 (Steele, Lea and Flood, "Fast splittable pseudorandom number
/// generators", OOPSLA 2014): the n-th is a hash of `seed + n * 0x9e3779b97f4a7c15`.
#[derive(Debug)]
pub(super) struct Draw(u64);

impl Draw {
    pub(super) fn new(seed: u64) -> Draw {
        Draw(seed)
    }

    pub(super) fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut word = self.0;
        word = (word ^ (word >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        word = (word ^ (word >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        word ^ (word >> 31)
    }

    /// A fair coin.
    pub(super) fn coin(&mut self) -> bool {
        self.next() >> 63 == 1
    }

    /// A number below `count`, by the high half of a product; off by less than count / 2^64.
    fn below(&mut self, count: usize) -> usize {
        ((u128::from(self.next()) * count as u128) >> 64) as usize
    }

    /// Puts the items into an order that is drawn.
    pub(super) fn shuffle<T>(&mut self, items: &mut [T]) {
        for last in (1..items.len()).rev() {
            let other = self.below(last + 1);
            items.swap(last, other);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_those_of_the_reference() {
        // The first three of the reference implementation, https://prng.di.unimi.it/splitmix64.c.
        let mut draw = Draw::new(1_234_567);
        let first = [draw.next(), draw.next(), draw.next()];
        let reference =
            [6_457_827_717_110_365_317, 3_203_168_211_198_807_973, 9_817_491_932_198_370_423];
        assert_eq!(first, reference);
    }

    #[test]
    fn every_order_is_as_likely() {
        let mut counts = [0_u32; 6];
        for seed in 0..6000 {
            let mut items = [0_usize, 1, 2];
            Draw::new(seed).shuffle(&mut items);
            counts[items[0] * 2 + usize::from(items[1] > items[2])] += 1;
        }
        // 1000 each; the standard deviation is 29.
        assert!(counts.iter().all(|&count| (880..1120).contains(&count)), "{counts:?}");
    }
}
