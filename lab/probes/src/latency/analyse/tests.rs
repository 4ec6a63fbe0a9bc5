//! Findings of made-up readings.

use super::*;

const KIB: u64 = 1 << 10;
const MIB: u64 = 1 << 20;

fn made_up(page_bytes: u64, page_share: Option<f64>, levels: &[(u64, f64)]) -> LatencyCurve {
    let end = levels.last().unwrap().0;
    let sizes = (2..18).flat_map(|i| [KIB << i, (KIB << i) / 2 * 3]).filter(|size| *size <= end);
    let point = |size_bytes: u64| {
        let median_ns = levels.iter().find(|level| size_bytes <= level.0).unwrap().1;
        let parts_ns = vec![median_ns; 12];
        let [latency_ns, low_ns, high_ns] = [median_ns; 3];
        LatencyPoint { size_bytes, latency_ns, low_ns, high_ns, parts_ns }
    };
    let points = sizes.map(point).collect();
    LatencyCurve { page_bytes, page_share, is_whole: true, points, levels: Vec::new() }
}

/// What was measured, and the caches that are advertised.
type Reading<'a> = (Latency, &'a [(u32, u64)]);

fn found((mut found, caches): Reading<'_>, reasons: &mut Vec<String>) -> Latency {
    fn cache(&(level, size_bytes): &(u32, u64)) -> AdvertisedCache {
        AdvertisedCache { level, size_bytes, line_bytes: Some(64) }
    }
    analyse(&mut found, &caches.iter().map(cache).collect::<Vec<_>>(), reasons);
    found
}

fn reading(curves: Vec<LatencyCurve>, caches: &[(u32, u64)]) -> Reading<'_> {
    fn page(pages: u64) -> TlbPoint {
        TlbPoint {
            pages,
            apart_ns: if pages <= 64 { 1.0 } else { 5.0 + if pages > 2048 { 12.0 } else { 0.0 } },
            packed_ns: if pages <= 512 { 1.0 } else { 3.5 },
        }
    }
    let tlb = (3..14).map(|i| page(1 << i)).collect();
    (Latency { curves, flushed_ns: Some(120.0), tlb, ..Latency::default() }, caches)
}

const LEVELS: [(u64, f64); 4] = [(48 * KIB, 1.0), (MIB, 3.4), (6 * MIB, 15.0), (128 * MIB, 130.0)];
const CACHES: [(u32, u64); 3] = [(1, 48 * KIB), (2, MIB), (3, 32 * MIB)];

#[test]
fn caches_are_judged_by_the_curve_of_large_pages() {
    let small = made_up(4096, Some(1.0), &[(48 * KIB, 1.0), (128 * MIB, 160.0)]);
    let check = |share, judge, l3, reasons_expected: usize| {
        let mut reasons = Vec::new();
        let huge = made_up(2 * MIB, share, &LEVELS);
        let found = found(reading(vec![small.clone(), huge], &CACHES), &mut reasons);
        assert_eq!(found.judged_by_page_bytes, Some(judge));
        assert_eq!(found.caches[2].effective_bytes, l3);
        assert_eq!(reasons.len(), reasons_expected, "{reasons:?}");
        found
    };
    let found = check(Some(1.0), 2 * MIB, Some(6 * MIB), 0);
    let sizes: Vec<_> = found.caches.iter().map(|cache| cache.effective_bytes.unwrap()).collect();
    assert_eq!(sizes, [48 * KIB, MIB, 6 * MIB]);
    assert!((found.memory_ns.unwrap() - 130.0).abs() < 1e-9);
    assert!((found.caches[1].latency_ns.unwrap() - 3.4).abs() < 1e-9);
    // The other curve shows neither the second cache nor the third.
    check(Some(0.1), 4096, None, 3);
    check(None, 4096, None, 3);
}

#[test]
fn what_lies_beyond_the_measurement_is_not_known() {
    fn check(end: u64, caches: &[(u32, u64)], memory: bool, effective: &[Option<u64>]) {
        let mut levels: Vec<_> = LEVELS.iter().filter(|level| level.0 < end).copied().collect();
        levels.push((end, LEVELS[levels.len()].1));
        let curve = made_up(4096, Some(1.0), &levels);
        for flushed_ns in [Some(120.0), None] {
            let mut reading = reading(vec![curve.clone()], caches);
            reading.0.flushed_ns = flushed_ns;
            let mut reasons = Vec::new();
            let found = found(reading, &mut reasons);
            let sizes: Vec<_> = found.caches.iter().map(|cache| cache.effective_bytes).collect();
            assert_eq!((found.memory_ns.is_some(), sizes.as_slice()), (memory, effective));
            assert_eq!(reasons.is_empty(), memory, "{reasons:?}");
        }
    }
    let [l1, l2, l3] = [48 * KIB, MIB, 6 * MIB].map(Some);
    check(64 * MIB, &CACHES, true, &[l1, l2, l3]);
    // The third level goes on to the end: it is seen, its size is not.
    check(4 * MIB, &CACHES, false, &[l1, l2, None]);
    check(64 * MIB, &[], true, &[l1, l2, l3]);
    check(32 * KIB, &CACHES, false, &[None, None, None]);
}

