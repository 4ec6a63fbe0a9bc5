//! A study's JSON read back, as far as its table is made of it.

mod share;
mod workload;

use self::share::ShareDocument;
use self::workload::WorkloadDocument;
use super::STUDY_SCHEMA;
use serde::Deserialize;
use serde_json::{Map, Value};
use std::fmt;
use tiebreak_core::claim::{Property, Relation, Statement};
use tiebreak_core::fingerprint::Fingerprint;
use tiebreak_core::journal::StopReason;
use tiebreak_core::metric::Metric;
use tiebreak_core::plan::{Adjust, Budget, Centre, Gate, Scope};
use tiebreak_core::result::{ClaimResult, EffectResult, EvidenceResult, RunResult, StudyResult};
use tiebreak_core::verdict::{Fault, Verdict};
use tiebreak_core::warning::Warning;

/// A text that is not the JSON of a study; says what is wrong with it.
#[derive(Debug)]
pub struct NotAStudy(String);

impl fmt::Display for NotAStudy {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "not what 'tiebreak study run NAME --json FILE' writes: {}", self.0)
    }
}

impl std::error::Error for NotAStudy {}

/// Reads what [`super::study`] wrote, as far as [`crate::study::markdown`] needs it. Warnings other
/// than those of missing meters, the contestants of runs beside the rows of the table, self-checks
/// and what was counted for shares are left out.
///
/// # Errors
/// The text is no JSON, of another schema, or lacks something.
pub fn read_study(text: &str) -> Result<StudyResult, NotAStudy> {
    let wrong = |error: serde_json::Error| NotAStudy(error.to_string());
    let document: StudyDocument = serde_json::from_str(text).map_err(wrong)?;
    if document.schema != STUDY_SCHEMA {
        return Err(NotAStudy(format!("its schema is {}, not {STUDY_SCHEMA}", document.schema)));
    }
    let runs: Result<Vec<RunResult>, NotAStudy> =
        document.runs.into_iter().map(RunDocument::result).collect();
    Ok(StudyResult {
        study: document.study,
        title: document.title,
        error: number(document.error),
        budget: document.budget,
        seconds: number(document.seconds),
        interrupted: document.interrupted,
        runs: runs?,
    })
}

/// What is not finite is written as `null`.
fn number(value: Option<f64>) -> f64 {
    value.unwrap_or(f64::NAN)
}

fn metric(key: &str) -> Result<Metric, NotAStudy> {
    let mut known = Metric::ALL.into_iter().chain([Metric::Value]);
    known.find(|metric| metric.key() == key).ok_or_else(|| NotAStudy(format!("no metric is {key}")))
}

#[derive(Deserialize)]
struct StudyDocument {
    schema: String,
    study: String,
    title: String,
    error: Option<f64>,
    budget: Budget,
    seconds: Option<f64>,
    interrupted: bool,
    runs: Vec<RunDocument>,
}

#[derive(Deserialize)]
struct RunDocument {
    command: Vec<String>,
    seed: String,
    journal: String,
    chain_head: Option<String>,
    seconds: Option<f64>,
    seconds_waited: Option<f64>,
    rounds: u64,
    lost: u64,
    stopped: Option<StopReason>,
    error: Option<f64>,
    resolution: Option<f64>,
    budget: Budget,
    adjust: Adjust,
    false_share: Option<f64>,
    verdicts: Vec<VerdictDocument>,
    machine: MachineDocument,
    warnings: Vec<WarningDocument>,
    study: Option<WorkloadDocument>,
}

#[derive(Deserialize)]
struct MachineDocument {
    print: Option<String>,
    #[serde(flatten)]
    facts: Fingerprint,
}

#[derive(Deserialize)]
struct WarningDocument {
    code: String,
    text: String,
}

impl WarningDocument {
    /// A missing meter, which the table tells of.
    fn missing_meter(self) -> Option<Warning> {
        let what = self.text.strip_suffix(": its metrics were not measured");
        let what = what.filter(|_| self.code == "no_meter")?.to_owned();
        Some(Warning::NoMeter { what })
    }
}

