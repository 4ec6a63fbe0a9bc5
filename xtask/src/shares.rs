//! The tables of the cost and the errors of claims about success rates, from the simulations of the
//! example `shares` of `lab/stats`.

use crate::measured::{read, source};
use anyhow::{Context, Result};
use serde::Deserialize;
use tiebreak_report::markdown::table;
use tiebreak_report::number::share_text;

/// The path of the data, from the root.
pub const DATA: &str = "docs/measured/shares.json";

const SCHEMA: &str = "tiebreak/shares/1";

/// The method of reference, and those that tiebreak uses with one bar and with two.
const CLASSIC: &str = "classic driver";
const OURS: [&str; 2] = ["grid", "half SPRT, half grid"];

#[derive(Deserialize)]
struct Data {
    rates: Rates,
    bursts: Bursts,
}

#[derive(Deserialize)]
struct Rates {
    streams: u64,
    trials_most: u64,
    confidence: f64,
    rows: Vec<Row>,
}

/// A claim at a true rate.
#[derive(Deserialize)]
struct Row {
    good: f64,
    bad: f64,
    error: f64,
    truth: f64,
    methods: Vec<Method>,
}

#[derive(Deserialize)]
struct Method {
    name: String,
    median: u64,
    mean: f64,
    p90: u64,
    undecided: u64,
    wrong: u64,
    wrong_low: f64,
    wrong_high: f64,
}

#[derive(Deserialize)]
struct Bursts {
    streams: u64,
    requests: u64,
    share: f64,
    error: f64,
    confidence: f64,
    rows: Vec<Burst>,
}

#[derive(Deserialize)]
struct Burst {
    mean_burst: f64,
    block: u64,
    holds: Rate,
    refuted: Rate,
}

#[derive(Deserialize)]
struct Rate {
    rate: f64,
    low: f64,
    high: f64,
}

/// Renders the block.
///
/// # Errors
/// Fails if the data is not what the example writes.
pub fn render(json: &str) -> Result<String> {
    let data: Data = read(json, DATA, SCHEMA)?;
    Ok(format!(
        "{}{}{}\nEvery number is simulated, with fixed seeds. {}\n",
        trials(&data.rates)?,
        wrong(&data.rates)?,
        bursts(&data.bursts)?,
        source(DATA)
    ))
}

/// Returns the names of the methods in the order of the data; rows with one bar have fewer of them.
fn names(rows: &[Row]) -> Vec<&str> {
    let most = rows.iter().max_by_key(|row| row.methods.len());
    most.map_or(Vec::new(), |row| row.methods.iter().map(|each| each.name.as_str()).collect())
}

fn method<'a>(row: &'a Row, name: &str) -> Option<&'a Method> {
    row.methods.iter().find(|method| method.name == name)
}

fn trials(rates: &Rates) -> Result<String> {
    let names = names(&rates.rows);
    let mut rows = Vec::new();
    for row in &rates.rows {
        let ours = method(row, OURS[usize::from(row.good > row.bad)]);
        let both = method(row, CLASSIC).zip(ours);
        let (classic, ours) = both.with_context(|| format!("{DATA}: a row lacks a method"))?;
        let mut cells = vec![claim(row), percent(row.truth)];
        cells.extend(names.iter().map(|name| match method(row, name) {
            Some(method) => format!("{} ({:.0})", method.median, method.mean),
            None => "-".to_owned(),
        }));
        cells.push(format!("{:.0}%", 100.0 * (1.0 - ours.mean / classic.mean)));
        rows.push(cells);
    }
    let head = [&["claim", "true rate"][..], &names, &["saved"]].concat();
    let entries = || rates.rows.iter().flat_map(|row| &row.methods);
    let longest = entries().map(|method| method.p90).max().unwrap_or(0);
    let ended = match entries().map(|method| method.undecided).sum() {
        0 => "all of them".to_owned(),
        undecided => format!("all but {undecided} of them"),
    };
    Ok(format!(
        "{}\nTrials to the verdict: the median and, in brackets, the mean of {} streams, the same \
         for all methods. The last column is what tiebreak (the rightmost method of its row) saves \
         of the classic driver's mean. Nine of ten runs of any method ended within {longest} \
         trials, and {ended} within {}.\n\n",
        table(&head, rows),
        rates.streams,
        rates.trials_most
    ))
}

/// Makes the table of false verdicts where the truth lies at a bar, where they are most likely.
fn wrong(rates: &Rates) -> Result<String> {
    let names = names(&rates.rows);
    let mut rows = Vec::new();
    for row in rates.rows.iter().filter(|row| [row.good, row.bad].contains(&row.truth)) {
        let mut cells = vec![claim(row), percent(row.truth), percent(row.error)];
        for name in &names {
            let method = method(row, name).with_context(|| format!("{DATA}: no {name}"))?;
            let rate = method.wrong as f64 / rates.streams as f64;
            cells.push(interval(rate, method.wrong_low, method.wrong_high));
        }
        rows.push(cells);
    }
    Ok(format!(
        "{}\nFalse verdicts on the same streams, with an interval that holds with probability \
         {}.\n\n",
        table(&[&["claim", "true rate", "asked for"][..], &names].concat(), rows),
        percent(rates.confidence)
    ))
}

