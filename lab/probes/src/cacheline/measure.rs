//! The probe of the cache line, by three methods: a flush (the answer, where there is one), false
//! sharing, and the published strided copy.

mod flush;
mod sharing;
mod strided;

use crate::tools::*;
use crate::topology::data_caches;
use crate::{FlushPoint, LineAdvertised, SharingPoint, StridedPoint};

/// The share of the budget for each method.
const FLUSH: f64 = 0.25;
const SHARING: f64 = 0.30;
const STRIDED: f64 = 0.40;

/// What the probe measured: for each method its result, or why there is none.
#[derive(Clone, Debug, PartialEq)]
pub struct Reading {
    /// Loads near a line whose start was just flushed, and near one that was just loaded.
    pub flush: Result<[Vec<FlushPoint>; 2], String>,
    /// Increments by two CPUs.
    pub sharing: Result<Vec<SharingPoint>, String>,
    /// The strided copy.
    pub strided: Result<Vec<StridedPoint>, String>,
    /// The advertised sizes.
    pub advertised: Vec<LineAdvertised>,
}

/// Measures within the budget, on the first of these CPUs, and for false sharing on the last one
/// too.
pub fn measure(cpus: &[usize], budget: &mut Budget<'_>) -> Probed<Reading> {
    let mut reasons = Vec::new();
    let first = cpus.first().copied().unwrap_or(0);
    let _pinned = pinned(first, &mut reasons);
    let all = budget.length();
    let flush = flush::measure(all.mul_f64(FLUSH), budget);
    let tree = Tree::at(Path::new("/"));
    let memory_bytes = memory_share_bytes(&tree);
    let strided = strided::measure(memory_bytes, all.mul_f64(STRIDED), budget);
    let sharing = match cpus {
        [first, .., last] => sharing::measure([*first, *last], all.mul_f64(SHARING), budget),
        _ => Err("there is one CPU only".to_owned()),
    };
    if flush.is_err() && sharing.is_err() && strided.is_err() {
        return Probed::inconclusive("no method gave anything");
    }
    Probed::of(Reading { flush, sharing, strided, advertised: advertised(&tree, first) }, reasons)
}

fn advertised(tree: &Tree, cpu: usize) -> Vec<LineAdvertised> {
    let sysfs = data_caches::listed(tree, cpu).iter().find_map(|cache| cache.line_bytes);
    // The bytes that a flush writes back: leaf 1, EBX bits 8 to 15, in units of 8 bytes.
    #[cfg(target_arch = "x86_64")]
    let cpuid = u64::from(std::arch::x86_64::__cpuid(1).ebx >> 8 & 0xff) * 8;
    #[cfg(not(target_arch = "x86_64"))]
    let cpuid = 0;
    let sources = [("sysfs", sysfs), ("CPUID", Some(cpuid).filter(|bytes| *bytes > 0))];
    let known = sources.into_iter().filter_map(|(source, line_bytes)| {
        Some(LineAdvertised { source: source.to_owned(), line_bytes: line_bytes? })
    });
    known.collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use tiebreak_machine::cpus;

    #[test]
    fn each_method_gives_something_or_says_why_not() {
        let flag = AtomicBool::new(false);
        let mut quiet = drop::<f64>;
        let begin = Instant::now();
        let mut budget = Budget::new(Duration::from_millis(900), &flag, &mut quiet);
        let before = cpus::allowed();
        let probed = measure(&before, &mut budget);
        assert!(begin.elapsed() < Duration::from_secs(60));
        assert_eq!(cpus::allowed(), before);
        let reading = probed.value().unwrap();
        assert!(reading.flush.as_ref().err().is_none_or(|why| !why.is_empty()));
        assert!(reading.advertised.iter().all(|said| said.line_bytes.is_power_of_two()));
        // One CPU shares nothing.
        let one = measure(&before[..1], &mut budget);
        assert!(one.value().is_none_or(|reading| reading.sharing.is_err()));
    }

    #[test]
    fn every_offset_is_looked_at() {
        let flag = AtomicBool::new(false);
        let mut quiet = drop::<f64>;
        let mut budget = Budget::new(Duration::from_secs(3600), &flag, &mut quiet);
        match flush::measure(Duration::from_millis(200), &mut budget) {
            Err(why) => assert!(!why.is_empty()),
            Ok(seen) => seen.into_iter().for_each(|points| {
                assert!(points.is_sorted_by_key(|point| point.offset_bytes));
                assert!(points.iter().all(|point| point.slow <= point.loads));
                assert!(points.iter().all(|point| point.loads > 0));
                assert!(!points.is_empty());
            }),
        }
    }
}
