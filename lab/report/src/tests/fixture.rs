//! Results for tests.

pub(crate) mod shares;
pub(crate) mod study;
pub(crate) mod threads;

use std::collections::BTreeMap;
use tiebreak_core::claim::{Relation, Statement};
use tiebreak_core::fingerprint::{Fact, Fingerprint};
use tiebreak_core::journal::StopReason;
use tiebreak_core::load::{LoadEnd, MessageCounts, Pace, Traffic};
use tiebreak_core::metric::Metric;
use tiebreak_core::plan::{Adjust, Budget, Centre, Gate, Scope};
use tiebreak_core::result::{
    Blame, ClaimResult, ContestantResult, EffectResult, EvidenceResult, Histogram, MachineResult,
    MetricSummary, Quantity, RunResult, SelfCheckResult, ServedResult, SmallestDifference,
};
use tiebreak_core::sample::Mark;
use tiebreak_core::server::ServerPlan;
use tiebreak_core::verdict::{Fault, Verdict};
use tiebreak_core::warning::Warning;

/// A run in which nothing has happened.
pub(crate) fn empty() -> RunResult {
    RunResult {
        command: ["tiebreak", "compare", "sleep 0.1", "sleep 0.12"].map(str::to_owned).to_vec(),
        seed: "8c1f03d2".to_owned(),
        journal: "k7w2".to_owned(),
        chain_head: None,
        seconds: 0.0,
        seconds_waited: 0.0,
        rounds: 0,
        eta_seconds: None,
        rounds_without_primer: 0,
        lost: 0,
        stopped: None,
        error: 0.01,
        false_share: None,
        resolution: 0.01,
        budget: Budget { rounds: None, seconds: Some(60.0) },
        adjust: Adjust::NONE,
        verdicts: Vec::new(),
        contestants: Vec::new(),
        machine: MachineResult::default(),
        warnings: Vec::new(),
        self_check: None,
        study: None,
        load: None,
        servers: None,
    }
}

/// A question about A and B.
pub(crate) fn question(
    verdict: Verdict,
    winner: Option<&str>,
    ratio: [Option<f64>; 3],
) -> ClaimResult {
    ClaimResult {
        beside: None,
        claim: "which of A and B is faster?".to_owned(),
        verdict,
        winner: winner.map(str::to_owned),
        left: "A".to_owned(),
        right: Some("B".to_owned()),
        metric: Metric::WallTime,
        is_question: true,
        is_published: false,
        statement: Statement::Ratio(Relation::Order),
        gate: Gate::None,
        scope: Scope::Binary,
        centre: Centre::Factor,
        error: 0.01,
        rounds: 12,
        seconds: 1.94,
        quantity: Quantity::Ratio {
            ratio: EffectResult {
                estimate: ratio[1],
                low: ratio[0],
                high: ratio[2],
                confidence: 0.99,
            },
        },
        share: None,
        spells: None,
        one_factor: None,
        cap: None,
        evidence: EvidenceResult { for_claim: 131.0, against: 0.08, needed: 200.0 },
        fault: None,
    }
}

/// A claim about A and B.
pub(crate) fn claim(
    text: &str,
    relation: Relation,
    verdict: Verdict,
    ratio: [Option<f64>; 3],
) -> ClaimResult {
    let mut claim = question(verdict, None, ratio);
    claim.claim = text.to_owned();
    claim.is_question = false;
    claim.statement = Statement::Ratio(relation);
    if !matches!(relation, Relation::Within { .. }) {
        claim.quantity.effect_mut().confidence = 0.98;
        claim.evidence.needed = 100.0;
    }
    claim
}

/// A contestant whose wall time has this median, in nanoseconds.
pub(crate) fn contestant(name: &str, command: &str, median_ns: f64) -> ContestantResult {
    let around = |median: f64| MetricSummary {
        median: Some(median),
        low: Some(median * 0.99),
        high: Some(median * 1.02),
        p10: Some(median * 0.985),
        p90: Some(median * 1.06),
    };
    ContestantResult {
        name: name.to_owned(),
        command: command.to_owned(),
        workload: String::new(),
        samples: 12,
        invalid: 0,
        timed_out: 0,
        marks: BTreeMap::new(),
        fault: None,
        failures: 0,
        first_failure: None,
        ran: None,
        metrics: vec![
            (Metric::WallTime, around(median_ns)),
            (Metric::CpuTime, around(median_ns * 0.9)),
            (Metric::UserTime, around(median_ns * 0.8)),
            (Metric::SystemTime, around(median_ns * 0.1)),
            (Metric::PeakMemory, around(1_600_000.0)),
        ],
        distribution: None,
        served: None,
    }
}

/// Counts of a distribution with its mode at `mode` of 40 bins.
pub(crate) fn distribution(mode: i64, beyond: u64) -> Histogram {
    let count = |bin: i64| match (bin - mode).abs() {
        0 => 40,
        1 => 26,
        2 => 9,
        3 | 7 => 1,
        _ => 0,
    };
    Histogram { low: 95e6, high: 150e6, counts: (0..40).map(count).collect(), beyond }
}

/// A finished comparison of A and B with these claims.
pub(crate) fn compared(verdicts: Vec<ClaimResult>) -> RunResult {
    let mut a = contestant("A", "sleep 0.1", 101.3e6);
    let mut b = contestant("B", "sleep 0.12", 124.9e6);
    a.distribution = Some(distribution(6, 0));
    b.distribution = Some(distribution(22, 2));
    let machine = [
        ("cpu_count".to_owned(), Fact::Number(8)),
        ("cpu_model".to_owned(), Fact::Text("Example CPU 3000".to_owned())),
        ("hypervisor".to_owned(), Fact::Flag(true)),
    ];
    RunResult {
        seconds: 1.94,
        seconds_waited: 0.31,
        rounds: 12,
        stopped: Some(StopReason::Settled),
        verdicts,
        contestants: vec![a, b],
        machine: MachineResult { facts: Fingerprint(machine.into_iter().collect()), print: None },
        ..empty()
    }
}

