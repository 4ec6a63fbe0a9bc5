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
use crate::{Cpu, Limits, Pair, Topology};

/// Reads what the machine says, and what it does not, a sentence each.
///
/// # Errors
/// Neither `/sys` nor the scheduler reports a CPU.
pub(super) fn read(tree: &Tree, allowed: &[usize]) -> Result<(Topology, Vec<String>), Unavailable> {
    let (cpus, mut reasons) = advertised::cpus(tree, allowed);
    if cpus.is_empty() {
        let tried = ["/sys/devices/system/cpu/online", "sched_getaffinity"];
        let tried = tried.map(|way| (way.to_owned(), "no CPU is listed".to_owned())).to_vec();
        return Err(Unavailable { what: "topology", tried });
    }
    let online: Vec<_> = cpus.iter().filter(|cpu| cpu.is_online).map(|cpu| cpu.cpu).collect();
    let caches = advertised::caches(tree, &online);
    if caches.is_empty() {
        reasons.push("the kernel does not list the caches".to_owned());
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

/// The most pairs that the machine says share a core, of other neighbours by number, and of the
/// rest.
const MOST: [usize; 3] = [32, 16, 32];

/// Returns the pairs to be measured among some CPUs: those that are advertised to share a core
/// first, then a sample of the others, neighbours by number before the rest: there a hypervisor
/// hides siblings.
pub(super) fn wanted(advertised: &[Cpu], cpus: &[usize]) -> Vec<PairReading> {
    let cores: BTreeMap<_, _> =
        advertised.iter().filter_map(|cpu| Some((cpu.cpu, cpu.core?))).collect();
    let mut kinds: [Vec<Pair>; 3] = Default::default();
    for [a, b] in all_pairs(cpus) {
        let is_advertised = cores.get(&a).zip(cores.get(&b)).map(|(a, b)| a == b);
        let kind = match is_advertised {
            Some(true) => 0,
            _ if a.abs_diff(b) == 1 => 1,
            _ => 2,
        };
        kinds[kind].push(Pair { cpus: [a, b], is_advertised, ..Pair::default() });
    }
    let kinds = kinds.iter().zip(MOST).flat_map(|(pairs, most)| {
        // At equal distances.
        let count = pairs.len().min(most);
        (0..count).map(move |index| pairs[index * pairs.len() / count].clone())
    });
    kinds.map(|pair| PairReading { pair, rounds: Vec::new() }).collect()
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
/// The longest that a round of a kind may take.
const WINDOW_NS: u64 = 15_000_000;
/// Between two rounds, so that they do not all see the same moment.
const PAUSE: Duration = Duration::from_millis(5);

/// What was seen of a pair.
#[derive(Clone, Debug, PartialEq)]
pub struct PairReading {
    /// The CPUs, what is advertised, and the numbers of batches; the rest is not known yet.
    pub pair: Pair,
    /// The rounds that count: the lower quartile of the batches while the other slept, and while it
    /// did the same, in nanoseconds, the mean of both CPUs.
    pub rounds: Vec<[f64; 2]>,
}

/// Measures the pairs in turns, for at most three fifths of the budget; the rest is for asking the
/// compilers. Pairs without a round that counts are left out.
pub(super) fn measure_pairs(
    mut pairs: Vec<PairReading>,
    budget: &mut Budget<'_>,
) -> Probed<Vec<PairReading>> {
    if pairs.is_empty() {
        return Probed::inconclusive("a pair needs two CPUs, and one may be used");
    }
    let (begin, longest) = (Instant::now(), budget.left().min(budget.length().mul_f64(0.6)));
    'rounds: for round in 1..=ROUNDS {
        for pair in &mut pairs {
            if begin.elapsed() >= longest || budget.is_interrupted() {
                break 'rounds;
            }
            if let Err(error) = pair.round(budget.interrupted()) {
                let [a, b] = pair.pair.cpus;
                let why = format!("CPUs {a} and {b} could not run together: {error}");
                return Probed::inconclusive(why);
            }
        }
        budget.tell(0.6 * round as f64 / ROUNDS as f64);
        std::thread::sleep(PAUSE);
    }
    let count = pairs.len();
    pairs.retain(|pair| !pair.rounds.is_empty());
    if pairs.is_empty() {
        return Probed::inconclusive("no two CPUs ran at the same time for long enough");
    }
    let never = count - pairs.len();
    let why = (never > 0).then(|| format!("{never} of {count} pairs never ran at the same time"));
    Probed::of(pairs, Vec::from_iter(why))
}

impl PairReading {
    fn round(&mut self, interrupted: &AtomicBool) -> io::Result<()> {
        let shared = [Beside::default(), Beside::default()];
        let seen = together(&self.pair.cpus, |place| side(place, &shared, interrupted))?;
        let mut kinds = [Some(0), Some(0)];
        for (both, invalid) in seen {
            self.pair.invalid_batches += invalid;
            for (sum, mut times) in kinds.iter_mut().zip(both) {
                self.pair.batches += times.len() as u64;
                let low = quantile(&mut times, 0.25).filter(|_| times.len() >= FEWEST_BATCHES);
                *sum = sum.zip(low).map(|(sum, low)| sum + low);
            }
        }
        // No time has passed on a clock of coarse steps: that is no round.
        if let [Some(alone_ns @ 1..), Some(together_ns)] = kinds {
            self.rounds.push([alone_ns, together_ns].map(|sum| sum as f64 / 2.0));
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

/// Returns a round as one of the two threads sees it: each CPU alone, then both. Who waits sleeps.
/// Gives the times of batches alone and together, and how many do not count.
fn side(place: &Place<'_>, shared: &[Beside; 2], interrupted: &AtomicBool) -> ([Vec<u64>; 2], u64) {
    let (own, other) = (&shared[place.index], &shared[1 - place.index]);
    let mut alone = Vec::new();
    add(ADDITIONS * STEPS);
    for first in 0..2 {
        place.meet();
        if first == place.index {
            // It is itself what must go on meanwhile.
            alone = batches(own, own, interrupted).0;
            own.has_enough.store(false, Ordering::Relaxed);
        }
    }
    place.meet();
    let (together, invalid) = batches(own, other, interrupted);
    ([alone, together], invalid)
}

/// Makes batches until there are enough, and the other has enough too, as it needs this thread at
/// the same time; the window ends it at last. Returns the times of the first ones, and how many do
/// not count, because the other did not run.
fn batches(own: &Beside, other: &Beside, interrupted: &AtomicBool) -> (Vec<u64>, u64) {
    let end_ns = clock::monotonic_ns() + WINDOW_NS;
    let (mut times, mut invalid) = (Vec::with_capacity(BATCHES), 0);
    while !(own.has_enough.load(Ordering::Relaxed) && other.has_enough.load(Ordering::Relaxed))
        && clock::monotonic_ns() < end_ns
        && !interrupted.load(Ordering::Relaxed)
    {
        let before = other.steps.load(Ordering::Relaxed);
        let start_ns = clock::monotonic_ns();
        for _ in 0..STEPS {
            std::hint::black_box(add(ADDITIONS));
            // No other thread writes it, so that no locked instruction is needed.
            own.steps.store(own.steps.load(Ordering::Relaxed) + 1, Ordering::Relaxed);
        }
        let time_ns = clock::monotonic_ns() - start_ns;
        if other.steps.load(Ordering::Relaxed) - before < STEPS_BESIDE {
            invalid += 1;
        } else if times.len() < BATCHES {
            times.push(time_ns);
        }
        own.has_enough.store(times.len() == BATCHES, Ordering::Relaxed);
    }
    (times, invalid)
}

/// Additions of one round of [`add`].
const WIDTH: u64 = 8;

/// Makes eight independent chains of additions, `rounds` long: as many additions at a time as no
/// core has adders for two threads. Returns a number that depends on them, so that they must be
/// made.
///
/// The summand comes from a register: some cores carry out the addition of a constant before the
/// instruction reaches an adder.
#[cfg(target_arch = "x86_64")]
fn add(rounds: u64) -> u64 {
    let mut sum: u64 = 0;
    // SAFETY: only the registers named below change; memory and stack are not touched. A count of
    // at least 1 reaches zero.
    unsafe {
        std::arch::asm!(
            "2:", "add {a}, {one}", "add {b}, {one}", "add {c}, {one}", "add {d}, {one}",
            "add {e}, {one}", "add {f}, {one}", "add {g}, {one}", "add {h}, {one}",
            "dec {n}", "jnz 2b",
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
#[cfg(not(target_arch = "x86_64"))]
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
