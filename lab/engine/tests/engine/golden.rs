//! Journals of an earlier day must replay to the same verdicts, bit for bit, on any machine.
//!
//! `tests/golden/VERSION/*.jsonl` cover, for each version of the engine, every claim form on ratios
//! with every verdict, and ties, time-outs, unknown values, lost attempts and three contestants.
//! `TIEBREAK_BLESS=1` writes those of today's version anew: only before it is released.

use crate::common::{Behaviour, VirtualLab, VirtualSampler, request};
use std::path::PathBuf;
use tiebreak_lab::core::journal::Journal;
use tiebreak_lab::core::plan::{Budget, Centre, ENGINE_VERSION};
use tiebreak_lab::core::verdict::Verdict;
use tiebreak_lab::core::warning::Warning;
use tiebreak_lab::planning::Request;
use tiebreak_lab::replay;
use tiebreak_store::{read_lines, write_lines};

const ROUNDS: u64 = 16;
/// The case about a share of rounds.
const SHARE: &str = "share-of-rounds";

struct Golden {
    name: &'static str,
    request: Request,
    behaviours: Vec<Behaviour>,
    kills: usize,
    expected: Verdict,
}

/// The golden journal of a case that a version of the engine wrote.
fn path(version: u32, case: &Golden) -> PathBuf {
    let folder = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("tests/golden");
    folder.join(version.to_string()).join(case.name).with_extension("jsonl")
}

/// The version of the engine that could make a case first.
fn first_version(case: &Golden) -> u32 {
    let Request { centre, budget, .. } = &case.request;
    let in_seconds = budget.is_some_and(|budget| budget.seconds.is_some());
    let are_long = case.behaviours.iter().any(|one| one.wall_ns > 1e9);
    match () {
        () if are_long => 3,
        () if *centre == Centre::Mean || in_seconds || case.name == SHARE => 2,
        () => 1,
    }
}

/// A contestant of so many times 5 ms, with little noise.
fn times(factor: f64) -> Behaviour {
    Behaviour { wall_ns: 5e6 * factor, noise: 0.003, ..Behaviour::default() }
}

fn asking(contestants: usize, claims: &[&str]) -> Request {
    let budget = Some(Budget { rounds: Some(ROUNDS), seconds: None });
    Request { error: 0.05, budget, ..request(contestants, claims) }
}

fn golden(name: &'static str, claim: &str, b: Behaviour, expected: Verdict) -> Golden {
    let claims: &[&str] = if claim.is_empty() { &[] } else { &[claim] };
    let (request, behaviours) = (asking(2, claims), vec![times(1.0), b]);
    Golden { name, request, behaviours, kills: 0, expected }
}

