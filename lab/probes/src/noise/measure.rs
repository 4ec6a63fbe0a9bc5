//! The probe of noise: what takes the CPUs away, how fast they run, and how much the time of the
//! same work differs from itself.

pub(crate) mod chain;
pub(crate) mod counts;
mod logger;
mod pairs;

use crate::Throttled;
use crate::tools::*;
use counts::Counts;
pub use counts::Interrupts;
pub use logger::{GAP_LEAST_NS, Gap};
pub use pairs::{Pairs, ROUNDS_A_UNIT};

/// More CPUs than this take turns: each of them costs a thread that spins.
const CPUS_AT_ONCE: usize = 8;
/// One watch; between two of them the user may stop, and counters are read.
const WATCH: Duration = Duration::from_millis(500);
/// Of the time that is not the caller's: watching, and the same work against itself.
const SHARES: [f64; 2] = [0.66, 0.34];

/// The probe.
#[derive(Debug)]
pub struct Noise {
    tree: Tree,
    /// CPUs that are watched at once.
    groups: Vec<Vec<usize>>,
    /// Cycles of a step of the chain, if this machine counts cycles.
    cycles_a_step: Option<f64>,
    vendor: String,
    /// The share of the budget that this probe uses.
    share: f64,
}

/// What it saw.
#[derive(Clone, Debug, PartialEq)]
pub struct Reading {
    /// Watches, one after the other.
    pub watches: Vec<Watch>,
    /// The same work against itself.
    pub pairs: Pairs,
}

/// Some CPUs, watched at once.
#[derive(Clone, Debug, PartialEq)]
pub struct Watch {
    /// When it began, by the monotonic clock.
    pub begin_ns: u64,
    /// When it ended.
    pub end_ns: u64,
    /// A CPU each; those of which nothing was seen are left out.
    pub cpus: Vec<CpuWatch>,
    /// Work that the kernel put off and did on these CPUs: its kind, and how often.
    pub softirqs: Vec<(String, u64)>,
    /// What a limit on CPU time did; `None` where nobody can tell.
    pub throttled: Option<Throttled>,
}

/// One CPU that was watched.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct CpuWatch {
    /// The CPU.
    pub cpu: usize,
    /// When its watch began, by the monotonic clock.
    pub begin_ns: u64,
    /// When it ended.
    pub end_ns: u64,
    /// How much of that was seen.
    pub seen_ns: u64,
    /// The gaps, in their order.
    pub gaps: Vec<Gap>,
    /// Gaps that were too many to be kept.
    pub unlisted: u64,
    /// Their length.
    pub unlisted_ns: u64,
    /// What each timed chain of [`Chain::steps`] took; a chain every 10 ms.
    pub chains_ns: Vec<u64>,
    /// How long the watching thread waited for the CPU, as the scheduler counts it.
    pub waited_ns: Option<u64>,
    /// Time that a hypervisor took, in steps of 10 ms; `None` where the kernel does not tell.
    pub steal_ns: Option<u64>,
    /// Interrupts that came.
    pub interrupts: Vec<Interrupts>,
}

/// The chain whose time tells the frequency.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Chain {
    /// Multiplications in it.
    pub steps: u64,
    /// Cycles that each takes.
    pub cycles_a_step: f64,
    /// Whether a counter of cycles said so.
    pub is_counted: bool,
    /// Whether this kind of CPU is known to take so many.
    pub is_known: bool,
}

impl Noise {
    /// Finds out whether CPUs can be watched here. [`Noise::measure`] will use this share of its
    /// budget; the rest is the caller's, for programs and for simulation.
    ///
    /// # Errors
    /// No thread can be pinned to a CPU; the error says what was tried.
    pub fn new(cpus: &[usize], share: f64) -> Result<Noise, Unavailable> {
        let none = || lacks("noise", "sched_getaffinity", "no CPU is known");
        let counted =
            together(&[*cpus.first().ok_or_else(none)?], |_| chain::counted_cycles_a_step());
        let counted = counted.map_err(|why| lacks("noise", "a thread on a CPU of its own", why))?;
        let turns = cpus.len().div_ceil(CPUS_AT_ONCE).max(1);
        let tree = Tree::at(Path::new("/"));
        Ok(Noise {
            vendor: cpuinfo(&tree, "vendor_id"),
            tree,
            groups: cpus.chunks(cpus.len().div_ceil(turns)).map(<[usize]>::to_vec).collect(),
            cycles_a_step: counted.into_iter().flatten().next(),
            share,
        })
    }

    /// The chain whose time tells the frequency. A multiplication of 64 bits takes 3 cycles on the
    /// CPUs of Intel since Nehalem and of AMD since Zen (Fog, instruction tables), and is assumed
    /// to on others.
    pub fn chain(&self) -> Chain {
        Chain {
            steps: chain::STEPS,
            cycles_a_step: self.cycles_a_step.unwrap_or(3.0),
            is_counted: self.cycles_a_step.is_some(),
            is_known: matches!(self.vendor.as_str(), "GenuineIntel" | "AuthenticAMD"),
        }
    }

    /// How many groups of CPUs take turns.
    pub fn turns(&self) -> usize {
        self.groups.len()
    }

    /// CPUs that are watched at once, at most.
    pub fn cpus_at_once(&self) -> usize {
        self.groups.iter().map(Vec::len).max().unwrap_or(0)
    }

