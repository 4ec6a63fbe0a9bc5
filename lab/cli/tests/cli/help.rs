//! Every command's help holds a real example, and every example runs.

use crate::common::{HttpServer, Place};

/// The examples in a help text: lines that begin with two spaces and the program's name.
fn examples(help: &str) -> Vec<String> {
    let lines = help.lines().filter_map(|line| line.strip_prefix("  tiebreak "));
    lines.map(|line| format!("tiebreak {line}")).collect()
}

#[test]
fn every_command_has_an_example_and_every_example_runs() {
    let place = Place::new();
    make_repository(&place);
    make_numbers(&place);
    let server = HttpServer::start();
    let command = tiebreak_cli::command();
    let visible = command.get_subcommands().filter(|command| !command.is_hide_set());
    let names: Vec<String> = visible.map(|command| command.get_name().to_owned()).collect();
    assert!(names.len() >= 8, "{names:?}");
    let order = ["", "compare", "aa", "replay", "resume", "history", "show", "export"];
    let rest = names.iter().map(String::as_str).filter(|name| !order.contains(name));
    let nested = [
        "study new",
        "study list",
        "study show",
        "study run",
        "study verify",
        "study compare",
        "machine show",
        "machine compare",
        "machine tune",
        "load http",
    ];
    for name in order.into_iter().chain(rest).chain(nested) {
        if name == "resume" {
            // Something to go on with: a run whose budget ended it.
            let words = ["compare", "sleep 0.001", "sleep 0.01", "--runs", "3", "--quiet"];
            assert_eq!(place.run(&words).code, 2);
        }
        let help = match name {
            "" => place.run(&["--help"]),
            name => place.run(&name.split(' ').chain(["--help"]).collect::<Vec<_>>()),
        };
        assert_eq!(help.code, 0);
        let examples = examples(&help.out);
        assert!(!examples.is_empty(), "'tiebreak {name} --help' has no example");
        for example in examples {
            // The port of a server is not known before it is started.
            let example = example.replace("localhost:8080", &server.address());
            let shell = format!("PATH={}:$PATH; {example}", folder_of_the_program());
            let mut command = std::process::Command::new("sh");
            command.args(["-c", &shell]).current_dir(place.folder());
            command.env("TIEBREAK_STORE", place.path("j.db"));
            command.env("TIEBREAK_CACHE", place.path("cache"));
            let said = crate::common::Ran::of(command.output().unwrap());
            assert!([0, 1, 2].contains(&said.code), "{example}: {said:?}");
            assert!(!said.out.is_empty() || !said.err.is_empty(), "{example} prints nothing");
        }
    }
}

/// Makes the place a repository with a program, one commit ahead of its origin.
fn make_repository(place: &Place) {
    place.git(&["init", "--quiet", "--initial-branch", "main"]);
    for status in [0, 1] {
        let program = format!("int main(void) {{ return {status} - {status}; }}\n");
        std::fs::write(place.path("app.c"), program).unwrap();
        place.git(&["add", "app.c"]);
        place.git(&["commit", "--quiet", "--message", "The program"]);
    }
    place.git(&["update-ref", "refs/remotes/origin/main", "HEAD~1"]);
}

/// Two files of numbers.
fn make_numbers(place: &Place) {
    for (name, first) in [("x.txt", 1), ("y.txt", 21)] {
        let numbers: String = (first..first + 40).map(|number| format!("{number}\n")).collect();
        std::fs::write(place.path(name), numbers).unwrap();
    }
}

fn folder_of_the_program() -> String {
    let program = std::path::Path::new(env!("CARGO_BIN_EXE_tiebreak"));
    program.parent().unwrap().display().to_string()
}

#[test]
fn completions_name_the_commands_in_every_shell() {
    let place = Place::new();
    for shell in ["bash", "zsh", "fish", "elvish", "powershell"] {
        let said = place.main(&["completions", shell]);
        assert!(said.out.contains("compare") && said.out.contains("resolution"), "{shell}");
    }
    assert_eq!(place.main(&["completions", "csh"]).code, 64);
}

#[test]
fn help_and_version_are_answers() {
    let place = Place::new();
    let version = place.run(&["--version"]);
    assert_eq!((version.code, version.out.starts_with("tiebreak ")), (0, true));
    assert_eq!(place.run(&[]).code, 64);
    assert_eq!(place.run(&["compete"]).code, 64);
    assert!(!place.run(&["--help"]).out.contains("__work"));
}
