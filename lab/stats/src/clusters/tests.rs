use super::*;
use crate::coins::{Purpose, Seed, Stream};

/// A machine of sockets of caches of cores of two threads, in Linux's order: the second threads
/// come after all first ones.
struct Machine {
    sockets: usize,
    caches: usize,
    cores: usize,
}

impl Machine {
    fn cpus(&self) -> usize {
        self.sockets * self.caches * self.cores * 2
    }

    /// Returns the core, the cache and the socket of a CPU.
    fn place(&self, cpu: usize) -> [usize; 3] {
        let core = cpu % (self.cpus() / 2);
        [core, core / self.cores, core / self.cores / self.caches]
    }

    fn latency(&self, i: usize, j: usize) -> f64 {
        let (a, b) = (self.place(i), self.place(j));
        match [0, 1, 2].map(|level| a[level] == b[level]) {
            [true, ..] => 8.0,
            [_, true, _] => 24.0,
            [.., true] => 90.0,
            _ => 230.0,
        }
    }

    fn groups(&self, level: usize) -> Vec<usize> {
        (0..self.cpus()).map(|cpu| self.place(cpu)[level]).collect()
    }
}

const DUAL: Machine = Machine { sockets: 2, caches: 3, cores: 4 };

#[test]
fn nested_groups_are_found_in_spite_of_noise() {
    let mut stream = Stream::new(Seed::from_text("clusters"), Purpose::Simulation, 0, 0);
    for _ in 0..20 {
        let count = DUAL.cpus();
        let mut noise = || (0..count * count).map(|_| 1.0 + 0.1 * stream.unit()).collect();
        let noise: Vec<f64> = noise();
        let distance = |i, j| Some(DUAL.latency(i, j) * noise[i * count + j]);
        let found = partitions(count, distance, 1.25);
        assert_eq!(found.len(), 4);
        for (level, place) in [8.0, 24.0, 90.0].iter().enumerate() {
            assert_eq!(found[level].group_of, DUAL.groups(level));
            assert!((*place..place * 1.1).contains(&found[level].within));
        }
        assert_eq!(found[3].group_of, vec![0; count]);
    }
}

#[test]
fn pairs_that_were_not_seen_are_left_out() {
    // Within a cache all pairs; between caches only those of the first core.
    let seen = |i, j| {
        let (a, b) = (DUAL.place(i), DUAL.place(j));
        a[1] == b[1] || (a[0] % 4 == 0 && b[0] % 4 == 0)
    };
    let distance = |i, j| seen(i, j).then(|| DUAL.latency(i, j));
    let found = partitions(DUAL.cpus(), distance, 1.25);
    let groups: Vec<_> = found.iter().map(|partition| partition.group_of.clone()).collect();
    let expected = vec![DUAL.groups(0), DUAL.groups(1), DUAL.groups(2), vec![0; DUAL.cpus()]];
    assert_eq!(groups, expected);
}

#[test]
fn what_nothing_connects_stays_apart() {
    fn check(count: usize, known: &[(usize, usize, f64)], expected: &[&[usize]]) {
        let find = |i, j| known.iter().find(|(a, b, _)| (*a, *b) == (i, j)).map(|known| known.2);
        let found = partitions(count, find, 1.25);
        let groups: Vec<_> = found.iter().map(|partition| partition.group_of.as_slice()).collect();
        assert_eq!(groups, expected);
    }
    check(0, &[], &[]);
    check(1, &[], &[]);
    check(2, &[], &[]);
    check(2, &[(0, 1, 60.0)], &[&[0, 0]]);
    check(2, &[(0, 1, f64::NAN)], &[]);
    check(4, &[(0, 2, 60.0), (1, 3, 61.0)], &[&[0, 1, 0, 1]]);
    check(3, &[(0, 2, 60.0), (1, 2, 70.0)], &[&[0, 0, 0]]);
    check(3, &[(0, 2, 60.0), (1, 2, 80.0)], &[&[0, 1, 0], &[0, 0, 0]]);
}

#[test]
fn agreement_is_of_groups_not_of_their_names() {
    fn check(left: &[usize], right: &[usize], expected: Option<f64>) {
        let found = adjusted_rand(left, right);
        assert_eq!(found.map(|value| (value * 1e4).round() / 1e4), expected);
        assert_eq!(adjusted_rand(right, left), found);
    }
    check(&[0, 0, 1, 1, 2, 2], &[2, 2, 0, 0, 1, 1], Some(1.0));
    // By hand: c = 2, a = 6, b = 3, all = 15, so e = 1.2 and (2 - 1.2) / (4.5 - 1.2).
    check(&[0, 0, 0, 1, 1, 1], &[0, 0, 1, 1, 2, 2], Some(0.2424));
    check(&[0, 0, 0], &[0, 0, 1], None);
    check(&[0, 1, 2], &[0, 0, 1], None);
    check(&[0, 0], &[0, 0, 1], None);
    check(&[], &[], None);
}
