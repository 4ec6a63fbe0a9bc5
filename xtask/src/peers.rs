//! The table of the comparison with other tools, from the measurements of `bench/peers`.

use crate::measured::{Part, median, rate_of, rendered, source};
use anyhow::{Result, ensure};
use tiebreak_report::markdown::table;

/// The path of the data, from the root.
pub const DATA: &str = "docs/measured/peers.json";

const SCHEMA: &str = "tiebreak/peers/1";

/// Returns the pairs of comparisons: a program with itself, and with one that does 5% or less more
/// work; and that share in percent. It was 2% in data from before November 25 of 2026.
fn cases(data: Part<'_>) -> ([&'static str; 3], u32) {
    match data.maybe("settings/budget_seconds/slower1") {
        Some(_) => (["same", "slower5", "slower1"], 1),
        None => (["same", "slower5", "slower2"], 2),
    }
}

/// The verdict of a judge on one comparison.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Verdict {
    AFaster,
    BFaster,
    TooClose,
    Nothing,
}

/// The tests of hyperfine's times, one row each after that of tiebreak: the name, its place in the
/// data, and the largest p that counts.
type Judge = (&'static str, &'static str, f64);
const TESTS: [Judge; 4] = [
    ("Welch's t-test", "welch", 0.05),
    ("Welch's t-test", "welch", 0.01),
    ("U test", "u", 0.05),
    ("U test", "u", 0.01),
];

/// Renders the block.
///
/// # Errors
/// Fails if the data is not what `bench/peers` writes.
pub fn render(json: &str) -> Result<String> {
    rendered(json, DATA, SCHEMA, |data| {
        ensure!(data.list("comparisons").next().is_some(), "{DATA}: no comparisons");
        let (cases, percent) = cases(data);
        let small = format!("B {percent}% slower: found");
        let head = [
            "judged by",
            "A against A: false",
            "B 5% slower: found",
            "wrong",
            &small,
            "wrong",
            "median seconds a comparison",
        ];
        let tests = TESTS.iter().map(Some);
        let rows = [None].into_iter().chain(tests).map(|test| row(data, test));
        let of = data.at("settings");
        let [same_s, slower5_s, small_s] =
            cases.map(|case| of.number(&format!("budget_seconds/{case}")));
        let resolution = match of.maybe(&format!("resolution/{}", cases[2])) {
            Some(resolution) => format!(", for {percent}% `--resolution {resolution}`"),
            None => String::new(),
        };
        let [date, machine] = data.day_and_machine();
        Ok(format!(
            "{}\nEach cell: comparisons that came to this verdict, of how many, and the share with \
             its 95% interval (Wilson). \"Wrong\" is the wrong way round, or \"too close\". The \
             seconds are those of A against A, 5% and {percent}%.\n\n\
             Measured on {date} on {machine}: a process of about {:.0} ms, on one CPU with a \
             bursty neighbour ({}). The tools took turns, in an order drawn for each comparison. \
             tiebreak {}: `--error {} --budget` {same_s} s, {slower5_s} s and {small_s} \
             s{resolution}. hyperfine {}: `-N -w 3 -r {}`, both commands in one call; its exported \
             times judged by SciPy {}. {}\n",
            table(&head, rows),
            of.number("process_ms"),
            data.neighbour(),
            data.text("tools/tiebreak"),
            of.number("error"),
            data.text("tools/hyperfine"),
            of.number("runs"),
            data.text("tools/scipy"),
            source(DATA),
        ))
    })
}

/// Renders the first page's rows of the same data: tiebreak and Welch's t-test at 5%.
///
/// # Errors
/// Fails where [`render`] does.
pub fn in_short(json: &str) -> Result<String> {
    rendered(json, DATA, SCHEMA, |data| {
        let (ours, welch) = (row(data, None), row(data, Some(&TESTS[0])));
        let (_, percent) = cases(data);
        let rows = [
            ("a program against itself: called different".to_owned(), 1),
            (format!("{percent}% slower: found"), 4),
            (format!("{percent}% slower: called faster or equal"), 5),
            (format!("median seconds: against itself / 5% / {percent}% slower"), 6),
        ];
        let rows = rows.map(|(what, at)| [what, ours[at].clone(), welch[at].clone()]);
        Ok(table(&["", &ours[0], &welch[0]], rows))
    })
}

/// Returns the verdict of a test of hyperfine's times, or of tiebreak.
fn verdict(comparison: Part<'_>, test: Option<&Judge>) -> Verdict {
    let a_is_faster = match test {
        None => {
            let ours = comparison.at("tiebreak");
            match (ours.text("verdict"), ours.maybe_text("faster")) {
                ("holds", Some(side)) => side == "A",
                ("too close", _) => return Verdict::TooClose,
                _ => return Verdict::Nothing,
            }
        }
        Some((_, place, level)) => {
            let test = comparison.at("hyperfine").at(place);
            if test.number("p") >= *level {
                return Verdict::Nothing;
            }
            test.is("a_faster")
        }
    };
    if a_is_faster { Verdict::AFaster } else { Verdict::BFaster }
}

/// Makes the row of a test of hyperfine's times, or of tiebreak: its name, how often it is wrong
/// about A against A, how often it finds and misjudges 5% and less, and its time.
fn row(data: Part<'_>, test: Option<&Judge>) -> [String; 7] {
    let comparisons = data.list("comparisons");
    let of = |case| comparisons.clone().filter(move |comparison| comparison.text("case") == case);
    let rate = |case, counted: &[Verdict]| {
        rate_of(of(case).map(|comparison| counted.contains(&verdict(comparison, test))))
    };
    let (cases, _) = cases(data);
    // A difference beyond the resolution is denied by "too close" as well.
    let wrong = [Verdict::BFaster, Verdict::TooClose];
    let seconds = cases.map(|case| {
        let tool = if test.is_none() { "tiebreak" } else { "hyperfine" };
        let seconds = of(case).map(|comparison| comparison.at(tool).number("seconds"));
        median(seconds).map_or("-".to_owned(), |seconds| format!("{seconds:.2}"))
    });
    let [same, slower5, small] = cases;
    [
        match test {
            None => format!("tiebreak, `--error {}`", data.number("settings/error")),
            Some((name, _, level)) => format!("hyperfine, {name}, p < {level}"),
        },
        rate(same, &[Verdict::AFaster, Verdict::BFaster]),
        rate(slower5, &[Verdict::AFaster]),
        rate(slower5, &wrong),
        rate(small, &[Verdict::AFaster]),
        rate(small, &wrong),
        seconds.join(" / "),
    ]
}

#[cfg(test)]
mod tests;
