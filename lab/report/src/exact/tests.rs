use super::*;
use tiebreak_core::resampling::NumberSet;
use tiebreak_core::resampling::{PValue, Resampled, ResamplingEvidence, SetOrder, Shifts};
use tiebreak_core::result::Histogram;
use unicode_width::UnicodeWidthStr;

fn result() -> ResamplingResult {
    let set = |name: &str, statistic| NumberSet { name: name.to_owned(), count: 500, statistic };
    ResamplingResult {
        seed: "c0ffee".to_owned(),
        x: set("60k.txt", Some(0.9897938)),
        y: set("128k.csv:fill", Some(0.9909645)),
        statistic: "mean".to_owned(),
        by_program: false,
        is_studentised: true,
        is_paired: false,
        sides: Sides::Two,
        null: Null::Same,
        difference: 0.0011707,
        method: ResamplingMethod::Mixture,
        alpha: 0.01,
        error: 0.001,
        verdict: Verdict::Holds,
        stopped: StopReason::Settled,
        permutations: 254,
        permutations_max: 100_000,
        extreme: 0,
        p: PValue { estimate: Some(1.0 / 255.0), low: 0.0, high: 0.04808, confidence: 0.999 },
        evidence: Some(ResamplingEvidence {
            for_difference: 100.03,
            needed_for: 100.0,
            against: 0.01,
            needed_against: 1000.0,
        }),
        p_least: 1e-300,
        shift: Some(Shifts { low: Some(0.00102), high: Some(0.00131), confidence: 0.99 }),
        order: vec![SetOrder { of: "x", z: 0.3, is_serial: false }],
        resampled: Some(Resampled {
            observed: 23.114,
            expected: Some(0.0),
            permutations: 254,
            histogram: Histogram {
                low: -3.1,
                high: 23.114,
                counts: [3, 20, 90, 101, 30, 10].into_iter().chain([0; 34]).collect(),
                beyond: 0,
            },
        }),
    }
}

const ASCII: Look = Look { width: 80, color: false, unicode: false };

#[test]
fn the_page_of_a_difference() {
    let page = render(&result(), &ASCII);
    let expected = "\
Proven: X and Y are not from one distribution, at the level of 1% (254
permutations). The mean of Y is 0.0011707 above that of X (a shift from 0.00102
to 0.00131 with confidence 99%).

              mean  numbers  from
  X       0.989794      500  60k.txt
  Y       0.990965      500  128k.csv:fill
  Y - X  0.0011707

  p about 0.39%: 0 of 254 permutations gave a difference at least as far from 0;
  0% to 4.9% with probability at least 99.9%

  differences by their own spread of 254 splits if it were chance
  .:@@-.
                         observed 23.114 ^
  -3.1                              23.114
";
    let end = page.find("\nSets that").unwrap();
    assert_eq!(&page[..end], expected);
}

#[test]
fn sentences_of_the_other_verdicts() {
    let check = |change: fn(&mut ResamplingResult), expected: &str| {
        let mut result = result();
        change(&mut result);
        assert_eq!(sentence(&result), expected);
        for width in [40, 200] {
            let look = Look { width, color: false, unicode: true };
            for line in render(&result, &look).lines() {
                assert!(line.width() <= look.columns(), "{line}");
            }
        }
    };
    check(
        |result| {
            result.verdict = Verdict::Undecided;
            result.shift = None;
            result.statistic = "quantile:0.9".to_owned();
            result.difference = -3.0;
        },
        "Not proven: the 90% quantile of Y is 3 below that of X, but chance alone gives such a \
         difference in more than 1% of cases (254 permutations). That does not say that there is \
         none.",
    );
    check(
        |result| {
            result.verdict = Verdict::Undecided;
            result.is_paired = true;
            result.difference = 0.0;
            result.shift = Some(Shifts { low: Some(0.0), high: Some(0.0), confidence: 0.99 });
        },
        "Not proven: the mean of the differences Y - X is 0 (a shift of 0 with confidence 99%), \
         but chance alone gives such a difference in more than 1% of cases (254 permutations). \
         That does not say that there is none.",
    );
    check(
        |result| {
            result.verdict = Verdict::Undecided;
            result.stopped = StopReason::Budget;
            result.by_program = true;
            result.statistic = "./spread \u{1b}[31m".to_owned();
            result.resampled = None;
        },
        "Undecided: the statistic of X and Y is 0.0011707, and 254 permutations cannot tell \
         whether p is at most 1%.",
    );
    check(
        |result| {
            result.verdict = Verdict::Undecided;
            result.stopped = StopReason::Interrupted;
            result.shift = None;
            result.difference = 0.0;
            result.p.estimate = None;
        },
        "Interrupted after 254 permutations: the mean of Y is that of X, and whether that is \
         chance is undecided.",
    );
}

