//! The cache line: from what the probe saw to what is said of it.

use super::measure as cacheline;
use crate::tools::*;
use crate::{
    Cacheline, FlushPoint, LineAnswer, LineMethod, LineMissing, SharingPoint, StridedGain,
};
use tiebreak_stats::change_points::{levels, shares};

/// A line ends where the share of slow loads differs by so much from that of the nearest ones. That
/// it differs at all is proven by then; less would be of no account.
const CLEARLY: f64 = 0.01;
/// Lengths of a line that the published rule is tried on.
const LENGTHS: [u64; 5] = [16, 32, 64, 128, 256];
/// Quartiles of the published ratio lie within so many times each other.
const UNSTEADY: f64 = 1.5;
/// A thread that had no CPU for more than this share of its time was disturbed.
const AWAY: f64 = 0.05;
/// The published rule: "as soon as you use a stride that is twice the cache line, you should be
/// more than 50% faster".
const PUBLISHED_GAIN: f64 = 1.5;

/// Probes the machine.
pub(crate) fn probe(options: &Options<'_>, budget: &mut Budget<'_>) -> Probed<Cacheline> {
    probed(cacheline::Cacheline::new(&options.cpus), |probe| probe.measure(budget).map(found))
}

fn found(reading: cacheline::Reading, reasons: &mut Vec<String>) -> Cacheline {
    let mut missing = Vec::new();
    let (flushed, loaded) = (reading.flush.clone(), reading.flush);
    let flushed = flushed.map(|seen| seen.flushed);
    let flushed = taken(flushed, LineMethod::FlushedTogether, &mut missing);
    let loaded = taken(loaded.map(|seen| seen.loaded), LineMethod::LoadedTogether, &mut missing);
    let sharing = taken(reading.sharing, LineMethod::Sharing, &mut missing);
    let strided = taken(reading.strided, LineMethod::Strided, &mut missing);
    reasons.extend(unsteady(&strided));
    let shared = |point: FlushPoint| FlushPoint {
        slow_share: point.slow as f64 / point.loads as f64,
        ..point
    };
    let [flushed, loaded] =
        [flushed, loaded].map(|points| points.into_iter().map(shared).collect::<Vec<_>>());
    let gains: Vec<_> = LENGTHS.iter().filter_map(|length| gain(&strided, *length)).collect();
    let strided = strided.iter().map(|point| point.found).collect();
    let says =
        |method, is_there: bool, line_bytes| is_there.then_some(LineAnswer { method, line_bytes });
    let said: Vec<LineAnswer> = [
        says(LineMethod::FlushedTogether, !flushed.is_empty(), line_end(&flushed)),
        says(LineMethod::LoadedTogether, !loaded.is_empty(), line_end(&loaded)),
        says(LineMethod::Sharing, !sharing.is_empty(), shared_line(&sharing)),
        says(LineMethod::Strided, !gains.is_empty(), strided_line(&gains)),
    ]
    .into_iter()
    .flatten()
    .collect();
    // The others are shown, but see what a machine fetches ahead, too: no answer rests on them.
    let can_answer = [LineMethod::FlushedTogether, LineMethod::Sharing];
    let answer =
        said.iter().find(|said| can_answer.contains(&said.method) && said.line_bytes.is_some());
    if answer.is_none() {
        let why = "neither a flush nor false sharing could tell how long a line is";
        reasons.push(why.to_owned());
    }
    let prefetch = loaded.iter().find(|point| point.slow_share > 0.5);
    Cacheline {
        line_bytes: answer.and_then(|said| said.line_bytes),
        answered_by: answer.map(|said| said.method),
        prefetch_reach_bytes: prefetch.map(|point| point.offset_bytes),
        advertised: reading.advertised,
        said,
        flushed_together: flushed,
        loaded_together: loaded,
        sharing,
        strided,
        gains,
        missing,
    }
}

/// The points of a method, or why there are none.
fn taken<T>(
    points: Result<Vec<T>, String>,
    method: LineMethod,
    missing: &mut Vec<LineMissing>,
) -> Vec<T> {
    let why = match points {
        Ok(points) if !points.is_empty() => return points,
        Ok(_) => "the time was too short".to_owned(),
        Err(why) => why,
    };
    missing.push(LineMissing { method, why });
    Vec::new()
}

