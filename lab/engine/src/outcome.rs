//! Assembles the result of a run from the referee and the journal.

mod study;

use crate::observation::{Column, Messages};
use crate::referee::{Referee, effect, one_factor};
use tiebreak_core::fingerprint::{Fact, Fingerprint};
use tiebreak_core::journal::{Journal, StopReason};
use tiebreak_core::load::{LoadEnd, LoadResult};
use tiebreak_core::metric::Metric;
use tiebreak_core::plan::{Budget, Plan};
use tiebreak_core::result::{
    Blame, ClaimResult, ContestantResult, EvidenceResult, MachineResult, RunResult,
};
use tiebreak_core::sample::Mark;
use tiebreak_core::verdict::Verdict;
use tiebreak_core::warning::Warning;
use tiebreak_stats::observation::log;
use tiebreak_stats::summary;

/// The bins of the pictures of distributions: two a character of a wide terminal.
const BINS: usize = 60;
/// The number of runs whose median shows whether a program is mainly its own start.
const RUNS_TO_JUDGE_START: u64 = 5;
/// A run shorter than this consists mainly of the kernel's start of a process.
const START_NS: f64 = 1e6;

/// Assembles the current result of the run of this journal: if `full`, everything; else only what
/// is cheap, such as the claims, for a screen that is redrawn during the run.
pub fn result(
    referee: &Referee,
    journal: &Journal,
    stopped: Option<StopReason>,
    full: bool,
) -> RunResult {
    let (plan, header) = (&referee.plan, &journal.header);
    let mut columns: Vec<Vec<Column>> = vec![Vec::new(); plan.contestants.len()];
    for (contestant, columns) in columns.iter_mut().enumerate().filter(|_| full) {
        columns.extend(referee.seen[contestant].columns(plan, shown(plan)));
    }
    let contestants = contestants(referee, &columns);
    let cpus = cpus(plan.program.cpus.len(), &header.machine);
    let mut warnings = if full { referee.warnings(cpus, stopped.is_some()) } else { Vec::new() };
    let is_timed = plan.claims.iter().any(|one| !one.claim.statement.is_about_success());
    let is_program = plan.functions.is_none() && plan.servers.is_none() && plan.suite.is_none();
    if full && is_program && is_timed {
        warnings.extend(contestants.iter().filter_map(mostly_start));
    }
    let elapsed_s = seconds(referee.elapsed_ns);
    let verdicts: Vec<ClaimResult> = match referee.self_check {
        Some(_) => Vec::new(),
        None => (0..plan.claims.len()).map(|index| claim(referee, index, cpus, full)).collect(),
    };
    let study = study::workload(referee, &verdicts, &columns, full && stopped.is_some());
    RunResult {
        command: header.command.clone(),
        seed: plan.seed.clone(),
        journal: journal.id.clone(),
        chain_head: None,
        seconds: elapsed_s,
        seconds_waited: seconds(referee.waited_ns),
        rounds: referee.rounds,
        lost: referee.lost,
        rounds_without_primer: referee.unprimed,
        stopped,
        eta_seconds: if stopped.is_none() { eta_seconds(referee) } else { None },
        error: plan.error,
        resolution: plan.resolution,
        budget: referee.budget,
        adjust: plan.adjust,
        false_share: referee.false_share,
        verdicts,
        contestants,
        machine: MachineResult {
            facts: header.machine.clone(),
            print: header.machine_print.clone(),
        },
        warnings,
        study: study.map(Box::new),
        load: if full { loaded(referee, &header.command).map(Box::new) } else { None },
        servers: plan.servers.clone(),
        self_check: referee.self_check.as_ref().map(|check| {
            if full && stopped.is_some() {
                check.result(&plan.seed, elapsed_s / referee.rounds.max(1) as f64)
            } else {
                check.rates()
            }
        }),
    }
}

/// Returns what was seen of the loads whose messages claims are about, once one has ended.
fn loaded(referee: &Referee, command: &[String]) -> Option<LoadResult> {
    let load = referee.plan.load.as_deref()?;
    let Budget { rounds, seconds } = referee.budget;
    let messages = rounds.map(|arrivals| arrivals / u64::from(load.arrivals_a_message.max(1)));
    let duration_ns = seconds.map(|seconds| LoadEnd::DurationNs((seconds * 1e9) as u64));
    (!referee.loads.is_empty()).then(|| LoadResult {
        command: command.to_vec(),
        url: load.url.clone(),
        traffic: load.traffic.clone(),
        connections: load.connections,
        threads: load.threads.get(),
        seed: referee.plan.seed.clone(),
        end: duration_ns.unwrap_or(LoadEnd::Messages(messages.unwrap_or(0))),
        saturation: None,
        loads: referee.loads.clone(),
        failure: None,
    })
}