/// Two servers under a load of requests, one of which answers faster.
pub(crate) fn served() -> RunResult {
    let mut run =
        compared(vec![question(Verdict::Holds, Some("A"), [Some(1.18), Some(1.231), Some(1.3)])]);
    for (contestant, rate) in run.contestants.iter_mut().zip([19_743.6, 16_012.8]) {
        let median = |ns| MetricSummary { median: Some(ns), ..contestant.metrics[0].1 };
        let latencies =
            [(Metric::LatencyP50, median(4e8 / rate)), (Metric::LatencyP99, median(2e6))];
        contestant.metrics.extend(latencies);
        let counts = MessageCounts { sent: 24_000, arrived: 24_000, ..MessageCounts::default() };
        contestant.served = Some(ServedResult {
            arrived_per_second: Some(rate),
            generator_cpu_a_message_ns: 2500.0,
            late: 0,
            counts,
        });
    }
    run.servers = Some(Box::new(ServerPlan::new(
        "http --closed --messages 2000 http://127.0.0.1:{port}/",
        "http://127.0.0.1:{port}/",
        Traffic::Http { connections: 10 },
        Pace::Closed { in_flight: Some(1) },
        LoadEnd::Messages(2000),
    )));
    run
}

/// Three contestants, of which the last is void, with three questions.
pub(crate) fn three() -> RunResult {
    let fault = Fault::ExitStatus { status: 2, stderr: "no such\nfile".to_owned() };
    let mut first = question(Verdict::Holds, Some("A"), [Some(1.18), Some(1.231), Some(1.3)]);
    first.evidence.for_claim = f64::INFINITY;
    let mut second = question(Verdict::Void, None, [None, Some(1.01), None]);
    second.right = Some("C".to_owned());
    second.fault = Some(Blame { contestant: "C".to_owned(), fault: fault.clone() });
    let mut third = second.clone();
    third.left = "B".to_owned();
    let mut run = compared(vec![first, second, third]);
    let mut c = contestant("C", "cat /nowhere", 99e6);
    c.fault = Some(fault);
    c.samples = 3;
    c.marks = BTreeMap::from([(Mark::Preempted, 2), (Mark::ForeignLoad, 1)]);
    run.contestants.push(c);
    run.contestants[0].marks = BTreeMap::from([(Mark::Preempted, 4)]);
    run.warnings = vec![
        Warning::OutputsDiffer,
        Warning::ForeignLoad { share: 0.12 },
        Warning::LostAttempts { attempts: 1, charged: false },
    ];
    run.lost = 1;
    run
}

/// A run of which every number that may be missing or infinite is.
pub(crate) fn nothing_known() -> RunResult {
    let infinite = Some(f64::INFINITY);
    let mut claim = question(Verdict::Undecided, None, [None, infinite, infinite]);
    claim.evidence =
        EvidenceResult { for_claim: f64::NAN, against: f64::INFINITY, needed: f64::INFINITY };
    let mut run = compared(vec![claim]);
    run.stopped = Some(StopReason::Budget);
    run.resolution = 0.0;
    run.budget = Budget { rounds: Some(500), seconds: None };
    run.machine = MachineResult::default();
    run.eta_seconds = infinite;
    let nothing =
        MetricSummary { median: infinite, low: None, high: infinite, p10: None, p90: None };
    for (contestant, metrics) in
        run.contestants.iter_mut().zip([vec![], vec![(Metric::WallTime, nothing)]])
    {
        contestant.metrics = metrics;
        contestant.invalid = 12;
        contestant.timed_out = 11;
        contestant.distribution =
            Some(Histogram { low: 0.0, high: 0.0, counts: vec![], beyond: 12 });
    }
    run
}

/// What `tiebreak aa` found.
pub(crate) fn self_checked(false_verdicts: u64, rate: [f64; 3]) -> RunResult {
    let smallest = [(1.0, 8, None), (10.0, 84, Some(0.0123))];
    let mut run = compared(Vec::new());
    run.command = ["tiebreak", "aa", "sleep 0.1"].map(str::to_owned).to_vec();
    run.contestants.truncate(1);
    run.self_check = Some(SelfCheckResult {
        comparisons: 40,
        false_verdicts,
        too_close: 38 - false_verdicts,
        undecided: 2,
        error: 0.01,
        rate: rate[1],
        rate_low: rate[0],
        rate_high: rate[2],
        confidence: 0.99,
        smallest: smallest
            .map(|(seconds, rounds, fraction)| SmallestDifference {
                seconds,
                rounds,
                fraction,
                is_bound: false,
            })
            .to_vec(),
    });
    run
}

/// A run whose every text is far too long, or speaks to the terminal.
pub(crate) fn long_names() -> RunResult {
    let name = |letter: &str| format!("{letter}-{}\u{1b}[31m-end", "very-long-".repeat(12));
    let mut run = compared(vec![question(
        Verdict::Holds,
        Some(&name("b")),
        [Some(0.7001), Some(0.81), Some(0.9)],
    )]);
    run.verdicts[0].left = name("a");
    run.verdicts[0].right = Some(name("b"));
    run.contestants[0].name = name("a");
    run.contestants[1].name = name("b");
    run.command = vec!["tiebreak".into(), "compare".into(), "x".repeat(300), "y z".repeat(50)];
    run.warnings = vec![Warning::LeftBehind { contestant: name("a"), process: "q".repeat(200) }];
    run
}
