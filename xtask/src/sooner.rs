//! The tables of the ways to find small differences sooner, from the measurements of
//! `bench/sooner`.

use crate::measured::{Part, median, rendered, source};
use anyhow::{Result, ensure};
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

/// Renders the block, with links as seen from `docs/manual`.
///
/// # Errors
/// Fails if the data is not what `bench/sooner` writes.
pub fn render(json: &str) -> Result<String> {
    rendered(json, DATA, SCHEMA, |data| {
        ensure!(data.list("races").next().is_some(), "{DATA}: no races");
        let mut out = String::new();
        // The neighbours, and whether rounds waited for them: the calmest first.
        let world = |race: &Part<'_>| (race.is("waits"), race.number("duty"));
        let mut worlds: Vec<_> = data.list("races").map(|race| world(&race)).collect();
        worlds.sort_by(|a, b| a.0.cmp(&b.0).then(a.1.total_cmp(&b.1)));
        worlds.dedup();
        for (waits, duty) in worlds {
            let races = data.list("races").filter(|race| world(race) == (waits, duty));
            let races: Vec<Part<'_>> = races.collect();
            let waiting =
                if waits { "each round waiting for quiet" } else { "not waiting (`--no-wait`)" };
            let busy = percent(duty);
            let title = format!("A neighbour that is busy {busy} of the time, {waiting}");
            let [disturbed, rounds] = ["disturbed", "rounds"]
                .map(|place| races.iter().map(|race| race.number(place)).sum::<f64>());
            let disturbed = percent(disturbed / rounds);
            out += &heading(2, &title);
            out += &table(&HEAD, WAYS.map(|way| measured(&races, way)));
            out += &format!("\n{disturbed} of the rounds were disturbed.\n\n");
        }
        let simulated = data.at("simulated");
        out += &format!("{}\n\n", conditions(data));
        out += &(heading(2, "Simulated neighbours") + &gains(simulated) + "\n");
        Ok(out + &heading(2, "Where contestants are not equal") + &bars(simulated) + "\n")
    })
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

/// Makes a row of the first tables: the verdicts of a way on the races of both cases.
fn measured(races: &[Part<'_>], (way, name): (&str, &str)) -> [String; 8] {
    let [slower, same] = ["slower2", "same"].map(|case| -> Vec<Part<'_>> {
        let races = races.iter().filter(|race| race.text("case") == case);
        races.map(|race| race.part("ways").part(way)).collect()
    });
    let is_found =
        |verdict: &&Part<'_>| !verdict.at("a_faster").is_null() && verdict.is("a_faster");
    let found = slower.iter().filter(is_found).count();
    let wrong = slower.iter().filter(|one| one.maybe_text("verdict").is_some() && !is_found(one));
    let [holds, too_close] = ["holds", "too close"].map(|verdict| {
        same.iter().filter(|one| one.maybe_text("verdict") == Some(verdict)).count()
    });
    [
        name.to_owned(),
        format!("{found} of {}", slower.len()),
        wrong.count().to_string(),
        rounds(&slower, 0.5),
        rounds(&slower, 0.9),
        saved(races, way),
        format!("{holds} of {}", same.len()),
        too_close.to_string(),
    ]
}

/// Writes the number of rounds that this share of the races needed at most, if there were enough.
fn rounds(verdicts: &[Part<'_>], share: f64) -> String {
    let needed = verdicts.iter().map(|one| one.maybe("rounds").unwrap_or(f64::INFINITY));
    let mut needed: Vec<f64> = needed.collect();
    needed.sort_by(f64::total_cmp);
    let place = ((share * needed.len() as f64).ceil() as usize).saturating_sub(1);
    let rounds = needed.get(place).filter(|rounds| rounds.is_finite());
    rounds.map_or("more than there were".to_owned(), f64::to_string)
}

/// Writes the median over the races of the rounds that a way saves; a race without a verdict counts
/// with its last round.
fn saved(races: &[Part<'_>], way: &str) -> String {
    let ratios = races.iter().filter(|race| race.text("case") == "slower2").map(|race| {
        let [own, none] = [way, "none"].map(|way| {
            let rounds = race.at("ways").at(way).maybe("rounds");
            rounds.unwrap_or_else(|| race.number("rounds"))
        });
        own / none
    });
    match median(ratios) {
        Some(ratio) if ratio < 1.0 => percent(1.0 - ratio),
        Some(ratio) if ratio > 1.0 => percent(ratio - 1.0) + " more",
        _ => "0%".to_owned(),
    }
}

fn conditions(data: Part<'_>) -> String {
    let of = data.at("settings");
    let [date, machine] = data.day_and_machine();
    format!(
        "Measured on {date} on {machine}: static programs of {:.0} ms on one CPU with a neighbour \
         that works in bursts of 1 to 20 ms and would keep a CPU of its own busy for the share \
         that is said. A round is disturbed if either run waited for the CPU for more than 5% of \
         its time. Each race recorded up to {} rounds, and each way then looked at the same rounds \
         from the first one on, at an error of {} and a resolution of {}. \"Rounds less\" is the \
         median over the races of what a way saves of the rounds of the same race. {}",
        of.number("process_ms"),
        of.number("rounds"),
        percent(of.number("error")),
        percent(of.number("resolution")),
        source(DATA),
    )
}

/// Makes the table of the rounds that half of the streams need, and nine of ten; `null` if there
/// are too many.
fn gains(simulated: Part<'_>) -> String {
    let ways = &WAYS[..4];
    let rows = simulated.list("gains").map(|gain| {
        let slot = match gain.number("slow_second") {
            0.0 => "as fast".to_owned(),
            slower => percent(slower) + " slower",
        };
        let mut cells = vec![percent(gain.number("duty")), slot];
        cells.extend(ways.iter().map(|(way, _)| {
            let needed = gain.at("rounds").list(way).map(|rounds| rounds.maybe(""));
            let texts = needed.map(|n| n.map_or("over 3000".to_owned(), |n| n.to_string()));
            texts.collect::<Vec<_>>().join(" / ")
        }));
        cells
    });
    let names: Vec<&str> = ways.iter().map(|(_, name)| *name).collect();
    let mut out = table(&[&["neighbour", "second slot"][..], &names].concat(), rows);
    out += "\nRounds until it is proven that one of two programs of 3 ms is 2% faster, half of the \
            streams / nine of ten, at an error of 1% and without a resolution; the programs have \
            1.5% noise of their own. The neighbour visits a run as often as the first column says \
            on average, for up to 4 ms each time.\n";
    out
}

/// Makes the table of how often a claim at its true bar ever held, and was ever refuted.
fn bars(simulated: Part<'_>) -> String {
    let rows = simulated.list("bars").map(|bar| {
        let [none, strata] = ["none", "strata"].map(|way| {
            let rates = bar.numbers(way).map(|count| 100.0 * count / bar.number("streams"));
            rates.map(|rate| format!("{rate:.1}%")).collect::<Vec<_>>().join(" / ")
        });
        [bar.number("factor").to_string(), none, strata]
    });
    let head =
        ["B / A alone", "nothing taken out: above / below", "`--adjust strata`: above / below"];
    table(&head, rows)
        + "\nHow often the factor of what two programs need alone was ever excluded from below or \
           from above within 1000 rounds, next to a neighbour that visits them 0.4 times every 3 \
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
