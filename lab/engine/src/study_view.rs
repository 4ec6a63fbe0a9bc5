//! Studies in words: which there are, what they contain, what would be raced, and how two results
//! of one differ.

use crate::error::{LabError, Result, usage};
use crate::request::{ERROR, RESOLUTION};
use crate::studies::{self, Environment, Pinning, StudyRequest, cache};
use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use tiebreak_core::result::{StudyComparison, StudyResult, StudyRow};
use tiebreak_core::study::{Entrant, Placements, Study};
use tiebreak_input::{self as input, study_folder};
use tiebreak_measure::build::{Builder, code_of};
use tiebreak_report::html::{self, CodeNow, Publication};
use tiebreak_report::{Look, contents, json};
use tiebreak_store::Store;

/// Finds the study with a name or a folder, and reads it; see [`studies::find`]. One that has an
/// address, such as `https://example.org/repository.git#studies/demo`, is fetched by git. The files
/// that are no part of it become contestants too.
///
/// # Errors
/// Fails if there is none, if it cannot be fetched, with all errors in it, or if a file cannot
/// become a contestant.
pub fn read(name: &str, studies: Option<&Path>, here: &Path, added: &[PathBuf]) -> Result<Study> {
    let folder = match studies::address(name) {
        Some((url, path)) => studies::fetch(url, path, &cache()?)?,
        None => studies::find(name, studies, here)?,
    };
    let mut study = study_folder::read(&folder).map_err(Box::new)?;
    for file in added {
        study_folder::add(&mut study, file).map_err(LabError::Data)?;
    }
    Ok(study)
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

/// Compares two results of a study that `--json` wrote. A result has the name of its file without
/// the ending; of its folder, if these are alike; else they are the first and the second.
///
/// # Errors
/// Fails if a file cannot be read or is no result of a study, or if they are of different studies.
pub fn compare(files: [&Path; 2]) -> Result<StudyComparison> {
    let [a, b] = files;
    let results = [read_result(a)?, read_result(b)?];
    let stems = files.map(Path::file_stem);
    let folders = files.map(|file| file.parent().and_then(Path::file_name));
    let named = [stems, folders].into_iter().find(|[a, b]| a.is_some() && b.is_some() && a != b);
    let names = match named {
        Some(names) => names.map(|name| name.unwrap_or_default().to_string_lossy()),
        None => ["first", "second"].map(Into::into),
    };
    match StudyComparison::of([&names[0], &names[1]], results.each_ref()) {
        Some(comparison) => Ok(comparison),
        None => usage(format!(
            "{} is of the study '{}', and {} of '{}': two results of one study can be compared",
            a.display(),
            results[0].study,
            b.display(),
            results[1].study
        )),
    }
}

/// The largest file of a study that its page shows, in bytes.
const SHOWN_BYTES: u64 = 64 << 10;

/// Writes a study as one page of HTML: of these results, of which the first is shown and the others
/// are compared with it; without any, of the newest result in the store. Returns the page.
///
/// # Errors
/// Fails if a file cannot be read or is no result of this study, or if there is no result at all.
pub fn publish(study: &Study, files: &[PathBuf], store: &Path) -> Result<String> {
    let is_of = |file: &Path, result: &StudyResult| {
        if result.study == study.name {
            return Ok(());
        }
        usage(format!(
            "{} is a result of the study '{}', not of '{}'",
            file.display(),
            result.study,
            study.name
        ))
    };
    let (result, others) = match files {
        [] => {
            let newest =
                if store.exists() { studies::newest(study, &Store::open(store)?)? } else { None };
            match newest {
                Some(result) => (result, &[][..]),
                None => {
                    return usage(format!(
                        "{} was never raced here: run 'tiebreak study run {0}' first, or name a \
                         file that its --json wrote",
                        study.name
                    ));
                }
            }
        }
        [first, others @ ..] => {
            let result = read_result(first)?;
            is_of(first, &result)?;
            (result, others)
        }
    };
    let mut elsewhere = Vec::new();
    for other in others {
        is_of(other, &read_result(other)?)?;
        elsewhere.push(compare([&files[0], other])?);
    }
    let texts = study.files.iter().filter_map(|path| {
        let file = Path::new(&study.folder).join(path);
        let is_within = file.canonicalize().is_ok_and(|file| file.starts_with(&study.folder));
        let is_small = std::fs::metadata(&file).is_ok_and(|data| data.len() <= SHOWN_BYTES);
        let is_small = is_small && is_within;
        let is_shown = is_small && !path.ends_with("Cargo.lock");
        Some((path.clone(), is_shown.then(|| std::fs::read_to_string(file).ok())??))
    });
    let texts: Vec<(String, String)> = texts.collect();
    Ok(html::study_page(&Publication {
        study,
        result: &result,
        elsewhere: &elsewhere,
        files: &texts,
        code: code_now(study, &result).as_ref(),
    }))
}

/// Returns how the code of a study is to what was measured; `None` if the result does not say which
/// that was.
fn code_now(study: &Study, result: &StudyResult) -> Option<CodeNow> {
    let rows = || result.runs.iter().filter_map(|run| Some(&run.study.as_ref()?.rows)).flatten();
    let mut now = CodeNow::default();
    for Entrant { name, recipe, .. } in &study.contestants {
        let was_raced = |row: &&StudyRow| row.name == *name && row.not_run.is_none();
        let codes: BTreeSet<_> = rows().filter(was_raced).map(|row| row.code.as_deref()).collect();
        if codes.contains(&None) {
            return None;
        }
        let code = code_of(study, recipe).ok();
        if codes.is_empty() {
            now.not_measured.push(name.clone());
        } else if codes.iter().any(|measured| *measured != code.as_deref()) {
            now.changed.push(name.clone());
        }
    }
    Some(now)
}

fn read_result(file: &Path) -> Result<StudyResult> {
    let text = std::fs::read_to_string(file).map_err(|error| LabError::unreadable(file, error))?;
    json::read_study(&text).map_err(|error| LabError::Data(format!("{}: {error}", file.display())))
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
