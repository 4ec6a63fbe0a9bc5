use super::*;
use tiebreak_core::claim::Relation;
use tiebreak_core::forecast::ForecastRow;
use tiebreak_core::forecast::{BudgetForecast, Chance, Says};
use tiebreak_core::plan::Centre;
use unicode_width::UnicodeWidthStr;

const ASCII: Look = Look { width: 80, color: false, unicode: false };

fn row(truth: f64, median: Option<u64>, is_enough: Option<bool>) -> ForecastRow {
    ForecastRow {
        truth,
        runs: 400,
        rounds_q10: median.map(|rounds| rounds / 2),
        rounds_median: median,
        rounds_q90: median.map(|rounds| rounds * 3),
        chance: Some(Chance {
            runs: 64,
            ended: 64,
            estimate: 1.0,
            low: 0.8534,
            high: 1.0,
            confidence: 0.9998,
            is_enough,
            proven_after: is_enough.map(|_| 33),
        }),
        says: Says { holds: 0.97, refuted: 0.0, too_close: 0.03, undecided: 0.0 },
        curve: vec![0.0, 0.05, 0.3, 0.6, 0.9, 1.0, 1.0, 1.0, 1.0, 1.0, 1.0, 1.0],
    }
}

fn result() -> ForecastResult {
    ForecastResult {
        seed: "c0ffee".to_owned(),
        claim: "A is at least 1.02x faster than B".to_owned(),
        statement: Statement::Ratio(Relation::AtLeast { factor: 1.02 }),
        contestants: Some(["A".to_owned(), "B".to_owned()]),
        error: 0.01,
        resolution: 0.01,
        centre: Some(Centre::Factor),
        method: ForecastMethod::Recommended,
        noise: NoiseSource::Stated { deviation: 0.02, shape: Shape::Normal },
        seconds_a_round: None,
        budget: Some(BudgetForecast { rounds: 200, seconds: None }),
        chance_wanted: 0.8,
        rounds_max: 10_000,
        curve_rounds: vec![5, 7, 10, 14, 20, 28, 40, 57, 80, 113, 160, 227],
        rows: vec![row(1.03, Some(58), Some(true))],
        interrupted: false,
    }
}

#[test]
fn the_page_of_one_truth() {
    let page = render(&result(), &ASCII);
    let expected = "\
Enough: 'A is at least 1.02x faster than B' ends within 200 rounds if A is ahead
by 3% with a chance of at least 80%.

  rounds by which so many runs had ended, and what they said
  A ahead by  10% by  half by  90% by    in budget  holds  too close
          3%      29       58     174  85% to 100%    97%         3%

  share of runs that had ended, over rounds
  3%   .-+@@@@@@@@
      5     40 227
";
    let end = page.find("\nNoise").unwrap();
    assert_eq!(&page[..end], expected);
}

#[test]
fn sentences() {
    let check = |change: fn(&mut ForecastResult), expected: &str| {
        let mut result = result();
        change(&mut result);
        assert_eq!(sentence(&result), expected);
        for width in [40, 60, 200] {
            let look = Look { width, color: false, unicode: true };
            for line in render(&result, &look).lines() {
                assert!(line.width() <= look.columns(), "{line}");
            }
        }
    };
    check(
        |result| result.rows = vec![row(1.0, Some(60), Some(false))],
        "Not enough: 'A is at least 1.02x faster than B' ends within 200 rounds if A and B are \
         equal with a chance below 80%.",
    );
    check(
        |result| result.rows = vec![row(1.0 / 1.5, Some(60), None)],
        "Undecided: the chance that 'A is at least 1.02x faster than B' ends within 200 rounds if \
         B is ahead by 50% is too close to 80% to say on which side.",
    );
    check(
        |result| {
            result.budget = None;
            result.seconds_a_round = Some(0.25);
            result.noise = NoiseSource::Pilot {
                run: "20260725-1".to_owned(),
                rounds: 40,
                deviation: None,
                is_evidence: true,
            };
        },
        "About 58 rounds (15 s) settle 'A is at least 1.02x faster than B' if A is ahead by 3%, 29 \
         to 174 in eight of ten runs. The pilot's rounds stay evidence: 'tiebreak resume \
         20260725-1 --more BUDGET' goes on with them.",
    );
    check(
        |result| {
            result.budget = None;
            result.rows = vec![row(3.0, None, None)];
        },
        "More than 10000 rounds: most runs of 'A is at least 1.02x faster than B' had not ended by \
         then if A is ahead by 3x.",
    );
    check(
        |result| {
            result.budget = Some(BudgetForecast { rounds: 200, seconds: Some(30.0) });
            result.rows.push(row(1.0, None, Some(false)));
        },
        "It depends: 'A is at least 1.02x faster than B' ends within 30 s (200 rounds) with a \
         chance of at least 80% in 1 of 2 cases.",
    );
    check(
        |result| {
            (result.budget, result.contestants) = (None, None);
            result.noise = NoiseSource::Trials;
            result.statement = Statement::Property(Property::Succeeds { good: 0.98, bad: 0.96 });
            result.rows = vec![row(0.97, Some(2700), None), row(1.0, Some(100), None)];
        },
        "'A is at least 1.02x faster than B': what it takes depends on the true rate.",
    );
    check(
        |result| {
            result.interrupted = true;
            result.rows.clear();
        },
        "Interrupted: the figures below rest on fewer simulations.",
    );
}

#[test]
fn every_result_obeys_the_schema() {
    let schema = include_str!("../../../../docs/schema/power-1.schema.json");
    let schema: serde_json::Value = serde_json::from_str(schema).unwrap();
    jsonschema::meta::validate(&schema).unwrap();
    let schema = jsonschema::draft202012::new(&schema).unwrap();
    let mut pilot = result();
    pilot.noise = NoiseSource::Pilot {
        run: "r".to_owned(),
        rounds: 20,
        deviation: Some(0.1),
        is_evidence: false,
    };
    (pilot.seconds_a_round, pilot.budget) = (Some(0.1), None);
    pilot.rows = vec![ForecastRow { chance: None, ..row(1.0, None, None) }];
    let mut trials = result();
    (trials.noise, trials.contestants, trials.centre) = (NoiseSource::Trials, None, None);
    trials.method = ForecastMethod::Classic;
    trials.statement = Statement::Property(Property::Succeeds { good: 0.98, bad: 0.96 });
    for result in [result(), pilot, trials] {
        let value: serde_json::Value = serde_json::from_str(&json(&result)).unwrap();
        let errors: Vec<_> = schema.iter_errors(&value).map(|error| error.to_string()).collect();
        assert_eq!(errors, [""; 0], "{value:#}");
    }
}
