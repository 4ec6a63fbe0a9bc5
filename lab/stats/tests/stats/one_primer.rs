//! What one primer for two pairs would save: a unit of five runs, P A B B A or P B A A B by one
//! coin, in place of two rounds of three. Both ways to bet on it keep the theorems of rule A3.

use crate::common::neighbour::Neighbour;
use crate::common::noise::{BIMODAL, CLEAN, Noise, Slots};
use crate::common::rates::count;
use std::sync::Mutex;
use tiebreak_stats::bettor::{BETTORS, M3R, S, Table};
use tiebreak_stats::coins::{Purpose, Seed, Stream};
use tiebreak_stats::observation::LogRatio;
use tiebreak_stats::past::Past;

/// What a unit's two log ratios become.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Design {
    /// There are no units: each round has its own primer.
    Rounds,
    /// One observation, their mean.
    Means,
    /// One bet, on the mean of their scores with twice the stake; from this round on, and single
    /// rounds before.
    Scores { from: u64 },
}

#[derive(Clone, Copy)]
enum World {
    Slots(Noise),
    Neighbour(f64),
}

/// The most runs of a stream.
const RUNS_MAX: u64 = 9000;
/// What the wealth must reach: an error of 1%, for two sides.
const NEEDED: f64 = 200.0;
/// The largest stake of a bet on two scores.
const STAKE_MAX: f64 = 0.97;

/// The runs of a stream.
struct Runs {
    world: World,
    effect: f64,
    slots: Slots,
    chance: Stream,
    count: u64,
}

impl Runs {
    /// The next run's log time.
    fn next(&mut self, who: usize, is_second: bool) -> f64 {
        self.count += 1;
        match self.world {
            World::Slots(noise) => {
                let gain = if is_second { noise.second_slot_gain } else { 0.0 };
                self.slots.next(&mut self.chance) + libm::log1p(self.effect) * who as f64 - gain
            }
            World::Neighbour(duty) => {
                let neighbour = Neighbour::of_duty(duty, self.effect);
                libm::log(neighbour.run(who, is_second, &mut self.chance).0)
            }
        }
    }

    /// The log ratio of a pair.
    fn pair(&mut self, first: usize) -> f64 {
        let [early, late] = [(first, false), (1 - first, true)].map(|(w, s)| self.next(w, s));
        if first == 0 { late - early } else { early - late }
    }

    /// What each bettor bets that B takes longer, and the log ratios of the round or unit.
    fn bet(
        &mut self,
        design: Design,
        round: u64,
        table: &Table,
        scale: Option<f64>,
    ) -> ([f64; BETTORS], Vec<f64>) {
        let first = usize::from(self.chance.sign() < 0.0);
        self.next(first, false);
        let one = self.pair(first);
        let scores = |d: f64| table.scores(d, scale);
        match design {
            Design::Scores { from } if round >= from => {
                let other = self.pair(1 - first);
                let (of_one, of_other) = (scores(one), scores(other));
                let bet = |bettor: usize| {
                    let stake = (2.0 * table.stake[bettor]).min(STAKE_MAX);
                    stake * (of_one[bettor] + of_other[bettor]) / 2.0
                };
                (std::array::from_fn(bet), vec![one, other])
            }
            Design::Means => {
                let mean = (one + self.pair(1 - first)) / 2.0;
                let scores = scores(mean);
                (std::array::from_fn(|bettor| table.stake[bettor] * scores[bettor]), vec![mean])
            }
            Design::Rounds | Design::Scores { .. } => {
                let scores = scores(one);
                (std::array::from_fn(|bettor| table.stake[bettor] * scores[bettor]), vec![one])
            }
        }
    }
}

/// How many runs half of the streams need until an order is proven.
fn median_runs(world: World, effect: f64, table: &'static Table, design: Design) -> u64 {
    let seed = Seed::from_text("one primer for two pairs");
    let needed = |stream| {
        let noise = if let World::Slots(noise) = world { noise } else { CLEAN };
        let chance = Stream::new(seed, Purpose::Simulation, stream, 0);
        let mut runs = Runs { world, effect, slots: Slots::new(noise), chance, count: 0 };
        let (mut past, mut wealth) = (Past::default(), [table.weight; 2]);
        let mut round = 0;
        while runs.count < RUNS_MAX {
            // A block: each is primed once, and nothing is learnt before its end.
            let (scale, mut seen) = (past.scale(), Vec::new());
            for _ in 0..2 {
                let (bets, ratios) = runs.bet(design, round, table, scale);
                for (bettor, bet) in bets.into_iter().enumerate() {
                    wealth[0][bettor] *= 1.0 + bet;
                    wealth[1][bettor] *= 1.0 - bet;
                }
                seen.extend(ratios);
                round += 1;
            }
            seen.into_iter().for_each(|d| past.insert(LogRatio::exact(d)));
            if wealth.iter().any(|side| side.iter().sum::<f64>() >= NEEDED) {
                return runs.count;
            }
        }
        u64::MAX
    };
    let all = Mutex::new(Vec::new());
    count(0..1001, |stream| {
        all.lock().unwrap().push(needed(stream));
        true
    });
    let mut all = all.into_inner().unwrap();
    all.sort_unstable();
    all[all.len() / 2]
}

/// The mean of two ratios is worth little where one of them is often disturbed. A bet on both
/// scores saves a tenth of the runs where hundreds are needed, none where a difference is clear.
/// So neither was built.
#[test]
fn one_primer_for_two_pairs_saves_little() {
    let check = |world, effect, table, design, least: f64, most: f64| {
        let [alone, other] =
            [Design::Rounds, design].map(|of| median_runs(world, effect, table, of) as f64);
        let share = other / alone;
        let said = format!("{effect} {} {design:?}: {other} runs for {alone}", table.name);
        println!("{said}");
        assert!((least..most).contains(&share), "{said}");
    };
    let (clean, bimodal) = (World::Slots(CLEAN), World::Slots(BIMODAL));
    for table in [&M3R, &S] {
        check(clean, 0.005, table, Design::Means, 0.7, 0.98);
        check(clean, 0.05, table, Design::Means, 1.5, 2.0);
        check(bimodal, 0.01, table, Design::Means, 1.5, 2.5);
        check(World::Neighbour(0.2), 0.02, table, Design::Means, 2.0, 3.0);
        for (world, effect) in [(clean, 0.01), (bimodal, 0.01), (World::Neighbour(0.2), 0.02)] {
            check(world, effect, table, Design::Scores { from: 0 }, 0.75, 1.1);
            check(world, effect, table, Design::Scores { from: 10 }, 0.75, 1.1);
        }
        check(clean, 0.05, table, Design::Scores { from: 0 }, 1.2, 2.0);
        check(clean, 0.05, table, Design::Scores { from: 10 }, 0.99, 1.2);
    }
}