impl RunDocument {
    fn result(self) -> Result<RunResult, NotAStudy> {
        let verdicts: Result<Vec<ClaimResult>, NotAStudy> =
            self.verdicts.into_iter().map(VerdictDocument::result).collect();
        let verdicts = verdicts?;
        let mut study = self.study.map(WorkloadDocument::result).transpose()?.map(Box::new);
        if let Some(study) = &mut study {
            // Results of old have no ranks, and efficiencies of medians.
            study.compare(&verdicts);
        }
        Ok(RunResult {
            command: self.command,
            seed: self.seed,
            journal: self.journal,
            chain_head: self.chain_head,
            seconds: number(self.seconds),
            seconds_waited: number(self.seconds_waited),
            rounds: self.rounds,
            eta_seconds: None,
            lost: self.lost,
            stopped: self.stopped,
            error: number(self.error),
            false_share: self.false_share,
            resolution: number(self.resolution),
            budget: self.budget,
            adjust: self.adjust,
            verdicts,
            contestants: Vec::new(),
            machine: self.machine.facts,
            machine_print: self.machine.print,
            warnings: self
                .warnings
                .into_iter()
                .filter_map(WarningDocument::missing_meter)
                .collect(),
            self_check: None,
            study,
        })
    }
}

#[derive(Clone, Copy, Deserialize)]
struct EffectDocument {
    estimate: Option<f64>,
    low: Option<f64>,
    high: Option<f64>,
    confidence: Option<f64>,
}

impl EffectDocument {
    fn result(self) -> EffectResult {
        let EffectDocument { estimate, low, high, confidence } = self;
        EffectResult { estimate, low, high, confidence: number(confidence) }
    }
}

#[derive(Deserialize)]
struct EvidenceDocument {
    #[serde(rename = "for")]
    for_claim: Option<f64>,
    against: Option<f64>,
    needed: Option<f64>,
}

/// A fault; its text, which is made of the rest, and the contestant stand beside it.
#[derive(Deserialize)]
struct FaultDocument {
    contestant: Option<String>,
    #[serde(flatten)]
    rest: Map<String, Value>,
}

impl FaultDocument {
    fn result(self) -> Result<(Option<String>, Fault), NotAStudy> {
        let fault = serde_json::from_value(Value::Object(self.rest));
        Ok((self.contestant, fault.map_err(|error| NotAStudy(error.to_string()))?))
    }
}

#[derive(Deserialize)]
struct VerdictDocument {
    claim: String,
    verdict: Verdict,
    winner: Option<String>,
    scope: Scope,
    error: Option<f64>,
    rounds: u64,
    seconds: Option<f64>,
    ratio: Option<EffectDocument>,
    rate: Option<EffectDocument>,
    quantile: Option<EffectDocument>,
    mean: Option<EffectDocument>,
    #[serde(default)]
    share: Option<ShareDocument>,
    evidence: EvidenceDocument,
    left: String,
    right: Option<String>,
    metric: String,
    is_question: bool,
    #[serde(default)]
    published: bool,
    relation: Map<String, Value>,
    gate: Gate,
    centre: Centre,
    #[serde(default)]
    cap: Option<f64>,
    fault: Option<FaultDocument>,
}

impl VerdictDocument {
    fn result(self) -> Result<ClaimResult, NotAStudy> {
        let nothing = EffectDocument { estimate: None, low: None, high: None, confidence: None };
        let rate = self.rate.unwrap_or(nothing);
        // Of a quantile the rate stands beside it.
        let effect = self.ratio.or(self.quantile).or(self.mean).or(self.rate).unwrap_or(nothing);
        let fault = self.fault.map(FaultDocument::result).transpose()?;
        Ok(ClaimResult {
            beside: None,
            spells: None,
            metric: metric(&self.metric)?,
            statement: statement(self.relation)?,
            claim: self.claim,
            verdict: self.verdict,
            winner: self.winner,
            left: self.left,
            right: self.right,
            is_question: self.is_question,
            is_published: self.published,
            gate: self.gate,
            scope: self.scope,
            centre: self.centre,
            cap: self.cap,
            error: number(self.error),
            rounds: self.rounds,
            seconds: number(self.seconds),
            effect: effect.result(),
            share: self.share.map(|share| share.result(rate.result())),
            one_factor: None,
            evidence: EvidenceResult {
                for_claim: number(self.evidence.for_claim),
                against: number(self.evidence.against),
                needed: number(self.evidence.needed),
            },
            fault: fault.map(|(contestant, fault)| (contestant.unwrap_or_default(), fault)),
        })
    }
}

/// What a claim says: the forms of ratios and of properties have names of their own.
fn statement(relation: Map<String, Value>) -> Result<Statement, NotAStudy> {
    let value = Value::Object(relation);
    match serde_json::from_value::<Relation>(value.clone()) {
        Ok(relation) => Ok(Statement::Ratio(relation)),
        Err(_) => {
            let property = serde_json::from_value::<Property>(value);
            property.map(Statement::Property).map_err(|error| NotAStudy(error.to_string()))
        }
    }
}
