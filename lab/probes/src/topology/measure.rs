//! Measures the topology: what the machine advertises of its CPUs, caches and memory, and which
//! CPUs share a core.
//!
//! The advertised part comes from `/sys/devices/system`, CPU by CPU. Sets of CPUs are compared
//! there, not numbers: numbers of cores repeat in each package and are absent on some machines.
//! What is advertised may be wrong: a hypervisor may hide that two CPUs are threads of one core. So
//! pairs of CPUs also run the same work alone and at the same time.
//!
//! Two threads of one core that both keep its adders busy get about half of them each, so a batch
//! takes nearly twice as long together as alone; on two cores it takes as long as before. That both
//! ran at the same time is proven: each counts its steps in a place that the other reads before and
//! after each of its batches, and a batch during which the other did not advance does not count.
//! Alone and together alternate within milliseconds, so what slows the whole machine slows both.

pub(crate) mod advertised;

use crate::tools::*;
use crate::{Cpu, Limits, Topology};

/// Reads what the machine says, and what it does not, a sentence each.
///
/// # Errors
/// Neither `/sys` nor the scheduler reports a CPU.
pub(super) fn read(tree: &Tree, allowed: &[usize]) -> Result<(Topology, Vec<String>), Unavailable> {
    let (cpus, mut reasons) = advertised::cpus(tree, allowed);
    if cpus.is_empty() {
        let tried = ["/sys/devices/system/cpu/online", "sched_getaffinity"];
        let tried = tried.map(|way| (way.to_owned(), "no CPU is told".to_owned())).to_vec();
        return Err(Unavailable { what: "topology", tried });
    }
    let online: Vec<_> = cpus.iter().filter(|cpu| cpu.is_online).map(|cpu| cpu.cpu).collect();
    let caches = advertised::caches(tree, &online);
    if caches.is_empty() {
        reasons.push("the kernel does not tell the caches".to_owned());
    }
    let whole_memory_bytes = tree.kib_bytes("/proc/meminfo", "MemTotal");
    let found = Topology {
        cpus,
        caches,
        nodes: advertised::nodes(tree, whole_memory_bytes),
        whole_memory_bytes,
        sharing: Probed::inconclusive("nothing was measured"),
        limits: limits(tree),
        compilers: Vec::new(),
    };
    Ok((found, reasons))
}

fn limits(tree: &Tree) -> Limits {
    let groups = cgroup::limited(tree);
    let quota = groups.as_deref().and_then(cgroup::tightest);
    let status = tree.text("/proc/self/status").unwrap_or_default();
    let nodes = status.lines().find_map(|line| line.strip_prefix("Mems_allowed_list:"));
    Limits {
        cpu_quota_us: quota.map(|limit| limit.quota_us),
        cpu_period_us: quota.map(|limit| limit.period_us),
        memory_bytes: cgroup::memory_limit_bytes(tree),
        nodes: nodes.and_then(parse_list),
        is_cpu_quota_known: groups.is_some(),
    }
}

/// The most pairs that the machine says share a core.
const ADVERTISED_PAIRS: usize = 32;
/// The most others.
const OTHER_PAIRS: usize = 32;

/// Returns the pairs to be measured among some CPUs: those that are advertised to share a core
/// first, then a sample of the others, half of them neighbours by number, which is where a
/// hypervisor hides siblings.
pub(super) fn wanted(advertised: &[Cpu], cpus: &[usize]) -> Vec<PairReading> {
    let cores: BTreeMap<_, _> =
        advertised.iter().filter_map(|cpu| Some((cpu.cpu, cpu.core?))).collect();
    let (mut siblings, mut near, mut far) = (Vec::new(), Vec::new(), Vec::new());
    for (index, a) in cpus.iter().enumerate() {
        for b in &cpus[index + 1..] {
            let is_advertised = cores.get(a).zip(cores.get(b)).map(|(a, b)| a == b);
            let pair = PairReading { cpus: [*a, *b], is_advertised, ..PairReading::default() };
            match is_advertised {
                Some(true) => siblings.push(pair),
                _ if a.abs_diff(*b) == 1 => near.push(pair),
                _ => far.push(pair),
            }
        }
    }
    let near = spread(&near, OTHER_PAIRS / 2);
    let far = spread(&far, OTHER_PAIRS - near.len());
    [spread(&siblings, ADVERTISED_PAIRS), near, far].concat()
}

/// Returns at most `most` of them, at equal distances.
fn spread(pairs: &[PairReading], most: usize) -> Vec<PairReading> {
    let count = pairs.len().min(most);
    (0..count).map(|index| pairs[index * pairs.len() / count].clone()).collect()
}

