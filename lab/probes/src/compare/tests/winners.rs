//! Which machine is named: made-up prints with the noise of real ones.

use super::*;
use crate::{
    Bandwidth, BandwidthCurve, BandwidthPoint, CacheSize, Clock, Cores, Kernel, KernelLatency,
    Latency, LoadedLatency, Noise, PARTS, PairLatency, Timers, Traffic,
};
use tiebreak_stats::coins::{Purpose, Seed, Stream};

/// A world in which runs differ by a factor each, and the parts of a run by a spread.
struct World {
    coins: Stream,
    /// The most by which a run's figures are larger, or smaller, than those of the machine.
    between_runs: f64,
    /// Standard deviations of the logarithms of parts, of which each figure of a run has one.
    spreads: &'static [f64],
    /// The share of parts that something else hit, which take up to three times as long.
    hit: f64,
}

impl World {
    fn new(name: &str, between_runs: f64, spreads: &'static [f64], hit: f64) -> World {
        let coins = Stream::new(Seed::from_text(name), Purpose::Simulation, 0, 0);
        World { coins, between_runs, spreads, hit }
    }

    /// The parts of a figure of this size; what hits them makes a time longer, and a rate less.
    fn parts(&mut self, value: f64, is_time: bool) -> Vec<f64> {
        let coins = &mut self.coins;
        let run = self.between_runs.powf(2.0 * coins.unit() - 1.0);
        let spread = self.spreads[coins.below(self.spreads.len() as u64) as usize];
        let mut part = || {
            let noise = (spread * coins.normal()).exp();
            let lost = if coins.unit() < self.hit { 1.0 + 2.0 * coins.unit() } else { 1.0 };
            value * run * noise * if is_time { lost } else { 1.0 / lost }
        };
        (0..PARTS).map(|_| part()).collect()
    }

    /// A print of a machine that is like all others, but for the latency of memory.
    fn print(&mut self, memory_ns: f64) -> MachinePrint {
        let mut made = print(2, None);
        made.bandwidth = Some(Probed::of(self.bandwidth(), Vec::new()));
        let mut ns = |value: f64| self.parts(value, true);
        let clocks = [21.8, 21.7, 21.9, 2.8, 390.0, 420.0, 9.5].map(|cost_ns| {
            let (name, parts_ns) = (format!("clock of {cost_ns} ns"), ns(cost_ns));
            Clock { name, cost_low_ns: median(&parts_ns), parts_ns, ..Clock::default() }
        });
        let kernels = Kernel::ALL.map(|kernel| {
            let rounds_ns = ns(60.0);
            let latency_ns = median(&rounds_ns);
            let pair = PairLatency {
                cpus: [0, 1],
                latency_ns,
                timed_by_ns: [None; 2],
                modes: Vec::new(),
                rounds_ns,
                strays: 0,
                batches: 9,
                invalid: 0,
                preemptions: 0,
            };
            let (nearest_ns, farthest_ns) = (latency_ns, latency_ns);
            KernelLatency { kernel, nearest_ns, farthest_ns, pairs: vec![pair] }
        });
        let caches = [(1, 1.0), (2, 3.6), (3, 13.0)].map(|(level, latency_ns)| {
            let parts_ns = ns(latency_ns);
            let latency_ns = Some(median(&parts_ns));
            let effective_bytes = Some(1 << 20);
            CacheSize { level, effective_bytes, latency_ns, parts_ns, ..CacheSize::default() }
        });
        let (caches, memory_parts_ns) = (caches.to_vec(), ns(memory_ns));
        let memory_ns = Some(median(&memory_parts_ns));
        let latency = Latency { caches, memory_ns, memory_parts_ns, ..Latency::default() };
        made.latency = Some(Probed::of(latency, Vec::new()));
        let timers = Timers { clocks: clocks.to_vec(), ..Timers::default() };
        made.timers = Some(Probed::of(timers, Vec::new()));
        let cores = Cores { kernels: kernels.to_vec(), ..Cores::default() };
        made.cores = Some(Probed::of(cores, Vec::new()));
        made.noise = Some(Probed::of(Noise::default(), Vec::new()));
        made
    }

