//! Which pairs are visited, how often and for how long.

use super::*;

/// From this many CPUs on not all pairs are visited.
const ALL_PAIRS_MOST: usize = 64;
/// Pairs that stand for two groups whose pairs are not all visited.
const REPRESENTATIVES: usize = 4;
/// CPUs that are taken for a group where the machine says nothing.
const UNKNOWN_GROUP: usize = 8;
/// A look that is shorter than this misses rare placements.
const LONG_LOOK: Duration = Duration::from_secs(30);
/// Nanoseconds to start two threads, and to have them meet and find their number of round trips.
const START_NS: u64 = 300_000;
const MEET_NS: u64 = 100_000;
/// The fewest and the most batches of a segment.
const BATCHES: [u64; 2] = [40, 250];
/// The least and the most time of a segment, in nanoseconds: threads that have to wait for their
/// CPUs have a time slice or two to meet.
const LIMITS_NS: [u64; 2] = [4_000_000, 60_000_000];

/// What is to be done.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Plan {
    /// The pairs, the smaller number first, sorted.
    pub(super) pairs: Vec<[usize; 2]>,
    /// The ways of passing, the headline first.
    pub(super) kernels: Vec<Kernel>,
    /// Visits to each pair.
    pub(super) rounds: u64,
    /// Batches of each way of passing and side in a visit.
    pub(super) batches: usize,
    /// The most that these may take, in nanoseconds.
    pub(super) segment_limit_ns: u64,
    /// What a visit takes at least.
    pub(super) least_visit: Duration,
    /// Batches without a gap that a pair must have.
    pub(super) valid_least: u64,
}

impl Plan {
    /// A plan that fits into the time: all ways of passing if there is time for them, else the
    /// headline; all pairs if there is time and there are not too many CPUs, else those within a
    /// group and some that stand for two groups, and of these as many as there is time for.
    pub(super) fn of(cpus: &[usize], advertised: &[Advertised], length: Duration) -> Plan {
        let is_long = length >= LONG_LOOK;
        let [rounds_least, rounds_most] = if is_long { [20, 60] } else { [3, 12] };
        let usable_ns = length.as_nanos() as u64 / 10 * 9;
        let fits = |pairs: usize, kernels: usize| {
            pairs as u64 * rounds_least * visit_ns(kernels, BATCHES[0]) <= usable_ns
        };
        let mut pairs = all_pairs(cpus);
        let all = &Kernel::ALL[..];
        let of = |pairs: usize| if fits(pairs, all.len()) { all } else { &all[..1] };
        let mut kernels = of(pairs.len());
        if cpus.len() > ALL_PAIRS_MOST || !fits(pairs.len(), kernels.len()) {
            let most = usable_ns / (rounds_least * visit_ns(kernels.len(), BATCHES[0]));
            pairs = chosen_pairs(cpus, advertised, most.max(1) as usize);
            kernels = of(pairs.len());
        }
        let count = pairs.len() as u64;
        let half_ns = length.as_nanos() as u64 / 2;
        let rounds = half_ns / (count * visit_ns(kernels.len(), BATCHES[0]));
        let rounds = rounds.clamp(rounds_least, rounds_most);
        let segments = 2 * kernels.len() as u64;
        let each_ns = (half_ns / (count * rounds)).saturating_sub(START_NS) / segments;
        let batches = each_ns.saturating_sub(MEET_NS) / BATCH_NS;
        let limit_ns = usable_ns / (count * rounds * segments);
        Plan {
            pairs,
            rounds,
            batches: batches.clamp(BATCHES[0], BATCHES[1]) as usize,
            segment_limit_ns: limit_ns.clamp(LIMITS_NS[0], LIMITS_NS[1]),
            least_visit: Duration::from_nanos(visit_ns(kernels.len(), BATCHES[0])),
            kernels: kernels.to_vec(),
            valid_least: if is_long { 200 } else { 60 },
        }
    }
}

/// What a visit takes on a machine that is not busy, in nanoseconds.
fn visit_ns(kernels: usize, batches: u64) -> u64 {
    START_NS + 2 * kernels as u64 * (MEET_NS + batches * BATCH_NS)
}

fn all_pairs(cpus: &[usize]) -> Vec<[usize; 2]> {
    let after = |at: usize| cpus[at + 1..].iter().map(move |other| [cpus[at], *other]);
    (0..cpus.len()).flat_map(after).collect()
}

/// The threads of each core, some pairs for each two groups, and the pairs within groups; of the
/// last, and then of the second, as many as `most` allows.
fn chosen_pairs(cpus: &[usize], advertised: &[Advertised], most: usize) -> Vec<[usize; 2]> {
    let mut random = Random::new(0);
    let groups = groups(cpus, advertised);
    let cores = advertised.iter().filter(|set| set.shares == Shared::Core);
    let siblings: Vec<_> = cores.flat_map(|set| all_pairs(&set.cpus)).collect();
    let mut between = Vec::new();
    for (at, group) in groups.iter().enumerate() {
        for other in &groups[at + 1..] {
            for _ in 0..REPRESENTATIVES {
                let pair = [group, other].map(|group| group[random.below(group.len())]);
                between.push([pair[0].min(pair[1]), pair[0].max(pair[1])]);
            }
        }
    }
    let mut within: Vec<_> = groups.iter().flat_map(|group| all_pairs(group)).collect();
    random.shuffle(&mut between);
    random.shuffle(&mut within);
    let mut pairs: Vec<[usize; 2]> = Vec::new();
    let mut known = std::collections::BTreeSet::new();
    for pair in siblings.into_iter().chain(between).chain(within) {
        if pairs.len() < most && known.insert(pair) {
            pairs.push(pair);
        }
    }
    pairs.sort_unstable();
    pairs
}