/// Curves of machines: advertised sizes, what a flushed line takes, and what is to be found of each
/// cache (latency and capacity) and of memory.
#[test]
fn levels_are_what_change_points_show() {
    let check = |caches: &[(u32, u64)],
                 flushed_ns: Option<f64>,
                 levels: &[(u64, f64)],
                 expected: &[(u32, f64, Option<u64>)],
                 memory: Option<f64>| {
        let curve = made_up(2 * MIB, Some(1.0), levels);
        let mut reading = reading(vec![curve], caches);
        reading.0.flushed_ns = flushed_ns;
        let found = found(reading, &mut Vec::new());
        let seen: Vec<_> = found
            .caches
            .iter()
            .filter_map(|cache| Some((cache.level, cache.latency_ns?, cache.effective_bytes)))
            .collect();
        assert_eq!((seen.as_slice(), found.memory_ns), (expected, memory), "{levels:?}");
        for cache in found.caches.iter().filter(|cache| cache.advertised_bytes.is_some()) {
            assert!(cache.effective_bytes <= cache.advertised_bytes, "{cache:?}");
        }
    };
    let xeon_caches = [(1, 48 * KIB), (2, 2 * MIB), (3, 260 * MIB)];
    let xeon =
        [(48 * KIB, 1.66), (2 * MIB, 5.2), (16 * MIB, 34.0), (24 * MIB, 90.0), (192 * MIB, 128.0)];
    let [l1, l2] = [(1, 1.66, Some(48 * KIB)), (2, 5.2, Some(2 * MIB))];
    let l3 = (3, 34.0, Some(16 * MIB));
    check(&xeon_caches, Some(107.0), &xeon, &[l1, l2, l3], Some(128.0));
    // A short look that ends within the third level: no level is called memory, and none L3 that
    // is memory.
    let short = [xeon[0], xeon[1], (12 * MIB, 34.0)];
    check(&xeon_caches, Some(107.0), &short, &[l1, l2, (3, 34.0, None)], None);
    // One that ends on the way to memory.
    let on_the_way = [xeon[0], xeon[1], xeon[2], (32 * MIB, 110.0)];
    check(&xeon_caches, Some(107.0), &on_the_way, &[l1, l2, l3], None);
    // On a busy machine the second level looks larger than it is, and ends in between.
    let busy = [xeon[0], (3 * MIB, 5.2), xeon[2], (192 * MIB, 128.0)];
    check(&xeon_caches, Some(107.0), &busy, &[l1, l2, l3], Some(128.0));
    // A step between two levels is no third one.
    let step = [xeon[0], (MIB, 5.2), (2 * MIB, 8.0), (192 * MIB, 128.0)];
    check(&xeon_caches, Some(107.0), &step, &[l1, (2, 5.2, Some(MIB))], Some(128.0));
    // Without advertised caches no more than three levels are named.
    let many = [
        (48 * KIB, 1.66),
        (2 * MIB, 5.2),
        (3 * MIB, 20.0),
        (16 * MIB, 34.0),
        (24 * MIB, 60.0),
        (192 * MIB, 128.0),
    ];
    check(&[], Some(107.0), &many, &[l1, l2, l3], Some(128.0));
    // A guest on an AMD machine that gets 8 of 32 MiB.
    let epyc = [(48 * KIB, 1.0), (MIB, 3.6), (8 * MIB, 12.5), (64 * MIB, 145.0)];
    let expected = [(1, 1.0, Some(48 * KIB)), (2, 3.6, Some(MIB)), (3, 12.5, Some(8 * MIB))];
    check(&CACHES, Some(140.0), &epyc, &expected, Some(145.0));
    check(&[], Some(140.0), &epyc, &expected, Some(145.0));
    // Where nothing can be flushed, data must be clearly larger than the last cache.
    check(&CACHES, None, &epyc, &expected, Some(145.0));
}

#[test]
fn a_level_of_few_sizes_is_in_doubt() {
    fn check(l3_bytes: u64, expected: &[&str]) {
        let levels = [(48 * KIB, 1.0), (MIB, 3.6), (l3_bytes, 12.5), (64 * MIB, 145.0)];
        let mut reasons = Vec::new();
        let huge = made_up(2 * MIB, Some(1.0), &levels);
        let found = found(reading(vec![huge], &CACHES), &mut reasons);
        assert_eq!(reasons, expected);
        assert_eq!(found.caches[2].latency_ns.is_some(), l3_bytes > MIB);
        assert_eq!(found.caches[2].parts_ns.is_empty(), !expected.is_empty());
    }
    check(3 * MIB, &[]);
    check(2 * MIB, &["only 2 of the sizes show L3: others use it too"]);
    check(MIB, &["no size of data shows L3: others use it, or it is not there"]);
}

