//! The page about a suite: what is slower, faster and open, and nothing about the rest.

use crate::footer::machine_model;
use crate::markdown::{self, Place, escaped};
use crate::prelude::*;
use tiebreak_core::result::{BenchmarkResult, Family, SuiteResult, SuiteRevision, Word};
use tiebreak_core::warning::Warning;

/// What word, change and interval take beside a name, and the least that a name gets.
const BESIDE_NAMES: usize = 52;
const LEAST_NAME: usize = 16;
/// The most rows that are shown, and of open benchmarks.
const MOST: usize = 100;
const MOST_OPEN: usize = 10;

/// The result of a suite as text: the sentence, the rows that say something, what only one revision
/// has, and how it was measured.
pub fn page(suite: &SuiteResult, look: &Look) -> String {
    let mut page = Page::new(*look);
    page.interrupted(suite.check.interrupted);
    page.paragraph("", &[span(tone(suite), sentence(suite)), words(".")]);
    page.say(Tone::Plain, promise(suite));
    let (shown, left_out) = shown(suite);
    if !shown.is_empty() {
        page.gap();
        page.table(columns(&shown, look));
    }
    for note in notes(suite, left_out) {
        page.gap();
        page.say(Tone::Plain, note);
    }
    page.gap();
    for (label, text) in entries(suite) {
        page.entry(label, text);
    }
    page.finish()
}

/// The result of a suite in one line, without a full stop: `Of 40 benchmarks, 1 is slower as built,
/// 2 are open, 37 are not slower`.
pub fn sentence(suite: &SuiteResult) -> String {
    let all = suite.benchmarks.len();
    let mut text = format!("Of {}", count(all as u64, "benchmark"));
    for word in [Word::Void, Word::SlowerAsBuilt, Word::Faster, Word::Open, Word::NotSlower] {
        match suite.with(word).count() {
            0 => {}
            1 => text += &format!(", 1 is {}", word.name()),
            number => text += &format!(", {number} are {}", word.name()),
        }
    }
    text
}

/// The result of a suite as Markdown, for a comment.
pub fn markdown(suite: &SuiteResult) -> String {
    let icon = match () {
        () if suite.with(Word::Void).next().is_some() => ":no_entry:",
        () if suite.with(Word::SlowerAsBuilt).next().is_some() => ":x:",
        () if suite.with(Word::Open).next().is_some() => ":warning:",
        () => ":white_check_mark:",
    };
    let place = Place::Comment;
    let mut text = markdown::heading(2, &format!("{icon} {}", escaped(&sentence(suite), place)));
    text += &format!("{}\n", escaped(&promise(suite), place));
    let (shown, left_out) = shown(suite);
    if !shown.is_empty() {
        text +=
            "\n| benchmark | is | base | head | change | interval |\n|---|---|--:|--:|--:|---|\n";
        for one in &shown {
            let cells = cells_of(one).map(|cell| escaped(&cell, place));
            text += &format!("| {} |\n", cells.join(" | "));
        }
    }
    for note in notes(suite, left_out) {
        text += &format!("\n{}\n", escaped(&note, place));
    }
    for (label, said) in entries(suite) {
        text += &format!("\n{label}: {}  ", escaped(&said, place));
    }
    text + "\n"
}

/// Returns what the error means.
fn promise(suite: &SuiteResult) -> String {
    let error = percent(suite.check.error, Rounding::Up);
    match suite.check.family {
        Family::EBonferroni => format!(
            "The probability that any of this is wrong is at most {error}, whenever it stops."
        ),
        Family::EBh => format!(
            "Of what is proven here, at most {error} is wrong on average, whenever it stops (e-BH)."
        ),
    }
}

fn tone(suite: &SuiteResult) -> Tone {
    let bad = [Word::Void, Word::SlowerAsBuilt];
    match () {
        () if bad.into_iter().any(|word| suite.with(word).next().is_some()) => Tone::Bad,
        () if suite.with(Word::Open).next().is_some() => Tone::Doubt,
        () => Tone::Good,
    }
}

/// Returns the benchmarks that say something, the worst first and of each word those that changed
/// most, and how many are left out.
fn shown(suite: &SuiteResult) -> (Vec<&BenchmarkResult>, usize) {
    let changed = |one: &BenchmarkResult| (one.ratio.estimate.unwrap_or(1.0).ln()).abs();
    let mut shown = Vec::new();
    let mut all = 0;
    for word in [Word::Void, Word::SlowerAsBuilt, Word::Faster, Word::Open] {
        let mut rows: Vec<_> = suite.with(word).collect();
        rows.sort_by(|a, b| changed(b).total_cmp(&changed(a)));
        all += rows.len();
        let most = if word == Word::Open { MOST_OPEN } else { MOST };
        shown.extend(rows.into_iter().take(most));
    }
    shown.truncate(MOST);
    let left_out = all - shown.len();
    (shown, left_out)
}

