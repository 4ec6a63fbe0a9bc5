//! Findings of made-up readings.

use super::*;
use crate::LineAdvertised;

/// Loads near a line of this length, with a prefetcher of this reach.
fn flush(line: u64, reach: u64) -> [Vec<FlushPoint>; 2] {
    let offsets = [1, 7, 8, 15, 16, 31, 32, 63, 64, 127, 128, 192, 255, 256, 512, 1024];
    let slow = |offset: u64| match offset {
        offset if offset < line => offset % 2,
        offset if offset < reach => 40 + offset % 7,
        _ => 960,
    };
    let point = |offset_bytes| {
        let slow = slow(offset_bytes);
        FlushPoint { offset_bytes, loads: 1000, slow, slow_share: slow as f64 / 1000.0 }
    };
    let loaded = offsets.map(point).to_vec();
    let together = |point: &FlushPoint| {
        let slow = if point.offset_bytes < line { 1000 } else { 2 };
        FlushPoint { slow, ..*point }
    };
    [loaded.iter().map(together).collect(), loaded]
}

fn sharing(line: u64, apart: f64) -> Vec<SharingPoint> {
    let point = |distance_bytes| SharingPoint {
        distance_bytes,
        increment_ns: if distance_bytes < line { 60.0 } else { apart },
        batches: 1000,
    };
    [8, 16, 32, 64, 128, 256].map(point).to_vec()
}

/// Past twice `line` the copy passes over the array as much faster as `gain` says.
fn strided(line: u64, gain: f64) -> Vec<StridedPoint> {
    let point = |stride_bytes: u64| {
        let pace = if stride_bytes > 2 * line { gain } else { 1.0 };
        let copied_ns = stride_bytes as f64 / 16.0 / pace;
        let passed_bytes_per_s = stride_bytes as f64 * 1e9 / copied_ns;
        let passes_ns = vec![copied_ns; 10];
        StridedPoint { stride_bytes, copied_ns, passed_bytes_per_s, passes_ns }
    };
    (1..=260).chain([513]).map(point).collect()
}

fn reading() -> Reading {
    fn advertised(source: &str) -> LineAdvertised {
        LineAdvertised { source: source.to_owned(), line_bytes: 64 }
    }
    Reading {
        flush: Ok(flush(64, 256)),
        sharing: Ok(sharing(64, 5.0)),
        strided: Ok(strided(64, 1.66)),
        advertised: vec![advertised("sysfs"), advertised("CPUID")],
    }
}

#[test]
fn methods_say_what_they_see() {
    fn check(reading: Reading, said: [Option<u64>; 4], by: Option<LineMethod>) -> Cacheline {
        let mut reasons = Vec::new();
        let found = found(reading, &mut reasons);
        let of = |method| {
            let said = found.said.iter().find(|said| said.method == method);
            said.and_then(|said| said.line_bytes)
        };
        let all = [
            LineMethod::FlushedTogether,
            LineMethod::LoadedTogether,
            LineMethod::Sharing,
            LineMethod::Strided,
        ]
        .map(of);
        assert_eq!((all, found.answered_by), (said, by));
        let answer = all[0].or(all[2]);
        assert_eq!(found.line_bytes, answer);
        assert_eq!(reasons.len(), usize::from(by.is_none()));
        found
    }
    let (line, long) = (Some(64), Some(128));
    let flushed = Some(LineMethod::FlushedTogether);
    let found = check(reading(), [line; 4], flushed);
    assert_eq!((found.prefetch_reach_bytes, found.agrees()), (Some(256), Some(true)));
    let other = Reading { flush: Ok(flush(128, 128)), ..reading() };
    let found = check(other, [long, long, line, line], flushed);
    assert_eq!((found.prefetch_reach_bytes, found.agrees()), (Some(128), Some(false)));
    // The strided copy alone is no answer, and a gain of 1.4 says nothing.
    fn none<T>() -> Result<T, String> {
        Err("not here".to_owned())
    }
    let alone = Reading { flush: none(), sharing: Err("not here".to_owned()), ..reading() };
    let found = check(alone, [None, None, None, line], None);
    assert_eq!((found.missing.len(), found.agrees()), (3, None));
    let weak = Reading { strided: Ok(strided(64, 1.4)), ..reading() };
    let found = check(weak, [line, line, line, None], flushed);
    assert!((found.gain(64).unwrap().ratio - 1.4).abs() < 1e-9);
    // Two CPUs that share a core do not disturb each other.
    let twins = Reading { flush: none(), sharing: Ok(sharing(64, 60.0)), ..reading() };
    check(twins, [None, None, None, line], None);
    let arm = Reading { flush: none(), ..reading() };
    check(arm, [None, None, line, line], Some(LineMethod::Sharing));
    // Without flushed lines, the lines loaded together show the reach of the prefetcher.
    fn mute(sharing: Result<Vec<SharingPoint>, String>) -> Reading {
        let [_, loaded] = flush(64, 256);
        Reading { flush: Ok([Vec::new(), loaded]), sharing, ..reading() }
    }
    let shared = Some(LineMethod::Sharing);
    check(mute(Ok(sharing(128, 5.0))), [None, line, long, line], shared);
    check(mute(Err("one CPU".to_owned())), [None, line, None, line], None);
    let short = Reading { strided: Ok(Vec::new()), ..reading() };
    let found = check(short, [line, line, line, None], flushed);
    assert_eq!(found.missing[0].why, "the time was too short");
}

/// The ten passes at stride 129, as many times what they should take, while those at 64 take what
/// they should.
#[test]
fn turns_that_disagree_degrade_the_strided_copy() {
    fn check(far_times: [f64; 10], near_times: [f64; 10], expected: &[&str]) -> [f64; 2] {
        let mut points = strided(64, 1.5);
        for (stride, times) in [(64, near_times), (129, far_times)] {
            let point = points.iter_mut().find(|point| point.stride_bytes == stride).unwrap();
            point.passes_ns = times.map(|times| times * point.copied_ns).to_vec();
        }
        let mut reasons = Vec::new();
        let found = found(Reading { strided: Ok(points), ..reading() }, &mut reasons);
        let said = reasons.iter().zip(expected).all(|(reason, part)| reason.contains(part));
        assert!(said && reasons.len() == expected.len(), "{reasons:?}");
        found.gain(64).unwrap().quartiles.unwrap().map(|ratio| (100.0 * ratio).round() / 100.0)
    }
    let one = [1.0; 10];
    assert_eq!(check(one, one, &[]), [1.5, 1.5]);
    // A few slow passes are no quartile.
    let two = [1.0, 1.0, 9.0, 1.0, 1.0, 1.0, 1.0, 9.0, 1.0, 1.0];
    assert_eq!(check(two, one, &[]), [1.5, 1.5]);
    // Half of the turns at half the pace, both strides alike: the ratio is what it was.
    let half = [1.0, 2.0, 1.0, 2.0, 1.0, 2.0, 1.0, 2.0, 1.0, 2.0];
    assert_eq!(check(half, half, &[]), [1.5, 1.5]);
    let disagree = "stride 129 is 0.75x to 1.50x as fast as 64";
    assert_eq!(check(half, one, &[disagree]), [0.75, 1.5]);
}
