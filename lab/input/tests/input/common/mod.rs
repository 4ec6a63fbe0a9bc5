//! What holds for every sentence and for every file, used by the property tests and by the fuzz
//! targets: each uses a part.

#![allow(dead_code, reason = "each fuzz target uses its own part")]

use std::path::Path;
use tiebreak_core::plan::{Contestant, Gate, Scope};
use tiebreak_core::study::{Recipe, Study};
use tiebreak_input::study_folder::{self, StudyErrors};
use tiebreak_input::{
    BASE_NAME, Entrants, FileErrors, HEAD_NAME, MAX_FILE_CLAIMS, display, meaning, parse,
    parse_file,
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
            check_errors(text, &errors);
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

/// What holds of all errors of a file.
fn check_errors(text: &str, errors: &FileErrors) {
    assert!(errors.iter().len() > 0);
    assert!(errors.iter().is_sorted_by_key(|error| error.span.start));
    for error in errors.iter() {
        assert!(text.get(error.span.clone()).is_some(), "{error}");
        assert!(!error.to_string().contains(char::is_control), "{error}");
    }
    assert!(!errors.render(false).contains('\u{1b}'));
    assert!(errors.render(true).contains('\u{1b}'));
}

/// Reads a study's file, with this folder around it, and checks what holds of every study that is
/// right, and of every error: how many there are.
pub fn check_study(text: &str, folder: &Path) -> usize {
    match study_folder::parse(folder, text) {
        Ok(study) => {
            check_right_study(&study, text, folder);
            0
        }
        Err(StudyErrors::File(errors)) => {
            check_errors(text, &errors);
            errors.iter().len()
        }
        Err(other) => panic!("{other}"),
    }
}

/// Whatever a study names is there.
fn check_right_study(study: &Study, text: &str, folder: &Path) {
    let names: Vec<&str> = study.contestants.iter().map(|c| c.name.as_str()).collect();
    let workloads: Vec<&str> = study.workloads.iter().map(|w| w.name.as_str()).collect();
    assert!(names.len() >= 2 && !workloads.is_empty());
    assert!(names.contains(&study.reference.as_str()));
    assert!(study.precision > 0.0 && study.precision <= 1.0);
    let mut recipes = study.contestants.iter().map(|contestant| &contestant.recipe);
    let are_runners = recipes.any(|recipe| recipe.language.is_runner());
    assert!(are_runners || study.oracle.is_some());
    assert!(!(are_runners && study.scope == Scope::Code));
    let recipes = study.contestants.iter().map(|contestant| &contestant.recipe);
    for recipe in recipes.chain(&study.oracle) {
        assert!(!recipe.sources.is_empty() && !recipe.version.is_empty());
        for source in &recipe.sources {
            let is_package = recipe.language.is_package();
            let is_there = |path: &Path| {
                if is_package { path.join("Cargo.lock").is_file() } else { path.is_file() }
            };
            assert!(is_there(&folder.join(source)) && !source.contains(".."), "{source}");
        }
    }
    let is_process = |recipe: &Recipe| recipe.language.is_runner() || recipe.is_process;
    assert!(study.contestants.iter().all(|c| is_process(&c.recipe) == are_runners));
    assert!(study.workloads.iter().all(|workload| workload.size > 0));
    for table in &study.published {
        for figure in &table.figures {
            assert!(names.contains(&figure.contestant.as_str()) && figure.value > 0.0);
            assert!(workloads.contains(&figure.workload.as_str()));
        }
    }
    for said in &study.claims {
        let claim = parse(&said.text, &names).expect("the claims of a study are claims");
        assert_eq!(claim.text, said.text);
        assert!(claim.right.is_some() && said.line as usize <= text.lines().count());
        assert!(claim.workload.is_none_or(|workload| workloads.contains(&workload.as_str())));
    }
}

/// Returns the text with a character in place of some: those from the place that is chosen by their
/// number on.
pub fn with_slip(text: &str, place: impl Fn(usize) -> usize, c: char, length: usize) -> String {
    let mut chars: Vec<char> = text.chars().collect();
    let at = place(chars.len());
    let end = (at + length).min(chars.len());
    chars.splice(at..end, [c]);
    chars.into_iter().collect()
}
