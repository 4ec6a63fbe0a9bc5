//! `tiebreak study show`: shows what a study contains, and which of its compilers are installed.

use super::details::{count, with_notes};
use super::{ShowOptions, environment, find};
use crate::exit;
use crate::failure::Failure;
use crate::io::Io;
use tiebreak_lab::core::study::{Call, Entrant, Study, StudyClaim, ThreadCount};
use tiebreak_lab::input;
use tiebreak_lab::measure::build::Builder;
use tiebreak_lab::report::Look;
use tiebreak_lab::report::table::{Align, Column, render};

pub fn run(options: &ShowOptions, io: &mut Io) -> Result<u8, Failure> {
    let study = find(&options.name, options.place.studies.as_deref(), io)?;
    let look = io.out_look();
    let sections = [
        head(&study),
        workloads(&study, &look),
        contestants(&study, &Builder::new(&environment()?.cache), &look),
        contracts(&study),
        claims(&study),
        published(&study),
    ];
    let filled: Vec<String> = sections.into_iter().filter(|text| !text.is_empty()).collect();
    io.out(&filled.join("\n"));
    Ok(exit::HOLDS)
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
    let column = |of: fn(&tiebreak_lab::core::study::Workload) -> String| {
        study.workloads.iter().map(of).collect::<Vec<_>>()
    };
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
    let mut text = with_notes(&render(columns, look), column(|one| one.about.clone()).into_iter());
    for one in &study.verifications {
        let parts = count(one.parts, "part");
        let when = if one.is_full { ", by verify --full only" } else { "" };
        text += &format!("verify: {} ({parts}{when})\n", one.name);
    }
    text
}

fn contestants(study: &Study, builder: &Builder, look: &Look) -> String {
    // A contestant that runs on several numbers of threads is shown once.
    let teams: Vec<&[Entrant]> = study.contestants.chunk_by(is_same_family).collect();
    let all: Vec<&Entrant> = teams.iter().filter_map(|team| team.first()).collect();
    let names = teams.iter().map(|team| {
        let name = family(&team[0]).unwrap_or(&team[0].name);
        match team.iter().find(|one| one.name == study.reference) {
            Some(one) if one.name == name => format!("{name} (reference)"),
            Some(one) => format!("{name} (reference: {})", one.name),
            None => name.to_owned(),
        }
    });
    let contracts = all.iter().map(|one| one.contract.clone()).collect();
    let compilers = all.iter().map(|one| match builder.receipt(study, &one.recipe) {
        Ok(receipt) => receipt,
        Err(error) => error.to_string(),
    });
    let columns = vec![
        Column::new("contestant", Align::Left, names.collect()),
        Column::new("contract", Align::Left, contracts).rank(1),
        Column::new("compiler", Align::Left, compilers.collect()),
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
    let count = |one: &Entrant| match one.threads.as_ref().map(|threads| threads.count) {
        Some(ThreadCount::Number(number)) => Some(number.to_string()),
        Some(ThreadCount::All) => Some("all CPUs".to_owned()),
        None => None,
    };
    let counts: Vec<String> = team.iter().filter_map(count).collect();
    let about = team[0].about.as_str();
    match (counts.is_empty(), about.is_empty()) {
        (true, _) => about.to_owned(),
        (false, true) => format!("threads: {}", counts.join(", ")),
        (false, false) => format!("{about}; threads: {}", counts.join(", ")),
    }
}

fn contracts(study: &Study) -> String {
    let line = |one: &tiebreak_lab::core::study::Contract| {
        let exact = if one.is_exact { "" } else { " (in no claim with the others)" };
        format!("contract {}: {}{exact}\n", one.name, one.text)
    };
    study.contracts.iter().map(line).collect()
}

fn claims(study: &Study) -> String {
    let names: Vec<&str> = study.contestants.iter().map(|one| one.name.as_str()).collect();
    let line = |claim: &StudyClaim| {
        let published = if claim.is_published { "published" } else { "ours" };
        let says = input::parse(&claim.text, &names).map(|claim| input::meaning(&claim));
        let says = says.map(|says| format!("\n  {says}")).unwrap_or_default();
        format!("claim ({published}): {}{says}\n", claim.text)
    };
    study.claims.iter().map(line).collect()
}

fn published(study: &Study) -> String {
    let line = |one: &tiebreak_lab::core::study::Published| {
        let text = if one.text.is_empty() { String::new() } else { format!(": {}", one.text) };
        let figures = count(one.figures.len() as u64, "figure");
        format!("published by {} on {} ({figures}){text}\n", one.source, one.machine)
    };
    study.published.iter().map(line).collect()
}
