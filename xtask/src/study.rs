//! The table of a study, from the output of `tiebreak study run NAME --json`.

use anyhow::{Context, Result, ensure};
use serde_json::Value;
use std::fs;
use std::path::Path;
use tiebreak_core::fingerprint::Fact;
use tiebreak_core::result::{StudyComparison, StudyResult};
use tiebreak_report::json::{self, NotAStudy};
use tiebreak_report::{study, svg};

/// The end of the sentence of a missing meter.
const NO_METER: &str = ": its metrics were not measured";

/// The beginning of the paths of the data of studies, from the root; the study's name and `.json`
/// follow.
const STUDIES: &str = "docs/measured/study-";

/// Returns the path of the data of a study.
///
/// # Errors
/// Fails if no folder of a study can have this name.
pub fn data(name: &str) -> Result<String> {
    path(STUDIES, name, ".json")
}

/// Returns a path that has the name of a study between these two.
///
/// # Errors
/// As [`data`].
pub fn path(start: &str, name: &str, end: &str) -> Result<String> {
    let is_plain = name.chars().all(|c| matches!(c, 'a'..='z' | '0'..='9' | '-'));
    ensure!(!name.is_empty() && is_plain, "'{name}' is not the name of a study");
    Ok(format!("{start}{name}{end}"))
}

/// The same of the data from another machine.
const ELSEWHERE: &str = "docs/measured/elsewhere/study-";

/// Returns the path of the data of a study from another machine.
///
/// # Errors
/// As [`data`].
pub fn data_elsewhere(name: &str) -> Result<String> {
    Ok(data(name)?.replacen(STUDIES, ELSEWHERE, 1))
}

/// Returns what a comparison needs of the data of a study: all but the distributions of times.
///
/// # Errors
/// The text is no data of a study.
pub fn to_compare(text: &str, name: &str) -> Result<String> {
    let mut result = read(text, name)?;
    for run in &mut result.runs {
        run.contestants.clear();
        for row in run.study.iter_mut().flat_map(|table| &mut table.rows) {
            (row.distribution, row.ecdf) = (None, None);
        }
    }
    Ok(json::text(&result))
}

/// Renders the block in which the result of another machine stands next to ours.
///
/// # Errors
/// As [`render`], for either data.
pub fn elsewhere(here: &str, there: &str, name: &str) -> Result<String> {
    let results = [read(here, name)?, read(there, name)?];
    let mut names = results.each_ref().map(make);
    if names[0] == names[1] {
        names = ["here", "there"].map(str::to_owned);
    }
    let comparison = StudyComparison::of([&names[0], &names[1]], results.each_ref());
    let comparison = comparison.context("the data is of two studies")?;
    Ok(study::comparison_markdown(&comparison))
}

/// Returns the make of a result's processor in a word: `EPYC`, `Xeon`.
fn make(result: &StudyResult) -> String {
    let model = result.runs.first().and_then(|run| run.machine.facts.0.get("cpu_model"));
    let Some(Fact::Text(model)) = model else { return "unknown".to_owned() };
    let model = model.replace("(R)", "");
    let mut words = model.split_whitespace();
    let first = words.next().unwrap_or("unknown");
    words.next().unwrap_or(first).to_owned()
}

/// Renders the block: the table as the data gives it.
///
/// # Errors
/// Fails if the data is not of this study, or is not what `tiebreak study run` writes.
pub fn render(text: &str, name: &str) -> Result<String> {
    Ok(study::markdown(&read(text, name)?))
}

/// Reads a document, one of an older version in the form of today, as far as the table needs it.
/// The warnings of old documents are texts, of which the table needs those of missing meters. Their
/// contestants have fewer numbers, of which it needs none. They have no ranks, and their
/// efficiencies are of medians.
fn of_today(text: &str) -> Result<StudyResult, NotAStudy> {
    let mut document: Value = serde_json::from_str(text)?;
    let is_of_today = |warning: &Value| warning.as_object().is_some_and(|of| of.len() > 2);
    for run in document["runs"].as_array_mut().into_iter().flatten() {
        run["contestants"] = Value::Array(Vec::new());
        let Some(warnings) = run["warnings"].as_array_mut() else { continue };
        for warning in warnings.iter_mut().filter(|warning| !is_of_today(warning)) {
            let what = warning["text"].as_str().and_then(|text| text.strip_suffix(NO_METER));
            if let Some(what) = what.map(str::to_owned) {
                warning["what"] = what.into();
            }
        }
        warnings.retain(is_of_today);
    }
    let mut study = json::read_study(&document.to_string())?;
    for run in &mut study.runs {
        if let Some(table) = &mut run.study {
            table.compare(&run.verdicts);
        }
    }
    Ok(study)
}

/// A picture of a study: its file in the study's folder, and the function that draws it.
pub type Picture = (&'static str, fn(&StudyResult) -> String);

/// The pictures that a study may have. A file that exists is kept as the data gives it.
pub const PICTURES: [Picture; 2] = [("ecdf.svg", svg::ecdf), ("spread.svg", spread)];

/// Draws the spread of the first workload's contestants.
fn spread(study: &StudyResult) -> String {
    let runs = study.runs.iter().take(1).cloned().collect();
    svg::study(&StudyResult { runs, ..study.clone() })
}

/// Reads a study from its data.
///
/// # Errors
/// Fails if the data is not what `tiebreak study run` writes about this study.
pub fn read(text: &str, name: &str) -> Result<StudyResult> {
    let place = data(name)?;
    let result = of_today(text).with_context(|| format!("reading {place}"))?;
    ensure!(result.study == name, "{place} is of the study {}", result.study);
    Ok(result)
}

/// Returns the names of the studies with data, in order.
///
/// # Errors
/// Fails if the folder of the data cannot be read.
pub fn names(root: &Path) -> Result<Vec<String>> {
    let (folder, start) = STUDIES.rsplit_once('/').unwrap_or_default();
    let mut names = Vec::new();
    for entry in fs::read_dir(root.join(folder)).with_context(|| format!("reading {folder}"))? {
        let file = entry?.file_name().to_string_lossy().into_owned();
        let name = file.strip_prefix(start).and_then(|rest| rest.strip_suffix(".json"));
        names.extend(name.map(str::to_owned));
    }
    names.sort();
    Ok(names)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_study_is_read_under_its_name_alone() {
        let text = "{\"schema\":\"tiebreak/study/1\",\"study\":\"one\",\"title\":\"One\",\
                    \"error\":0.01,\"budget\":{\"rounds\":null,\"seconds\":60},\"seconds\":1.5,\
                    \"interrupted\":false,\"runs\":[]}";
        assert!(render(text, "one").unwrap().contains("is wrong is at most 1%"));
        for (text, name, expected) in [
            (text, "two", "docs/measured/study-two.json is of the study one"),
            (text, "../one", "'../one' is not the name of a study"),
            ("{}", "one", "reading docs/measured/study-one.json: not what 'tiebreak study run"),
        ] {
            let error = format!("{:#}", render(text, name).unwrap_err());
            assert!(error.starts_with(expected), "{error}");
        }
    }
}
