//! Contestants on several threads: a row a number of threads, and a curve a contestant.

use super::block::{Block, ratio_texts, speed};
use super::figure::digits;
use crate::chart::{Chart, Scale as Axis};
use crate::number::Scale;
use crate::prelude::*;
use std::collections::BTreeMap;
use tiebreak_core::result::Scaling;

/// The least points of a curve for which a chart is drawn.
const POINTS_MIN: usize = 3;

/// The rows of contestants on a number of threads: all of one contestant together, the one that
/// does most in a second first, by its ratio to the reference times its threads; where there are no
/// ratios, by its throughput.
pub(super) fn rows<'a>(block: &Block<'a>) -> Vec<(&'a StudyRow, &'a Scaling)> {
    let rows = block.rows.iter();
    let mut rows: Vec<_> = rows.filter_map(|row| Some((*row, row.scaling.as_ref()?))).collect();
    let has_ratios = block.rows.iter().any(|row| speed(block.of, row).is_some());
    let mut best: BTreeMap<&str, f64> = BTreeMap::new();
    for (row, of) in &rows {
        let speed = if has_ratios {
            speed(block.of, row).map(|speed| speed * f64::from(of.threads))
        } else {
            finite(of.items_per_s)
        };
        let best = best.entry(&of.family).or_default();
        *best = best.max(speed.unwrap_or(0.0));
    }
    rows.sort_by(|(_, a), (_, b)| {
        let by_family = best[b.family.as_str()].total_cmp(&best[a.family.as_str()]);
        by_family.then_with(|| a.family.cmp(&b.family)).then(a.threads.cmp(&b.threads))
    });
    rows
}

/// The columns of the table, the first of them the names; none if no contestant runs on a number
/// of threads.
pub(crate) fn table(block: &Block) -> Vec<Column> {
    let rows = rows(block);
    if rows.is_empty() {
        return Vec::new();
    }
    let [efficiency, limits] = transposed(rows.iter().map(|(_, of)| efficiency(of)));
    let speeds =
        cells(&rows, |(_, of)| or_none(finite(of.items_per_s).map(|speed| digits(speed / 1e6))));
    vec![
        Column::left("", cells(&rows, |(_, of)| plain(&of.family))),
        Column::right("threads", cells(&rows, |(_, of)| of.threads.to_string())),
        Column::decimal(&block.title(), cells(&rows, |(row, _)| block.times(row)[0].clone()))
            .rank(2),
        Column::decimal("M/s", speeds),
        Column::decimal("efficiency", efficiency),
        Column::left("interval", limits).rank(1),
        Column::right("together", cells(&rows, |(_, of)| together(of))).rank(3),
    ]
}

/// What the table shows, in a few words.
pub(crate) fn per_second(block: &Block) -> String {
    format!(
        "on several threads; M/s are millions of {}s a second, if all threads are as fast as the \
         timed one",
        block.item()
    )
}

/// The efficiency and its limits; on one thread it is 1 by what it means.
fn efficiency(of: &Scaling) -> [String; 2] {
    if of.threads == 1 {
        return ["1x", "-"].map(str::to_owned);
    }
    let Scaling { efficiency: estimate, efficiency_low: low, efficiency_high: high, .. } = *of;
    ratio_texts(EffectResult { estimate, low, high, confidence: 1.0 })
}

/// The share of units with proof; one thread needs none.
fn together(of: &Scaling) -> String {
    match (of.threads, of.units) {
        (1, _) | (_, 0) => "-".to_owned(),
        (_, units) => percent(of.together as f64 / units as f64, Rounding::Down),
    }
}

/// Throughput against threads; nothing where no contestant has points enough.
pub(super) fn chart(block: &Block) -> Option<Chart> {
    let mut curves: Vec<(String, Vec<(f64, f64)>)> = Vec::new();
    for (_, of) in rows(block) {
        let Some(speed) = finite(of.items_per_s).filter(|speed| *speed > 0.0) else { continue };
        let (family, point) = (plain(&of.family), (f64::from(of.threads), speed));
        match curves.iter_mut().find(|(name, _)| *name == family) {
            Some((_, points)) => points.push(point),
            None => curves.push((family, vec![point])),
        }
    }
    let item = block.item();
    let x = Axis::new("threads", true, |value| format!("{value:.0}"));
    let y =
        Axis::new(format!("{item}s/s"), true, |value| Scale::of(Unit::Count, value).write(value));
    let is_drawn = curves.iter().any(|(_, points)| points.len() >= POINTS_MIN);
    is_drawn.then(|| Chart::new(format!("{item}s a second, all threads together"), [x, y], curves))
}

/// What the columns mean; nothing where there are none.
pub(super) fn meaning(blocks: &[Block]) -> Option<String> {
    let all = blocks.iter().flat_map(|block| &block.of.rows);
    let (mut units, mut together) = (0, 0);
    for of in all.filter_map(|row| row.scaling.as_ref()).filter(|of| of.threads > 1) {
        (units, together) = (units + of.units, together + of.together);
    }
    if units == 0 {
        return None;
    }
    let share = percent(together as f64 / units as f64, Rounding::Down);
    Some(format!(
        "On several threads one is timed while the others, each on a CPU and a state of its own, \
         do the same. 'efficiency': what a call takes on one thread over what it takes next to the \
         others, by the claim about the two, or by their ratio where there is none. 'together': \
         the share of units in most of whose batches each of the others was seen to make at least \
         half as many calls as the timed one; of all units on several threads, {share}. The rest \
         stay in the evidence, and make threads look better than they are: where they are half of \
         the units or more, M/s and efficiency are not given."
    ))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tests::fixture::threads::{on_threads, threaded};

    #[test]
    fn rows_stand_by_contestant_and_curves_need_three_points() {
        let mut study = threaded();
        let order = |study: &tiebreak_core::result::StudyResult| {
            let block = Block::of(&study.runs[0]).unwrap();
            let name = |(row, _): (&StudyRow, _)| row.name.clone();
            let names: Vec<String> = rows(&block).into_iter().map(name).collect();
            (names.join(" "), chart(&block))
        };
        let (names, none) = order(&study);
        assert_eq!(names, "naive-x1 naive-x8 locked-x1 locked-x8");
        assert!(none.is_none());
        let block = study.runs[0].study.as_mut().unwrap();
        block.rows.push(on_threads("naive", 4, 2.0, None));
        let (names, chart) = order(&study);
        assert_eq!(names, "naive-x1 naive-x4 naive-x8 locked-x1 locked-x8");
        let curves = chart.unwrap().curves;
        let points =
            |curve: &crate::chart::Curve| curve.points.iter().map(|(x, _)| *x).collect::<Vec<_>>();
        assert_eq!(
            curves.iter().map(points).collect::<Vec<_>>(),
            [vec![1.0, 4.0, 8.0], vec![1.0, 8.0]]
        );
        let speed = curves[0].points[1].1;
        assert!((speed / 2e9 - 1.0).abs() < 1e-9, "four threads at 2 ns an item: {speed}");
    }

    #[test]
    fn what_has_no_threads_has_no_table() {
        let study = crate::tests::fixture::study::studied();
        let blocks: Vec<Block> = study.runs.iter().filter_map(Block::of).collect();
        assert!(blocks.iter().all(|block| table(block).is_empty() && chart(block).is_none()));
        assert_eq!(meaning(&blocks), None);
    }
}
