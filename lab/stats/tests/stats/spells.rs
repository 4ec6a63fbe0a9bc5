//! Spells in which lines fail more often, of which no line tells: what becomes of the promise of
//! blocks, and of chains, and whether independent lines and short bursts keep theirs.

use crate::common::rates::{Cell, Form, count};
use crate::common::trials::{Hidden, Service};
use std::sync::atomic::{AtomicU64, Ordering};
use tiebreak_stats::coins::Seed;
use tiebreak_stats::decide::SequentialTest;
use tiebreak_stats::share_test::{ShareTest, Trial};

/// Blocks of a stream.
const BLOCKS: usize = 300;
const ERROR: f64 = 0.01;

/// What became of streams whose share is exactly the bar, so that either verdict is false.
#[derive(Debug, Default)]
struct Became {
    wrong: AtomicU64,
    lost: AtomicU64,
    little_is_known: AtomicU64,
    /// Kept, without the words that little is known.
    flat: AtomicU64,
}

/// The words of a sentence that say how little could have shown: fewer than thirty blocks, or fewer
/// than ten spells' worth of failures; of a chain, fewer than ten runs of them.
fn is_little_known(test: &ShareTest) -> bool {
    let failures = (test.rounds() - test.successes) as f64;
    let together = if test.is_chain {
        test.dependence().mean_burst
    } else {
        test.block_spells().map(|spells| spells.spell_lines)
    };
    let few_blocks = test.block > 1 && test.rounds() / test.block < 30;
    few_blocks || failures / together.unwrap_or(1.0).max(1.0) < 10.0
}

fn judge(streams: u64, test: &ShareTest, lines: usize, world: Hidden) -> [u64; 4] {
    let became = Became::default();
    count(0..streams, |stream| {
        let mut test = test.clone();
        let mut trials = world.trials(Seed::from_text("spells"), stream).take(lines);
        if trials.any(|trial| test.observe(trial).is_some()) {
            let which = match (test.is_bursty(), is_little_known(&test)) {
                (true, _) => &became.lost,
                (_, true) => &became.little_is_known,
                _ => &became.flat,
            };
            which.fetch_add(1, Ordering::Relaxed);
            became.wrong.fetch_add(1, Ordering::Relaxed);
        }
        false
    });
    let Became { wrong, lost, little_is_known, flat } = became;
    let found = [wrong, lost, little_is_known, flat].map(AtomicU64::into_inner);
    println!("{world:?}, block {}: wrong, lost, few, flat {found:?} of {streams}", test.block);
    found
}

fn hidden(fails: [f64; 2], bad_share: f64, bad_lines: f64) -> Hidden {
    Hidden { fails, bad_share, bad_lines }
}

/// Many verdicts are wrong, and hardly any of these keeps its promise without a word.
fn check(streams: u64, world: Hidden, block: u64, flat_most: u64) {
    let test = ShareTest::new(world.share(), world.share(), block, ERROR);
    let [wrong, _, _, flat] = judge(streams, &test, BLOCKS * block as usize, world);
    assert!(wrong as f64 > 2.0 * ERROR * streams as f64, "{wrong} of {streams}");
    assert!(flat <= flat_most, "{flat} of {wrong} keep their promise flatly, in {world:?}");
}

#[test]
fn spells_take_the_promise_of_blocks_away() {
    check(60, hidden([0.5, 0.0], 0.1, 5000.0), 1000, 0);
    check(60, hidden([0.5, 0.0], 0.1, 20_000.0), 2000, 0);
    check(60, hidden([1.0 / 3.0, 0.0], 0.1, 2000.0), 1000, 0);
    check(200, hidden([0.5, 0.0], 0.1, 50.0), 10, 0);
}

#[test]
#[ignore = "full: 400 streams of each world, run by make full"]
fn spells_take_the_promise_of_blocks_away_in_full() {
    for (fails, bad_share, bad_lines, block, flat_most) in [
        ([0.5, 0.0], 0.1, 5000.0, 1000, 4),
        ([0.5, 0.0], 0.1, 20_000.0, 2000, 4),
        ([1.0 / 3.0, 0.0], 0.1, 2000.0, 1000, 4),
        ([0.5, 0.0], 0.1, 1000.0, 1000, 4),
        ([0.5, 0.0], 0.1, 50.0, 10, 4),
        ([0.3, 0.01], 0.1, 5000.0, 1000, 20),
        ([0.1, 0.02], 0.3, 5000.0, 1000, 20),
        ([0.1, 0.0], 0.5, 50_000.0, 1000, 40),
    ] {
        check(400, hidden(fails, bad_share, bad_lines), block, flat_most);
    }
}

/// Of chains: what a look at their memory cannot have seen, the sentence says.
#[test]
fn spells_take_the_promise_of_chains_away() {
    for bad_lines in [100.0, 1000.0, 5000.0] {
        let world = hidden([0.5, 0.0], 0.1, bad_lines);
        let test = ShareTest::chain(world.share(), world.share(), ERROR);
        let [wrong, _, _, flat] = judge(100, &test, 300_000, world);
        assert!(wrong > 5 && flat <= 3, "{flat} of {wrong}");
    }
}

/// Blocks of independent lines, and of bursts that are short for them, keep their promise.
fn check_honest(streams: u64) {
    let worlds = [
        (0.5, 1.0, 100, [3, 300]),
        (0.95, 1.0, 10, [3, 300]),
        (0.99, 1.0, 10, [3, 300]),
        (0.999, 1.0, 10, [10, 300]),
        (0.95, 1.0, 30, [10, 40]),
        (0.95, 1.0, 1000, [3, 300]),
        (0.999, 1.0, 100, [10, 40]),
        (0.95, 3.0, 300, [10, 300]),
        (0.99, 10.0, 1000, [40, 300]),
        (0.99, 20.0, 2000, [40, 100]),
    ];
    for (share, mean_burst, block, lengths) in worlds {
        for blocks in lengths {
            let cell = Cell::new(
                format!("promise lost, {blocks} blocks of {block}"),
                format!("{share} bursts {mean_burst}"),
                "blocks",
                move |_, seed, stream| {
                    let mut test = ShareTest::new(share, share, block, 0.0);
                    let trials = Service { share, mean_burst }.trials(seed, stream);
                    for trial in trials.take(blocks * block as usize) {
                        test.observe(trial);
                    }
                    test.is_bursty()
                },
            );
            cell.check(Form { streams, rounds: 0, error: 0.001 });
        }
    }
}

#[test]
fn independent_lines_and_short_bursts_keep_the_promise_of_blocks() {
    check_honest(150);
}

#[test]
#[ignore = "full: 1000 streams of each world, run by make full"]
fn independent_lines_and_short_bursts_keep_the_promise_of_blocks_in_full() {
    check_honest(1000);
}

/// What the failures of blocks say of the length of runs in them.
#[test]
fn blocks_that_differ_know_how_long_bursts_would_be() {
    let mut test = ShareTest::new(0.9, 0.9, 4, 0.0);
    assert_eq!(test.block_spells(), None);
    // Two blocks with 4 and 0 failures: the variance 8 is 8 times the 4 / 4 of chance.
    for trial in [Trial::Failure; 4].into_iter().chain([Trial::Success; 4]) {
        test.observe(trial);
    }
    assert_eq!(test.block_spells().unwrap().spell_lines, 4.5);
}