    fn bandwidth(&mut self) -> Bandwidth {
        let curves = Traffic::ALL.map(|traffic| {
            let parts_bytes_per_s = self.parts(40e9, false);
            let bytes_per_s = median(&parts_bytes_per_s);
            let point = BandwidthPoint {
                threads: 1,
                bytes_per_s,
                low_bytes_per_s: 0.95 * bytes_per_s,
                high_bytes_per_s: bytes_per_s,
                parts_bytes_per_s,
                rounds: 11,
                windows: 300,
                windows_kept: 250,
            };
            BandwidthCurve { traffic, is_pinned: true, points: vec![point], knee: None }
        });
        let loaded = [100.0, 170.0].map(|latency_ns| {
            let parts_ns = self.parts(latency_ns, true);
            LoadedLatency {
                threads: 1,
                asked_share: 1.0,
                bytes_per_s: 0.0,
                latency_ns: median(&parts_ns),
                spread_ns: None,
                parts_ns,
                windows_kept: 200,
            }
        });
        let (curves, loaded_latency) = (curves.to_vec(), loaded.to_vec());
        Bandwidth { curves, loaded_latency, ..Bandwidth::default() }
    }
}

/// What is printed of a figure with these parts.
fn median(parts: &[f64]) -> f64 {
    let mut sorted = parts.to_vec();
    sorted.sort_by(f64::total_cmp);
    sorted[sorted.len() / 2]
}

fn unpriced(a: &MachinePrint, b: &MachinePrint) -> Comparison {
    let named = |print| Named { print, name: "x", price: None };
    compare(named(a), named(b))
}

fn row<'a>(comparison: &'a Comparison, key: &str) -> &'a Compared {
    comparison.figures.iter().find(|row| row.key == key).unwrap()
}

/// The keys of the rows that name a machine.
fn named(comparison: &Comparison) -> Vec<&str> {
    let names = |row: &&Compared| matches!(row.values.winner, Some(Winner::A | Winner::B));
    comparison.figures.iter().filter(names).map(|row| row.key.as_str()).collect()
}

const PAIRS: usize = 400;
/// Rows of a made-up print that might name a machine, and those of them that have a price.
const ROWS: [usize; 2] = [25, 6];
/// Spreads of real parts on a quiet machine, from clocks to a shared cache.
const QUIET: [f64; 4] = [0.003, 0.01, 0.03, 0.1];
const LOUD: [f64; 4] = [0.01, 0.05, 0.2, 0.5];

#[test]
fn a_machine_against_itself_names_none_more_often_than_is_said() {
    let half = BETWEEN_RUNS.sqrt();
    let worlds = [
        World::new("equal", 1.0, &QUIET, 0.0),
        World::new("as two runs differ", half, &QUIET, 0.05),
        World::new("busy", half, &LOUD, 0.3),
    ];
    for mut world in worlds {
        let tables = (0..PAIRS).filter(|_| {
            let comparison = unpriced(&world.print(145.0), &world.print(145.0));
            let rule = comparison.rule.unwrap();
            assert_eq!((rule.error, rule.rows), (ERROR, ROWS[0]));
            !named(&comparison).is_empty()
        });
        assert!(tables.count() as f64 <= ERROR * PAIRS as f64);
    }
}

/// The least favourable world: figures of one run are larger by all that is allowed.
#[test]
fn the_error_holds_where_two_runs_differ_by_all_that_is_allowed() {
    let mut world = World::new("edge", 1.0, &LOUD, 0.0);
    let tables = (0..PAIRS).filter(|_| {
        let (a, mut b) = (world.print(145.0), world.print(145.0));
        let Some(Probed::Measured { value }) = &mut b.timers else { panic!("{:?}", b.timers) };
        for clock in &mut value.clocks {
            clock.cost_low_ns *= BETWEEN_RUNS;
            clock.parts_ns.iter_mut().for_each(|part| *part *= BETWEEN_RUNS);
        }
        !named(&unpriced(&a, &b)).is_empty()
    });
    assert!(tables.count() as f64 <= ERROR * PAIRS as f64);
}

/// The test by itself, without what is printed, at an error that shows within so many pairs. Of
/// parts that are spread unequally it has a larger one: 14% instead of 10% in the loud world, which
/// is why what is printed must lie further apart than the parts, too.
#[test]
fn the_test_of_the_parts_has_its_error_at_the_edge() {
    let error = 0.1;
    for (name, spread) in [("quiet edge", &[0.01]), ("loud edge", &[0.5])] {
        let mut world = World::new(name, 1.0, spread, 0.0);
        let pairs = 2000;
        let named = (0..pairs).filter(|_| {
            let (above, below) = (world.parts(BETWEEN_RUNS, true), world.parts(1.0, true));
            chance_above(&above, &below, BETWEEN_RUNS) <= error
        });
        let named = named.count() as f64 / f64::from(pairs);
        assert!(named <= error + 0.02 && named > error / 10.0, "{name}: {named}");
    }
}

