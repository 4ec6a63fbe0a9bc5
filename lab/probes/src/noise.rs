//! The probe of noise: what takes CPUs away from a program, and what can still be found.

mod analyse;
pub(crate) mod measure;
pub(crate) mod show;

pub(crate) use analyse::probe;
pub use analyse::watch_noise;
pub use show::{frame, line};

use crate::figure::{Better, Figure, Spread, Unit};
use serde::{Deserialize, Serialize};

/// A machine on which more than this share of CPU time is lost does other work.
const BUSY: f64 = 0.1;

/// What the probe of noise found.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Noise {
    /// A stretch is a gap if it is longer than this, in nanoseconds.
    pub gap_least_ns: u64,
    /// How long each CPU was watched, in nanoseconds.
    pub watched_ns: u64,
    /// How many CPUs were watched at once; with more, they took turns.
    pub cpus_at_once: usize,
    /// What was lost of all watched time, as a share.
    pub lost_share: f64,
    /// Of which cause; the shares sum up to `lost_share`.
    pub causes: Vec<CauseShare>,
    /// The share of time that all CPUs that were watched at once lost at once; none of one CPU.
    pub all_at_once_share: Option<f64>,
    /// Gaps that were interrupts, by the kernel's counts of them; in the order of their shares.
    pub interrupts: Vec<InterruptShare>,
    /// Work that the kernel put off and did later, by kind, per second and CPU.
    pub softirqs: Vec<Rate>,
    /// How often a limit on CPU time held us back; none where that is not known.
    pub throttled: Option<Throttled>,
    /// A CPU each.
    pub cpus: Vec<CpuNoise>,
    /// The longest gaps of all, the longest first.
    pub longest: Vec<LongGap>,
    /// How fast the cores ran; none if no chain of multiplications was timed.
    pub frequency: Option<Frequency>,
    /// What a user's comparison would find here.
    pub floors: Vec<Floor>,
}

/// What took the CPU away.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Cause {
    /// Another task had the CPU.
    Task,
    /// A limit on CPU time held us back.
    Limit,
    /// The hypervisor took it.
    Steal,
    /// An interrupt.
    Interrupt,
    /// None of these: a hypervisor that does not report it, or the firmware.
    Unexplained,
}

impl Cause {
    /// All of them, in the order in which they are shown.
    pub const ALL: [Cause; 5] =
        [Cause::Task, Cause::Limit, Cause::Steal, Cause::Interrupt, Cause::Unexplained];

    /// In words.
    pub fn words(self) -> &'static str {
        ["another task", "limit on CPU time", "hypervisor (steal)", "interrupt", "unexplained"]
            [self as usize]
    }

    /// In one word, for tables and for style sheets.
    pub(crate) fn name(self) -> &'static str {
        ["task", "limit", "steal", "interrupt", "unexplained"][self as usize]
    }

    /// In one letter, for pictures.
    pub fn letter(self) -> char {
        ['t', 'l', 's', 'i', '?'][self as usize]
    }
}

/// What was lost for one cause.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct CauseShare {
    /// The cause.
    pub cause: Cause,
    /// The share of the watched time.
    pub share: f64,
    /// How many gaps.
    pub gaps: u64,
}

/// Gaps of one kind of interrupt.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct InterruptShare {
    /// The kernel's name: `LOC`, or a device.
    pub name: String,
    /// What the kernel says it is: `Local timer interrupts`.
    pub words: String,
    /// How often, a second and CPU, by the kernel's count.
    pub per_second: f64,
    /// The share of the watched time that fell to it, in proportion to the counts.
    pub share: f64,
}

/// How often something happened.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Rate {
    /// The kernel's name.
    pub name: String,
    /// How often, a second and CPU.
    pub per_second: f64,
}

/// What a limit on CPU time did.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Throttled {
    /// Periods in which the limit was reached.
    pub periods: u64,
    /// Time for which we were held back, in nanoseconds.
    pub held_back_ns: u64,
}

/// What was seen on one CPU.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct CpuNoise {
    /// The CPU.
    pub cpu: usize,
    /// How long it was watched, in nanoseconds.
    pub watched_ns: u64,
    /// What was lost of it.
    pub lost_share: f64,
    /// Of which cause.
    pub causes: Vec<CauseShare>,
    /// Gaps.
    pub gaps: u64,
    /// The median gap, in nanoseconds; none without gaps.
    pub median_ns: Option<f64>,
    /// The gap that 99 of 100 gaps are not longer than.
    pub p99_ns: Option<f64>,
    /// The longest one.
    pub longest_ns: Option<u64>,
    /// The share of time in which we waited for the CPU, as the scheduler counts it.
    pub waited_share: Option<f64>,
    /// How fast the core ran.
    pub frequency: Option<Frequency>,
    /// The time line, piece by piece.
    pub strip: Vec<Piece>,
}

/// A piece of a time line.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Piece {
    /// When it began, from the start of the watch, in nanoseconds.
    pub begin_ns: u64,
    /// How long it is.
    pub length_ns: u64,
    /// What was lost of it; none if this CPU was not watched then.
    pub lost_share: Option<f64>,
    /// The cause that took most of it.
    pub cause: Option<Cause>,
}

/// A long gap.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct LongGap {
    /// The CPU.
    pub cpu: usize,
    /// When it began, from the start of the watch, in nanoseconds.
    pub begin_ns: u64,
    /// How long it was, in nanoseconds.
    pub length_ns: u64,
    /// What it was.
    pub cause: Cause,
}

