use super::*;
use std::sync::atomic::Ordering;
use tiebreak_core::journal::StopReason;
use tiebreak_core::verdict::Verdict;

static GO_ON: AtomicBool = AtomicBool::new(false);

fn numbers(name: &str, values: impl Iterator<Item = u32>) -> Numbers {
    Numbers { name: name.to_owned(), values: values.map(f64::from).collect() }
}

fn question(statistic: StatisticOf) -> Question {
    Question {
        x: numbers("x", 1..41),
        y: numbers("y", 21..61),
        statistic,
        is_plain: false,
        is_paired: false,
        sides: Sides::Two,
        null: Null::Same,
        alpha: 0.01,
        error: ERROR,
        permutations_max: 20_000,
        method: ResamplingMethod::Mixture,
        seed: "exact".to_owned(),
    }
}

fn program(command: &str) -> Question {
    Question { sides: Sides::Greater, ..question(StatisticOf::Program(command.to_owned())) }
}

/// Returns the smallest number of Y: the sets come in ascending order.
const LEAST_OF_Y: &str = "sed -u 's/.*y.:.//; s/[],].*//'";

#[test]
fn a_difference_is_found_with_everything_that_belongs_to_it() {
    let result = answer(&question(StatisticOf::Each(Statistic::Mean)), &GO_ON, |_, _| {}).unwrap();
    assert_eq!((result.verdict, result.stopped), (Verdict::Holds, StopReason::Settled));
    assert_eq!((result.difference, result.permutations, result.extreme), (20.0, 254, 0));
    assert_eq!((result.x.statistic, result.y.statistic), (Some(20.5), Some(40.5)));
    assert_eq!((result.p.estimate, result.p.low), (Some(1.0 / 255.0), 0.0));
    let resampled = result.resampled.unwrap();
    // 20 over the root of twice 136.67 over 40.
    assert!((resampled.observed - 7.6509).abs() < 1e-4 && resampled.expected == Some(0.0));
    let shift = result.shift.unwrap();
    let (low, high) = (shift.low.unwrap(), shift.high.unwrap());
    assert!((11.0..14.0).contains(&low) && (26.0..29.0).contains(&high), "{low} {high}");
    // Numbers in ascending order look like dependent numbers.
    assert!(result.order.len() == 2 && result.order.iter().all(|order| order.is_serial));
    assert_eq!(resampled.histogram.counts.iter().sum::<u64>(), 254);
    let evidence = result.evidence.unwrap();
    assert!(evidence.for_difference >= evidence.needed_for);
}

/// A shift is in the interval if and only if the test does not reject it, also for pairs.
#[test]
fn the_interval_of_the_shift_is_what_the_test_does_not_reject() {
    for is_paired in [false, true] {
        for (sides, has) in [
            (Sides::Two, [true, true]),
            (Sides::Greater, [true, false]),
            (Sides::Less, [false, true]),
        ] {
            let each = question(StatisticOf::Each(Statistic::Mean));
            let mut asked = Question { is_paired, sides, ..each };
            let y = asked.y.values.iter_mut().enumerate();
            y.for_each(|(place, y)| *y += (place * 7 % 5) as f64);
            let shift = answer(&asked, &GO_ON, |_, _| {}).unwrap().shift.unwrap();
            assert_eq!([shift.low.is_some(), shift.high.is_some()], has, "{sides:?}");
            for (limit, outwards) in [(shift.low, -1.0), (shift.high, 1.0)] {
                let Some(limit) = limit else { continue };
                for (by, verdict) in [
                    (limit + outwards * 0.05, Verdict::Holds),
                    (limit - outwards * 0.5, Verdict::Undecided),
                ] {
                    let asked = Question { null: Null::Shift { by }, ..asked.clone() };
                    let found = answer(&asked, &GO_ON, |_, _| {}).unwrap().verdict;
                    assert_eq!(found, verdict, "{is_paired} {sides:?} {limit} {by}");
                }
            }
        }
    }
}

/// Medians of 1 and 2, where half of the numbers of both sets are 2, or nearly: a shift of 0 is not
/// excluded.
#[test]
fn ties_leave_open_where_a_median_is() {
    let median = StatisticOf::Each(Statistic::Median);
    let mut asked = Question { alpha: 0.05, ..question(median) };
    asked.x = numbers("x", (0..100).map(|place| 1 + u32::from(place >= 52)));
    asked.y = numbers("y", (0..100).map(|place| 2 + u32::from(place >= 52)));
    let found = answer(&asked, &GO_ON, |_, _| {}).unwrap();
    assert_eq!((found.verdict, found.difference), (Verdict::Undecided, 1.0));
    let shift = found.shift.unwrap();
    assert!(shift.low.unwrap() < 0.0 && shift.high.unwrap() >= 1.0, "{shift:?}");
}

/// Pairs that all differ by the same amount leave room only for rounding, which is not reported.
#[test]
fn pairs_that_all_differ_alike_have_that_shift() {
    for (by, expected) in [(0.0, 0.0), (0.1, 0.1)] {
        let mut asked = question(StatisticOf::Each(Statistic::Mean));
        let value = |place: i32| 2.0 + f64::from(place * 7 % 41) / 37.0;
        asked.x.values = (1..41).map(value).collect();
        asked.y.values = asked.x.values.iter().map(|x| x + by).collect();
        asked.is_paired = true;
        let shift = answer(&asked, &GO_ON, |_, _| {}).unwrap().shift.unwrap();
        assert_eq!(shift.low, shift.high, "{by}");
        assert!(shift.low.is_some_and(|low| (low - expected).abs() < 1e-15), "{shift:?}");
    }
}

