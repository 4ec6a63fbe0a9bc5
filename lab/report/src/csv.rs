//! Samples as comma-separated values (RFC 4180: lines end with CR LF, quotes where needed).

use tiebreak_core::journal::{Event, Journal, Round};
use tiebreak_core::plan::Kind;
use tiebreak_core::sample::{Outcome, Sample};

/// A sample with where it was taken.
struct Line<'a> {
    journal: &'a Journal,
    round: &'a Round,
    position: usize,
    sample: &'a Sample,
}

/// The name of a column, and its value.
type Column = (&'static str, fn(&Line) -> String);

/// The columns, units last, empty where a value is not known.
const COLUMNS: [Column; 25] = [
    ("round", |of| of.round.coins.round.to_string()),
    ("attempt", |of| of.round.coins.attempt.to_string()),
    ("position", |of| of.position.to_string()),
    ("contestant", |of| {
        let index = of.round.coins.order.get(of.position);
        let contestant = index.and_then(|index| of.journal.header.plan.contestants.get(*index));
        contestant.map_or(String::new(), |contestant| contestant.name.clone())
    }),
    ("outcome", |of| {
        let outcome = match of.sample.outcome {
            Outcome::Finished => "finished",
            Outcome::TimedOut => "timed_out",
            Outcome::Unusable => "unusable",
            Outcome::Failed => "failed",
        };
        outcome.to_owned()
    }),
    ("wall_ns", |of| of.sample.wall_ns.to_string()),
    ("user_ns", |of| of.sample.user_ns.to_string()),
    ("system_ns", |of| of.sample.system_ns.to_string()),
    ("peak_memory_bytes", |of| of.sample.peak_memory_bytes.to_string()),
    ("minor_faults", |of| of.sample.minor_faults.to_string()),
    ("major_faults", |of| of.sample.major_faults.to_string()),
    ("voluntary_switches", |of| of.sample.voluntary_switches.to_string()),
    ("involuntary_switches", |of| of.sample.involuntary_switches.to_string()),
    ("cycles", |of| known(of.sample.meters.cycles)),
    ("instructions", |of| known(of.sample.meters.instructions)),
    ("branch_misses", |of| known(of.sample.meters.branch_misses)),
    ("cache_misses", |of| known(of.sample.meters.cache_misses)),
    ("energy_nj", |of| known(of.sample.meters.energy_nj)),
    ("foreign_cpu_ns", |of| known(of.sample.beside.foreign_cpu_ns)),
    ("steal_ns", |of| known(of.sample.beside.steal_ns)),
    ("migrations", |of| known(of.sample.beside.migrations)),
    ("throttled_ns", |of| known(of.sample.beside.throttled_ns)),
    ("marks", |of| of.sample.marks.iter().map(|mark| mark.name()).collect::<Vec<_>>().join("|")),
    ("run_ns", |of| known(of.sample.meters.run_ns)),
    ("run_delay_ns", |of| known(of.sample.beside.run_delay_ns)),
];

fn known(value: Option<u64>) -> String {
    value.map_or(String::new(), |value| value.to_string())
}

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
    push_line(COLUMNS.iter().map(|(name, _)| name.to_string()), out);
    for round in &journal.rounds {
        for (position, sample) in round.samples.iter().enumerate() {
            let line = Line { journal, round, position, sample };
            push_line(COLUMNS.iter().map(|(_, value)| value(&line)), out);
        }
    }
}

fn observations(journal: &Journal, out: &mut String) {
    push_line(STREAM_FIELDS.iter().map(|field| field.to_string()), out);
    let observed = journal.events.iter().filter_map(|event| match event {
        Event::Observed { lines, successes, failure_runs, elapsed_ns, .. } => {
            Some([*lines, *successes, *failure_runs, *elapsed_ns])
        }
        _ => None,
    });
    for (index, fields) in observed.enumerate() {
        push_line([index as u64].iter().chain(&fields).map(u64::to_string), out);
    }
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
