//! What the seed of a placement determines.

use tiebreak_abi::Random;

/// Tosses a fair coin.
pub(super) fn coin(random: &mut Random) -> bool {
    random.next_u64() >> 63 == 1
}

/// Shuffles the items.
pub(super) fn shuffle<T>(random: &mut Random, items: &mut [T]) {
    for last in (1..items.len()).rev() {
        let other = random.below(last as u64 + 1);
        items.swap(last, other as usize);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_order_is_as_likely() {
        let mut counts = [0_u32; 6];
        for seed in 0..6000 {
            let mut items = [0_usize, 1, 2];
            shuffle(&mut Random::new(seed), &mut items);
            counts[items[0] * 2 + usize::from(items[1] > items[2])] += 1;
        }
        // 1000 each; the standard deviation is 29.
        assert!(counts.iter().all(|&count| (880..1120).contains(&count)), "{counts:?}");
    }

    #[test]
    fn coins_are_fair() {
        let mut random = Random::new(1);
        let heads = (0..10_000).filter(|_| coin(&mut random)).count();
        // The standard deviation is 50.
        assert!((4750..5250).contains(&heads), "{heads}");
    }
}
