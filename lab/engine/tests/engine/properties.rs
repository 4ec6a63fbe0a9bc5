//! Claims about success, quantiles, means and shares of rounds, round by round.

use crate::common::{Behaviour, VirtualLab, VirtualSampler, compare, request};
use tiebreak_lab::core::journal::{Event, StopReason};
use tiebreak_lab::core::plan::{Budget, Check};
use tiebreak_lab::core::result::Blame;
use tiebreak_lab::core::verdict::{Fault, Verdict};
use tiebreak_lab::planning::Request;
use tiebreak_lab::replay;

fn rounds(rounds: u64) -> Option<Budget> {
    Some(Budget { rounds: Some(rounds), seconds: None })
}

fn about_one(claim: &str) -> Request {
    let mut asked = request(1, &[claim]);
    asked.budget = rounds(3000);
    asked.program.check = Check::Exit;
    asked
}

fn verdict(request: &Request, behaviours: &[Behaviour]) -> Verdict {
    let (referee, _, journal) = compare(request, behaviours);
    let replayed = replay::replay(&journal).unwrap();
    assert_eq!(replayed.verdicts[0].verdict, referee.verdict(0), "a replay says the same");
    referee.verdict(0)
}

fn one_in_ten(run: u64) -> bool {
    run % 10 == 3
}

#[test]
fn failures_are_observations_of_a_claim_about_success() {
    let often = Behaviour { fails: one_in_ten, ..Behaviour::default() };
    for (claim, behaviour, expected) in [
        ("A succeeds at least 98% of the time", Behaviour::default(), Verdict::Holds),
        ("A succeeds at least 98% of the time", often.clone(), Verdict::Refuted),
        ("A succeeds at least 80% of the time", often.clone(), Verdict::Holds),
        ("A succeeds at least 85% of the time with 75% as bad", often.clone(), Verdict::Holds),
    ] {
        assert_eq!(verdict(&about_one(claim), &[behaviour]), expected, "{claim}");
    }
}

#[test]
fn a_single_contestant_runs_without_a_primer() {
    let lab = VirtualLab::new(&Request {
        budget: rounds(5),
        ..about_one("A succeeds at least 98% of the time")
    });
    let mut sampler = VirtualSampler::new(&[Behaviour::default()]);
    lab.go(&mut sampler).unwrap();
    assert_eq!(sampler.log.iter().filter(|entry| *entry == "run 0").count(), 5);
}

#[test]
fn a_failure_ends_the_claims_that_it_is_no_observation_of() {
    let claims = ["A succeeds at least 50% of the time", "A is faster than B"];
    let mut asked = request(2, &claims);
    asked.program.check = Check::Exit;
    asked.error = 1e-6;
    let failing = Behaviour { fails: |run| run == 4, ..Behaviour::default() };
    let (referee, reason, journal) = compare(&asked, &[failing, Behaviour::default()]);
    assert_eq!(reason, StopReason::Settled);
    assert_eq!((referee.verdict(0), referee.verdict(1)), (Verdict::Holds, Verdict::Void));
    let result = replay::replay(&journal).unwrap();
    assert_eq!(
        result.verdicts[1].fault,
        Some(Blame { contestant: "A".to_owned(), fault: Fault::FailedRun })
    );
    assert!(result.contestants[0].failures <= 1);
    if result.contestants[0].failures == 1 {
        let is_told = |event: &Event| matches!(event, Event::FirstFailure { contestant: 0, .. });
        assert!(journal.events.iter().any(is_told));
        assert!(matches!(
            result.contestants[0].first_failure,
            Some(Fault::ExitStatus { status: 7, .. })
        ));
    }
}

#[test]
fn quantiles_lie_where_the_shares_say() {
    let noisy = Behaviour { wall_ns: 5e6, noise: 0.2, ..Behaviour::default() };
    for (claim, expected) in [
        ("p90 of A is below 8 ms", Verdict::Holds),
        ("p90 of A is below 3 ms", Verdict::Refuted),
        ("median of A is below 6 ms", Verdict::Holds),
    ] {
        assert_eq!(verdict(&about_one(claim), std::slice::from_ref(&noisy)), expected, "{claim}");
    }
    let (_, _, journal) = compare(&about_one("p90 of A is below 8 ms"), &[noisy]);
    let claim = &replay::replay(&journal).unwrap().verdicts[0];
    assert!(claim.effect().high.unwrap() <= 8e6, "verdict and interval agree: {claim:?}");
    let share = claim.share.as_ref().unwrap();
    assert_eq!(share.trials, share.successes);
    assert!(
        claim.quantity.rate().unwrap().low.unwrap() > 0.9
            && share.trials >= share.least_trials_to_hold
    );
}

