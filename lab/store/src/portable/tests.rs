use super::*;
use crate::tests::journals::{of_success, rich};

fn text_of(journal: &Journal) -> String {
    let mut bytes = Vec::new();
    write_lines(journal, &mut bytes).unwrap();
    String::from_utf8(bytes).unwrap()
}

#[test]
fn what_is_read_is_what_was_written() {
    let journal = rich("r7f3k2");
    let text = text_of(&journal);
    let back = read_lines(text.as_bytes()).unwrap();
    assert_eq!(back, journal);
    // Equality ignores the sign of a zero; the text does not.
    assert_eq!(text_of(&back), text);
    assert!(text.contains("\"evidence_for\":\"inf\",\"evidence_against\":-0.0"), "{text}");
    assert!(text.contains("\"share\":\"-inf\"") && text.contains("\"seconds\":\"inf\""), "{text}");
}

/// A later version's fields are written where they are needed and read where they are present.
#[test]
fn what_is_new_is_left_out_where_it_says_nothing() {
    let journal = of_success("r7f3k2");
    let text = text_of(&journal);
    let back = read_lines(text.as_bytes()).unwrap();
    assert_eq!((&back, text_of(&back)), (&journal, text.clone()));
    let new = ["block_runs", "adjust", "gate", "run_ns", "run_delay_ns"];
    let mut old = rich("r7f3k2");
    for contestant in &mut old.header.plan.contestants {
        contestant.directory = None;
    }
    for sample in old.rounds.iter_mut().flat_map(|round| &mut round.samples) {
        (sample.meters.run_ns, sample.beside.run_delay_ns) = (None, None);
    }
    let plain = text_of(&old);
    for name in new {
        assert!(!plain.contains(&format!("\"{name}\"")), "{name}");
    }
    assert!(!plain.contains("\"directory\":\"/srv"), "{plain}");
    assert_eq!(read_lines(plain.as_bytes()).unwrap(), old);
    assert!(["block_runs", "adjust", "gate"].iter().all(|name| text.contains(name)));
}

#[test]
fn lines_stand_in_the_order_of_happening() {
    let text = text_of(&rich("r7f3k2"));
    let kind = |line: &str| {
        let value: serde_json::Value = serde_json::from_str(line).unwrap();
        let word = |name: &str| value[name].as_str().unwrap_or_default().to_owned();
        (word("line") + " " + &word("event")).trim().to_owned()
    };
    let kinds: Vec<String> = text.lines().map(kind).collect();
    let expected = [
        "header",
        "coins",
        "round",
        "event first_outputs",
        "event warned",
        "coins",
        "coins",
        "coins",
        "round",
        "verdict",
        "verdict",
        "event stopped",
        "event resumed",
        "coins",
        "round",
        "verdict",
        "coins",
        "event void",
        "event stopped",
    ];
    assert_eq!(kinds, expected);
}

/// Changes one line of a good journal, and expects an error that names the line and contains
/// `said`.
fn check(line: usize, from: &str, to: &str, said: &str) {
    check_in(&rich("r7f3k2"), line, from, to, said);
}

fn check_in(journal: &Journal, line: usize, from: &str, to: &str, said: &str) {
    let text = text_of(journal);
    let mut lines: Vec<String> = text.lines().map(str::to_owned).collect();
    assert!(lines[line - 1].contains(from), "line {line} has no {from}: {}", lines[line - 1]);
    lines[line - 1] = lines[line - 1].replace(from, to);
    let error = read_lines(lines.join("\n").as_bytes()).unwrap_err().to_string();
    assert!(error.contains(&format!("line {line} ")) && error.contains(said), "{error}");
}

