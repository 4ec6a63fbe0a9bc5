//! `tiebreak exact`: from files of numbers to a sentence, JSON and an exit code.

use crate::common::{Captured, Place, Ran};
use tiebreak_cli::Io;

/// The command in this process, with something on standard input. `{x}` is x.txt, and so on.
fn exact(place: &Place, words: &[&str], input: &str) -> Ran {
    let (out, err) = (Captured::default(), Captured::default());
    let mut io = Io::to(Box::new(out.clone()), Box::new(err.clone()))
        .with_input(Box::new(std::io::Cursor::new(input.as_bytes().to_vec())));
    let named = |word: &&str| match word.strip_prefix('{').and_then(|word| word.split_once('}')) {
        Some((name, rest)) => format!("{}{rest}", place.path(name).display()),
        None => (*word).to_owned(),
    };
    let words = ["tiebreak", "exact"].map(str::to_owned).into_iter().chain(words.iter().map(named));
    let code = tiebreak_cli::main(words.map(Into::into), &mut io).into();
    Ran { out: out.text(), err: err.text(), code }
}

fn lines(numbers: std::ops::RangeInclusive<u32>) -> String {
    numbers.map(|number| format!("{number}\n")).collect()
}

fn place() -> Place {
    let place = Place::new();
    std::fs::write(place.path("x"), lines(1..=40)).unwrap();
    std::fs::write(place.path("y"), format!("# moved by 20\n\n{}", lines(21..=60))).unwrap();
    let row = |number: u32| format!("\"A, B\",{number},{}\r\n", number % 2);
    let table: String = (1..=80).map(row).collect();
    std::fs::write(place.path("t.csv"), format!("who,n,odd\r\n{table}")).unwrap();
    place
}

#[test]
fn verdicts_and_exit_codes() {
    let place = place();
    for (words, code, expected) in [
        (&["{x}", "{y}"][..], 0, "The mean of Y is 20 above that of X (a shift from"),
        (&["{x}", "{y}", "--sides", "greater", "--shift", "4"], 0, "X plus the shift"),
        (&["{x}", "{y}", "--sides", "less"], 2, "Not proven: the mean of Y is 20 above"),
        (&["{y}", "{x}", "--shift", "-20"], 2, "chance alone"),
        (&["{x}", "{y}", "--plain"], 0, "unequal spreads, may well be said to differ"),
        (&["{x}", "{y}", "--paired"], 0, "The mean of the differences Y - X is 20"),
        (&["{x}", "{y}"], 0, "they are not independent of each other"),
        (&["{x}", "{y}", "--ratio", "1.9756"], 2, "of X and Y / 1.9756"),
        (&["{x}", "{y}", "--statistic", "median"], 0, "The median of Y is 20 above"),
        (&["{x}", "{y}", "--statistic", "quantile:90%"], 0, "The 90% quantile of Y is 20"),
        (&["{x}", "{y}", "--method", "classic"], 0, "2967 permutations"),
        (&["{x}", "{y}", "--alpha", "0.1%"], 0, "2557 permutations"),
        (&["{x}", "-"], 0, "standard input"),
        (&["--alpha", "1%", "--", "{x}", "-:1"], 0, "standard input:1"),
        (&["{t.csv}:n:odd=1", "{t.csv}:n:odd=0"], 2, "the mean of Y is 1 above"),
        (&["{x}", "{y}", "--shift", "13.5", "--permutations-max", "254"], 2, "Undecided"),
    ] {
        let words = [&["--seed", "7"], words].concat();
        let said = exact(&place, &words, &lines(21..=60));
        assert_eq!(said.code, code, "{words:?}: {said:?}");
        let text = said.out.replace('\n', " ").replace("  ", " ");
        assert!(text.contains(expected), "{words:?}: {}", said.out);
    }
}

#[test]
fn a_quiet_test_says_one_sentence_and_equal_seeds_say_the_same() {
    let place = place();
    let words = ["{x}", "{y}", "--seed", "7", "--quiet"];
    let said = exact(&place, &words, "");
    assert_eq!((said.code, said.out.lines().count(), said.err.as_str()), (0, 1, ""));
    let json = ["{x}", "{y}", "--seed", "7", "--json", "-"];
    let (first, second) = (exact(&place, &json, ""), exact(&place, &json, ""));
    assert_eq!(first.out, second.out);
}

#[test]
fn json_obeys_the_schema() {
    let place = place();
    let schema = include_str!("../../../../docs/schema/exact-1.schema.json");
    let schema: serde_json::Value = serde_json::from_str(schema).unwrap();
    let schema = jsonschema::draft202012::new(&schema).unwrap();
    let least_of_y = "sed -u 's/.*y.:.//; s/[],].*//'";
    for words in [
        &["{x}", "{y}"][..],
        &["{x}", "{y}", "--method", "classic", "--shift", "3"],
        &["{x}", "{y}", "--ratio", "2", "--sides", "less", "--statistic", "median"],
        &["{x}", "{y}", "--paired", "--sides", "greater"],
        &["{x}", "{y}", "--statistic-command", least_of_y, "--sides", "greater"],
    ] {
        let said = exact(&place, &[words, &["--json", "-"]].concat(), "");
        let value = said.json();
        let errors: Vec<_> = schema.iter_errors(&value).map(|error| error.to_string()).collect();
        assert_eq!(errors, [""; 0], "{value:#}");
    }
    let said = exact(&place, &["{x}", "{y}", "--json", "{r.json}"], "");
    assert!(said.out.contains("Proven"));
    let file = std::fs::read_to_string(place.path("r.json")).unwrap();
    assert!(file.contains("\"tiebreak/exact/1\""));
}

