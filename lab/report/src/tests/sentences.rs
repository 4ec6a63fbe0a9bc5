//! The sentences, one a kind of claim and verdict.

use super::*;
use tiebreak_core::result::{Blame, SpellsResult};

pub(super) fn questions() -> [ClaimResult; 8] {
    let fault = Fault::Signal { signal: 11, stderr: "stack overflow\nin main".to_owned() };
    let interval = [Some(1.3149), Some(1.42), Some(1.5511)];
    let mut void = question(Verdict::Void, None, [None; 3]);
    void.fault = Some(Blame { contestant: "B".to_owned(), fault });
    let mut memory = question(Verdict::Holds, Some("B"), [Some(0.5), Some(0.52), Some(0.54)]);
    memory.metric = Metric::PeakMemory;
    memory.scope = Scope::Code;
    memory.centre = Centre::Median;
    let mut faults = question(Verdict::TooClose, None, [Some(0.9932), Some(1.0), Some(1.007)]);
    faults.metric = Metric::PageFaults;
    faults.scope = Scope::Layout;
    [
        question(Verdict::Holds, Some("A"), interval),
        question(Verdict::Holds, Some("A"), [Some(1.0349), Some(1.42), None]),
        question(Verdict::Holds, Some("B"), [Some(0.61), Some(0.7), Some(0.81)]),
        question(Verdict::TooClose, None, [Some(0.9961), Some(1.0003), Some(1.0038)]),
        question(Verdict::Undecided, None, [Some(0.98), Some(1.011), Some(1.04)]),
        void,
        memory,
        faults,
    ]
}

pub(super) fn claims() -> [ClaimResult; 9] {
    use Relation::{AtLeast, NoMoreThan, Within};
    use Verdict::{Holds, Refuted, TooClose, Undecided, Void};
    let faster =
        |verdict, ratio| claim("A is faster than B", AtLeast { factor: 1.0 }, verdict, ratio);
    let at_least = |verdict, ratio| {
        claim("A is at least 1.5x faster than B", AtLeast { factor: 1.5 }, verdict, ratio)
    };
    let gate = claim(
        "A is no more than 2% slower than B",
        NoMoreThan { fraction: 0.02 },
        Holds,
        [Some(0.985), Some(0.994), Some(1.002)],
    );
    let within =
        |verdict, ratio| claim("A is within 2% of B.", Within { fraction: 0.02 }, verdict, ratio);
    [
        faster(Holds, [Some(1.031), Some(1.42), None]),
        faster(Refuted, [None, Some(0.7), Some(0.93)]),
        at_least(Holds, [Some(1.51), Some(1.62), Some(1.75)]),
        at_least(TooClose, [Some(1.491), Some(1.5), Some(1.509)]),
        at_least(Undecided, [Some(1.2), Some(1.5), None]),
        faster(Void, [None; 3]),
        gate,
        within(Holds, [Some(0.99), Some(1.0), Some(1.01)]),
        within(TooClose, [Some(1.012), Some(1.02), Some(1.028)]),
    ]
}

/// The same claims about the ratio of the mean times, runs beyond 5 s counting as 5 s.
fn of_means() -> Vec<ClaimResult> {
    let undecided = question(Verdict::Undecided, None, [Some(0.98), Some(1.01), None]);
    let mut under_load = question(Verdict::Holds, Some("A"), [Some(1.05), Some(1.2), Some(1.36)]);
    under_load.beside =
        Some(BesideResult { foreign_share: 0.4, metric: Metric::RunTime, ratio: Some(1.1) });
    let mean = |claim| ClaimResult { centre: Centre::Mean, cap: Some(5e9), ..claim };
    let [_, _, b_wins, close, ..] = questions();
    let of_questions = [under_load, b_wins, close, undecided, questions()[5].clone()];
    of_questions.into_iter().chain(claims()).map(mean).collect()
}

/// A server does something faster, and the page says how much of it, and what a run is.
#[test]
fn servers_answer_requests() {
    let run = fixture::served();
    let said = sentence(&run, &run.verdicts[0]);
    assert!(said.starts_with("A answers requests faster than B: 1.23x"), "{said}");
    let page = terminal::render(&run, &Look { width: 120, ..LOOK });
    for text in ["answers/s", "p50", "p99", "19744"] {
        assert!(page.contains(text), "{text}: {page}");
    }
    let print = small_print(&run).join("\n");
    assert!(print.contains("the load is 2000 requests in a closed loop"), "{print}");
    assert!(print.contains("to the last answer"), "{print}");
}

