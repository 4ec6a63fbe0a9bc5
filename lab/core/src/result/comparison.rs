//! Two results of one study, ratio by ratio: from two machines, or from one at two times.

use super::{ClaimResult, EffectResult, RunResult, StudyResult, StudyRow, WorkloadResult};
use crate::fingerprint::Fact;
use crate::plan::Centre;
use crate::study::Workload;
use crate::verdict::Verdict;
use serde::Serialize;

/// Two results of one study, and what differs between them.
///
/// A ratio differs if its intervals have no value in common. Two contestants have an order in a
/// result if the intervals of their ratios to the reference have no value in common. If all
/// intervals of both results are right, so is everything here; the probability that one is not is
/// at most the sum of the errors of both.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(tag = "schema", rename = "tiebreak/study-comparison/1")]
pub struct StudyComparison {
    /// The study's name.
    pub study: String,
    /// Its title.
    pub title: String,
    /// The probability that anything here that is said to be proven is wrong, at most.
    pub error: f64,
    /// The two results.
    pub results: [ComparedResult; 2],
    /// One entry per workload: those of the first result in their order, then those of the second
    /// alone.
    pub workloads: Vec<ComparedWorkload>,
    /// One entry per claim that both results have, on the same workload.
    pub claims: Vec<ComparedClaim>,
}

/// A result that is compared.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct ComparedResult {
    /// Its name.
    pub name: String,
    /// The model of the machine's processor, if it is known.
    pub machine: Option<String>,
    /// The number of CPUs of the machine, if it is known.
    pub cpus: Option<u64>,
}

/// A workload in both results.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct ComparedWorkload {
    /// Its name.
    pub workload: String,
    /// The contestant that ratios are to.
    pub reference: String,
    /// The reason why it is not compared, if it is not.
    pub not_compared: Option<String>,
    /// The contestants with other sources or flags in one than in the other, as far as the results
    /// say.
    pub other_code: Vec<String>,
    /// The ratios of the contestants, the largest of the first result first.
    pub ratios: Vec<ComparedRatio>,
    /// The pairs of contestants with one order in the first result and the opposite one in the
    /// second. The first of each pair is the faster one in the first result.
    pub changed_places: Vec<[String; 2]>,
    /// The number of pairs with the same order in both.
    pub same_places: u64,
    /// The number of pairs without an order in one of them or in both.
    pub open_places: u64,
}

/// How many times as much as a contestant the reference needs, in both results.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct ComparedRatio {
    /// The contestant.
    pub contestant: String,
    /// Its ratio in each, if there is one.
    pub ratios: [Option<EffectResult>; 2],
    /// The second ratio over the first, if both have two limits.
    pub change: Option<EffectResult>,
    /// Whether the two differ; never without two limits of each.
    pub differs: bool,
}

/// The verdicts on a claim.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct ComparedClaim {
    /// The workload.
    pub workload: String,
    /// The claim.
    pub claim: String,
    /// Whether it is the claim of the study's source.
    #[serde(rename = "published")]
    pub is_published: bool,
    /// The verdict in each.
    pub verdicts: [Verdict; 2],
}

impl StudyComparison {
    /// Compares two results of a study, each under a name; `None` if they are of different studies.
    /// Costs a comparison for each pair of contestants on each workload.
    pub fn of(names: [&str; 2], results: [&StudyResult; 2]) -> Option<StudyComparison> {
        let [a, b] = results;
        let only_b = blocks(b).filter(|(_, block)| block_on(a, &block.workload.name).is_none());
        let none = |of: usize| format!("{} does not have it", names[of]);
        let of_a = blocks(a).map(|block| match block_on(b, &block.1.workload.name) {
            Some(other) => workload(names, [block, other]),
            None => not_compared(block.1, none(1)),
        });
        let workloads: Vec<ComparedWorkload> =
            of_a.chain(only_b.map(|(_, block)| not_compared(block, none(0)))).collect();
        let is_compared = |place: &str| {
            workloads.iter().any(|one| one.workload == place && one.not_compared.is_none())
        };
        let claims = claims(a).filter(|(place, _)| is_compared(place)).filter_map(|one| {
            let (place, claim) = one;
            let is_same = |(other, of_b): &(&str, &ClaimResult)| {
                let is_same = of_b.claim == claim.claim && of_b.is_published == claim.is_published;
                *other == place && is_same
            };
            let (_, other) = claims(b).find(is_same)?;
            Some(ComparedClaim {
                workload: place.to_owned(),
                claim: claim.claim.clone(),
                is_published: claim.is_published,
                verdicts: [claim.verdict, other.verdict],
            })
        });
        let claims: Vec<ComparedClaim> = claims.collect();
        (a.study == b.study).then(|| StudyComparison {
            study: a.study.clone(),
            title: a.title.clone(),
            error: (a.error + b.error).min(1.0),
            results: [ComparedResult::of(names[0], a), ComparedResult::of(names[1], b)],
            workloads,
            claims,
        })
    }
}

