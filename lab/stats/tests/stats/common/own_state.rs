//! Equal contestants, each of which keeps something of its own from run to run, or finds the
//! machine as the latest run left it.

use super::settle_adjusted;
use tiebreak_core::schedule::RoundCoins;
use tiebreak_stats::blocks::Block;
use tiebreak_stats::coins::{Purpose, Seed, Stream, draw, lone_primer};
use tiebreak_stats::conditions::Conditions;
use tiebreak_stats::decide::Settled;
use tiebreak_stats::observation::LogRatio;
use tiebreak_stats::ratio_test::RatioTest;

/// Who runs untimed at the start of a round.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Primers {
    /// Nobody.
    Nobody,
    /// Each once in the first block, and then nobody, as where runs are long.
    FirstBlock,
    /// Whom a coin of the round's own names, as version 1 of the engine had it.
    Lone,
    /// Each once in a block.
    Block,
}

/// What a contestant's time is, in natural logarithms, after so many runs of its own.
#[derive(Clone, Copy, Debug)]
pub enum State {
    /// It keeps nothing.
    None,
    /// Each run is slower than the one before by this.
    Grows(f64),
    /// The first run is slower by `by`, and after each `runs` runs by a fraction e of that.
    Warms { by: f64, runs: f64 },
}

impl State {
    fn log_time(self, own_runs: u64) -> f64 {
        match self {
            State::None => 0.0,
            State::Grows(by) => by * own_runs as f64,
            State::Warms { by, runs } => by * libm::exp(-(own_runs as f64) / runs),
        }
    }
}

/// A world in which nobody is faster.
#[derive(Clone, Copy, Debug)]
pub struct World {
    pub name: &'static str,
    pub state: State,
    /// What a run is faster that follows one of the same contestant, and one that has another in
    /// between.
    pub follow_gain: [f64; 2],
    /// What the second slot of a round, and each after it, is faster.
    pub later_slot_gain: f64,
}

/// Nobody keeps anything; to start from.
pub const STATELESS: World =
    World { name: "stateless", state: State::None, follow_gain: [0.0; 2], later_slot_gain: 0.0 };

const fn own(name: &'static str, state: State) -> World {
    World { name, state, ..STATELESS }
}

const fn follows(name: &'static str, follow_gain: [f64; 2], later_slot_gain: f64) -> World {
    World { name, follow_gain, later_slot_gain, ..STATELESS }
}

/// Worlds with a state of each contestant's own.
pub const OWN: [World; 6] = [
    own("grows 0.1%", State::Grows(0.001)),
    own("grows 0.4%", State::Grows(0.004)),
    own("warms 5%/10", State::Warms { by: 0.05, runs: 10.0 }),
    own("warms 50%/3", State::Warms { by: 0.5, runs: 3.0 }),
    own("warms 20%/30", State::Warms { by: 0.2, runs: 30.0 }),
    own("warms 50%/10", State::Warms { by: 0.5, runs: 10.0 }),
];

/// Worlds in which it matters who ran last.
pub const FOLLOW: [World; 5] = [
    follows("follow 2%", [0.02, 0.0], 0.0),
    follows("follow 4%", [0.04, 0.0], 0.0),
    follows("follow 4%, slot 5%", [0.04, 0.0], 0.05),
    follows("follow 4%+2%", [0.04, 0.02], 0.0),
    follows("follow 4%+2%, slot 5%", [0.04, 0.02], 0.05),
];

/// Both at once, which rule A3 covers where what a further own run does is less than what to follow
/// it does, or works in the same direction.
pub const BOTH: [World; 2] = [
    World { state: State::Warms { by: 0.2, runs: 30.0 }, name: "warms, follow 4%", ..FOLLOW[2] },
    World { state: State::Grows(0.001), name: "grows, follow 4%", ..FOLLOW[2] },
];

/// Standard deviation of a slot.
const NOISE_SD: f64 = 0.01;

impl World {
    /// The rounds of the first two of so many contestants. Streams are numbered below 65 536.
    pub fn rounds(
        self,
        contestants: usize,
        primers: Primers,
        seed: Seed,
        stream: u64,
    ) -> impl Iterator<Item = (LogRatio, Conditions)> {
        let mut chance = Stream::new(seed, Purpose::Simulation, stream, 0);
        let all: Vec<usize> = (0..contestants).collect();
        let (mut runs, mut latest) = (vec![0u64; contestants], [usize::MAX; 2]);
        let (mut block, mut round, stream) = (Block::default(), 0, stream as u32);
        std::iter::repeat_with(move || {
            let draw_block = |primes| block.draw(seed, (round, stream), &all, primes);
            let coins = match primers {
                Primers::Nobody => draw_block(false),
                Primers::FirstBlock => draw_block(round == 0),
                Primers::Block => draw_block(true),
                Primers::Lone => RoundCoins {
                    primer: Some(lone_primer(seed, round, stream, &all)),
                    ..draw(seed, round, stream, &all)
                },
            };
            round += 1;
            let mut run = |who: usize| {
                let follow = latest.iter().position(|last| *last == who);
                let gain = follow.map_or(0.0, |place| self.follow_gain[place]);
                let log_time = self.state.log_time(runs[who]) - gain;
                runs[who] += 1;
                latest = [who, latest[0]];
                log_time + NOISE_SD * chance.normal()
            };
            coins.primer.into_iter().for_each(|who| {
                run(who);
            });
            let mut log_times = vec![0.0; contestants];
            for (slot, who) in coins.order.iter().enumerate() {
                let gain = if slot > 0 { self.later_slot_gain } else { 0.0 };
                log_times[*who] = run(*who) - gain;
            }
            let d = LogRatio::exact(log_times[1] - log_times[0]);
            (d, conditions(&mut block, primers, seed, &coins))
        })
    }

    /// Whether a comparison of the first two is ever settled.
    pub fn settles(
        self,
        contestants: usize,
        primers: Primers,
        test: RatioTest,
        (seed, stream, rounds): (Seed, u64, usize),
    ) -> Option<(Settled, u64)> {
        settle_adjusted(test, self.rounds(contestants, primers, seed, stream).take(rounds))
    }
}

fn conditions(block: &mut Block, primers: Primers, seed: Seed, coins: &RoundCoins) -> Conditions {
    if primers == Primers::Lone {
        return Conditions::UNKNOWN;
    }
    block.take(seed, coins);
    Conditions { goes_on: block.goes_on(), rests: block.tells_apart(0, 1), ..Conditions::UNKNOWN }
}