/// The most rounds of a pair.
const ROUNDS: usize = 40;
/// Batches that a round wants of each kind from each CPU.
const BATCHES: usize = 40;
/// Fewer of a kind, and the round does not count.
const FEWEST_BATCHES: usize = 8;
/// Steps of a batch, after each of which the CPU counts it.
const STEPS: u64 = 16;
/// Rounds of additions in a step: about half a microsecond.
const ADDITIONS: u64 = 1200;
/// The other must have gone on by this many steps during a batch: it may be a slower core.
const STEPS_BESIDE: u64 = STEPS / 4;
/// A batch that takes this many times as long as the fastest one had a gap: two threads on one core
/// take twice as long at most.
const GAP: u64 = 4;
/// The longest that a round of a kind may take.
const WINDOW_NS: u64 = 15_000_000;
/// Between two rounds, so that they do not all see the same moment.
const PAUSE: Duration = Duration::from_millis(5);

/// What was seen of a pair.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct PairReading {
    /// The two CPUs, the lower number first.
    pub cpus: [usize; 2],
    /// Whether the machine says that they share a core; `None` if it says nothing.
    pub is_advertised: Option<bool>,
    /// The rounds that count.
    pub rounds: Vec<Round>,
    /// Batches that count.
    pub batches: u64,
    /// Batches that had a gap, or during which the other did not run.
    pub invalid_batches: u64,
}

/// A round of a pair: the lower quartiles of its batches, in nanoseconds, summed over both CPUs.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Round {
    /// While the other slept.
    pub alone_ns: u64,
    /// While the other did the same.
    pub together_ns: u64,
}

/// Measures the pairs in turns, for at most three fifths of the budget; the rest is for asking the
/// compilers. Pairs without a round that counts are left out.
pub(super) fn measure_pairs(
    mut pairs: Vec<PairReading>,
    budget: &mut Budget<'_>,
) -> Probed<Vec<PairReading>> {
    if pairs.is_empty() {
        let why = "whether CPUs share a core needs two CPUs, and one may be used";
        return Probed::inconclusive(why);
    }
    let (begin, longest) = (Instant::now(), budget.left().min(budget.length().mul_f64(0.6)));
    'rounds: for round in 1..=ROUNDS {
        for pair in &mut pairs {
            if begin.elapsed() >= longest || budget.is_interrupted() {
                break 'rounds;
            }
            if let Err(error) = pair.round(budget.interrupted()) {
                let [a, b] = pair.cpus;
                let why = format!("CPUs {a} and {b} could not run together: {error}");
                return Probed::inconclusive(why);
            }
        }
        budget.tell(0.6 * round as f64 / ROUNDS as f64);
        std::thread::sleep(PAUSE);
    }
    let count = pairs.len();
    pairs.retain(|pair| !pair.rounds.is_empty());
    match count - pairs.len() {
        0 => Probed::of(pairs, Vec::new()),
        all if all == count => {
            Probed::inconclusive("no two CPUs ran at the same time for long enough")
        }
        never => {
            let why = format!("{never} of {count} pairs never ran at the same time");
            Probed::of(pairs, vec![why])
        }
    }
}

impl PairReading {
    fn round(&mut self, interrupted: &AtomicBool) -> io::Result<()> {
        let shared = [Beside::default(), Beside::default()];
        let seen = together(&self.cpus, |place| side(place, &shared, interrupted))?;
        let mut kinds = [Some(0), Some(0)];
        for (both, invalid) in seen {
            self.invalid_batches += invalid;
            let longest_ns = both.iter().flatten().min().map_or(0, |fastest| fastest * GAP);
            for (sum, mut times) in kinds.iter_mut().zip(both) {
                let count = times.len();
                times.retain(|ns| *ns <= longest_ns);
                self.batches += times.len() as u64;
                self.invalid_batches += (count - times.len()) as u64;
                let low = quantile(&mut times, 0.25).filter(|_| times.len() >= FEWEST_BATCHES);
                *sum = sum.zip(low).map(|(sum, low)| sum + low);
            }
        }
        // No time has passed on a clock of coarse steps: that is no round.
        if let [Some(alone_ns @ 1..), Some(together_ns)] = kinds {
            self.rounds.push(Round { alone_ns, together_ns });
        }
        Ok(())
    }
}

/// What a thread shows the other, on a line of its own.
#[repr(align(256))]
#[derive(Default)]
struct Beside {
    steps: AtomicU64,
    has_enough: AtomicBool,
}

