//! The machine, measured: runs the probes, and turns what they saw into what is said of it.
//!
//! Each probe has a file: it makes the probe of `tiebreak-machine`, lets it measure, and has
//! `tiebreak-stats` find modes, clusters, knees and change points in its reading.

mod bandwidth;
mod cacheline;
mod cores;
mod energy;
mod latency;
mod noise;
mod timers;
mod topology;

pub use noise::watch_noise;

use std::sync::atomic::AtomicBool;
use std::time::{Duration, Instant, SystemTime};
use tiebreak_core::machine::{MachinePrint, Probe, Probed, Tried};
use tiebreak_machine::meters::Unavailable;
use tiebreak_machine::probes::Budget;
use tiebreak_machine::{cpus, fingerprint};

/// What is wanted of the probes.
#[derive(Clone, Debug, PartialEq)]
pub struct Wish {
    /// The probes, each once, in any order.
    pub probes: Vec<Probe>,
    /// The CPUs that may be used.
    pub cpus: Vec<usize>,
    /// A short look: all eight take half a minute at most.
    pub is_quick: bool,
    /// How long each probe may take, instead of what it would like.
    pub each: Option<Duration>,
}

impl Wish {
    /// Every probe, for a short look, on every CPU that this process may use.
    pub fn quick() -> Wish {
        Wish { probes: Probe::ALL.to_vec(), cpus: cpus::allowed(), is_quick: true, each: None }
    }

    /// How long a probe may take.
    pub fn budget(&self, probe: Probe) -> Duration {
        let would_like = if self.is_quick { quick(probe) } else { self.thorough(probe) };
        self.each.unwrap_or(would_like)
    }

    /// Rounds of `cores` are spread over half a minute at least, as a hypervisor moves CPUs; from
    /// 64 CPUs on not all pairs are visited.
    fn thorough(&self, probe: Probe) -> Duration {
        let cpus = self.cpus.len().min(64) as u64;
        Duration::from_millis(match probe {
            Probe::Topology => 3000,
            Probe::Timers => 5000,
            Probe::Cores => 35_000.max(cpus * cpus.saturating_sub(1) * 150),
            Probe::Cacheline => 10_000,
            Probe::Latency => 20_000,
            Probe::Bandwidth => 15_000.max(cpus.min(32) * 2000),
            Probe::Noise => 30_000,
            Probe::Energy => 10_000,
        })
    }
}

/// All of them together take less than half a minute.
fn quick(probe: Probe) -> Duration {
    Duration::from_millis(match probe {
        Probe::Topology => 1000,
        Probe::Timers => 1500,
        Probe::Cores => 4000,
        Probe::Cacheline => 3000,
        Probe::Latency => 5000,
        Probe::Bandwidth => 4500,
        Probe::Noise => 8000,
        Probe::Energy => 1000,
    })
}

/// Runs the probes one after the other, and keeps what there is when the user stops it. `watch`
/// is told which probe runs and how far it is, never while something is being timed.
pub fn take(
    wish: &Wish,
    interrupted: &AtomicBool,
    watch: &mut dyn FnMut(Probe, f64),
) -> MachinePrint {
    let begin = Instant::now();
    let mut print = empty(wish);
    for probe in Probe::ALL.into_iter().filter(|probe| wish.probes.contains(probe)) {
        let mut progress = |share: f64| watch(probe, share);
        progress(0.0);
        let mut budget = Budget::new(wish.budget(probe), interrupted, &mut progress);
        fill(&mut print, probe, wish, &mut budget);
        if budget.is_interrupted() {
            print.interrupted = true;
            break;
        }
    }
    print.took_ns = begin.elapsed().as_nanos() as u64;
    print
}

fn empty(wish: &Wish) -> MachinePrint {
    let since_1970 = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH).unwrap_or_default();
    MachinePrint {
        schema: MachinePrint::SCHEMA.to_owned(),
        taken_unix_ms: since_1970.as_millis() as u64,
        took_ns: 0,
        is_quick: wish.is_quick,
        interrupted: false,
        machine: fingerprint::read(),
        topology: None,
        timers: None,
        cores: None,
        cacheline: None,
        latency: None,
        bandwidth: None,
        noise: None,
        energy: None,
    }
}

fn fill(print: &mut MachinePrint, probe: Probe, wish: &Wish, budget: &mut Budget<'_>) {
    match probe {
        Probe::Topology => print.topology = Some(topology::probe(wish, budget)),
        Probe::Timers => print.timers = Some(timers::probe(wish, budget)),
        Probe::Cores => print.cores = Some(cores::probe(wish, budget)),
        Probe::Cacheline => print.cacheline = Some(cacheline::probe(wish, budget)),
        Probe::Latency => print.latency = Some(latency::probe(wish, budget)),
        Probe::Bandwidth => print.bandwidth = Some(bandwidth::probe(wish, budget)),
        Probe::Noise => print.noise = Some(noise::probe(wish, budget)),
        Probe::Energy => print.energy = Some(energy::probe(wish, budget)),
    }
}

/// The outcome of a probe that cannot run here.
fn unavailable<T>(reason: Unavailable) -> Probed<T> {
    let tried = reason.tried.into_iter().map(|(way, error)| Tried { way, error }).collect();
    Probed::Unavailable { what: reason.what.to_owned(), tried }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_quick_print_fits_in_half_a_minute() {
        let wish = Wish::quick();
        let all: Duration = Probe::ALL.iter().map(|probe| wish.budget(*probe)).sum();
        assert!(all <= Duration::from_secs(28), "{all:?}");
        let slow = Wish { is_quick: false, ..wish };
        assert!(slow.budget(Probe::Cores) >= Duration::from_secs(30));
    }
}
