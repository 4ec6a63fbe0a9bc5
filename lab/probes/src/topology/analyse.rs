//! Topology: from what the probe saw to what is reported.

use crate::tools::*;
use crate::topology::measure::{self as topology, PairReading, Reading};
use crate::{Pair, Sharing, Topology};
use tiebreak_stats::core_sharing::{THRESHOLD, core_sharing};
use tiebreak_stats::modes::median;

/// Probes the machine, and asks the compilers for their versions in the time that is left.
pub(crate) fn probe(options: &Options<'_>, budget: &mut Budget<'_>) -> Probed<Topology> {
    probed(topology::Topology::new(&options.cpus), |probe| {
        let seen = probe.measure(budget);
        budget.tell(0.6);
        let compilers = options.lab.compilers(budget.left(), budget.interrupted());
        seen.map(|reading: Reading, _| Topology {
            sharing: sharing(reading.pairs, reading.pairs_possible),
            compilers,
            ..reading.found
        })
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

    #[test]
    fn rounds_become_a_judgement() {
        let round = |alone_ns, together_ns| topology::Round { alone_ns, together_ns };
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
