//! The cache line: computes the finding from the probe's reading.

use super::measure::{self, Reading};
use crate::tools::*;
use crate::{
    Cacheline, FlushPoint, LineAnswer, LineMethod, LineMissing, SharingPoint, StridedGain,
    StridedPoint,
};
use tiebreak_stats::change_points::{levels, shares};

/// A line ends where the share of slow loads differs by this much from that of the nearest ones.
/// That it differs at all is proven by then; less would not matter.
const CLEARLY: f64 = 0.01;
/// Lengths of a line on which the published rule is tried.
const LENGTHS: [u64; 5] = [16, 32, 64, 128, 256];
/// Greatest plausible ratio of the quartiles of the published ratio.
const UNSTEADY: f64 = 1.5;
/// The published rule: "as soon as you use a stride that is twice the cache line, you should be
/// more than 50% faster".
const PUBLISHED_GAIN: f64 = 1.5;

/// Probes the machine.
pub(crate) fn probe(options: &Options<'_>, budget: &mut Budget<'_>) -> Probed<Cacheline> {
    measure::measure(&options.cpus, budget).map(found)
}

fn found(reading: Reading, reasons: &mut Vec<String>) -> Cacheline {
    let mut found = Cacheline { advertised: reading.advertised, ..Cacheline::default() };
    let [flushed, loaded] = match reading.flush {
        Ok(seen) => seen.map(Ok),
        Err(why) => [Err(why.clone()), Err(why)],
    };
    found.flushed_together = found.take(LineMethod::FlushedTogether, flushed, line_end);
    found.loaded_together = found.take(LineMethod::LoadedTogether, loaded, line_end);
    found.sharing = found.take(LineMethod::Sharing, reading.sharing, shared_line);
    found.strided = found.take(LineMethod::Strided, reading.strided, strided_line);
    found.gains = gains(&found.strided);
    reasons.extend(unsteady(&found));
    // The others are shown, but also see what a machine fetches ahead: no answer rests on them.
    let can_answer = [LineMethod::FlushedTogether, LineMethod::Sharing];
    let mut answers = found.said.iter().filter(|answer| can_answer.contains(&answer.method));
    let answer = answers.find(|answer| answer.line_bytes.is_some());
    if answer.is_none() {
        reasons.push("neither a flush nor false sharing could tell how long a line is".to_owned());
    }
    found.line_bytes = answer.and_then(|answer| answer.line_bytes);
    found.answered_by = answer.map(|answer| answer.method);
    let prefetch = found.loaded_together.iter().find(|point| point.slow_share > 0.5);
    found.prefetch_reach_bytes = prefetch.map(|point| point.offset_bytes);
    found
}

impl Cacheline {
    /// Returns the points of a method after noting its answer, or why there is none.
    fn take<T>(
        &mut self,
        method: LineMethod,
        points: Result<Vec<T>, String>,
        line: fn(&[T]) -> Option<u64>,
    ) -> Vec<T> {
        let why = match points {
            Ok(points) if !points.is_empty() => {
                self.said.push(LineAnswer { method, line_bytes: line(&points) });
                return points;
            }
            Ok(_) => "the time was too short".to_owned(),
            Err(why) => why,
        };
        self.missing.push(LineMissing { method, why });
        Vec::new()
    }
}

/// Returns the first offset of the first segment whose share of slow loads clearly differs from
/// that of the nearest offsets.
fn line_end(points: &[FlushPoint]) -> Option<u64> {
    let [slow, loads] = [|p: &FlushPoint| p.slow, |p: &FlushPoint| p.loads]
        .map(|count| points.iter().map(count).collect::<Vec<u64>>());
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

/// Returns the reason against the ratio that was published: its turns differ.
fn unsteady(found: &Cacheline) -> Option<String> {
    let [low, high] = found.gain(64)?.quartiles?;
    let why = format!(
        "turns of the strided copy disagree, stride 129 is {low:.2}x to {high:.2}x as fast as 64: \
         other work or a neighbour disturbed it"
    );
    (high > UNSTEADY * low).then_some(why)
}

/// Returns the quartiles of the ratio in each turn: bytes that the second stride passes per second,
/// over those of the first.
fn quartiles(near: &StridedPoint, far: &StridedPoint) -> Option<[f64; 2]> {
    let strides = far.stride_bytes as f64 / near.stride_bytes as f64;
    let turns = near.passes_ns.iter().zip(&far.passes_ns).filter(|(_, far)| **far > 0.0);
    let mut ratios: Vec<f64> = turns.map(|(near, far)| strides * near / far).collect();
    ratios.sort_by(f64::total_cmp);
    let last = ratios.len().checked_sub(1)? as f64;
    Some([0.25, 0.75].map(|share| ratios[(last * share) as usize]))
}

/// Returns the shortest line for which the published rule holds.
fn strided_line(points: &[StridedPoint]) -> Option<u64> {
    gains(points).iter().find(|gain| gain.ratio > PUBLISHED_GAIN).map(|gain| gain.line_bytes)
}

/// Returns what the rule sees for each length of a line of which both strides were measured.
fn gains(points: &[StridedPoint]) -> Vec<StridedGain> {
    let gains = LENGTHS.iter().filter_map(|line_bytes| {
        let [near, far] = [*line_bytes, 2 * line_bytes + 1]
            .map(|stride| points.iter().find(|point| point.stride_bytes == stride));
        let (near, far) = (near?, far?);
        Some(StridedGain {
            line_bytes: *line_bytes,
            stride_bytes: far.stride_bytes,
            ratio: far.passed_bytes_per_s / near.passed_bytes_per_s,
            quartiles: quartiles(near, far),
        })
    });
    gains.collect()
}

#[cfg(test)]
mod tests;