/// The first offset of the first segment whose share of slow loads is clearly not that of the
/// nearest offsets.
fn line_end(points: &[FlushPoint]) -> Option<u64> {
    let slow: Vec<u64> = points.iter().map(|point| point.slow).collect();
    let loads: Vec<u64> = points.iter().map(|point| point.loads).collect();
    let segments = shares(&slow, &loads);
    let share = |&(first, end): &(usize, usize)| {
        let sum = |all: &[u64]| all[first..end].iter().sum::<u64>() as f64;
        sum(&slow) / sum(&loads)
    };
    let nearest = share(segments.first()?);
    let beyond = segments.iter().find(|segment| (share(segment) - nearest).abs() > CLEARLY)?;
    Some(points[beyond.0].offset_bytes)
}

/// The first distance beyond those at which increments take longest.
fn shared_line(points: &[SharingPoint]) -> Option<u64> {
    // Far ones first, so that times rise from level to level.
    let times: Vec<f64> = points.iter().rev().map(|point| point.increment_ns).collect();
    let levels = levels(&times);
    let slowest = levels.last().filter(|_| levels.len() > 1)?;
    Some(points[points.len() - slowest.first].distance_bytes)
}

/// Why the ratio that was published is worth less: its turns differ, or the thread had no CPU.
fn unsteady(points: &[cacheline::Strided]) -> Vec<String> {
    let Some([near, far]) = compared(points, 64) else { return Vec::new() };
    let lost = near.lost_share.max(far.lost_share);
    let was_away = (lost > AWAY).then(|| {
        let percent = lost * 100.0;
        format!("the strided copy had no CPU for {percent:.0}% of its passes")
    });
    let quartiles = quartiles([near, far]).filter(|[low, high]| *high > UNSTEADY * low);
    let disagree = quartiles.map(|[low, high]| {
        format!(
            "turns of the strided copy disagree, stride 129 is {low:.2}x to {high:.2}x as fast as \
             64: other work or a neighbour disturbed it"
        )
    });
    was_away.into_iter().chain(disagree).collect()
}

/// The points of the two strides that the rule compares for a length of a line.
fn compared(points: &[cacheline::Strided], line_bytes: u64) -> Option<[&cacheline::Strided; 2]> {
    let of = |stride| points.iter().find(|point| point.found.stride_bytes == stride);
    Some([of(line_bytes)?, of(2 * line_bytes + 1)?])
}

/// Quartiles of the ratio in each turn: bytes that the second passes a second, over those of the
/// first.
fn quartiles([near, far]: [&cacheline::Strided; 2]) -> Option<[f64; 2]> {
    let strides = far.found.stride_bytes as f64 / near.found.stride_bytes as f64;
    let turns = near.passes_ns.iter().zip(&far.passes_ns).filter(|(_, far)| **far > 0.0);
    let mut ratios: Vec<f64> = turns.map(|(near, far)| strides * near / far).collect();
    ratios.sort_by(f64::total_cmp);
    let at = |share: f64| Some(ratios[((ratios.len().checked_sub(1)?) as f64 * share) as usize]);
    Some([at(0.25)?, at(0.75)?])
}

/// The shortest line for which the published rule holds.
fn strided_line(gains: &[StridedGain]) -> Option<u64> {
    gains.iter().find(|gain| gain.ratio > PUBLISHED_GAIN).map(|gain| gain.line_bytes)
}

fn gain(points: &[cacheline::Strided], line_bytes: u64) -> Option<StridedGain> {
    let [near, far] = compared(points, line_bytes)?;
    let [one, other] = [near, far].map(|point| point.found.passed_bytes_per_s);
    let quartiles = quartiles([near, far]);
    Some(StridedGain {
        line_bytes,
        stride_bytes: far.found.stride_bytes,
        ratio: other / one,
        quartiles,
    })
}

#[cfg(test)]
mod tests;