#[test]
fn ratios_of_means_read_well() {
    let print = small_print(&compared(of_means()[..1].to_vec())).join("\n");
    insta::assert_snapshot!(said(&of_means()) + &print);
}

/// A tie of typical rounds says nothing of the others.
#[test]
fn ties_say_of_what() {
    let in_median = |claim| ClaimResult { centre: Centre::Median, ..claim };
    let ties = [questions()[3].clone(), questions()[7].clone(), claims()[3].clone()];
    insta::assert_snapshot!(said(&ties.map(in_median)));
}

#[test]
fn claims_that_are_not_about_ratios_read_well() {
    let line = |claim: ClaimResult| sentence(&judged(vec![claim.clone()]), &claim) + "\n";
    let all: String = properties().into_iter().map(|(_, claim)| line(claim)).collect();
    insta::assert_snapshot!(all);
}

#[test]
fn what_else_ran_beside_programs_is_said_with_their_ratio_by_time_on_a_cpu() {
    let check = |winner: &str, limits: [f64; 3], ratio: Option<f64>, expected: &str| {
        let mut claim = question(Verdict::Holds, Some(winner), limits.map(Some));
        let beside = BesideResult { foreign_share: 0.853, metric: Metric::RunTime, ratio };
        claim.beside = Some(beside);
        let said = sentence(&compared(vec![claim.clone()]), &claim);
        assert!(said.contains(expected), "{said}");
        claim.verdict = Verdict::Void;
        assert!(!sentence(&compared(vec![claim.clone()]), &claim).contains("85%"));
    };
    let busy = ", while other processes used 85% of these CPUs";
    let own = "(by run time it was 7.00x; --by 'run time' asks for that)";
    check("A", [8.9, 10.1, 16.0], Some(7.0), &format!("{busy} {own}, "));
    check("B", [1.0 / 16.0, 1.0 / 10.1, 1.0 / 8.9], Some(1.0 / 7.0), &format!("{busy} {own}, "));
    check("A", [8.9, 10.1, 16.0], None, &format!("{busy}, "));
}

#[test]
fn gates_read_well() {
    let mut said = String::new();
    for gate in [Gate::None, Gate::OpenUnlessRefuted, Gate::ClosedUnlessHolds] {
        for verdict in [Verdict::Holds, Verdict::TooClose, Verdict::Undecided, Verdict::Refuted] {
            let claim = gated(verdict, gate);
            said += &format!("{}\n", sentence(&compared(vec![claim.clone()]), &claim));
        }
    }
    insta::assert_snapshot!(said);
}

#[test]
fn the_small_print_of_shares_says_what_one_observation_is() {
    let print = |claim: ClaimResult| small_print(&judged(vec![claim])).join("\n");
    let all: Vec<_> = properties().into_iter().map(|(name, claim)| (name, print(claim))).collect();
    let mut text = String::new();
    for (name, print) in all {
        text += &format!("== {name}\n{print}\n");
    }
    let mut adjusted = compared(questions()[..1].to_vec());
    adjusted.adjust = Adjust { slot: true, strata: false };
    text += &format!("== adjusted\n{}\n", small_print(&adjusted).join("\n"));
    insta::assert_snapshot!(text);
}

fn said(claims: &[ClaimResult]) -> String {
    let line = |claim: &ClaimResult| sentence(&compared(vec![claim.clone()]), claim) + "\n";
    claims.iter().map(line).collect()
}

#[test]
fn questions_read_well() {
    insta::assert_snapshot!(said(&questions()));
}

#[test]
fn claims_read_well() {
    insta::assert_snapshot!(said(&claims()));
}

#[test]
fn the_small_print_says_what_the_error_means() {
    let print = |claims: &[ClaimResult]| small_print(&compared(claims.to_vec())).join("\n");
    let all = [
        print(&questions()[..1]),
        print(&claims()[..1]),
        print(&[questions(), claims()[..8].to_vec().try_into().unwrap()].concat()),
        print(&questions()[5..6]),
    ];
    insta::assert_snapshot!(all.join("\n\n"));
}

