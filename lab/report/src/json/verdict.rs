//! What became of one claim, as JSON.

use super::FaultEntry;
use serde::Serialize;
use tiebreak_core::claim::{Property, Relation, Statement};
use tiebreak_core::plan::{Centre, Gate, Scope};
use tiebreak_core::result::{
    BesideResult, ClaimResult, EffectResult, EvidenceResult, OneFactorResult, RatioRow,
    ShareResult, SpellsResult,
};
use tiebreak_core::verdict::Verdict;

#[derive(Serialize)]
pub(super) struct VerdictEntry<'a> {
    claim: &'a str,
    verdict: Verdict,
    winner: Option<&'a str>,
    scope: Scope,
    error: f64,
    rounds: u64,
    seconds: f64,
    #[serde(flatten)]
    effect: EffectEntry,
    #[serde(skip_serializing_if = "Option::is_none")]
    share: Option<ShareEntry>,
    #[serde(skip_serializing_if = "Option::is_none")]
    spells: Option<SpellsResult>,
    #[serde(skip_serializing_if = "Option::is_none")]
    beside: Option<BesideEntry>,
    #[serde(skip_serializing_if = "Option::is_none")]
    one_factor: Option<OneFactorEntry<'a>>,
    evidence: EvidenceResult,
    left: &'a str,
    right: Option<&'a str>,
    metric: &'static str,
    is_question: bool,
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    published: bool,
    relation: RelationEntry,
    gate: Gate,
    centre: Centre,
    #[serde(skip_serializing_if = "Option::is_none")]
    cap: Option<f64>,
    fault: Option<FaultEntry<'a>>,
}

/// The quantity that the claim is about, under a key that says which it is.
#[derive(Serialize)]
#[serde(rename_all = "snake_case", untagged)]
enum EffectEntry {
    Ratio { ratio: EffectResult },
    Rate { rate: EffectResult },
    Quantile { quantile: EffectResult, rate: Option<EffectResult> },
    Mean { mean: EffectResult },
}

/// What else ran.
#[derive(Serialize)]
struct BesideEntry {
    foreign_share: f64,
    metric: &'static str,
    ratio: Option<f64>,
}

impl BesideEntry {
    fn of(of: BesideResult) -> BesideEntry {
        let BesideResult { foreign_share, metric, ratio } = of;
        BesideEntry { foreign_share, metric: metric.key(), ratio }
    }
}

/// What was counted.
#[derive(Serialize)]
struct ShareEntry {
    trials: u64,
    successes: u64,
    block: u64,
    left_over: u64,
    least_trials_to_hold: u64,
    least_trials_to_refute: u64,
    mean_burst: Option<f64>,
    runs_z: Option<f64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    spell_lines: Option<f64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    values_z: Option<f64>,
    is_bursty: bool,
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    is_chain: bool,
}

/// Whether the ratio is one factor.
#[derive(Serialize)]
struct OneFactorEntry<'a> {
    is_denied: bool,
    evidence: f64,
    needed: f64,
    error: f64,
    rounds: u64,
    far: u64,
    far_opposite: u64,
    slow: &'a str,
    times: f64,
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    times_is_least: bool,
    #[serde(skip_serializing_if = "<[RatioRow]>::is_empty")]
    ratios: &'a [RatioRow],
}

/// [`Relation`] and [`Property`] with plain numbers: the journal's form writes infinities as text.
#[derive(Serialize)]
#[serde(rename_all = "snake_case", tag = "form")]
enum RelationEntry {
    Order,
    Measure { precision: f64 },
    AtLeast { factor: f64 },
    NoMoreThan { fraction: f64 },
    Within { fraction: f64 },
    InShareOfRounds { factor: f64, share: f64 },
    Succeeds { good: f64, bad: f64 },
    Quantile { good: f64, bad: f64, bar: f64 },
    Mean { is_below: bool, bar: f64, cap: Option<f64> },
}

