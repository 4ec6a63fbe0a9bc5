//! Whether CPUs share a core: what the machine says, and what was measured.

use super::*;
use crate::{Pair, Sharing};

/// Rows of the table of pairs.
const ROWS: usize = 16;

/// In a line: `one each, as told and as measured (1.01x, 1 pair)`.
pub(super) fn in_short(found: &Topology) -> String {
    let told = found.is_smt_advertised();
    let as_told = match told {
        Some(_) => format!("{} as told", words(told)),
        None => "nothing told".to_owned(),
    };
    let Some(sharing) = found.sharing.value().filter(|sharing| !sharing.pairs.is_empty()) else {
        let why = if found.allowed() < 2 { ": one CPU may be used" } else { "" };
        return format!("{as_told}, not measured{why}");
    };
    let wrong: Vec<&Pair> = sharing.disagreements().collect();
    if let Some(pair) = wrong.first() {
        let [a, b] = pair.cpus;
        let does = if pair.shares == Some(true) { "share" } else { "do not share" };
        let more = match wrong.len() {
            1 => String::new(),
            many => format!(", and {} more", many - 1),
        };
        let times = times(pair);
        return format!("{as_told}, but CPUs {a} and {b} {does} a core ({times}{more})");
    }
    let range = range(sharing);
    if sharing.pairs.iter().any(|pair| pair.shares.is_none()) {
        return format!("{as_told}, open as measured ({range})");
    }
    match told {
        Some(_) => format!("{}, as told and as measured ({range})", words(told)),
        None if sharing.is_smt_measured() => format!("{as_told}, some seen to share one ({range})"),
        None => format!("{as_told}, none seen to share one ({range})"),
    }
}

fn words(told: Option<bool>) -> &'static str {
    if told == Some(true) { "several" } else { "one each" }
}

/// `1.01x`, or from the smallest to the largest, and of how many pairs.
fn range(sharing: &Sharing) -> String {
    let slowdowns = sharing.pairs.iter().map(|pair| pair.slowdown);
    let low = slowdowns.clone().fold(f64::INFINITY, f64::min);
    let high = slowdowns.fold(0.0, f64::max);
    let [low, high] = [low, high].map(|value| ratio(value, 2, Rounding::Nearest));
    let of = count(sharing.pairs.len() as u64, "pair");
    if low == high { format!("{low}, {of}") } else { format!("{low} to {high}, {of}") }
}

/// In sentences.
pub(super) fn told(found: &Topology) -> String {
    let told = match found.is_smt_advertised() {
        Some(true) => "The machine says that some CPUs are threads of one core.",
        Some(false) => "The machine says that each CPU is a core of its own.",
        None => "The machine does not say which CPUs belong to a core.",
    };
    let Some(sharing) = found.sharing.value() else {
        let why = match &found.sharing {
            Probed::Inconclusive { why } => why.clone(),
            _ => "it was not tried".to_owned(),
        };
        return format!("{told} This was not measured: {why}.");
    };
    let rounds = sharing.pairs.iter().map(|pair| pair.rounds).max().unwrap_or(0);
    let rounds = count(rounds as u64, "round");
    let measured = match sharing.pairs.as_slice() {
        [only] => {
            let ([a, b], times, verdict) = (only.cpus, times(only), verdict(only));
            let times = times.trim_end_matches('x');
            format!(
                "Measured: CPUs {a} and {b} made the same additions alone and at the same time, in \
                 {rounds}; beside each other they took {times} times as long, so {verdict}."
            )
        }
        pairs => {
            let (number, of) = (pairs.len(), pairs_of(sharing.pairs_possible));
            let wrong = match sharing.disagreements().count() {
                0 => "No pair contradicts what the machine says.".to_owned(),
                1 => "1 pair is otherwise than the machine says.".to_owned(),
                wrong => format!("{} are otherwise than the machine says.", pairs_of(wrong)),
            };
            format!(
                "Measured: {number} of {of} made the same additions alone and at the same time, in \
                 up to {rounds}. {wrong}"
            )
        }
    };
    format!("{told} {measured}")
}

/// How many times as long the two took together as alone: `1.01x`.
fn times(pair: &Pair) -> String {
    ratio(pair.slowdown, 2, Rounding::Nearest)
}

fn pairs_of(number: usize) -> String {
    count(number as u64, "pair")
}

fn verdict(pair: &Pair) -> String {
    match pair.shares {
        Some(true) => "they share a core".to_owned(),
        Some(false) => "they do not share a core".to_owned(),
        None => format!(
            "it is open: in {} of the rounds they seemed to share a core",
            percent(pair.shared_rounds, Rounding::Nearest)
        ),
    }
}

/// The pairs, those first that contradict what the machine says; empty if there is one only.
pub(super) fn table(found: &Topology, look: &Look) -> String {
    let Some(sharing) = found.sharing.value().filter(|sharing| sharing.pairs.len() > 1) else {
        return String::new();
    };
    let mut pairs: Vec<&Pair> = sharing.pairs.iter().collect();
    pairs.sort_by_key(|pair| (!pair.is_wrong(), pair.shares.is_some()));
    let shown = &pairs[..pairs.len().min(ROWS)];
    let yes = |value: Option<bool>, open: &'static str| match value {
        Some(true) => "one core",
        Some(false) => "two cores",
        None => open,
    };
    let table = Table::of(shown)
        .left("CPUs", 0, |pair| format!("{} and {}", pair.cpus[0], pair.cpus[1]))
        .left("told", 0, |pair| yes(pair.is_advertised, "-"))
        .left("measured", 0, |pair| yes(pair.shares, "open"))
        .decimal("together over alone", 0, |pair| times(pair))
        .right("rounds", 1, |pair| pair.rounds);
    let more = match pairs.len() - shown.len() {
        0 => String::new(),
        rest => format!("and {} more\n", pairs_of(rest)),
    };
    table.text(look) + &more
}