    /// Watches the CPUs whose turn it is (`turn` counts on and on) until the time is over or
    /// `stop`.
    ///
    /// # Errors
    /// A thread cannot be started or pinned.
    pub fn watch(&self, turn: usize, length: Duration, stop: &AtomicBool) -> io::Result<Watch> {
        let cpus = &self.groups[turn % self.groups.len()];
        let before = Counts::read(&self.tree);
        let begin_ns = clock::monotonic_ns();
        let end_ns = begin_ns + length.as_nanos() as u64;
        let logs = together(cpus, |place| {
            place.meet();
            logger::watch(end_ns, stop)
        })?;
        let after = Counts::read(&self.tree);
        let of_cpu = |(cpu, log): (&usize, CpuWatch)| CpuWatch {
            cpu: *cpu,
            steal_ns: after.steal_since(&before, *cpu),
            interrupts: after.interrupts_since(&before, *cpu),
            ..log
        };
        Ok(Watch {
            begin_ns,
            end_ns: clock::monotonic_ns(),
            // Of one whose thread came too late nothing can be said.
            cpus: cpus.iter().zip(logs).map(of_cpu).filter(|cpu| cpu.seen_ns > 0).collect(),
            softirqs: after.softirqs_since(&before, cpus),
            throttled: after.throttled_since(&before),
        })
    }

    /// Watches for two thirds of its share of the budget, and runs the same work against itself for
    /// the last third.
    pub fn measure(&self, budget: &mut Budget<'_>) -> Probed<Reading> {
        let [watching, comparing] = SHARES.map(|share| budget.length().mul_f64(share * self.share));
        let end = Instant::now() + watching;
        let mut reasons = Vec::new();
        let mut watches = Vec::new();
        let each = WATCH.min(watching / self.turns() as u32);
        for turn in 0.. {
            let left = end.saturating_duration_since(Instant::now()).min(budget.left());
            // A rest that is too short for a watch belongs to what comes next.
            if left < each / 2 || left.is_zero() {
                break;
            }
            match self.watch(turn, each.min(left), budget.interrupted()) {
                Ok(watch) => watches.push(watch),
                Err(error) => {
                    reasons.push(format!("the CPUs were not watched to the end: {error}"));
                    break;
                }
            }
            budget.tell(0.0);
        }
        let pairs = pairs::run(pairs::UNITS_MOST, comparing, budget);
        if budget.is_interrupted() {
            reasons.push("it was stopped before its end".to_owned());
        }
        let seen = |cpu: &usize| watches.iter().flat_map(|one| &one.cpus).any(|of| of.cpu == *cpu);
        let mut all = self.groups.iter().flatten();
        if !budget.is_interrupted() && !all.clone().all(seen) {
            reasons.push("there was no time to watch every CPU".to_owned());
        }
        if !all.any(seen) {
            Probed::inconclusive("there was no time to watch a CPU")
        } else {
            Probed::of(Reading { watches, pairs }, reasons)
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// `None` where no thread can be pinned.
    fn measured(length: Duration, is_stopped: bool) -> Option<Probed<Reading>> {
        let flag = AtomicBool::new(is_stopped);
        let mut progress = |_| ();
        let mut budget = Budget::new(length, &flag, &mut progress);
        Some(Noise::new(&tiebreak_machine::cpus::allowed(), 1.0).ok()?.measure(&mut budget))
    }

    #[test]
    fn every_cpu_is_watched() {
        let cpus = tiebreak_machine::cpus::allowed();
        let Some(probed) = measured(Duration::from_millis(400), false) else { return };
        let Some(reading) = probed.value() else {
            assert_eq!(probed.state(), "inconclusive", "{probed:?}");
            return;
        };
        for cpu in cpus {
            let of_cpu = |watch: &Watch| watch.cpus.iter().any(|one| one.cpu == cpu);
            assert!(reading.watches.iter().any(of_cpu) || !probed.is_measured());
        }
        for watch in reading.watches.iter().flat_map(|watch| &watch.cpus) {
            assert!(watch.seen_ns > 0 && watch.seen_ns <= watch.end_ns - watch.begin_ns);
        }
        assert!(reading.pairs.units.iter().all(|unit| unit.len() == ROUNDS_A_UNIT));
    }

    #[test]
    fn who_is_stopped_at_once_saw_nothing() {
        let begin = Instant::now();
        let Some(probed) = measured(Duration::from_secs(3600), true) else { return };
        assert_eq!(probed.state(), "inconclusive");
        assert!(begin.elapsed() < Duration::from_secs(60));
    }

    #[test]
    fn many_cpus_take_turns() {
        let probe = |cpus: usize| Noise {
            tree: Tree::at(Path::new("/")),
            groups: Vec::new(),
            cycles_a_step: None,
            vendor: cpus.to_string(),
            share: 1.0,
        };
        assert!(!probe(1).chain().is_known && !probe(1).chain().is_counted);
        let cpus = tiebreak_machine::cpus::allowed();
        if let Ok(found) = Noise::new(&[cpus[0]].repeat(20), 1.0) {
            assert_eq!((found.turns(), found.cpus_at_once()), (3, 7));
        }
        assert!(Noise::new(&[], 1.0).is_err() && Noise::new(&[8191], 1.0).is_err());
    }
}
