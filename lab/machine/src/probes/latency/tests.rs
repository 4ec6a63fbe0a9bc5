//! The probe's reading: its shape, and what speaks against it. No test asserts a speed.

use super::*;
use crate::cpus;
use std::collections::HashSet;
use std::sync::atomic::AtomicBool;
use std::time::{Duration, Instant};

fn measured(ms: u64, flag: &AtomicBool) -> (Probed<Reading>, Duration) {
    let before = cpus::allowed();
    let mut quiet = |_| ();
    let begin = Instant::now();
    let mut budget = Budget::new(Duration::from_millis(ms), flag, &mut quiet);
    let probed = Latency::new(&before).unwrap().measure(&mut budget);
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
            assert!(LEAST_LOAD_NS <= point.median_ns && point.low_ns <= point.median_ns);
            assert!(point.median_ns <= point.high_ns);
        }
    }
    assert_eq!(reading.curves[0].page_share.unwrap_or(1.0), 1.0);
    assert!(reading.pages.iter().all(|point| point.apart_ns > 0.0 && point.packed_ns > 0.0));
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

#[test]
fn what_speaks_against_a_reading() {
    let plan = Plan { sizes: vec![4096, 8192, 16_384, 32_768, 65_536], pages: vec![8], passes: 1 };
    let check = |ns: f64, points: usize, pages: usize, state: &str, word: &str| {
        let point = |size: &usize| Point {
            size_bytes: *size as u64,
            low_ns: ns,
            median_ns: ns,
            high_ns: ns,
        };
        let points = plan.sizes[..points].iter().map(point).collect();
        let page = PagePoint { pages: 8, apart_ns: 1.0, packed_ns: 1.0 };
        let curve = Curve { page_bytes: 4096, page_share: Some(1.0), points };
        let reading = Reading {
            cpu: 0,
            advertised: Vec::new(),
            curves: vec![curve],
            pages: vec![page; pages],
            double_work_ratio: 2.0,
        };
        let probed = judged(reading, &plan, Vec::new());
        let said = match &probed {
            Probed::Inconclusive { why } => why.clone(),
            Probed::Degraded { reasons, .. } => reasons.join(" "),
            _ => String::new(),
        };
        assert_eq!(probed.state(), state);
        assert!(said.contains(word), "{said}");
    };
    check(1.0, 5, 1, "measured", "");
    check(0.04, 5, 1, "inconclusive", "0.04 ns");
    check(1.0, 3, 1, "inconclusive", "four sizes");
    check(1.0, 4, 1, "degraded", "32 KiB, not 64");
    check(1.0, 5, 0, "degraded", "sweep of pages");
}

#[test]
fn a_curve_that_was_only_begun_goes() {
    let sizes = [4096, 8192, 16_384, 32_768];
    let plan = Plan { sizes: sizes.to_vec(), pages: Vec::new(), passes: 1 };
    let point = |size: &usize| Point {
        size_bytes: *size as u64,
        low_ns: 1.0,
        median_ns: 1.0,
        high_ns: 1.0,
    };
    let curve = |page_bytes, points: usize| Curve {
        page_bytes,
        page_share: None,
        points: sizes[..points].iter().map(point).collect(),
    };
    let large = AdvertisedCache { level: 3, size_bytes: 32 << 20, line_bytes: None };
    let reading = Reading {
        cpu: 0,
        advertised: vec![large],
        curves: vec![curve(4096, 4), curve(2 << 20, 3)],
        pages: Vec::new(),
        double_work_ratio: 2.0,
    };
    let Probed::Degraded { value, reasons } = judged(reading, &plan, Vec::new()) else {
        panic!("a degraded reading is expected");
    };
    assert_eq!(value.curves.len(), 1);
    assert!(reasons[0].contains("pages of 2048 KiB"), "{reasons:?}");
    assert!(reasons[1].contains("last level's 32 MiB"), "{reasons:?}");
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
