//! `slo`: commands and streams, thresholds, blocks, and what is wrong with them.

use crate::common::{Place, flat, validate};

#[test]
fn a_command_is_judged_by_its_status() {
    let place = Place::new();
    for (rate, command, code) in [
        (["--at-least", "90%"].as_slice(), "true", 0),
        (&["--at-least", "90%"], "false", 1),
        (&["--good", "99%", "--bad", "90%"], "true", 0),
        (&["--good", "99%", "--bad", "90%"], "false", 1),
    ] {
        let mut words = vec!["slo", "--budget", "400 rounds", "--seed", "s", "--json", "-"];
        words.extend(rate);
        words.extend(["--", command]);
        let said = place.run(&words);
        assert_eq!(said.code, code, "{words:?}: {said:?}");
        let json = said.json();
        validate(&json);
        let claim = &json["verdicts"][0];
        assert!(claim["ratio"].is_null() && claim["rate"]["low"].is_number() || code == 1);
        assert_eq!(place.run(&["replay", "--json", "-"]).json(), json, "a replay says the same");
    }
    let first = place.run(&["slo", "--at-least", "50%", "--", "sh", "-c", "echo oh >&2; exit 3"]);
    assert!(first.code == 1 && first.out.contains("exit status 3"), "{first:?}");
}

#[test]
fn lines_are_judged_and_the_least_number_is_told_first() {
    let place = Place::new();
    let good = "1\n".repeat(3000);
    let words = ["slo", "--stdin", "--at-least", "90%", "--independent"];
    let said = place.pipe(&words, &good);
    assert_eq!(said.code, 0, "{said:?}");
    assert!(said.err.contains("needs at least"), "{said:?}");
    // Any test needs 44 successes at this error and a bar of 90%; this one some more.
    let json = place.pipe(&[&words[..], &["--json", "-"]].concat(), &good).json();
    let trials = json["verdicts"][0]["share"]["trials"].as_u64().unwrap();
    assert!((44..75).contains(&trials), "{trials}");
    let bad = place.pipe(&words, &"0\n".repeat(100));
    assert_eq!(bad.code, 1, "{bad:?}");
    let few = place.pipe(&words, "1\n1\n");
    assert_eq!(few.code, 2, "{few:?}");
}

#[test]
fn blocks_are_the_rule_for_streams() {
    let place = Place::new();
    let lines = "1\n".repeat(2500);
    let said = place.pipe(&["slo", "--stdin", "--at-least", "50%", "--json", "-"], &lines);
    assert_eq!(said.code, 2, "{said:?}");
    let json = said.json();
    let share = &json["verdicts"][0]["share"];
    assert_eq!((share["block"].as_u64(), share["trials"].as_u64()), (Some(1000), Some(2000)));
    assert!(said.err.contains("bursts"), "the text says why: {said:?}");
    let codes: Vec<_> = json["warnings"].as_array().unwrap().iter().collect();
    assert!(codes.iter().any(|warning| warning["code"] == "left_over"), "{codes:?}");
    let small = ["slo", "--stdin", "--at-least", "50%", "--block", "10", "--quiet"];
    assert_eq!(place.pipe(&small, &lines).code, 0);
}

/// Outages that are long for the block: the verdict stays, its promise does not, and a replay says
/// the same of the counts in the journal.
#[test]
fn long_outages_take_the_promise_of_blocks_away() {
    let place = Place::new();
    let lines = |bad: usize, good: usize| ("0\n".repeat(bad) + &"1\n".repeat(good)).repeat(20);
    for (bad, good, is_bursty) in [(300, 700, true), (30, 70, false)] {
        let said = place.pipe(&["slo", "--stdin", "--at-least", "99%"], &lines(bad, good));
        assert_eq!(said.code, 1, "{said:?}");
        assert_eq!(said.out.contains("wrong with probability"), !is_bursty, "{said:?}");
        assert_eq!(said.out.contains("300.0 in a row"), is_bursty, "{said:?}");
        let again = place.run(&["replay", "--json", "-"]).json();
        validate(&again);
        assert_eq!(again["verdicts"][0]["share"]["is_bursty"], is_bursty);
        let codes = again["warnings"].as_array().unwrap().iter();
        assert_eq!(codes.filter(|warning| warning["code"] == "dependent").count() == 1, is_bursty);
    }
}

