//! A made-up machine with four CPUs and two memory nodes.

use super::*;
use crate::{BandwidthCurve, BandwidthKnee, LoadedLatency, NodeBandwidth};

fn curve(traffic: Traffic, is_pinned: bool, of_one: f64) -> BandwidthCurve {
    let point = |threads: u32| BandwidthPoint {
        threads,
        bytes_per_s: of_one * f64::from(threads.min(3)),
        low_bytes_per_s: of_one * f64::from(threads.min(2)),
        high_bytes_per_s: of_one * f64::from(threads.min(3)) * 1.01,
        parts_bytes_per_s: Vec::new(),
        rounds: 5,
        windows: 100,
        windows_kept: 40,
    };
    let knee = BandwidthKnee { threads: 3, low_threads: 2, high_threads: 3, agreeing_share: 0.8 };
    BandwidthCurve { traffic, is_pinned, points: (1..=4).map(point).collect(), knee: Some(knee) }
}

fn made_up() -> Bandwidth {
    let pinned = Traffic::ALL.into_iter().zip([43.6e9, 43.5e9, 32.6e9, 40.8e9, 43.2e9, 45.0e9]);
    let mut curves: Vec<_> = pinned.map(|(traffic, rate)| curve(traffic, true, rate)).collect();
    curves.push(curve(Traffic::Touch, false, 40.1e9));
    fn node(cpu_node: u32, memory_node: u32, bytes_per_s: f64) -> NodeBandwidth {
        NodeBandwidth { cpu_node, memory_node, threads: 2, bytes_per_s }
    }
    fn loaded(asked_share: f64, latency_ns: f64) -> LoadedLatency {
        LoadedLatency {
            threads: if asked_share > 0.0 { 3 } else { 0 },
            asked_share,
            bytes_per_s: asked_share * 120e9,
            latency_ns,
            spread_ns: Some([latency_ns - 2.0, latency_ns + 2.0]),
            parts_ns: Vec::new(),
            windows_kept: 50,
        }
    }
    Bandwidth {
        vectors: "AVX-512".to_owned(),
        buffer_bytes: 256 << 20,
        large_page_share: Some(1.0),
        last_level_bytes: Some(32 << 20),
        held_bytes: Some(8 << 20),
        is_from_caches: false,
        window_ns: 500_000,
        cpus: vec![0, 2, 1, 3],
        curves,
        nodes: Some(2),
        between_nodes: vec![node(0, 0, 80e9), node(1, 1, 79e9), node(0, 1, 41e9)],
        loaded_latency: vec![loaded(0.0, 99.4), loaded(0.5, 120.0), loaded(1.0, 203.0)],
    }
}

fn look(width: usize, unicode: bool) -> Look {
    Look { width, color: false, unicode }
}

#[test]
fn the_page_of_a_machine_with_two_nodes() {
    insta::assert_snapshot!(page(&made_up(), &look(100, false)));
}

#[test]
fn pages_keep_to_the_screen() {
    for width in [100, 80, 60, 40] {
        for unicode in [true, false] {
            for found in [made_up(), Bandwidth::default()] {
                let text = page(&found, &look(width, unicode));
                for line in text.lines() {
                    assert!(unicode_width::UnicodeWidthStr::width(line) <= width, "{line}");
                }
            }
        }
    }
}

#[test]
fn the_screen_has_three_short_lines_at_most() {
    let rows: Vec<String> = rows(&made_up()).into_iter().map(|row| row.name + &row.text).collect();
    let expected = [
        "read 43.5 GB/s with one thread, 130 GB/s with 3 threads (87.0 to 132)",
        "with 3 threads write 97.8, fill 122, copy 130, copy-past 135 GB/s",
        "a load from memory takes 99 ns, 203 ns during reads of 3 threads at 120 GB/s",
    ];
    assert_eq!(rows, expected);
    assert!(super::rows(&Bandwidth::default()).is_empty());
    // A point that was lost, and what caches served.
    let mut found = Bandwidth { is_from_caches: true, ..made_up() };
    let fill = found.curves.iter_mut().find(|curve| curve.traffic == Traffic::Fill).unwrap();
    fill.points.truncate(1);
    let rows = super::rows(&found);
    assert!(rows[0].text.starts_with("perhaps from caches: read 43.5 GB/s"), "{}", rows[0].text);
    let expected = "with 3 threads write 97.8, copy 130, copy-past 135 GB/s";
    assert_eq!(rows[1].text, expected);
}

#[test]
fn the_knee_and_the_range_are_said_of_a_curve() {
    let mut found = made_up();
    let read = &mut found.curves[1];
    assert_eq!((read.traffic, read.is_pinned), (Traffic::Read, true));
    for point in &mut read.points {
        (point.low_bytes_per_s, point.high_bytes_per_s) = (30.1e9, 41.2e9);
    }
    read.points[0].high_bytes_per_s = 30.2e9;
    read.knee.as_mut().unwrap().threads = 2;
    let expected = "read 43.5 GB/s with one thread, 130 GB/s with 3 threads (30.1 to 41.2), \
                    95% of the best with 2";
    assert_eq!(rows(&found)[0].text, expected);
    found.curves[1].points.remove(0);
    let expected = "read 130 GB/s with 3 threads (30.1 to 41.2), 95% of the best with 2";
    assert_eq!(rows(&found)[0].text, expected);
}

#[test]
fn what_was_not_measured_is_said() {
    let mut found = made_up();
    found.between_nodes.clear();
    found.loaded_latency.clear();
    let text = page(&found, &look(100, true)).replace('\n', " ");
    assert!(text.contains("not measured: that needs a second CPU"), "{text}");
    assert!(!text.contains("memory of node"), "{text}");
}

#[test]
fn the_picture_holds_the_chart() {
    let picture = svg(&made_up());
    assert!(picture.starts_with("<svg") && picture.trim_end().ends_with("</svg>"));
    assert!(picture.contains("Bandwidth by threads"));
    assert!(svg(&Bandwidth::default()).starts_with("<svg"));
}