#[test]
fn an_undecided_run_says_how_to_go_on() {
    let mut run = compared(vec![questions()[4].clone()]);
    run.stopped = Some(StopReason::Budget);
    let page = terminal::render(&run, &LOOK);
    assert!(page.contains("To go on: tiebreak resume k7w2 --more\n"), "{page}");
    run.resolution = 0.0;
    let page = terminal::render(&run, &LOOK);
    assert!(page.contains("tiebreak resume k7w2 --more; a new run"), "{page}");
    run.stopped = Some(StopReason::Interrupted);
    assert_eq!(crate::resume_command(&run), "tiebreak resume k7w2");
    let page = terminal::render(&run, &LOOK);
    assert!(page.contains("To go on: tiebreak resume k7w2; a new run"), "{page}");
    let lines = lines_succeed(Verdict::Undecided, share(17, 17, [None; 2]));
    let page = terminal::render(&judged(vec![lines]), &LOOK);
    assert!(page.contains("To go on: tiebreak resume k7w2 --more < LINES\n"), "{page}");
    let page = terminal::render(&compared(vec![questions()[0].clone()]), &LOOK);
    assert!(!page.contains("resume"), "{page}");
}

/// A shorter time-out is advice only where nothing was cut off; where most is, it is the cause.
#[test]
fn a_mean_without_a_verdict_says_which_timeout_helps() {
    let check = |cut_off: u64, expected: Option<&str>| {
        let mut run = compared(vec![questions()[4].clone()]);
        run.stopped = Some(StopReason::Budget);
        (run.verdicts[0].centre, run.verdicts[0].cap) = (Centre::Mean, Some(5e9));
        let contestant = &mut run.contestants[1];
        (contestant.invalid, contestant.timed_out) = (cut_off, cut_off);
        let page = terminal::render(&run, &Look { width: 400, ..LOOK });
        let hint = page.lines().find_map(|line| line.split_once("--more; ")).map(|(_, hint)| hint);
        let matches = match (hint, expected) {
            (Some(hint), Some(expected)) => hint.contains(expected),
            (hint, expected) => hint == expected,
        };
        assert!(matches, "{cut_off} of 12: {hint:?}");
        let counted = format!("12, {cut_off} cut off");
        assert_eq!(page.contains(&counted), cut_off > 0, "{page}");
        assert!(!page.contains("invalid"), "{page}");
    };
    check(0, Some("smaller --timeout needs fewer rounds"));
    check(1, None);
    check(5, None);
    check(6, Some("larger --timeout"));
    check(12, Some("larger --timeout"));
}

#[test]
fn failures_in_bursts_are_promised_no_error() {
    let promises = ["wrong with", "wrong at most", "is wrong is at most", "confidence"];
    let instead = "its error is not what was asked for, because failures come 3.4 in a row";
    let on_a_line = |text: &str| text.split_whitespace().collect::<Vec<_>>().join(" ");
    let named =
        |wanted: &str| properties().into_iter().find(|(name, _)| *name == wanted).unwrap().1;
    for (name, is_said) in [
        ("bursts hold", true),
        ("bursts open", true),
        ("bursts of a quantile", true),
        ("bursts void", false),
    ] {
        let claim = named(name);
        let mut run = judged(vec![claim.clone()]);
        let mut texts = vec![terminal::render(&run, &LOOK), crate::svg::slo(&run).unwrap()];
        run.false_share = Some(0.05);
        texts.push(sentence(&run, &claim));
        for text in texts.iter().map(|text| on_a_line(text)) {
            assert_eq!(text.contains(instead), is_said, "{name}: {text}");
            assert!(!promises.iter().any(|promise| text.contains(promise)), "{name}: {text}");
        }
    }
    let mixed = judged(vec![named("bursts hold"), named("rate holds")]);
    let page = on_a_line(&terminal::render(&mixed, &LOOK));
    assert!(page.matches(instead).count() == 1, "{page}");
    assert!(page.contains("the probability that any other verdict is wrong is at most"), "{page}");
    assert!(page.contains("No error is promised of a claim whose failures"), "{page}");
    let all = judged(vec![named("bursts hold"), named("bursts of a quantile")]);
    let page = on_a_line(&terminal::render(&all, &LOOK));
    assert!(!promises.iter().any(|promise| page.contains(promise)), "{page}");
}

#[track_caller]
fn check_stream(name: &str, change: &dyn Fn(&mut ClaimResult), expected: &str) {
    let mut claim = properties().into_iter().find(|(known, _)| *known == name).unwrap().1;
    claim.verdict = Verdict::Holds;
    claim.scope = Scope::Stream;
    change(&mut claim);
    let said = sentence(&judged(vec![claim.clone()]), &claim);
    assert!(said.contains(expected), "{said}");
}

