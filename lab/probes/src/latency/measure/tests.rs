//! The probe's reading: its shape, and what speaks against it. No test asserts a speed.

use super::*;
use crate::finding::tests::options;
use std::collections::HashSet;
use std::sync::atomic::AtomicBool;
use std::time::{Duration, Instant};
use tiebreak_machine::cpus;

fn measured(ms: u64, flag: &AtomicBool) -> (Probed<Latency>, Duration) {
    let before = cpus::allowed();
    let mut quiet = drop::<f64>;
    let begin = Instant::now();
    let mut budget = Budget::new(Duration::from_millis(ms), flag, &mut quiet);
    let probed = probe(&options(before.clone()), &mut budget);
    let took = begin.elapsed();
    assert_eq!(cpus::allowed(), before, "the CPUs come back");
    (probed, took)
}

#[test]
fn curves_have_their_shape() {
    let (probed, _) = measured(1500, &AtomicBool::new(false));
    // A machine may be too busy for any answer, but then it says why.
    let Some(reading) = probed.value() else {
        assert_eq!(probed.state(), "inconclusive");
        return;
    };
    let pages: Vec<u64> = reading.curves.iter().map(|curve| curve.page_bytes).collect();
    assert!([4096, 2 << 20].starts_with(&pages), "{pages:?}");
    for curve in &reading.curves {
        assert!(curve.points.len() >= 4);
        assert!(curve.points.is_sorted_by_key(|point| point.size_bytes));
        for point in &curve.points {
            assert!(LEAST_LOAD_NS <= point.latency_ns && point.low_ns <= point.latency_ns);
            assert!(point.latency_ns <= point.high_ns);
        }
    }
    assert_eq!(reading.curves[0].page_share.unwrap_or(1.0), 1.0);
    assert!(reading.tlb.iter().all(|point| point.apart_ns > 0.0 && point.packed_ns > 0.0));
}

#[test]
fn no_time_is_inconclusive_and_an_interrupt_is_obeyed() {
    let (probed, took) = measured(0, &AtomicBool::new(false));
    assert_eq!(probed.state(), "inconclusive");
    assert!(took < Duration::from_secs(60));
    let (probed, took) = measured(3_600_000, &AtomicBool::new(true));
    assert_eq!(probed.state(), "inconclusive");
    assert!(took < Duration::from_secs(60));
}

const SIZES: [usize; 5] = [4096, 8192, 16_384, 32_768, 65_536];

fn curve(page_bytes: u64, ns: f64, points: usize, is_whole: bool) -> LatencyCurve {
    let point = |size: &usize| {
        let (low_ns, latency_ns, high_ns) = (ns, ns, ns);
        let (size_bytes, parts_ns) = (*size as u64, Vec::new());
        LatencyPoint { size_bytes, latency_ns, low_ns, high_ns, parts_ns }
    };
    let (points, page_share) = (SIZES[..points].iter().map(point).collect(), Some(1.0));
    LatencyCurve { page_bytes, page_share, is_whole, points, levels: Vec::new() }
}

#[test]
fn what_speaks_against_a_reading() {
    fn check(curves: &[LatencyCurve], pages: usize, state: &str, word: &str) {
        let page = TlbPoint { pages: 8, apart_ns: 1.0, packed_ns: 1.0 };
        let (curves, tlb) = (curves.to_vec(), vec![page; pages]);
        let reading = Latency { curves, flushed_ns: Some(100.0), tlb, ..Latency::default() };
        let probed = judged(reading, SIZES.len(), 1, Vec::new());
        let said = match &probed {
            Probed::Inconclusive { why } => why.clone(),
            Probed::Degraded { reasons, .. } => reasons.join(" "),
            _ => String::new(),
        };
        assert_eq!(probed.state(), state, "{said}");
        assert!(said.contains(word), "{said}");
    }
    fn small(ns: f64, points: usize, is_whole: bool) -> LatencyCurve {
        curve(4096, ns, points, is_whole)
    }
    check(&[small(1.0, 4, true)], 1, "measured", "");
    check(&[small(0.04, 5, true)], 1, "inconclusive", "0.04 ns");
    check(&[small(1.0, 3, false)], 1, "inconclusive", "four sizes");
    check(&[small(1.0, 4, false)], 1, "degraded", "the time ended at data of 32 KiB");
    check(&[small(1.0, 5, false)], 1, "degraded", "the memory ended at data of 64 KiB");
    check(&[small(1.0, 5, true)], 0, "degraded", "sweep of pages");
    // A curve that was only begun goes.
    let two = [small(1.0, 5, true), curve(2 << 20, 1.0, 3, false)];
    check(&two, 1, "degraded", "pages of 2048 KiB");
}

