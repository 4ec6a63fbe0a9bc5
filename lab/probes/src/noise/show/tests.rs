//! The page of a made-up machine, as people read it.

use super::*;
use crate::{
    Cause, CauseShare, CpuNoise, InterruptShare, LongGap, Piece, Rate, SmallestSlowdown, Throttled,
};

const SECOND_NS: u64 = 1_000_000_000;

fn share(cause: Cause, share: f64, gaps: u64) -> CauseShare {
    CauseShare { cause, share, gaps }
}

fn causes() -> Vec<CauseShare> {
    vec![
        share(Cause::Task, 0.021, 310),
        share(Cause::Limit, 0.0, 0),
        share(Cause::Steal, 0.004, 2),
        share(Cause::Interrupt, 0.0061, 4100),
        share(Cause::Unexplained, 0.000_004, 3),
    ]
}

fn frequency() -> Frequency {
    Frequency {
        low_hertz: 3.9e9,
        median_hertz: 4.31e9,
        most_hertz: 4.34e9,
        chains: 980,
        cycles_a_step: 3.0,
        is_counted: false,
        is_known: true,
        parts_hertz: Vec::new(),
    }
}

fn cpu(cpu: usize) -> CpuNoise {
    let piece = |index: u64| Piece {
        begin_ns: index * SECOND_NS / 4,
        length_ns: SECOND_NS / 4,
        lost_share: (index % 7 != 3).then_some([0.0, 0.004, 0.02, 0.12, 0.7][index as usize % 5]),
        cause: [
            None,
            Some(Cause::Interrupt),
            Some(Cause::Task),
            Some(Cause::Steal),
            Some(Cause::Task),
        ][index as usize % 5],
    };
    CpuNoise {
        cpu,
        watched_ns: 15 * SECOND_NS,
        lost_share: 0.031 / (cpu + 1) as f64,
        causes: causes(),
        gaps: 4415,
        median_ns: Some(4200.0),
        p99_ns: Some(3.1e6),
        longest_ns: Some(12_000_000),
        waited_share: Some(0.02),
        frequency: Some(frequency()),
        strip: (0..60).map(piece).collect(),
    }
}

fn floor(of: &str, first: Option<f64>) -> Floor {
    let smallest = |seconds: f64, fraction| SmallestSlowdown {
        seconds,
        rounds: (seconds * 100.0) as u64,
        fraction,
        is_bound: fraction == Some(1e-5),
        among_parts: fraction.map(|one| [one / 2.0, one * 2.0]),
    };
    Floor {
        of: of.to_owned(),
        work: "a chain of multiplications".to_owned(),
        rounds: 700,
        round_ns: 1e7,
        error: 0.01,
        chance: 0.9,
        smallest: vec![smallest(1.0, first), smallest(10.0, Some(0.0021))],
        lost_share: Some(0.024),
    }
}

fn machine(cpus: usize) -> Noise {
    let gap = |length_ns, cause| LongGap { cpu: 0, begin_ns: SECOND_NS, length_ns, cause };
    Noise {
        gap_least_ns: 2000,
        watched_ns: 15 * SECOND_NS,
        cpus_at_once: cpus.min(8),
        lost_share: 0.031,
        causes: causes(),
        all_at_once_share: Some(0.0085),
        interrupts: vec![InterruptShare {
            name: "LOC".to_owned(),
            words: "Local timer interrupts".to_owned(),
            per_second: 250.3,
            share: 0.006,
        }],
        softirqs: vec![Rate { name: "TIMER".to_owned(), per_second: 3.25 }],
        throttled: Some(Throttled { periods: 3, held_back_ns: 21_000_000 }),
        cpus: (0..cpus).map(cpu).collect(),
        longest: vec![gap(12_000_000, Cause::Task), gap(10_500_000, Cause::Steal)],
        frequency: Some(frequency()),
        floors: vec![floor("functions", Some(0.0074)), floor("programs", None)],
    }
}

#[test]
fn a_few_lines_say_what_a_user_asks_first() {
    let rows: Vec<String> = rows(&machine(2)).into_iter().map(|row| row.text).collect();
    let expected = [
        "3.1% of CPU time lost: another task 2.1%, interrupt 0.61%, hypervisor (steal) 0.4%",
        "smallest slowdown found, of functions (2.4% of CPU time lost): 0.74% (0.37% to 1.5%) in \
         1 s, 0.21% (0.1% to 0.42%) in 10 s",
        "smallest slowdown found, of programs (2.4% of CPU time lost): none below 100% in 1 s, \
         0.21% (0.1% to 0.42%) in 10 s",
        "cores run at 4.31 GHz (3.90 GHz to 4.34 GHz), longest gap 12 ms",
    ];
    assert_eq!(rows, expected);
}

#[test]
fn pages_and_frames_fit_their_screens() {
    for (width, cpus) in [(100, 2), (60, 2), (40, 2), (80, 40)] {
        for unicode in [true, false] {
            let look = Look { width, color: false, unicode };
            let text = page(&machine(cpus), &look);
            let frame = frame(&machine(cpus), &look);
            let lines = text.lines().chain(frame.iter().map(String::as_str));
            for line in lines {
                assert!(line.chars().count() <= width, "{width}:\n{line}\n{text}");
                assert!(unicode || line.is_ascii());
            }
            assert!(text.contains("another task") && text.contains("0.74%"), "{text}");
            assert!(frame.len() <= 26, "{frame:?}");
        }
    }
    assert!(line(&machine(2)).starts_with("CPU 0 "));
}

#[test]
fn what_is_not_known_is_not_shown_as_nothing() {
    let found = Noise { cpus: vec![CpuNoise::default()], ..Noise::default() };
    let look = Look { width: 100, color: false, unicode: true };
    let text = page(&found, &look).split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(text.contains("is not known: no CPU controller can be seen"), "{text}");
    assert!(!text.contains("GHz") && !text.contains("slowdown"), "{text}");
    assert_eq!(rows(&found).len(), 1);
    assert!(!frame(&found, &look).is_empty() && line(&found).starts_with("CPU 0 -"));
    assert!(svg(&found).contains("</svg>"));
}

#[test]
fn the_page_is_as_it_was_looked_at() {
    insta::assert_snapshot!(page(&machine(2), &Look { width: 100, color: false, unicode: true }));
}

#[test]
fn the_frame_is_as_it_was_looked_at() {
    let look = Look { width: 80, color: false, unicode: true };
    insta::assert_snapshot!(frame(&machine(2), &look).join("\n"));
}

#[test]
fn the_picture_shows_each_cpu() {
    let svg = svg(&machine(3));
    for word in ["CPU 0", "CPU 2", "another task"] {
        assert!(svg.contains(word), "{word}");
    }
    assert!(svg.contains("<path class=\"stroke2\"") && !svg.contains("stroke3\""), "{svg}");
}
