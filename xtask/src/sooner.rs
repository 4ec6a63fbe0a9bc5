//! The tables of the ways to find small differences sooner, from the measurements of
//! `bench/sooner`.

use crate::measured::{Data, median, read, source};
use anyhow::{Context, Result, ensure};
use serde::Deserialize;
use std::collections::BTreeMap;
use tiebreak_report::markdown::{heading, table};

/// The path of the data, from the root.
pub const DATA: &str = "docs/measured/sooner.json";

const SCHEMA: &str = "tiebreak/sooner/1";

/// The ways, as the data names them and as the page does.
const WAYS: [(&str, &str); 5] = [
    ("none", "nothing taken out"),
    ("slot", "`--adjust slot`"),
    ("strata", "`--adjust strata`"),
    ("both", "`--adjust slot,strata`"),
    ("run time", "`--by 'run time'`"),
];

#[derive(Deserialize)]
struct Sooner {
    simulated: Simulated,
    races: Vec<Race>,
}

#[derive(Deserialize)]
struct Simulated {
    gains: Vec<Gain>,
    bars: Vec<Bar>,
}

/// The rounds that half of the streams need, and nine of ten, by way; `None` if there are too many.
#[derive(Deserialize)]
struct Gain {
    duty: f64,
    slow_second: f64,
    rounds: BTreeMap<String, [Option<u64>; 2]>,
}

/// In how many streams a claim at its true bar ever held, and was ever refuted.
#[derive(Deserialize)]
struct Bar {
    factor: f64,
    streams: u64,
    none: [u64; 2],
    strata: [u64; 2],
}

/// The pair of a race: a program with itself, or with one that does 2% more work.
#[derive(Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
enum Case {
    Same,
    Slower2,
}

#[derive(Deserialize)]
struct Race {
    case: Case,
    /// The share of the time that the neighbour would be busy on a CPU of its own.
    duty: f64,
    /// Whether a round waits until the machine is quiet.
    waits: bool,
    rounds: u64,
    disturbed: u64,
    ways: BTreeMap<String, Verdicts>,
}

/// The first verdict of a way on a race, if there was one.
#[derive(Deserialize)]
struct Verdicts {
    rounds: Option<u64>,
    verdict: Option<String>,
    a_faster: Option<bool>,
}

/// Renders the block, with links as seen from `docs/manual`.
///
/// # Errors
/// Fails if the data is not what `bench/sooner` writes.
pub fn render(json: &str) -> Result<String> {
    let data: Data<Sooner> = read(json, DATA, SCHEMA)?;
    let Sooner { simulated, races } = &data.of;
    ensure!(!races.is_empty(), "{DATA}: no races");
    let mut out = String::new();
    // The neighbours, and whether rounds waited for them: the calmest first.
    let mut worlds: Vec<_> = races.iter().map(|race| (race.duty, race.waits)).collect();
    worlds.sort_by(|a, b| a.1.cmp(&b.1).then(a.0.total_cmp(&b.0)));
    worlds.dedup();
    for (duty, waits) in worlds {
        let races = races.iter().filter(|race| race.duty == duty && race.waits == waits);
        let races: Vec<&Race> = races.collect();
        let waiting =
            if waits { "each round waiting for quiet" } else { "not waiting (`--no-wait`)" };
        let busy = percent(duty);
        let title = format!("A neighbour that is busy {busy} of the time, {waiting}");
        let rows = WAYS.iter().map(|way| measured(&races, *way)).collect::<Result<Vec<_>>>()?;
        let [disturbed, rounds]: [u64; 2] = [
            races.iter().map(|race| race.disturbed).sum(),
            races.iter().map(|race| race.rounds).sum(),
        ];
        let disturbed = percent(disturbed as f64 / rounds as f64);
        out += &heading(2, &title);
        out += &table(&HEAD, rows);
        out += &format!("\n{disturbed} of the rounds were disturbed.\n\n");
    }
    out += &format!("{}\n\n", conditions(&data)?);
    out += &(heading(2, "Simulated neighbours") + &gains(&simulated.gains)? + "\n");
    Ok(out + &heading(2, "Where contestants are not equal") + &bars(&simulated.bars) + "\n")
}

/// Writes a share in percent, without decimals.
fn percent(share: f64) -> String {
    format!("{:.0}%", 100.0 * share)
}

