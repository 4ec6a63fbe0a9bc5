use super::*;
use crate::test_journal::rich;

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
    // Equality does not see the sign of a zero; the same text again does.
    assert_eq!(text_of(&back), text);
    assert!(text.contains("\"evidence_for\":\"inf\",\"evidence_against\":-0.0"), "{text}");
    assert!(text.contains("\"share\":\"-inf\"") && text.contains("\"seconds\":\"inf\""), "{text}");
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

/// Changes one line of a good journal and expects an error that names it and says this.
fn check(line: usize, from: &str, to: &str, said: &str) {
    let text = text_of(&rich("r7f3k2"));
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
        assert!(matches!(error, StoreError::BadLine { line: 1, .. }), "{text}: {error}");
    }
    assert!(matches!(read_lines(&b"\xff\xfe"[..]), Err(StoreError::BadLine { line: 1, .. })));
    let text = text_of(&rich("r7f3k2"));
    let twice = text.clone() + &text;
    assert!(read_lines(twice.as_bytes()).unwrap_err().to_string().contains("second header"));
    let first_rounds: Vec<&str> = text.lines().take(3).collect();
    let repeated =
        [first_rounds[0], first_rounds[1], first_rounds[2], first_rounds[1], first_rounds[2]];
    let error = read_lines(repeated.join("\n").as_bytes()).unwrap_err().to_string();
    assert!(error.contains("line 5 ") && error.contains("round 0 stands where round 1"), "{error}");
}
