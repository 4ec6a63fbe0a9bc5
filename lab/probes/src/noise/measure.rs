//! Measures noise: what takes the CPUs away, how fast they run, and how much the time of the same
//! work differs from itself.

pub(crate) mod counts;

use crate::tools::chain::*;
use crate::tools::*;
use crate::{Frequency, Throttled};
use counts::Counts;
pub use counts::Interrupts;
use std::collections::BTreeSet;
use tiebreak_machine::meters::ThreadCounters;

/// More CPUs than this take turns: each of them costs a thread that spins.
const CPUS_AT_ONCE: usize = 8;
/// One watch; between two of them the user may stop, and counters are read.
const WATCH: Duration = Duration::from_millis(500);
/// Of the budget, what watching takes, and the same work against itself. The rest is for programs
/// and for simulation.
const SHARES: [f64; 2] = [0.36, 0.19];

/// Watches CPUs.
#[derive(Debug)]
pub struct Watcher {
    tree: Tree,
    /// CPUs that are watched at once; the groups take turns.
    groups: Vec<Vec<usize>>,
    /// What is known of the chain before any is timed: cycles, and how they are known.
    pub chain: Frequency,
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
    /// Work that the kernel put off and did on these CPUs.
    pub softirqs: Vec<Interrupts>,
    /// What a limit on CPU time did; `None` where that is not known.
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
    /// The gaps, in their order, as many as are kept.
    pub gaps: Vec<Gap>,
    /// Gaps that were too many to be kept.
    pub unkept: u64,
    /// Their length.
    pub unkept_ns: u64,
    /// What each timed chain of [`STEPS`] took; a chain every 10 ms.
    pub chains_ns: Vec<u64>,
    /// How long the watching thread waited for the CPU, as the scheduler counts it.
    pub waited_ns: Option<u64>,
    /// Time that a hypervisor took, in steps of 10 ms; `None` where the kernel does not report it.
    pub steal_ns: Option<u64>,
    /// Interrupts that came.
    pub interrupts: Vec<Interrupts>,
}

impl Watcher {
    /// Finds out whether CPUs can be watched here.
    ///
    /// # Errors
    /// No thread can be pinned to a CPU; the error says what was tried.
    pub fn new(cpus: &[usize]) -> Result<Watcher, Unavailable> {
        let Some(first) = cpus.first() else {
            return Err(lacks("noise", "sched_getaffinity", "no CPU is known"));
        };
        let counted = together(&[*first], |_| counted_cycles_a_step());
        let counted = counted.map_err(|why| lacks("noise", "a thread on a CPU of its own", why))?;
        let turns = cpus.len().div_ceil(CPUS_AT_ONCE);
        let tree = Tree::at(Path::new("/"));
        let chain = chain(&cpuinfo(&tree, "vendor_id"), counted[0]);
        let groups = cpus.chunks(cpus.len().div_ceil(turns)).map(<[usize]>::to_vec).collect();
        Ok(Watcher { tree, groups, chain })
    }

    /// Watches the CPUs whose turn it is (`turn` counts on and on) until the time is over or
    /// `stop`.
    ///
    /// # Errors
    /// A thread cannot be started or pinned.
    fn watch(&self, turn: usize, length: Duration, stop: &AtomicBool) -> io::Result<Watch> {
        let cpus = &self.groups[turn % self.groups.len()];
        let before = Counts::read(&self.tree);
        let begin_ns = monotonic_ns();
        let end_ns = begin_ns + length.as_nanos() as u64;
        let logs = together(cpus, |place| {
            place.meet();
            watch_this_cpu(end_ns, stop)
        })?;
        let after = Counts::read(&self.tree);
        // A thread that began too late saw nothing.
        let logs = cpus.iter().copied().zip(logs).filter(|(_, log)| log.seen_ns > 0);
        let watched = logs.map(|(cpu, log)| {
            let steal_ns = after.steal_since(&before, cpu);
            let interrupts = after.interrupts_since(&before, cpu);
            CpuWatch { cpu, steal_ns, interrupts, ..log }
        });
        Ok(Watch {
            begin_ns,
            cpus: watched.collect(),
            end_ns: monotonic_ns(),
            softirqs: after.softirqs_since(&before, cpus),
            throttled: after.throttled_since(&before),
        })
    }