/// The columns of the first tables.
const HEAD: [&str; 8] = [
    "way",
    "2% slower: found",
    "said otherwise",
    "rounds, median",
    "nine of ten within",
    "rounds less",
    "the same: said that one is faster",
    "too close",
];

/// Makes a row of the first tables.
fn measured(races: &[&Race], (way, name): (&str, &str)) -> Result<[String; 8]> {
    let [slower, same] = [Case::Slower2, Case::Same].map(|case| {
        let races = races.iter().filter(|race| race.case == case);
        let verdicts = races.map(|race| race.ways.get(way)).collect::<Option<Vec<&Verdicts>>>();
        verdicts.with_context(|| format!("{DATA}: a race says nothing of {way}"))
    });
    let (slower, same) = (slower?, same?);
    let found = slower.iter().filter(|one| one.a_faster == Some(true));
    let wrong = slower.iter().filter(|one| one.verdict.is_some() && one.a_faster != Some(true));
    let [holds, too_close] = ["holds", "too close"]
        .map(|verdict| same.iter().filter(|one| one.verdict.as_deref() == Some(verdict)).count());
    Ok([
        name.to_owned(),
        format!("{} of {}", found.count(), slower.len()),
        wrong.count().to_string(),
        rounds(&slower, 0.5),
        rounds(&slower, 0.9),
        saved(races, way),
        format!("{holds} of {}", same.len()),
        too_close.to_string(),
    ])
}

/// Writes the number of rounds that this share of the races needed at most, if there were enough.
fn rounds(verdicts: &[&Verdicts], share: f64) -> String {
    let mut needed: Vec<u64> = verdicts.iter().map(|one| one.rounds.unwrap_or(u64::MAX)).collect();
    needed.sort_unstable();
    let place = ((share * needed.len() as f64).ceil() as usize).saturating_sub(1);
    let rounds = needed.get(place).filter(|rounds| **rounds < u64::MAX);
    rounds.map_or("more than there were".to_owned(), u64::to_string)
}

/// Writes the median over the races of the rounds that a way saves; a race without a verdict counts
/// with its last round.
fn saved(races: &[&Race], way: &str) -> String {
    let ratios = races.iter().filter(|race| race.case == Case::Slower2).map(|race| {
        let [own, none] =
            [way, "none"].map(|way| race.ways[way].rounds.unwrap_or(race.rounds) as f64);
        own / none
    });
    match median(ratios) {
        Some(ratio) if ratio < 1.0 => percent(1.0 - ratio),
        Some(ratio) if ratio > 1.0 => percent(ratio - 1.0) + " more",
        _ => "0%".to_owned(),
    }
}

fn conditions(data: &Data<Sooner>) -> Result<String> {
    let Data { date, machine, .. } = data;
    let [process_ms, rounds, error, resolution] =
        data.settings(["process_ms", "rounds", "error", "resolution"])?;
    Ok(format!(
        "Measured on {date} on {machine}: static programs of {process_ms:.0} ms on one CPU with a \
         neighbour that works in bursts of 1 to 20 ms and would keep a CPU of its own busy for the \
         share that is said. A round is disturbed if either run waited for the CPU for more than \
         5% of its time. Each race recorded up to {rounds} rounds, and each way then looked at the \
         same rounds from the first one on, at an error of {} and a resolution of {}. \
         \"Rounds less\" is the median over the races of what a way saves of the rounds of the \
         same race. {}",
        percent(error),
        percent(resolution),
        source(DATA),
    ))
}

fn gains(gains: &[Gain]) -> Result<String> {
    let ways = &WAYS[..4];
    let mut rows = Vec::new();
    for gain in gains {
        let slot = match gain.slow_second {
            0.0 => "as fast".to_owned(),
            slower => percent(slower) + " slower",
        };
        let mut cells = vec![percent(gain.duty), slot];
        for (way, _) in ways {
            let needed = gain.rounds.get(*way).with_context(|| format!("{DATA}: no {way}"))?;
            let texts = needed.map(|n| n.map_or("over 3000".to_owned(), |n| n.to_string()));
            cells.push(texts.join(" / "));
        }
        rows.push(cells);
    }
    let names: Vec<&str> = ways.iter().map(|(_, name)| *name).collect();
    let mut out = table(&[&["neighbour", "second slot"][..], &names].concat(), rows);
    out += "\nRounds until it is told that one of two programs of 3 ms is 2% faster, half of the \
            streams / nine of ten, at an error of 1% and without a resolution; the programs have \
            1.5% noise of their own. The neighbour visits a run as often as the first column says \
            on average, for up to 4 ms each time.\n";
    Ok(out)
}