fn bursts(bursts: &Bursts) -> Result<String> {
    let mut blocks: Vec<u64> = bursts.rows.iter().map(|row| row.block).collect();
    blocks.sort_unstable();
    blocks.dedup();
    let mut rows = Vec::new();
    for of_length in bursts.rows.chunk_by(|one, two| one.mean_burst == two.mean_burst) {
        let length = of_length[0].mean_burst;
        for verdict in ["holds", "refuted"] {
            let mut cells = vec![length.to_string(), verdict.to_owned()];
            for block in &blocks {
                let row = of_length.iter().find(|row| row.block == *block);
                let row = row.with_context(|| format!("{DATA}: no block {block} of {length}"))?;
                let Rate { rate, low, high } =
                    if verdict == "holds" { &row.holds } else { &row.refuted };
                cells.push(interval(*rate, *low, *high));
            }
            rows.push(cells);
        }
    }
    let mut head = vec!["mean burst".to_owned(), "verdict".to_owned()];
    head.extend(blocks.iter().map(|block| format!("block {block}")));
    Ok(format!(
        "{}\nStreams of requests that got this verdict, of {} with up to {} requests each. Exactly \
         {} of the requests succeed in the long run, and that is the bar, so that neither verdict \
         may come in more than {} of the streams. Intervals hold with probability {}.\n",
        table(&head, rows),
        bursts.streams,
        bursts.requests,
        percent(bursts.share),
        percent(bursts.error),
        percent(bursts.confidence)
    ))
}

fn claim(row: &Row) -> String {
    if row.good > row.bad {
        format!("`--good {} --bad {}`", percent(row.good), percent(row.bad))
    } else {
        format!("`--at-least {}`", percent(row.good))
    }
}

fn interval(rate: f64, low: f64, high: f64) -> String {
    // Rounded outwards, so that the printed limits hold too.
    let (low, high) = ((1e4 * low).floor() / 1e4, (1e4 * high).ceil() / 1e4);
    format!("{} ({} to {})", percent(rate), percent(low), percent(high))
}

fn percent(share: f64) -> String {
    share_text(share, 2)
}

#[cfg(test)]
mod tests {
    use super::*;

    const JSON: &str = r#"{"schema": "tiebreak/shares/1",
        "rates": {"streams": 1000, "trials_most": 300000, "confidence": 0.99, "rows": [
            {"good": 0.98, "bad": 0.96, "error": 0.001, "truth": 0.96, "methods": [
                {"name": "classic driver", "median": 900, "mean": 1000.4, "p90": 2000,
                 "undecided": 0, "wrong": 1, "wrong_low": 0.00005, "wrong_high": 0.00981},
                {"name": "grid", "median": 550, "mean": 650.0, "p90": 1200,
                 "undecided": 0, "wrong": 0, "wrong_low": 0.0, "wrong_high": 0.00701},
                {"name": "half SPRT, half grid", "median": 500, "mean": 600.0, "p90": 1100,
                 "undecided": 2, "wrong": 0, "wrong_low": 0.0, "wrong_high": 0.00701}]},
            {"good": 0.99, "bad": 0.99, "error": 0.001, "truth": 0.995, "methods": [
                {"name": "classic driver", "median": 90, "mean": 100.0, "p90": 200,
                 "undecided": 0, "wrong": 0, "wrong_low": 0.0, "wrong_high": 0.00701},
                {"name": "grid", "median": 70, "mean": 75.0, "p90": 110,
                 "undecided": 0, "wrong": 0, "wrong_low": 0.0, "wrong_high": 0.00701}]}]},
        "bursts": {"streams": 100, "requests": 5000, "share": 0.99, "error": 0.01,
            "confidence": 0.99, "rows": [
            {"mean_burst": 3.0, "block": 1, "holds": {"count": 40, "rate": 0.4, "low": 0.25123,
             "high": 0.55}, "refuted": {"count": 0, "rate": 0.0, "low": 0.0, "high": 0.09}}]}}"#;

    #[test]
    fn rows_and_their_explanations_are_written() {
        let text = render(JSON).unwrap();
        for expected in [
            "| claim | true rate | classic driver | grid | half SPRT, half grid | saved |\n",
            "| `--good 98% --bad 96%` | 96% | 900 (1000) | 550 (650) | 500 (600) | 40% |\n",
            "| `--at-least 99%` | 99.5% | 90 (100) | 70 (75) | - | 25% |\n",
            "ended within 2000 trials, and all but 2 of them within 300000.\n",
            "| `--good 98% --bad 96%` | 96% | 0.1% | 0.1% (0% to 0.99%) | 0% (0% to 0.71%) | ",
            "| mean burst | verdict | block 1 |\n",
            "| 3 | holds | 40% (25.12% to 55%) |\n",
            "| 3 | refuted | 0% (0% to 9%) |\n",
        ] {
            assert!(text.contains(expected), "{expected}\nis not in\n{text}");
        }
    }

    #[test]
    fn other_data_is_refused() {
        assert!(render(&JSON.replace("shares/1", "shares/2")).is_err());
        assert!(render(&JSON.replace("classic driver", "modern driver")).is_err());
        assert!(render("{}").is_err());
    }
}
