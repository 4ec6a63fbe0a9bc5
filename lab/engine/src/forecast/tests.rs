use super::*;
use std::sync::atomic::Ordering;
use tiebreak_input as input;
use tiebreak_stats::conditions::Conditions;
use tiebreak_stats::observation::LogRatio;

fn question(sentence: &str) -> Question {
    Question {
        claim: input::parse(sentence, &["A", "B"]).unwrap(),
        error: 0.01,
        resolution: 0.01,
        centre: Centre::Factor,
        adjust: Adjust::NONE,
        block: 1,
        noise: Some(Noise::Stated(0.02, Shape::Normal)),
        truths: Vec::new(),
        seconds_a_round: None,
        budget: None,
        chance: 0.8,
        method: ForecastMethod::Recommended,
        seed: "forecast".to_owned(),
    }
}

fn run(question: &Question) -> Result<ForecastResult, LabError> {
    forecast(question, &AtomicBool::new(false), &mut |_, _| {})
}

fn rounds(rounds: u64) -> Option<Budget> {
    Some(Budget { rounds: Some(rounds), seconds: None })
}

/// 2.6 (ln 100 + 0.6) (2% / 1%)^2 = 54 rounds, by the rule of thumb.
#[test]
fn a_difference_takes_what_the_rule_of_thumb_says() {
    let result =
        run(&Question { truths: vec![1.03], ..question("A is at least 1.02x faster than B") });
    let result = result.unwrap();
    let row = &result.rows[0];
    let median = row.rounds_median.unwrap();
    assert!((40..75).contains(&median), "{median}");
    assert!(row.rounds_q10 < row.rounds_median && row.rounds_median < row.rounds_q90);
    assert!(row.says.holds > 0.97 && row.says.undecided == 0.0, "{:?}", row.says);
    assert!(row.curve.is_sorted() && row.curve[row.curve.len() - 1] >= 0.9);
    assert_eq!(
        result.rows,
        run(&Question { truths: vec![1.03], ..question(&result.claim) }).unwrap().rows
    );
}

#[test]
fn truths_lie_around_the_bar() {
    for (sentence, bar, first, count) in [
        ("A is faster than B", 1.0, 1.0 / 1.02, 8),
        ("A is at least 1.02x faster than B", 1.02, 1.0, 8),
        ("A is at least 10x faster than B", 10.0, 10.0 / 1.02, 8),
        ("A is no more than 2% slower than B", 1.0 / 1.02, 1.0 / 1.04, 8),
        ("A is within 2% of B", 1.02, 1.0, 6),
    ] {
        let relation = question(sentence).claim.statement.relation().unwrap();
        let shape = Shape::Normal;
        let truths = around(relation, &NoiseSource::Stated { deviation: 0.02, shape });
        assert_eq!(truths.len(), count, "{sentence}");
        assert!((truths[0] - first).abs() < 1e-12, "{sentence}: {truths:?}");
        assert!(truths.iter().any(|truth| (truth - bar).abs() < 1e-12), "{sentence}: {truths:?}");
        assert!(truths.is_sorted());
    }
    assert_eq!(rates_around(0.98, 0.96).len(), 7);
    assert!(rates_around(0.999, 0.999).iter().all(|rate| (0.0..=1.0).contains(rate)));
}

#[test]
fn budgets_are_enough_or_not() {
    for (budget, enough) in [(20, Some(false)), (300, Some(true))] {
        let question = Question {
            truths: vec![1.03],
            budget: rounds(budget),
            ..question("A is at least 1.02x faster than B")
        };
        let chance = run(&question).unwrap().rows[0].chance.unwrap();
        assert_eq!(chance.is_enough, enough, "{chance:?}");
        assert!(chance.runs >= 400 && chance.proven_after < Some(400), "{chance:?}");
        assert!(chance.low <= chance.estimate && chance.estimate <= chance.high);
    }
}