#[test]
fn equal_seeds_give_equal_results() {
    let question =
        Question { sides: Sides::Less, ..question(StatisticOf::Each(Statistic::Median)) };
    let again = answer(&question, &GO_ON, |_, _| {}).unwrap();
    assert_eq!(answer(&question, &GO_ON, |_, _| {}).unwrap(), again);
    assert_eq!(again.verdict, Verdict::Undecided);
}

#[test]
fn a_null_hypothesis_that_is_true_is_not_rejected() {
    for null in [Null::Shift { by: 20.0 }, Null::Ratio { factor: 40.5 / 20.5 }] {
        let each = question(StatisticOf::Each(Statistic::Mean));
        let result = answer(&Question { null, ..each }, &GO_ON, |_, _| {}).unwrap();
        assert_eq!(result.verdict, Verdict::Undecided, "{null:?}");
        assert_eq!(result.difference, 20.0);
    }
}

#[test]
fn the_classic_driver_takes_as_many_as_in_the_text() {
    let question = Question {
        method: ResamplingMethod::Classic,
        error: CLASSIC_ERROR,
        ..question(StatisticOf::Each(Statistic::Mean))
    };
    let result = answer(&question, &GO_ON, |_, _| {}).unwrap();
    assert_eq!((result.verdict, result.permutations), (Verdict::Holds, 2967));
    assert!((result.p.high / 0.007557510165262294 - 1.0).abs() < 1e-10);
    let less = Question { sides: Sides::Less, ..question };
    assert_eq!(answer(&less, &GO_ON, |_, _| {}).unwrap().verdict, Verdict::Undecided);
}

#[test]
fn a_program_computes() {
    let result = answer(&program(LEAST_OF_Y), &GO_ON, |_, _| {}).unwrap();
    assert_eq!((result.difference, result.verdict), (21.0, Verdict::Holds));
    let shifted = Question { null: Null::Shift { by: 20.0 }, ..program(LEAST_OF_Y) };
    let result = answer(&shifted, &GO_ON, |_, _| {}).unwrap();
    assert_eq!((result.difference, result.verdict), (21.0, Verdict::Undecided));
}

#[test]
fn a_program_that_does_not_answer_is_named() {
    for (command, expected) in [
        ("", "cannot be split into words: the command is empty"),
        ("no-such-program-here", "cannot be started: "),
        (
            "cat",
            "answered '{\"x\":[1.0,2.0,3.0,4.0,5.0,6.0,7.0,8.0,9....' to line 1, which is not a",
        ),
        ("sed -u s/.*/nan/", "has a * at character 11, which means something to a shell"),
        ("sed -u 's/.*/nan/'", "answered 'nan' to line 1, which is not a number"),
        ("true", "ended (exit status: 0) before it answered line 1"),
        (
            "sh -c 'read line; echo 1; read line; echo oh no >&2; exit 7'",
            "ended (exit status: 7) before it answered line 2: it must go on until its standard \
             input ends; it said: oh no",
        ),
        ("yes 1111111111", ""),
    ] {
        let answered = answer(&program(command), &GO_ON, |_, _| {});
        match (answered, expected) {
            (Err(error), expected) if !expected.is_empty() => {
                let (error, expected) = (error.to_string(), format!("'{command}' {expected}"));
                assert!(error.contains(&expected), "{error}");
            }
            // A program that answers without a request is believed, and ended.
            (Ok(result), "") => assert_eq!(result.verdict, Verdict::Undecided),
            (answered, _) => panic!("{command}: {answered:?}"),
        }
    }
}

#[test]
fn what_cannot_be_asked_is_said() {
    fn each() -> Question {
        question(StatisticOf::Each(Statistic::Mean))
    }
    fn check(question: Question, expected: &str) {
        let error = answer(&question, &GO_ON, |_, _| {}).unwrap_err();
        assert!(matches!(error, LabError::Usage(_)), "{error:?}");
        assert!(error.to_string().contains(expected), "{error}");
    }
    check(Question { alpha: 0.0, ..each() }, "--alpha");
    check(Question { null: Null::Ratio { factor: 0.0 }, ..each() }, "--ratio");
    check(Question { null: Null::Shift { by: f64::NAN }, ..each() }, "--shift");
    let fewer = Numbers { name: "y".to_owned(), values: vec![1.0] };
    check(Question { is_paired: true, y: fewer, ..each() }, "there are 40 and 1");
    check(Question { permutations_max: 253, ..each() }, "that takes 254");
    let null = Null::Shift { by: 1.0 };
    check(Question { null, sides: Sides::Two, ..program(LEAST_OF_Y) }, "--sides greater");
    let huge = Numbers { name: "huge".to_owned(), values: vec![f64::MAX, f64::MAX] };
    let error = answer(&Question { x: huge, ..each() }, &GO_ON, |_, _| {}).unwrap_err();
    assert!(error.to_string().starts_with("huge and y: "), "{error}");
}

#[test]
fn an_interrupted_test_says_what_it_knows() {
    let stop = AtomicBool::new(false);
    let question = Question { sides: Sides::Less, ..question(StatisticOf::Each(Statistic::Mean)) };
    let question = Question { alpha: 0.999, permutations_max: 1 << 40, ..question };
    let result = answer(&question, &stop, |permutations, _| {
        stop.store(permutations >= 100, Ordering::Relaxed);
    });
    let result = result.unwrap();
    assert_eq!((result.verdict, result.stopped), (Verdict::Undecided, StopReason::Interrupted));
    assert_eq!(result.permutations, 100);
    let stopped = AtomicBool::new(true);
    let program = answer(&program("sleep 1000"), &stopped, |_, _| {});
    assert!(matches!(program, Err(LabError::NoPermutation)), "{program:?}");
}