/// Of ten short looks at one machine four said 11 to 49 ns of a cache of 13 ns: all those, and no
/// others, in which the quartiles of its sizes lay further apart than 2.
#[test]
fn a_level_that_others_use_meanwhile_is_in_doubt() {
    fn check(l3_quartiles: [f64; 2], is_in_doubt: bool) {
        let mut huge = made_up(2 * MIB, Some(1.0), &LEVELS);
        let is_l3 = |point: &&mut LatencyPoint| (MIB + 1..=6 * MIB).contains(&point.size_bytes);
        let [low_ns, high_ns] = l3_quartiles;
        for (index, point) in huge.points.iter_mut().filter(is_l3).enumerate() {
            point.low_ns = low_ns;
            point.high_ns = if index == 2 { high_ns } else { point.latency_ns };
            point.parts_ns = (0..12).map(|part| point.latency_ns + f64::from(part)).collect();
        }
        let mut reasons = Vec::new();
        let found = found(reading(vec![huge], &CACHES), &mut reasons);
        let said = "loads that L3 should answer take";
        assert_eq!(reasons.iter().any(|why| why.starts_with(said)), is_in_doubt, "{reasons:?}");
        let parts: Vec<f64> = (0..12).map(|part| 15.0 + f64::from(part)).collect();
        assert_eq!(found.caches[2].parts_ns, parts);
        assert_eq!((found.caches[1].parts_ns.len(), found.memory_parts_ns.len()), (12, 12));
    }
    for quartiles in [[12.74, 18.44], [10.89, 13.59], [10.63, 15.28]] {
        check(quartiles, false);
    }
    for quartiles in [[9.62, 138.0], [9.86, 135.4], [12.94, 58.21], [13.58, 74.33]] {
        check(quartiles, true);
    }
}

#[test]
fn translation_has_its_levels() {
    let found = found(reading(vec![made_up(4096, None, &LEVELS)], &CACHES), &mut Vec::new());
    let levels: Vec<_> = found.tlb_levels.iter().map(|level| level.to_pages).collect();
    assert_eq!((levels, found.tlb.len()), (vec![64, 2048, 8192], 11));
    assert!(found.tlb_levels[0].extra_ns.abs() < 1e-9);
    assert!((13.0..14.0).contains(&found.tlb_levels[2].extra_ns));
}

#[test]
fn a_cache_that_is_nearly_full_is_still_that_cache() {
    let levels = [
        (48 * KIB, 1.0),
        (512 * KIB, 3.3),
        (MIB, 5.4),
        (3 * MIB, 10.0),
        (6 * MIB, 27.0),
        (12 * MIB, 100.0),
        (64 * MIB, 140.0),
    ];
    let found = found(reading(vec![made_up(4096, None, &levels)], &CACHES), &mut Vec::new());
    let caches: Vec<_> = found
        .caches
        .iter()
        .map(|cache| (cache.effective_bytes.unwrap(), (cache.latency_ns.unwrap() * 10.0).round()))
        .collect();
    assert_eq!(caches, [(48 * KIB, 10.0), (MIB, 33.0), (6 * MIB, 100.0)]);
    assert_eq!(found.memory_ns.map(f64::round), Some(140.0));
}

/// Where L2 ends: on pages of 2 MiB and of 4 KiB, and in the second half of the look; sizes beyond,
/// as far as `partly`, take the time that is said.
#[test]
fn a_cache_ends_within_a_range_where_its_end_is_not_sharp() {
    fn check(l2: u64, small: u64, later: u64, partly: (u64, f64), expected: [u64; 2]) {
        let of = |l2: u64| [LEVELS[0], (l2, 3.4), partly, LEVELS[2], LEVELS[3]];
        let mut judge = made_up(2 * MIB, Some(1.0), &of(l2));
        let after = made_up(2 * MIB, Some(1.0), &of(later));
        for (point, after) in judge.points.iter_mut().zip(after.points) {
            point.low_ns = point.latency_ns.min(after.latency_ns);
            point.high_ns = point.latency_ns.max(after.latency_ns);
        }
        let curves = vec![made_up(4096, Some(1.0), &of(small)), judge];
        let mut reasons = Vec::new();
        let found = found(reading(curves, &CACHES), &mut reasons);
        // Where it moved, its loads differ, too.
        assert!(reasons.is_empty() || later != l2, "{reasons:?}");
        let ends = found.caches[1].ends_within_bytes;
        assert_eq!(ends, Some(expected), "{l2} {small} {later} {partly:?}");
    }
    let sharp = (0, 0.0);
    let [half, three] = [512 * KIB, 768 * KIB];
    check(MIB, MIB, MIB, sharp, [MIB, MIB]);
    check(half, half, half, sharp, [half, half]);
    // What one kind of pages does not show, the other may.
    check(half, MIB, half, sharp, [half, MIB]);
    check(MIB, half, MIB, sharp, [MIB, MIB]);
    // It moved meanwhile.
    check(MIB, MIB, half, sharp, [half, MIB]);
    check(half, half, MIB, sharp, [half, MIB]);
    // A part of the loads goes past it: from a fifth on it is not all held, from two thirds on not.
    check(half, half, half, (MIB, 5.0), [MIB, MIB]);
    check(half, half, half, (MIB, 8.0), [half, MIB]);
    check(half, half, half, (MIB, 12.0), [half, half]);
    check(three, three, three, (2 * MIB, 8.0), [three, MIB]);
}
