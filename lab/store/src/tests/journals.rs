//! Journals for tests: every kind of line, and numbers at their limits.

use crate::{RunId, Store};
use tiebreak_core::claim::{Claim, Property, Relation, Statement};
use tiebreak_core::fingerprint::{Fact, Fingerprint};
use tiebreak_core::journal::{
    Event, FileDigest, Journal, RecordedVerdict, Round, RunHeader, StopReason, Wealth,
};
use tiebreak_core::load::MessageCounts;
use tiebreak_core::metric::Metric;
use tiebreak_core::plan::{
    Adjust, Budget, Centre, Contestant, ENGINE_VERSION, Gate, Hooks, Kind, Plan, PlannedClaim,
    ProgramPlan, Scope,
};
use tiebreak_core::sample::{BatchTime, Beside, Mark, Marks, Meters, Outcome, Sample, Served};
use tiebreak_core::sampler::OutputDigest;
use tiebreak_core::schedule::{RoundCoins, UnitCoins};
use tiebreak_core::transitions::Transitions;
use tiebreak_core::verdict::{Fault, Verdict};
use tiebreak_core::warning::Warning;

fn contestant(name: &str) -> Contestant {
    Contestant {
        name: name.into(),
        command: format!("./{name} 'two words'"),
        workload: String::new(),
        parameters: vec![("n".into(), "7".into())],
        hooks: Hooks { prepare: Some("sync".into()), ..Hooks::default() },
        directory: (name == "B").then(|| "/srv/b".into()),
    }
}

fn claim(text: &str, relation: Relation) -> PlannedClaim {
    PlannedClaim {
        claim: Claim {
            text: text.into(),
            left: "A".into(),
            right: Some("B".into()),
            statement: Statement::Ratio(relation),
            metric: Metric::WallTime,
            workload: None,
        },
        left: 0,
        right: Some(1),
        error: 0.01 / 3.0,
        gate: Gate::None,
        waits_ns: 0,
    }
}

/// Returns a header with two contestants and two claims.
pub fn header() -> RunHeader {
    let machine = [
        ("cpu_model".to_owned(), Fact::Text("Test \u{b5}arch \"9\"".into())),
        ("memory_bytes".to_owned(), Fact::Number(u64::MAX)),
        ("now_governor_fixed".to_owned(), Fact::Flag(true)),
    ];
    RunHeader {
        created_unix_ms: 1_700_000_000_123,
        version: "0.1.0".into(),
        command: vec!["tiebreak".into(), "compare".into(), "./A 'two words'".into()],
        directory: "/home/someone".into(),
        plan: Plan {
            engine_version: ENGINE_VERSION,
            kind: Kind::Compare,
            contestants: vec![contestant("A"), contestant("B")],
            claims: vec![
                claim("A is at least 1.1x faster than B", Relation::AtLeast { factor: 1.1 }),
                claim("A is within 2% of B", Relation::Within { fraction: 0.02 }),
            ],
            error: 0.1 + 0.2,
            resolution: 0.01,
            budget: Budget { rounds: None, seconds: Some(f64::INFINITY) },
            scope: Scope::Binary,
            centre: Centre::Factor,
            seed: "5eed".into(),
            clock_step_ns: 1.0 / 3.0,
            program: ProgramPlan::default(),
            block_runs: 1,
            adjust: Adjust::NONE,
            functions: None,
            load: None,
            servers: None,
            suite: None,
        },
        machine: Fingerprint(machine.into()),
        machine_print: None,
        files: vec![FileDigest { path: "/bin/A".into(), bytes: 1 << 63, digest: "ab".into() }],
        claim_key: "key".into(),
    }
}

/// Returns the coins of an attempt, different for each.
pub fn coins(round: u64, attempt: u32) -> RoundCoins {
    let first = (round as usize + attempt as usize) % 2;
    RoundCoins {
        round,
        attempt,
        primer: (round != 1).then_some(1 - first),
        order: vec![first, 1 - first],
        padding_bytes: vec![attempt, 4095, u32::MAX],
        unit: None,
        load_seed: None,
    }
}

