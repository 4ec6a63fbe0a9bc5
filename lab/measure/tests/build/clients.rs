//! The clients of the runner protocol: all hold the same conversation.

use super::bench::{Bench, entrant};
use std::io::{BufRead, BufReader, Write};
use std::path::Path;
use std::process::{Command, Stdio};
use tiebreak_core::language::Language;
use tiebreak_core::study::BuiltForm;
use tiebreak_measure::build::BuildError;

/// What is asked, and the answer with `N` for a time and `V` for a version. An error's text is the
/// language's own.
const COUNT: &str = "
> hello 1
< hello 1 V
> run 1
< error nothing is loaded
> sing
< error unknown request 'sing'
> load workload=words distribution=d size=6 seed=18446744073709551615 items=6 path=the words.txt
< loaded reset=yes
> run 1
< ran elapsed_ns=N checksum=4
> run 0
< ran elapsed_ns=0 checksum=0
> run 100
< ran elapsed_ns=N checksum=4
> dump path=the answer.txt
< dumped bytes=21
> reset
< reset
> dump path=empty.txt
< dumped bytes=0
> dump path=no folder/answer.txt
< error
> run x
< error
> load again=no workload=drift path=the words.txt
< loaded reset=yes
> run 1
< ran elapsed_ns=N checksum=1
> run 2
< error
> load workload=words path=missing.txt
< error
> run 1
< error nothing is loaded
> load workload=words
< loaded reset=yes
> bye
";

const PARTS: &str = "
> load workload=parts distribution=d size=3 seed=18446744073709551615 items=5
< loaded reset=no
> run 2
< ran elapsed_ns=N checksum=98 parts_ns=N,N
> run 0
< ran elapsed_ns=0 checksum=0 parts_ns=0,0
> reset
< reset
> dump path=the answer.txt
< dumped bytes=20
> bye
";

const CONTESTANTS: [(&str, &str, &str); 10] = [
    ("python", "count.py", include_str!("clients/count.py")),
    ("python", "parts.py", include_str!("clients/parts.py")),
    ("javascript", "count.mjs", include_str!("clients/count.mjs")),
    ("javascript", "parts.mjs", include_str!("clients/parts.mjs")),
    ("go", "count.go", include_str!("clients/count.go")),
    ("go", "parts.go", include_str!("clients/parts.go")),
    ("java", "Count.java", include_str!("clients/Count.java")),
    ("java", "Parts.java", include_str!("clients/Parts.java")),
    ("zig", "count.zig", include_str!("clients/count.zig")),
    ("zig", "parts.zig", include_str!("clients/parts.zig")),
];

#[test]
fn all_languages_hold_the_same_conversation() {
    let has_contestant =
        |language: &Language| CONTESTANTS.iter().any(|(name, ..)| *name == language.name());
    assert!(Language::all().filter(|language| language.is_runner()).all(|it| has_contestant(&it)));
    for (language, file, source) in CONTESTANTS {
        let mut bench = Bench::new();
        // The folder may have a space in its name.
        bench.study.folder = bench.path("a folder").to_string_lossy().into_owned();
        bench.write(file, source);
        bench.write("the words.txt", "to be or not to be");
        let language = Language::named(language).unwrap();
        let contestant = entrant(language, &language.entry().program, file);
        let built = match bench.build(&contestant) {
            Err(error @ BuildError::Missing { .. }) => {
                eprintln!("not tested: {error}");
                continue;
            }
            built => built.unwrap(),
        };
        let folder = Path::new(&bench.study.folder);
        let is_count = file.to_lowercase().starts_with("count");
        converse(&built.form, &bench.cache(), if is_count { COUNT } else { PARTS });
        let answer = std::fs::read_to_string(folder.join("the answer.txt")).unwrap();
        let expected = if is_count { "be 2\nnot 1\nor 1\nto 2\n" } else { "18446744073709551615" };
        assert_eq!(answer, expected, "{file}");
        assert_eq!(bench.build(&contestant).unwrap(), built, "{file} is built once");
    }
}

/// Starts a contestant and holds a conversation with it.
fn converse(form: &BuiltForm, cache: &Path, conversation: &str) {
    let BuiltForm::Runner { command, environment, directory, files } = form else { panic!() };
    assert!(!files.is_empty() && files.iter().all(|file| Path::new(file).is_file()), "{files:?}");
    let clients = std::fs::read_dir(cache.join("clients")).unwrap().next().unwrap().unwrap().path();
    let mut runner = Command::new(&command[0])
        .args(&command[1..])
        .envs(environment.iter().map(|(name, value)| (name, value)))
        .env("TIEBREAK_SDK", &clients)
        .env("PYTHONPATH", &clients)
        .current_dir(directory)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .spawn()
        .unwrap();
    let mut requests = runner.stdin.take().unwrap();
    let mut answers = BufReader::new(runner.stdout.take().unwrap()).lines();
    for line in conversation.lines().filter(|line| !line.is_empty()) {
        match line.split_at(2) {
            ("> ", request) => writeln!(requests, "{request}").unwrap(),
            (_, "error") => {
                let answer = answers.next().unwrap().unwrap();
                assert!(answer.starts_with("error ") && answer.len() > 8, "{command:?}: {answer}");
            }
            (_, expected) => {
                let answer = answers.next().unwrap().unwrap();
                assert_eq!(masked(&answer), expected, "{command:?}");
            }
        }
    }
    assert!(answers.next().is_none(), "nothing comes after bye");
    assert!(runner.wait().unwrap().success(), "{command:?}");
}

/// Times above 0 become `N`, and what follows the version of the protocol becomes `V`.
fn masked(line: &str) -> String {
    if line.starts_with("hello 1 ") && line.split(' ').count() == 4 {
        return "hello 1 V".to_owned();
    }
    let time = |text: &str| if text == "0" { "0" } else { "N" }.to_owned();
    let word = |word: &str| match word.split_once('=') {
        Some((name, times)) if name.ends_with("_ns") => {
            format!("{name}={}", times.split(',').map(time).collect::<Vec<_>>().join(","))
        }
        _ => word.to_owned(),
    };
    line.split(' ').map(word).collect::<Vec<_>>().join(" ")
}
