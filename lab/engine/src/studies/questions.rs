//! What to settle on a workload: the claims about it, and the ratios of its table.

use super::prepare::{Prepared, Ready};
use super::request::StudyRequest;
use crate::error::LabError;
use tiebreak_core::claim::{Claim, Property, Statement};
use tiebreak_core::metric::Metric;
use tiebreak_core::study::{Study, Team, Workload};
use tiebreak_core::warning::Warning;
use tiebreak_input as input;
use tiebreak_measure::MissingMeter;

/// Claims about a workload, and those that cannot be judged here.
#[derive(Debug, Default)]
pub struct Questions {
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
        let mut questions = Questions::default();
        if asked.asks_order {
            return Ok(questions);
        }
        for claim in claims(asked, workload)? {
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
                self.claims.push(claim)
            } else {
                let metric = claim.metric.name();
                let mut why = format!("{metric} is not measured here");
                let of_metric = |meter: &&MissingMeter| meter.metrics.contains(&claim.metric);
                for meter in missing.iter().filter(of_metric) {
                    why += &format!("; {}", meter.why);
                }
                self.drop(&claim, why);
            }
        }
    }

    /// Adds a cell of the table for each contestant that is compared with the reference.
    pub fn add_cells(
        &mut self,
        compared: &[&str],
        reference: &str,
        precision: f64,
        workload: &Workload,
    ) {
        let cells = compared.iter().filter(|name| **name != reference).map(|name| {
            let metric = Metric::WallTime;
            input::measure_question(name, reference, precision, metric, &workload.name)
        });
        self.cells.extend(cells);
    }

    /// Adds the ratio of each contestant on several threads to the same on one, which is its
    /// efficiency in the table, unless a claim or a cell is about the two by wall time.
    pub fn add_efficiencies(
        &mut self,
        compared: &[&Ready],
        reference: &str,
        precision: f64,
        workload: &Workload,
    ) {
        let team = |ready: &&Ready| ready.built.team.clone();
        for ready in compared {
            let Some(of) = team(ready).filter(|team| team.threads > 1) else { continue };
            let is_alone = |team: Team| team.threads == 1 && team.family == of.family;
            let Some(alone) = compared.iter().find(|one| team(one).is_some_and(is_alone)) else {
                continue;
            };
            let (name, one) = (ready.entrant.name.as_str(), alone.entrant.name.as_str());
            let is_about = |claim: &Claim| {
                let right = claim.right.as_deref().unwrap_or("");
                claim.metric == Metric::WallTime
                    && claim.statement.relation().is_some()
                    && [(name, one), (one, name)].contains(&(&*claim.left, right))
            };
            let mut claimed = self.claims.iter().chain(&self.cells);
            if one != reference && name != reference && !claimed.any(is_about) {
                let wall = Metric::WallTime;
                let cell = input::measure_question(name, one, precision, wall, &workload.name);
                self.cells.push(cell);
            }
        }
    }

    /// Adds a question for each contestant: whether it or the reference is faster.
    pub fn add_orders(&mut self, compared: &[&str], reference: &str, workload: &Workload) {
        let orders = compared.iter().filter(|name| **name != reference).map(|name| {
            let mut order = input::question(name, reference);
            order.workload = Some(workload.name.clone());
            order.text = input::display(&order);
            order
        });
        self.claims.extend(orders);
    }

    fn drop(&mut self, claim: &Claim, why: String) {
        self.warnings.push(Warning::NotJudged { claim: claim.text.clone(), why });
    }
}

/// Returns the claims about a workload, each with the workload's name.
fn claims(asked: &StudyRequest, workload: &Workload) -> Result<Vec<Claim>, LabError> {
    let names: Vec<&str> = asked.study.contestants.iter().map(|one| one.name.as_str()).collect();
    let of_study = || asked.study.claims.iter().map(|claim| &claim.text).collect::<Vec<_>>();
    let texts = if asked.claims.is_empty() { of_study() } else { asked.claims.iter().collect() };
    let mut claims = Vec::with_capacity(texts.len());
    for text in texts {
        let claim = input::parse(text, &names).map_err(LabError::Claim)?;
        check_workload(asked, &claim)?;
        claims.extend(on(claim, workload));
    }
    Ok(claims)
}

/// Returns the claim on this workload, with its name, if the claim is about it.
fn on(mut claim: Claim, workload: &Workload) -> Option<Claim> {
    if claim.workload.is_none() {
        claim.workload = Some(workload.name.clone());
        claim.text = input::display(&claim);
    }
    (claim.workload.as_ref() == Some(&workload.name)).then_some(claim)
}

/// Returns the claims on a workload that come from the source, with the texts of
/// [`Questions::of_claims`].
pub(super) fn published(of: &Study, workload: &Workload) -> Vec<String> {
    let names: Vec<&str> = of.contestants.iter().map(|one| one.name.as_str()).collect();
    let of_source = of.claims.iter().filter(|claim| claim.is_published);
    let parsed = of_source.filter_map(|claim| input::parse(&claim.text, &names).ok());
    parsed.filter_map(|claim| Some(on(claim, workload)?.text)).collect()
}

fn check_workload(asked: &StudyRequest, claim: &Claim) -> Result<(), LabError> {
    let Some(name) = &claim.workload else { return Ok(()) };
    let all = &asked.study.workloads;
    if all.iter().any(|workload| workload.name == *name) {
        return Ok(());
    }
    let known: Vec<&str> = all.iter().map(|workload| workload.name.as_str()).collect();
    Err(LabError::Usage(format!(
        "'{}' is about the workload {name}, which {} has not; it has {}",
        claim.text,
        asked.study.name,
        known.join(", ")
    )))
}

/// Returns why a claim cannot be judged here, if it cannot.
fn why_not(claim: &Claim, asked: &StudyRequest, prepared: &Prepared) -> Option<String> {
    if !is_about_two(claim) {
        return Some(
            "functions are compared two at a time, so a claim about one of them alone is not about \
             what was drawn at random"
                .to_owned(),
        );
    }
    for name in std::iter::once(&claim.left).chain(&claim.right) {
        let is_inexact = |ready: &Ready| ready.entrant.name == *name && !ready.built.is_exact;
        if prepared.ready.iter().any(is_inexact) {
            return Some(format!("the contract of {name} is not exact: it does another task"));
        }
        if prepared.ready.iter().any(|ready| ready.entrant.name == *name) {
            continue;
        }
        let not_run = prepared.not_run.iter().find(|one| one.name == *name);
        return Some(match not_run {
            Some(one) => format!("{name} is not run: {}", one.why),
            None => format!("{name} was left out of {}", asked.study.name),
        });
    }
    None
}

fn is_about_two(claim: &Claim) -> bool {
    match claim.statement {
        Statement::Ratio(_) => true,
        Statement::Property(property) => matches!(property, Property::InShareOfRounds { .. }),
    }
}
