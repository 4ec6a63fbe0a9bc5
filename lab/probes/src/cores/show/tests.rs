use super::*;
use crate::{Group, Kernel, LatencyMode, Shared};
use unicode_width::UnicodeWidthStr;

const LOOK: Look = Look { width: 100, color: false, unicode: true };

fn mode(latency_ns: f64, share: f64) -> LatencyMode {
    LatencyMode { latency_ns, low_ns: latency_ns * 0.97, high_ns: latency_ns * 1.04, share }
}

fn pair(cpus: [usize; 2], latency_ns: f64) -> PairLatency {
    PairLatency {
        cpus,
        latency_ns,
        timed_by_ns: [Some(latency_ns * 0.99), Some(latency_ns * 1.01)],
        modes: vec![mode(latency_ns, 1.0)],
        rounds_ns: Vec::new(),
        strays: 0,
        batches: 10_000,
        invalid: 120,
        preemptions: 31,
    }
}

/// Cores of two threads, four cores a cache: the second threads come after all first ones.
fn machine(count: usize) -> Cores {
    let half = count / 2;
    let latency = |a: usize, b: usize| match (a % half, b % half) {
        (a, b) if a == b => 7.9,
        (a, b) if a / 4 == b / 4 => 23.6,
        _ => 118.0,
    };
    let pairs: Vec<_> = (0..count)
        .flat_map(|a| (a + 1..count).map(move |b| [a, b]))
        .map(|cpus| pair(cpus, latency(cpus[0], cpus[1])))
        .collect();
    let caches: Vec<Vec<usize>> = (0..half)
        .step_by(4)
        .map(|first| (first..first + 4).chain(first + half..first + half + 4).collect())
        .collect();
    fn of(
        groups: Vec<Vec<usize>>,
        shares: Option<Shared>,
        within_ns: f64,
        agreement: Option<f64>,
    ) -> Level {
        Level {
            groups: groups.into_iter().map(|cpus| Group { cpus, shares }).collect(),
            within_ns,
            agreement,
        }
    }
    let cores = (0..half).map(|cpu| vec![cpu, cpu + half]).collect();
    let order = (0..half)
        .step_by(4)
        .flat_map(|first| (first..first + 4).flat_map(move |cpu| [cpu, cpu + half]));
    let levels = vec![
        of(cores, Some(Shared::Core), 7.9, Some(1.0)),
        of(caches, Some(Shared::L3), 23.6, Some(1.0)),
        of(vec![(0..count).collect()], Some(Shared::Socket), 118.0, None),
    ];
    let levels = if count > 8 { levels } else { levels[..2].to_vec() };
    let kernel = |kernel, share: f64| KernelLatency {
        kernel,
        nearest_ns: 7.9 * share,
        farthest_ns: if count > 8 { 118.0 } else { 23.6 } * share,
        pairs: pairs.clone(),
    };
    Cores {
        cpus: order.collect(),
        rounds: 40,
        span_ns: 34_400_000_000,
        is_short_look: false,
        pairs: (count * (count - 1) / 2) as u64,
        pairs_chosen: (count * (count - 1) / 2) as u64,
        kernels: vec![kernel(Kernel::TwoLines, 1.0), kernel(Kernel::CompareExchange, 0.5)],
        levels,
    }
}

/// Two CPUs of a virtual machine that is moved about.
fn moved() -> Cores {
    fn kernel(kernel: Kernel, latency_ns: f64) -> KernelLatency {
        let mut pair = pair([0, 1], latency_ns);
        pair.modes = vec![mode(latency_ns, 0.75), mode(277.0, 0.2)];
        pair.strays = 1;
        let pairs = vec![pair];
        KernelLatency { kernel, nearest_ns: latency_ns, farthest_ns: latency_ns, pairs }
    }
    let group = Group { cpus: vec![0, 1], shares: Some(Shared::L3) };
    Cores {
        cpus: vec![0, 1],
        rounds: 12,
        span_ns: 3_640_000_000,
        is_short_look: true,
        pairs: 1,
        pairs_chosen: 1,
        kernels: vec![
            kernel(Kernel::TwoLines, 60.12),
            kernel(Kernel::OneLine, 41.3),
            kernel(Kernel::CompareExchange, 24.0),
        ],
        levels: vec![Level { groups: vec![group], within_ns: 60.12, agreement: None }],
    }
}

/// Of the pairs some were not seen, and one has two values.
fn sampled() -> Cores {
    let mut found = machine(16);
    found.levels[1].agreement = Some(0.31);
    found.levels[1].groups.iter_mut().for_each(|group| group.shares = None);
    let pairs = &mut found.kernels[0].pairs;
    pairs.retain(|pair| pair.latency_ns < 100.0 || pair.cpus[0] % 4 == 0);
    pairs[3].modes = vec![mode(118.0, 0.75), mode(301.0, 0.25)];
    found
}

