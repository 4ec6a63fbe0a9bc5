//! The tables of the cost and the errors of claims about success rates, from the simulations of the
//! example `shares` of `lab/stats`.

use crate::measured::{Part, rendered, source};
use anyhow::{Context, Result};
use tiebreak_report::markdown::table;
use tiebreak_report::number::share_text;

/// The path of the data, from the root.
pub const DATA: &str = "docs/measured/shares.json";

const SCHEMA: &str = "tiebreak/shares/1";

/// The method of reference, and that of tiebreak.
const CLASSIC: &str = "classic driver";
const OURS: &str = "tiebreak";

/// Renders the block.
///
/// # Errors
/// Fails if the data is not what the example writes.
pub fn render(json: &str) -> Result<String> {
    rendered(json, DATA, SCHEMA, |data| {
        let rates = data.at("rates");
        Ok(format!(
            "{}{}{}\nEvery number is simulated, with fixed seeds. {}\n",
            trials(rates)?,
            wrong(rates)?,
            bursts(data.at("bursts"))?,
            source(DATA)
        ))
    })
}

/// Returns the names of the methods in the order of the data; rows with one bar have fewer of them.
fn names(rates: Part<'_>) -> Vec<&str> {
    let rows = rates.list("rows").map(|row| row.list("methods").map(|one| one.text("name")));
    rows.map(Iterator::collect::<Vec<_>>).max_by_key(Vec::len).unwrap_or_default()
}

fn method<'a>(row: Part<'a>, name: &str) -> Option<Part<'a>> {
    row.list("methods").find(|method| method.text("name") == name)
}

fn trials(rates: Part<'_>) -> Result<String> {
    let names = names(rates);
    let mut rows = Vec::new();
    for row in rates.list("rows") {
        let both = method(row, CLASSIC).zip(method(row, OURS));
        let (classic, ours) = both.with_context(|| format!("{DATA}: a row lacks a method"))?;
        let mut cells = vec![claim(row), percent(row.number("truth"))];
        cells.extend(names.iter().map(|name| match method(row, name) {
            Some(method) => format!("{} ({:.0})", method.number("median"), method.number("mean")),
            None => "-".to_owned(),
        }));
        let saved = 1.0 - ours.number("mean") / classic.number("mean");
        cells.push(format!("{:.0}%", 100.0 * saved));
        rows.push(cells);
    }
    let head = [&["claim", "true rate"][..], &names, &["saved"]].concat();
    let entries = rates.list("rows").flat_map(|row| row.list("methods"));
    let longest = entries.clone().map(|method| method.number("p90")).fold(0.0, f64::max);
    let undecided: f64 = entries.map(|method| method.number("undecided")).sum();
    let ended = match undecided {
        0.0 => "all of them".to_owned(),
        undecided => format!("all but {undecided} of them"),
    };
    Ok(format!(
        "{}\nTrials to the verdict: the median and, in brackets, the mean of {} streams, the same \
         for all methods. The last column is what tiebreak saves of the classic driver's mean. \
         Nine of ten runs of any method ended within {longest} trials, and {ended} within {}.\n\n",
        table(&head, rows),
        rates.number("streams"),
        rates.number("trials_most")
    ))
}

/// Makes the table of false verdicts where the truth lies at a bar, where they are most likely.
fn wrong(rates: Part<'_>) -> Result<String> {
    let names = names(rates);
    let mut rows = Vec::new();
    for row in rates.list("rows") {
        let [good, bad, truth] = ["good", "bad", "truth"].map(|rate| row.number(rate));
        if ![good, bad].contains(&truth) {
            continue;
        }
        let mut cells = vec![claim(row), percent(truth), percent(row.number("error"))];
        for name in &names {
            let method = method(row, name).with_context(|| format!("{DATA}: no {name}"))?;
            let rate = method.number("wrong") / rates.number("streams");
            cells.push(interval(rate, method.number("wrong_low"), method.number("wrong_high")));
        }
        rows.push(cells);
    }
    Ok(format!(
        "{}\nFalse verdicts on the same streams, with an interval that holds with probability \
         {}.\n\n",
        table(&[&["claim", "true rate", "asked for"][..], &names].concat(), rows),
        percent(rates.number("confidence"))
    ))
}

fn bursts(bursts: Part<'_>) -> Result<String> {
    let all: Vec<Part<'_>> = bursts.list("rows").collect();
    let mut blocks: Vec<f64> = all.iter().map(|row| row.number("block")).collect();
    blocks.sort_by(f64::total_cmp);
    blocks.dedup();
    let mut rows = Vec::new();
    let length = |row: &Part<'_>| row.number("mean_burst");
    for of_length in all.chunk_by(|one, two| length(one) == length(two)) {
        let length = length(&of_length[0]);
        for verdict in ["holds", "refuted"] {
            let mut cells = vec![length.to_string(), verdict.to_owned()];
            for block in &blocks {
                let row = of_length.iter().find(|row| row.number("block") == *block);
                let row = row.with_context(|| format!("{DATA}: no block {block} of {length}"))?;
                let [rate, low, high] =
                    ["rate", "low", "high"].map(|place| row.at(verdict).number(place));
                cells.push(interval(rate, low, high));
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
        bursts.number("streams"),
        bursts.number("requests"),
        percent(bursts.number("share")),
        percent(bursts.number("error")),
        percent(bursts.number("confidence"))
    ))
}

fn claim(row: Part<'_>) -> String {
    let (good, bad) = (row.number("good"), row.number("bad"));
    if good > bad {
        format!("`--good {} --bad {}`", percent(good), percent(bad))
    } else {
        format!("`--at-least {}`", percent(good))
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
                {"name": "tiebreak", "median": 500, "mean": 600.0, "p90": 1100,
                 "undecided": 2, "wrong": 0, "wrong_low": 0.0, "wrong_high": 0.00701}]},
            {"good": 0.99, "bad": 0.99, "error": 0.001, "truth": 0.995, "methods": [
                {"name": "classic driver", "median": 90, "mean": 100.0, "p90": 200,
                 "undecided": 0, "wrong": 0, "wrong_low": 0.0, "wrong_high": 0.00701},
                {"name": "tiebreak", "median": 70, "mean": 75.0, "p90": 110,
                 "undecided": 0, "wrong": 0, "wrong_low": 0.0, "wrong_high": 0.00701}]}]},
        "bursts": {"streams": 100, "requests": 5000, "share": 0.99, "error": 0.01,
            "confidence": 0.99, "rows": [
            {"mean_burst": 3.0, "block": 1, "holds": {"count": 40, "rate": 0.4, "low": 0.25123,
             "high": 0.55}, "refuted": {"count": 0, "rate": 0.0, "low": 0.0, "high": 0.09}}]}}"#;

    #[test]
    fn rows_and_their_explanations_are_written() {
        let text = render(JSON).unwrap();
        for expected in [
            "| claim | true rate | classic driver | grid | tiebreak | saved |\n",
            "| `--good 98% --bad 96%` | 96% | 900 (1000) | 550 (650) | 500 (600) | 40% |\n",
            "| `--at-least 99%` | 99.5% | 90 (100) | - | 70 (75) | 25% |\n",
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
