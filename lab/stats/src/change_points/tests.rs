//! Levels and shares of made-up sequences.

use super::*;
use crate::coins::{Purpose, Seed, Stream};

#[test]
fn levels_of_values() {
    fn check(values: &[f64], expected: &[(usize, usize)]) {
        let found: Vec<_> = levels(values).iter().map(|l| (l.first, l.last)).collect();
        assert_eq!(found, expected, "{values:?}");
    }
    check(&[], &[]);
    check(&[3.0], &[(0, 0)]);
    check(&[1.0, 0.0], &[]);
    check(&[1.0, f64::NAN], &[]);
    check(&[2.0; 9], &[(0, 8)]);
    check(&[1.0, 1.0, 1.0, 3.5, 3.5, 3.6], &[(0, 2), (3, 5)]);
    // One value on the way is not a level; the last value is one.
    check(&[1.0, 1.0, 1.0, 2.0, 4.0, 4.0, 4.0], &[(0, 2), (4, 6)]);
    check(&[1.0, 1.0, 1.0, 9.0], &[(0, 2), (3, 3)]);
    // A fall, and a rise that is too small, belong to the level before.
    check(&[4.0, 4.0, 4.0, 1.0, 1.0, 1.0], &[(0, 5)]);
    check(&[1.0, 1.0, 1.0, 1.0, 1.2, 1.2, 1.2, 1.2], &[(0, 7)]);
}

#[test]
fn a_machine_has_its_levels() {
    // Sizes 4 KiB to 128 MiB in powers of two and halfway, with data of 48 KiB, 1 MiB and 6 MiB.
    let mut values = vec![1.0; 8];
    values.extend([3.4; 8]);
    values.extend([6.8, 12.5, 13.5, 14.8, 16.2, 19.0]);
    values.extend([60.0, 110.0, 118.0, 125.0, 128.0, 130.0, 131.0]);
    let found = levels(&values);
    let ranges: Vec<_> = found.iter().map(|level| (level.first, level.last)).collect();
    assert_eq!(ranges, [(0, 7), (8, 15), (17, 21), (23, 28)]);
    assert!((found[1].value - 3.4).abs() < 1e-9);
    assert!((15.0..15.1).contains(&found[2].value), "{}", found[2].value);
    assert_eq!(found[3].count(), 6);
}

#[test]
fn noise_makes_no_levels() {
    // 500 sequences of one level with noise of 5%: few of them have an extra level.
    let mut coins = Stream::new(Seed::from_text("noise"), Purpose::Simulation, 0, 0);
    let mut wrong = 0;
    for _ in 0..500 {
        let values: Vec<f64> = (0..30).map(|_| libm::exp(0.05 * coins.normal())).collect();
        wrong += usize::from(levels(&values).len() > 1);
    }
    assert!(wrong <= 5, "{wrong} of 500");
}

#[test]
fn segments_of_shares() {
    fn check(counts: &[u64], total: u64, expected: &[(usize, usize)]) {
        assert_eq!(shares(counts, &vec![total; counts.len()]), expected);
    }
    check(&[], 10, &[]);
    check(&[1, 0, 2, 1], 1000, &[(0, 4)]);
    check(&[1, 0, 2, 130, 120, 125, 900, 910], 1000, &[(0, 3), (3, 6), (6, 8)]);
    check(&[11], 10, &[]);
    assert_eq!(shares(&[1], &[1, 2]), []);
    // Points with larger totals weigh more.
    assert_eq!(shares(&[0, 0, 500], &[1000, 2, 1000]), [(0, 2), (2, 3)]);
}

#[test]
fn the_partition_is_the_cheapest_of_all() {
    // Compared with all 2^9 cuts of ten values.
    let mut coins = Stream::new(Seed::from_text("partition"), Purpose::Simulation, 0, 0);
    for _ in 0..50 {
        let values: Vec<f64> = (0..10).map(|_| (coins.unit() * 4.0).trunc()).collect();
        let sums = Sums::of(&values);
        let cost = |first: usize, end: usize| sums.squares_about_mean(first, end);
        let total = |segments: &[(usize, usize)]| -> f64 {
            segments.iter().map(|(first, end)| cost(*first, *end) + 1.0).sum()
        };
        fn cuts(mask: u32) -> Vec<(usize, usize)> {
            let ends = (1..10).filter(|end| mask >> (end - 1) & 1 == 1).chain([10]);
            [0].into_iter().chain(ends.clone()).zip(ends).collect()
        }
        let least = (0..512).map(|mask| total(&cuts(mask))).fold(f64::INFINITY, f64::min);
        let found = total(&partition(10, 1.0, cost));
        assert!((found - least).abs() < 1e-9, "{found} {least}");
    }
}
