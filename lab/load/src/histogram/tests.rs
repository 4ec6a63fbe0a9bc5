use super::*;
use crate::random::Words;

/// Returns values of all magnitudes, also beyond the range.
fn values(seed: u64, count: usize) -> Vec<u64> {
    let mut words = Words::new(seed);
    let mut value = || words.next_u64() >> (words.next_u64() % 64);
    (0..count).map(|_| value()).collect()
}

/// Returns the values around each power of two.
fn edges() -> impl Iterator<Item = u64> {
    (0..64).flat_map(|bit| [(1u64 << bit) - 1, 1 << bit, (1 << bit) + 1]).chain([u64::MAX])
}

fn of(values: &[u64]) -> Histogram {
    let mut histogram = Histogram::new();
    values.iter().for_each(|value| histogram.add(*value));
    histogram
}

#[test]
fn bins_touch_and_are_narrow() {
    let mut next = 0;
    for at in 0..BINS {
        let Latency { low_ns, high_ns } = bounds(at);
        assert_eq!(low_ns, next, "bin {at}");
        assert_eq!((index(low_ns), index(high_ns)), (at, at));
        assert!((high_ns - low_ns) * 128 <= low_ns, "bin {at}: {low_ns} to {high_ns}");
        next = high_ns + 1;
    }
    assert_eq!(next, RANGE_NS);
    assert_eq!(bounds(BINS), Latency { low_ns: RANGE_NS, high_ns: u64::MAX });
    for value in values(1, 2000).into_iter().chain(edges()) {
        let Latency { low_ns, high_ns } = bounds(index(value));
        assert!((low_ns..=high_ns).contains(&value), "{value} in {low_ns} to {high_ns}");
    }
}

#[test]
fn nothing_is_lost_beyond_the_range() {
    let histogram = of(&[5, RANGE_NS - 1, RANGE_NS, u64::MAX]);
    assert_eq!((histogram.count(), histogram.beyond()), (4, 2));
    assert_eq!((histogram.min_ns(), histogram.max_ns()), (Some(5), Some(u64::MAX)));
    let last = Latency { low_ns: RANGE_NS, high_ns: u64::MAX };
    assert_eq!(histogram.value_at(1.0), Some(last));
    assert_eq!(histogram.bins().last(), Some(Bin { bounds: last, count: 2 }));
    assert_eq!(histogram.bins().map(|bin| bin.count).sum::<u64>(), 4);
}

#[test]
fn an_empty_histogram_has_no_value() {
    let empty = Histogram::new();
    assert_eq!((empty.count(), empty.min_ns(), empty.max_ns()), (0, None, None));
    assert_eq!(empty.value_at(0.5), None);
    assert_eq!(empty.bins().count(), 0);
    assert_eq!(Histogram::from_bytes(&empty.to_bytes()), Ok(empty));
}

/// The value of each rank, found by sorting, lies in what the histogram says.
#[test]
fn quantiles_contain_those_of_the_values() {
    for (seed, count) in [(1, 1), (2, 2), (3, 100), (4, 1000), (5, 999)] {
        let mut values = values(seed, count);
        let histogram = of(&values);
        values.sort_unstable();
        // Shares in parts per 1000, so that the oracle has whole numbers.
        for parts in 1..=1000 {
            let rank = (parts * count).div_ceil(1000);
            let found = histogram.value_at(parts as f64 / 1000.0).unwrap();
            let value = values[rank - 1];
            let is_in = (found.low_ns..=found.high_ns).contains(&value);
            assert!(is_in, "{parts} of 1000, {count} values: {value} in {found:?}");
            let is_narrow = value >= RANGE_NS || (found.high_ns - found.low_ns) * 128 <= value;
            assert!(is_narrow, "{found:?}");
        }
    }
}