#[test]
fn seconds_need_the_time_of_a_round() {
    let mut asked = question("A is faster than B");
    asked.truths = vec![1.05];
    asked.budget = Some(Budget { rounds: Some(1000), seconds: Some(10.0) });
    assert!(run(&asked).unwrap_err().to_string().contains("--round-time"));
    asked.seconds_a_round = Some(0.5);
    let budget = run(&asked).unwrap().budget.unwrap();
    assert_eq!((budget.rounds, budget.seconds), (20, Some(10.0)));
    asked.seconds_a_round = Some(20.0);
    assert!(run(&asked).unwrap_err().to_string().contains("not one round"));
}

#[test]
fn shares_are_forecast_by_both_engines() {
    let sentence = "A succeeds at least 98% of the time with 90% as bad";
    let mut medians = Vec::new();
    for method in [ForecastMethod::Recommended, ForecastMethod::Classic] {
        let budget = rounds(2000);
        let asked = Question { method, budget, truths: vec![0.99], ..question(sentence) };
        let result = run(&asked).unwrap();
        let row = &result.rows[0];
        assert_eq!((result.noise, result.contestants), (NoiseSource::Trials, None));
        assert_eq!(row.chance.unwrap().is_enough, Some(true), "{method:?}");
        medians.push(row.rounds_median.unwrap());
    }
    assert!(medians[0] < medians[1], "{medians:?}");
}

#[test]
fn what_cannot_be_forecast_is_said() {
    fn check(question: Question, expected: &str) {
        let error = run(&question).unwrap_err();
        assert!(matches!(error, LabError::Usage(_)), "{error:?}");
        assert!(error.to_string().contains(expected), "{error}");
    }
    fn faster() -> Question {
        question("A is faster than B")
    }
    check(Question { noise: None, ..faster() }, "--noise");
    check(Question { noise: Some(Noise::Stated(0.0, Shape::Normal)), ..faster() }, "--noise");
    check(Question { error: 0.0, ..faster() }, "--error");
    check(Question { resolution: 1.0, ..faster() }, "--resolution");
    check(Question { chance: 1.0, ..faster() }, "--chance");
    check(Question { method: ForecastMethod::Classic, ..faster() }, "--good");
    check(question("mean of A is below 5 ms capped at 50 ms"), "resume");
    let rates = question("A succeeds at least 98% of the time");
    check(Question { truths: vec![1.5], ..rates }, "--rate");
    let short = PilotRounds {
        run: "r".to_owned(),
        rounds: Vec::new(),
        seconds_a_round: None,
        is_evidence: false,
    };
    check(Question { noise: Some(Noise::Pilot(short)), ..faster() }, "has 0 rounds of A and B");
}

#[test]
fn pilots_bring_their_noise() {
    let round = |i: i32| {
        let d = 0.3 + 0.02 * f64::from(i * 37 % 41 - 20) / 20.0;
        (LogRatio::exact(d), Conditions::UNKNOWN)
    };
    let rounds = (0..41).map(round).collect();
    let run_of = "r".to_owned();
    let pilot = PilotRounds { run: run_of, rounds, seconds_a_round: Some(0.1), is_evidence: true };
    let noise = Some(Noise::Pilot(pilot));
    let asked = Question { noise, truths: vec![1.0, 1.05], ..question("A is faster than B") };
    let result = run(&asked).unwrap();
    assert!(matches!(result.noise, NoiseSource::Pilot { rounds: 41, deviation: Some(_), .. }));
    // The pilot's own difference of 30% is removed: the results are about the requested truths.
    assert!(result.rows[0].says.too_close > 0.9, "{:?}", result.rows[0].says);
    assert!(result.rows[1].says.holds > 0.9, "{:?}", result.rows[1].says);
}

#[test]
fn an_interrupted_forecast_says_what_it_knows() {
    let stop = AtomicBool::new(false);
    let result = forecast(&question("A is faster than B"), &stop, &mut |made, _| {
        stop.store(made >= 450, Ordering::Relaxed);
    });
    let result = result.unwrap();
    assert!(result.interrupted && result.rows.len() == 2, "{}", result.rows.len());
    assert_eq!(result.rows[1].runs, 50);
}