#[test]
fn mistakes_are_named() {
    let place = place();
    std::fs::write(place.path("bad"), "1\n2\nthree\n4\n").unwrap();
    std::fs::write(place.path("none"), "# nothing\n").unwrap();
    for (words, code, expected) in [
        (&["{bad}", "{y}"][..], 65, "bad, line 3: 'three' is not a number"),
        (&["{x}", "{none}"], 65, "none: there are no numbers in it"),
        (&["{x}", "{missing}"], 65, "cannot read"),
        (&["{x}", "{t.csv}:m"], 65, "there is no column 'm'; these are: who, n, odd"),
        (&["{x}", "{t.csv}:who"], 65, "t.csv, line 2: 'A, B' is not a number"),
        (&["{x}", "-"], 65, "-, line 1: 'x' is not a number"),
        (&["-", "-"], 64, "only one of X and Y"),
        (&["{x}"], 64, "<Y>"),
        (&["{x}", "{y}", "--alpha", "0"], 64, "--alpha"),
        (&["{x}", "{y}", "--alpha", "100%"], 64, "--alpha"),
        (&["{x}", "{y}", "--statistic", "mode"], 64, "none of mean, median and quantile:SHARE"),
        (&["{x}", "{y}", "--statistic", "quantile:0"], 64, "quantile:0.9"),
        (&["{x}", "{y}", "--permutations-max", "100"], 64, "that takes 254"),
        (&["{x}", "{y}", "--shift", "nan"], 64, "--shift"),
        (&["{x}", "{y}", "--ratio", "-1"], 64, "--ratio"),
        (&["{x}", "{y}", "--paired", "--plain"], 64, "--plain"),
        (&["{x}", "{t.csv}:n", "--paired"], 64, "there are 40 and 80"),
        (&["{x}", "{y}", "--ratio", "2", "--shift", "1"], 64, "--shift"),
        (&["{x}", "{y}", "--statistic-command", "true", "--sides", "less"], 65, "ended (exit"),
        (&["{x}", "{y}", "--statistic-command", "nothing-like-it"], 65, "cannot be started"),
        (&["{x}", "{y}", "--json", "{no/folder}"], 65, "cannot write --json"),
    ] {
        let said = exact(&place, words, "x\n");
        assert_eq!(said.code, code, "{words:?}: {said:?}");
        assert!(said.err.contains(expected), "{words:?}: {}", said.err);
        assert!(said.out.is_empty(), "{words:?}: {}", said.out);
    }
}

#[test]
fn exported_samples_can_be_tested() {
    let place = Place::new();
    let race = ["compare", "sleep 0.001", "sleep 0.02", "--runs", "25", "--error", "1e-12"];
    let raced = place.run(&[&race[..], &["--quiet", "--no-wait"]].concat());
    assert_eq!(raced.code, 2, "{raced:?}");
    assert_eq!(place.run(&["export", "--csv", "samples.csv"]).code, 0);
    let of = |name: &str| format!("{{samples.csv}}:wall_ns:contestant={name}");
    let (a, b) = (of("A"), of("B"));
    let said = exact(&place, &[&a, &b, "--sides", "greater", "--statistic", "median"], "");
    assert_eq!(said.code, 0, "{said:?}");
    assert!(said.out.contains("25"), "{}", said.out);
}

/// A program that never answers is ended with the test, and what it started too.
#[test]
fn an_interrupt_ends_the_test_and_its_program() {
    let place = place();
    let script = place.script("slow", "sleep 1000 & echo $! > pid; read line; wait");
    let words = ["exact", "x", "y", "--sides", "less", "--statistic-command", &script];
    let mut child = place.command(&words).spawn().unwrap();
    let pid = (0..1000).find_map(|_| {
        std::thread::sleep(std::time::Duration::from_millis(10));
        std::fs::read_to_string(place.path("pid")).ok().filter(|pid| pid.ends_with('\n'))
    });
    let pid = pid.unwrap();
    let kill = |signal: &str, pid: &str| {
        std::process::Command::new("kill").args([signal, pid]).status().unwrap().success()
    };
    assert!(kill("-TERM", &child.id().to_string()));
    assert_eq!(child.wait().unwrap().code(), Some(130));
    // Whoever inherits it reaps it.
    let process = format!("/proc/{}", pid.trim());
    let is_gone = (0..1000).any(|_| {
        std::thread::sleep(std::time::Duration::from_millis(10));
        !std::path::Path::new(&process).exists()
    });
    assert!(is_gone);
}