/// The CPUs by the outermost cache that they share, or else in runs of some CPUs.
fn groups(cpus: &[usize], advertised: &[Advertised]) -> Vec<Vec<usize>> {
    for shares in [Shared::L3, Shared::L2] {
        let sets = advertised.iter().filter(|set| set.shares == shares);
        let group_of: BTreeMap<usize, &Vec<usize>> =
            sets.flat_map(|set| set.cpus.iter().map(|cpu| (*cpu, &set.cpus))).collect();
        if cpus.iter().all(|cpu| group_of.contains_key(cpu)) {
            let mut groups: Vec<_> = group_of.into_values().cloned().collect();
            groups.sort();
            groups.dedup();
            return groups;
        }
    }
    cpus.chunks(UNKNOWN_GROUP).map(<[usize]>::to_vec).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn server(cpus: usize, a_cache: usize) -> Vec<Advertised> {
        let half = cpus / 2;
        let core = |cpu| Advertised { shares: Shared::Core, cpus: vec![cpu, cpu + half] };
        let cache = |first: usize| {
            let threads = (first..first + a_cache).chain(first + half..first + half + a_cache);
            Advertised { shares: Shared::L3, cpus: threads.collect() }
        };
        let caches = (0..half).step_by(a_cache).map(cache);
        (0..half).map(core).chain(caches).collect()
    }

    /// What a plan takes on a machine that is not busy.
    fn takes_ns(plan: &Plan) -> u64 {
        let visits = plan.rounds * plan.pairs.len() as u64;
        visits * visit_ns(plan.kernels.len(), plan.batches as u64)
    }

    #[test]
    fn plans_fit_into_their_time() {
        for (count, a_cache, seconds, all_pairs, all_kernels) in [
            (2, 1, 4.0, true, true),
            (2, 1, 35.0, true, true),
            (2, 1, 0.1, true, true),
            (16, 8, 4.0, true, true),
            (32, 8, 4.0, true, false),
            (64, 8, 4.0, false, false),
            (64, 8, 605.0, true, true),
            (128, 8, 605.0, false, true),
            (512, 8, 605.0, false, true),
            (512, 8, 4.0, false, false),
            (512, 256, 4.0, false, false),
        ] {
            let cpus: Vec<usize> = (0..count).collect();
            let length = Duration::from_secs_f64(seconds);
            let plan = Plan::of(&cpus, &server(count, a_cache.min(count / 2)), length);
            let name = format!("{count} CPUs, {seconds} s");
            assert_eq!(plan.pairs.len() == count * (count - 1) / 2, all_pairs, "{name}");
            assert_eq!(plan.kernels.len() == 3, all_kernels, "{name}");
            assert_eq!(plan.kernels[0], Kernel::TwoLines);
            assert!(plan.pairs.iter().all(|pair| pair[0] < pair[1] && pair[1] < count));
            assert!(plan.pairs.windows(2).all(|pairs| pairs[0] < pairs[1]), "{name}");
            let most = length.as_nanos() as u64;
            assert!(takes_ns(&plan) <= most, "{name}: {plan:?}");
            let visits = if seconds >= 30.0 { 20..=60 } else { 3..=12 };
            assert!(visits.contains(&plan.rounds), "{name}: {}", plan.rounds);
        }
    }

    #[test]
    fn chosen_pairs_cover_cores_and_groups() {
        let cpus: Vec<usize> = (0..128).collect();
        let advertised = server(128, 8);
        let pairs = chosen_pairs(&cpus, &advertised, 10_000);
        // 64 cores, 8 groups of 16: all pairs within, four for each two groups (or fewer, where one
        // was drawn twice).
        assert!((0..64).all(|cpu| pairs.contains(&[cpu, cpu + 64])));
        let group = |cpu: usize| cpu % 64 / 8;
        let within = pairs.iter().filter(|pair| group(pair[0]) == group(pair[1])).count();
        assert_eq!(within, 8 * 120);
        for a in 0..8 {
            for b in (0..8).filter(|b| *b != a) {
                let is_between = |pair: &&[usize; 2]| {
                    let found = [group(pair[0]), group(pair[1])];
                    found == [a, b] || found == [b, a]
                };
                assert!((1..=4).contains(&pairs.iter().filter(is_between).count()));
            }
        }
        let few = chosen_pairs(&cpus, &advertised, 200);
        assert_eq!(few.len(), 200);
        assert!((0..64).all(|cpu| few.contains(&[cpu, cpu + 64])));
        // A machine that says nothing has groups all the same.
        assert_eq!(groups(&[0, 1, 5], &[]), [[0, 1, 5]]);
        assert_eq!(groups(&cpus, &[]).len(), 16);
    }
}
