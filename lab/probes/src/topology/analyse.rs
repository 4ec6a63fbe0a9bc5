//! Topology: from what the probe saw to what is reported.

use crate::tools::*;
use crate::topology::measure::{PairReading, measure_pairs, read, wanted};
use crate::{Pair, Sharing, Topology};
use tiebreak_stats::core_sharing::{THRESHOLD, core_sharing};
use tiebreak_stats::modes::median;

/// Probes the machine, and asks the compilers for their versions in the time that is left.
pub(crate) fn probe(options: &Options<'_>, budget: &mut Budget<'_>) -> Probed<Topology> {
    probed(read(&Tree::at(Path::new("/")), &cpus::allowed()), |(mut found, reasons)| {
        let (pairs, count) = (wanted(&found.cpus, &options.cpus), options.cpus.len());
        let pairs_possible = count * count.saturating_sub(1) / 2;
        found.sharing = sharing(measure_pairs(pairs, budget), pairs_possible);
        budget.tell(0.6);
        found.compilers = options.lab.compilers(budget.left(), budget.interrupted());
        Probed::of(found, reasons)
    })
}

fn sharing(pairs: Probed<Vec<PairReading>>, pairs_possible: usize) -> Probed<Sharing> {
    pairs.map(|pairs, _| Sharing {
        pairs: pairs.iter().filter_map(judged).collect(),
        pairs_possible,
        threshold: THRESHOLD,
    })
}

fn judged(pair: &PairReading) -> Option<Pair> {
    let rounds = &pair.rounds;
    let slowdowns: Vec<f64> =
        rounds.iter().map(|round| round.together_ns as f64 / round.alone_ns as f64).collect();
    let judged = core_sharing(&slowdowns)?;
    // A round holds the sum over both CPUs.
    let alone: Vec<f64> = rounds.iter().map(|round| round.alone_ns as f64 / 2.0).collect();
    let together: Vec<f64> = rounds.iter().map(|round| round.together_ns as f64 / 2.0).collect();
    Some(Pair {
        cpus: pair.cpus,
        is_advertised: pair.is_advertised,
        shares: judged.shares,
        slowdown: judged.slowdown,
        shared_rounds: judged.shared_rounds,
        rounds: rounds.len(),
        alone_ns: median(&alone)?,
        together_ns: median(&together)?,
        batches: pair.batches,
        invalid_batches: pair.invalid_batches,
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::topology::measure::Round;

    #[test]
    fn this_machine_has_the_cpus_that_we_may_use() {
        let flag = AtomicBool::new(false);
        let mut progress = |_: f64| {};
        let mut budget = Budget::new(Duration::from_millis(300), &flag, &mut progress);
        let cpus = cpus::allowed();
        let probed = probe(&crate::finding::tests::options(cpus.clone()), &mut budget);
        let found = probed.value().unwrap();
        let allowed: Vec<_> = found.cpus.iter().filter(|c| c.is_allowed).map(|c| c.cpu).collect();
        assert_eq!(allowed, cpus);
        let sharing = found.sharing.value();
        let possible = cpus.len() * (cpus.len() - 1) / 2;
        assert!(sharing.is_none_or(|sharing| sharing.pairs_possible == possible));
        if cpus.len() == 1 {
            assert_eq!(sharing, None);
        }
    }

    #[test]
    fn rounds_become_a_judgement() {
        let round = |alone_ns, together_ns| Round { alone_ns, together_ns };
        let rounds = vec![round(100, 190), round(100, 200), round(120, 204)];
        let pair = PairReading {
            cpus: [0, 1],
            is_advertised: Some(false),
            rounds,
            batches: 300,
            invalid_batches: 7,
        };
        let sharing = sharing(Probed::of(vec![pair], Vec::new()), 1);
        let found = sharing.value().unwrap();
        assert_eq!(found.disagreements().count(), 1);
        let pair = &found.pairs[0];
        assert_eq!((pair.shares, pair.slowdown, pair.rounds), (Some(true), 1.9, 3));
        assert_eq!((pair.alone_ns, pair.together_ns), (50.0, 100.0));
    }
}