/// A form with a truth for each of its verdicts: a noise as wide as the effect leaves it undecided,
/// and a failure makes it void.
fn form(names: [&'static str; 5], claim: &str, truths: [f64; 3], noisy: f64) -> Vec<Golden> {
    use Verdict::{Holds, Refuted, TooClose, Undecided, Void};
    let verdicts = [Holds, if claim.is_empty() { Holds } else { Refuted }, TooClose];
    let mut cases: Vec<Golden> =
        (0..3).map(|i| golden(names[i], claim, times(truths[i]), verdicts[i])).collect();
    let noisy = Behaviour { noise: 0.5, ..times(noisy) };
    cases.push(golden(names[3], claim, noisy, Undecided));
    let failing = Behaviour { fails_in_run: Some(6), ..times(1.03) };
    let mut void = golden(names[4], claim, failing, Void);
    void.request.resolution = 0.0;
    void.behaviours[0].noise = 0.5;
    cases.push(void);
    cases
}

fn forms() -> Vec<Golden> {
    let mut cases = form(
        ["order-left", "order-right", "order-too-close", "order-undecided", "order-void"],
        "",
        [1.2, 0.8, 1.0],
        1.0,
    );
    let names =
        ["faster-holds", "faster-refuted", "faster-too-close", "faster-undecided", "faster-void"];
    cases.extend(form(names, "A is faster than B", [1.2, 0.8, 1.0], 1.0));
    let names = [
        "at-least-holds",
        "at-least-refuted",
        "at-least-too-close",
        "at-least-undecided",
        "at-least-void",
    ];
    cases.extend(form(names, "A is at least 1.5x faster than B", [1.8, 1.2, 1.5], 1.5));
    let names = ["gate-holds", "gate-refuted", "gate-too-close", "gate-undecided", "gate-void"];
    let gate = "A is no more than 2% slower than B";
    cases.extend(form(names, gate, [1.0, 0.9, 1.0 / 1.02], 0.98));
    let names =
        ["within-holds", "within-refuted", "within-too-close", "within-undecided", "within-void"];
    cases.extend(form(names, "A is within 5% of B", [1.0, 1.3, 1.05], 1.05));
    cases
}

/// The centres other than one factor.
fn centres() -> Vec<Golden> {
    let mut median =
        golden("median", "A is at least 1.1x faster than B", times(1.4), Verdict::Holds);
    median.request.centre = Centre::Median;
    let mut order = golden("order-median", "", times(1.2), Verdict::Holds);
    order.request.centre = Centre::Median;
    let mut mean = golden("order-mean", "", times(1.6), Verdict::Holds);
    mean.request.centre = Centre::Mean;
    mean.request.program.timeout_ns = Some(9_000_000);
    mean.request.budget = Some(Budget { rounds: Some(60), seconds: None });
    mean.behaviours[0].times = |run| if run % 10 == 3 { 3.0 } else { 1.0 };
    mean.kills = 2;
    vec![median, order, mean]
}

fn oddities() -> Vec<Golden> {
    let mut cases = vec![
        golden(
            "ties",
            "A is within 5% of B",
            Behaviour { noise: 0.0, ..times(1.0) },
            Verdict::Holds,
        ),
        golden("time-outs", "", Behaviour { hangs: true, ..times(1.0) }, Verdict::Holds),
        golden("memory", "A uses less memory than B", times(1.3), Verdict::Undecided),
    ];
    cases[0].behaviours[0].noise = 0.0;
    cases[1].request.program.timeout_ns = Some(50_000_000);
    let backwards = Behaviour { clock_backwards_every: Some(11), ..times(2.0) };
    let mut backwards = golden("clock-backwards", "A is faster than B", backwards, Verdict::Holds);
    backwards.request.budget = Some(Budget { rounds: Some(20), seconds: None });
    cases.push(backwards);
    let mut both_hang =
        golden("both-hang", "", Behaviour { hangs: true, ..times(1.0) }, Verdict::Undecided);
    both_hang.behaviours[0].hangs = true;
    both_hang.request.program.timeout_ns = Some(50_000_000);
    cases.push(both_hang);
    let coarse = Behaviour { step_ns: 200_000, ..times(1.01) };
    let mut quantised = golden("quantised", "", coarse.clone(), Verdict::Undecided);
    quantised.behaviours[0] = Behaviour { step_ns: 200_000, ..times(1.0) };
    quantised.request.clock_step_ns = 200_000.0;
    cases.push(quantised);
    let mut lost = golden("lost-attempts", "A is faster than B", times(1.3), Verdict::Holds);
    lost.kills = 5;
    lost.request.budget = Some(Budget { rounds: Some(60), seconds: None });
    cases.push(lost);
    let mut share =
        golden(SHARE, "A is faster than B in 90% of rounds", times(1.3), Verdict::Holds);
    share.request.budget = Some(Budget { rounds: Some(80), seconds: None });
    share.kills = 1;
    cases.push(share);
    let mut seconds = golden("seconds", "A is faster than B", times(1.0), Verdict::Undecided);
    seconds.request.resolution = 0.0;
    seconds.request.budget = Some(Budget { rounds: None, seconds: Some(0.3) });
    cases.push(seconds);
    let mut long = golden("long-runs", "", times(300.0), Verdict::Holds);
    long.behaviours[0] = times(240.0);
    cases.push(long);
    let mut three = golden("three-all-pairs", "", times(1.3), Verdict::Holds);
    three.request = Request { all_pairs: true, ..asking(3, &[]) };
    three.behaviours.push(Behaviour { fails_in_run: Some(3), ..times(0.8) });
    cases.push(three);
    cases
}

fn cases() -> impl Iterator<Item = Golden> {
    forms().into_iter().chain(centres()).chain(oddities())
}

fn run(case: &Golden) -> Journal {
    std::panic::set_hook(Box::new(|_| {}));
    let lab = VirtualLab::new(&case.request);
    for _ in 0..case.kills {
        let mut sampler = VirtualSampler::new(&case.behaviours);
        sampler.killed_at = Some(2);
        assert!(lab.go(&mut sampler).is_err());
    }
    lab.go(&mut VirtualSampler::new(&case.behaviours)).unwrap();
    lab.journal()
}

fn lines(journal: &Journal) -> String {
    let mut lines = Vec::new();
    write_lines(journal, &mut lines).unwrap();
    String::from_utf8(lines).unwrap()
}

#[test]
fn golden_journals_replay() {
    let bless = std::env::var_os("TIEBREAK_BLESS").is_some();
    for case in cases() {
        if bless {
            std::fs::write(path(ENGINE_VERSION, &case), lines(&run(&case))).unwrap();
        }
        for version in first_version(&case)..=ENGINE_VERSION {
            let text = std::fs::read_to_string(path(version, &case)).unwrap();
            let journal = read_lines(text.as_bytes()).unwrap();
            assert_eq!(journal.header.plan.engine_version, version);
            let result =
                replay::replay(&journal).unwrap_or_else(|error| panic!("{}: {error}", case.name));
            assert_eq!(result.verdicts[0].verdict, case.expected, "{}", case.name);
            let is_unchained = result.warnings.contains(&Warning::NoChain);
            assert_eq!(is_unchained, version == 1, "{}", case.name);
            assert_eq!(lines(&journal), text, "{} is written as it was read", case.name);
        }
    }
}

#[test]
fn a_journal_of_a_later_engine_is_refused() {
    let mut journal = run(&forms()[0]);
    journal.header.plan.engine_version = ENGINE_VERSION + 1;
    let error = replay::replay(&journal).unwrap_err().to_string();
    assert!(error.contains(&format!("this is version {ENGINE_VERSION}")), "{error}");
}

/// The engine of today writes what the engine of that day wrote.
#[test]
fn the_same_run_writes_the_same_journal() {
    for case in cases() {
        let golden = std::fs::read_to_string(path(ENGINE_VERSION, &case)).unwrap();
        assert_eq!(lines(&run(&case)), golden, "{}", case.name);
    }
}

/// Swapping the contestants in a journal mirrors its verdict and its limits, bit for bit.
#[test]
fn swapped_contestants_mirror() {
    for case in cases().filter(|case| case.behaviours.len() == 2) {
        let symmetric = ["order", "within", "ties", "time", "both", "quantised"];
        if !symmetric.iter().any(|prefix| case.name.starts_with(prefix)) {
            continue;
        }
        let journal = run(&case);
        let mut swapped = journal.clone();
        for round in &mut swapped.rounds {
            round.coins.order.iter_mut().for_each(|contestant| *contestant = 1 - *contestant);
        }
        let referee = |journal: &Journal| tiebreak_lab::referee::Referee::from_journal(journal);
        let (a, b) = (referee(&journal).record(0), referee(&swapped).record(0));
        let bits = |limit: Option<f64>| limit.map(f64::to_bits);
        assert_eq!(a.verdict, b.verdict, "{}", case.name);
        assert_eq!(bits(a.low), bits(b.high.map(|limit| -limit)), "{}", case.name);
        assert_eq!(bits(a.high), bits(b.low.map(|limit| -limit)), "{}", case.name);
        let counts = |journal: &Journal| {
            let referee = referee(journal);
            let counts = referee.seen.iter().map(|s| (s.samples, s.invalid, s.timed_out, s.marks));
            counts.collect::<Vec<_>>()
        };
        let mut mirrored = counts(&swapped);
        mirrored.reverse();
        assert_eq!(counts(&journal), mirrored, "{}", case.name);
        let evidence = |journal: &Journal| referee(journal).evidence(0);
        if case.name.starts_with("order") {
            assert_eq!(evidence(&journal).evidence_for, evidence(&swapped).evidence_against);
        }
    }
}
