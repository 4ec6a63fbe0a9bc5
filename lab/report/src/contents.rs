//! What studies and plans contain, in words and tables.

use crate::prelude::*;
use crate::table::render;
use tiebreak_core::plan::Plan;
use tiebreak_core::quantity::{Rounding, format_ns, format_percent};
use tiebreak_core::study::{
    Call, Contract, Entrant, Pilot, Published, Study, ThreadCount, Workload,
};

/// Returns one line for each contestant and one for each claim, with its share of the error; then
/// the budget and the seed.
pub fn planned(plan: &Plan) -> String {
    let mut text = String::from("contestants\n");
    for contestant in &plan.contestants {
        text += &format!("  {}: {}\n", contestant.name, contestant.command);
    }
    text += "claims, with their share of the error\n";
    for planned in &plan.claims {
        let error = format_percent(planned.error, Rounding::Up);
        text += &format!("  {}: {error}\n", planned.claim.text);
    }
    let rounds = plan.budget.rounds.map(|rounds| format!("{rounds} rounds"));
    let seconds = plan.budget.seconds.map(|seconds| format_ns(seconds * 1e9));
    let budget: Vec<String> = rounds.into_iter().chain(seconds).collect();
    text += &format!("budget {}\nseed {}\n", budget.join(", "), plan.seed);
    text
}

/// A study in a list: its name, and its content unless it is broken.
pub type Listed<'a> = (&'a str, Option<&'a Study>);

/// Returns a table of studies, each with its title.
pub fn list(listed: &[Listed], look: &Look) -> String {
    let columns = vec![
        Column::new(
            "study",
            Align::Left,
            listed.iter().map(|(name, _)| (*name).to_owned()).collect(),
        ),
        Column::new("workloads", Align::Right, cells(listed, |s| s.workloads.len().to_string())),
        Column::new(
            "contestants",
            Align::Right,
            cells(listed, |s| s.contestants.len().to_string()),
        ),
        Column::new(
            "published",
            Align::Left,
            cells(listed, |study| {
                if study.published.is_empty() { "-".to_owned() } else { "yes".to_owned() }
            }),
        ),
    ];
    let titles = listed.iter().map(|(name, study)| match study {
        Some(study) => study.title.clone(),
        None => format!("is broken: 'tiebreak study show {name}' says why"),
    });
    with_notes(&render(columns, look), titles)
}

fn cells(listed: &[Listed], of: fn(&Study) -> String) -> Vec<String> {
    listed.iter().map(|(_, study)| study.map_or("-".to_owned(), of)).collect()
}

/// Returns everything that a study contains. `receipt` returns the version of a contestant's
/// compiler or why there is none; `meaning` explains the sentence of a claim.
pub fn page(
    study: &Study,
    receipt: impl Fn(&Entrant) -> String,
    meaning: impl Fn(&str) -> Option<String>,
    look: &Look,
) -> String {
    let sections = [
        head(study),
        workloads(study, look),
        contestants(study, receipt, look),
        study.contracts.iter().map(contract).collect(),
        claims(study, meaning),
        study.published.iter().map(published).collect(),
    ];
    let filled: Vec<String> = sections.into_iter().filter(|text| !text.is_empty()).collect();
    filled.join("\n")
}

fn head(study: &Study) -> String {
    let call = match study.call {
        Call::Separate => "by a call that no compiler inlines",
        Call::Inlined => "by code that the compiler may inline",
    };
    format!(
        "{}: {}\nsource {}\nfolder {}\nscope {}; an item is called {}, each done {call}\n",
        study.name,
        study.title,
        study.source,
        study.folder,
        study.scope.name(),
        study.item,
    )
}

fn workloads(study: &Study, look: &Look) -> String {
    let column = |of: fn(&Workload) -> String| study.workloads.iter().map(of).collect::<Vec<_>>();
    let input = column(|workload| match (&workload.file, workload.is_drawn) {
        (Some(file), _) => file.clone(),
        (None, true) => "drawn for each unit".to_owned(),
        (None, false) => format!("drawn once, by {}", workload.seed),
    });
    let columns = vec![
        Column::new("workload", Align::Left, column(|one| one.name.clone())),
        Column::new("distribution", Align::Left, column(|one| one.distribution.clone())).rank(2),
        Column::new("size", Align::Right, column(|one| one.size.to_string())),
        Column::new("input", Align::Left, input).rank(1),
    ];
    let mut text = with_notes(&render(columns, look), column(|one| one.about.clone()));
    for one in &study.verifications {
        let parts = count(one.parts, "part");
        let when = if one.is_full { ", by verify --full only" } else { "" };
        text += &format!("verify: {} ({parts}{when})\n", one.name);
    }
    text
}