impl<'a> VerdictEntry<'a> {
    pub(super) fn of(claim: &'a ClaimResult) -> VerdictEntry<'a> {
        let fault = claim.fault.as_ref();
        VerdictEntry {
            claim: &claim.claim,
            verdict: claim.verdict,
            winner: claim.winner.as_deref(),
            scope: claim.scope,
            error: claim.error,
            rounds: claim.rounds,
            seconds: claim.seconds,
            effect: EffectEntry::of(claim),
            share: claim.share.as_ref().map(ShareEntry::of),
            spells: claim.spells,
            beside: claim.beside.map(BesideEntry::of),
            one_factor: claim.one_factor.as_deref().map(OneFactorEntry::of),
            evidence: claim.evidence,
            left: &claim.left,
            right: claim.right.as_deref(),
            metric: claim.metric.key(),
            is_question: claim.is_question,
            published: claim.is_published,
            relation: RelationEntry::of(claim.statement),
            gate: claim.gate,
            centre: claim.centre,
            cap: claim.cap,
            fault: fault.map(|(name, fault)| FaultEntry::of(Some(name), fault)),
        }
    }
}

impl EffectEntry {
    fn of(claim: &ClaimResult) -> EffectEntry {
        let effect = claim.effect;
        match claim.statement {
            Statement::Ratio(_) => EffectEntry::Ratio { ratio: effect },
            Statement::Property(property) => match property {
                Property::InShareOfRounds { .. } | Property::Succeeds { .. } => {
                    EffectEntry::Rate { rate: effect }
                }
                Property::Quantile { .. } => EffectEntry::Quantile {
                    quantile: effect,
                    rate: claim.share.as_ref().map(|share| share.rate),
                },
                Property::Mean { .. } => EffectEntry::Mean { mean: effect },
            },
        }
    }
}

impl<'a> OneFactorEntry<'a> {
    fn of(found: &'a OneFactorResult) -> OneFactorEntry<'a> {
        OneFactorEntry {
            is_denied: found.evidence >= found.needed,
            evidence: found.evidence,
            needed: found.needed,
            error: found.error,
            rounds: found.rounds,
            far: found.far,
            far_opposite: found.far_opposite,
            slow: &found.slow,
            times: found.times,
            times_is_least: found.is_least,
            ratios: &found.ratios,
        }
    }
}

impl ShareEntry {
    fn of(share: &ShareResult) -> ShareEntry {
        ShareEntry {
            trials: share.trials,
            successes: share.successes,
            block: share.block,
            left_over: share.left_over,
            least_trials_to_hold: share.least_trials_to_hold,
            least_trials_to_refute: share.least_trials_to_refute,
            mean_burst: share.mean_burst,
            runs_z: share.runs_z,
            spell_lines: share.spell_lines,
            values_z: share.values_z,
            is_bursty: share.is_bursty,
            is_chain: share.is_chain,
        }
    }
}

impl RelationEntry {
    fn of(statement: Statement) -> RelationEntry {
        match statement {
            Statement::Ratio(relation) => match relation {
                Relation::Order => RelationEntry::Order,
                Relation::Measure { precision } => RelationEntry::Measure { precision },
                Relation::AtLeast { factor } => RelationEntry::AtLeast { factor },
                Relation::NoMoreThan { fraction } => RelationEntry::NoMoreThan { fraction },
                Relation::Within { fraction } => RelationEntry::Within { fraction },
            },
            Statement::Property(property) => match property {
                Property::InShareOfRounds { factor, share } => {
                    RelationEntry::InShareOfRounds { factor, share }
                }
                Property::Succeeds { good, bad } => RelationEntry::Succeeds { good, bad },
                Property::Quantile { good, bad, bar } => RelationEntry::Quantile { good, bad, bar },
                Property::Mean { is_below, bar, cap } => RelationEntry::Mean { is_below, bar, cap },
            },
        }
    }
}
