//! Turns what the probe of noise saw into what is reported: the summary of the watches, and the
//! noise floor, which is the smallest slowdown that a comparison of some length would find here.

mod summary;

use super::measure::*;
use crate::finding::{Lab, OwnWork};
use crate::print::empty;
use crate::tools::*;
use crate::{Cause, Floor, MachinePrint, Noise, SmallestSlowdown, Throttled};
use tiebreak_core::sampler::RunFailure;
use tiebreak_stats::coins::Seed;
use tiebreak_stats::observation::{LogRatio, log};
use tiebreak_stats::{power, unit};

/// Probes the machine.
pub(crate) fn probe(options: &Options<'_>, budget: &mut Budget<'_>) -> Probed<Noise> {
    probed(Watcher::new(&options.cpus), |watcher| {
        watcher.measure(budget).map(|(watches, pairs), reasons| {
            let mut found = summary::summarise(&watches, &watcher.chain, None);
            found.floors.extend(floor_of_functions(&pairs));
            if found.floors.is_empty() && !budget.is_interrupted() {
                reasons.push("there was no time to run the same work against itself".to_owned());
            }
            found.floors.extend(floor_of_programs(options.lab, budget, reasons));
            reasons.extend(busy(&found).into_iter().chain(uneven(&found)));
            found
        })
    })
}

/// Returns what speaks against floors, however low, of a time in which much was lost.
fn busy(found: &Noise) -> Option<String> {
    let percent = found.busy_share()? * 100.0;
    let what =
        if found.floors.is_empty() { "this is" } else { "the smallest slowdowns are those of" };
    Some(format!("{percent:.0}% of CPU time was lost meanwhile: {what} a machine at other work"))
}

/// Of parts of one look, how many times the floor of the calmest that of the noisiest may be: both
/// are then within 10% of what is said.
const EVEN: f64 = 1.1 / 0.9;

/// Returns what speaks against floors whose own parts differ: the next look may say another.
fn uneven(found: &Noise) -> Option<String> {
    let differ = found.floors.iter().filter_map(|floor| {
        let [low, high] = floor.smallest.iter().find_map(|one| one.among_parts)?;
        (high > EVEN * low).then(|| format!("of {} {:.1} times", floor.of, high / low))
    });
    let differ = differ.collect::<Vec<_>>().join(", ");
    let means = "a floor moves as much from look to look";
    let said = format!("noise differed between parts of the look ({differ}): {means}");
    (!differ.is_empty()).then_some(said)
}

/// One watch, and one piece of the time lines.
const WATCH: Duration = Duration::from_secs(1);
/// How far back is shown: a minute.
const TOLD_NS: u64 = 60_000_000_000;

/// Watches CPUs until `stop`, or for as long as the options say. After each second `show` gets what
/// was seen within the last minute, while nothing is watched. Returns the print of the last minute,
/// without a noise floor.
pub fn watch_noise(
    options: &Options<'_>,
    stop: &AtomicBool,
    show: &mut dyn FnMut(&Noise),
) -> MachinePrint {
    let begin = Instant::now();
    let mut print = empty(false);
    print.noise = Some(probed(Watcher::new(&options.cpus), |watcher| {
        let (mut watches, mut last) = (Vec::new(), None);
        let each = options.each.unwrap_or(WATCH).min(WATCH);
        let end = options.each.map(|length| begin + length);
        let broken = watcher.watch_until(end, each, stop, |watch| {
            take(&mut watches, watch);
            let piece_ns = WATCH.as_nanos() as u64;
            let found = summary::summarise(&watches, &watcher.chain, Some(piece_ns));
            show(&found);
            last = Some(found);
        });
        match (last, broken) {
            (Some(found), broken) => Probed::of(found, Vec::from_iter(broken)),
            (None, Some(broken)) => Probed::inconclusive(broken),
            (None, None) => Probed::inconclusive("it was stopped before a CPU was watched"),
        }
    }));
    print.took_ns = begin.elapsed().as_nanos() as u64;
    print
}

