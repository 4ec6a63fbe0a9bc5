//! Workloads that differ in size alone: ratios over the size, and where contestants change places.

use super::block::Block;
use crate::chart::{Chart, Curve, Scale as Axis};
use crate::number::ratio;
use crate::prelude::*;
use std::cmp::Ordering;

/// The fewest sizes that make a sweep.
const SIZES_MIN: usize = 3;
/// The most curves of a chart, so that they can be told apart.
const CURVES_MAX: usize = 6;

/// The workloads of one distribution, from the smallest to the largest.
pub(crate) struct Sweep<'b, 'a> {
    blocks: Vec<&'b Block<'a>>,
}

/// A ratio to the reference on a workload of a sweep.
struct Place<'a> {
    workload: &'a str,
    size: f64,
    estimate: f64,
    limits: Option<[f64; 2]>,
}

impl Place<'_> {
    /// Whether the contestant is proven faster than the reference here, or slower.
    fn proven(&self) -> Option<Ordering> {
        match self.limits? {
            [low, _] if low > 1.0 => Some(Ordering::Greater),
            [_, high] if high < 1.0 => Some(Ordering::Less),
            _ => None,
        }
    }
}

impl<'b, 'a> Sweep<'b, 'a> {
    /// Returns the sweeps of a study: workloads of one distribution with one reference, at least
    /// three, each of another size. Whoever is void on one of them has no place on it.
    pub(crate) fn all(blocks: &'b [Block<'a>]) -> Vec<Sweep<'b, 'a>> {
        let mut sweeps: Vec<Sweep<'b, 'a>> = Vec::new();
        for block in blocks.iter().filter(|block| !block.of.workload.distribution.is_empty()) {
            let is_alike = |sweep: &&mut Sweep<'b, 'a>| {
                let first = sweep.blocks[0].of;
                first.workload.distribution == block.of.workload.distribution
                    && first.reference == block.of.reference
            };
            match sweeps.iter_mut().find(is_alike) {
                Some(sweep) => sweep.blocks.push(block),
                None => sweeps.push(Sweep { blocks: vec![block] }),
            }
        }
        for sweep in &mut sweeps {
            sweep.blocks.sort_by_key(|block| block.of.workload.size);
        }
        sweeps.retain(|sweep| {
            let sizes = sweep.blocks.iter().map(|block| block.of.workload.size);
            sweep.blocks.len() >= SIZES_MIN && sizes.is_sorted_by(|a, b| a < b)
        });
        sweeps
    }

    /// The distribution whose size it sweeps.
    pub(crate) fn name(&self) -> String {
        plain(&self.first().of.workload.distribution)
    }

    fn first(&self) -> &'b Block<'a> {
        self.blocks[0]
    }

    /// The names of the contestants that have a ratio somewhere, each once.
    fn names(&self) -> Vec<&'a str> {
        let rows = self.blocks.iter().flat_map(|block| block.rows.iter());
        each_once(rows.filter(|row| row.ratio.is_some()).map(|row| row.name.as_str()))
    }

    /// The ratios of a contestant to the reference, where there are any.
    fn places(&self, name: &str) -> Vec<Place<'a>> {
        let places = self.blocks.iter().filter_map(|block| {
            let row = block.rows.iter().find(|row| row.name == name)?;
            let ratio = row.ratio?;
            let limits = [ratio.low, ratio.high].map(finite);
            Some(Place {
                workload: &block.of.workload.name,
                size: block.of.workload.size as f64,
                estimate: finite(ratio.estimate).filter(|estimate| *estimate > 0.0)?,
                limits: limits[0].zip(limits[1]).map(|(low, high)| [low, high]),
            })
        });
        places.collect()
    }

    /// Says where a contestant and the reference change places, and between which sizes: only where
    /// both sides are proven by the intervals of their ratios.
    pub(crate) fn crossings(&self) -> Vec<String> {
        let reference = plain(&self.first().of.reference);
        let mut said = Vec::new();
        for name in self.names() {
            let places = self.places(name);
            let proven: Vec<(&Place, Ordering)> =
                places.iter().filter_map(|place| Some((place, place.proven()?))).collect();
            for pair in proven.windows(2).filter(|pair| pair[0].1 != pair[1].1) {
                let [(before, was), (after, _)] = [pair[0], pair[1]];
                let (is, becomes) = match was {
                    Ordering::Greater => ("faster", "slower"),
                    _ => ("slower", "faster"),
                };
                said.push(format!(
                    "{} is {is} than {reference} on {} and {becomes} on {}: they change places \
                     between these two sizes.",
                    plain(name),
                    plain(before.workload),
                    plain(after.workload),
                ));
            }
        }
        said
    }

    /// The contestants whose curves are drawn: first those that claims name, and those that are
    /// farthest from the reference.
    fn drawn(&self) -> Vec<&'a str> {
        let claims = self.blocks.iter().flat_map(|block| super::claims(block.run));
        let claimed: Vec<&str> = claims
            .flat_map(|claim| [Some(claim.left.as_str()), claim.right.as_deref()])
            .flatten()
            .collect();
        let mut names: Vec<(bool, f64, &str)> = Vec::new();
        for name in self.names() {
            let places = self.places(name);
            let far = places.iter().map(|place| place.estimate.ln().abs()).fold(0.0, f64::max);
            if places.len() >= 2 {
                names.push((claimed.contains(&name), far, name));
            }
        }
        names.sort_by(|a, b| b.0.cmp(&a.0).then(b.1.total_cmp(&a.1)));
        names.truncate(CURVES_MAX);
        names.into_iter().map(|(.., name)| name).collect()
    }

    /// How many times as fast as the reference some contestants are, over the size, with intervals;
    /// `None` without a ratio on two sizes.
    pub(crate) fn chart(&self) -> Option<Chart> {
        let of = self.first().of;
        let curves = self.drawn().into_iter().enumerate().map(|(place, name)| {
            let places = self.places(name);
            let points = places.iter().map(|place| (place.size, place.estimate)).collect();
            let limits = places.iter().filter_map(|place| Some((place.size, place.limits?)));
            Curve { name: plain(name), place, points, limits: limits.collect() }
        });
        let x = Axis::new(format!("size of {}", self.name()), true, size);
        let y = Axis::new("", true, |value| ratio(value, 2, Rounding::Nearest));
        let title = format!("how many times as fast as {}, over the size", plain(&of.reference));
        let mut chart = Chart::new(title, [x, y], Vec::<(String, _)>::new());
        chart.curves = curves.collect();
        (!chart.curves.is_empty()).then_some(chart)
    }
}