/// Returns a round as one of the two threads sees it: the first CPU alone, both, the second alone.
/// Who waits sleeps. Gives the times of batches alone and together, and how many do not count.
fn side(place: &Place<'_>, shared: &[Beside; 2], interrupted: &AtomicBool) -> ([Vec<u64>; 2], u64) {
    let (own, other) = (&shared[place.index], &shared[1 - place.index]);
    let mut kinds = [(); 2].map(|()| Vec::with_capacity(4 * BATCHES));
    let mut invalid = 0;
    add(ADDITIONS * STEPS);
    for first in [Some(0), None, Some(1)] {
        place.meet();
        match first {
            None => invalid = batches(&mut kinds[1], own, Some(other), interrupted),
            Some(alone) if alone == place.index => {
                batches(&mut kinds[0], own, None, interrupted);
            }
            Some(_) => {}
        }
    }
    (kinds, invalid)
}

/// Makes batches until there are enough, and the other has enough too where it runs beside, as it
/// needs this thread at the same time; the window ends it at last. Returns how many do not count,
/// because the other did not run.
fn batches(
    times: &mut Vec<u64>,
    own: &Beside,
    other: Option<&Beside>,
    interrupted: &AtomicBool,
) -> u64 {
    let end_ns = clock::monotonic_ns() + WINDOW_NS;
    let mut invalid = 0;
    // No allocation here: a full list is enough for the other as well.
    while times.len() < times.capacity() && clock::monotonic_ns() < end_ns {
        let before = other.map_or(0, |other| other.steps.load(Ordering::Relaxed));
        let ns = batch(own);
        let has_run =
            other.is_none_or(|other| other.steps.load(Ordering::Relaxed) - before >= STEPS_BESIDE);
        if has_run {
            times.push(ns);
        } else {
            invalid += 1;
        }
        let is_enough = times.len() >= BATCHES;
        own.has_enough.store(is_enough && other.is_some(), Ordering::Relaxed);
        let is_both =
            is_enough && other.is_none_or(|other| other.has_enough.load(Ordering::Relaxed));
        if is_both || interrupted.load(Ordering::Relaxed) {
            break;
        }
    }
    invalid
}

/// Returns a batch of work and its time in nanoseconds.
fn batch(own: &Beside) -> u64 {
    let start_ns = clock::monotonic_ns();
    for _ in 0..STEPS {
        std::hint::black_box(add(ADDITIONS));
        // Nobody else writes it, so that no locked instruction is needed.
        own.steps.store(own.steps.load(Ordering::Relaxed) + 1, Ordering::Relaxed);
    }
    clock::monotonic_ns() - start_ns
}

/// Additions of one round of [`add`].
const WIDTH: u64 = 8;

/// One of the eight additions, and the end of the loop.
#[cfg(target_arch = "x86_64")]
macro_rules! add {
    ($to:literal) => {
        concat!("add {", $to, "}, {one}")
    };
    () => {
        "dec {n}\njnz 2b"
    };
}
#[cfg(target_arch = "aarch64")]
macro_rules! add {
    ($to:literal) => {
        concat!("add {", $to, "}, {", $to, "}, {one}")
    };
    () => {
        "subs {n}, {n}, #1\nb.ne 2b"
    };
}

/// Eight independent chains of additions, `rounds` long: as many additions at a time as no core has
/// adders for two threads. Gives a number that depends on them, so that they must be made.
///
/// The summand comes from a register: some cores carry out the addition of a constant before the
/// instruction reaches an adder.
#[cfg(any(target_arch = "x86_64", target_arch = "aarch64"))]
fn add(rounds: u64) -> u64 {
    let mut sum: u64 = 0;
    // SAFETY: only the registers named below change; memory and stack are not touched. A count of
    // at least 1 reaches zero.
    unsafe {
        std::arch::asm!(
            "2:", add!("a"), add!("b"), add!("c"), add!("d"), add!("e"), add!("f"), add!("g"),
            add!("h"), add!(),
            a = inout(reg) sum, b = inout(reg) 0_u64 => _, c = inout(reg) 0_u64 => _,
            d = inout(reg) 0_u64 => _, e = inout(reg) 0_u64 => _, f = inout(reg) 0_u64 => _,
            g = inout(reg) 0_u64 => _, h = inout(reg) 0_u64 => _,
            one = in(reg) 1_u64, n = inout(reg) rounds.max(1) => _, options(nomem, nostack),
        );
    }
    sum * WIDTH
}

/// Returns the same anywhere else; the compiler is kept from adding at once what is added one by
/// one, at the price of a store each, of which a core has no more than one thread can use either.
#[cfg(not(any(target_arch = "x86_64", target_arch = "aarch64")))]
fn add(rounds: u64) -> u64 {
    let mut sums = [0_u64; WIDTH as usize];
    for _ in 0..rounds.max(1) {
        for sum in &mut sums {
            *sum = std::hint::black_box(*sum + 1);
        }
    }
    sums.iter().sum()
}

#[cfg(test)]
mod tests;