fn all() -> Vec<(&'static str, Cores)> {
    vec![
        ("moved", moved()),
        ("eight", machine(8)),
        ("sampled", sampled()),
        ("48", machine(48)),
        ("256", machine(256)),
        ("nothing", Cores::default()),
    ]
}

#[test]
fn pages_fit_their_screen() {
    for (name, found) in all() {
        for width in [100, 80, 60, 40] {
            for unicode in [true, false] {
                let text = page(&found, &Look { width, unicode, ..LOOK });
                assert!(text.lines().all(|line| line.width() <= width), "{name}: {text}");
                assert!(unicode || text.is_ascii(), "{name}");
            }
        }
        let rows = rows(&found);
        assert!(rows.len() <= 3);
        assert!(rows.iter().all(|row| row.name.len() + row.text.len() <= 90), "{name}");
    }
}

#[test]
fn pages_read_well() {
    let ascii = Look { unicode: false, width: 60, ..LOOK };
    insta::assert_snapshot!("moved", page(&moved(), &LOOK));
    insta::assert_snapshot!("eight", page(&machine(8), &LOOK));
    insta::assert_snapshot!("sampled_at_60", page(&sampled(), &ascii));
    insta::assert_snapshot!("many", page(&machine(48), &LOOK));
    let rows: Vec<String> = all()
        .iter()
        .flat_map(|(_, found)| rows(found))
        .map(|row| format!("{}: {}", row.name, row.text))
        .collect();
    insta::assert_snapshot!("rows", rows.join("\n"));
}

#[test]
fn a_map_too_large_for_the_screen_shows_some_cpus() {
    let text = page(&machine(256), &Look { width: 80, ..LOOK });
    assert!(text.contains("one of 4 CPUs is shown"), "{text}");
    assert!(!page(&machine(48), &LOOK).contains("is shown"));
}

#[test]
fn pictures_hold_every_pair_and_stay_small() {
    for (name, found) in all() {
        let picture = svg(&found);
        assert!(picture.starts_with("<svg") && picture.ends_with("</svg>\n"), "{name}");
        assert!(!picture.contains("NaN") && !picture.contains("inf"), "{name}");
        let cells = picture.matches("class=\"step").count();
        let pairs = found.headline().map_or(0, |headline| headline.pairs.len());
        let has_steps = pairs > 1;
        let legend = if has_steps { 5 } else { 0 };
        let cpus = found.cpus.len();
        // Neighbours of one shade are one shape: within a core, next to it, and beyond the cache
        // on either side.
        let most = if name == "sampled" { cpus * cpus } else { 8 * cpus };
        assert!((cpus..=most).contains(&(cells - legend)), "{name}: {cells}");
        let numbers = picture.matches("<text class=\"on").count();
        assert_eq!(numbers, if cpus <= 24 { 2 * pairs } else { 0 }, "{name}");
        assert!(picture.len() < 300_000, "{name}");
        let marks = picture.matches("<circle").count();
        let moved = found.headline().map_or(0, |headline| with_modes(headline).len());
        assert_eq!(marks, 2 * moved, "{name}");
    }
}

#[test]
fn steps_are_equal_ratios() {
    let found = machine(16);
    let map = Map::of(&found).unwrap();
    let step = |cpus: [usize; 2]| map.cells.get(&cpus).map(|cell| cell.step);
    assert_eq!([step([0, 8]), step([0, 1]), step([0, 0])], [Some(0), Some(2), None]);
    let legend = map.legend();
    assert_eq!((legend.len(), &legend[0][..]), (5, "7.90 to 13.6 ns"));
    assert_eq!(legend[4], "68.7 to 118 ns");
    // The row's CPU timed: 0 is the first of its pair, 8 the second.
    assert_eq!(found.cpus[..2], [0, 8]);
    let timed = [[0, 8], [8, 0]].map(|cpus| map.cells[&cpus].latency_ns);
    assert_eq!(timed, [7.9 * 0.99, 7.9 * 1.01]);
    let flat = moved();
    let flat = Map::of(&flat).unwrap();
    assert_eq!((flat.cells[&[0, 1]].step, flat.legend()), (0, Vec::new()));
}

#[test]
fn lists_are_as_the_kernel_writes_them() {
    assert_eq!(format_cpus(&[0, 1, 2, 5, 7, 8]), "0-2,5,7-8");
    assert_eq!(format_cpus(&[]), "");
}
