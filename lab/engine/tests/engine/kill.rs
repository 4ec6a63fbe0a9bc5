//! Killed at every step of every round, a run goes on as if nothing had happened, or with one lost
//! attempt more.

use crate::common::{Behaviour, VirtualLab, VirtualSampler, request};
use tiebreak_lab::core::journal::Journal;
use tiebreak_lab::core::plan::Budget;
use tiebreak_lab::core::schedule::RoundCoins;
use tiebreak_lab::replay;

const ROUNDS: u64 = 14;
/// A wait, a primer and two contestants.
const STEPS_A_ROUND: u64 = 4;

fn contestants() -> [Behaviour; 2] {
    [Behaviour::default(), Behaviour { wall_ns: 5.01e6, ..Behaviour::default() }]
}

fn small_request() -> tiebreak_lab::planning::Request {
    let budget = Some(Budget { rounds: Some(ROUNDS), seconds: None });
    tiebreak_lab::planning::Request { budget, resolution: 0.0, ..request(2, &[]) }
}

/// A journal that replays, without the name that its store gave it, and without its chain, which is
/// over the name too.
fn nameless(journal: Journal) -> Journal {
    let result = replay::replay(&journal).unwrap();
    assert_eq!(result.lost, journal.lost.len() as u64);
    Journal { id: String::new(), chain: Vec::new(), ..journal }
}

fn undisturbed() -> Journal {
    let lab = VirtualLab::new(&small_request());
    lab.go(&mut VirtualSampler::new(&contestants())).unwrap();
    nameless(lab.journal())
}

fn killed_at(step: u64) -> Journal {
    // A kill unwinds as a panic here; its report is not news.
    std::panic::set_hook(Box::new(|_| {}));
    let lab = VirtualLab::new(&small_request());
    let mut sampler = VirtualSampler::new(&contestants());
    sampler.killed_at = Some(step);
    assert!(lab.go(&mut sampler).is_err(), "not killed at step {step}");
    let finished = lab.journal().rounds.len() as u64;
    assert_eq!(finished, step / STEPS_A_ROUND, "a finished round was lost at step {step}");
    lab.go(&mut VirtualSampler::new(&contestants())).unwrap();
    nameless(lab.journal())
}

#[test]
fn a_kill_between_rounds_leaves_no_trace() {
    let expected = undisturbed();
    assert_eq!(expected.rounds.len() as u64, ROUNDS);
    for round in 0..ROUNDS {
        assert_eq!(killed_at(round * STEPS_A_ROUND), expected, "round {round}");
    }
}

#[test]
fn a_kill_inside_a_round_adds_one_lost_attempt() {
    let expected = undisturbed();
    for step in (0..ROUNDS * STEPS_A_ROUND).filter(|step| step % STEPS_A_ROUND != 0) {
        let journal = killed_at(step);
        let round = step / STEPS_A_ROUND;
        assert_eq!(journal.lost.len(), 1, "step {step}");
        assert_eq!(journal.lost[0], expected.rounds[round as usize].coins, "step {step}");
        for (got, undisturbed) in journal.rounds.iter().zip(&expected.rounds) {
            let again = got.coins.round == round;
            assert_eq!(got.coins.attempt, u32::from(again), "step {step}");
            if got.coins.round < round {
                assert_eq!(got, undisturbed, "step {step}");
            } else if !again {
                // A block of two rounds that is begun again may prime in another order.
                let in_block = got.coins.round / 2 == round / 2;
                let primer = if in_block { got.coins.primer } else { undisturbed.coins.primer };
                let expected = RoundCoins { primer, ..undisturbed.coins.clone() };
                assert_eq!(got.coins, expected, "later coins are the same");
            }
        }
    }
}

/// Killed before any write: before a round's coins or after its samples there is no trace, and so
/// there is before what is written at the end; between coins and samples there is one lost attempt.
#[test]
fn a_kill_between_any_two_writes_loses_nothing() {
    std::panic::set_hook(Box::new(|_| {}));
    let settles = || {
        let quick = [Behaviour::default(), Behaviour { wall_ns: 9e6, ..Behaviour::default() }];
        (
            VirtualLab::new(&request(2, &[])),
            VirtualSampler::new(&quick),
            VirtualSampler::new(&quick),
        )
    };
    let undecided = || {
        let sampler = || VirtualSampler::new(&contestants());
        (VirtualLab::new(&small_request()), sampler(), sampler())
    };
    for lab_and_samplers in [&settles as &dyn Fn() -> _, &undecided] {
        let (lab, mut sampler, _) = lab_and_samplers();
        lab.go(&mut sampler).unwrap();
        let expected = nameless(lab.journal());
        let rounds = expected.rounds.len() as u64;
        assert!(sampler.writes > 2 * rounds);
        for write in 0..sampler.writes {
            let (lab, mut sampler, mut again) = lab_and_samplers();
            sampler.killed_at_write = Some(write);
            assert!(lab.go(&mut sampler).is_err(), "not killed before write {write}");
            lab.go(&mut again).unwrap();
            let journal = nameless(lab.journal());
            let inside = write % 2 == 1 && write < 2 * rounds;
            if inside {
                assert_eq!(journal.lost.len(), 1, "write {write}");
            } else {
                assert_eq!(journal, expected, "write {write}");
            }
        }
    }
}

/// Killed again and again inside rounds: each lost attempt is charged.
#[test]
fn lost_attempts_are_charged() {
    std::panic::set_hook(Box::new(|_| {}));
    let lab = VirtualLab::new(&request(2, &[]));
    let quick = [Behaviour::default(), Behaviour { wall_ns: 9e6, ..Behaviour::default() }];
    for _ in 0..6 {
        let mut sampler = VirtualSampler::new(&quick);
        sampler.killed_at = Some(2);
        assert!(lab.go(&mut sampler).is_err());
    }
    let (referee, _) = lab.go(&mut VirtualSampler::new(&quick)).unwrap();
    assert_eq!(referee.lost, 6);
    assert!(referee.rounds > 12, "{} rounds", referee.rounds);
    let result = replay::replay(&lab.journal()).unwrap();
    assert!(result.warnings.iter().any(|warning| warning.to_string().contains("charged")));
}
