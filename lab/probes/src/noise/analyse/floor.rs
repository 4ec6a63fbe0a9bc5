//! The noise floor in the units of a user: the smallest slowdown that a comparison of some length
//! would find here, from the same thing against itself.

use super::*;
use crate::finding::Lab;
use tiebreak_core::sampler::RunFailure;
use tiebreak_stats::coins::Seed;
use tiebreak_stats::observation::{LogRatio, log};
use tiebreak_stats::{power, unit};

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
const PARTS: usize = 5;
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

/// The floor of functions, compared in one process. A unit of rounds is one observation, as in a
/// comparison of functions. `None` if there were too few.
pub(super) fn of_functions(pairs: &Pairs) -> Option<Floor> {
    let of_round = |[left, right]: &[u64; 2]| LogRatio::exact(log(*left as f64 / *right as f64));
    let of_unit = |unit: &Vec<[u64; 2]>| {
        let rounds: Vec<LogRatio> = unit.iter().map(of_round).collect();
        unit::summarise(&rounds).middle()
    };
    let noise: Vec<f64> = pairs.units.iter().map(of_unit).collect();
    let unit_ns = pairs.elapsed_ns as f64 / pairs.units.len().max(1) as f64;
    let work = format!(
        "a chain of multiplications that needs no memory, in one process, {ROUNDS_A_UNIT} rounds \
         to an observation"
    );
    let lost = 1.0 - pairs.cpu_ns as f64 / pairs.elapsed_ns.max(1) as f64;
    let lost_share = (pairs.cpu_ns > 0).then(|| lost.clamp(0.0, 1.0));
    floor("functions", work, &noise, unit_ns).map(|floor| Floor { lost_share, ..floor })
}

/// A floor, and what went wrong, in a sentence.
type OfPrograms = (Option<Floor>, Option<String>);

/// The floor of programs: this program's own work against itself, by the lab's own sampler, for
/// what is left of the budget, with the reason in a sentence if something went wrong. There is none
/// where the program has no work of its own or cannot be run, where there was no time, or where the
/// user stopped it. Rounds before a failed one count.
pub(super) fn of_programs(lab: &dyn Lab, budget: &mut Budget<'_>) -> OfPrograms {
    tried(lab, budget).unwrap_or_else(|error| (None, Some(failed(&error))))
}

fn failed(error: &str) -> String {
    format!("programs against themselves say nothing: {error}")
}

fn tried(lab: &dyn Lab, budget: &mut Budget<'_>) -> Result<OfPrograms, String> {
    let Some(mut work) = lab.own_work()? else { return Ok((None, None)) };
    let begin = Instant::now();
    let mut elapsed = Duration::ZERO;
    let more = |rounds: usize| {
        if rounds > 0 {
            elapsed = begin.elapsed();
            budget.tell(0.0);
        }
        let left = budget.left();
        let wait = left.saturating_sub(KEPT).mul_f64(WAIT_SHARE);
        (left > KEPT).then(|| work.round(rounds as u64, wait, left))
    };
    let (noise, failure) = rounds(more);
    let round_ns = elapsed.as_nanos() as f64 / noise.len().max(1) as f64;
    let words = "this program's own work of some milliseconds".to_owned();
    let floor = floor("programs", words, &noise, round_ns);
    let floor = floor.map(|floor| Floor { lost_share: work.lost_share(), ..floor });
    let is_short = floor.is_none() && !budget.is_interrupted();
    let reason = match failure {
        Some(why) if floor.is_none() => Some(failed(&why)),
        Some(why) => Some(format!("programs against themselves ended early: {why}")),
        None => {
            is_short.then(|| failed(&format!("there was time for {} rounds only", noise.len())))
        }
    };
    Ok((floor, reason))
}

/// What rounds gave, until there is none more or one fails, and why it did. It is asked with the
/// number of those that there are.
fn rounds(
    mut more: impl FnMut(usize) -> Option<Result<f64, RunFailure>>,
) -> (Vec<f64>, Option<String>) {
    let mut noise = Vec::new();
    loop {
        match more(noise.len()) {
            Some(Ok(ratio)) => noise.push(ratio),
            None | Some(Err(RunFailure::Interrupted)) => return (noise, None),
            Some(Err(RunFailure::Fault(fault))) => return (noise, Some(fault.to_string())),
            Some(Err(RunFailure::Broken(why))) => return (noise, Some(why)),
        }
    }
}

