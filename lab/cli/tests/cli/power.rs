//! `tiebreak power`: from a claim and its noise to rounds, a chance and an exit code.

use crate::common::{Place, Ran};

fn power(place: &Place, words: &[&str]) -> Ran {
    place.main(&[&["power", "--seed", "7"], words].concat())
}

const SLOWER: &str = "A is no more than 2% slower than B";

#[test]
fn answers_and_exit_codes() {
    let place = Place::new();
    for (words, code, expected) in [
        (&["--noise", "2%", "--difference", "3%"][..], 0, "About 15 rounds"),
        (
            &["--noise", "2%", "--difference", "3%", "--budget", "200 rounds"],
            0,
            "Enough: 'which of",
        ),
        (&["--noise", "2%", "--difference", "3%", "--budget", "12 rounds"], 1, "Not enough"),
        (&["--noise", "2%"], 0, "what it takes depends on how far A is ahead"),
        (&["--claim", SLOWER, "--noise", "2%", "--budget", "50 rounds"], 1, "It depends"),
        (&["--claim", SLOWER, "--noise", "2%", "--difference", "-50%"], 0, "if B is ahead by 50%"),
        (
            &["--noise", "1%", "--difference", "2x", "--round-time", "50ms"],
            0,
            "About 11 rounds (0.55 s)",
        ),
        (
            &["--noise", "1%", "--difference", "2x", "--round-time", "50ms", "--budget", "2s"],
            0,
            "within 2 s (40 rounds)",
        ),
        (&["--noise", "2%", "--difference", "3%", "--shape", "bimodal"], 0, "of two modes"),
        (
            &["--good", "98%", "--bad", "96%", "--rate", "97%", "--budget", "1000 rounds"],
            1,
            "Not enough: 'A succeeds at least 98% of the time with 96% as bad' ends within 1000 \
             trials at a true rate of 97%",
        ),
        (&["--at-least", "90%", "--rate", "99%", "--budget", "500 rounds"], 0, "Enough"),
        (
            &["--good", "98%", "--bad", "90%", "--rate", "99%", "--method", "classic"],
            0,
            "by the published driver",
        ),
        (&["--claim", "p99 of A is below 5 ms", "--rate", "99.9%"], 0, "About"),
    ] {
        let said = power(&place, words);
        assert_eq!(said.code, code, "{words:?}: {said:?}");
        let text = said.out.replace('\n', " ");
        assert!(text.contains(expected), "{words:?}: {}", said.out);
        let quiet = power(&place, &[words, &["--quiet"]].concat());
        assert_eq!((quiet.code, quiet.out.lines().count()), (code, 1));
    }
}

#[test]
fn json_obeys_the_schema() {
    let place = Place::new();
    let schema = include_str!("../../../../docs/schema/power-1.schema.json");
    let schema: serde_json::Value = serde_json::from_str(schema).unwrap();
    let schema = jsonschema::draft202012::new(&schema).unwrap();
    for words in [
        &["--noise", "2%"][..],
        &["--claim", SLOWER, "--noise", "20%", "--shape", "spiky", "--budget", "50 rounds"],
        &["--good", "98%", "--bad", "90%", "--budget", "100 rounds"],
        &["--good", "98%", "--bad", "90%", "--budget", "100 rounds", "--method", "classic"],
    ] {
        let said = power(&place, &[words, &["--json", "-"]].concat());
        let value = said.json();
        let errors: Vec<_> = schema.iter_errors(&value).map(|error| error.to_string()).collect();
        assert_eq!(errors, [""; 0], "{value:#}");
    }
}

#[test]
fn mistakes_are_named() {
    let place = Place::new();
    for (words, code, expected) in [
        (&[][..], 64, "--noise 2%, or give a --pilot"),
        (&["--claim", "A is fsater than B", "--noise", "2%"], 64, "did you mean 'faster'?"),
        (&["--noise", "0"], 64, "--noise must be above 0"),
        (&["--noise", "2%", "--difference", "fast"], 64, "3%, -3% or 1.5x"),
        (&["--noise", "2%", "--rate", "3%"], 64, "--rate is for success rates"),
        (&["--noise", "2%", "--budget", "30s"], 64, "--round-time"),
        (&["--noise", "2%", "--chance", "100%"], 64, "--chance"),
        (&["--noise", "2%", "--error", "0.7"], 64, "--error"),
        (&["--noise", "2%", "--method", "classic"], 64, "success rates only"),
        (&["--good", "96%", "--bad", "98%"], 64, "--bad is above --good"),
        (&["--good", "96%"], 64, "--bad"),
        (&["--at-least", "98%", "--noise", "2%"], 64, "needs --rate"),
        (&["--at-least", "98%", "--rate", "1.5"], 64, "--rate must be from 0 to 100%"),
        (&["--claim", "mean of A is below 5 ms capped at 50 ms"], 64, "cannot be forecast"),
        (&["--pilot", "no/such/file"], 65, "there is no file no/such/file"),
        (&["--pilot", "latest", "--noise", "2%"], 64, "--noise"),
    ] {
        let said = power(&place, words);
        assert_eq!(said.code, code, "{words:?}: {said:?}");
        assert!(said.err.contains(expected), "{words:?}: {}", said.err);
    }
}

/// A comparison of this machine with itself, and a race, as pilots: noise, names, time of a round.
#[test]
fn pilots_bring_noise_and_time() {
    let place = Place::new();
    let aa = ["aa", "sleep 0.001", "--runs", "30", "--comparisons", "1", "--rounds-each", "1000"];
    let ran = place.run(&[&aa[..], &["--error", "1e-12", "--quiet", "--no-wait"]].concat());
    assert_eq!(ran.code, 2, "{ran:?}");
    let said = power(&place, &["--pilot", "latest", "--difference", "10x", "--error", "1%"]);
    assert_eq!(said.code, 0, "{said:?}");
    assert!(said.out.contains("Noise of the pilot") && said.out.contains("30 rounds"), "{said:?}");
    assert!(!said.out.contains("stay evidence"), "it is about something else: {}", said.out);
    let said = power(&place, &["--pilot", "latest", "--difference", "10x", "--budget", "10min"]);
    assert!(said.out.contains("within 10 min ("), "{said:?}");

    let race = ["compare", "sleep 0.001", "sleep 0.02", "--name", "old", "--name", "new"];
    let few = ["--runs", "5", "--error", "1e-12", "--quiet", "--no-wait"];
    assert_eq!(place.run(&[&race[..], &few].concat()).code, 2);
    let said = power(&place, &["--pilot", "latest"]);
    assert_eq!(said.code, 64);
    assert!(said.err.contains("has 5 rounds of old and new: it takes 20"), "{}", said.err);
    let said = power(&place, &["--pilot", "latest", "--claim", "A is faster than B"]);
    assert!(said.err.contains("old"), "{}", said.err);
    assert_eq!(place.run(&["resume", "latest", "--budget", "25 rounds", "--quiet"]).code, 2);
    let said = power(&place, &["--pilot", "latest", "--error", "1%", "--difference", "5x"]);
    assert_eq!(said.code, 0, "{said:?}");
    assert!(said.out.replace('\n', " ").contains("--more BUDGET' goes on"), "{}", said.out);
    let sentence = ["--claim", "old is at least 2x faster than new"];
    let said = power(&place, &[&["--pilot", "latest", "--error", "1%"][..], &sentence].concat());
    assert_eq!(said.code, 0, "{said:?}");
    assert!(!said.out.contains("stay evidence"), "it is about something else: {}", said.out);
}