/// Returns a round with ordinary numbers.
pub fn round(round: u64, attempt: u32) -> Round {
    let wealth = |claim| Wealth {
        claim,
        evidence_for: 1.5_f64.powi(round as i32 % 100),
        evidence_against: 0.9 / (1.0 + round as f64),
    };
    Round {
        coins: coins(round, attempt),
        waited_ns: 1000 * round,
        elapsed_ns: 2_000_000 * (round + 1),
        samples: vec![
            Sample::of_wall_ns(1_000_000 + round),
            Sample { marks: Marks::NONE.with(Mark::Migrated), ..Sample::of_wall_ns(900_000) },
        ],
        batches: Vec::new(),
        histograms: Vec::new(),
        wealth: vec![wealth(0), wealth(1)],
    }
}

/// Returns a round that is a unit of functions.
pub fn unit_round(number: u64, attempt: u32) -> Round {
    let mut round = round(number, attempt);
    round.coins.unit = Some(UnitCoins {
        input_seed: u64::MAX,
        orders_seed: 1 << 63,
        stack_bytes: 4095,
        placements: vec![0, u64::MAX],
    });
    round.batches = vec![vec![1.into(), u64::MAX.into()], vec![BatchTime::between(7, 2), 0.into()]];
    round
}

/// Returns a round of servers, of which the second has no histogram.
pub fn server_round(number: u64, attempt: u32) -> Round {
    let mut round = round(number, attempt);
    round.coins.load_seed = Some(u64::MAX);
    let counts = MessageCounts { intended: 1 << 63, sent: 7, lost: 1, ..Default::default() };
    let latencies_ns = [1.into(), BatchTime::between(2, 3), u64::MAX.into(), 0.into()];
    let served = Served { counts, late: 2, generator_cpu_ns: u64::MAX, latencies_ns };
    round.samples[0].served = Some(served);
    round.samples[1].served = Some(Served::default());
    round.histograms = vec![vec![0, 255, 16], Vec::new()];
    round
}

/// Returns a round whose numbers are at their limits.
pub fn extreme_round(number: u64, attempt: u32) -> Round {
    let timed_out = Sample {
        outcome: Outcome::TimedOut,
        wall_ns: u64::MAX,
        user_ns: 1 << 63,
        system_ns: (1 << 63) - 1,
        peak_memory_bytes: u64::MAX - 1,
        minor_faults: 1,
        major_faults: 2,
        voluntary_switches: 3,
        involuntary_switches: 4,
        meters: Meters {
            cycles: Some(u64::MAX),
            instructions: Some(5),
            branch_misses: Some(6),
            cache_misses: Some(0),
            energy_nj: Some(7),
            run_ns: Some(u64::MAX - 2),
        },
        beside: Beside {
            foreign_cpu_ns: Some(8),
            steal_ns: Some(9),
            migrations: Some(10),
            throttled_ns: Some(u64::MAX),
            run_delay_ns: Some(11),
        },
        marks: Mark::ALL.into_iter().fold(Marks::NONE, Marks::with),
        served: None,
    };
    let unusable = Sample { outcome: Outcome::Unusable, ..Sample::of_wall_ns(0) };
    let wealth =
        |claim, evidence_for, evidence_against| Wealth { claim, evidence_for, evidence_against };
    Round {
        waited_ns: u64::MAX,
        elapsed_ns: u64::MAX,
        samples: vec![timed_out, unusable],
        wealth: vec![wealth(0, f64::INFINITY, -0.0), wealth(1, 5e-324, f64::MAX)],
        ..round(number, attempt)
    }
}

/// Returns the events of [`rich`].
fn events() -> Vec<Event> {
    let print = OutputDigest { bytes: u64::MAX, digest: "00ff".into() };
    vec![
        Event::FirstOutputs { outputs: vec![Some(print), None] },
        Event::Warned { warning: Warning::Steal { share: f64::NEG_INFINITY } },
        Event::Stopped { rounds: 2, reason: StopReason::Interrupted },
        Event::Resumed {
            rounds: 2,
            lost: 2,
            budget: Budget { rounds: Some(u64::MAX), seconds: None },
        },
        Event::Void {
            contestant: 1,
            round: 3,
            attempt: Some(0),
            fault: Fault::Signal { signal: 11, stderr: "line\nwith \u{1f4a5}".into() },
        },
        Event::Stopped { rounds: 3, reason: StopReason::Settled },
    ]
}

