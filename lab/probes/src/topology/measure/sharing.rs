//! Pairs of CPUs that run the same work alone and at the same time.
//!
//! Two threads of one core that both keep its adders busy get about half of them each, so that a
//! batch takes nearly twice as long beside the other as alone; on two cores it takes as long as
//! before. Whether both really ran at the same time is not taken on trust: each counts its steps in
//! a place that the other reads before and after each of its batches, and a batch during which the
//! other did not go on counts for nothing. Alone and together take turns within milliseconds, so
//! that what slows the whole machine slows both.

use super::*;

/// The most rounds of a pair.
const ROUNDS: usize = 40;
/// Batches that a round wants of each kind from each CPU.
const BATCHES: usize = 40;
/// Fewer of a kind, and the round does not count.
const FEWEST_BATCHES: usize = 8;
/// Steps of a batch, after each of which the CPU says that it went on.
const STEPS: u64 = 16;
/// Rounds of additions in a step: about half a microsecond.
const ADDITIONS: u64 = 1200;
/// The other must have gone on by this many steps during a batch: it may be a slower core.
const STEPS_BESIDE: u64 = STEPS / 4;
/// A batch that takes so many times as long as the fastest one had a gap: two threads on one core
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

/// Measures the pairs in turns, at most so long; those without a round that counts are left out.
pub(super) fn measure(
    wanted: &[PairReading],
    longest: Duration,
    budget: &mut Budget<'_>,
) -> Probed<Vec<PairReading>> {
    if wanted.is_empty() {
        let why = "whether CPUs share a core needs two CPUs, and one may be used";
        return Probed::inconclusive(why);
    }
    let begin = Instant::now();
    let mut pairs = wanted.to_vec();
    let is_over = |budget: &Budget<'_>| begin.elapsed() >= longest || budget.is_interrupted();
    for round in 0..ROUNDS {
        for pair in &mut pairs {
            if is_over(budget) {
                break;
            }
            if let Err(error) = pair.round(budget.interrupted()) {
                let [a, b] = pair.cpus;
                let why = format!("CPUs {a} and {b} could not run together: {error}");
                return Probed::inconclusive(why);
            }
        }
        if is_over(budget) {
            break;
        }
        budget.tell(0.6 * (round + 1) as f64 / ROUNDS as f64);
        std::thread::sleep(PAUSE);
    }
    let count = pairs.len();
    pairs.retain(|pair| !pair.rounds.is_empty());
    let reason = format!("{} of {count} pairs never ran at the same time", count - pairs.len());
    if pairs.is_empty() {
        return Probed::inconclusive("no two CPUs ran at the same time for long enough");
    }
    let is_less = pairs.len() < count;
    Probed::of(pairs, Some(reason).filter(|_| is_less).into_iter().collect())
}