#[test]
fn a_curve_ends_where_memory_answers() {
    fn check(ns: &[u64], flushed_ns: u64, expected: bool) {
        let sizes: Vec<Vec<u64>> = ns.iter().map(|ns| vec![ns * 1000; 5]).collect();
        assert_eq!(is_beyond(&sizes, flushed_ns * 1000), expected, "{ns:?}");
    }
    // A machine that gets 16 MiB of the 260 that it is said to have.
    let xeon = [2, 5, 34, 34, 34, 80, 110, 120, 126, 128, 128, 129, 128];
    check(&xeon[..12], 107, false);
    check(&xeon, 107, true);
    check(&[100; 6], 107, false);
    check(&[100; 7], 107, true);
    check(&[34; 20], 107, false);
}

#[test]
fn a_flushed_line_comes_from_memory() {
    let flag = AtomicBool::new(false);
    let mut quiet = drop::<f64>;
    let budget = Budget::new(Duration::from_secs(3600), &flag, &mut quiet);
    let mapped = Mapped::new(2 << 20, Pages::Huge).unwrap();
    let mut cycle = Cycle::new(&mapped, place_packed, 1);
    assert!(cycle.grow(256, &budget));
    assert_eq!(cycle.flushed_ps(), None, "fewer lines than are flushed at a time");
    assert!(cycle.grow(1024, &budget));
    fn median(mut all: Vec<u64>) -> u64 {
        quantile(&mut all, 0.5).unwrap()
    }
    let flushed: Option<Vec<u64>> = (0..50).map(|_| cycle.flushed_ps()).collect();
    let Some(flushed) = flushed else { return };
    let loaded = (0..50).map(|_| cycle.batch_ns(512) * 1000 / 512).collect();
    let (flushed, loaded) = (median(flushed), median(loaded));
    // Not optimised, a step of the loop takes ten times as long as a load from a cache.
    assert!(5 * flushed > 6 * loaded, "{flushed} ps, {loaded} of lines that a cache holds");
}

#[test]
fn lines_apart_crowd_no_set() {
    for first in [0, 64, 6400] {
        let lines: HashSet<usize> =
            (first..first + 64).map(|page| place_apart(page) % 4096 / SLOT).collect();
        assert_eq!(lines.len(), 64);
    }
    let places: HashSet<usize> = (0..1000).map(place_apart).collect();
    assert_eq!(places.len(), 1000);
}

#[test]
fn sizes_reach_as_far_as_memory_allows() {
    fn check(memory: u64, seconds: u64, mib: usize) {
        let [sizes, pages] = numbers_of_lines(memory, Duration::from_secs(seconds));
        assert_eq!((sizes.last().unwrap() * SLOT) >> 20, mib);
        assert!(sizes.is_sorted() && pages.is_sorted());
        assert_eq!(sizes[..3], [64, 96, 128]);
        assert!(pages.last().unwrap() * SMALL_PAGE <= mib << 20);
    }
    check(8 << 30, 20, 1024);
    check(8 << 30, 5, 1024);
    check(100 << 20, 20, 48);
    check(u64::MAX, 20, 1024);
    check(0, 20, 4);
}

#[test]
fn enough_is_four_times_the_last_cache() {
    fn check(cache_bytes: Option<u64>, mib: usize) {
        let cache = cache_bytes.map(|size_bytes| AdvertisedCache {
            level: 3,
            size_bytes,
            line_bytes: None,
        });
        assert_eq!(enough_bytes(cache.as_slice()) >> 20, mib);
    }
    check(Some(32 << 20), 128);
    check(Some(260 << 20), 1024);
    check(Some(1 << 20), 64);
    check(Some(1 << 40), 1024);
    check(None, 128);
}

#[test]
fn what_is_left_over_is_shared() {
    let end = monotonic_ns() + 1_000_000_000;
    let first = share_end_ns(end, 4);
    assert!(first < end - 500_000_000, "a quarter");
    assert_eq!(share_end_ns(end, 1), end);
    let now = monotonic_ns();
    let late = share_end_ns(0, 1);
    assert!(now <= late && late <= monotonic_ns(), "no time is left: at once");
}
