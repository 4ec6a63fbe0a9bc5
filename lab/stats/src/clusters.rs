//! Groups of things that are near each other, by the distances between them.
//!
//! The method is agglomerative with average linkage (Sokal and Michener 1958) on the logarithm of
//! the distance, so that the factor between two distances counts. Distances between CPUs are nested
//! (threads of a core, cores of a cache, sockets), so each height at which merging pauses is a
//! partition, not only the largest one.

use crate::modes::{is_usable, median};

/// A partition, and the distance between its members.
#[derive(Clone, Debug, PartialEq)]
pub struct Partition {
    /// The group of each thing; groups are numbered in the order of their first thing.
    pub group_of: Vec<usize>,
    /// The median distance of the pairs that are together here and in no finer partition.
    pub within: f64,
}

/// Returns the partitions at which merging pauses: the next two groups to be merged are at least
/// `gap` times as far from each other as all that were merged before. They go from the finest to
/// the coarsest; the last one connects everything that known distances connect. The result is empty
/// if no distance is known.
///
/// The function calls `distance` for each pair `(i, j)` with `i < j` below `count`. A distance that
/// is unknown, or not positive and finite, is left out of the averages, and groups without a known
/// distance are not merged. Memory: `count` squared; time: its cube, half a second for 1000.
///
/// ```
/// let places = [0, 0, 1, 1];
/// let distance = |i: usize, j: usize| Some(if places[i] == places[j] { 20.0 } else { 90.0 });
/// let found = tiebreak_stats::clusters::partitions(4, distance, 1.25);
/// assert_eq!(found[0].group_of, [0, 0, 1, 1]);
/// assert_eq!((found[0].within, found[1].within), (20.0, 90.0));
/// ```
pub fn partitions(
    count: usize,
    distance: impl Fn(usize, usize) -> Option<f64>,
    gap: f64,
) -> Vec<Partition> {
    let known = |i: usize, j: usize| distance(i.min(j), i.max(j)).filter(is_usable);
    let merges = merges(count, &known);
    let log_gap = libm::log(gap);
    let mut group_of: Vec<usize> = (0..count).collect();
    let mut found: Vec<Partition> = Vec::new();
    let mut top = f64::NEG_INFINITY;
    for (at, merge) in merges.iter().enumerate() {
        for group in &mut group_of {
            *group = if *group == merge.away { merge.kept } else { *group };
        }
        top = top.max(merge.height);
        let next = merges.get(at + 1).map(|next| next.height);
        if next.is_none_or(|next| next - top >= log_gap) {
            let group_of = counted(&group_of);
            let finer = found.last().map(|partition| partition.group_of.as_slice());
            let within = within(&group_of, finer, &known);
            found.extend(within.map(|within| Partition { group_of, within }));
        }
    }
    found
}

/// Two groups that become one.
struct Merge {
    kept: usize,
    away: usize,
    /// The mean logarithm of the distances between the two.
    height: f64,
}

fn merges(count: usize, known: &impl Fn(usize, usize) -> Option<f64>) -> Vec<Merge> {
    // The sum of the known logarithms between two groups, and the number of its terms.
    let of_pair = |i: usize, j: usize| match (i != j).then(|| known(i, j)).flatten() {
        Some(distance) => (libm::log(distance), 1.0),
        None => (0.0, 0.0),
    };
    let mut linkage: Vec<Vec<(f64, f64)>> =
        (0..count).map(|i| (0..count).map(|j| of_pair(i, j)).collect()).collect();
    let mut alive: Vec<usize> = (0..count).collect();
    let mut merges = Vec::new();
    loop {
        let mut nearest: Option<Merge> = None;
        for (at, &kept) in alive.iter().enumerate() {
            for &away in &alive[at + 1..] {
                let (sum, terms) = linkage[kept][away];
                let height = sum / terms;
                let is_nearer = nearest.as_ref().is_none_or(|nearest| height < nearest.height);
                if terms > 0.0 && is_nearer {
                    nearest = Some(Merge { kept, away, height });
                }
            }
        }
        let Some(merge) = nearest else { return merges };
        for other in (0..count).filter(|other| *other != merge.kept && *other != merge.away) {
            let (one, two) = (linkage[merge.kept][other], linkage[merge.away][other]);
            let sum = (one.0 + two.0, one.1 + two.1);
            (linkage[merge.kept][other], linkage[other][merge.kept]) = (sum, sum);
        }
        alive.retain(|group| *group != merge.away);
        merges.push(merge);
    }
}

/// Returns the same groups, numbered from 0 in the order of their first thing.
fn counted(groups: &[usize]) -> Vec<usize> {
    let mut seen = std::collections::BTreeMap::new();
    let numbers = groups.iter().map(|group| {
        let next = seen.len();
        *seen.entry(group).or_insert(next)
    });
    numbers.collect()
}

fn within(
    group_of: &[usize],
    finer: Option<&[usize]>,
    known: &impl Fn(usize, usize) -> Option<f64>,
) -> Option<f64> {
    let mut distances = Vec::new();
    for i in 0..group_of.len() {
        for j in i + 1..group_of.len() {
            let is_new = finer.is_none_or(|finer| finer[i] != finer[j]);
            if group_of[i] == group_of[j] && is_new {
                distances.extend(known(i, j));
            }
        }
    }
    median(&distances)
}

/// Measures how well two partitions of the same things agree: the adjusted Rand index (Hubert and
/// Arabie 1985, equation 5), 1 for equal ones and 0 on average for unrelated ones of the same
/// sizes.
///
/// With `n` things, `a` and `b` are the sums of `size (size - 1) / 2` over the groups of either,
/// and `c` is the same sum over the groups that both together make. The index is
/// `(c - e) / ((a + b) / 2 - e)`, where `e = a b / (n (n - 1) / 2)`. Returns `None` where it is
/// undefined: one partition is a single group or all single things, or the partitions are not of
/// the same things.
///
/// ```
/// use tiebreak_stats::clusters::adjusted_rand;
/// assert_eq!(adjusted_rand(&[0, 0, 1, 1], &[5, 5, 3, 3]), Some(1.0));
/// assert_eq!(adjusted_rand(&[0, 0, 1, 1], &[0, 1, 0, 1]), Some(-0.5));
/// ```
pub fn adjusted_rand(left: &[usize], right: &[usize]) -> Option<f64> {
    if left.len() != right.len() {
        return None;
    }
    let both: Vec<(usize, usize)> = left.iter().copied().zip(right.iter().copied()).collect();
    let all = pairs(left.len());
    let [a, b, c] = [together(left), together(right), together(&both)];
    if [a, b].iter().any(|pairs| *pairs == 0.0 || *pairs == all) {
        return None;
    }
    // Both sides of the fraction times `all`: every term is then a whole number, or half of one.
    Some((c * all - a * b) / ((a + b) / 2.0 * all - a * b))
}

/// Counts the pairs of things that are in one group.
fn together<T: Copy + Ord>(groups: &[T]) -> f64 {
    let mut sorted = groups.to_vec();
    sorted.sort_unstable();
    sorted.chunk_by(|a, b| a == b).map(|group| pairs(group.len())).sum()
}

fn pairs(count: usize) -> f64 {
    (count * count.saturating_sub(1) / 2) as f64
}

#[cfg(test)]
mod tests;
