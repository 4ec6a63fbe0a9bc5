//! Samples as comma-separated values (RFC 4180: lines end with CR LF, quotes where needed).

use tiebreak_core::journal::{Event, Journal, Round};
use tiebreak_core::plan::Kind;
use tiebreak_core::sample::{Outcome, Sample};

/// The header line: fields by their names, units last.
const FIELDS: [&str; 25] = [
    "round",
    "attempt",
    "position",
    "contestant",
    "outcome",
    "wall_ns",
    "user_ns",
    "system_ns",
    "peak_memory_bytes",
    "minor_faults",
    "major_faults",
    "voluntary_switches",
    "involuntary_switches",
    "cycles",
    "instructions",
    "branch_misses",
    "cache_misses",
    "energy_nj",
    "foreign_cpu_ns",
    "steal_ns",
    "migrations",
    "throttled_ns",
    "marks",
    "run_ns",
    "run_delay_ns",
];

/// The header line of a stream, of which the journal keeps what makes an observation.
const STREAM_FIELDS: [&str; 5] =
    ["observation", "lines", "successes", "failure_runs", "elapsed_ns"];

/// Appends a header and one line a sample of the finished rounds, in the order in which they were
/// taken. Rounds, attempts and positions count from 0; what was not measured is empty; marks are
/// joined by `|`. Of a stream it is one line a batch of lines that became evidence. Costs one pass
/// over the samples.
pub fn samples(journal: &Journal, out: &mut String) {
    if matches!(journal.header.plan.kind, Kind::Stream { .. }) {
        return observations(journal, out);
    }
    push_line(FIELDS.iter().map(|field| field.to_string()), out);
    for round in &journal.rounds {
        for (position, sample) in round.samples.iter().enumerate() {
            push_line(line(journal, round, position, sample).into_iter(), out);
        }
    }
}

fn observations(journal: &Journal, out: &mut String) {
    push_line(STREAM_FIELDS.iter().map(|field| field.to_string()), out);
    let mut index = 0u64;
    for event in &journal.events {
        if let Event::Observed { lines, successes, failure_runs, elapsed_ns, .. } = event {
            let fields = [index, *lines, *successes, *failure_runs, *elapsed_ns];
            push_line(fields.iter().map(u64::to_string), out);
            index += 1;
        }
    }
}

fn line(journal: &Journal, round: &Round, position: usize, sample: &Sample) -> Vec<String> {
    let index = round.coins.order.get(position);
    let contestant = index.and_then(|index| journal.header.plan.contestants.get(*index));
    let outcome = match sample.outcome {
        Outcome::Finished => "finished",
        Outcome::TimedOut => "timed_out",
        Outcome::Unusable => "unusable",
        Outcome::Failed => "failed",
    };
    let marks: Vec<_> = sample.marks.iter().map(|mark| mark.name()).collect();
    let mut line = vec![
        round.coins.round.to_string(),
        round.coins.attempt.to_string(),
        position.to_string(),
        contestant.map_or(String::new(), |contestant| contestant.name.clone()),
        outcome.to_owned(),
    ];
    line.extend(always_measured(sample).map(|value| value.to_string()));
    let text = |value: Option<u64>| value.map_or(String::new(), |value| value.to_string());
    line.extend(sometimes_measured(sample).map(text));
    line.push(marks.join("|"));
    line.extend([sample.meters.run_ns, sample.beside.run_delay_ns].map(text));
    line
}

fn always_measured(sample: &Sample) -> [u64; 8] {
    [
        sample.wall_ns,
        sample.user_ns,
        sample.system_ns,
        sample.peak_memory_bytes,
        sample.minor_faults,
        sample.major_faults,
        sample.voluntary_switches,
        sample.involuntary_switches,
    ]
}

fn sometimes_measured(sample: &Sample) -> [Option<u64>; 9] {
    let (meters, beside) = (sample.meters, sample.beside);
    [
        meters.cycles,
        meters.instructions,
        meters.branch_misses,
        meters.cache_misses,
        meters.energy_nj,
        beside.foreign_cpu_ns,
        beside.steal_ns,
        beside.migrations,
        beside.throttled_ns,
    ]
}

fn push_line(fields: impl Iterator<Item = String>, out: &mut String) {
    for (index, field) in fields.enumerate() {
        if index > 0 {
            out.push(',');
        }
        if field.contains(['"', ',', '\r', '\n']) {
            out.push_str(&format!("\"{}\"", field.replace('"', "\"\"")));
        } else {
            out.push_str(&field);
        }
    }
    out.push_str("\r\n");
}