#[test]
fn errors_name_the_line_and_what_is_wrong() {
    check(1, "tiebreak/journal/1", "tiebreak/journal/2", "'tiebreak/journal/2'");
    check(1, "schema", "scheme", "should stand here");
    check(1, "\"left\":0", "\"left\":2", "contestant 2 of 2");
    check(1, "\"centre\":\"factor\"", "\"centre\":\"mean\"", "a ratio of means that nothing caps");
    check(2, "\"order\":[0,1]", "\"order\":[0,2]", "contestant 2 of 2");
    check(2, "\"order\":[0,1]", "\"order\":[0,0]", "twice");
    check(2, "\"line\":\"coins\"", "\"line\":\"dice\"", "unknown variant `dice`");
    check(3, "\"attempt\":0", "\"attempt\":1", "without its coins");
    check(3, "\"wall_ns\":1000000", "\"wall_ns\":-1", "invalid value");
    check(3, "\"evidence_for\":1.0", "\"evidence_for\":null", "invalid type: null");
    check(3, "\"claim\":1", "\"claim\":2", "claim 2 of 2");
    check(4, "null]", "null,null]", "3 first outputs of 2");
    check(7, "\"attempt\":1", "\"attempt\":0", "again");
    check(10, "\"claim\":1", "\"claim\":7", "claim 7 of 2");
    check(18, "\"contestant\":1", "\"contestant\":2", "contestant 2 of 2");
}

#[test]
fn a_journal_cut_short_names_its_last_line() {
    let text = text_of(&rich("r7f3k2"));
    let error = read_lines(&text.as_bytes()[..text.len() - 9]).unwrap_err().to_string();
    assert!(error.starts_with("line 19 of the journal: EOF while parsing"), "{error}");
    assert!(error.ends_with(')') && !error.contains("line 1 "), "{error}");
}

#[test]
fn what_is_no_journal_is_refused() {
    for text in ["", "\n", "{}", "not json", "SQLite format 3\0", "[1]", "{\"line\":\"coins\"}"] {
        let error = read_lines(text.as_bytes()).unwrap_err();
        assert!(matches!(error, StoreError::BadLine(1, _)), "{text}: {error}");
    }
    assert!(matches!(read_lines(&b"\xff\xfe"[..]), Err(StoreError::BadLine(1, _))));
    let text = text_of(&rich("r7f3k2"));
    let twice = text.clone() + &text;
    assert!(read_lines(twice.as_bytes()).unwrap_err().to_string().contains("second header"));
    let first_rounds: Vec<&str> = text.lines().take(3).collect();
    let repeated =
        [first_rounds[0], first_rounds[1], first_rounds[2], first_rounds[1], first_rounds[2]];
    let error = read_lines(repeated.join("\n").as_bytes()).unwrap_err().to_string();
    assert!(error.contains("line 5 ") && error.contains("round 0 stands where round 1"), "{error}");
}

#[test]
fn errors_name_the_claim_or_event_that_cannot_be() {
    let journal = of_success("r7f3k2");
    let check = |line, from, to, said| check_in(&journal, line, from, to, said);
    check(1, "\"block_runs\":5", "\"block_runs\":0", "have no runs");
    check(1, "\"good\":0.98", "\"good\":0.9", "out of range");
    check(1, "\"good\":0.98", "\"good\":1.0", "out of range");
    check(1, "\"bad\":0.95", "\"bad\":\"nan\"", "out of range");
    check(1, "\"factor\":1.1", "\"factor\":0.0", "out of range");
    check(1, "\"right\":1", "\"right\":null", "two contestants names only one");
    check(1, "\"right\":null,\"error\"", "\"right\":1,\"error\"", "one contestant names two");
    check(1, "\"kind\":\"compare\"", "\"kind\":\"stream\",\"scale\":1.0", "lines of a stream");
    check(4, "\"contestant\":0", "\"contestant\":2", "contestant 2 of 2");
    check(5, "\"successes\":1", "\"successes\":2", "of 3 lines, 2 are successes");
    check(7, "\"error\":0.02", "\"error\":0.0", "not between 0 and 1");
}
