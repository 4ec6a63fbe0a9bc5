//! The page of a made-up machine: what people read is compared with what was approved.

use super::*;
use crate::{LineAdvertised, LineAnswer, LineMissing, SharingPoint, StridedGain, StridedPoint};

const LOOK: Look = Look { width: 72, color: false, unicode: false };

fn machine() -> Cacheline {
    let offsets = [1, 8, 16, 32, 63, 64, 127, 128, 256];
    fn point(offset_bytes: u64, slow: u64) -> FlushPoint {
        let slow_share = slow as f64 / 1000.0;
        FlushPoint { offset_bytes, loads: 1000, slow, slow_share }
    }
    fn flushed(offset: u64) -> FlushPoint {
        point(offset, if offset < 64 { 1000 } else { 0 })
    }
    fn loaded(offset: u64) -> FlushPoint {
        point(offset, [0, 100, 990][(offset / 64).min(2) as usize])
    }
    fn sharing(distance_bytes: u64) -> SharingPoint {
        let increment_ns = if distance_bytes < 64 { 12.3 } else { 4.8 };
        SharingPoint { distance_bytes, increment_ns, batches: 1000 }
    }
    fn strided(stride_bytes: u64) -> StridedPoint {
        let passed_bytes_per_s = if stride_bytes < 129 { 2e10 } else { 3e10 };
        let copied_ns = stride_bytes as f64 / 20.0;
        StridedPoint { stride_bytes, copied_ns, passed_bytes_per_s, ..StridedPoint::default() }
    }
    fn said(method: LineMethod, line_bytes: u64) -> LineAnswer {
        LineAnswer { method, line_bytes: Some(line_bytes) }
    }
    fn advertised(source: &str) -> LineAdvertised {
        LineAdvertised { source: source.into(), line_bytes: 64 }
    }
    Cacheline {
        line_bytes: Some(64),
        answered_by: Some(LineMethod::FlushedTogether),
        said: vec![
            said(LineMethod::FlushedTogether, 64),
            said(LineMethod::LoadedTogether, 64),
            LineAnswer { method: LineMethod::Sharing, line_bytes: None },
            said(LineMethod::Strided, 128),
        ],
        prefetch_reach_bytes: Some(128),
        advertised: vec![advertised("sysfs"), advertised("CPUID")],
        flushed_together: offsets.map(flushed).to_vec(),
        loaded_together: offsets.map(loaded).to_vec(),
        sharing: [8, 16, 32, 64, 128].map(sharing).to_vec(),
        strided: [1, 16, 32, 64, 128, 129, 256].map(strided).to_vec(),
        gains: vec![StridedGain {
            line_bytes: 64,
            stride_bytes: 129,
            ratio: 1.5,
            quartiles: Some([1.4, 1.625]),
        }],
        missing: Vec::new(),
    }
}

#[test]
fn the_page_of_a_machine() {
    // All but the charts, which have tests of their own.
    let found = machine();
    let text = methods(&found, &LOOK) + "\n" + &gains(&found, &LOOK) + "\n";
    insta::assert_snapshot!(text + &paragraph(Tone::Dim, SMALL_PRINT, &LOOK));
    assert_eq!(charts(&found).len(), 3);
}

#[test]
fn rows_say_who_agrees() {
    fn check(found: &Cacheline, expected: &[&str]) {
        let rows: Vec<String> = rows(found).into_iter().map(|row| row.text).collect();
        assert_eq!(rows, expected);
        assert!(rows.iter().all(|row| row.len() <= 100));
    }
    let strided = "strided copy: stride 129 passes 1.50x (1.40x to 1.62x) as fast as 64 \
                   (published: 1.59x to 1.66x)";
    let line = "64 bytes are flushed together, and sysfs says 64, CPUID says 64; prefetch reaches \
                128 bytes";
    check(&machine(), &[line, strided]);
    let mut other = machine();
    other.advertised[1].line_bytes = 128;
    other.prefetch_reach_bytes = Some(64);
    check(&other, &["64 bytes are flushed together, but sysfs says 64, CPUID says 128", strided]);
    let advertised = machine().advertised[..1].to_vec();
    let sharing = Some(LineMethod::Sharing);
    let arm = Cacheline {
        line_bytes: Some(128),
        answered_by: sharing,
        advertised: vec![LineAdvertised { line_bytes: 128, ..advertised[0].clone() }],
        ..Cacheline::default()
    };
    check(&arm, &["128 bytes by false sharing, and sysfs says 128"]);
    check(&Cacheline::default(), &["not known"]);
}

#[test]
fn pages_and_pictures_of_anything() {
    let why = "no program may flush a line on this architecture".to_owned();
    let missing = vec![LineMissing { method: LineMethod::FlushedTogether, why }];
    for found in [machine(), Cacheline { missing, ..Cacheline::default() }] {
        for width in [40, 60, 100] {
            let look = Look { width, ..LOOK };
            assert!(page(&found, &look).lines().all(|line| line.chars().count() <= width));
        }
        assert!(svg(&found).starts_with("<svg"));
    }
}