/// Spells in which every other line fails: no run of failures is long, and blocks differ.
#[test]
fn spells_of_failures_take_the_promise_of_blocks_away() {
    let place = Place::new();
    let lines = ("1\n".repeat(9000) + &"0\n1\n".repeat(500)).repeat(12);
    let said = place.pipe(&["slo", "--stdin", "--at-least", "99%"], &lines);
    assert_eq!(said.code, 1, "{said:?}");
    assert!(!said.out.contains("wrong with probability"), "{said:?}");
    let text = flat(&said.out);
    assert!(text.contains("because blocks differ as if failures came"), "{said:?}");
    let again = place.run(&["replay", "--json", "-"]).json();
    validate(&again);
    let share = &again["verdicts"][0]["share"];
    assert!(share["is_bursty"] == true && share["mean_burst"] == 1.0, "{share}");
    assert!(share["spell_lines"].as_f64().unwrap() > 100.0, "{share}");
    let codes = again["warnings"].as_array().unwrap().iter();
    assert_eq!(codes.filter(|warning| warning["code"] == "uneven").count(), 1);
}

/// A chain needs failures to know how long they last, and far fewer lines than blocks.
#[test]
fn chains_are_settled_and_replayed() {
    let place = Place::new();
    let words = ["slo", "--stdin", "--at-least", "90%", "--markov"];
    let one_bad = "1\n".repeat(99) + "0\n";
    for (lines, code) in
        [(one_bad.repeat(60), 0), ("1\n".repeat(6000), 2), ("1\n1\n0\n0\n0\n".repeat(400), 1)]
    {
        let said = place.pipe(&words, &lines);
        assert_eq!(said.code, code, "{said:?}");
        assert!(
            code == 2 || said.out.contains("line is supposed to depend on the one before"),
            "{said:?}"
        );
        let json = place.run(&["replay", "--json", "-"]).json();
        validate(&json);
        assert_eq!(json["verdicts"][0]["share"]["is_chain"], true);
    }
}

/// After a bad spell in which every other line fails, a chain takes its failures for single ones.
#[test]
fn a_chain_that_is_none_promises_nothing() {
    let place = Place::new();
    let lines = "1\n".repeat(3000) + &"0\n1\n".repeat(15) + &"1\n".repeat(40_000);
    let said = place.pipe(&["slo", "--stdin", "--at-least", "99%", "--markov"], &lines);
    assert_eq!(said.code, 0, "{said:?}");
    assert!(!said.out.contains("wrong with probability"), "{said:?}");
    assert!(said.out.contains("because lines depend on more than the one before"), "{said:?}");
    let again = place.run(&["replay", "--json", "-"]).json();
    validate(&again);
    assert_eq!(again["verdicts"][0]["share"]["is_bursty"], true);
    let codes = again["warnings"].as_array().unwrap().iter();
    assert_eq!(codes.filter(|warning| warning["code"] == "memory").count(), 1);
}

/// Slow spells that are long for an observation: the verdict of a mean stays, its promise does not,
/// and a replay says the same.
#[test]
fn slow_spells_take_the_promise_of_a_mean_away() {
    let place = Place::new();
    let fast = |n: usize| (0..n).map(|at| format!("3.{}\n", at * 37 % 101)).collect::<String>();
    let lines = fast(50) + &("18\n".repeat(20) + &fast(1000)).repeat(4);
    let claim = ["slo", "--stdin", "--value", "--claim", "mean of A is below 4.2ms capped at 20ms"];
    for (how, is_told) in [
        (vec!["--independent"], "each line one observation"),
        (vec!["--block", "10"], "each block of 10 lines one observation"),
    ] {
        let said = place.pipe(&[&claim[..], &how].concat(), &lines);
        let text = said.out.replace('\n', " ");
        assert!(text.contains(is_told), "{said:?}");
        assert!(text.contains("because values on one side of the bar come"), "{said:?}");
        assert!(!text.contains("wrong with probability"), "{said:?}");
        let json = place.run(&["replay", "--json", "-"]).json();
        validate(&json);
        assert_eq!(json["verdicts"][0]["spells"]["is_dependent"], true);
        let codes = json["warnings"].as_array().unwrap().iter();
        assert_eq!(codes.filter(|warning| warning["code"] == "spells").count(), 1);
    }
    let clean = place.pipe(&[&claim[..], &["--independent"]].concat(), &fast(400));
    assert!(clean.out.replace('\n', " ").contains("nothing is known of spells"), "{clean:?}");
}

/// A time-out is above every bar, and the promise says what it rests on.
#[test]
fn lines_that_never_came_and_lines_that_follow_each_other() {
    let place = Place::new();
    let words = ["slo", "--stdin", "--value", "--independent", "--below", "5ms", "--at-least"];
    let late = "4\ntimeout\n3\ninf\n".repeat(100);
    let said = place.pipe(&[&words[..], &["90%"]].concat(), &late);
    assert_eq!(said.code, 1, "{said:?}");
    let said = place.pipe(&[&words[..], &["40%"]].concat(), &late);
    assert_eq!(said.code, 0, "{said:?}");
    assert_eq!(place.run(&["replay"]).code, 0);
    let clean = place.pipe(&[&words[..], &["90%"]].concat(), &"4\n3\n".repeat(300));
    assert!(clean.out.contains("no failure was seen"), "{clean:?}");
    let rising: String = (1..400).map(|n| format!("{}\n", 4.0 + f64::from(n) / 1e4)).collect();
    let said = place.pipe(&[&words[..], &["90%"]].concat(), &rising);
    assert!(said.code == 0 && said.out.contains("each value is like the one before"), "{said:?}");
    assert!(!said.out.contains("wrong with probability"), "{said:?}");
}

