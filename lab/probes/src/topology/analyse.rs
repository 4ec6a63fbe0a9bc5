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
        found.sharing = measure_pairs(pairs, budget).map(|pairs, _| Sharing {
            pairs: pairs.into_iter().filter_map(judged).collect(),
            pairs_possible: count * count.saturating_sub(1) / 2,
            threshold: THRESHOLD,
        });
        budget.tell(0.6);
        found.compilers = options.lab.compilers(budget.left(), budget.interrupted());
        Probed::of(found, reasons)
    })
}

fn judged(PairReading { pair, rounds }: PairReading) -> Option<Pair> {
    let slowdowns: Vec<f64> = rounds.iter().map(|[alone, together]| together / alone).collect();
    let judged = core_sharing(&slowdowns)?;
    let [alone_ns, together_ns] =
        [0, 1].map(|kind| median(&rounds.iter().map(|round| round[kind]).collect::<Vec<f64>>()));
    Some(Pair {
        shares: judged.shares,
        slowdown: judged.slowdown,
        shared_rounds: judged.shared_rounds,
        rounds: rounds.len(),
        alone_ns: alone_ns?,
        together_ns: together_ns?,
        ..pair
    })
}

#[cfg(test)]
mod tests {
    use super::*;

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
        let rounds = vec![[50.0, 95.0], [50.0, 100.0], [60.0, 102.0]];
        let pair = Pair { is_advertised: Some(false), batches: 300, ..Pair::default() };
        let pair = judged(PairReading { pair, rounds }).unwrap();
        assert!(pair.is_wrong());
        assert_eq!((pair.shares, pair.slowdown, pair.rounds), (Some(true), 1.9, 3));
        assert_eq!((pair.alone_ns, pair.together_ns, pair.batches), (50.0, 100.0, 300));
    }
}
