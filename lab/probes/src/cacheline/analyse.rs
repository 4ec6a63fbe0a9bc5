//! The cache line: computes the finding from the probe's reading.

use super::measure::{self as cacheline, Strided};
use crate::tools::*;
use crate::{
    Cacheline, FlushPoint, LineAnswer, LineMethod, LineMissing, SharingPoint, StridedGain,
};
use tiebreak_stats::change_points::{levels, shares};

/// A line ends where the share of slow loads differs by this much from that of the nearest ones.
/// That it differs at all is proven by then; less would not matter.
const CLEARLY: f64 = 0.01;
/// Lengths of a line on which the published rule is tried.
const LENGTHS: [u64; 5] = [16, 32, 64, 128, 256];
/// Greatest plausible ratio of the quartiles of the published ratio.
const UNSTEADY: f64 = 1.5;
/// A thread that had no CPU for more than this share of its time was disturbed.
const AWAY: f64 = 0.05;
/// The published rule: "as soon as you use a stride that is twice the cache line, you should be
/// more than 50% faster".
const PUBLISHED_GAIN: f64 = 1.5;

/// Probes the machine.
pub(crate) fn probe(options: &Options<'_>, budget: &mut Budget<'_>) -> Probed<Cacheline> {
    cacheline::measure(&options.cpus, budget).map(found)
}

fn found(reading: cacheline::Reading, reasons: &mut Vec<String>) -> Cacheline {
    let mut missing = Vec::new();
    let (flushed, loaded) = match reading.flush {
        Ok(seen) => (Ok(seen.flushed), Ok(seen.loaded)),
        Err(why) => (Err(why.clone()), Err(why)),
    };
    let mut flushed_together = points_of(flushed, LineMethod::FlushedTogether, &mut missing);
    let mut loaded_together = points_of(loaded, LineMethod::LoadedTogether, &mut missing);
    for point in flushed_together.iter_mut().chain(&mut loaded_together) {
        point.slow_share = point.slow as f64 / point.loads as f64;
    }
    let sharing = points_of(reading.sharing, LineMethod::Sharing, &mut missing);
    let strided = points_of(reading.strided, LineMethod::Strided, &mut missing);
    reasons.extend(unsteady(&strided));
    let gains: Vec<_> = LENGTHS.iter().filter_map(|length| gain(&strided, *length)).collect();
    let answers = [
        (LineMethod::FlushedTogether, flushed_together.is_empty(), line_end(&flushed_together)),
        (LineMethod::LoadedTogether, loaded_together.is_empty(), line_end(&loaded_together)),
        (LineMethod::Sharing, sharing.is_empty(), shared_line(&sharing)),
        (LineMethod::Strided, gains.is_empty(), strided_line(&gains)),
    ];
    let answers = answers.into_iter().filter(|(_, is_missing, _)| !is_missing);
    let said: Vec<LineAnswer> =
        answers.map(|(method, _, line_bytes)| LineAnswer { method, line_bytes }).collect();
    // The others are shown, but also see what a machine fetches ahead: no answer rests on them.
    let can_answer = [LineMethod::FlushedTogether, LineMethod::Sharing];
    let answer = said
        .iter()
        .find(|answer| can_answer.contains(&answer.method) && answer.line_bytes.is_some());
    if answer.is_none() {
        let why = "neither a flush nor false sharing could tell how long a line is";
        reasons.push(why.to_owned());
    }
    let prefetch = loaded_together.iter().find(|point| point.slow_share > 0.5);
    Cacheline {
        line_bytes: answer.and_then(|answer| answer.line_bytes),
        answered_by: answer.map(|answer| answer.method),
        prefetch_reach_bytes: prefetch.map(|point| point.offset_bytes),
        advertised: reading.advertised,
        said,
        flushed_together,
        loaded_together,
        sharing,
        strided: strided.iter().map(|point| point.found).collect(),
        gains,
        missing,
    }
}

