//! The clients of the runner protocol: all hold the same conversation.

use super::bench::{Bench, entrant};
use std::io::{BufRead, BufReader, Write};
use std::path::{Path, PathBuf};
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

/// What each is called, the conversation with it, and the answer that it leaves.
const CONTESTANTS: [(&str, &str, &str); 2] =
    [("count", COUNT, "be 2\nnot 1\nor 1\nto 2\n"), ("parts", PARTS, "18446744073709551615")];

/// The contestants stand in a folder for each language: `count`, and `parts`.
#[test]
fn all_languages_hold_the_same_conversation() {
    let all = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/build/clients");
    for language in Language::all().filter(|language| language.is_runner()) {
        let folder = std::fs::read_dir(all.join(language.name())).unwrap();
        let sources: Vec<PathBuf> = folder.map(|entry| entry.unwrap().path()).collect();
        let stem = |source: &Path| source.file_stem().unwrap().to_string_lossy().to_lowercase();
        for (name, conversation, expected) in CONTESTANTS {
            let source = sources.iter().find(|source| stem(source) == name).unwrap();
            if !check(language, source, conversation, expected) {
                break;
            }
        }
    }
}

/// Builds a contestant and holds a conversation with it, of which the answer is left in a file;
/// `false` if its compiler is not there.
fn check(language: Language, source: &Path, conversation: &str, expected: &str) -> bool {
    let mut bench = Bench::new();
    // The folder may have a space in its name.
    bench.study.folder = bench.path("a folder").to_string_lossy().into_owned();
    let file = source.file_name().unwrap().to_string_lossy();
    bench.write(&file, &std::fs::read_to_string(source).unwrap());
    bench.write("the words.txt", "to be or not to be");
    let contestant = entrant(language, &language.entry().program, &file);
    let built = match bench.build(&contestant) {
        Err(error @ BuildError::Missing { .. }) => {
            eprintln!("not tested: {error}");
            return false;
        }
        built => built.unwrap(),
    };
    converse(&built.form, &bench.cache(), conversation);
    let answer = std::fs::read_to_string(bench.path("the answer.txt")).unwrap();
    assert_eq!(answer, expected, "{file}");
    assert_eq!(bench.build(&contestant).unwrap(), built, "{file} is built once");
    true
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