#[test]
fn small_sets_are_told_so() {
    let mut small = result();
    (small.x.count, small.y.count, small.p_least) = (3, 3, 0.05);
    let page = render(&small, &ASCII).replace('\n', " ");
    assert!(page.contains("With 3 and 3 numbers no p is below 5%"), "{page}");
}

#[test]
fn an_observed_difference_beyond_the_picture_is_marked_at_its_edge() {
    for (observed, mark) in [(70.0, "> "), (-70.0, "< ")] {
        let mut far = result();
        far.resampled.as_mut().unwrap().observed = observed;
        let page = render(&far, &ASCII);
        let line = page.lines().find(|line| line.contains("observed")).unwrap();
        assert!(line.contains(mark.trim()), "{line}");
    }
}

#[test]
fn numbers_have_six_digits() {
    for (value, expected) in [
        (0.0, "0"),
        (1234567.0, "1234567"),
        (0.1, "0.1"),
        (-2.5, "-2.5"),
        (1.0 / 3.0, "0.333333"),
        (1e-7, "1.00000e-7"),
        (123456.789, "123457"),
    ] {
        assert_eq!(number(value), expected);
    }
}

#[test]
fn every_result_obeys_the_schema() {
    let schema = include_str!("../../../../docs/schema/exact-1.schema.json");
    let schema: serde_json::Value = serde_json::from_str(schema).unwrap();
    jsonschema::meta::validate(&schema).unwrap();
    let schema = jsonschema::draft202012::new(&schema).unwrap();
    let mut results = vec![result()];
    for null in [Null::Shift { by: -1.5 }, Null::Ratio { factor: 2.0 }] {
        results.push(ResamplingResult { null, sides: Sides::Less, ..result() });
    }
    let mut bare = result();
    (bare.evidence, bare.resampled, bare.p.estimate) = (None, None, None);
    (bare.x.statistic, bare.method) = (None, ResamplingMethod::Classic);
    results.push(bare);
    for result in results {
        let value: serde_json::Value = serde_json::from_str(&json(&result)).unwrap();
        let errors: Vec<_> = schema.iter_errors(&value).map(|error| error.to_string()).collect();
        assert_eq!(errors, [""; 0], "{value:#}");
    }
}

#[test]
fn what_is_proven_is_what_is_said() {
    let check = |change: fn(&mut ResamplingResult), sentence_has: &str, page_has: &str| {
        let mut result = result();
        change(&mut result);
        let (verdict_spans, page) = (sentence(&result), render(&result, &ASCII).replace('\n', " "));
        assert!(verdict_spans.contains(sentence_has), "{verdict_spans}");
        assert!(page.contains(page_has), "{page}");
    };
    check(|_| {}, "Proven: X and Y are not from one distribution", "nearly, and the better");
    check(|result| result.is_studentised = false, "0.00102 to 0.00131", "may well be said to");
    check(
        |result| (result.is_paired, result.is_studentised) = (true, false),
        "The mean of the differences Y - X is 0.0011707",
        "Exact where the difference of each pair",
    );
    let tied = |result: &mut ResamplingResult| {
        (result.statistic, result.difference) = ("median".to_owned(), 1.0);
        result.verdict = Verdict::Undecided;
        result.resampled.iter_mut().for_each(|resampled| resampled.observed = 0.0);
    };
    check(tied, "Not proven: the median of Y is 1 above", "equal that one value may be the median");
    check(
        |result| (result.order[0].is_serial, result.order[0].z) = (true, 4.25),
        "Proven",
        "the numbers of X are each like the one before (4.2 standard",
    );
}
