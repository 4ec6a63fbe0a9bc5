//! What holds for every sentence, used by the property tests and by the fuzz target.

use tiebreak_study::{display, parse};

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
