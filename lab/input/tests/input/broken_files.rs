//! Files that are wrong, each with all that is said of it: `tests/broken_files/NN-name.toml` and
//! `NN-name.expected`. With `TIEBREAK_BLESS=1` in the environment the test writes what is said, for
//! a person to read.

use std::path::Path;
use tiebreak_input::parse_file;

#[test]
fn broken_files_have_their_messages() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/broken_files");
    let paths = std::fs::read_dir(&folder).unwrap().map(|entry| entry.unwrap().path());
    let mut files: Vec<_> = paths.filter(|path| path.extension().unwrap() == "toml").collect();
    files.sort();
    assert!(files.len() >= 60, "{} files", files.len());
    for path in files {
        check(&path);
    }
}

/// Checks what is said of a file, and that it is sorted, within the file and short.
fn check(path: &Path) {
    let text = std::fs::read_to_string(path).unwrap();
    let name = path.file_name().unwrap().to_str().unwrap();
    let errors = parse_file("claims.toml", &text).expect_err(name);
    let lines: Vec<usize> = errors.iter().map(|error| error.span.start).collect();
    assert!(!lines.is_empty() && lines.is_sorted(), "{name}");
    for error in errors.iter() {
        assert!(text.get(error.span.clone()).is_some(), "{name}: {error}");
        let before = &text[..error.span.start];
        assert_eq!(error.line, 1 + before.matches('\n').count(), "{name}: {error}");
        let column = before.rsplit('\n').next().unwrap().chars().count() + 1;
        assert_eq!(error.column, column, "{name}: {error}");
        assert!(!error.to_string().contains(char::is_control), "{name}: {error}");
    }
    let rendered = errors.render(false) + "\n";
    assert!(errors.render(true).contains("\u{1b}["), "{name}");
    let expected = path.with_extension("expected");
    if std::env::var_os("TIEBREAK_BLESS").is_some() {
        std::fs::write(&expected, &rendered).unwrap();
    }
    let known = std::fs::read_to_string(&expected).unwrap_or_default();
    assert_eq!(rendered, known, "{name}");
}