/// Returns a run with lost attempts, time-outs, infinities, a resumption and verdicts.
pub fn rich(id: &str) -> Journal {
    let verdict =
        |claim, verdict, rounds, low, high| RecordedVerdict { claim, verdict, rounds, low, high };
    Journal {
        id: id.into(),
        header: header(),
        rounds: vec![round(0, 0), extreme_round(1, 2), round(2, 0)],
        lost: vec![coins(1, 0), coins(1, 1), coins(3, 0)],
        events: events(),
        verdicts: vec![
            verdict(1, Verdict::Undecided, 2, None, Some(f64::INFINITY)),
            verdict(0, Verdict::Holds, 2, Some(0.1 + 0.2), Some(-0.0)),
            verdict(1, Verdict::TooClose, 3, Some(f64::NEG_INFINITY), None),
        ],
        chain: Vec::new(),
    }
}

/// Writes a journal as a run would, attempts and rounds in order; its own id is ignored.
pub fn append(store: &mut Store, journal: &Journal) -> RunId {
    let run = store.create_run(&journal.header).unwrap();
    let finished = journal.rounds.iter().map(|round| (&round.coins, Some(round)));
    let lost = journal.lost.iter().map(|coins| (coins, None));
    let mut attempts: Vec<_> = finished.chain(lost).collect();
    attempts.sort_by_key(|(coins, _)| (coins.round, coins.attempt));
    for (coins, round) in attempts {
        store.begin_attempt(&run, coins).unwrap();
        if let Some(round) = round {
            store.finish_round(&run, round, &[], &[]).unwrap();
        }
    }
    for event in &journal.events {
        store.event(&run, event).unwrap();
    }
    for verdict in &journal.verdicts {
        store.verdict(&run, verdict).unwrap();
    }
    run
}

/// Returns a run as it was written, without its chain, for comparison with a journal in memory.
pub fn written(store: &Store, run: &RunId) -> Journal {
    Journal { chain: Vec::new(), ..store.journal(run).unwrap() }
}

/// Returns a run of a claim about how often a contestant succeeds, with everything that other runs
/// leave out.
pub fn of_success(id: &str) -> Journal {
    let mut header = header();
    let succeeds = Property::Succeeds { good: 0.98, bad: 0.95 };
    let plan = &mut header.plan;
    plan.claims[1].claim.statement = Statement::Property(succeeds);
    plan.claims[1].claim.right = None;
    plan.claims[1].right = None;
    plan.claims[1].gate = Gate::OpenUnlessRefuted;
    plan.block_runs = 5;
    plan.adjust = Adjust { slot: true, strata: false };
    let mut round = round(0, 0);
    round.samples[0] = Sample::failed();
    let fault = Fault::ExitStatus { status: 3, stderr: "no luck".into() };
    let observed = |values: &[f64]| Event::Observed {
        lines: 3,
        successes: 1,
        failure_runs: 2,
        values: values.to_vec(),
        transitions: Transitions::default(),
        by_age: Box::default(),
        elapsed_ns: 17,
    };
    Journal {
        id: id.into(),
        header,
        rounds: vec![round],
        lost: Vec::new(),
        events: vec![
            Event::FirstFailure { contestant: 0, round: 0, fault },
            observed(&[]),
            observed(&[0.1 + 0.2, -0.0, 5e-324]),
            Event::Relaxed { error: 0.02, false_share: 0.05 },
        ],
        verdicts: Vec::new(),
        chain: Vec::new(),
    }
}

/// Returns the print of a machine with this processor.
pub fn made_up_print(model: &str, taken_unix_ms: u64) -> serde_json::Value {
    serde_json::json!({
        "schema": "tiebreak/machine/1",
        "taken_unix_ms": taken_unix_ms,
        "took_ns": 27_000_000_000_u64,
        "is_quick": true,
        "interrupted": false,
        "machine": facts(model, "0.1"),
        "timers": { "state": "measured", "value": {} },
        "noise": { "state": "inconclusive", "why": "nothing survived" },
    })
}

/// Returns the facts that a machine reports.
pub fn facts(model: &str, load: &str) -> Fingerprint {
    let facts = [("cpu_model", model), ("now_load_average_1min", load)];
    let facts = facts.map(|(key, text)| (key.to_owned(), Fact::Text(text.to_owned())));
    Fingerprint(facts.into())
}
