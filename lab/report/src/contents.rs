//! What studies and plans contain, in words and tables.

use crate::prelude::*;
use crate::table::render;
use tiebreak_core::plan::Plan;
use tiebreak_core::quantity::format_ns;
use tiebreak_core::study::{Call, Entrant, Pilot, Study, ThreadCount, Workload};

/// Returns one line for each contestant and one for each claim, with its share of the error; then
/// the budget and the seed.
pub fn planned(plan: &Plan) -> String {
    let mut text = String::from("contestants\n");
    for contestant in &plan.contestants {
        text += &format!("  {}: {}\n", contestant.name, contestant.command);
    }
    if let Some(servers) = &plan.servers {
        text += &format!("each a server, loaded by\n  {}\n", servers.load);
    }
    text += "claims, with their share of the error\n";
    for planned in &plan.claims {
        let error = percent(planned.error, Rounding::Up);
        text += &format!("  {}: {error}\n", planned.claim.text);
    }
    let rounds = plan.budget.rounds.map(|rounds| format!("{rounds} rounds"));
    let seconds = plan.budget.seconds.map(|seconds| format_ns(seconds * 1e9));
    let budget: Vec<String> = rounds.into_iter().chain(seconds).collect();
    text + &format!("budget {}\nseed {}\n", budget.join(", "), plan.seed)
}

/// A study in a list: its name, and its content unless it is broken.
pub type Listed<'a> = (&'a str, Option<&'a Study>);

/// Returns a table of studies, each with its title.
pub fn list(listed: &[Listed], look: &Look) -> String {
    let column = |of: fn(&Study) -> String| cells(listed, |(_, study)| or_none(study.map(of)));
    let is_published = |study: &Study| if study.published.is_empty() { "-" } else { "yes" }.into();
    let columns = vec![
        Column::left("study", cells(listed, |(name, _)| name.to_string())),
        Column::right("workloads", column(|study| study.workloads.len().to_string())),
        Column::right("contestants", column(|study| study.contestants.len().to_string())),
        Column::left("published", column(is_published)),
    ];
    let titles = listed.iter().map(|(name, study)| match study {
        Some(study) => study.title.clone(),
        None => format!("is broken: 'tiebreak study show {name}' says why"),
    });
    with_notes(columns, look, titles)
}

/// Returns everything that a study contains. `receipt` returns the version of a contestant's
/// compiler or why there is none; `meaning` explains the sentence of a claim.
pub fn page(
    study: &Study,
    receipt: impl Fn(&Entrant) -> String,
    meaning: impl Fn(&str) -> Option<String>,
    look: &Look,
) -> String {
    let contracts = study.contracts.iter().map(|contract| {
        let exact = if contract.is_exact { "" } else { " (in no claim with the others)" };
        format!("contract {}: {}{exact}\n", contract.name, contract.text)
    });
    let claims = study.claims.iter().map(|claim| {
        let published = if claim.is_published { "published" } else { "ours" };
        let says = meaning(&claim.text).map_or(String::new(), |says| format!("\n  {says}"));
        format!("claim ({published}): {}{says}\n", claim.text)
    });
    let published = study.published.iter().map(|one| {
        let text = if one.text.is_empty() { String::new() } else { format!(": {}", one.text) };
        let figures = count(one.figures.len() as u64, "figure");
        format!("published by {} on {} ({figures}){text}\n", one.source, one.machine)
    });
    let mut sections = vec![head(study), workloads(study, look), contestants(study, receipt, look)];
    sections.extend([contracts.collect(), claims.collect(), published.collect()]);
    sections.retain(|text: &String| !text.is_empty());
    sections.join("\n")
}

fn head(study: &Study) -> String {
    let Study { name, title, source, folder, item, .. } = study;
    let call = match study.call {
        Call::Separate => "by a call that no compiler inlines",
        Call::Inlined => "by code that the compiler may inline",
    };
    let scope = study.scope.name();
    let oracle = study.oracle.iter().map(|oracle| format!("oracle {}\n", oracle.sources.join(" ")));
    let oracle: String = oracle.collect();
    format!(
        "{name}: {title}\nsource {source}\nfolder {folder}\n{oracle}scope {scope}; an item is \
         called {item}, each done {call}\n"
    )
}

