//! The coins of a round: a function of the seed, the stream, the round and the attempt.
//!
//! They come from a counter-based generator: the same numbers for the same counter, in any order,
//! on any machine. It is Philox4x32-10 of Salmon, Moraes, Dror and Shaw, "Parallel random numbers:
//! as easy as 1, 2, 3" (SC 2011): ten rounds of multiplying, swapping and adding to the key. It
//! passes their whole battery of tests and needs no state. The tests below check its published test
//! vectors.

use sha2::{Digest, Sha256};
use tiebreak_core::plan::Scope;
use tiebreak_core::schedule::{RoundCoins, UnitCoins};

/// The largest padding of an environment, in bytes: a page, so that the stack moves through one.
const PADDING_BYTES_MAX: u64 = 4095;

/// The purpose of a coin. Each purpose has its own stream, so that drawing more for one never
/// changes another.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u16)]
pub enum Purpose {
    /// The order of a round.
    Order = 1,
    /// The untimed run at the start of a round.
    Primer = 2,
    /// The padding of environments.
    Padding = 3,
    /// Simulations and resampling.
    Simulation = 4,
    /// The permutations of an exact test.
    Permutations = 5,
    /// The placements of a unit's contestants.
    Placements = 6,
    /// The input of a unit.
    Input = 7,
    /// The orders of a unit's rounds.
    UnitOrders = 8,
    /// The offset of a unit's stack.
    Stack = 9,
    /// The loads on servers.
    Load = 10,
}

/// The key of a seed. A seed is any text; equal texts give equal coins.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Seed([u32; 2]);

impl Seed {
    /// Returns the first 64 bits of the SHA-256 of the text.
    pub fn from_text(text: &str) -> Seed {
        let hash = Sha256::digest(text.as_bytes());
        Seed([0, 4].map(|at| u32::from_le_bytes(std::array::from_fn(|byte| hash[at + byte]))))
    }
}

/// The numbers of one purpose in one attempt at one round.
#[derive(Clone, Debug)]
pub struct Stream {
    key: [u32; 2],
    counter: [u32; 4],
    words: [u32; 4],
    used: usize,
}

impl Stream {
    /// Returns the stream of a purpose in an attempt at a round. Attempts above 65 535 share
    /// streams.
    pub fn new(seed: Seed, purpose: Purpose, round: u64, attempt: u32) -> Stream {
        let place = (attempt << 16) | purpose as u32;
        let counter = [0, place, round as u32, (round >> 32) as u32];
        Stream { key: seed.0, counter, words: [0; 4], used: 4 }
    }

    /// Returns 32 random bits.
    pub fn next_u32(&mut self) -> u32 {
        if self.used == self.words.len() {
            self.words = philox4x32(self.counter, self.key);
            self.counter[0] = self.counter[0].wrapping_add(1);
            self.used = 0;
        }
        self.used += 1;
        self.words[self.used - 1]
    }

    /// Returns 64 random bits, the first word low.
    pub fn next_u64(&mut self) -> u64 {
        u64::from(self.next_u32()) | u64::from(self.next_u32()) << 32
    }

    /// Returns a number below `bound`, each equally likely: 64 bits modulo `bound`, drawn again in
    /// the rare case that they lie in the last, incomplete run of remainders.
    pub fn below(&mut self, bound: u64) -> u64 {
        assert!(bound > 0, "no number lies below 0");
        let complete = u64::MAX - u64::MAX % bound;
        loop {
            let bits = self.next_u64();
            if bits < complete {
                return bits % bound;
            }
        }
    }

    /// Returns a number in [0, 1) from 53 random bits.
    pub fn unit(&mut self) -> f64 {
        (self.next_u64() >> 11) as f64 / (1u64 << 53) as f64
    }

    /// Returns 1 or -1, equally likely.
    pub fn sign(&mut self) -> f64 {
        if self.next_u32() & 1 == 0 { 1.0 } else { -1.0 }
    }

    /// Returns a standard normal number, by the polar method of Box and Muller (1958).
    pub fn normal(&mut self) -> f64 {
        let radius = libm::sqrt(-2.0 * libm::log(1.0 - self.unit()));
        radius * libm::cos(2.0 * std::f64::consts::PI * self.unit())
    }

