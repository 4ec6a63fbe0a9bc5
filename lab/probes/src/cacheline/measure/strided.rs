//! The published strided copy (Lemire 2023): every n-th byte of an array of 32 MiB is copied to
//! another array, at 497 strides, ten times in a row at each.

use crate::StridedPoint;
use crate::tools::*;
use std::ops::RangeInclusive;

/// Bytes of each array, as published. Larger caches hold all of it.
const BYTES: usize = 32 << 20;
/// The strides, as published.
const STRIDES: RangeInclusive<usize> = 16..=512;
/// The strides that the published rule compares, in the order in which they are measured.
const OF_THE_RULE: [[usize; 2]; 4] = [[64, 129], [128, 257], [32, 65], [16, 33]];
/// Passes over the array at each stride, as published.
const PASSES: usize = 10;

/// Measures the strides within a length of time, those of the rule first and the others scattered.
/// Strides that the rule compares take turns: in each round each has one, in drawn order.
///
/// # Errors
/// There is no memory for the arrays.
pub(super) fn measure(
    memory_bytes: u64,
    length: Duration,
    budget: &mut Budget<'_>,
) -> Result<Vec<StridedPoint>, String> {
    let end = Instant::now() + length;
    if memory_bytes < 2 * BYTES as u64 {
        let mib = BYTES >> 20;
        return Err(format!("two arrays of {mib} MiB are too much for the memory that is free"));
    }
    let [from, to] =
        [(); 2].map(|()| Mapped::new(BYTES, Pages::AsGiven).map_err(|error| error.to_string()));
    let (from, to) = (from?, to?);
    // A first write into each page allocates it.
    pass_ps(&from, &to, SMALL_PAGE);
    pass_ps(&to, &from, SMALL_PAGE);
    let mut random = Random::new(monotonic_ns());
    let mut passes_ps = BTreeMap::<usize, Vec<u64>>::new();
    'all: for mut group in groups() {
        for _ in 0..PASSES {
            random.shuffle(&mut group);
            for stride in &group {
                if Instant::now() >= end || budget.is_spent() {
                    break 'all;
                }
                passes_ps.entry(*stride).or_default().push(pass_ps(&from, &to, *stride));
            }
        }
        budget.tell(0.0);
    }
    passes_ps.retain(|_, passes| passes.len() == PASSES);
    Ok(passes_ps.into_iter().filter_map(|(stride, passes)| point(stride, passes)).collect())
}

/// Returns the strides that are measured together: those that the rule compares, then each other
/// one alone.
fn groups() -> Vec<Vec<usize>> {
    let mut rest: Vec<usize> =
        STRIDES.filter(|stride| !OF_THE_RULE.as_flattened().contains(stride)).collect();
    // 499 is a prime above their number: neighbours are far apart, so that a short look covers the
    // whole range and a slow moment does not hit a part of it.
    rest.sort_by_key(|stride| stride * 101 % 499);
    let pairs = OF_THE_RULE.iter().map(|pair| pair.to_vec());
    pairs.chain(rest.into_iter().map(|stride| vec![stride])).collect()
}

/// Returns the time of a copied byte in one pass over the arrays, in picoseconds.
fn pass_ps(from: &Mapped, to: &Mapped, stride: usize) -> u64 {
    let begin = monotonic_ns();
    // SAFETY: both mappings have this many bytes, and they do not overlap.
    unsafe { copy(from.at(0), to.at(0), BYTES, stride) };
    (monotonic_ns() - begin) * 1000 / BYTES.div_ceil(stride) as u64
}

/// Returns the point of a stride; `None` where no time has passed on a clock of coarse steps.
fn point(stride: usize, mut passes_ps: Vec<u64>) -> Option<StridedPoint> {
    let passes_ns = passes_ps.iter().map(|ps| *ps as f64 / 1000.0).collect();
    let copied_ns = quantile(&mut passes_ps, 0.5)? as f64 / 1000.0;
    let (stride_bytes, passed_bytes_per_s) = (stride as u64, stride as f64 * 1e9 / copied_ns);
    let found = StridedPoint { stride_bytes, copied_ns, passed_bytes_per_s, passes_ns };
    Some(found).filter(|_| copied_ns > 0.0)
}

/// Runs `for (i = 0; i < size; i += stride) to[i] = from[i]`, as published. Volatile, so that the
/// compiler makes the same code for each stride.
///
/// # Safety
/// `size` bytes at `from` can be read, and at `to` be written.
#[inline(never)]
unsafe fn copy(from: *const u8, to: *mut u8, size: usize, stride: usize) {
    let mut i = 0;
    while i < size {
        // SAFETY: `i` is below the size that the caller guarantees.
        unsafe { to.add(i).write_volatile(from.add(i).read_volatile()) };
        i += stride;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::atomic::AtomicBool;

    #[test]
    fn every_so_many_bytes_are_copied() {
        let from: Vec<u8> = (0..1000).map(|i| (i % 250) as u8 + 1).collect();
        for stride in [1, 2, 3, 64, 127, 999, 1000, 2000] {
            let mut to = vec![0; 1000];
            // SAFETY: both have this length.
            unsafe { copy(from.as_ptr(), to.as_mut_ptr(), 1000, stride) };
            for (i, byte) in to.iter().enumerate() {
                assert_eq!(*byte, if i % stride == 0 { from[i] } else { 0 });
            }
        }
    }

    /// In each round each has a turn, and no order of two comes much more often than the other.
    #[test]
    fn strides_that_are_compared_take_turns_in_drawn_order() {
        let mut random = Random::new(1);
        let mut firsts = 0;
        for _ in 0..200 {
            for _ in 0..PASSES {
                let mut group = [0, 1];
                random.shuffle(&mut group);
                assert_eq!(group[0] + group[1], 1);
                firsts += usize::from(group[0] == 0);
            }
        }
        assert!((900..1100).contains(&firsts), "{firsts}");
        let groups = groups();
        assert_eq!((&groups[0][..], groups[4].len()), (&[64, 129][..], 1));
        let mut all = groups.concat();
        all.sort_unstable();
        assert!(all.into_iter().eq(STRIDES));
    }

    #[test]
    fn a_point_is_the_median_of_its_passes() {
        let point = |passes_ps: [u64; 3]| super::point(64, passes_ps.to_vec());
        let found = point([3000, 1000, 2000]).unwrap();
        assert_eq!((found.stride_bytes, found.copied_ns), (64, 2.0));
        assert_eq!(found.passes_ns, [3.0, 1.0, 2.0]);
        assert_eq!(point([0; 3]), None);
    }

    #[test]
    fn strides_in_order_or_nothing() {
        let flag = AtomicBool::new(false);
        let mut quiet = drop::<f64>;
        let mut budget = Budget::new(Duration::from_secs(3600), &flag, &mut quiet);
        let most = Duration::from_millis(500);
        let points = measure(1 << 30, most, &mut budget).unwrap();
        assert!(points.is_sorted_by_key(|point| point.stride_bytes));
        assert!(points.iter().all(|point| point.copied_ns > 0.0));
        assert!(measure(32 << 20, most, &mut budget).unwrap_err().contains("two arrays of 32 MiB"));
        flag.store(true, std::sync::atomic::Ordering::Relaxed);
        let mut budget = Budget::new(Duration::from_secs(3600), &flag, &mut quiet);
        assert_eq!(measure(1 << 30, Duration::from_secs(3600), &mut budget), Ok(Vec::new()));
        assert_eq!(STRIDES.count(), 497);
    }
}
