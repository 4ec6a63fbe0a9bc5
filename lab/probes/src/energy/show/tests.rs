//! The page of a made-up machine, as people read it.

use super::*;
use crate::EnergyPart;

fn load(name: &str, cpus: u32, watts: f64, value_nj: Option<f64>) -> EnergyLoad {
    EnergyLoad {
        name: name.to_owned(),
        cpus,
        elapsed_ns: 1_600_000_000,
        joules: watts * 1.6,
        watts,
        above_idle_watts: watts - 48.25,
        value_nj,
        ran_share: 0.99,
    }
}

fn server() -> Energy {
    fn part(name: &str, is_counted: bool, idle: Option<f64>, busy: Option<f64>) -> EnergyPart {
        EnergyPart { name: name.to_owned(), is_counted, idle_watts: idle, busy_watts: busy }
    }
    Energy {
        source: "perf power events".to_owned(),
        period_ns: 1_000_000,
        idle_before_watts: 48.0,
        idle_after_watts: Some(48.5),
        idle_watts: 48.25,
        loads: vec![
            load("integer", 1, 57.0, Some(2.51)),
            load("vector (AVX-512)", 1, 61.25, Some(0.271)),
            load("integer", 32, 171.0, Some(1.92)),
            load("vector (AVX-512)", 32, 204.5, None),
        ],
        parts: vec![
            part("package (CPU 0)", true, Some(48.0), Some(204.5)),
            part("memory (CPU 0)", false, Some(6.5), None),
        ],
    }
}

#[test]
fn one_line_says_what_a_user_asks_first() {
    let rows = rows(&server());
    let [row] = rows.as_slice() else { panic!("one line") };
    let text = "48.2 W idle, 61.2 W with one CPU busy, 204 W with all 32 CPUs busy (perf power \
                events)";
    assert_eq!((row.name.as_str(), row.text.as_str()), ("", text));
}

#[test]
fn pages_fit_their_screens() {
    for width in [100, 60, 40] {
        for unicode in [true, false] {
            let text = page(&server(), &Look { width, color: false, unicode });
            let widest = text.lines().map(|line| line.chars().count()).max();
            assert!(widest <= Some(width), "{width}:\n{text}");
            let words = text.split_whitespace().collect::<Vec<_>>().join(" ");
            for needed in ["other tenants of the machine included", "204 W", "every 1.0 ms"] {
                assert!(words.contains(needed), "{width}: {needed}\n{text}");
            }
            assert!(unicode || text.is_ascii());
            assert_eq!(text.contains('\u{2588}'), unicode && width == 100);
        }
    }
}

#[test]
fn the_page_is_as_it_was_looked_at() {
    let text = page(&server(), &Look { width: 80, color: false, unicode: false });
    insta::assert_snapshot!(text);
}

#[test]
fn a_machine_that_was_read_once_has_a_page() {
    let found = Energy { idle_after_watts: None, loads: Vec::new(), parts: Vec::new(), ..server() };
    let text = page(&found, &Look { width: 80, color: false, unicode: true });
    assert!(text.contains("Idle, the machine took 48.0 W before the loads."), "{text}");
    assert!(svg(&found).contains("48.2 W"));
    let nothing = Energy::default();
    assert!(page(&nothing, &Look { width: 80, color: false, unicode: true }).contains("0.00 W"));
}

#[test]
fn the_picture_has_a_bar_a_load_with_its_number() {
    let picture = svg(&server());
    for needed in ["vector (AVX-512), all 32 CPUs", "204 W", "prefers-color-scheme:dark"] {
        assert!(picture.contains(needed), "{needed}\n{picture}");
    }
    assert_eq!(picture.matches("class=\"bar\"").count(), 5);
}

#[test]
fn a_machine_without_a_meter_lists_what_was_tried() {
    let tried =
        |way: &str, error: &str| crate::Tried { way: way.to_owned(), error: error.to_owned() };
    let probed = crate::Probed::Unavailable {
        what: "energy".to_owned(),
        tried: vec![
            tried("powercap (/sys/class/powercap)", "no such file (ENOENT)"),
            tried("MSR", "permission denied (EACCES): run as root"),
        ],
    };
    let look = Look { width: 60, color: false, unicode: true };
    let text = crate::screen::paged(&probed, &look, |found: &Energy| page(found, &look));
    let expected = "energy: not available on this machine. Tried, in this order:\n  \
                    1. powercap (/sys/class/powercap): no such file (ENOENT)\n  \
                    2. MSR: permission denied (EACCES): run as root\n";
    assert_eq!(text, expected);
}