fn contestants(study: &Study, receipt: impl Fn(&Entrant) -> String, look: &Look) -> String {
    // A contestant that runs on several numbers of threads is shown once.
    let teams: Vec<&[Entrant]> = study.contestants.chunk_by(is_same_family).collect();
    let names = teams.iter().map(|team| {
        let name = family(&team[0]).unwrap_or(&team[0].name);
        match team.iter().find(|one| one.name == study.reference) {
            Some(one) if one.name == name => format!("{name} (reference)"),
            Some(one) => format!("{name} (reference: {})", one.name),
            None => name.to_owned(),
        }
    });
    let contracts = teams.iter().map(|team| team[0].contract.clone()).collect();
    let compilers = teams.iter().map(|team| receipt(&team[0])).collect();
    let columns = vec![
        Column::new("contestant", Align::Left, names.collect()),
        Column::new("contract", Align::Left, contracts).rank(1),
        Column::new("compiler", Align::Left, compilers),
    ];
    with_notes(&render(columns, look), teams.iter().map(|team| about(team)))
}

fn family(entrant: &Entrant) -> Option<&str> {
    entrant.threads.as_ref().map(|threads| threads.family.as_str())
}

fn is_same_family(one: &Entrant, other: &Entrant) -> bool {
    family(one).is_some() && family(one) == family(other)
}

/// Describes a contestant, and on how many threads it runs.
fn about(team: &[Entrant]) -> String {
    let threads = team.iter().filter_map(|one| one.threads.as_ref());
    let counts = threads.map(|threads| match threads.count {
        ThreadCount::Number(number) => number.to_string(),
        ThreadCount::All => "all CPUs".to_owned(),
    });
    let counts: Vec<String> = counts.collect();
    let about = team[0].about.as_str();
    match (counts.is_empty(), about.is_empty()) {
        (true, _) => about.to_owned(),
        (false, true) => format!("threads: {}", counts.join(", ")),
        (false, false) => format!("{about}; threads: {}", counts.join(", ")),
    }
}

fn contract(contract: &Contract) -> String {
    let exact = if contract.is_exact { "" } else { " (in no claim with the others)" };
    format!("contract {}: {}{exact}\n", contract.name, contract.text)
}

fn claims(study: &Study, meaning: impl Fn(&str) -> Option<String>) -> String {
    let lines = study.claims.iter().map(|claim| {
        let published = if claim.is_published { "published" } else { "ours" };
        let says = meaning(&claim.text).map(|says| format!("\n  {says}")).unwrap_or_default();
        format!("claim ({published}): {}{says}\n", claim.text)
    });
    lines.collect()
}

fn published(one: &Published) -> String {
    let text = if one.text.is_empty() { String::new() } else { format!(": {}", one.text) };
    let figures = count(one.figures.len() as u64, "figure");
    format!("published by {} on {} ({figures}){text}\n", one.source, one.machine)
}

/// Describes the findings of a workload's pilot, and what follows from them.
pub fn piloted(workload: &str, pilot: &Pilot, rounds_a_unit: u32, batch_ns: f64) -> String {
    // One unit says nothing about the spread of units.
    let spreads = match pilot.units {
        0 => return format!("{workload}: nothing to compare"),
        1 => String::new(),
        _ => {
            let [rounds, units] = [pilot.variance_within, pilot.variance_between]
                .map(|variance| variance.sqrt() * 100.0);
            format!("rounds spread by {rounds:.2}% and units by {units:.2}%, ")
        }
    };
    format!(
        "{workload}: batches of {}, {} a unit; in {} of the pilot {spreads}a round took {} and a \
         unit {} more",
        format_ns(batch_ns),
        count(u64::from(rounds_a_unit), "round"),
        count(u64::from(pilot.units), "unit"),
        format_ns(pilot.round_cost_ns),
        format_ns(pilot.unit_cost_ns),
    )
}

/// Adds a note below each row of a table; the table's first line contains the titles.
fn with_notes(table: &str, notes: impl IntoIterator<Item = String>) -> String {
    let mut lines = table.lines();
    let mut text = format!("{}\n", lines.next().unwrap_or_default());
    for (line, note) in lines.zip(notes) {
        text += &format!("{line}\n");
        if !note.is_empty() {
            text += &format!("  {note}\n");
        }
    }
    text
}
