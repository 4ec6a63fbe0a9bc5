//! `tiebreak classic`: what scripts give it, and what they get.

use crate::common::{Place, Ran};
use std::io::Write;
use std::process::Stdio;
use std::sync::{Arc, Mutex};
use tiebreak_cli::Io;

#[derive(Clone, Default)]
struct Captured(Arc<Mutex<Vec<u8>>>);

impl Write for Captured {
    fn write(&mut self, bytes: &[u8]) -> std::io::Result<usize> {
        self.0.lock().unwrap().extend_from_slice(bytes);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> std::io::Result<()> {
        Ok(())
    }
}

impl Captured {
    fn text(&self) -> String {
        String::from_utf8(self.0.lock().unwrap().clone()).unwrap()
    }
}

/// The command in this process, with something on standard input.
fn classic(words: &str, input: &[u8]) -> Ran {
    let (out, err) = (Captured::default(), Captured::default());
    let input = Box::new(std::io::Cursor::new(input.to_vec()));
    let mut io = Io::to(Box::new(out.clone()), Box::new(err.clone())).with_input(input);
    let words = ["tiebreak", "classic"].into_iter().chain(words.split_whitespace());
    let code = tiebreak_cli::main(words.map(Into::into), &mut io).into();
    Ran { out: out.text(), err: err.text(), code }
}

/// Lines with the same words, numbers to ten significant digits.
fn assert_same(got: &str, published: &str) {
    let words = |text: &str| text.split_whitespace().map(str::to_owned).collect::<Vec<_>>();
    let (got_words, published_words) = (words(got), words(published));
    assert_eq!(got_words.len(), published_words.len(), "{got}, not {published}");
    for (got, published) in got_words.iter().zip(&published_words) {
        let close = match (got.parse::<f64>(), published.parse::<f64>()) {
            (Ok(got), Ok(published)) => (got - published).abs() <= 1e-10 * published.abs(),
            _ => got == published,
        };
        assert!(close, "{got}, not {published}");
    }
}

const CASES: &[(&str, &str, &str)] = &[
    ("csm", "4000 0.98 3972 -6.907755278982137", "1 -17.238559826956475"),
    ("csm", "4000 0.99 3972 -6.907755278982137", "0 3.678538572444694"),
    ("csm", "1 0.5 1 -1", "0 9.9920072216264089e-16"),
    ("csm", "1000000 .99 990597 -1e1", "1 -10.039129993478127"),
    ("log-choose", "10 5", "5.5299343545451771"),
    ("log-choose", "1000000000 500000000", "693147169.97255325"),
    ("log-choose", "5 5", "0"),
    ("beta-icdf", "3972 28 0.001 lower", "0.9882119750976562"),
    ("beta-icdf", "3972 28 1e-3 upper", "0.9963832682169742"),
    ("beta-icdf", "100 1000000 1e-8 lower", "5.361735618111455e-05"),
    ("beta-icdf", "4 4 0 upper", "1"),
    ("quantile-index", "10000 0.99 -4.605170185988091 lower", "9849"),
    ("quantile-index", "10000 0.99 -4.605170185988091 estimate", "9899"),
    ("quantile-index", "1000 0.99 -4.605170185988091 upper", "-"),
];

#[test]
fn a_case_is_answered_from_arguments_and_from_a_line() {
    for (function, words, published) in CASES {
        let said = classic(&format!("{function} {words}"), b"");
        assert_eq!((said.code, said.err.as_str()), (0, ""), "{function} {words}: {said:?}");
        assert_same(&said.out, published);
        let line = classic(&format!("{function} --stdin"), words.as_bytes());
        assert_eq!((line.code, line.out), (0, said.out), "{function} {words}");
    }
}

#[test]
fn numbers_are_printed_so_that_they_can_be_read_back() {
    let said = classic("csm 10 0.98 8 -6.9", b"");
    assert_eq!(said.out, "0 -1.7796644540608648\n");
    let said = classic("beta-icdf 100 1000000 1e-8 lower", b"");
    assert_eq!(said.out, "5.3617356181114549e-05\n");
}

#[test]
fn lines_blank_lines_and_comments() {
    let input = b"# n s\n\n10 5\r\n   \n 20\t10  # half\n#\n5 5";
    let said = classic("log-choose --stdin", input);
    assert_eq!((said.code, said.out.lines().count()), (0, 3), "{said:?}");
    assert_same(&said.out, "5.5299343545451771 12.126923862824096 0");
    let nothing = classic("log-choose --stdin", b"");
    assert_eq!((nothing.code, nothing.out + &nothing.err), (0, String::new()));
}

#[test]
fn bad_input_names_line_word_and_remedy_after_the_good_lines() {
    let check = |function: &str, line: &str, parts: &[&str]| {
        let good = CASES.iter().find(|case| case.0 == function).unwrap();
        let input = format!("# cases\n{}\n{line}\n{}\n", good.1, good.1);
        let said = classic(&format!("{function} --stdin"), input.as_bytes());
        assert_eq!((said.code, said.out.lines().count()), (65, 1), "{line}: {said:?}");
        assert!(said.err.starts_with("error: line 3: "), "{line}: {}", said.err);
        assert_eq!(said.err.lines().count(), 1, "{}", said.err);
        assert!(parts.iter().all(|part| said.err.contains(part)), "{line}: {}", said.err);
        // The same words as arguments are a mistake of usage, and name no line.
        if !line.contains(" -") {
            let said = classic(&format!("{function} {line}"), b"");
            assert_eq!((said.code, said.out.as_str()), (64, ""), "{line}: {said:?}");
        }
    };
    check("csm", "10 0.98 11 -6.9", &["word 3 (s) is '11'", "at most n"]);
    check("csm", "10 0.98 x -6.9", &["word 3 (s) is 'x'", "a whole number"]);
    check("csm", "10 0.98 -1 -6.9", &["word 3 (s) is '-1'", "a whole number"]);
    check("csm", "1e3 0.98 1 -6.9", &["word 1 (n) is '1e3'", "a whole number"]);
    check("csm", "562949953421312 0.98 1 -6.9", &["word 1 (n)", "below 2^49"]);
    check("csm", "99999999999999999999 0.98 1 -6.9", &["word 1 (n)", "a whole number"]);
    check("csm", "10 1 3 -6.9", &["word 2 (alpha) is '1'", "above 0 and below 1"]);
    check("csm", "10 nan 3 -6.9", &["word 2 (alpha) is 'nan'", "above 0 and below 1"]);
    check("csm", "10 98% 3 -6.9", &["word 2 (alpha) is '98%'", "a number"]);
    check("csm", "10 0.5 3 0.1", &["word 4 (log_eps) is '0.1'", "at most 0"]);
    check("csm", "10 0.5 3 NaN", &["word 4 (log_eps) is 'NaN'", "at most 0"]);
    check("csm", "10 0.5 3", &["csm takes 4 words (n alpha s log_eps), not 3"]);
    check("csm", "10 0.5 3 -1 7", &["csm takes 4 words", "not 5"]);
    check("log-choose", "5 6", &["word 2 (s) is '6'", "at most n"]);
    check("log-choose", "5", &["log-choose takes 2 words (n s), not 1"]);
    check("beta-icdf", "0 1 0.1 lower", &["word 1 (a) is '0'", "at least 1"]);
    check("beta-icdf", "1 17592186044416 0.1 lower", &["word 2 (b)", "below 2^44"]);
    check("beta-icdf", "1 1 nan lower", &["word 3 (alpha) is 'nan'", "at least 0"]);
    check("beta-icdf", "1 1 0.1 left", &["word 4 (lower|upper) is 'left'", "lower or upper"]);
    check("quantile-index", "9 1.1 -1 upper", &["word 2 (q) is '1.1'", "from 0 to 1"]);
    check("quantile-index", "9 0.5 -1 both", &["word 4", "lower or estimate or upper"]);
}

#[test]
fn input_that_is_no_text_and_arguments_that_contradict() {
    let said = classic("log-choose --stdin", b"10 5\n\xff\xfe 5\n");
    assert_eq!((said.code, said.out.lines().count()), (65, 1));
    assert!(said.err.contains("line 2 is not text"), "{}", said.err);
    for words in ["", "csm", "csm --stdin 10 5", "log-chose 10 5", "csm 10 0.5 3 -1 --loud"] {
        let said = classic(words, b"");
        assert_eq!((said.code, said.out.as_str()), (64, ""), "{words}: {said:?}");
        assert!(!said.err.is_empty());
    }
}

#[test]
fn the_driver_reports_as_in_the_text() {
    let said = classic("driver --alpha 0.005 --alpha-hi 0.01 --eps 1e-9", &b"0\n".repeat(3000));
    let lines: Vec<&str> = said.out.lines().collect();
    assert_eq!((said.code, lines.len()), (0, 25), "{said:?}");
    assert_eq!(lines[0], "         1 0.000e+0 7.761e-11 1.000e+0 -2.967e-1");
    assert_eq!(lines[1], "        10 0.000e+0 0.000e+0 8.709e-1 -9.977e-1");
    assert_eq!(lines[10], "       100 0.000e+0 0.000e+0 1.998e-1 -1.568e+0");
    assert_eq!(lines[20], "      2000 0.000e+0 0.000e+0 1.119e-2 5.428e+0");
    assert_eq!(
        lines[21..],
        [
            "2967 iterations, 0 successes (false positive rate < 1.000000e-9)",
            "success rate p ~ 0.000000",
            "confidence interval [0.000000, 7.557510e-3]",
            "p < 1.000000e-2",
        ]
    );
}

#[test]
fn the_driver_at_the_end_of_its_input() {
    let open = classic("driver --alpha 0.5", b"1\n0\n# a pause\n1\n");
    assert_eq!(open.code, 2);
    assert!(open.out.contains("3 iterations, 2 successes"), "{}", open.out);
    let last = "No statistically significant difference from 0.500000\n";
    assert!(open.out.ends_with(last), "{}", open.out);
    let empty = classic("driver --alpha 0.5 --alpha-hi 0.7", b"");
    assert_eq!(empty.code, 2);
    assert!(empty.out.contains("difference from 0.500000 or 0.700000"), "{}", empty.out);
    let bad = classic("driver --alpha 0.5", b"1\n\n0.5\n1\n");
    assert_eq!(bad.code, 65);
    assert!(bad.err.starts_with("error: line 3: '0.5' is neither 0 nor 1"), "{}", bad.err);
    for words in ["driver --alpha 1", "driver --alpha 0.5 --eps 0", "driver", "driver --alpha nan"]
    {
        assert_eq!(classic(words, b"1\n").code, 64, "{words}");
    }
    let named = classic("driver --alpha 0.5 --alpha-hi -2", b"1\n");
    assert!(named.err.contains("--alpha-hi is -2, but must be above 0"), "{}", named.err);
}

#[test]
fn power_by_recursion() {
    let words = "power 0.97 0.96 1000 --alpha-hi 0.98 --eps 1e-3";
    let said = classic(words, b"");
    assert_eq!(said.code, 0, "{said:?}");
    assert!(said.out.contains("\n100 iterations, "), "{}", said.out);
    assert!(said.out.contains("\np < 0.990000\nmax inner iteration count: "), "{}", said.out);
    assert_eq!(classic(words, b"").out, said.out, "a seed gives the same attempts again");
    let other = classic(&format!("{words} --seed other"), b"");
    assert_ne!(other.out, said.out);
    let cut = classic("power 0.5 0.6 200 --eps 0.01 --success-rate 0.6 --max-attempts 5", b"");
    assert_eq!(cut.code, 2, "{cut:?}");
    assert!(cut.out.contains("5 iterations"), "{}", cut.out);
    assert_eq!(classic("power 1.5 0.5 10", b"").code, 64);
    assert_eq!(classic("power 0.5 0.5 0", b"").code, 64);
}

#[test]
fn pipes_of_the_help_run_and_end() {
    let place = Place::new();
    let folder = std::path::Path::new(env!("CARGO_BIN_EXE_tiebreak")).parent().unwrap();
    let shell = |pipe: &str| {
        let script = format!("PATH={}:$PATH; {pipe}", folder.display());
        let mut command = std::process::Command::new("sh");
        command.args(["-c", &script]).current_dir(place.folder()).stdin(Stdio::null());
        Ran::of(command.output().unwrap())
    };
    let help = classic("--help", b"").out;
    let pipes: Vec<&str> =
        help.lines().map(str::trim).filter(|line| line.contains(" | ")).collect();
    assert_eq!(pipes.len(), 2, "{help}");
    for pipe in pipes {
        let said = shell(pipe);
        assert!(said.code == 0 && !said.out.is_empty(), "{pipe}: {said:?}");
    }
    // Endless input ends when nobody reads the answers.
    let said = shell("yes '10 5' | tiebreak classic log-choose --stdin | head -n 3");
    assert_eq!((said.code, said.out.lines().count()), (0, 3), "{said:?}");
}
