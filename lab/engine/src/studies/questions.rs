//! The claims about a workload, and why some of them cannot be judged.

use super::StudyRequest;
use super::setup::Setup;
use crate::error::{LabError, Result, usage};
use tiebreak_core::claim::Claim;
use tiebreak_core::study::{Study, Workload};
use tiebreak_core::warning::Warning;
use tiebreak_input as input;

/// Returns the claims about a workload, each with its name: those that were typed, else the
/// study's. Adds a warning for each that cannot be judged here.
///
/// # Errors
/// Fails if a typed sentence is invalid, or about a workload that the study does not have.
pub fn claims(
    setup: &Setup<'_>,
    workload: &Workload,
    not_judged: &mut Vec<Warning>,
) -> Result<Vec<Claim>> {
    let asked = setup.asked;
    if asked.asks_order {
        return Ok(Vec::new());
    }
    let mut claims = stated(asked, workload)?;
    claims.retain(|claim| match why_not(claim, workload, setup) {
        None => true,
        Some(why) => {
            not_judged.push(Warning::NotJudged { claim: claim.text.clone(), why });
            false
        }
    });
    Ok(claims)
}

/// Returns the claims about a workload that were typed, else the study's.
fn stated(asked: &StudyRequest, workload: &Workload) -> Result<Vec<Claim>> {
    let names = names(&asked.study);
    let of_study = asked.study.claims.iter().map(|claim| &claim.text);
    let texts: Vec<&String> =
        if asked.claims.is_empty() { of_study.collect() } else { asked.claims.iter().collect() };
    let mut claims = Vec::with_capacity(texts.len());
    for text in texts {
        let claim = input::parse(text, &names).map_err(LabError::Claim)?;
        let known: Vec<&str> = asked.study.workloads.iter().map(|one| one.name.as_str()).collect();
        if let Some(name) = claim.workload.as_deref().filter(|name| !known.contains(name)) {
            let (study, known) = (&asked.study.name, known.join(", "));
            return usage(format!(
                "'{}' is about the workload {name}, which {study} has not; it has {known}",
                claim.text
            ));
        }
        claims.extend(on(claim, workload));
    }
    Ok(claims)
}

/// Returns the claim on this workload, with its name, if the claim is about it. One that names no
/// workload is about each that races its contestants.
pub fn on(mut claim: Claim, workload: &Workload) -> Option<Claim> {
    let mut sides = std::iter::once(&claim.left).chain(&claim.right);
    if claim.workload.is_none() && sides.all(|name| workload.races(name)) {
        claim.workload = Some(workload.name.clone());
        claim.text = input::display(&claim);
    }
    (claim.workload.as_ref() == Some(&workload.name)).then_some(claim)
}

fn names(study: &Study) -> Vec<&str> {
    study.contestants.iter().map(|one| one.name.as_str()).collect()
}

/// Returns the claims on a workload that come from the source, with the texts of
/// [`claims`].
pub fn published(of: &Study, workload: &Workload) -> Vec<String> {
    let names = names(of);
    let of_source = of.claims.iter().filter(|claim| claim.is_published);
    let parsed = of_source.filter_map(|claim| input::parse(&claim.text, &names).ok());
    parsed.filter_map(|claim| Some(on(claim, workload)?.text)).collect()
}

/// Returns why a claim cannot be judged here, if it cannot.
fn why_not(claim: &Claim, workload: &Workload, setup: &Setup<'_>) -> Option<String> {
    if !claim.statement.is_of_two() {
        return Some(
            "functions are compared two at a time, so a claim about one of them alone is not about \
             what was drawn at random"
                .to_owned(),
        );
    }
    std::iter::once(&claim.left).chain(&claim.right).find_map(|name| {
        if !workload.races(name) {
            return Some(format!("{name} takes no part in {}", workload.name));
        }
        if let Some(ready) = setup.ready.iter().find(|ready| ready.entrant.name == *name) {
            let why = format!("the contract of {name} is not exact: it does another task");
            return (!ready.built.is_exact).then_some(why);
        }
        let not_run = setup.not_run.iter().find(|one| one.name == *name);
        Some(match not_run {
            Some(one) => format!("{name} is not run: {}", one.why),
            None => format!("{name} was left out of {}", setup.asked.study.name),
        })
    })
}