    /// Watches the groups in turns, each for so long, until `end` (if there is one) or `stop`;
    /// `seen` gets each watch that saw something. Returns why it ended early, as a sentence.
    pub fn watch_until(
        &self,
        end: Option<Instant>,
        each: Duration,
        stop: &AtomicBool,
        mut seen: impl FnMut(Watch),
    ) -> Option<String> {
        for turn in 0.. {
            let left = end.map_or(each, |end| end.saturating_duration_since(Instant::now()));
            // A rest that is too short for a watch belongs to what comes next.
            if left < each / 2 || left.is_zero() || stop.load(Ordering::Relaxed) {
                break;
            }
            match self.watch(turn, each.min(left), stop) {
                Ok(watch) if watch.cpus.is_empty() => {}
                Ok(watch) => seen(watch),
                Err(error) => {
                    return Some(format!("the CPUs were not watched to the end: {error}"));
                }
            }
        }
        None
    }

    /// Watches all CPUs, then runs the same work against itself.
    pub fn measure(&self, budget: &mut Budget<'_>) -> Probed<(Vec<Watch>, Pairs)> {
        let [watching, comparing] = SHARES.map(|share| budget.length().mul_f64(share));
        let (mut watches, mut unseen) = (Vec::new(), BTreeSet::from_iter(self.groups.concat()));
        let each = WATCH.min(watching / self.groups.len() as u32);
        let end = Some(Instant::now() + watching);
        let broken = self.watch_until(end, each, budget.interrupted(), |watch| {
            watch.cpus.iter().for_each(|of| _ = unseen.remove(&of.cpu));
            watches.push(watch);
            budget.tell(0.0);
        });
        let pairs = run_pairs(comparing, budget);
        if watches.is_empty() {
            return Probed::inconclusive("there was no time to watch a CPU");
        }
        let mut reasons = Vec::from_iter(broken);
        if budget.is_interrupted() {
            reasons.push("it was stopped before its end".to_owned());
        } else if !unseen.is_empty() {
            reasons.push("there was no time to watch every CPU".to_owned());
        }
        Probed::of((watches, pairs), reasons)
    }
}

/// A stretch without a reading is a gap if it is longer than this.
pub const GAP_LEAST_NS: u64 = 2000;
/// Gaps of a watch that are kept one by one; further ones are only counted.
const GAPS_MOST: usize = 40_000;
/// Time between two timed chains of multiplications.
const BETWEEN_CHAINS_NS: u64 = 10_000_000;

/// A stretch in which the watching thread did not have its CPU.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Gap {
    /// When it began, by the monotonic clock.
    pub begin_ns: u64,
    /// How long it was.
    pub length_ns: u64,
    /// Whether the scheduler had given the CPU to another task.
    pub was_switched: bool,
}

/// Watches the CPU that the calling thread is pinned to until `end_ns`, or until `stop`. Its
/// number, and what the kernel counts, are left to the caller.
fn watch_this_cpu(end_ns: u64, stop: &AtomicBool) -> CpuWatch {
    let mut log = CpuWatch { gaps: Vec::with_capacity(GAPS_MOST), ..CpuWatch::default() };
    log.chains_ns.reserve(4096);
    // Time in which it times chains or notes a gap and therefore sees nothing.
    let mut unseen_ns = 0;
    let waited_before = waited_ns();
    let mut switches = switches_so_far();
    let mut last = monotonic_ns();
    log.begin_ns = last;
    let mut next_chain = last;
    loop {
        let now = monotonic_ns();
        let length_ns = now - last;
        last = now;
        if length_ns > GAP_LEAST_NS {
            let switches_now = switches_so_far();
            let was_switched = switches_now != switches;
            switches = switches_now;
            log.note(Gap { begin_ns: now - length_ns, length_ns, was_switched });
            last = monotonic_ns();
            unseen_ns += last - now;
        }
        if now < next_chain {
            continue;
        }
        if now >= end_ns || stop.load(Ordering::Relaxed) {
            log.end_ns = last;
            break;
        }
        let begin_ns = last;
        if log.chains_ns.len() < log.chains_ns.capacity() {
            log.chains_ns.push(chain_ns());
        }
        switches = switches_so_far();
        next_chain = (now + BETWEEN_CHAINS_NS).min(end_ns.max(now + 1));
        last = monotonic_ns();
        unseen_ns += last - begin_ns;
    }
    log.seen_ns = (log.end_ns - log.begin_ns).saturating_sub(unseen_ns);
    log.waited_ns = waited_ns().zip(waited_before).map(|(now, before)| now.saturating_sub(before));
    log
}

