//! Orders and choices that need no more than to look random.

/// A generator of 64-bit numbers: `splitmix64` (Steele, Lea and Flood 2014).
pub(crate) struct Random(u64);

impl Random {
    /// The generator of a stream.
    pub(crate) fn new(stream: u64) -> Random {
        Random(stream.wrapping_mul(0x9e37_79b9_7f4a_7c15).wrapping_add(1))
    }

    /// A number below `bound`, which is above 0; biased by no more than `bound` in 2^64.
    pub(crate) fn below(&mut self, bound: usize) -> usize {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut bits = self.0;
        bits = (bits ^ bits >> 30).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        bits = (bits ^ bits >> 27).wrapping_mul(0x94d0_49bb_1331_11eb);
        ((bits ^ bits >> 31) % bound as u64) as usize
    }

    /// Puts things into a random order.
    pub(crate) fn shuffle<T>(&mut self, things: &mut [T]) {
        for last in (1..things.len()).rev() {
            things.swap(last, self.below(last + 1));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn orders_are_permutations_and_differ_by_stream() {
        let order = |stream| {
            let mut order: Vec<usize> = (0..50).collect();
            Random::new(stream).shuffle(&mut order);
            order
        };
        let mut sorted = order(3);
        sorted.sort_unstable();
        assert_eq!(sorted, (0..50).collect::<Vec<_>>());
        assert_eq!(order(3), order(3));
        assert_ne!(order(3), order(4));
    }

    #[test]
    fn each_number_is_about_as_likely() {
        let mut random = Random::new(7);
        let mut counts = [0; 5];
        (0..50_000).for_each(|_| counts[random.below(5)] += 1);
        assert!(counts.iter().all(|count| (9_500..10_500).contains(count)), "{counts:?}");
    }
}