fn columns(shown: &[&BenchmarkResult], look: &Look) -> Vec<Column> {
    // Names give way before the interval does.
    let room = look.columns().saturating_sub(BESIDE_NAMES).max(LEAST_NAME);
    let rows = shown.iter().map(|one| cells_of(one));
    let [names, said, base, head, change, interval] = transposed(rows);
    let names = names.iter().map(|name| shorten_middle(name, room, *look));
    vec![
        Column::left("benchmark", names),
        Column::left("is", said),
        Column::decimal("base", base).rank(2),
        Column::decimal("head", head).rank(2),
        Column::right("change", change),
        Column::left("interval", interval).rank(1),
    ]
}

/// Returns name, word, times, and the change from base to head with its limits.
fn cells_of(one: &BenchmarkResult) -> [String; 6] {
    let [base, head] =
        one.times_ns.map(|ns| or_none(finite(ns).map(|ns| value_text(Unit::Nanoseconds, ns))));
    let is_void = one.word == Word::Void;
    let [estimate, low, high] = [one.ratio.estimate, one.ratio.low, one.ratio.high]
        .map(|ratio| finite(ratio).filter(|_| !is_void).map(change));
    let interval = match (&low, &high) {
        (None, None) => or_none(None),
        _ => format!("{} .. {}", low.unwrap_or_default(), high.unwrap_or_default()),
    };
    [plain(&one.name), one.word.name().to_owned(), base, head, or_none(estimate), interval]
}

/// Writes a ratio as a change: `+3.1%`.
fn change(ratio: f64) -> String {
    match ratio {
        ..10.0 => format!("{:+.1}%", 100.0 * (ratio - 1.0)),
        _ => format!("{ratio:.1}x"),
    }
}

/// Returns what the rows do not say.
fn notes(suite: &SuiteResult, left_out: usize) -> Vec<String> {
    let void = suite.benchmarks.iter().filter_map(|one| Some((&one.name, one.why.as_ref()?)));
    let mut notes: Vec<String> =
        void.map(|(name, why)| format!("{}: {}.", plain(name), short(why))).collect();
    if left_out > 0 {
        let rows = count(left_out as u64, "more row");
        notes.push(format!("Left out: {rows}; --json has all."));
    }
    if suite.with(Word::Open).any(|one| one.ratio.low.is_none() && one.ratio.high.is_none()) {
        notes.push("Without an interval there were too few processes for one.".to_owned());
    }
    if suite.with(Word::SlowerAsBuilt).next().is_some() {
        notes.push(
            "'Slower as built' is proven of these two programs. Whether the change made it slower, \
             or only the place where the linker put the code, is not."
                .to_owned(),
        );
    }
    let warnings = suite.check.contests.iter().flat_map(|contest| &contest.run.warnings);
    let times = warnings.filter_map(|warning| match warning {
        Warning::Repeated { run, .. } => Some(*run),
        _ => None,
    });
    notes.extend(times.max().map(|times| {
        format!("Raced {times} times on these commits: the error holds for each race, not for all.")
    }));
    for (names, which) in suite.alone.iter().zip(["base", "head"]) {
        if !names.is_empty() {
            let names: Vec<String> = names.iter().map(|name| plain(name)).collect();
            notes.push(format!("Only in {which}, and not raced: {}.", short(&names.join(", "))));
        }
    }
    notes
}

fn entries(suite: &SuiteResult) -> Vec<(&'static str, String)> {
    let [base, head] = &suite.revisions;
    let revision = |one: &SuiteRevision| {
        format!("{} ({})", plain(&one.asked), one.commit.get(..10).unwrap_or("as it is"))
    };
    let rounds = suite.benchmarks.iter().map(|one| one.rounds);
    let (least, most) = (rounds.clone().min().unwrap_or(0), rounds.max().unwrap_or(0));
    let processes = if least == most { most.to_string() } else { format!("{least} to {most}") };
    let processes = format!("{processes} processes");
    let mut entries = vec![
        ("base", revision(base)),
        ("head", revision(head)),
        (
            "suite",
            format!(
                "{}, {} a benchmark and process, {processes} of each, {}",
                suite.harness,
                value_text(Unit::Nanoseconds, 1e9 * suite.slice_seconds),
                seconds(suite.check.seconds)
            ),
        ),
    ];
    let run = suite.check.contests.first().map(|contest| &contest.run);
    entries.extend(run.and_then(machine_model).map(|model| ("machine", model)));
    entries
}