/// Adds a watch, and forgets those of more than a minute ago.
fn take(watches: &mut Vec<Watch>, watch: Watch) {
    let end_ns = watch.end_ns;
    watches.push(watch);
    watches.retain(|old| old.begin_ns + TOLD_NS >= end_ns);
}

/// How long the comparisons are, in seconds.
const LENGTHS_SECONDS: [f64; 2] = [1.0, 10.0];
/// The error of their verdicts.
const ERROR: f64 = 0.01;
/// How many of them are to find it: what [`power::smallest_difference`] asks for.
const CHANCE: f64 = 0.9;
/// Fewer rounds than this say too little about noise.
const ROUNDS_LEAST: usize = 20;
/// Consecutive parts of a run that say how sure its floor is, which is in proportion to the size
/// of the noise: the median of such parts lies between the least and the most of five in 15 of 16
/// runs, `1 - 2 / 2^5`, if they are independent.
const PARTS_OF_RUN: usize = 5;
/// Fewer rounds than this are no part.
const ROUNDS_A_PART: usize = 8;
/// Simulations are not longer than this.
const ROUNDS_MOST: u64 = 5000;
/// What is left of the budget for the simulations.
const KEPT: Duration = Duration::from_millis(700);
/// The most that one wait for a quiet machine takes of what is left for rounds: on a busy machine
/// most waits are in vain.
const WAIT_SHARE: f64 = 0.1;
/// Coins of simulations: the same noise gives the same answer.
const SEED: &str = "noise";

/// Returns the floor of functions, compared in one process. A unit of rounds is one observation, as
/// in a comparison of functions. `None` if there were too few.
fn floor_of_functions(pairs: &Pairs) -> Option<Floor> {
    let ratios = pairs.units.iter().map(|unit| {
        let rounds =
            unit.iter().map(|[left, right]| LogRatio::exact(log(*left as f64 / *right as f64)));
        unit::summarise(&rounds.collect::<Vec<_>>()).middle()
    });
    let noise: Vec<f64> = ratios.collect();
    let work = format!(
        "a chain of multiplications that needs no memory, in one process, {ROUNDS_A_UNIT} rounds \
         to an observation"
    );
    let lost = 1.0 - pairs.cpu_ns as f64 / pairs.elapsed_ns.max(1) as f64;
    let lost_share = (pairs.cpu_ns > 0).then(|| lost.clamp(0.0, 1.0));
    let of = Floor { of: "functions".to_owned(), work, lost_share, ..Floor::default() };
    floor(of, &noise, pairs.elapsed_ns as f64)
}

/// Returns the floor of programs: this program's own work against itself, by the lab's own sampler,
/// for what is left of the budget, and adds why it ended early if it did. Rounds before a failed
/// one count. There is none where the program has no work of its own, where that cannot be run, or
/// where there was too little time.
fn floor_of_programs(
    lab: &dyn Lab,
    budget: &mut Budget<'_>,
    reasons: &mut Vec<String>,
) -> Option<Floor> {
    let own_work = lab.own_work().map_err(|why| {
        reasons.push(format!("programs against themselves say nothing: {why}"));
    });
    let mut work = own_work.ok()??;
    let (noise, elapsed, mut failure) = rounds(&mut *work, budget);
    let of = Floor {
        of: "programs".to_owned(),
        work: "this program's own work of some milliseconds".to_owned(),
        lost_share: work.lost_share(),
        ..Floor::default()
    };
    let floor = floor(of, &noise, elapsed.as_nanos() as f64);
    if floor.is_none() && failure.is_none() && !budget.is_interrupted() {
        failure = Some(format!("there was time for {} rounds only", noise.len()));
    }
    reasons.extend(failure.map(|why| format!("programs against themselves ended early: {why}")));
    floor
}

