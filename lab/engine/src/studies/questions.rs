//! What to settle on a workload: the claims about it, and the ratios of its table.

use super::StudyRequest;
use super::setup::{Prepared, Ready};
use crate::error::{LabError, usage};
use tiebreak_core::claim::Claim;
use tiebreak_core::metric::Metric;
use tiebreak_core::study::{Study, Team, Workload};
use tiebreak_core::warning::Warning;
use tiebreak_input as input;
use tiebreak_measure::MissingMeter;

/// Claims about a workload, and those that cannot be judged here.
#[derive(Debug, Default)]
pub(super) struct Questions {
    workload: String,
    /// The claims and questions to settle, of the study or of the user.
    pub claims: Vec<Claim>,
    /// The ratios of the table.
    pub cells: Vec<Claim>,
    /// What is not judged, and why.
    pub warnings: Vec<Warning>,
}

impl Questions {
    /// Returns the claims about a workload: those that were typed, else the study's.
    ///
    /// # Errors
    /// Fails if a typed sentence is invalid.
    pub fn of_claims(
        asked: &StudyRequest,
        prepared: &Prepared,
        workload: &Workload,
    ) -> Result<Questions, LabError> {
        let mut questions = Questions { workload: workload.name.clone(), ..Questions::default() };
        let claims = if asked.asks_order { Vec::new() } else { claims(asked, workload)? };
        for claim in claims {
            match why_not(&claim, asked, prepared) {
                None => questions.claims.push(claim),
                Some(why) => questions.drop(&claim, why),
            }
        }
        Ok(questions)
    }

    /// Removes the claims about metrics that this machine does not measure; `missing` says why.
    pub fn keep_measured(&mut self, measured: &[Metric], missing: &[MissingMeter]) {
        for claim in std::mem::take(&mut self.claims) {
            if measured.contains(&claim.metric) {
                self.claims.push(claim);
                continue;
            }
            let mut why = format!("{} is not measured here", claim.metric.name());
            for meter in missing.iter().filter(|meter| meter.metrics.contains(&claim.metric)) {
                why += &format!("; {}", meter.why);
            }
            self.drop(&claim, why);
        }
    }

    /// Adds a cell of the table for each contestant that is compared with the reference, and the
    /// ratio of each contestant on several threads to the same on one, which is its efficiency in
    /// the table, unless a claim or a cell is about the two by wall time.
    pub fn add_cells(&mut self, compared: &[&Ready], reference: &str, precision: f64) {
        let names = compared.iter().map(|one| one.entrant.name.as_str());
        for name in names.filter(|name| *name != reference) {
            self.cells.push(self.cell(name, reference, precision));
        }
        for ready in compared {
            let Some(of) = ready.built.team.as_ref().filter(|of| of.threads > 1) else { continue };
            let alone = Some(Team { threads: 1, ..of.clone() });
            let alone = compared.iter().find(|one| one.built.team == alone);
            let Some(alone) = alone else { continue };
            let (name, one) = (ready.entrant.name.as_str(), alone.entrant.name.as_str());
            let mut claimed = self.claims.iter().chain(&self.cells);
            if one != reference && name != reference && !claimed.any(|c| is_ratio_of(c, name, one))
            {
                self.cells.push(self.cell(name, one, precision));
            }
        }
    }

    fn cell(&self, left: &str, right: &str, precision: f64) -> Claim {
        input::measure_question(left, right, precision, Metric::WallTime, &self.workload)
    }

    /// Adds a question for each contestant with an exact contract: whether it or the reference is
    /// faster.
    pub fn add_orders(&mut self, compared: &[&Ready], reference: &str) {
        let exact = compared.iter().filter(|one| one.built.is_exact);
        let names = exact.map(|one| one.entrant.name.as_str());
        for name in names.filter(|name| *name != reference) {
            self.claims.extend(on(input::question(name, reference), &self.workload));
        }
    }

    fn drop(&mut self, claim: &Claim, why: String) {
        self.warnings.push(Warning::NotJudged { claim: claim.text.clone(), why });
    }
}

/// Returns whether a claim is about the ratio of these two by wall time.
fn is_ratio_of(claim: &Claim, one: &str, other: &str) -> bool {
    let pair = (claim.left.as_str(), claim.right.as_deref().unwrap_or(""));
    claim.metric == Metric::WallTime
        && claim.statement.relation().is_some()
        && [(one, other), (other, one)].contains(&pair)
}

/// Returns the claims about a workload, each with the workload's name.
fn claims(asked: &StudyRequest, workload: &Workload) -> Result<Vec<Claim>, LabError> {
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
        claims.extend(on(claim, &workload.name));
    }
    Ok(claims)
}

/// Returns the claim on this workload, with its name, if the claim is about it.
fn on(mut claim: Claim, workload: &str) -> Option<Claim> {
    if claim.workload.is_none() {
        claim.workload = Some(workload.to_owned());
        claim.text = input::display(&claim);
    }
    (claim.workload.as_deref() == Some(workload)).then_some(claim)
}

fn names(study: &Study) -> Vec<&str> {
    study.contestants.iter().map(|one| one.name.as_str()).collect()
}

/// Returns the claims on a workload that come from the source, with the texts of
/// [`Questions::of_claims`].
pub(super) fn published(of: &Study, workload: &Workload) -> Vec<String> {
    let names = names(of);
    let of_source = of.claims.iter().filter(|claim| claim.is_published);
    let parsed = of_source.filter_map(|claim| input::parse(&claim.text, &names).ok());
    parsed.filter_map(|claim| Some(on(claim, &workload.name)?.text)).collect()
}

/// Returns why a claim cannot be judged here, if it cannot.
fn why_not(claim: &Claim, asked: &StudyRequest, prepared: &Prepared) -> Option<String> {
    if !claim.statement.is_of_two() {
        return Some(
            "functions are compared two at a time, so a claim about one of them alone is not about \
             what was drawn at random"
                .to_owned(),
        );
    }
    std::iter::once(&claim.left).chain(&claim.right).find_map(|name| {
        let mut ready = prepared.ready.iter();
        if let Some(ready) = ready.find(|ready| ready.entrant.name == *name) {
            let why = format!("the contract of {name} is not exact: it does another task");
            return (!ready.built.is_exact).then_some(why);
        }
        let not_run = prepared.not_run.iter().find(|one| one.name == *name);
        Some(match not_run {
            Some(one) => format!("{name} is not run: {}", one.why),
            None => format!("{name} was left out of {}", asked.study.name),
        })
    })
}