fn bars(bars: &[Bar]) -> String {
    let rows = bars.iter().map(|bar| {
        let [none, strata] = [bar.none, bar.strata].map(|wrong| {
            let rates = wrong.map(|count| 100.0 * count as f64 / bar.streams as f64);
            rates.map(|rate| format!("{rate:.1}%")).join(" / ")
        });
        [bar.factor.to_string(), none, strata]
    });
    let head =
        ["B / A alone", "nothing taken out: above / below", "`--adjust strata`: above / below"];
    table(&head, rows)
        + "\nHow often the factor of what two programs need alone was ever excluded from below or \
           from above within 1000 rounds, beside a neighbour that visits them 0.4 times every 3 \
           ms; 1% was asked for of each side.\n"
}

#[cfg(test)]
mod tests {
    use super::*;

    const JSON: &str = r#"{"schema": "tiebreak/sooner/1", "date": "2026-01-02",
        "machine": {"cpu": "Some CPU", "cpus": 2, "kernel": "6.1"},
        "settings": {"process_ms": 3.0, "rounds": 500, "error": 0.01, "resolution": 0.01},
        "simulated": {"gains": [{"duty": 0.4, "slow_second": 0.04, "rounds": {
                "none": [1918, null], "slot": [236, 398], "strata": [280, 469],
                "both": [108, 155]}}],
            "bars": [{"factor": 1.5, "streams": 4000, "none": [1158, 7], "strata": [57, 16]}]},
        "races": [RACES]}"#;

    fn race(case: &str, waits: bool, none: &str, other: &str) -> String {
        let ways: Vec<_> = WAYS
            .iter()
            .map(|(way, _)| format!("\"{way}\": {}", if *way == "none" { none } else { other }))
            .collect();
        format!(
            "{{\"case\": \"{case}\", \"duty\": 0.4, \"waits\": {waits}, \"rounds\": 500,
                \"disturbed\": 100, \"ways\": {{{}}}}}",
            ways.join(", ")
        )
    }

    fn said(rounds: u32, verdict: &str, a_faster: &str) -> String {
        format!("{{\"rounds\": {rounds}, \"verdict\": \"{verdict}\", \"a_faster\": {a_faster}}}")
    }

    #[test]
    fn counts_quantiles_and_savings_are_written() {
        let nothing = "{\"rounds\": null, \"verdict\": null, \"a_faster\": null}".to_owned();
        let races = [
            race("slower2", false, &said(100, "holds", "true"), &said(50, "holds", "true")),
            race("slower2", false, &said(200, "holds", "true"), &said(150, "holds", "false")),
            race("slower2", false, &nothing, &said(300, "too close", "null")),
            race("same", false, &said(90, "too close", "null"), &said(10, "holds", "false")),
            race("slower2", true, &said(70, "holds", "true"), &said(70, "holds", "true")),
            race("same", true, &said(80, "too close", "null"), &nothing),
        ];
        let text = render(&JSON.replace("RACES", &races.join(", "))).unwrap();
        for row in [
            "| nothing taken out | 2 of 3 | 0 | 200 | more than there were | 0% | 0 of 1 | 1 |",
            "| `--adjust strata` | 1 of 3 | 2 | 150 | 300 | 40% | 1 of 1 | 0 |",
            "| nothing taken out | 1 of 1 | 0 | 70 | 70 | 0% | 0 of 1 | 1 |",
            "20% of the rounds were disturbed.",
            "| 40% | 4% slower | 1918 / over 3000 | 236 / 398 | 280 / 469 | 108 / 155 |",
            "| 1.5 | 28.9% / 0.2% | 1.4% / 0.4% |",
        ] {
            assert!(text.contains(&format!("\n{row}\n")), "{row}\nis not in\n{text}");
        }
        for title in ["not waiting (`--no-wait`)", "each round waiting for quiet"] {
            let title = format!("### A neighbour that is busy 40% of the time, {title}\n");
            assert_eq!(text.matches(&title).count(), 1, "{text}");
        }
    }

    #[test]
    fn other_data_is_refused() {
        assert!(render(&JSON.replace("RACES", "")).is_err());
        let races = race("same", true, "{\"rounds\": null}", "{\"rounds\": null}");
        let json = JSON.replace("RACES", &races).replace("sooner/1", "sooner/2");
        assert!(render(&json).is_err());
    }
}
