//! Studies that are wrong, each with all that is said of it: `tests/broken_studies/NN-name.toml`
//! and `NN-name.expected`; what they name lies in `tests/study`. With `TIEBREAK_BLESS=1` in the
//! environment the test writes what is said, for a person to read.

use std::path::{Path, PathBuf};
use tiebreak_input::study_folder::{StudyErrors, parse};

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests")
}

#[test]
fn broken_studies_have_their_messages() {
    let paths = std::fs::read_dir(root().join("broken_studies")).unwrap();
    let paths = paths.map(|entry| entry.unwrap().path());
    let mut files: Vec<_> = paths.filter(|path| path.extension().unwrap() == "toml").collect();
    files.sort();
    assert!(files.len() >= 100, "{} files", files.len());
    files.iter().for_each(|path| check(path));
}

/// Checks what is said of a study, and that it is sorted, within the file and short.
fn check(path: &Path) {
    let text = std::fs::read_to_string(path).unwrap();
    let name = path.file_name().unwrap().to_str().unwrap();
    let found = parse(&root().join("study"), &text).expect_err(name);
    let shown = found.to_string();
    let StudyErrors::File(errors) = found else { panic!("{name}: {found:?}") };
    let starts: Vec<usize> = errors.iter().map(|error| error.span.start).collect();
    assert!(!starts.is_empty() && starts.is_sorted(), "{name}");
    for error in errors.iter() {
        assert!(text.get(error.span.clone()).is_some(), "{name}: {error}");
        let before = &text[..error.span.start];
        assert_eq!(error.line, 1 + before.matches('\n').count(), "{name}: {error}");
        assert!(!error.to_string().contains(char::is_control), "{name}: {error}");
    }
    assert_eq!(shown, errors.render(false), "{name}");
    assert!(errors.render(true).contains("\u{1b}["), "{name}");
    let folder = format!("{}/", root().join("study").display());
    let rendered = shown.replace(&folder, "") + "\n";
    let expected = path.with_extension("expected");
    if std::env::var_os("TIEBREAK_BLESS").is_some() {
        std::fs::write(&expected, &rendered).unwrap();
    }
    let known = std::fs::read_to_string(&expected).unwrap_or_default();
    assert_eq!(rendered, known, "{name}");
}