impl ComparedResult {
    fn of(name: &str, result: &StudyResult) -> ComparedResult {
        let fact = |key| result.runs.first()?.machine.facts.0.get(key);
        let machine = match fact("cpu_model") {
            Some(Fact::Text(model)) => Some(model.clone()),
            _ => None,
        };
        let cpus = match fact("cpus_online") {
            Some(Fact::Number(cpus)) => Some(*cpus),
            _ => None,
        };
        ComparedResult { name: name.to_owned(), machine, cpus }
    }
}

/// A run on a workload, and its block of the table.
type Block<'a> = (&'a RunResult, &'a WorkloadResult);

fn blocks(result: &StudyResult) -> impl Iterator<Item = Block<'_>> {
    result.runs.iter().filter_map(|run| Some((run, run.study.as_deref()?)))
}

fn block_on<'a>(result: &'a StudyResult, workload: &str) -> Option<Block<'a>> {
    blocks(result).find(|(_, block)| block.workload.name == workload)
}

/// Returns the claims of a result that are no cells of its table, with their workloads.
fn claims(result: &StudyResult) -> impl Iterator<Item = (&str, &ClaimResult)> {
    let all = blocks(result).flat_map(|(run, block)| {
        run.verdicts.iter().map(|claim| (block.workload.name.as_str(), claim))
    });
    all.filter(|(_, claim)| !claim.statement.is_measure())
}

fn not_compared(block: &WorkloadResult, why: String) -> ComparedWorkload {
    ComparedWorkload { not_compared: Some(why), ..nothing_of(block) }
}

fn nothing_of(block: &WorkloadResult) -> ComparedWorkload {
    ComparedWorkload {
        workload: block.workload.name.clone(),
        reference: block.reference.clone(),
        not_compared: None,
        other_code: Vec::new(),
        ratios: Vec::new(),
        changed_places: Vec::new(),
        same_places: 0,
        open_places: 0,
    }
}

/// Compares two results on one workload.
fn workload(names: [&str; 2], blocks: [Block<'_>; 2]) -> ComparedWorkload {
    let [a, b] = blocks.map(|(_, block)| block);
    let terms = blocks.map(terms);
    let differing = terms[0].iter().zip(&terms[1]).find(|(a, b)| a != b);
    if let Some(((what, of_a), (_, of_b))) = differing {
        let [in_a, in_b] = names;
        return not_compared(a, format!("the {what} is {of_a} in {in_a} and {of_b} in {in_b}"));
    }
    let only_b = b.rows.iter().filter(|row| a.rows.iter().all(|other| other.name != row.name));
    let all = a.rows.iter().chain(only_b).filter(|row| row.name != a.reference);
    let ratios = all.map(|row| ComparedRatio::of(&row.name, blocks));
    let mut ratios: Vec<_> = ratios.filter(|one| one.ratios != [None, None]).collect();
    let size = |one: &ComparedRatio| one.ratios[0].and_then(|of| of.estimate).unwrap_or(0.0);
    ratios.sort_by(|a, b| size(b).total_cmp(&size(a)));
    let is_other = |row: &&StudyRow| {
        let other = b.rows.iter().find(|other| other.name == row.name);
        let codes = other.and_then(|other| row.code.as_ref().zip(other.code.as_ref()));
        codes.is_some_and(|(a, b)| a != b)
    };
    let other_code = a.rows.iter().filter(is_other).map(|row| row.name.clone()).collect();
    let mut compared = ComparedWorkload { other_code, ratios, ..nothing_of(a) };
    compared.count_places();
    compared
}

/// Returns what must be the same for ratios to be comparable, each with its name.
fn terms((run, block): Block<'_>) -> [(&'static str, String); 5] {
    let Workload { distribution, size, seed, is_drawn, file, .. } = &block.workload;
    let seed = if *is_drawn { String::new() } else { format!(" of seed {seed}") };
    let input = match file {
        Some(file) => format!("'{file}'"),
        None => format!("'{distribution}' of size {size}{seed}"),
    };
    let centre = cells(run).next().map_or("not measured", |cell| match cell.centre {
        Centre::Factor => "one factor",
        Centre::Median => "the median",
        Centre::Mean => "that of the means",
    });
    [
        ("reference", block.reference.clone()),
        ("scope", block.scope.name().to_owned()),
        ("input", input),
        ("call", format!("{:?}", block.call).to_lowercase()),
        ("ratio", centre.to_owned()),
    ]
}