impl CpuWatch {
    /// Allocates nothing: the list has room for as many as it keeps.
    fn note(&mut self, gap: Gap) {
        if self.gaps.len() < self.gaps.capacity() {
            self.gaps.push(gap);
        } else {
            self.unkept += 1;
            self.unkept_ns += gap.length_ns;
        }
    }
}

/// Returns how often this thread has lost its CPU, or given it up.
fn switches_so_far() -> u64 {
    let (lost, given_up) = switches();
    lost + given_up
}

/// Returns how long this thread has waited for a CPU; `None` where the kernel does not count it.
fn waited_ns() -> Option<u64> {
    let text = std::fs::read_to_string("/proc/thread-self/schedstat").ok()?;
    text.split_whitespace().nth(1)?.parse().ok()
}

/// Steps by which the cycles of a step are counted.
const COUNTED_STEPS: u64 = 1 << 15;

/// Returns how many cycles a step takes, by a counter or by what is known: a multiplication of 64
/// bits takes 3 cycles on the CPUs of Intel since Nehalem and of AMD since Zen (Fog, instruction
/// tables), and is assumed to on others.
fn chain(vendor: &str, counted: Option<f64>) -> Frequency {
    Frequency {
        cycles_a_step: counted.unwrap_or(3.0),
        is_counted: counted.is_some(),
        is_known: matches!(vendor, "GenuineIntel" | "AuthenticAMD"),
        ..Frequency::default()
    }
}

/// Cycles that a step takes, by the machine's counter of cycles: what twice as many steps take
/// more, so that starting and stopping the counter is not in it. `None` where there is none, or
/// what it counts cannot be.
fn counted_cycles_a_step() -> Option<f64> {
    let mut counters = ThreadCounters::open().ok()?;
    let mut least = [u64::MAX; 2];
    for _ in 0..7 {
        for (least, steps) in least.iter_mut().zip([COUNTED_STEPS, 2 * COUNTED_STEPS]) {
            counters.start();
            multiply(steps);
            let counted = counters.stop();
            if !counted.multiplexed {
                *least = (*least).min(counted.meters.cycles?);
            }
        }
    }
    let cycles = least[1].checked_sub(least[0])? as f64 / COUNTED_STEPS as f64;
    (1.0..20.0).contains(&cycles).then_some(cycles)
}

/// Steps of a batch: some 200 us.
const BATCH_STEPS: u64 = 200_000;
/// Rounds of a unit: 10 ms or so.
pub const ROUNDS_A_UNIT: usize = 24;

/// The same work against itself.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Pairs {
    /// Units of [`ROUNDS_A_UNIT`] rounds: the times of both sides of each round, in nanoseconds.
    pub units: Vec<Vec<[u64; 2]>>,
    /// How long all of them took, from the beginning of the first to the end of the last.
    pub elapsed_ns: u64,
    /// How much of that they had a CPU, as the scheduler counts it.
    pub cpu_ns: u64,
}

