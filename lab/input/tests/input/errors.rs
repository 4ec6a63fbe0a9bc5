//! Sentences that are not claims, with the word that is wrong and the message.

use tiebreak_input::{ClaimError, MAX_CLAIM_BYTES, parse};

const NAMES: [&str; 4] = ["A", "B", "swar", "my prog"];

/// Checks the message of a sentence and that the error points at what stands between the bars.
fn check(sentence: &str, message: &str) {
    let parts: Vec<_> = sentence.split('|').collect();
    assert_eq!(parts.len(), 3, "two bars in {sentence:?}");
    let text = parts.concat();
    let error = failure(&text, &NAMES);
    assert_eq!(error.to_string(), message, "{sentence}");
    assert_eq!(error.span, parts[0].len()..parts[0].len() + parts[1].len(), "{sentence}");
    assert_eq!(error.text, text);
    let rendered = error.render(false);
    assert!(rendered.starts_with("error: ") && rendered.contains('^'), "{rendered}");
    let is_plain = text.is_ascii() && !text.contains(char::is_control);
    assert!(rendered.is_ascii() || !is_plain, "{rendered}");
}

fn failure(text: &str, names: &[&str]) -> ClaimError {
    match parse(text, names) {
        Ok(claim) => panic!("{text:?} is a claim: {claim:?}"),
        Err(error) => error,
    }
}

#[test]
fn wrong_sentences_have_their_message() {
    let table = include_str!("wrong_sentences.txt");
    let lines: Vec<_> = table.lines().filter(|line| !line.starts_with('#')).collect();
    let lines: Vec<_> = lines.into_iter().filter(|line| !line.is_empty()).collect();
    assert!(lines.len() >= 350 && lines.len().is_multiple_of(2), "{}", lines.len());
    for pair in lines.chunks(2) {
        let message = pair[1].strip_prefix("    ").expect("an indented message");
        check(pair[0], message);
    }
}

#[test]
fn white_space_is_no_word() {
    for text in ["||", "||  ", "||\n\t", "||.", "|| . ."] {
        check(text, "the claim is empty: expected one such as 'A is faster than B'");
    }
    let ends = "the claim ends too early: expected 'B', 'swar' or 'my prog'";
    for text in ["A is faster than|| ", "\tA\nis  faster than||\n", "A is faster than|| ."] {
        check(text, ends);
    }
}

#[test]
fn other_scripts_are_pointed_at_on_character_boundaries() {
    let names = "expected 'A', 'B', 'swar' or 'my prog'";
    let cases = [
        ("|caf\u{e9}| is faster", format!("no contestant is called 'caf\u{e9}': {names}")),
        ("|\u{65e5}\u{672c}| is", format!("no contestant is called '\u{65e5}\u{672c}': {names}")),
        (
            "A is |fast\u{e9}r| than",
            "'fast\u{e9}r' cannot stand here; did you mean 'faster'?".into(),
        ),
        (
            "A\u{a0}is at least |1.5\u{d7}|",
            "'1.5\u{d7}' is neither a factor nor a percentage: expected an amount such as 1.5x or \
             5%"
            .into(),
        ),
        (
            "A is faster than B |\u{1f680}|",
            "'\u{1f680}' cannot stand here: expected 'on', 'by', 'in' or the end of the claim"
                .into(),
        ),
        (
            "A is |red\u{202e}|",
            "'red\\u{202e}' cannot stand here: expected 'faster', 'at least', 'no more than', 'at \
             most' or 'within'"
                .into(),
        ),
    ];
    for (sentence, message) in cases {
        check(sentence, &message);
    }
}

#[test]
fn control_characters_are_refused() {
    let message = "a control character cannot stand here: expected a space or a letter";
    for text in ["A is |\u{1b}|[31mred", "A is faster than B on 'x|\n|y'", "|\0|", "A|\u{9c}| is"] {
        check(text, message);
    }
    let name = "A\u{1b}[31m\n";
    let error = failure("A is faster than B", &[name, "B"]);
    assert_eq!(error.to_string(), "no contestant is called 'A': expected 'A\\u{1b}[31m\\n' or 'B'");
}