#[test]
fn a_run_that_was_ended_before_the_bar_leaves_open_whether_it_lies_below() {
    let mut asked = about_one("median of A is below 20 s");
    asked.program.timeout_ns = Some(10_000_000);
    asked.budget = rounds(200);
    let hanging = Behaviour { hangs: true, ..Behaviour::default() };
    assert_eq!(verdict(&asked, &[hanging]), Verdict::Undecided);
}

#[test]
fn means_need_a_cap_to_lie_below() {
    let steady = [Behaviour { wall_ns: 4e6, noise: 0.05, ..Behaviour::default() }];
    for (claim, expected) in [
        ("mean of A is below 5 ms capped at 10 ms", Verdict::Holds),
        ("mean of A is below 3 ms capped at 10 ms", Verdict::Refuted),
        ("mean of A is above 3 ms", Verdict::Holds),
    ] {
        assert_eq!(verdict(&about_one(claim), &steady), expected, "{claim}");
    }
    let uncapped = tiebreak_lab::planning::plan(&about_one("mean of A is below 5 ms"));
    assert!(uncapped.unwrap_err().to_string().contains("capped at"));
    let mut timed = about_one("mean of A is below 5 ms");
    timed.program.timeout_ns = Some(20_000_000);
    assert_eq!(verdict(&timed, &steady), Verdict::Holds);
}

#[test]
fn shares_of_rounds_are_counted() {
    let contestants = [
        Behaviour { wall_ns: 1e6, ..Behaviour::default() },
        Behaviour { wall_ns: 12e6, ..Behaviour::default() },
    ];
    for (claim, expected) in [
        ("A is at least 10x faster than B in 90% of rounds", Verdict::Holds),
        ("A is at least 14x faster than B in 90% of rounds", Verdict::Refuted),
        ("A is faster than B in 98% of rounds", Verdict::Holds),
    ] {
        let asked = Request { budget: rounds(1000), ..request(2, &[claim]) };
        assert_eq!(verdict(&asked, &contestants), expected, "{claim}");
    }
}

#[test]
fn lost_attempts_widen_the_interval_of_a_quantile_as_they_do_its_evidence() {
    use tiebreak_lab::core::journal::Journal;
    use tiebreak_lab::core::schedule::RoundCoins;
    use tiebreak_lab::referee::Referee;
    let asked = about_one("median of A is below 10 ms");
    let plan = tiebreak_lab::planning::plan(&asked).unwrap();
    let mut referee = Referee::new(&plan);
    let coins = |attempt| RoundCoins {
        round: 0,
        attempt,
        primer: Some(0),
        order: vec![0],
        padding_bytes: vec![0, 0],
        unit: None,
        load_seed: None,
    };
    (0..5).for_each(|attempt| referee.lose_attempt(&coins(attempt), None));
    for number in 0..40 {
        let round = tiebreak_lab::core::journal::Round {
            coins: RoundCoins { round: number, ..coins(5) },
            waited_ns: 0,
            elapsed_ns: number,
            samples: vec![tiebreak_lab::core::sample::Sample::of_wall_ns(5_000_000)],
            batches: Vec::new(),
            histograms: Vec::new(),
            wealth: Vec::new(),
        };
        referee.take_round(&round);
        let journal = Journal {
            id: "run".to_owned(),
            header: crate::common::header(plan.clone()),
            rounds: Vec::new(),
            lost: Vec::new(),
            events: Vec::new(),
            verdicts: Vec::new(),
            chain: Vec::new(),
        };
        let result = tiebreak_lab::outcome::result(&referee, &journal, None, true);
        let claim = &result.verdicts[0];
        let excludes_the_bar = claim.effect().high.is_some_and(|high| high <= 1e7);
        assert_eq!(excludes_the_bar, claim.verdict == Verdict::Holds, "{number}: {claim:?}");
    }
    assert_eq!(referee.verdict(0), Verdict::Holds);
}