/// Runs rounds until the time is over or one fails; returns what they gave, how long they took, and
/// why one failed.
fn rounds(work: &mut dyn OwnWork, budget: &mut Budget<'_>) -> (Vec<f64>, Duration, Option<String>) {
    let (begin, mut elapsed, mut noise) = (Instant::now(), Duration::ZERO, Vec::new());
    loop {
        let left = budget.left();
        let wait = left.saturating_sub(KEPT).mul_f64(WAIT_SHARE);
        if left <= KEPT {
            return (noise, elapsed, None);
        }
        match work.round(noise.len() as u64, wait, left) {
            Ok(ratio) => noise.push(ratio),
            Err(RunFailure::Interrupted) => return (noise, elapsed, None),
            Err(RunFailure::Fault(fault)) => return (noise, elapsed, Some(fault.to_string())),
            Err(RunFailure::Broken(why)) => return (noise, elapsed, Some(why)),
        }
        elapsed = begin.elapsed();
        budget.tell(0.0);
    }
}

/// Returns a floor with what its observations gave, which took `elapsed_ns` together; `None` if
/// they are too few.
fn floor(of: Floor, noise: &[f64], elapsed_ns: f64) -> Option<Floor> {
    if noise.len() < ROUNDS_LEAST || elapsed_ns <= 0.0 {
        return None;
    }
    let round_ns = elapsed_ns / noise.len() as f64;
    // What lies beyond the fractions that were searched is not known.
    let [least, most] = power::SEARCHED;
    let smallest = LENGTHS_SECONDS.map(|seconds| {
        let rounds = ((seconds * 1e9 / round_ns) as u64).min(ROUNDS_MOST);
        let found = power::smallest_difference(noise, rounds, ERROR, Seed::from_text(SEED));
        let exact = found.filter(|one| !one.is_bound).zip(among_parts(noise));
        SmallestSlowdown {
            seconds,
            rounds,
            fraction: found.map(|one| one.fraction),
            is_bound: found.is_some_and(|one| one.is_bound),
            among_parts: exact
                .map(|(one, shares)| shares.map(|share| (one.fraction * share).clamp(least, most))),
        }
    });
    let (rounds, smallest) = (noise.len() as u64, smallest.into());
    Some(Floor { rounds, round_ns, error: ERROR, chance: CHANCE, smallest, ..of })
}

/// Returns how large the noise is in the calmest and in the noisiest of [`PARTS_OF_RUN`] parts of
/// the run, as shares of the whole run's: medians of sizes. `None` if a part would be too short.
fn among_parts(noise: &[f64]) -> Option<[f64; 2]> {
    let length = noise.len() / PARTS_OF_RUN;
    if length < ROUNDS_A_PART || size(noise) <= 0.0 {
        return None;
    }
    let parts = noise.chunks_exact(length).take(PARTS_OF_RUN).map(|part| size(part) / size(noise));
    Some(parts.fold([1.0, 1.0], |[low, high], one| [one.min(low), one.max(high)]))
}

/// Returns the median of the absolute values, of which there is at least one.
fn size(noise: &[f64]) -> f64 {
    let mut sizes: Vec<f64> = noise.iter().map(|d| d.abs()).collect();
    sizes.sort_by(f64::total_cmp);
    sizes[sizes.len() / 2]
}

#[cfg(test)]
mod tests {
    use super::*;
    use tiebreak_core::verdict::Fault;
    use tiebreak_machine::cpus;

    #[test]
    fn a_low_floor_beside_a_high_loss_is_in_doubt() {
        let check = |watched: f64, against_itself: Option<f64>, expected: Option<&str>| {
            let floor = Floor { lost_share: against_itself, ..Floor::default() };
            let found = Noise { lost_share: watched, floors: vec![floor], ..Noise::default() };
            let reason = busy(&found);
            assert_eq!(reason.as_deref().and_then(|why| why.split(' ').next()), expected);
        };
        check(0.0, None, None);
        check(0.1, Some(0.09), None);
        check(0.68, Some(0.0), Some("68%"));
        check(0.02, Some(0.41), Some("41%"));
    }