#[test]
fn what_differs_by_a_third_is_found() {
    let mut world = World::new("a third", 1.0, &[0.003, 0.01], 0.0);
    let found = (0..PAIRS).filter(|_| {
        let comparison = unpriced(&world.print(145.0), &world.print(1.3 * 145.0));
        let memory = row(&comparison, "latency-memory");
        assert!((memory.values.ratio.unwrap() / 1.3 - 1.0).abs() < 0.05 && memory.why.is_none());
        named(&comparison) == ["latency-memory"] && memory.values.winner == Some(Winner::A)
    });
    assert!(found.count() >= PAIRS * 99 / 100);
}

#[test]
fn a_price_is_set_against_bandwidth_and_not_against_latency() {
    let mut world = World::new("price", 1.0, &[0.01], 0.0);
    let (a, b) = (world.print(145.0), world.print(145.0));
    let side = |print, price| Named { print, name: "x", price: Some(price) };
    let comparison = compare(side(&a, 2.0), side(&b, 1.0));
    assert_eq!(named(&comparison), [""; 0]);
    assert_eq!(comparison.rule.unwrap().rows, ROWS[0] + ROWS[1]);
    for row in &comparison.figures {
        let is_sold = row.unit == Unit::BytesPerSecond || SOLD.contains(&row.key.as_str());
        assert_eq!(row.per_price.is_some(), is_sold, "{}", row.key);
        let winner = row.per_price.map(|priced| priced.winner);
        let expected = (row.better != Better::Neither).then_some(Winner::B);
        assert!(winner.is_none_or(|winner| winner == expected), "{}", row.key);
    }
}

/// The figure that is printed next to parts that are 1.3 times as large.
#[test]
fn a_machine_is_named_only_where_the_figures_that_are_printed_say_so_too() {
    let check = |printed: f64, expected: Winner| {
        let mut world = World::new("printed", 1.0, &[0.003], 0.0);
        let (mut a, mut b) = (world.print(100.0), world.print(130.0));
        for (print, ns) in [(&mut a, 100.0), (&mut b, printed)] {
            let Some(Probed::Measured { value }) = &mut print.latency else { panic!("no latency") };
            value.memory_ns = Some(ns);
        }
        let row = unpriced(&a, &b);
        let values = self::row(&row, "latency-memory").values;
        assert_eq!((values.ratio, values.winner), (Some(printed / 100.0), Some(expected)));
    };
    check(130.0, Winner::A);
    check(121.0, Winner::A);
    for printed in [120.0, 110.0, 100.0, 70.0] {
        check(printed, Winner::NoneShown);
    }
}

/// What speaks against a row, in words; the row names no machine then.
#[test]
fn no_machine_is_named_where_something_speaks_against_it() {
    fn latency(print: &mut MachinePrint) -> &mut Latency {
        let Some(Probed::Measured { value }) = &mut print.latency else { panic!("no latency") };
        value
    }
    fn guest(print: &mut MachinePrint) {
        print.machine.0.insert("hypervisor".to_owned(), Fact::Text("KVM".to_owned()));
        let Some(Probed::Measured { value }) = &mut print.cores else { panic!("no cores") };
        value.is_short_look = true;
    }
    let check = |key: &str, words: &str, change: fn(&mut MachinePrint)| {
        let mut world = World::new("why", 1.0, &[0.003], 0.0);
        let (a, mut b) = (world.print(145.0), world.print(145.0 * 3.0));
        change(&mut b);
        let comparison = unpriced(&a, &b);
        let row = row(&comparison, key);
        assert_eq!(row.why.as_deref(), Some(words).filter(|words| !words.is_empty()), "{key}");
        assert_eq!(row.values.winner.is_some(), words.is_empty(), "{key}");
    };
    check("latency-memory", "", |_| ());
    let none = "B: the print holds no repeated measurements of it";
    check("latency-memory", none, |b| latency(b).memory_parts_ns.clear());
    let few = "12 and 3 repeated measurements are too few";
    check("latency-memory", few, |b| latency(b).memory_parts_ns.truncate(3));
    check("latency-memory", "B: no such level found", |b| latency(b).memory_ns = None);
    check("latency-level-4", "A: no such level found", |b| latency(b).caches[2].level = 4);
    let unsteady = "B: loads that L3 should answer take 9.6 to 138.0 ns: others use it too";
    check("latency-level-3", unsteady, |b| latency(b).caches[2].spread_ns = Some([9.6, 138.0]));
    let moved = "B: a short look sees one of the placements between which a hypervisor moves CPUs";
    check("cores-two-lines-nearest", moved, guest);
    check("latency-memory", "", guest);
    check("latency-memory", &format!("B: {NO_NOISE}"), |b| b.noise = None);
    check("latency-memory", &format!("B: {NO_NOISE}"), |b| {
        b.noise = Some(Probed::inconclusive("there was no time"));
    });
    let lost = "B: 68% of CPU time was lost to other work meanwhile";
    check("latency-memory", lost, |b| {
        let noise = Noise { lost_share: 0.68, ..Noise::default() };
        b.noise = Some(Probed::of(noise, Vec::new()));
    });
}

