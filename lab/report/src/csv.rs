//! Samples as comma-separated values (RFC 4180: lines end with CR LF, quotes where needed).

use tiebreak_core::journal::{Event, Journal, Round};
use tiebreak_core::plan::Kind;
use tiebreak_core::sample::{Outcome, Sample, Served};

/// The columns before those of the measurements.
const WHICH: [&str; 5] = ["round", "attempt", "position", "contestant", "outcome"];

/// How many of the numbers stand before the marks; later ones were added behind them.
const BEFORE_MARKS: usize = 17;

/// The columns of servers, behind the others. A latency lies between two bounds.
const SERVED: [&str; 12] = [
    "sent",
    "arrived",
    "lost",
    "late",
    "p50_low_ns",
    "p50_high_ns",
    "p90_low_ns",
    "p90_high_ns",
    "p99_low_ns",
    "p99_high_ns",
    "p999_low_ns",
    "p999_high_ns",
];

/// The header line of a stream, of which the journal keeps what makes an observation.
const STREAM_FIELDS: [&str; 5] =
    ["observation", "lines", "successes", "failure_runs", "elapsed_ns"];

/// The header line of a load: a line is what a block says of a claim, counted from 0.
const LOAD_FIELDS: [&str; 7] =
    ["observation", "claim", "arrivals", "good", "bad", "failure_runs", "elapsed_ns"];

/// Appends a header and one line a sample of the finished rounds, in the order in which they were
/// taken. Rounds, attempts and positions count from 0; what was not measured is empty; marks are
/// joined by `|`. Of servers what became of the messages follows. Of a stream it is one line a
/// batch of lines that became evidence, of a load one for each block and claim. Costs one pass over
/// the samples.
pub fn samples(journal: &Journal, out: &mut String) {
    if journal.header.plan.load.is_some() {
        return blocks(journal, out);
    }
    if matches!(journal.header.plan.kind, Kind::Stream { .. }) {
        return observations(journal, out);
    }
    let (before, behind) = Sample::NUMBERS.split_at(BEFORE_MARKS);
    let served = journal.header.plan.servers.as_ref().map_or(&[][..], |_| &SERVED);
    let head = [&WHICH, before, &["marks"], behind, served].concat();
    push_line(head.into_iter().map(str::to_owned), out);
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

/// Appends a line for each block and claim.
fn blocks(journal: &Journal, out: &mut String) {
    push_line(LOAD_FIELDS.iter().map(|field| field.to_string()), out);
    let blocks = journal.events.iter().filter_map(|event| match event {
        Event::Block { arrivals, tallies, elapsed_ns } => Some((*arrivals, tallies, *elapsed_ns)),
        _ => None,
    });
    for (index, (arrivals, tallies, elapsed_ns)) in (0..).zip(blocks) {
        for (claim, of) in (0..).zip(tallies) {
            let fields = [index, claim, arrivals, of.good, of.bad, of.other_runs, elapsed_ns];
            push_line(fields.iter().map(u64::to_string), out);
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
    line.extend(sample.numbers().map(|number| number.map_or(String::new(), |n| n.to_string())));
    line.insert(WHICH.len() + BEFORE_MARKS, marks.join("|"));
    if journal.header.plan.servers.is_some() {
        line.extend(served(sample));
    }
    line
}

/// Returns the fields of a server's load, empty for a run without one.
fn served(sample: &Sample) -> Vec<String> {
    let Some(Served { counts, late, latencies_ns, .. }) = &sample.served else {
        return vec![String::new(); SERVED.len()];
    };
    let counts = [counts.sent, counts.arrived, counts.lost, *late];
    let latencies = latencies_ns.iter().flat_map(|latency| [latency.low_ns, latency.high_ns]);
    counts.into_iter().chain(latencies).map(|number| number.to_string()).collect()
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