    #[test]
    fn floors_that_differ_among_parts_are_in_doubt() {
        let check = |parts: [Option<[f64; 2]>; 2], expected: Option<&str>| {
            let floor = |(of, among_parts): (&str, Option<[f64; 2]>)| {
                let one = SmallestSlowdown { among_parts, ..SmallestSlowdown::default() };
                Floor { of: of.to_owned(), smallest: vec![one], ..Floor::default() }
            };
            let floors = ["functions", "programs"].into_iter().zip(parts).map(floor).collect();
            let reason = uneven(&Noise { floors, ..Noise::default() });
            let said = reason.as_deref().and_then(|why| why.split(['(', ')']).nth(1));
            assert_eq!(said, expected);
        };
        check([None, None], None);
        check([Some([0.0095, 0.011]), None], None);
        check([Some([0.01, 0.0106]), Some([0.02, 0.05])], Some("of programs 2.5 times"));
        let both = [Some([0.01, 0.013]), Some([0.02, 0.05])];
        check(both, Some("of functions 1.3 times, of programs 2.5 times"));
    }

    #[test]
    fn only_the_last_minute_is_kept() {
        let mut watches = Vec::new();
        for second in 0..100 {
            let (begin_ns, end_ns) = (second * 1_000_000_000, (second + 1) * 1_000_000_000);
            let (cpus, softirqs) = (Vec::new(), Vec::new());
            take(&mut watches, Watch { begin_ns, end_ns, cpus, softirqs, throttled: None });
        }
        assert_eq!((watches.len(), watches[0].begin_ns), (60, 40_000_000_000));
    }

    #[test]
    fn each_second_is_shown_and_the_end_is_kept() {
        let each = Some(Duration::from_millis(300));
        let options = Options { each, ..crate::finding::tests::options(cpus::allowed()) };
        let mut shown = 0;
        let print = watch_noise(&options, &AtomicBool::new(false), &mut |_| shown += 1);
        assert_eq!(shown > 0, print.noise.as_ref().unwrap().value().is_some());
        let stopped = watch_noise(&options, &AtomicBool::new(true), &mut |_| ());
        assert_eq!(stopped.noise.unwrap().value(), None);
        let none = Options { cpus: Vec::new(), ..options };
        let print = watch_noise(&none, &AtomicBool::new(false), &mut |_| ());
        assert_eq!(print.noise.unwrap().state(), "unavailable");
    }

    /// Units whose rounds differ by so much at most, by a fixed sequence.
    fn pairs(units: usize, spread: f64) -> Pairs {
        let mut state = 1_u64;
        let mut unit = || {
            state ^= state << 13;
            state ^= state >> 7;
            state ^= state << 17;
            (state >> 11) as f64 / (1_u64 << 53) as f64
        };
        let mut time = || (200_000.0 * (1.0 + spread * unit())) as u64;
        let mut round = || [time(), time()];
        let units = (0..units).map(|_| (0..ROUNDS_A_UNIT).map(|_| round()).collect());
        Pairs { units: units.collect(), elapsed_ns: 0, cpu_ns: 0 }
    }

    fn smallest(spread: f64) -> [f64; 2] {
        let (elapsed_ns, cpu_ns) = (100 * 10_000_000, 75 * 10_000_000);
        let pairs = Pairs { elapsed_ns, cpu_ns, ..pairs(100, spread) };
        let floor = floor_of_functions(&pairs).unwrap();
        assert_eq!(floor.lost_share, Some(0.25));
        assert_eq!((floor.rounds, floor.round_ns), (100, 1e7));
        let rounds: Vec<u64> = floor.smallest.iter().map(|one| one.rounds).collect();
        assert_eq!(rounds, [100, 1000]);
        [0, 1].map(|index| floor.smallest[index].fraction.unwrap())
    }