#[test]
fn values_and_sentences() {
    let place = Place::new();
    let fast = "4.2\n4900us\n0.001s\n".repeat(300);
    let words = ["slo", "--stdin", "--value", "--independent"];
    let below = |bar| [&words[..], &["--below", bar, "--at-least", "90%", "--quiet"]].concat();
    assert_eq!(place.pipe(&below("5ms"), &fast).code, 0);
    assert_eq!(place.pipe(&below("4ms"), &fast).code, 1);
    let plain = "3\n4\n".repeat(300);
    assert_eq!(place.pipe(&below("5"), &plain).code, 0);
    let claim = [&words[..], &["--claim", "median of A is below 5 ms"]].concat();
    assert_eq!(place.pipe(&claim, &fast).code, 0);
    let mean = [&words[..], &["--claim", "mean of A is below 9 ms capped at 20 ms"]].concat();
    assert_eq!(place.pipe(&mean, &fast).code, 0);
    let quick = ["slo", "--below", "10s", "--at-least", "80%", "--budget", "99 rounds", "--quiet"];
    assert_eq!(place.run(&[&quick[..], &["--", "true"]].concat()).code, 0);
}

#[test]
fn the_picture_is_drawn() {
    let place = Place::new();
    let words =
        ["slo", "--stdin", "--good", "98%", "--bad", "90%", "--independent", "--svg", "a.svg"];
    assert_eq!(place.pipe(&words, &"1\n".repeat(900)).code, 0);
    let svg = std::fs::read_to_string(place.path("a.svg")).unwrap();
    assert!(svg.starts_with("<svg") && svg.contains("98%") && svg.contains("90%"), "{svg}");
}

#[test]
fn a_stream_goes_on_with_more_lines() {
    let place = Place::new();
    let words = ["slo", "--stdin", "--at-least", "90%", "--independent", "--quiet"];
    assert_eq!(place.pipe(&words, &"1\n".repeat(30)).code, 2);
    let more = place.pipe(&["resume", "--more", "--json", "-"], &"1\n".repeat(3000));
    assert_eq!(more.code, 0, "{more:?}");
    let trials = more.json()["verdicts"][0]["share"]["trials"].as_u64().unwrap();
    assert!((44..75).contains(&trials), "{trials}");
}

#[test]
fn what_is_wrong_is_named() {
    let place = Place::new();
    let stdin = ["slo", "--stdin", "--independent", "--at-least", "90%"];
    let with = |more: &[&'static str]| [&stdin[..], more].concat();
    for (words, input, code, expected) in [
        (stdin.to_vec(), "1\nyes\n", 65, "line 2: 'yes' is neither 0 nor 1"),
        (stdin.to_vec(), "1\n0.7\n", 65, "--value"),
        (with(&["--value", "--below", "5ms"]), "4\nNaN\n", 65, "line 2: 'NaN'"),
        (with(&["--value", "--below", "5ms"]), "4\n-inf\n", 65, "line 2: '-inf'"),
        (with(&["--value"]), "", 64, "--below 5ms"),
        (with(&["--below", "5ms"]), "", 64, "say --value too"),
        (with(&["--value", "--below", "5 parsecs"]), "", 64, "5 parsecs"),
        (vec!["slo", "--stdin", "--at-least", "100%"], "", 64, "above 0 and below 100%"),
        (vec!["slo", "--stdin", "--at-least", "0"], "", 64, "above 0 and below 100%"),
        (vec!["slo", "--stdin", "--at-least", "abc"], "", 64, "abc"),
        (vec!["slo", "--stdin", "--good", "96%", "--bad", "98%"], "", 64, "not above the bad rate"),
        (vec!["slo", "--stdin", "--good", "96%"], "", 64, "--bad"),
        (vec!["slo", "--at-least", "98%"], "", 64, "a command after --"),
        (vec!["slo", "--stdin"], "", 64, "--at-least"),
        (vec!["slo", "--stdin", "--claim", "p99 of A is belwo 5 ms"], "", 64, "belwo"),
        (vec!["slo", "--claim", "A is faster than B", "--", "true"], "", 64, "B"),
    ] {
        let said = place.pipe(&words, input);
        assert_eq!(said.code, code, "{words:?}: {said:?}");
        assert!(
            said.err.contains(expected) && !said.err.contains("panicked"),
            "{words:?}: {said:?}"
        );
    }
    let missing = place.run(&["slo", "--at-least", "98%", "--", "no-such-program-here"]);
    assert_eq!(missing.code, 65, "{missing:?}");
}
