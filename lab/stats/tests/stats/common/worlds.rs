//! The worlds in which rounds to a verdict are counted: noise that is made, and noise that was
//! recorded, each with an effect in units of its own core.

use super::neighbour::Neighbour;
use super::noise::{BIMODAL, CLEAN, Noise, SPIKY};
use super::race::Race;
use tiebreak_stats::coins::{Purpose, Seed, Stream};
use tiebreak_stats::observation::LogRatio;

/// A kind of noise.
#[derive(Clone, Debug)]
pub struct World {
    /// Its name in tables.
    pub name: String,
    /// What one unit of effect is, as a natural logarithm: the standard deviation of a round's log
    /// ratio without spikes, modes and neighbours; of recorded noise that of a normal distribution
    /// with as many rounds in the middle quarter.
    pub core: f64,
    /// The effects that are worth looking at.
    pub effects: &'static [f64],
    /// Whether much of the noise lies outside of its core, as several modes do; of recorded noise,
    /// whether the middle half is 1.5 times as wide as a normal distribution's with this core.
    pub is_peaked: bool,
    kind: Kind,
}

#[derive(Clone, Debug)]
enum Kind {
    Slots(Noise),
    Beside(Neighbour),
    Recorded(Vec<Recorded>),
}

/// A recorded log ratio, and how far from it a replayed one may lie.
#[derive(Clone, Copy, Debug)]
struct Recorded {
    d: f64,
    width: f64,
}

/// Where a slot drifts so fast that a round's own noise is hardly more.
const DRIFT: Noise = Noise { name: "drift", wander_left: 0.999, wander_sd: 0.006, ..CLEAN };
/// Each run of a contestant is in one of two modes, narrow and far apart.
const NARROW: Noise = Noise { name: "narrow modes", sd: 0.003, ..BIMODAL };
/// The same, and a mode lasts for five runs on average.
const STICKY: Noise = Noise { name: "sticky modes", mode_stickiness: 0.8, ..NARROW };
/// A neighbour that comes for spells of about ten rounds, and others that hit one run in five.
const BURSTS: Noise = Noise {
    name: "bursts",
    spike_share: 0.2,
    spike_mean: 0.1,
    mode_gap: 0.4,
    mode_stickiness: 0.95,
    ..CLEAN
};

const FAR: &[f64] = &[2.0, 1.0, 0.5, 0.2, 0.1];
const NEAR: &[f64] = &[1.0, 0.5, 0.25];
const WIDE: &[f64] = &[2.0, 1.0, 0.5];

/// The noise that is made.
pub fn made() -> Vec<World> {
    let slots = |noise: Noise, effects, is_peaked| World {
        name: noise.name.to_owned(),
        core: noise.sd * std::f64::consts::SQRT_2,
        effects,
        is_peaked,
        kind: Kind::Slots(noise),
    };
    let beside = |duty: f64| World {
        name: format!("neighbour {duty}"),
        core: Neighbour::of_duty(duty, 0.0).sd * std::f64::consts::SQRT_2,
        effects: WIDE,
        is_peaked: true,
        kind: Kind::Beside(Neighbour::of_duty(duty, 0.0)),
    };
    let normal = Noise { name: "normal", ..CLEAN };
    vec![
        slots(normal, FAR, false),
        slots(SPIKY, NEAR, false),
        slots(BIMODAL, NEAR, true),
        slots(NARROW, NEAR, true),
        slots(STICKY, NEAR, true),
        slots(BURSTS, NEAR, false),
        slots(DRIFT, NEAR, false),
        beside(0.4),
        beside(0.8),
    ]
}

/// The recorded noise: `tests/data/noise.txt`, whose first lines say what it is.
pub fn recorded() -> Vec<World> {
    include_str!("../../data/noise.txt")
        .lines()
        .filter(|line| !line.starts_with('#'))
        .map(read)
        .collect()
}

/// Reads a line `machine | what | log ratios in millionths`.
fn read(line: &str) -> World {
    let parts: Vec<&str> = line.split('|').map(str::trim).collect();
    let [machine, what, ratios] = parts[..] else { panic!("no recording: {line}") };
    let ratios: Vec<f64> =
        ratios.split(' ').map(|word| word.parse::<f64>().expect("a whole number") / 1e6).collect();
    let mut sizes: Vec<f64> = ratios.iter().map(|d| d.abs()).collect();
    sizes.sort_by(f64::total_cmp);
    // Contestants are the same, so a recorded ratio is as likely to have had the other sign.
    let [of_quarter, of_half] =
        [(4, Z_EIGHTH), (2, Z_QUARTER)].map(|(part, z)| sizes[sizes.len() / part] / z);
    World {
        name: format!("{machine}, {what}"),
        core: of_quarter,
        effects: NEAR,
        is_peaked: of_half > PEAKED * of_quarter,
        kind: Kind::Recorded(ratios.iter().map(|d| widened(*d, &sizes)).collect()),
    }
}

/// Returns a ratio with half the distance between the sorted sizes of this many places below and
/// above its own. Without that a recording would repeat its numbers, and who learns from the past
/// would know them.
fn widened(d: f64, sizes: &[f64]) -> Recorded {
    let at = sizes.partition_point(|size| *size < d.abs());
    let (below, above) = (at.saturating_sub(PLACES), (at + PLACES).min(sizes.len() - 1));
    Recorded { d, width: (sizes[above] - sizes[below]) / 2.0 }
}

/// See [`widened`].
const PLACES: usize = 4;

/// How far from its centre an eighth, and a quarter, of a standard normal distribution reaches to
/// one side.
const Z_EIGHTH: f64 = 0.318_639_363_964_375;
const Z_QUARTER: f64 = 0.674_489_750_196_081_7;
const PEAKED: f64 = 1.5;
/// The rounds of a recording that follow each other as they were recorded.
const PIECE: usize = 20;

impl World {
    /// One of the endless runs in which B takes `exp(truth)` times what A takes. Streams are
    /// numbered below 65 536.
    pub fn rounds(
        &self,
        truth: f64,
        seed: Seed,
        stream: u64,
    ) -> Box<dyn Iterator<Item = LogRatio> + '_> {
        match &self.kind {
            Kind::Slots(noise) => Box::new(Race::new(*noise, truth).rounds(seed, stream)),
            Kind::Beside(neighbour) => {
                let alone = neighbour.alone_ms[0];
                let world = Neighbour { alone_ms: [alone, alone * libm::exp(truth)], ..*neighbour };
                Box::new(world.rounds(seed, stream).map(|(d, _)| d))
            }
            Kind::Recorded(ratios) => Box::new(resampled(ratios, truth, seed, stream)),
        }
    }
}

/// Pieces of a recording, in drawn order, each round with a drawn sign, as the coin of its order
/// would have had it, and with the effect.
fn resampled(
    ratios: &[Recorded],
    truth: f64,
    seed: Seed,
    stream: u64,
) -> impl Iterator<Item = LogRatio> + '_ {
    let mut chance = Stream::new(seed, Purpose::Simulation, stream, 0);
    let (mut at, mut left) = (0, 0);
    std::iter::repeat_with(move || {
        if left == 0 {
            (at, left) = (chance.below(ratios.len() as u64) as usize, PIECE);
        }
        let Recorded { d, width } = ratios[at % ratios.len()];
        (at, left) = (at + 1, left - 1);
        let d = d + width * (2.0 * chance.unit() - 1.0);
        LogRatio::exact(truth + chance.sign() * d)
    })
}