impl PairReading {
    fn round(&mut self, interrupted: &AtomicBool) -> std::io::Result<()> {
        let shared = [Beside::default(), Beside::default()];
        let seen = together(&self.cpus, |place| side(place, &shared, interrupted))?;
        let mut kinds = [Some(0), Some(0)];
        for side in seen {
            self.invalid_batches += side.invalid;
            let longest_ns = side.fastest_ns().saturating_mul(GAP);
            for (sum, mut times) in kinds.iter_mut().zip([side.alone_ns, side.together_ns]) {
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

/// The batches of one CPU in a round.
#[derive(Default)]
struct Side {
    alone_ns: Vec<u64>,
    together_ns: Vec<u64>,
    /// Those during which the other did not run.
    invalid: u64,
}

impl Side {
    fn fastest_ns(&self) -> u64 {
        self.alone_ns.iter().chain(&self.together_ns).copied().min().unwrap_or(0)
    }
}

/// A round as one of the two threads sees it: the first CPU alone, both, the second alone. Who
/// waits sleeps.
fn side(place: &Place<'_>, shared: &[Beside; 2], interrupted: &AtomicBool) -> Side {
    let (own, other) = (&shared[place.index], &shared[1 - place.index]);
    let (alone_ns, together_ns) = (Vec::with_capacity(BATCHES), Vec::with_capacity(4 * BATCHES));
    let mut side = Side { alone_ns, together_ns, invalid: 0 };
    work::add(ADDITIONS * STEPS);
    place.meet();
    if place.index == 0 {
        alone(&mut side, own, interrupted);
    }
    place.meet();
    beside(&mut side, own, other, interrupted);
    place.meet();
    if place.index == 1 {
        alone(&mut side, own, interrupted);
    }
    side
}

fn alone(side: &mut Side, own: &Beside, interrupted: &AtomicBool) {
    let end_ns = clock::monotonic_ns() + WINDOW_NS;
    while side.alone_ns.len() < BATCHES && clock::monotonic_ns() < end_ns {
        if interrupted.load(Ordering::Relaxed) {
            return;
        }
        side.alone_ns.push(batch(own));
    }
}

/// Goes on until the other has enough too, as it needs us beside it; the window ends it at last.
fn beside(side: &mut Side, own: &Beside, other: &Beside, interrupted: &AtomicBool) {
    let end_ns = clock::monotonic_ns() + WINDOW_NS;
    while clock::monotonic_ns() < end_ns && !interrupted.load(Ordering::Relaxed) {
        let before = other.steps.load(Ordering::Relaxed);
        let ns = batch(own);
        let went_on = other.steps.load(Ordering::Relaxed) - before >= STEPS_BESIDE;
        if side.together_ns.len() == side.together_ns.capacity() {
            // Enough for the other as well; no allocation here.
            return;
        }
        if went_on {
            side.together_ns.push(ns)
        } else {
            side.invalid += 1
        }
        let is_enough = side.together_ns.len() >= BATCHES;
        own.has_enough.store(is_enough, Ordering::Relaxed);
        if is_enough && other.has_enough.load(Ordering::Relaxed) {
            return;
        }
    }
}

/// A batch of work and its time in nanoseconds.
fn batch(own: &Beside) -> u64 {
    let start_ns = clock::monotonic_ns();
    for _ in 0..STEPS {
        std::hint::black_box(work::add(ADDITIONS));
        // Nobody else writes it, so that no locked instruction is needed.
        own.steps.store(own.steps.load(Ordering::Relaxed) + 1, Ordering::Relaxed);
    }
    clock::monotonic_ns() - start_ns
}

#[cfg(test)]
mod tests {
    use super::super::choice::wanted;
    use super::*;
    use crate::Cpu;

    fn without_cores() -> Vec<Cpu> {
        tiebreak_machine::cpus::allowed()
            .iter()
            .map(|cpu| Cpu { cpu: *cpu, ..Cpu::default() })
            .collect()
    }

    #[test]
    fn one_cpu_is_not_enough_and_two_give_rounds_or_a_reason() {
        let flag = AtomicBool::new(false);
        let mut progress = |_: f64| {};
        let length = Duration::from_millis(200);
        let mut budget = Budget::new(length, &flag, &mut progress);
        assert_eq!(measure(&[], length, &mut budget).state(), "inconclusive");
        let cpus = tiebreak_machine::cpus::allowed();
        let told = without_cores();
        let pairs = wanted(&told, &cpus[..cpus.len().min(2)]);
        let probed = measure(&pairs, length, &mut budget);
        for pair in probed.value().into_iter().flatten() {
            assert!((1..=ROUNDS).contains(&pair.rounds.len()));
            assert!(pair.rounds.iter().all(|round| round.alone_ns > 0 && round.together_ns > 0));
            assert!(pair.batches >= 4 * (FEWEST_BATCHES * pair.rounds.len()) as u64);
        }
    }

    #[test]
    fn threads_that_take_turns_on_one_cpu_were_never_together() {
        let cpu = tiebreak_machine::cpus::allowed()[0];
        let mut pair = PairReading { cpus: [cpu, cpu], ..PairReading::default() };
        pair.round(&AtomicBool::new(false)).unwrap();
        assert_eq!(pair.rounds, []);
    }

    #[test]
    fn an_interrupt_ends_it_at_once() {
        let flag = AtomicBool::new(true);
        let mut progress = |_: f64| {};
        let mut budget = Budget::new(Duration::from_secs(3600), &flag, &mut progress);
        let cpus = tiebreak_machine::cpus::allowed();
        let told = without_cores();
        let probed = measure(&wanted(&told, &cpus), Duration::from_secs(3600), &mut budget);
        assert_eq!(probed.value(), None);
    }
}