fn workloads(study: &Study, look: &Look) -> String {
    let all = &study.workloads;
    let input = cells(all, |workload| match (&workload.file, workload.is_drawn) {
        (Some(file), _) => file.clone(),
        (None, true) => "drawn for each unit".to_owned(),
        (None, false) => format!("drawn once, by {}", workload.seed),
    });
    let columns = vec![
        Column::left("workload", cells(all, |one| one.name.clone())),
        Column::left("distribution", cells(all, |one| one.distribution.clone())).rank(2),
        Column::right("size", cells(all, |one| one.size.to_string())),
        Column::left("raced", cells(all, raced)),
        Column::left("input", input).rank(1),
    ];
    let mut text = with_notes(columns, look, all.iter().map(|one| one.about.clone()));
    for one in &study.verifications {
        let parts = count(one.parts, "part");
        let with = few(&one.contestants).map_or_else(String::new, |few| format!(", {few}"));
        let when = if one.is_full { ", by verify --full only" } else { "" };
        text += &format!("verify: {} ({parts}{with}{when})\n", one.name);
    }
    text
}

/// Returns how many contestants a list has, unless it is empty for all.
fn few(contestants: &[String]) -> Option<String> {
    (!contestants.is_empty()).then(|| count(contestants.len() as u64, "contestant"))
}

/// Describes when, and with whom, a workload is raced; empty if always and with all.
fn raced(workload: &Workload) -> String {
    let when = if workload.is_on_request { "on request" } else { "" };
    let with = few(&workload.contestants).unwrap_or_default();
    [when, &with].into_iter().filter(|part| !part.is_empty()).collect::<Vec<_>>().join(", ")
}

fn contestants(study: &Study, receipt: impl Fn(&Entrant) -> String, look: &Look) -> String {
    // A contestant that runs on several numbers of threads is shown once.
    let is_same = |one: &Entrant, other: &Entrant| {
        family(one).is_some_and(|family| Some(family) == self::family(other))
    };
    let teams: Vec<&[Entrant]> = study.contestants.chunk_by(is_same).collect();
    let names = cells(&teams, |team| {
        let name = family(&team[0]).unwrap_or(&team[0].name);
        match team.iter().find(|one| one.name == study.reference) {
            Some(one) if one.name == name => format!("{name} (reference)"),
            Some(one) => format!("{name} (reference: {})", one.name),
            None => name.to_owned(),
        }
    });
    let columns = vec![
        Column::left("contestant", names),
        Column::left("contract", cells(&teams, |team| team[0].contract.clone())).rank(1),
        Column::left("compiler", cells(&teams, |team| receipt(&team[0]))),
    ];
    with_notes(columns, look, teams.iter().map(|team| about(team)))
}

fn family(entrant: &Entrant) -> Option<&str> {
    entrant.threads.as_ref().map(|threads| threads.family.as_str())
}

/// Describes a contestant: on how many threads it runs, with which flags and libraries.
fn about(team: &[Entrant]) -> String {
    let threads = team.iter().filter_map(|one| one.threads.as_ref());
    let counts = threads.map(|threads| match threads.count {
        ThreadCount::Number(number) => number.to_string(),
        ThreadCount::All => "all CPUs".to_owned(),
    });
    let counts: Vec<String> = counts.collect();
    let mut parts = vec![team[0].about.clone()];
    if !counts.is_empty() {
        parts.push(format!("threads: {}", counts.join(", ")));
    }
    let recipe = &team[0].recipe;
    for (what, words) in [("flags", &recipe.flags), ("libraries", &recipe.libraries)] {
        if !words.is_empty() {
            parts.push(format!("{what}: {}", words.join(" ")));
        }
    }
    parts.retain(|part| !part.is_empty());
    parts.join("; ")
}

/// Returns ", after 2 that warm up"; empty if there are none.
pub fn after_warming_up(pilot: &Pilot) -> String {
    match pilot.warm_rounds {
        0 => String::new(),
        1 => ", after 1 that warms up".to_owned(),
        rounds => format!(", after {rounds} that warm up"),
    }
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
        "{workload}: batches of {}, {} a unit{}; in {} of the pilot {spreads}a round took {} and \
         a unit {} more",
        format_ns(batch_ns),
        count(u64::from(rounds_a_unit), "round"),
        after_warming_up(pilot),
        count(u64::from(pilot.units), "unit"),
        format_ns(pilot.round_cost_ns),
        format_ns(pilot.unit_cost_ns),
    )
}

/// Renders a table with a note below each row.
fn with_notes(
    columns: Vec<Column>,
    look: &Look,
    notes: impl IntoIterator<Item = String>,
) -> String {
    let table = render(columns, look);
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