/// Runs units until the time is over.
fn run_pairs(length: Duration, budget: &mut Budget<'_>) -> Pairs {
    let (begin_ns, begin_cpu_ns) = (monotonic_ns(), thread_cpu_ns());
    let end = Instant::now() + length.min(budget.left());
    let mut coins = Random::new(0);
    let mut pairs = Pairs::default();
    loop {
        let mut unit = Vec::with_capacity(ROUNDS_A_UNIT);
        while unit.len() < ROUNDS_A_UNIT {
            // A unit that is cut off is not one.
            if Instant::now() >= end || budget.is_interrupted() {
                return pairs;
            }
            // Both sides once, the first by a coin.
            let (first, second) = (time_of(BATCH_STEPS), time_of(BATCH_STEPS));
            unit.push(if coins.below(2) == 0 { [first, second] } else { [second, first] });
        }
        pairs.units.push(unit);
        pairs.elapsed_ns = monotonic_ns() - begin_ns;
        pairs.cpu_ns = thread_cpu_ns() - begin_cpu_ns;
        if pairs.units.len() % 32 == 0 {
            budget.tell(0.0);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::atomic::AtomicBool;

    /// `None` where no thread can be pinned.
    fn measured(length: Duration, is_stopped: bool) -> Option<Probed<(Vec<Watch>, Pairs)>> {
        let flag = AtomicBool::new(is_stopped);
        let mut progress = |_| ();
        let mut budget = Budget::new(length, &flag, &mut progress);
        Some(Watcher::new(&tiebreak_machine::cpus::allowed()).ok()?.measure(&mut budget))
    }

    #[test]
    fn every_cpu_is_watched() {
        let cpus = tiebreak_machine::cpus::allowed();
        let Some(probed) = measured(Duration::from_millis(400), false) else { return };
        let Some((watches, pairs)) = probed.value() else {
            assert_eq!(probed.state(), "inconclusive", "{probed:?}");
            return;
        };
        for cpu in cpus {
            let of_cpu = |watch: &Watch| watch.cpus.iter().any(|one| one.cpu == cpu);
            assert!(watches.iter().any(of_cpu) || !probed.is_measured());
        }
        for watch in watches.iter().flat_map(|watch| &watch.cpus) {
            assert!(watch.seen_ns > 0 && watch.seen_ns <= watch.end_ns - watch.begin_ns);
        }
        assert!(pairs.units.iter().all(|unit| unit.len() == ROUNDS_A_UNIT));
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
        let chain = chain("1", None);
        assert!(!chain.is_known && !chain.is_counted);
        let cpus = tiebreak_machine::cpus::allowed();
        if let Ok(found) = Watcher::new(&[cpus[0]].repeat(20)) {
            assert_eq!((found.groups.len(), found.groups[0].len()), (3, 7));
        }
        assert!(Watcher::new(&[]).is_err() && Watcher::new(&[8191]).is_err());
    }

    #[test]
    fn gaps_lie_within_the_watch_and_do_not_overlap() {
        let stop = AtomicBool::new(false);
        let log = watch_this_cpu(monotonic_ns() + 60_000_000, &stop);
        assert!(log.end_ns > log.begin_ns && !log.chains_ns.is_empty());
        let mut end_ns = log.begin_ns;
        for gap in &log.gaps {
            assert!(gap.begin_ns >= end_ns && gap.length_ns > GAP_LEAST_NS, "{gap:?}");
            end_ns = gap.begin_ns + gap.length_ns;
        }
        assert!(end_ns <= log.end_ns && log.seen_ns > 0);
    }

    #[test]
    fn the_flag_ends_it() {
        let stop = AtomicBool::new(true);
        let log = watch_this_cpu(u64::MAX, &stop);
        assert!(log.chains_ns.is_empty() && log.end_ns >= log.begin_ns);
    }

    #[test]
    fn what_does_not_fit_is_counted() {
        let gap = |length_ns| Gap { begin_ns: 0, length_ns, was_switched: false };
        let mut log = CpuWatch { gaps: Vec::with_capacity(2), ..CpuWatch::default() };
        let room = log.gaps.capacity() as u64;
        (0..room + 3).for_each(|_| log.note(gap(5)));
        assert_eq!((log.gaps.len() as u64, log.unkept, log.unkept_ns), (room, 3, 15));
    }

    #[test]
    fn a_chain_takes_time() {
        assert!(chain_ns() > 0);
        assert!(counted_cycles_a_step().is_none_or(|cycles| cycles >= 1.0));
    }

    #[test]
    fn units_are_whole_and_the_flag_ends_them() {
        let flag = AtomicBool::new(false);
        let mut progress = |_| ();
        let mut budget = Budget::new(Duration::from_secs(60), &flag, &mut progress);
        // A slow machine gets more time until there are two units.
        let lengths = [100, 1000, 10_000, 60_000].map(Duration::from_millis);
        let mut tries = lengths.into_iter().map(|length| run_pairs(length, &mut budget));
        let pairs = tries.find(|pairs| pairs.units.len() >= 2).expect("no two units");
        assert!(pairs.elapsed_ns > 0);
        assert!(pairs.units.iter().all(|unit| unit.len() == ROUNDS_A_UNIT));
        assert!(pairs.units.iter().flatten().flatten().all(|ns| *ns > 0));
        flag.store(true, std::sync::atomic::Ordering::Relaxed);
        assert!(run_pairs(Duration::from_secs(60), &mut budget).units.is_empty());
    }
}
