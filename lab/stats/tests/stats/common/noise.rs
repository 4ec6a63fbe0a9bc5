//! What the slots of a run do to whoever runs in them, in natural logarithms of time.

use tiebreak_stats::coins::Stream;

/// A kind of noise. Everything is a log time, so 0.01 is 1%.
#[derive(Clone, Copy, Debug)]
pub struct Noise {
    /// Its name in tables.
    pub name: &'static str,
    /// Standard deviation of the normal part.
    pub sd: f64,
    /// The share of slots with a spike, and the mean of its exponential height.
    pub spike_share: f64,
    pub spike_mean: f64,
    /// The share of slots in the slow mode, how slow it is, and the probability that a slot stays
    /// in the mode of the slot before it instead of drawing its own.
    pub mode_share: f64,
    pub mode_gap: f64,
    pub mode_stickiness: f64,
    /// An autoregressive wander: what is left of it a slot later, and what comes to it a slot.
    pub wander_left: f64,
    pub wander_sd: f64,
    /// What every slot is slower than the one before it.
    pub drift: f64,
    /// What the second slot of a round is faster.
    pub second_slot_gain: f64,
}

/// No noise at all, to start from.
pub const SILENT: Noise = Noise {
    name: "silent",
    sd: 0.0,
    spike_share: 0.0,
    spike_mean: 0.3,
    mode_share: 0.3,
    mode_gap: 0.0,
    mode_stickiness: 0.0,
    wander_left: 0.0,
    wander_sd: 0.0,
    drift: 0.0,
    second_slot_gain: 0.0,
};

/// Normal noise alone.
pub const CLEAN: Noise = Noise { name: "clean", sd: 0.015, ..SILENT };

/// One slot in twenty is hit by something else on the machine.
pub const SPIKY: Noise = Noise { name: "spiky", spike_share: 0.05, ..CLEAN };

/// Every run is in one of two modes, as by the placement of its memory.
pub const BIMODAL: Noise = Noise { name: "bimodal", sd: 0.007, mode_gap: 0.05, ..SILENT };

/// Everything at once: spikes, sticky modes, a wander, a drift and a slot effect.
pub const ALL: Noise = Noise {
    name: "all",
    sd: 0.01,
    spike_share: 0.05,
    mode_gap: 0.03,
    mode_stickiness: 0.8,
    wander_left: 0.97,
    wander_sd: 0.004,
    drift: 5e-5,
    second_slot_gain: 0.005,
    ..SILENT
};

/// The four kinds in which everything is tested.
pub const SCENARIOS: [Noise; 4] = [CLEAN, SPIKY, BIMODAL, ALL];

/// Noise as it goes on from slot to slot.
#[derive(Clone, Debug)]
pub struct Slots {
    noise: Noise,
    wander: f64,
    slow: bool,
    drift: f64,
    /// The share of the last slot's time that was its spike: a wait for a CPU.
    pub waited: f64,
}

impl Slots {
    /// Starts a run.
    pub fn new(noise: Noise) -> Slots {
        Slots { noise, wander: 0.0, slow: false, drift: 0.0, waited: 0.0 }
    }

    /// The noise of the next slot.
    pub fn next(&mut self, chance: &mut Stream) -> f64 {
        let noise = &self.noise;
        self.waited = 0.0;
        self.drift += noise.drift;
        let mut log_time = self.drift;
        if noise.sd > 0.0 {
            log_time += noise.sd * chance.normal();
        }
        if noise.wander_sd > 0.0 {
            self.wander = noise.wander_left * self.wander + noise.wander_sd * chance.normal();
            log_time += self.wander;
        }
        if noise.mode_gap > 0.0 {
            if chance.unit() >= noise.mode_stickiness {
                self.slow = chance.unit() < noise.mode_share;
            }
            log_time += if self.slow { noise.mode_gap } else { 0.0 };
        }
        if noise.spike_share > 0.0 && chance.unit() < noise.spike_share {
            let spike = -noise.spike_mean * libm::log(1.0 - chance.unit());
            self.waited = -libm::expm1(-spike);
            log_time += spike;
        }
        log_time
    }
}