fn floor(of: &str, work: String, noise: &[f64], round_ns: f64) -> Option<Floor> {
    if noise.len() < ROUNDS_LEAST || round_ns <= 0.0 {
        return None;
    }
    let seed = Seed::from_text(SEED);
    let among_parts = among_parts(noise);
    let smallest = |seconds: f64| {
        let rounds = ((seconds * 1e9 / round_ns) as u64).min(ROUNDS_MOST);
        let found = power::smallest_difference(noise, rounds, ERROR, seed);
        SmallestSlowdown {
            seconds,
            rounds,
            fraction: found.map(|one| one.fraction),
            is_bound: found.is_some_and(|one| one.is_bound),
            among_parts: found
                .filter(|one| !one.is_bound)
                .and_then(|one| Some(among_parts?.map(|share| searched(one.fraction * share)))),
        }
    };
    Some(Floor {
        of: of.to_owned(),
        work,
        rounds: noise.len() as u64,
        round_ns,
        error: ERROR,
        chance: CHANCE,
        smallest: LENGTHS_SECONDS.map(smallest).into(),
        lost_share: None,
    })
}

/// Within what was searched: what lies beyond is not known.
fn searched(fraction: f64) -> f64 {
    fraction.clamp(power::SEARCHED[0], power::SEARCHED[1])
}

/// How large the noise is in the calmest and in the noisiest of [`PARTS`] parts of the run, as
/// shares of the whole run's: medians of sizes. `None` if a part would be too short.
fn among_parts(noise: &[f64]) -> Option<[f64; 2]> {
    let length = noise.len() / PARTS;
    let size = |part: &[f64]| {
        let mut sizes: Vec<f64> = part.iter().map(|d| d.abs()).collect();
        sizes.sort_by(f64::total_cmp);
        sizes[sizes.len() / 2]
    };
    if length < ROUNDS_A_PART || size(noise) <= 0.0 {
        return None;
    }
    let parts = noise.chunks_exact(length).take(PARTS).map(|part| size(part) / size(noise));
    Some(parts.fold([1.0, 1.0], |[low, high], one| [one.min(low), one.max(high)]))
}

#[cfg(test)]
mod tests {
    use super::*;
    use tiebreak_core::verdict::Fault;

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
        let floor = of_functions(&pairs).unwrap();
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
        let still = floor("functions", String::new(), &[0.0; 40], 1e7).unwrap();
        let said = still.smallest.iter().map(|one| (one.is_bound, one.among_parts));
        assert!(said.clone().all(|one| one == (true, None)), "{:?}", still.smallest);
    }

    #[test]
    fn no_end_of_an_interval_lies_outside_what_was_searched() {
        let mut noise: Vec<f64> = (0..200).map(|index| f64::from(index % 7 - 3) * 1e-3).collect();
        noise[..40].iter_mut().for_each(|d| *d *= 1e-6);
        noise[160..].iter_mut().for_each(|d| *d *= 1e6);
        let found = floor("functions", String::new(), &noise, 1e7).unwrap();
        let ends: Vec<[f64; 2]> = found.smallest.iter().filter_map(|one| one.among_parts).collect();
        assert!(ends.iter().all(|ends| *ends == power::SEARCHED), "{found:?}");
        assert!(!ends.is_empty());
    }

    #[test]
    fn too_little_says_nothing() {
        assert_eq!(of_functions(&pairs(5, 0.1)), None);
        assert_eq!(of_functions(&Pairs::default()), None);
    }

    #[test]
    fn rounds_before_a_failed_one_are_kept() {
        let check = |end: Option<RunFailure>, expected: Option<&str>| {
            let mut end = Some(end);
            let more = |round: usize| match round {
                3 => end.take().unwrap().map(Err),
                _ => Some(Ok(round as f64)),
            };
            assert_eq!(rounds(more), (vec![0.0, 1.0, 2.0], expected.map(str::to_owned)));
        };
        let fault = Fault::ExitStatus { status: 7, stderr: "oh".to_owned() };
        check(None, None);
        check(Some(RunFailure::Interrupted), None);
        check(Some(RunFailure::Broken("no process".to_owned())), Some("no process"));
        check(Some(RunFailure::Fault(fault.clone())), Some(&fault.to_string()));
    }
}