    /// Shuffles the items into a uniformly drawn order (Fisher and Yates, from the end).
    pub fn shuffle<T>(&mut self, items: &mut [T]) {
        for last in (1..items.len()).rev() {
            items.swap(last, self.below(last as u64 + 1) as usize);
        }
    }
}

/// Returns the order in which contestants are primers from this round on: a uniform permutation.
pub fn primers(seed: Seed, round: u64, attempt: u32, contestants: &[usize]) -> Vec<usize> {
    let mut primers = contestants.to_vec();
    Stream::new(seed, Purpose::Primer, round, attempt).shuffle(&mut primers);
    primers
}

/// Returns the primer of a round as version 1 of the engine drew it: by a coin that is independent
/// of the rounds before, so that in time some contestants run more often than others.
pub fn lone_primer(seed: Seed, round: u64, attempt: u32, contestants: &[usize]) -> usize {
    let mut stream = Stream::new(seed, Purpose::Primer, round, attempt);
    contestants[stream.below(contestants.len() as u64) as usize]
}

/// Draws all coins of an attempt at a round of these contestants, with which a block of primers
/// begins ([`crate::blocks`]).
pub fn draw(seed: Seed, round: u64, attempt: u32, contestants: &[usize]) -> RoundCoins {
    let mut order = contestants.to_vec();
    Stream::new(seed, Purpose::Order, round, attempt).shuffle(&mut order);
    let primer = primers(seed, round, attempt, contestants).first().copied();
    let mut padding = Stream::new(seed, Purpose::Padding, round, attempt);
    let runs = contestants.len() + 1;
    let padding_bytes = (0..runs).map(|_| padding.below(PADDING_BYTES_MAX + 1) as u32).collect();
    RoundCoins { round, attempt, primer, order, padding_bytes, unit: None, load_seed: None }
}

/// Draws the seed of the loads of an attempt at a round. All servers of a round get the same load.
pub fn draw_load(seed: Seed, coins: &RoundCoins) -> u64 {
    Stream::new(seed, Purpose::Load, coins.round, coins.attempt).next_u64()
}

/// Draws the other coins of a unit with its own process: its input, the orders of its rounds, the
/// offset of its stack, and at scope `code` a placement for each contestant of `order`.
pub fn draw_unit(seed: Seed, coins: &RoundCoins, scope: Scope) -> UnitCoins {
    let [mut placements, mut input, mut orders, mut stack] =
        [Purpose::Placements, Purpose::Input, Purpose::UnitOrders, Purpose::Stack]
            .map(|purpose| Stream::new(seed, purpose, coins.round, coins.attempt));

    UnitCoins {
        input_seed: input.next_u64(),
        orders_seed: orders.next_u64(),
        stack_bytes: stack.below(PADDING_BYTES_MAX + 1) as u32,
        // 0 is "as it was built", so it is left out of the draw.
        placements: (coins.order.iter())
            .map(|_| if scope == Scope::Code { 1 + placements.below(u64::MAX) } else { 0 })
            .collect(),
    }
}

/// Returns the order of each of a unit's rounds: uniform permutations of these contestants, a
/// function of the seed.
pub fn unit_orders(orders_seed: u64, rounds: u32, contestants: &[usize]) -> Vec<Vec<usize>> {
    let key = [orders_seed as u32, (orders_seed >> 32) as u32];
    let mut sorted = contestants.to_vec();
    sorted.sort_unstable();
    let mut orders = vec![sorted; rounds as usize];
    for (round, order) in (0..).zip(&mut orders) {
        Stream::new(Seed(key), Purpose::UnitOrders, round, 0).shuffle(order);
    }
    orders
}

const MULTIPLIERS: [u32; 2] = [0xD251_1F53, 0xCD9E_8D57];
const KEY_STEPS: [u32; 2] = [0x9E37_79B9, 0xBB67_AE85];

