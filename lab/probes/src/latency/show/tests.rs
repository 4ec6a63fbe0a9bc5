//! The page of a made-up machine: what people read is compared with what was approved.

use super::*;
use crate::{LatencyCurve, LatencyLevel, LatencyPoint, TlbPoint};

const LOOK: Look = Look { width: 72, color: false, unicode: false };

fn machine() -> Latency {
    let steps = [(48 << 10, 1.0), (1 << 20, 3.4), (6 << 20, 15.0), (64 << 20, 130.0)];
    let at = |size_bytes: u64| steps.iter().find(|step| size_bytes <= step.0).map_or(0.0, |s| s.1);
    let point = |shift: u32| {
        let (size_bytes, ns) = (4096 << shift, at(4096 << shift));
        let (low_ns, high_ns) = (ns * 0.9, ns * 1.1);
        LatencyPoint { size_bytes, latency_ns: ns, low_ns, high_ns, parts_ns: Vec::new() }
    };
    let level =
        |from_bytes, to_bytes, latency_ns| LatencyLevel { from_bytes, to_bytes, latency_ns };
    let levels = vec![
        level(4 << 10, 32 << 10, 1.0),
        level(64 << 10, 1 << 20, 3.4),
        level(2 << 20, 4 << 20, 15.0),
        level(8 << 20, 64 << 20, 130.0),
    ];
    let curve = |page_bytes, page_share| LatencyCurve {
        page_bytes,
        page_share,
        is_whole: true,
        points: (0..15).map(point).collect(),
        levels: levels.clone(),
    };
    fn cache(
        level: u32,
        advertised: u64,
        effective: Option<u64>,
        latency_ns: Option<f64>,
    ) -> CacheSize {
        CacheSize {
            level,
            advertised_bytes: Some(advertised),
            effective_bytes: effective,
            latency_ns,
            ..CacheSize::default()
        }
    }
    fn page(shift: u32) -> TlbPoint {
        TlbPoint { pages: 1 << shift, apart_ns: if shift < 7 { 1.0 } else { 2.6 }, packed_ns: 1.0 }
    }
    Latency {
        cpu: 0,
        curves: vec![curve(4096, Some(1.0)), curve(2 << 20, Some(0.97))],
        caches: vec![
            cache(1, 48 << 10, Some(32 << 10), Some(1.0)),
            cache(2, 1 << 20, Some(1 << 20), Some(3.4)),
            cache(3, 32 << 20, Some(4 << 20), Some(15.0)),
        ],
        judged_by_page_bytes: Some(2 << 20),
        memory_ns: Some(130.0),
        memory_spread_ns: Some([128.0, 133.0]),
        memory_parts_ns: Vec::new(),
        flushed_ns: Some(126.0),
        tlb: (3..10).map(page).collect(),
        tlb_levels: vec![
            TlbLevel { to_pages: 64, extra_ns: 0.0 },
            TlbLevel { to_pages: 512, extra_ns: 1.6 },
        ],
        double_work_ratio: 2.0,
    }
}

#[test]
fn the_page_of_a_machine() {
    // All but the charts, which have tests of their own.
    let found = machine();
    let mut text = heading(&found, &LOOK) + "\n";
    text += &small_print(&found, &LOOK);
    insta::assert_snapshot!(text);
}

#[test]
fn rows_are_short_and_say_what_is_missing() {
    fn check(found: &Latency, expected: &[&str]) {
        let rows: Vec<String> = rows(found).into_iter().map(|row| row.text).collect();
        assert_eq!(rows, expected);
        assert!(rows.iter().all(|row| row.len() <= 110));
    }
    let tlb = "TLB: free to 64 pages, then +1.60 ns";
    let levels = "L1 1.00 ns to 32 KiB, L2 3.40 ns to 1 MiB, L3 15.0 ns to 4 MiB of 32 MiB, memory \
                  130 ns";
    check(&machine(), &[levels, tlb]);
    // An end that is not sharp is a range, and speaks against what is advertised only as a whole.
    let mut moved = machine();
    moved.caches[1].effective_bytes = Some(512 << 10);
    moved.caches[1].ends_within_bytes = Some([512 << 10, 1 << 20]);
    moved.caches[2].ends_within_bytes = Some([4 << 20, 12 << 20]);
    let ranges = "L1 1.00 ns to 32 KiB, L2 3.40 ns (512 KiB to 1 MiB), L3 15.0 ns (4 MiB to 12 MiB \
                  of 32 MiB), memory 130 ns";
    check(&moved, &[ranges, tlb]);
    moved.caches[2].ends_within_bytes = Some([4 << 20, 24 << 20]);
    check(&moved, &[&ranges.replace("12 MiB of 32 MiB", "24 MiB"), tlb]);
    let mut less = machine();
    less.caches[2] =
        CacheSize { effective_bytes: None, latency_ns: None, ..less.caches[2].clone() };
    (less.memory_ns, less.tlb_levels) = (None, Vec::new());
    let levels = "L1 1.00 ns to 32 KiB, L2 3.40 ns to 1 MiB";
    check(&less, &[levels, "L3 of 32 MiB is no level of its own here"]);
    check(&Latency::default(), &["no level was found"]);
}

#[test]
fn pages_and_pictures_of_anything() {
    for found in [machine(), Latency::default()] {
        for width in [40, 60, 100] {
            let look = Look { width, ..LOOK };
            assert!(page(&found, &look).lines().all(|line| line.chars().count() <= width));
        }
        assert!(svg(&found).starts_with("<svg"));
    }
}