    #[test]
    fn more_noise_hides_more_and_more_time_finds_more() {
        let (quiet, noisy) = (smallest(0.01), smallest(0.1));
        assert!(quiet[1] < quiet[0] && noisy[1] < noisy[0], "{quiet:?} {noisy:?}");
        assert!(noisy[0] > 4.0 * quiet[0], "{quiet:?} {noisy:?}");
    }

    #[test]
    fn a_floor_says_how_far_its_parts_lie_apart() {
        let check = |noise: &[f64], expected: Option<[f64; 2]>| {
            assert_eq!(among_parts(noise), expected);
        };
        check(&[0.5; 39], None);
        check(&[0.0; 40], None);
        check(&[-0.5; 40], Some([1.0, 1.0]));
        let mut noise = [0.5; 40];
        noise[..8].fill(0.25);
        noise[32..].fill(-2.0);
        check(&noise, Some([0.5, 4.0]));
        // No noise at all: whatever was tried is found, which is a bound and not a finding.
        let still = floor(Floor::default(), &[0.0; 40], 40.0 * 1e7).unwrap();
        let said = still.smallest.iter().map(|one| (one.is_bound, one.among_parts));
        assert!(said.clone().all(|one| one == (true, None)), "{:?}", still.smallest);
    }

    #[test]
    fn no_end_of_an_interval_lies_outside_what_was_searched() {
        let mut noise: Vec<f64> = (0..200).map(|index| f64::from(index % 7 - 3) * 1e-3).collect();
        noise[..40].iter_mut().for_each(|d| *d *= 1e-6);
        noise[160..].iter_mut().for_each(|d| *d *= 1e6);
        let found = floor(Floor::default(), &noise, 200.0 * 1e7).unwrap();
        let ends: Vec<[f64; 2]> = found.smallest.iter().filter_map(|one| one.among_parts).collect();
        assert!(ends.iter().all(|ends| *ends == power::SEARCHED), "{found:?}");
        assert!(!ends.is_empty());
    }

    #[test]
    fn too_little_says_nothing() {
        assert_eq!(floor_of_functions(&pairs(5, 0.1)), None);
        assert_eq!(floor_of_functions(&Pairs::default()), None);
    }

    /// Work that gives three rounds and then fails, or takes an hour.
    struct Failing(Option<RunFailure>);

    impl OwnWork for Failing {
        fn round(&mut self, round: u64, _: Duration, left: Duration) -> Result<f64, RunFailure> {
            assert!(left > KEPT);
            match self.0.take() {
                Some(failure) if round == 3 => return Err(failure),
                other => self.0 = other,
            }
            if round == 2 && self.0.is_none() {
                std::thread::sleep(left);
            }
            Ok(round as f64)
        }

        fn lost_share(&self) -> Option<f64> {
            None
        }
    }

    #[test]
    fn rounds_before_a_failed_one_are_kept() {
        let check = |end: Option<RunFailure>, expected: Option<&str>| {
            let flag = AtomicBool::new(false);
            let mut progress = |_: f64| {};
            let mut budget = Budget::new(KEPT + Duration::from_millis(500), &flag, &mut progress);
            let (noise, elapsed, why) = rounds(&mut Failing(end), &mut budget);
            assert_eq!((noise, why.as_deref()), (vec![0.0, 1.0, 2.0], expected));
            assert!(elapsed > Duration::ZERO);
        };
        let fault = Fault::ExitStatus { status: 7, stderr: "oh".to_owned() };
        check(None, None);
        check(Some(RunFailure::Interrupted), None);
        check(Some(RunFailure::Broken("no process".to_owned())), Some("no process"));
        check(Some(RunFailure::Fault(fault.clone())), Some(&fault.to_string()));
    }
}
