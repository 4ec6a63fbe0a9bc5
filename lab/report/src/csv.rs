//! Samples as comma-separated values (RFC 4180: lines end with CR LF, quotes where needed).

use tiebreak_core::journal::{Event, Journal, Round};
use tiebreak_core::plan::Kind;
use tiebreak_core::sample::{Outcome, Sample};

/// The columns before those of the measurements.
const WHICH: [&str; 5] = ["round", "attempt", "position", "contestant", "outcome"];

/// The name of a column, and its value in a sample.
type Field = (&'static str, fn(&Sample) -> Option<u64>);

/// The columns of measurements, units last: those before the marks and those behind.
const MEASURED: [Field; 17] = [
    ("wall_ns", |sample| Some(sample.wall_ns)),
    ("user_ns", |sample| Some(sample.user_ns)),
    ("system_ns", |sample| Some(sample.system_ns)),
    ("peak_memory_bytes", |sample| Some(sample.peak_memory_bytes)),
    ("minor_faults", |sample| Some(sample.minor_faults)),
    ("major_faults", |sample| Some(sample.major_faults)),
    ("voluntary_switches", |sample| Some(sample.voluntary_switches)),
    ("involuntary_switches", |sample| Some(sample.involuntary_switches)),
    ("cycles", |sample| sample.meters.cycles),
    ("instructions", |sample| sample.meters.instructions),
    ("branch_misses", |sample| sample.meters.branch_misses),
    ("cache_misses", |sample| sample.meters.cache_misses),
    ("energy_nj", |sample| sample.meters.energy_nj),
    ("foreign_cpu_ns", |sample| sample.beside.foreign_cpu_ns),
    ("steal_ns", |sample| sample.beside.steal_ns),
    ("migrations", |sample| sample.beside.migrations),
    ("throttled_ns", |sample| sample.beside.throttled_ns),
];
const LATER: [Field; 2] = [
    ("run_ns", |sample| sample.meters.run_ns),
    ("run_delay_ns", |sample| sample.beside.run_delay_ns),
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
    let name = |field: &Field| field.0;
    let measured = MEASURED.iter().map(name).chain(["marks"]).chain(LATER.iter().map(name));
    push_line(WHICH.into_iter().chain(measured).map(str::to_owned), out);
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
    let cell = |(_, of): &Field| of(sample).map_or(String::new(), |value| value.to_string());
    line.extend(MEASURED.iter().map(cell));
    line.push(marks.join("|"));
    line.extend(LATER.iter().map(cell));
    line
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