#[test]
fn long_sentences_are_refused_and_not_repeated() {
    let start = "A is faster than B on ";
    let longest = format!("{start}{}", "x".repeat(MAX_CLAIM_BYTES - start.len()));
    assert!(parse(&longest, &NAMES).is_ok());

    let error = failure(&format!("{longest}y"), &NAMES);
    assert_eq!(error.to_string(), "the claim has 1001 bytes: expected at most 1000");
    assert_eq!(error.span, 1000..1001);
    let rendered = "error: the claim has 1001 bytes\n |\n = note: expected at most 1000";
    assert_eq!(error.render(false), rendered);

    let error = failure(&"\u{65e5}".repeat(400), &NAMES);
    assert_eq!(error.message, "the claim has 1200 bytes");
    assert_eq!(error.span, 999..1200);
}

#[test]
fn long_words_are_shortened_in_messages() {
    let error = failure(&format!("A is {} than B", "y".repeat(500)), &NAMES);
    assert!(error.to_string().starts_with(&format!("'{}...' cannot", "y".repeat(40))), "{error}");
    assert_eq!(error.span, 5..505);
}

#[test]
fn contestants_are_listed_as_far_as_there_are_any() {
    let many: Vec<String> = (0..20).map(|n| format!("c{n}")).collect();
    let many: Vec<&str> = many.iter().map(String::as_str).collect();
    let cases: [(&[&str], &str, &str); 5] = [
        (&[], "A is", "no contestant is called 'A': expected a contestant, but there is no other"),
        (&["B"], "A is", "no contestant is called 'A': expected 'B'"),
        (
            &["A"],
            "A is faster than A",
            "'A' is compared with itself: expected a contestant, but there is no other",
        ),
        (
            &["A"],
            "A is faster than",
            "the claim ends too early: expected a contestant, but there is no other",
        ),
        (
            &many,
            "A is",
            "no contestant is called 'A': expected 'c0', 'c1', 'c2', 'c3', 'c4', 'c5', 'c6', 'c7' \
             or one of 12 more",
        ),
    ];
    for (names, text, message) in cases {
        assert_eq!(failure(text, names).to_string(), message);
    }
}

#[test]
fn an_error_carries_what_a_program_needs() {
    let error = failure("A is at lest 2x faster than B", &NAMES);
    assert_eq!(error.message, "'lest' cannot stand here");
    assert_eq!(error.expected, ["'least'", "'most'"]);
    assert_eq!(error.suggestion.as_deref(), Some("least"));

    let error = failure("p99 of A is below 64 MiB", &NAMES);
    assert_eq!(error.message, "'64 MiB' is not an amount of wall time");
    assert_eq!(error.suggestion, None);
}

#[test]
fn the_word_is_underlined() {
    let cases = [
        (
            "A is faster than C",
            "\
error: no contestant is called 'C'
 |
 | A is faster than C
 |                  ^ expected 'B', 'swar' or 'my prog'",
        ),
        (
            "A\tis\nfaster than",
            "\
error: the claim ends too early
 |
 | A is faster than
 |                 ^ expected 'B', 'swar' or 'my prog'",
        ),
        (
            "A is at least 2 prcent faster than B",
            "\
error: '2' is neither a factor nor a percentage
 |
 | A is at least 2 prcent faster than B
 |               ^ expected '2x' or '2%'",
        ),
        (
            "A is at least -2 percent fasster than B",
            "\
error: '-2 percent' is out of range
 |
 | A is at least -2 percent fasster than B
 |               ^^^^^^^^^^ expected at least 0% and less than 100000%",
        ),
        (
            "\u{65e5}\u{672c} is faster than \u{e9}",
            "\
error: no contestant is called '\u{65e5}\u{672c}'
 |
 | \u{65e5}\u{672c} is faster than \u{e9}
 | ^^^^ expected 'A', 'B', 'swar' or 'my prog'",
        ),
    ];
    for (text, rendered) in cases {
        let error = failure(text, &NAMES);
        assert_eq!(error.render(false), rendered);
        let coloured = error.render(true);
        assert!(coloured.contains("\u{1b}["), "{coloured:?}");
    }
}
