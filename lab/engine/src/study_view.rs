//! Studies in words: which there are, what they contain, and what would be raced.

use crate::error::Result;
use crate::request::{ERROR, RESOLUTION};
use crate::studies::{self, Environment, Pinning, StudyRequest};
use std::path::Path;
use tiebreak_core::study::{Placements, Study};
use tiebreak_input::{self as input, study_folder};
use tiebreak_measure::build::Builder;
use tiebreak_report::{Look, contents};

/// Finds the study with a name or a folder, and reads it; see [`studies::find`].
///
/// # Errors
/// Fails if there is none, or with all errors in it.
pub fn read(name: &str, studies: Option<&Path>, here: &Path) -> Result<Study> {
    Ok(study_folder::read(&studies::find(name, studies, here)?).map_err(Box::new)?)
}

/// Returns a table of the studies that can be found by name; `None` if there are none.
pub fn list(studies: Option<&Path>, here: &Path, look: &Look) -> Option<String> {
    let folders = studies::folders_of_studies(studies, here).into_iter();
    let listed: Vec<(String, Option<Study>)> = folders
        .map(|folder| (studies::name_of(&folder), study_folder::read(&folder).ok()))
        .collect();
    let rows: Vec<contents::Listed> =
        listed.iter().map(|(name, study)| (name.as_str(), study.as_ref())).collect();
    (!rows.is_empty()).then(|| contents::list(&rows, look))
}

/// Returns what a study contains, and which of its compilers are installed. Builds nothing.
pub fn contents(study: &Study, environment: &Environment, look: &Look) -> String {
    let builder = Builder::new(&environment.cache);
    let names: Vec<&str> = study.contestants.iter().map(|one| one.name.as_str()).collect();
    contents::page(
        study,
        |one| builder.receipt(study, &one.recipe).unwrap_or_else(|error| error.to_string()),
        |claim| Some(input::meaning(&input::parse(claim, &names).ok()?)),
        look,
    )
}

/// Describes what a request would race. Builds nothing.
///
/// # Errors
/// As [`StudyRequest::frame`].
pub fn describe(asked: &StudyRequest) -> Result<String> {
    let (scope, workloads) = asked.frame()?;
    let mut text = format!("study {}\nworkloads\n", asked.study.name);
    for workload in &workloads {
        text += &format!("  {}: {}\n", workload.name, workload.about);
    }
    text += "contestants\n";
    for entrant in asked.entrants()? {
        let recipe = &entrant.recipe;
        text += &format!("  {}: {} {}\n", entrant.name, recipe.compiler, recipe.sources.join(" "));
    }
    text += "claims\n";
    let of_study = asked.study.claims.iter().map(|claim| &claim.text);
    let is_own = asked.claims.is_empty();
    for claim in asked.claims.iter().chain(of_study.filter(|_| is_own)) {
        text += &format!("  {claim}\n");
    }
    Ok(text + &format!("scope {}\nseed {}\n", scope.name(), asked.seed))
}

impl StudyRequest {
    /// Returns a request to race all contestants of a study on all its workloads, as the study
    /// says, with these coins.
    pub fn new(study: Study, seed: String) -> StudyRequest {
        StudyRequest {
            study,
            only: Vec::new(),
            contestants: Vec::new(),
            claims: Vec::new(),
            asks_order: false,
            scope: None,
            centre: None,
            precision: None,
            error: ERROR,
            resolution: RESOLUTION,
            budget: None,
            seed,
            pinning: Pinning::Default,
            wait_for_quiet: true,
            placements: Placements::Fresh,
        }
    }
}
