//! The page of a made-up machine, as people read it.

use super::*;
use crate::{Clock, Drift, HandOff, Steps};

fn clock(name: &str, cost_ns: f64, least_ns: f64) -> Clock {
    let steps = Steps {
        least_ns,
        median_ns: least_ns * 1.1,
        p99_ns: least_ns * 3.0,
        equal_share: 0.02,
        backwards: 0,
    };
    Clock {
        name: name.to_owned(),
        cost_ns,
        cost_low_ns: cost_ns * 0.98,
        parts_ns: Vec::new(),
        told_resolution_ns: Some(1),
        steps: Some(steps),
    }
}

fn server() -> Timers {
    let hand_off = |from_cpu, to_cpu, least_ns| HandOff {
        from_cpu,
        to_cpu,
        least_ns,
        median_ns: least_ns + 20.0,
        count: 2000,
    };
    Timers {
        clock_source: Some("tsc".to_owned()),
        clock_sources: vec!["tsc".to_owned(), "kvm-clock".to_owned()],
        clocks: vec![
            clock("MONOTONIC", 22.4, 20.0),
            Clock { steps: None, ..clock("MONOTONIC_COARSE", 2.9, 4e6) },
            clock("THREAD_CPUTIME", 404.2, 380.0),
            clock("rdtsc", 9.96, 0.4),
        ],
        missing: vec!["BOOTTIME".to_owned()],
        vdso: Some(Vdso {
            vdso_ns: 22.4,
            system_call_ns: 174.0,
            ratio: 7.77,
            works: true,
            ..Vdso::default()
        }),
        counter: Some(TickCounter {
            name: "TSC".to_owned(),
            hertz: 2.596_118e9,
            uncertainty_ppm: 0.06,
            is_invariant: Some(true),
            flags: vec!["constant_tsc".to_owned(), "nonstop_tsc".to_owned()],
        }),
        order: vec![ClockOrder {
            clock: "MONOTONIC".to_owned(),
            pairs: vec![hand_off(0, 1, 61.0), hand_off(1, 0, 63.0)],
            pairs_left_out: 0,
            least_ns: 61.0,
            offset_bound_ns: 63.0,
            hand_offs: 4000,
        }],
        drifts: vec![Drift {
            clock: "REALTIME".to_owned(),
            against: "MONOTONIC".to_owned(),
            ppm: -0.01,
            uncertainty_ppm: 0.04,
            seconds: 1.05,
        }],
    }
}

#[test]
fn two_lines_say_what_a_user_asks_first() {
    let rows: Vec<String> = rows(&server()).into_iter().map(|row| row.text).collect();
    let expected = [
        "reading the clock 22.4 ns, step 20.0 ns, vDSO works (system call 174 ns)",
        "TSC 2.60 GHz steady, clock source tsc, never backwards from CPU to CPU",
    ];
    assert_eq!(rows, expected);
    assert!(super::rows(&Timers::default()).is_empty());
}

#[test]
fn pages_fit_their_screens() {
    for width in [100, 60, 40] {
        for unicode in [true, false] {
            let text = page(&server(), &Look { width, color: false, unicode });
            let widest = text.lines().map(|line| line.chars().count()).max();
            assert!(widest <= Some(width), "{width}:\n{text}");
            assert!(unicode || text.is_ascii());
            assert!(text.contains("22.4 ns") && text.contains("REALTIME"), "{text}");
        }
    }
}

#[test]
fn what_is_wrong_is_said() {
    let mut found = server();
    found.order[0].least_ns = -480.0;
    found.vdso = Some(Vdso {
        vdso_ns: 170.0,
        system_call_ns: 174.0,
        ratio: 1.02,
        works: false,
        ..Vdso::default()
    });
    let look = Look { width: 100, color: false, unicode: true };
    let text = page(&found, &look).split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(text.contains("goes BACKWARDS by up to 480 ns"), "{text}");
    assert!(text.contains("The vDSO does not work"), "{text}");
    let rows: Vec<String> = super::rows(&found).into_iter().map(|row| row.text).collect();
    assert!(rows[0].contains("every reading is a system call"), "{rows:?}");
    assert!(rows[1].contains("MONOTONIC goes backwards"), "{rows:?}");
}

#[test]
fn the_page_is_as_it_was_looked_at() {
    insta::assert_snapshot!(page(&server(), &Look { width: 100, color: false, unicode: true }));
}

#[test]
fn the_picture_has_a_bar_for_each_clock() {
    let svg = svg(&server());
    assert_eq!(svg.matches("class=\"bar\"").count(), 5);
}