fn claim(referee: &Referee, index: usize, cpus: f64, full: bool) -> ClaimResult {
    let plan = &referee.plan;
    let planned = &plan.claims[index];
    let (evidence, functions) = (referee.evidence(index), plan.functions.as_deref());
    let verdict = referee.verdict(index);
    let mut about = std::iter::once(planned.left).chain(planned.right);
    let fault = about.find_map(|contestant| {
        let fault = referee.seen[contestant].fault.clone()?;
        (verdict == Verdict::Void).then(|| Blame { contestant: name(plan, contestant), fault })
    });
    ClaimResult {
        claim: planned.claim.text.clone(),
        verdict,
        winner: referee.winner(index).map(|winner| name(plan, winner)),
        left: name(plan, planned.left),
        right: planned.right.map(|right| name(plan, right)),
        metric: planned.claim.metric,
        is_question: planned.claim.statement.is_question(),
        is_published: functions.is_some_and(|of| of.published_claims.contains(&planned.claim.text)),
        statement: planned.claim.statement,
        gate: planned.gate,
        scope: plan.scope,
        centre: plan.centre,
        cap: plan
            .cap_of_means(planned.claim.metric)
            .filter(|_| planned.claim.statement.relation().is_some()),
        error: referee.test(index).error(),
        rounds: evidence.rounds,
        seconds: seconds(referee.claims[index].ended_ns.unwrap_or(referee.elapsed_ns)),
        quantity: effect::of_claim(referee, index, &evidence),
        share: effect::share(referee, index, full),
        spells: effect::spells(referee, index, full),
        one_factor: if full { one_factor::of_claim(referee, index).map(Box::new) } else { None },
        evidence: EvidenceResult {
            for_claim: evidence.evidence_for,
            against: evidence.evidence_against,
            needed: evidence.evidence_needed,
        },
        beside: if full { referee.claims[index].beside.result(cpus) } else { None },
        fault,
    }
}

fn name(plan: &Plan, contestant: usize) -> String {
    plan.contestants[contestant].name.clone()
}

/// Returns the run's own seconds until its last open claim has the evidence that it needs, if the
/// evidence continues to grow as it did so far, and not more than the budget leaves. `None` before
/// it has grown.
fn eta_seconds(referee: &Referee) -> Option<f64> {
    let elapsed = seconds(referee.elapsed_ns);
    let budget = referee.budget.seconds.map_or(f64::INFINITY, |most| (most - elapsed).max(0.0));
    if let Some(left_ns) = referee.all_left_ns() {
        return Some((left_ns / 1e9).min(budget)).filter(|left| left.is_finite());
    }
    let claims = 0..referee.plan.claims.len();
    let open = claims.filter(|claim| referee.verdict(*claim) == Verdict::Undecided);
    let mut left = open.map(|claim| {
        let test = referee.test(claim);
        let (evidence_for, evidence_against) = test.evidence();
        // Bets that have not won yet do not show when they will.
        let grown = log(evidence_for.max(evidence_against));
        (grown > 0.5).then(|| elapsed * (log(test.evidence_needed()) / grown - 1.0).max(0.0))
    });
    let left = left.try_fold(0.0_f64, |most, left| Some(most.max(left?)));
    left.map(|left| left.min(budget)).or(budget.is_finite().then_some(budget))
}

/// Returns the metric whose distribution is shown.
fn shown(plan: &Plan) -> Metric {
    plan.claims.first().map_or(Metric::WallTime, |planned| planned.claim.metric)
}

fn contestants(referee: &Referee, columns: &[Vec<Column>]) -> Vec<ContestantResult> {
    let plan = &referee.plan;
    let shown = shown(plan);
    let sorted: Vec<&[f64]> = columns.iter().map(|columns| sorted(columns, shown)).collect();
    // None at all if nothing was measured.
    let mut histograms = summary::histograms(&sorted, BINS).into_iter();
    let each = referee.seen.iter().zip(&plan.contestants).zip(columns);
    let results = each.map(|((seen, contestant), columns)| ContestantResult {
        name: contestant.name.clone(),
        command: contestant.command.clone(),
        workload: contestant.workload.clone(),
        samples: seen.samples,
        ran: plan.functions.is_none().then_some(seen.ran).filter(|ran| *ran > 0),
        invalid: seen.invalid,
        timed_out: seen.timed_out,
        marks: Mark::ALL.into_iter().zip(seen.marks).filter(|(_, count)| *count > 0).collect(),
        fault: seen.fault.clone(),
        failures: seen.failures,
        first_failure: seen.first_failure.clone(),
        metrics: columns.iter().map(|column| (column.metric, column.summary)).collect(),
        distribution: histograms.next().filter(|_| seen.samples > 0),
        served: seen.served.as_ref().map(Messages::result),
    });
    results.collect()
}

/// Returns the sorted values of a metric; none if it is not measured.
fn sorted(columns: &[Column], metric: Metric) -> &[f64] {
    let column = columns.iter().find(|column| column.metric == metric);
    column.map_or(&[], |column| &column.sorted)
}

fn mostly_start(contestant: &ContestantResult) -> Option<Warning> {
    let mut metrics = contestant.metrics.iter();
    let (_, wall) = metrics.find(|(metric, _)| *metric == Metric::WallTime)?;
    let is_judged = contestant.samples >= RUNS_TO_JUDGE_START && wall.median? < START_NS;
    is_judged.then(|| Warning::MostlyStart { contestant: contestant.name.clone() })
}

/// Returns how many CPUs contestants may use: those of the request, else those of the machine.
fn cpus(pinned: usize, machine: &Fingerprint) -> f64 {
    match machine.0.get("cpus_online") {
        _ if pinned > 0 => pinned as f64,
        Some(Fact::Number(online)) => *online as f64,
        _ => 1.0,
    }
}

fn seconds(ns: u64) -> f64 {
    ns as f64 / 1e9
}
