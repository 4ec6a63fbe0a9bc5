//! Results and words for tests.

use crate::words::Words;
use tiebreak_core::claim::{Relation, Statement};
use tiebreak_core::fingerprint::{Fact, Fingerprint};
use tiebreak_core::journal::StopReason;
use tiebreak_core::metric::Metric;
use tiebreak_core::plan::{Adjust, Budget, Centre, Gate, Scope};
use tiebreak_core::result::{
    Blame, CheckResult, ClaimResult, ContestResult, EffectResult, EvidenceResult, Family,
    MachineResult, Quantity, RunResult,
};
use tiebreak_core::verdict::{Fault, Verdict};
use tiebreak_core::warning::Warning;

/// Words that are short and say what they were given.
pub(crate) const WORDS: Words = Words {
    sentence: |_, run, claim| format!("{} is {} ({})", claim.claim, claim.verdict, run.journal),
    effect: |claim| match claim.effect().estimate {
        Some(estimate) => format!("{estimate}x (1.31x to 1.56x)"),
        None => "-".to_owned(),
    },
    summary: |check| format!("{}: some claims hold", check.file),
    promise: |check| format!("Wrong with probability at most {}.", check.error),
    repeat: |run| format!("{} --seed {}", run.command.join(" "), run.seed),
};

/// A claim about A and B.
pub(crate) fn claim(text: &str, verdict: Verdict, gate: Gate) -> ClaimResult {
    let is_void = verdict == Verdict::Void;
    let fault = Fault::Signal { signal: 11, stderr: "stack\noverflow".to_owned() };
    ClaimResult {
        beside: None,
        claim: text.to_owned(),
        verdict,
        winner: None,
        left: "A".to_owned(),
        right: Some("B".to_owned()),
        metric: Metric::WallTime,
        is_question: false,
        is_published: false,
        statement: Statement::Ratio(Relation::AtLeast { factor: 1.0 }),
        gate,
        scope: Scope::Binary,
        centre: Centre::Factor,
        error: 0.0025,
        rounds: 12,
        seconds: 1.94,
        quantity: Quantity::Ratio {
            ratio: EffectResult {
                estimate: (!is_void).then_some(1.42),
                low: Some(1.31),
                high: Some(1.56),
                confidence: 0.995,
            },
        },
        share: None,
        spells: None,
        one_factor: None,
        cap: None,
        evidence: EvidenceResult { for_claim: 131.0, against: 0.08, needed: 400.0 },
        fault: is_void.then_some(Blame { contestant: "A".to_owned(), fault }),
    }
}

fn run(journal: &str, verdicts: Vec<ClaimResult>) -> RunResult {
    let machine = [
        ("cpu_count".to_owned(), Fact::Number(8)),
        ("cpu_model".to_owned(), Fact::Text("Example CPU 3000".to_owned())),
    ];
    RunResult {
        command: ["tiebreak", "check", "claims.toml"].map(str::to_owned).to_vec(),
        seed: "8c1f03d2".to_owned(),
        journal: journal.to_owned(),
        chain_head: None,
        seconds: 20.5,
        seconds_waited: 0.0,
        rounds: 12,
        eta_seconds: None,
        lost: 0,
        stopped: Some(StopReason::Settled),
        error: 0.005,
        false_share: None,
        resolution: 0.01,
        budget: Budget { rounds: None, seconds: Some(60.0) },
        adjust: Adjust::NONE,
        verdicts,
        contestants: Vec::new(),
        machine: MachineResult { facts: Fingerprint(machine.into_iter().collect()), print: None },
        warnings: vec![Warning::ForeignLoad { share: 0.12 }],
        self_check: None,
        study: None,
    }
}

/// A file of claims with every outcome.
pub(crate) fn checked() -> CheckResult {
    let open = Gate::OpenUnlessRefuted;
    let sorting = vec![
        claim("A is faster than B", Verdict::Holds, Gate::None),
        claim("A is at least 2x faster than B", Verdict::Refuted, Gate::None),
        claim("A is within 2% of B", Verdict::Undecided, Gate::None),
    ];
    let revisions = vec![
        claim("HEAD is no more than 2% slower than base", Verdict::TooClose, open),
        claim("HEAD uses less peak memory than base", Verdict::Undecided, Gate::ClosedUnlessHolds),
        claim("HEAD is faster than base", Verdict::Void, open),
    ];
    let contest = |name: &str, journal: &str, lines: [u64; 3], claims| ContestResult {
        name: name.to_owned(),
        run: run(journal, claims),
        lines: lines.to_vec(),
    };
    CheckResult {
        file: "bench/claims.toml".to_owned(),
        family: Family::EBonferroni,
        error: 0.01,
        seconds: 41.3,
        budget: Budget { rounds: None, seconds: Some(120.0) },
        interrupted: false,
        contests: vec![
            contest("sorting", "k7w2", [4, 5, 6], sorting),
            contest("two revisions", "k7w3", [12, 13, 14], revisions),
        ],
    }
}

/// The same with every text as bad as it can be.
pub(crate) fn nasty() -> CheckResult {
    let bad = "<script>x</script> | \"q\" 'a' & ]]> %0A::error::,a:b @team #1 `c` \u{1b}[31m\
               \r\n\u{4e2d}\u{1f680} \u{0}\u{fffe}";
    let mut check = checked();
    check.file = format!("a,b:c{bad}");
    check.contests.truncate(1);
    check.seconds = f64::NAN;
    let contest = &mut check.contests[0];
    contest.name = bad.to_owned();
    contest.run.journal = bad.to_owned();
    contest.run.seed = bad.to_owned();
    contest.run.seconds = f64::INFINITY;
    contest.run.warnings =
        vec![Warning::LeftBehind { contestant: bad.to_owned(), process: bad.to_owned() }];
    contest.lines.truncate(1);
    for claim in &mut contest.run.verdicts {
        claim.claim = bad.to_owned();
    }
    check
}