/// Returns the answers to how large the ratios of a table are.
fn cells(run: &RunResult) -> impl Iterator<Item = &ClaimResult> {
    run.verdicts.iter().filter(|claim| claim.statement.is_measure())
}

impl ComparedRatio {
    fn of(contestant: &str, blocks: [Block<'_>; 2]) -> ComparedRatio {
        let measured = |row: &&StudyRow| row.fault.is_none() && row.not_run.is_none();
        // One factor for all rounds that there is not cannot differ from another.
        let is_denied = blocks.iter().any(|(run, _)| {
            let mut of_it = cells(run).filter(|cell| cell.left == contestant);
            of_it.any(|cell| cell.centre == Centre::Factor && cell.no_factor().is_some())
        });
        let ratios = blocks.map(|(_, block)| {
            let row = block.rows.iter().filter(measured).find(|row| row.name == contestant)?;
            row.ratio
        });
        let change = ratios[0].zip(ratios[1]).and_then(|(a, b)| quotient(b, a));
        let lies_on_a_side = |change: EffectResult| {
            change.low.is_some_and(|low| low > 1.0) || change.high.is_some_and(|high| high < 1.0)
        };
        ComparedRatio {
            contestant: contestant.to_owned(),
            ratios,
            change,
            differs: !is_denied && change.is_some_and(lies_on_a_side),
        }
    }

    /// Returns the limits of both ratios, if all are known.
    fn limits(&self) -> Option<[[f64; 2]; 2]> {
        let [a, b] = self.ratios.map(|ratio| ratio.and_then(limits));
        Some([a?, b?])
    }
}

fn limits(ratio: EffectResult) -> Option<[f64; 2]> {
    ratio.low.zip(ratio.high).map(|(low, high)| [low, high])
}

/// Returns a ratio over another, `None` if not all limits are known. Both are right with at least
/// the confidence that their errors together leave.
fn quotient(over: EffectResult, under: EffectResult) -> Option<EffectResult> {
    let ([over_low, over_high], [under_low, under_high]) = (limits(over)?, limits(under)?);
    Some(EffectResult {
        estimate: over.estimate.zip(under.estimate).map(|(over, under)| over / under),
        low: Some(over_low / under_high),
        high: Some(over_high / under_low),
        confidence: (over.confidence + under.confidence - 1.0).max(0.0),
    })
}

impl ComparedWorkload {
    /// Counts the pairs of contestants by their order in the two results. The reference, whose
    /// ratio is 1, is one of them.
    fn count_places(&mut self) {
        let unknown = [[f64::NEG_INFINITY, f64::INFINITY]; 2];
        let all = self.ratios.iter();
        let all = all.map(|one| (one.contestant.clone(), one.limits().unwrap_or(unknown)));
        let mut known: Vec<_> = all.collect();
        known.push((self.reference.clone(), [[1.0; 2]; 2]));
        for (index, (first, limits)) in known.iter().enumerate() {
            for (second, others) in &known[index + 1..] {
                match [0, 1].map(|of| order(limits[of], others[of])) {
                    [Some(a), Some(b)] if a == b => self.same_places += 1,
                    [Some(true), Some(false)] => {
                        self.changed_places.push([first.clone(), second.clone()]);
                    }
                    [Some(false), Some(true)] => {
                        self.changed_places.push([second.clone(), first.clone()]);
                    }
                    _ => self.open_places += 1,
                }
            }
        }
    }
}

/// Returns whether the first of two contestants is the faster one, by the limits of their ratios;
/// `None` if these leave it open.
fn order(first: [f64; 2], second: [f64; 2]) -> Option<bool> {
    match (first[0] > second[1], second[0] > first[1]) {
        (true, _) => Some(true),
        (_, true) => Some(false),
        _ => None,
    }
}