/// Writes a size: `100`, `10k`, `1M`.
fn size(size: f64) -> String {
    match size {
        1e9.. => format!("{}G", size / 1e9),
        1e6.. => format!("{}M", size / 1e6),
        1e3.. => format!("{}k", size / 1e3),
        _ => size.to_string(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tests::fixture::study::studied;
    use tiebreak_core::result::{EffectResult, StudyResult};

    /// A study of three sizes, on which a contestant has these limits.
    fn swept(limits: [[f64; 2]; 3]) -> StudyResult {
        let mut study = studied();
        let first = study.runs[0].clone();
        study.runs.clear();
        for (index, [low, high]) in limits.into_iter().enumerate() {
            let mut run = first.clone();
            let block = run.study.as_mut().unwrap();
            block.workload.size = 10u64.pow(index as u32 + 2);
            block.workload.name = format!("n-{}", block.workload.size);
            let (reference, rows) = (block.reference.clone(), block.rows.iter_mut());
            for row in rows.filter(|row| row.name != reference && row.ratio.is_some()) {
                let estimate = Some((low * high).sqrt());
                let (low, high) = (Some(low), Some(high));
                row.ratio = Some(EffectResult { estimate, low, high, confidence: 0.99 });
            }
            study.runs.push(run);
        }
        study.runs.reverse();
        study
    }

    #[test]
    fn places_are_changed_only_where_both_sides_are_proven() {
        let said = |limits| {
            let study = swept(limits);
            let blocks: Vec<Block> = study.runs.iter().filter_map(Block::of).collect();
            let sweeps = Sweep::all(&blocks);
            assert_eq!(sweeps.len(), 1);
            let chart = sweeps[0].chart().unwrap();
            assert!(chart.curves.iter().all(|curve| curve.limits.len() == 3));
            sweeps[0].crossings()
        };
        let crossed = said([[1.5, 1.6], [0.9, 1.1], [0.5, 0.6]]);
        assert!(crossed[0].contains("on n-100 and slower on n-10000"), "{crossed:?}");
        assert!(said([[1.5, 1.6], [1.1, 1.2], [0.9, 1.3]]).is_empty());
        let nearer = said([[0.5, 0.6], [0.7, 0.8], [1.1, 1.2]]);
        assert!(nearer[0].contains("on n-1000 and faster on n-10000"), "{nearer:?}");
    }

    #[test]
    fn workloads_of_two_sizes_are_no_sweep() {
        let mut study = swept([[1.5, 1.6]; 3]);
        study.runs.pop();
        let blocks: Vec<Block> = study.runs.iter().filter_map(Block::of).collect();
        assert!(Sweep::all(&blocks).is_empty());
    }
}
