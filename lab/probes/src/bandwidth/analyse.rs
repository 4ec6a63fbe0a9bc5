//! Bandwidth: computes the finding from the probe's reading.

use super::measure::{self, CellReading};
use crate::tools::*;
use crate::{Bandwidth, BandwidthCurve, BandwidthKnee, BandwidthPoint, Traffic};
use tiebreak_machine::fingerprint;
use tiebreak_stats::knee::knee;

/// The knee is the number of threads that gives this share of the best bandwidth.
const KNEE_SHARE: f64 = 0.95;
/// A look that is shorter than this sees one of the placements of a virtual machine's CPUs.
const LONG_LOOK: Duration = Duration::from_secs(30);

/// Probes the machine.
pub(crate) fn probe(options: &Options<'_>, budget: &mut Budget<'_>) -> Probed<Bandwidth> {
    let length = budget.length();
    probed(measure::Bandwidth::new(&options.cpus), |probe| {
        probe.measure(budget).map(|reading, reasons| {
            let is_guest = fingerprint::read().is_guest();
            reasons.extend(placed(is_guest, reading.found.cpus.len(), length));
            Bandwidth { curves: curves(&reading.cells), ..reading.found }
        })
    })
}

/// Returns the reason against rates of several threads of a virtual machine. One of two CPUs gave
/// 44 to 55 GB/s to two threads in six of ten short looks and 82 to 85 in the others, each all the
/// time.
fn placed(is_guest: bool, cpus: usize, length: Duration) -> Option<String> {
    (is_guest && cpus > 1 && length < LONG_LOOK).then(|| {
        "of several threads this is one placement: a hypervisor moves CPUs, and two of them may \
         share a link to memory now and not then"
            .to_owned()
    })
}

/// Returns the curves that have points, pinned ones first.
fn curves(cells: &[CellReading]) -> Vec<BandwidthCurve> {
    let kinds = [true, false]
        .into_iter()
        .flat_map(|is_pinned| Traffic::ALL.into_iter().map(move |traffic| (traffic, is_pinned)));
    let curves = kinds.map(|(traffic, is_pinned)| {
        let cells =
            cells.iter().filter(|cell| (cell.traffic, cell.is_pinned) == (traffic, is_pinned));
        let rounds: Vec<(u64, Vec<Option<f64>>)> =
            cells.clone().map(|cell| (cell.threads as u64, cell.rounds.clone())).collect();
        let knee = knee(&rounds, KNEE_SHARE).map(|knee| BandwidthKnee {
            threads: knee.size as u32,
            low_threads: knee.low as u32,
            high_threads: knee.high as u32,
            agreeing_share: knee.agreeing_share,
        });
        BandwidthCurve { traffic, is_pinned, points: cells.filter_map(point).collect(), knee }
    });
    curves.filter(|curve| !curve.points.is_empty()).collect()
}

fn point(cell: &CellReading) -> Option<BandwidthPoint> {
    let known = cell.rounds.iter().copied().flatten();
    Some(BandwidthPoint {
        threads: cell.threads as u32,
        bytes_per_s: cell.bytes_per_s?,
        low_bytes_per_s: known.clone().min_by(f64::total_cmp)?,
        high_bytes_per_s: known.clone().max_by(f64::total_cmp)?,
        parts_bytes_per_s: cell.parts.clone(),
        rounds: known.count() as u32,
        windows: cell.windows,
        windows_kept: cell.windows_kept,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn cell(traffic: Traffic, is_pinned: bool, threads: usize, rounds: &[f64]) -> CellReading {
        let rounds: Vec<Option<f64>> =
            rounds.iter().map(|rate| Some(*rate).filter(|rate| *rate > 0.0)).collect();
        let bytes_per_s = rounds.iter().copied().flatten().reduce(f64::max);
        let (windows, windows_kept) = (30, 12);
        let parts = rounds.iter().copied().flatten().collect();
        CellReading {
            traffic,
            is_pinned,
            threads,
            bytes_per_s,
            rounds,
            parts,
            windows,
            windows_kept,
        }
    }

    #[test]
    fn several_threads_of_a_guest_are_in_doubt() {
        fn check(is_guest: bool, cpus: usize, seconds: u64, expected: bool) {
            assert_eq!(placed(is_guest, cpus, Duration::from_secs(seconds)).is_some(), expected);
        }
        check(true, 2, 15, true);
        check(true, 2, 30, false);
        check(true, 1, 15, false);
        check(false, 64, 15, false);
    }

    #[test]
    fn curves_hold_the_best_the_rounds_and_a_knee() {
        let cells = [
            cell(Traffic::Read, false, 1, &[9.0, 0.0, 11.0]),
            cell(Traffic::Touch, true, 1, &[0.0]),
            cell(Traffic::Read, true, 1, &[10.0, 12.0, 11.0]),
            cell(Traffic::Read, true, 2, &[20.0, 22.0, 11.0]),
        ];
        let curves = curves(&cells);
        let kinds: Vec<_> = curves.iter().map(|curve| (curve.traffic, curve.is_pinned)).collect();
        assert_eq!(kinds, [(Traffic::Read, true), (Traffic::Read, false)]);
        let [one, two] = &curves[0].points[..] else { panic!("{curves:?}") };
        assert_eq!((one.threads, one.bytes_per_s, one.rounds), (1, 12.0, 3));
        assert_eq!(one.parts_bytes_per_s, [10.0, 12.0, 11.0]);
        assert_eq!((two.low_bytes_per_s, two.high_bytes_per_s), (11.0, 22.0));
        let knee = curves[0].knee.as_ref().unwrap();
        assert_eq!((knee.threads, knee.low_threads, knee.high_threads), (2, 1, 2));
        assert_eq!(knee.agreeing_share, 2.0 / 3.0);
        assert_eq!((curves[1].points[0].bytes_per_s, curves[1].points[0].rounds), (11.0, 2));
    }
}