/// An EPYC whose third level answers in 13.7 ns, and a Xeon whose does in 34 ns. A print that was
/// made before levels were what change points show ended in memory and called it the third level.
#[test]
fn a_level_is_compared_with_the_same_level_only() {
    let latency = |levels: &[(u32, f64, Option<u64>)], memory_ns: Option<f64>| {
        let cache = |&(level, latency_ns, effective_bytes): &(u32, f64, Option<u64>)| CacheSize {
            level,
            latency_ns: Some(latency_ns),
            effective_bytes,
            ..CacheSize::default()
        };
        let caches = levels.iter().map(cache).collect();
        let found = Latency { caches, memory_ns, ..Latency::default() };
        let mut print = print(2, None);
        print.noise = Some(Probed::of(Noise::default(), Vec::new()));
        print.latency = Some(Probed::of(found, Vec::new()));
        print
    };
    let kib = |kib: u64| Some(kib << 10);
    let epyc = [(1, 1.16, kib(48)), (2, 4.0, kib(1024)), (3, 13.7, kib(6 << 10))];
    let epyc = latency(&epyc, Some(146.0));
    let [l1, l2] = [(1, 1.66, kib(48)), (2, 5.2, kib(2048))];
    let xeon = latency(&[l1, l2, (3, 34.2, kib(16 << 10))], Some(132.0));
    let old = latency(&[l1, l2, (3, 128.6, None)], None);
    let check = |b: &MachinePrint, key: &str, ratio: Option<f64>, why: &str| {
        let comparison = unpriced(&epyc, b);
        let row = row(&comparison, key);
        let rounded = row.values.ratio.map(|ratio| (100.0 * ratio).round() / 100.0);
        assert_eq!((rounded, row.values.winner), (ratio, None), "{key}");
        assert!(row.why.as_deref().unwrap_or_default().contains(why), "{key}: {:?}", row.why);
    };
    let older = "A and B: the print holds no repeated measurements of it";
    check(&xeon, "latency-level-3", Some(2.5), older);
    check(&xeon, "cache-level-3", Some(2.67), "");
    check(&xeon, "latency-memory", Some(0.9), older);
    check(&old, "latency-level-2", Some(1.3), older);
    check(&old, "latency-level-3", None, "B: no such level found");
    check(&old, "cache-level-3", None, "");
    check(&old, "latency-memory", None, "B: no such level found");
}

/// Bandwidth of one machine in two minutes: in the second a neighbour took up to half of it.
#[test]
fn figures_that_lie_no_further_apart_than_their_parts_name_nobody() {
    let rule = WinnerRule { error: ERROR, factor: BETWEEN_RUNS, rows: 1 };
    let check = |low: f64, expected: Winner| {
        let figure = |value: f64, [low, high]: [f64; 2]| {
            let part = |k: usize| low + (high - low) * k as f64 / (PARTS - 1) as f64;
            Figure {
                value,
                spread: Spread::of([low, high]),
                parts: (0..PARTS).map(part).collect(),
                better: Better::Higher,
                ..memory_figure()
            }
        };
        let sides = [Some(figure(57.0, [49.8, 58.1])), Some(figure(44.0, [low, 40.0]))];
        assert_eq!(
            beside(sides.each_ref().map(Option::as_ref), Some(&rule)).winner,
            Some(expected),
            "{low}"
        );
    };
    check(22.0, Winner::NoneShown);
    check(36.0, Winner::A);
}

/// Any figure: what is compared is elsewhere.
fn memory_figure() -> Figure {
    let mut world = World::new("any", 1.0, &[0.01], 0.0);
    let figures = figures(&world.print(130.0));
    figures.into_iter().find(|figure| figure.key == "latency-memory").expect("it is there")
}
