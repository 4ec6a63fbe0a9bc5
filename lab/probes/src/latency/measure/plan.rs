//! Which sizes are measured, and how long each may take.

use crate::tools::caches::AdvertisedCache;
use crate::tools::*;

/// What a machine has in its last level that does not say so.
const USUAL_LAST_LEVEL: u64 = 32 << 20;

/// How much there is to measure.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Plan {
    /// Bytes of data, small first: powers of two and halfway between.
    pub(super) sizes: Vec<usize>,
    /// Pages in use, few first: the same.
    pub(super) pages: Vec<usize>,
    /// Where no line can be flushed: data that is large enough to see memory.
    pub(super) enough_bytes: usize,
    /// How often all of it is measured, at different times.
    pub(super) passes: u64,
}

impl Plan {
    /// A plan for these caches: sizes up to half of `memory_bytes`, as there are two kinds of
    /// pages, and to 1 GiB. Most of them are never reached, as a curve ends where memory is seen.
    pub(super) fn new(caches: &[AdvertisedCache], memory_bytes: u64, seconds: f64) -> Plan {
        let is_quick = seconds < 8.0;
        let last_level = caches.last().map_or(USUAL_LAST_LEVEL, |cache| cache.size_bytes);
        let largest = (1 << 30).min(memory_bytes / 2).max(4 << 20);
        let enough = last_level.saturating_mul(4).clamp(64 << 20, 1 << 30).min(largest);
        let [largest, enough] = [largest, enough].map(|bytes| bytes as usize);
        let pages = if is_quick { 8192 } else { 16_384 };
        Plan {
            sizes: steps(SMALL_PAGE, largest),
            pages: steps(8, pages.min(largest / SMALL_PAGE)),
            enough_bytes: enough,
            passes: ((seconds / 6.0) as u64).max(1),
        }
    }

    /// The largest size.
    pub(super) fn largest_bytes(&self) -> usize {
        self.sizes.last().copied().unwrap_or(SMALL_PAGE)
    }
}

/// Powers of two, and the values halfway between, from the first to the last.
fn steps(first: usize, last: usize) -> Vec<usize> {
    let all = std::iter::successors(Some(first), |step| step.checked_mul(2));
    all.take_while(|step| *step <= last)
        .flat_map(|step| [step, step / 2 * 3])
        .filter(|step| *step <= last)
        .collect()
}

/// Divides the time until an end among jobs of different weights: what one leaves over, the others
/// share.
pub(super) struct Shares {
    end_ns: u64,
    weight_left: f64,
}

impl Shares {
    /// So much weight in all, until then.
    pub(super) fn new(end_ns: u64, weight: f64) -> Shares {
        Shares { end_ns, weight_left: weight }
    }

    /// Jobs of so much weight will not come.
    pub(super) fn leave_out(&mut self, weight: f64) {
        self.weight_left -= weight;
    }

    /// When the next job, of this weight, should end.
    pub(super) fn next_end_ns(&mut self, weight: f64) -> u64 {
        let now = monotonic_ns();
        let left = self.end_ns.saturating_sub(now) as f64;
        let share = (weight / self.weight_left.max(weight)).min(1.0);
        self.weight_left -= weight;
        now + (left * share) as u64
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sizes_reach_past_the_caches_as_far_as_memory_allows() {
        let cache = |size_bytes| AdvertisedCache { level: 3, size_bytes, line_bytes: None };
        let check = |caches: &[AdvertisedCache], memory: u64, seconds: f64, mib: [usize; 2]| {
            let plan = Plan::new(caches, memory, seconds);
            let told = [plan.largest_bytes(), plan.enough_bytes].map(|bytes| bytes >> 20);
            assert_eq!(told, mib);
            assert!(plan.sizes.is_sorted() && plan.pages.is_sorted());
            assert_eq!((plan.sizes[0], plan.sizes[1], plan.sizes[2]), (4096, 6144, 8192));
            assert!(plan.pages.last().unwrap() * SMALL_PAGE <= mib[0] << 20);
        };
        // As far as memory allows, whatever is advertised; enough is four times that.
        check(&[cache(32 << 20)], 8 << 30, 20.0, [1024, 128]);
        check(&[cache(260 << 20)], 8 << 30, 5.0, [1024, 1024]);
        check(&[cache(32 << 20)], 100 << 20, 20.0, [48, 50]);
        check(&[cache(1 << 20)], 8 << 30, 20.0, [1024, 64]);
        check(&[], 8 << 30, 20.0, [1024, 128]);
        check(&[cache(1 << 40)], u64::MAX, 20.0, [1024, 1024]);
        check(&[], 0, 20.0, [4, 4]);
        assert_eq!(Plan::new(&[], 0, 20.0).passes, 3);
        assert_eq!(Plan::new(&[], 0, 0.1).passes, 1);
    }

    #[test]
    fn what_is_left_over_is_shared() {
        let end = monotonic_ns() + 1_000_000_000;
        let mut shares = Shares::new(end, 4.0);
        let first = shares.next_end_ns(1.0);
        assert!(first < end - 500_000_000, "a quarter");
        shares.next_end_ns(2.0);
        assert_eq!(shares.next_end_ns(1.0), end);
        let mut shares = Shares::new(end, 4.0);
        shares.leave_out(3.0);
        assert_eq!(shares.next_end_ns(1.0), end);
        let now = monotonic_ns();
        let late = Shares::new(0, 1.0).next_end_ns(1.0);
        assert!(now <= late && late <= monotonic_ns(), "no time is left: at once");
    }
}