#[test]
fn claims_of_streams_say_what_their_error_rests_on() {
    let spells = |block, rarer| SpellsResult {
        block,
        left_over: 0,
        rarer,
        mean_spell: None,
        runs_z: None,
        values_z: None,
        is_dependent: false,
    };
    let old = "; if no line, or block of lines, depends on those before, wrong with";
    check_stream("mean", &|_| {}, old);
    let each = "; if no line depends on those before, wrong with";
    check_stream("mean", &|claim| claim.spells = Some(spells(1, 10)), each);
    check_stream(
        "mean",
        &|claim| claim.spells = Some(spells(1, 10)),
        ", each line one observation, ",
    );
    let none = "before (all lines are on one side of the bar: nothing is known of spells), wrong";
    check_stream("mean", &|claim| claim.spells = Some(spells(1, 0)), none);
    let few = "if no spell is longer than a thirtieth of a block (2 lines on one side of the bar";
    check_stream("mean", &|claim| claim.spells = Some(spells(30, 2)), few);
    let alone = "; if each line depends on the one before alone, wrong with";
    let chain = |claim: &mut ClaimResult| {
        claim.share.iter_mut().for_each(|share| share.is_chain = true);
    };
    check_stream("rate holds", &chain, alone);
    // Where nothing is proven yet, the confidence of the limits rests on the same.
    let open = |claim: &mut ClaimResult| {
        chain(claim);
        claim.verdict = Verdict::Undecided;
    };
    check_stream("rate holds", &open, "; if each line depends on the one before alone");
    let of_runs = |claim: &mut ClaimResult| claim.scope = Scope::Binary;
    check_stream("rate holds", &of_runs, "; if no run depends on those before, wrong with");
    let single = |claim: &mut ClaimResult| {
        chain(claim);
        counted(100_000, 30, None)(claim);
        claim.share.iter_mut().for_each(|share| share.mean_burst = Some(10.0));
    };
    let few = "the one before alone (30 failures that come together would hardly show bursts), wr";
    check_stream("rate holds", &single, few);
    let dependent = |claim: &mut ClaimResult| {
        let found = SpellsResult { mean_spell: Some(70.0), is_dependent: true, ..spells(10, 700) };
        claim.spells = Some(found);
    };
    check_stream(
        "mean",
        &dependent,
        "; its error is not what was asked for, because values on one side",
    );
}

/// So many trials and failures, and blocks that differ so much.
fn counted(trials: u64, failures: u64, spell_lines: Option<f64>) -> impl Fn(&mut ClaimResult) {
    move |claim| {
        let share = claim.share.as_mut().unwrap();
        (share.trials, share.successes) = (trials, trials - failures);
        share.spell_lines = spell_lines;
    }
}

#[test]
fn shares_of_blocks_say_what_their_error_rests_on() {
    let flat =
        "; if no spell in which lines fail more often is longer than a thirtieth of a block, w";
    check_stream("lines", &|_| {}, flat);
    let few = "thirtieth of a block (29 blocks would hardly show spells), wrong with";
    check_stream("lines", &counted(29_017, 400, Some(1.0)), few);
    let few = "block (no failure was seen, so nothing is known of bursts), wrong with";
    check_stream("lines", &counted(100_017, 0, None), few);
    let few = "block (35 failures that come together would hardly show bursts), wrong with";
    check_stream("lines", &counted(100_017, 35, Some(16.0)), few);
    let uneven = |claim: &mut ClaimResult| {
        counted(100_017, 9000, Some(237.0))(claim);
        claim.share.iter_mut().for_each(|share| share.is_bursty = true);
    };
    let why = "not what was asked for, because blocks differ as if failures came 237.0 in a row.";
    check_stream("lines", &uneven, why);
}

#[test]
fn claims_of_a_file_with_e_bh_promise_a_share_and_no_error() {
    let mut run = crate::tests::fixture::shares::judged(vec![
        crate::tests::fixture::shares::properties()[0].1.clone(),
        crate::tests::fixture::shares::properties()[0].1.clone(),
    ]);
    run.false_share = Some(0.05);
    let page =
        crate::terminal::render(&run, &crate::Look { width: 200, color: false, unicode: true });
    assert!(page.contains("at most 5% is wrong on average"), "{page}");
    for promise in ["wrong with probability", "verdict wrong at most", "any verdict is wrong"] {
        assert!(!page.contains(promise), "{promise}: {page}");
    }
}
