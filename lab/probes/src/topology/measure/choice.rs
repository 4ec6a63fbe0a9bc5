//! Which pairs of CPUs are measured.

use super::*;

/// The most pairs that the machine says share a core.
const ADVERTISED_PAIRS: usize = 32;
/// The most others.
const OTHER_PAIRS: usize = 32;

/// The pairs to be measured among some CPUs: those that are told to share a core first, then a
/// sample of the others, among them neighbours by number, which is where a hypervisor hides
/// siblings.
pub(super) fn wanted(told: &[Cpu], cpus: &[usize]) -> Vec<PairReading> {
    let cores: BTreeMap<_, _> = told.iter().filter_map(|cpu| Some((cpu.cpu, cpu.core?))).collect();
    let is_told = |a: usize, b: usize| Some(cores.get(&a)? == cores.get(&b)?);
    let mut pairs = Vec::new();
    for (index, a) in cpus.iter().enumerate() {
        for b in &cpus[index + 1..] {
            pairs.push(([*a, *b], is_told(*a, *b)));
        }
    }
    let (siblings, others): (Vec<_>, Vec<_>) =
        pairs.into_iter().partition(|(_, told)| *told == Some(true));
    let chosen = spread(&siblings, ADVERTISED_PAIRS).into_iter().chain(sample(&others));
    let one = |(cpus, is_advertised)| PairReading { cpus, is_advertised, ..PairReading::default() };
    chosen.map(one).collect()
}

type AdvertisedPair = ([usize; 2], Option<bool>);

/// Half of them neighbours, the rest from anywhere.
fn sample(others: &[AdvertisedPair]) -> Vec<AdvertisedPair> {
    if others.len() <= OTHER_PAIRS {
        return others.to_vec();
    }
    let (near, far): (Vec<_>, Vec<_>) =
        others.iter().copied().partition(|([a, b], _)| a.abs_diff(*b) == 1);
    let near = spread(&near, OTHER_PAIRS / 2);
    let far = spread(&far, OTHER_PAIRS - near.len());
    [near, far].concat()
}

/// So many of them, at equal distances.
fn spread(pairs: &[AdvertisedPair], most: usize) -> Vec<AdvertisedPair> {
    let count = pairs.len().min(most);
    (0..count).map(|index| pairs[index * pairs.len() / count]).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn cpu(cpu: usize, core: Option<usize>) -> Cpu {
        Cpu { cpu, is_online: true, is_allowed: true, core, ..Cpu::default() }
    }

    fn pairs(told: &[Cpu]) -> Vec<([usize; 2], Option<bool>)> {
        let cpus: Vec<usize> = told.iter().map(|cpu| cpu.cpu).collect();
        wanted(told, &cpus).iter().map(|pair| (pair.cpus, pair.is_advertised)).collect()
    }

    #[test]
    fn advertised_pairs_come_first_and_the_sample_is_bounded() {
        let small = [cpu(0, Some(0)), cpu(1, Some(1)), cpu(2, Some(0))];
        let expected =
            [([0, 2], Some(true)), ([0, 1], Some(false)), ([1, 2], Some(false))].to_vec();
        assert_eq!(pairs(&small), expected);
        assert_eq!(pairs(&[cpu(3, None), cpu(5, None)]), [([3, 5], None)]);
        assert_eq!(pairs(&[cpu(3, None)]), []);
        let large: Vec<Cpu> = (0..256).map(|n| cpu(n, Some(n % 128))).collect();
        let chosen = pairs(&large);
        let told = chosen.iter().filter(|(_, told)| *told == Some(true)).count();
        let near = chosen.iter().filter(|([a, b], _)| a + 1 == *b).count();
        assert_eq!((told, near, chosen.len()), (ADVERTISED_PAIRS, OTHER_PAIRS / 2, 64));
        let mut distinct = chosen.clone();
        distinct.sort_unstable();
        distinct.dedup();
        assert_eq!(distinct.len(), chosen.len());
    }
}