/// Returns the four words of a counter under a key.
fn philox4x32(counter: [u32; 4], key: [u32; 2]) -> [u32; 4] {
    let (mut c, mut k) = (counter, key);
    for round in 0..10 {
        if round > 0 {
            k = [k[0].wrapping_add(KEY_STEPS[0]), k[1].wrapping_add(KEY_STEPS[1])];
        }
        let first = u64::from(MULTIPLIERS[0]) * u64::from(c[0]);
        let second = u64::from(MULTIPLIERS[1]) * u64::from(c[2]);
        c = [
            (second >> 32) as u32 ^ c[1] ^ k[0],
            second as u32,
            (first >> 32) as u32 ^ c[3] ^ k[1],
            first as u32,
        ];
    }
    c
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn coins_depend_on_seed_round_attempt_and_nothing_else() {
        let seed = Seed::from_text("a seed");
        let coins = draw(seed, 7, 0, &[0, 1, 2]);
        assert_eq!(coins, draw(Seed::from_text("a seed"), 7, 0, &[0, 1, 2]));
        let others = [draw(seed, 8, 0, &[0, 1, 2]), draw(seed, 7, 1, &[0, 1, 2])];
        assert!(others.iter().all(|other| other.padding_bytes != coins.padding_bytes));
        assert_ne!(Seed::from_text("b"), seed);
    }

    #[test]
    fn orders_and_primers_are_uniform_and_independent() {
        let seed = Seed::from_text("uniform");
        let mut counts = std::collections::BTreeMap::new();
        let draws = 60_000;
        for round in 0..draws {
            let coins = draw(seed, round, 0, &[0, 1, 2]);
            *counts.entry((coins.order.clone(), coins.primer)).or_insert(0u32) += 1;
        }
        assert_eq!(counts.len(), 18);
        let expected = draws as f64 / 18.0;
        let chi2: f64 =
            counts.values().map(|n| (f64::from(*n) - expected).powi(2) / expected).sum();
        // The 99.9% point of chi-squared with 17 degrees of freedom.
        assert!(chi2 < 40.79, "{chi2}");
    }

    #[test]
    fn units_draw_placements_of_their_own_at_scope_code_only() {
        let seed = Seed::from_text("units");
        let coins = |round| draw(seed, round, 0, &[0, 1]);
        let unit = |round, scope| draw_unit(seed, &coins(round), scope);
        let (first, second) = (unit(0, Scope::Code), unit(1, Scope::Code));
        assert_eq!(first, unit(0, Scope::Code));
        assert_ne!(first.placements[0], first.placements[1], "the sides share no seed");
        assert_ne!(first.placements, second.placements);
        assert_ne!(first.input_seed, second.input_seed);
        assert_eq!(unit(0, Scope::Binary).placements, [0, 0]);
        let orders = unit_orders(first.orders_seed, 1000, &[1, 0]);
        assert_eq!(orders, unit_orders(first.orders_seed, 1000, &[0, 1]));
        let firsts = orders.iter().filter(|order| order[0] == 0).count();
        assert!((400..600).contains(&firsts), "{firsts}");
    }

    #[test]
    fn below_covers_its_range() {
        let mut stream = Stream::new(Seed::from_text("x"), Purpose::Simulation, 0, 0);
        let seen: std::collections::BTreeSet<_> = (0..400).map(|_| stream.below(7)).collect();
        assert_eq!(seen.into_iter().collect::<Vec<_>>(), (0..7).collect::<Vec<_>>());
    }

    /// The known answers that the authors publish with their library.
    #[test]
    fn known_answers() {
        for (counter, key, expected) in [
            ([0; 4], [0; 2], [0x6627_e8d5, 0xe169_c58d, 0xbc57_ac4c, 0x9b00_dbd8]),
            ([u32::MAX; 4], [u32::MAX; 2], [0x408f_276d, 0x41c8_3b0e, 0xa20b_c7c6, 0x6d54_51fd]),
            (
                [0x243f_6a88, 0x85a3_08d3, 0x1319_8a2e, 0x0370_7344],
                [0xa409_3822, 0x299f_31d0],
                [0xd16c_fe09, 0x94fd_cceb, 0x5001_e420, 0x2412_6ea1],
            ),
        ] {
            assert_eq!(philox4x32(counter, key), expected);
        }
    }
}
