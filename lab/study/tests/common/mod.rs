//! What holds for every sentence and for every file, used by the property tests and by the fuzz
//! targets.

#![allow(dead_code, reason = "each test file and each target uses its own part")]

use tiebreak_core::plan::{Contestant, Gate};
use tiebreak_study::{
    BASE_NAME, Entrants, HEAD_NAME, MAX_FILE_CLAIMS, display, meaning, parse, parse_file,
};

/// Names that are hard to read: words of the grammar, quotes, points, spaces, other scripts.
pub const NAMES: [&str; 14] = [
    "A",
    "B",
    "B.",
    "swar",
    "naive",
    "my prog",
    "is",
    "by",
    "p99",
    "which",
    "it's",
    "'\"'",
    "caf\u{e9}",
    "\u{65e5}\u{672c}",
];

/// Parses a sentence and checks what holds of every claim and of every error.
pub fn check(text: &str) {
    match parse(text, &NAMES) {
        Ok(claim) => {
            assert!(!claim.text.contains(char::is_control));
            let mut again = parse(&claim.text, &NAMES).expect("the text of a claim is a claim");
            assert_eq!(again, claim);
            again.text = display(&claim);
            assert_eq!(parse(&again.text, &NAMES), Ok(again));
            assert!(!meaning(&claim).contains(char::is_control));
        }
        Err(error) => {
            assert_eq!(error.text, text);
            assert!(text.get(error.span.clone()).is_some(), "{:?} in {text:?}", error.span);
            let line = error.to_string();
            assert!(!line.is_empty() && !line.contains(char::is_control), "{line:?}");
            let plain = error.render(false);
            assert!(!plain.contains('\u{1b}'), "{plain:?}");
            assert!(error.render(true).contains('\u{1b}'));
        }
    }
}

/// Reads a file and checks what holds of every file that is right, and of every error.
pub fn check_file(text: &str) {
    let file = match parse_file("claims.toml", text) {
        Ok(file) => file,
        Err(errors) => {
            assert!(errors.iter().len() > 0);
            assert!(errors.iter().is_sorted_by_key(|error| error.span.start));
            for error in errors.iter() {
                assert!(text.get(error.span.clone()).is_some(), "{error}");
                assert!(!error.to_string().contains(char::is_control), "{error}");
            }
            assert!(!errors.render(false).contains('\u{1b}'));
            assert!(errors.render(true).contains('\u{1b}'));
            return;
        }
    };
    assert!((1..=MAX_FILE_CLAIMS).contains(&file.claims()));
    let lines = text.lines().count();
    for contest in &file.contests {
        let names: Vec<&str> = match &contest.entrants {
            Entrants::Programs(programs) => programs.iter().map(plain_name).collect(),
            Entrants::Revisions(_) => vec![BASE_NAME, HEAD_NAME],
        };
        assert!(!names.is_empty() && !contest.claims.is_empty());
        for claim in &contest.claims {
            assert!((1..=lines).contains(&claim.line) && contest.line <= lines);
            assert_eq!(parse(&claim.claim.text, &names).as_ref(), Ok(&claim.claim));
            let workload = claim.claim.workload.as_deref().unwrap_or(&contest.options.workload);
            assert_eq!(workload, contest.options.workload);
            assert!(claim.gate != Gate::ClosedUnlessHolds || text.contains("strict"));
        }
    }
}

/// The name of a contestant that is as it must be.
fn plain_name(contestant: &Contestant) -> &str {
    let name = &contestant.name;
    assert!(!name.trim().is_empty() && !name.contains(char::is_control));
    assert!(!contestant.command.trim().is_empty() && !contestant.command.contains('\0'));
    name
}