/// How fast cores ran, by the time that a chain of multiplications took.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Frequency {
    /// What 99 of 100 chains reached, in cycles a second.
    pub low_hertz: f64,
    /// The median.
    pub median_hertz: f64,
    /// The fastest.
    pub most_hertz: f64,
    /// Chains.
    pub chains: u64,
    /// Cycles that a multiplication takes.
    pub cycles_a_step: f64,
    /// Whether a counter of cycles gave it; else it is assumed.
    pub is_counted: bool,
    /// Whether this kind of CPU is known to take that many.
    pub is_known: bool,
    /// The medians of some parts of the chains, the earlier first.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub parts_hertz: Vec<f64>,
}

/// The smallest slowdown that a comparison would find here.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Floor {
    /// What would be compared: `functions` or `programs`.
    pub of: String,
    /// What was run against itself, in words.
    pub work: String,
    /// Observations that were made: rounds of programs, units of some rounds of functions.
    pub rounds: u64,
    /// How long one took, in nanoseconds.
    pub round_ns: f64,
    /// The error of a verdict.
    pub error: f64,
    /// How many of the comparisons would find it.
    pub chance: f64,
    /// A length of the comparison each.
    pub smallest: Vec<SmallestSlowdown>,
    /// What was lost of the CPU time meanwhile, as a share: the time that the work was ready and
    /// waited for a CPU, and what a hypervisor took. Absent where that is not known, and in older
    /// prints.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub lost_share: Option<f64>,
}

/// The smallest slowdown that a comparison of some length would find.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct SmallestSlowdown {
    /// The length of the comparison.
    pub seconds: f64,
    /// Observations that fit into it.
    pub rounds: u64,
    /// As a fraction: 0.02 for 2%; none if not even twice the time would be found.
    pub fraction: Option<f64>,
    /// Whether the fraction is only a bound: nothing smaller was tried, and it is found.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub is_bound: bool,
    /// The least and the most of what five parts of the run would say: the median of such parts
    /// lies between in 15 of 16 runs. None where the run was too short, and of a bound.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub among_parts: Option<[f64; 2]>,
}

impl Noise {
    /// Whether so much CPU time was lost meanwhile that what was measured is that of a machine at
    /// other work; the share is of the watch, or of a run against itself if that is more.
    pub fn busy_share(&self) -> Option<f64> {
        let of_floors = self.floors.iter().filter_map(|floor| floor.lost_share);
        let most = of_floors.fold(self.lost_share, f64::max);
        (most > BUSY).then_some(most)
    }

    /// Returns the numbers by which two machines can be compared.
    pub(crate) fn figures(&self) -> Vec<Figure> {
        let lost = share_figure("noise-lost", "time lost to other things", self.lost_share);
        let of_each = Spread::of(self.cpus.iter().map(|cpu| cpu.lost_share));
        let mut figures = vec![lost.with_spread(of_each)];
        for (floor, one) in
            self.floors.iter().flat_map(|of| of.smallest.iter().map(move |one| (of, one)))
        {
            let (of, seconds) = (&floor.of, one.seconds);
            let Some(fraction) = one.fraction.filter(|_| !one.is_bound) else { continue };
            let key = format!("noise-floor-{of}-{seconds:.0}s");
            let words = format!("smallest slowdown of {of} in {seconds:.0} s");
            let spread = one.among_parts.and_then(Spread::of);
            figures.push(share_figure(&key, &words, fraction).with_spread(spread));
        }
        if let Some(frequency) = &self.frequency {
            let Frequency { low_hertz, median_hertz, most_hertz, .. } = *frequency;
            let words = "frequency of a core";
            figures.push(
                Figure::new("frequency", words, median_hertz, Unit::Hertz, Better::Higher)
                    .with_spread(Spread::of([low_hertz, median_hertz, most_hertz]))
                    .with_parts(&frequency.parts_hertz),
            );
        }
        figures
    }
}

/// Returns a share, which varies more from run to run than between machines: neither way is better.
fn share_figure(key: &str, words: &str, value: f64) -> Figure {
    Figure::new(key, words, value, Unit::Share, Better::Neither)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn figures_are_what_is_known() {
        let keys = |noise: &Noise| -> Vec<String> {
            noise.figures().into_iter().map(|figure| figure.key).collect()
        };
        let mut noise = Noise::default();
        assert_eq!(keys(&noise), ["noise-lost"]);
        let smallest = |seconds, fraction| SmallestSlowdown {
            seconds,
            rounds: 9,
            fraction,
            ..SmallestSlowdown::default()
        };
        assert_eq!(noise.figures()[0].spread, None);
        let cpu = |lost_share| CpuNoise { lost_share, ..CpuNoise::default() };
        noise.cpus = [0.2, 0.1, 0.4].map(cpu).to_vec();
        assert_eq!(noise.figures()[0].spread, Some(Spread { low: 0.1, high: 0.4 }));
        noise.floors.push(Floor {
            of: "programs".to_owned(),
            smallest: vec![smallest(1.0, None), smallest(10.0, Some(0.02))],
            ..Floor::default()
        });
        assert_eq!(keys(&noise), ["noise-lost", "noise-floor-programs-10s"]);
        let text = serde_json::to_string(&noise).unwrap();
        assert_eq!(serde_json::from_str::<Noise>(&text).unwrap(), noise);
    }

    #[test]
    fn letters_tell_causes_apart() {
        let mut letters = Cause::ALL.map(Cause::letter);
        letters.sort_unstable();
        assert!(letters.windows(2).all(|pair| pair[0] != pair[1]));
    }
}