#[test]
fn ranks_of_decimal_shares_are_exact() {
    for count in [100, 1000, 10_000, 1_000_000, 1_000_000_000_000] {
        for hundredths in 1..=100 {
            let expected = count / 100 * hundredths;
            assert_eq!(rank(hundredths as f64 / 100.0, count), expected);
        }
    }
    for (share, expected) in [(0.0, 1), (-1.0, 1), (f64::NAN, 1), (0.101, 2), (1.0, 10), (2.0, 10)]
    {
        assert_eq!(rank(share, 10), expected, "{share}");
    }
}

#[test]
fn merging_is_counting_both() {
    let (one, other) = (values(6, 500), values(7, 300));
    let mut merged = of(&one);
    merged.merge(&of(&other));
    assert_eq!(merged, of(&[one.clone(), other].concat()));
    merged = of(&one);
    merged.merge(&Histogram::new());
    assert_eq!(merged, of(&one));
}

#[test]
fn bytes_round_trip() {
    for seed in 0..20 {
        let histogram = of(&values(seed, 200 * seed as usize));
        assert_eq!(Histogram::from_bytes(&histogram.to_bytes()), Ok(histogram));
    }
    let all: Vec<u64> = edges().collect();
    assert_eq!(Histogram::from_bytes(&of(&all).to_bytes()), Ok(of(&all)));
}

#[test]
fn bytes_are_small() {
    let mut words = Words::new(8);
    let quiet: Vec<u64> = (0..1000).map(|_| 80_000 + words.exponential() % 20_000).collect();
    let length_bytes = of(&quiet).to_bytes().len();
    assert!(length_bytes < 250, "{length_bytes}");
}

/// Either an error, or a histogram with exactly these bytes.
#[track_caller]
fn check_garbage(bytes: &[u8]) -> bool {
    let read = Histogram::from_bytes(bytes);
    match &read {
        Ok(histogram) => assert_eq!(histogram.to_bytes(), bytes),
        Err(damaged) => assert!(damaged.offset_bytes <= bytes.len(), "{damaged}"),
    }
    read.is_ok()
}

#[test]
fn garbage_is_an_error() {
    let bytes = of(&values(9, 300)).to_bytes();
    // A shorter one ends before the bin of the greatest value.
    for length in 0..bytes.len() {
        assert!(!check_garbage(&bytes[..length]) || length == 1, "{length}");
    }
    for at in 0..bytes.len() {
        for bit in 0..8 {
            let mut changed = bytes.clone();
            changed[at] ^= 1 << bit;
            check_garbage(&changed);
        }
    }
    let mut words = Words::new(10);
    for _ in 0..5000 {
        let length = words.next_u64() % 24;
        let mut random: Vec<u8> = (0..length).map(|_| words.next_u64() as u8 & 0x8f).collect();
        random.insert(0, FORM as u8);
        check_garbage(&random);
    }
}

#[test]
fn each_fault_of_bytes_has_its_reason() {
    let beyond = |count: u64| {
        let mut bytes = vec![1, 0, 0, 0, 1];
        put_number(&mut bytes, BINS as u64);
        put_number(&mut bytes, count);
        bytes
    };
    let mut too_many = vec![1, 0, 1, 0, 1, 0];
    put_number(&mut too_many, u64::MAX);
    let mut too_great = vec![1];
    put_number(&mut too_great, u64::MAX);
    too_great.extend([1, 0, 1]);
    for (bytes, reason) in [
        (vec![], "it ends here"),
        (vec![2], "an unknown version"),
        (vec![1, 7], "it ends here"),
        (vec![1, 7, 0], "a least or greatest value that no bin has"),
        (vec![1, 7, 0, 7, 0], "an empty bin, or counts above 64 bits"),
        (vec![1, 7, 0, 8, 1], "a least or greatest value that no bin has"),
        (vec![1, 7, 1, 7, 1], "a least or greatest value that no bin has"),
        (too_many, "an empty bin, or counts above 64 bits"),
        (too_great, "a greatest value above 64 bits"),
        (beyond(1), "a bin beyond the last"),
    ] {
        let damaged = Histogram::from_bytes(&bytes).unwrap_err();
        assert_eq!(damaged.reason, reason, "{bytes:?}");
    }
}