/// Returns the points of a method, or notes why there are none.
fn points_of<T>(
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

/// Returns the first offset of the first segment whose share of slow loads clearly differs from
/// that of the nearest offsets.
fn line_end(points: &[FlushPoint]) -> Option<u64> {
    let slow: Vec<u64> = points.iter().map(|point| point.slow).collect();
    let loads: Vec<u64> = points.iter().map(|point| point.loads).collect();
    let mut segments = shares(&slow, &loads).into_iter().map(|(first, end)| {
        let slow = slow[first..end].iter().sum::<u64>() as f64;
        (first, slow / loads[first..end].iter().sum::<u64>() as f64)
    });
    let (_, nearest) = segments.next()?;
    let (first, _) = segments.find(|(_, share)| (share - nearest).abs() > CLEARLY)?;
    Some(points[first].offset_bytes)
}

/// Returns the first distance beyond those at which increments take longest.
fn shared_line(points: &[SharingPoint]) -> Option<u64> {
    // Far ones first, so that times rise from level to level.
    let times: Vec<f64> = points.iter().rev().map(|point| point.increment_ns).collect();
    let levels = levels(&times);
    let slowest = levels.last().filter(|_| levels.len() > 1)?;
    Some(points[points.len() - slowest.first].distance_bytes)
}

/// Returns the reasons against the ratio that was published: its turns differ, or the thread had no
/// CPU.
fn unsteady(points: &[Strided]) -> Vec<String> {
    let Some(compared) = compared(points, 64) else { return Vec::new() };
    let mut reasons = Vec::new();
    let lost = compared[0].lost_share.max(compared[1].lost_share);
    if lost > AWAY {
        let percent = lost * 100.0;
        reasons.push(format!("the strided copy had no CPU for {percent:.0}% of its passes"));
    }
    if let Some([low, high]) = quartiles(compared).filter(|[low, high]| *high > UNSTEADY * low) {
        reasons.push(format!(
            "turns of the strided copy disagree, stride 129 is {low:.2}x to {high:.2}x as fast as \
             64: other work or a neighbour disturbed it"
        ));
    }
    reasons
}

/// Returns the points of the two strides that the rule compares for a length of a line.
fn compared(points: &[Strided], line_bytes: u64) -> Option<[&Strided; 2]> {
    let [near, far] = [line_bytes, 2 * line_bytes + 1]
        .map(|stride| points.iter().find(|point| point.found.stride_bytes == stride));
    Some([near?, far?])
}

/// Returns the quartiles of the ratio in each turn: bytes that the second stride passes per second,
/// over those of the first.
fn quartiles([near, far]: [&Strided; 2]) -> Option<[f64; 2]> {
    let strides = far.found.stride_bytes as f64 / near.found.stride_bytes as f64;
    let turns = near.passes_ns.iter().zip(&far.passes_ns).filter(|(_, far)| **far > 0.0);
    let mut ratios: Vec<f64> = turns.map(|(near, far)| strides * near / far).collect();
    ratios.sort_by(f64::total_cmp);
    let last = ratios.len().checked_sub(1)? as f64;
    Some([0.25, 0.75].map(|share| ratios[(last * share) as usize]))
}

/// Returns the shortest line for which the published rule holds.
fn strided_line(gains: &[StridedGain]) -> Option<u64> {
    gains.iter().find(|gain| gain.ratio > PUBLISHED_GAIN).map(|gain| gain.line_bytes)
}

fn gain(points: &[Strided], line_bytes: u64) -> Option<StridedGain> {
    let [near, far] = compared(points, line_bytes)?;
    let ratio = far.found.passed_bytes_per_s / near.found.passed_bytes_per_s;
    let (stride_bytes, quartiles) = (far.found.stride_bytes, quartiles([near, far]));
    Some(StridedGain { line_bytes, stride_bytes, ratio, quartiles })
}

#[cfg(test)]
mod tests;
