//! The workflows of `docs/ci`: their steps run as shell in a made-up repository, as CI runs them.

use std::path::{Path, PathBuf};
use std::process::{Command, Output};

const GITHUB: &str = include_str!("../../../../docs/ci/github.yml");
const GITLAB: &str = include_str!("../../../../docs/ci/gitlab.yml");

/// The program of the repository: it stirs a number so many thousand times.
const APP: &str = r#"#include <stdint.h>
static volatile uint64_t sink;
int main(void) {
    uint64_t x = 1;
    for (long i = 0; i < THOUSANDS * 1000L; i++) {
        x ^= x >> 29;
        x = (x | 1) * 0xbf58476d1ce4e5b9u;
    }
    sink = x;
}
"#;

/// A bound so wide that a few seconds on any machine settle it.
const CLAIMS: &str = r#"[[contest]]
name = "app"
gate = true
claims = ["head is no more than 50% slower than base"]

[contest.revisions]
base = "origin/main"
build = "cc -O2 -o app app.c"
command = "./app"
"#;

/// A line of YAML: how far it is indented, and what it says.
fn indented(line: &str) -> (usize, &str) {
    let text = line.trim_start();
    (line.len() - text.len(), text)
}

/// The block scalar that follows a line ending with `|` at this indentation, and how many lines it
/// has.
fn block(lines: &[&str], indentation: usize) -> (String, usize) {
    let belongs = |line: &&&str| line.trim().is_empty() || indented(line).0 > indentation;
    let body: Vec<&str> = lines.iter().take_while(belongs).copied().collect();
    let count = body.len();
    (body.iter().map(|line| format!("{}\n", line.trim_start())).collect(), count)
}

/// The shell commands of a job: what follows `run:` in the steps of GitHub, or stands in the list
/// of `script:` of GitLab. Enough of YAML for the files at hand.
fn commands(workflow: &str, job: &str) -> Vec<String> {
    let lines: Vec<&str> = workflow.lines().filter(|line| !line.trim().starts_with('#')).collect();
    let start = lines.iter().position(|line| line.trim() == format!("{job}:")).unwrap();
    let outer = indented(lines[start]).0;
    let inside = |line: &&&str| line.trim().is_empty() || indented(line).0 > outer;
    let lines: Vec<&str> = lines[start + 1..].iter().take_while(inside).copied().collect();
    let mut commands = Vec::new();
    let mut is_script = false;
    let mut i = 0;
    while i < lines.len() {
        let (indentation, text) = indented(lines[i]);
        i += 1;
        let item = text.strip_prefix("- ");
        if item.is_none() {
            is_script = text == "script:";
        }
        let key = item.unwrap_or(text);
        let command = match key.strip_prefix("run: ") {
            Some(command) => command,
            None if is_script && item.is_some() => key,
            None => continue,
        };
        if command == "|" {
            let (text, count) = block(&lines[i..], indentation);
            commands.push(text);
            i += count;
        } else {
            commands.push(command.to_owned());
        }
    }
    commands
}

/// A repository with an origin, and a branch `pr` whose program needs `factor` times as much.
struct Checkout {
    place: tempfile::TempDir,
}

impl Checkout {
    fn new(factor: u32) -> Checkout {
        let checkout = Checkout { place: tempfile::tempdir().unwrap() };
        std::fs::create_dir(checkout.path("origin")).unwrap();
        std::fs::create_dir(checkout.path("temporary")).unwrap();
        checkout.sh("origin", "git init --quiet --initial-branch main");
        let commit = "git add --all && git commit --quiet --message change";
        checkout.write("origin/app.c", &APP.replace("THOUSANDS", "1000"));
        checkout.write("origin/claims.toml", CLAIMS);
        checkout.sh("origin", commit);
        checkout.sh("origin", "git switch --quiet --create pr");
        let thousands = (1000 * factor).to_string();
        checkout.write("origin/app.c", &APP.replace("THOUSANDS", &thousands));
        checkout.sh("origin", &format!("{commit} --allow-empty && git switch --quiet main"));
        checkout.sh(".", "git clone --quiet origin clone");
        checkout.sh("clone", "git switch --quiet pr && git branch --quiet --delete --force main");
        checkout
    }

    fn path(&self, name: &str) -> PathBuf {
        self.place.path().join(name)
    }

    fn write(&self, name: &str, text: &str) {
        std::fs::write(self.path(name), text).unwrap();
    }

    /// The shell as CI starts it, with nothing on its path but the system and tiebreak.
    fn shell(&self, folder: &str, script: &str) -> Command {
        let mut shell = Command::new("sh");
        let program = Path::new(env!("CARGO_BIN_EXE_tiebreak"));
        let programs = program.parent().unwrap().display();
        shell.args(["-e", "-c", script]).current_dir(self.path(folder));
        shell.env("PATH", format!("{programs}:/usr/local/bin:/usr/bin:/bin"));
        shell.env("HOME", self.place.path()).env("TMPDIR", self.path("temporary"));
        shell.env("GIT_CONFIG_GLOBAL", "/dev/null").env_remove("GIT_DIR");
        for who in ["AUTHOR", "COMMITTER"] {
            shell.env(format!("GIT_{who}_NAME"), "T").env(format!("GIT_{who}_EMAIL"), "t@t");
        }
        shell.env("TIEBREAK_STORE", self.path("store.db"));
        shell
    }

    fn sh(&self, folder: &str, script: &str) -> String {
        let output = self.shell(folder, script).output().unwrap();
        assert!(output.status.success(), "{script}: {output:?}");
        String::from_utf8(output.stdout).unwrap().trim().to_owned()
    }

    /// Runs the commands of a job, each only if those before it succeeded; the last output.
    fn run(&self, commands: &[String], variables: &[(&str, &str)]) -> Output {
        assert!(commands.len() >= 2, "{commands:?}");
        let mut last = None;
        for command in commands {
            let mut shell = self.shell("clone", command);
            shell.env("BUILD", "cc -O2 -o app app.c").env("RACED", "./app").env("BUDGET", "10s");
            let output = shell.envs(variables.iter().copied()).output().unwrap();
            let is_over = !output.status.success();
            last = Some(output);
            if is_over {
                break;
            }
        }
        assert_eq!(self.sh("clone", "git worktree list").lines().count(), 1);
        let left: Vec<_> = std::fs::read_dir(self.path("temporary")).unwrap().collect();
        assert!(left.is_empty(), "{left:?}");
        last.unwrap()
    }
}

#[track_caller]
fn check(output: &Output, code: i32, says: &str) {
    let out = String::from_utf8_lossy(&output.stdout).to_lowercase();
    assert_eq!(output.status.code(), Some(code), "{output:?}");
    assert!(out.contains(says), "should say '{says}': {output:?}");
}

#[test]
fn a_pull_request_is_gated_on_github() {
    let commands = commands(GITHUB, "gate");
    assert!(commands[0].starts_with("command -v tiebreak ||"), "{commands:?}");
    let variables = [("GITHUB_BASE_REF", "main")];
    let slow = Checkout::new(4);
    check(&slow.run(&commands, &variables), 1, "refuted");
    let same = Checkout::new(1);
    check(&same.run(&commands, &variables), 0, "head is no more than 2% slower than base");
}

#[test]
fn a_merge_request_is_gated_on_gitlab() {
    let commands = commands(GITLAB, "gate");
    let slow = Checkout::new(4);
    let base = slow.sh("clone", "git merge-base origin/main HEAD");
    let variables = [("CI_MERGE_REQUEST_DIFF_BASE_SHA", base.as_str())];
    check(&slow.run(&commands, &variables), 1, "refuted");
}

#[test]
fn claims_are_settled_with_reports() {
    let slow = Checkout::new(4);
    let (summary, same) = (slow.path("summary.md"), Checkout::new(1));
    let summary = summary.display().to_string();
    let variables = [("GITHUB_STEP_SUMMARY", summary.as_str()), ("GITHUB_ACTIONS", "true")];
    check(&slow.run(&commands(GITHUB, "claims"), &variables), 1, "refuted");
    let claim = "head is no more than 50% slower than base";
    for file in ["clone/claims.xml", "summary.md"] {
        let text = std::fs::read_to_string(slow.path(file)).unwrap();
        assert!(text.contains(claim), "{file}: {text}");
    }
    check(&same.run(&commands(GITLAB, "claims"), &[]), 0, "claims.toml");
    let report = std::fs::read_to_string(same.path("clone/claims.xml")).unwrap();
    assert!(report.contains(claim) && !report.contains("<failure"), "{report}");
}

const TWO_JOBS: &str = "\
jobs:
  a:
    steps:
      - uses: x
      - name: y
        run: |
          one \\
            two

          three
      - run: four
  b:
    steps:
      - run: five
";

const A_SCRIPT: &str = "\
a:
  rules:
    - if: x
  script:
    - one
    - |
      two
      three
  artifacts:
    - four
";

#[test]
fn the_steps_are_found() {
    assert_eq!(commands(TWO_JOBS, "a"), ["one \\\ntwo\n\nthree\n", "four"]);
    assert_eq!(commands(TWO_JOBS, "b"), ["five"]);
    assert_eq!(commands(A_SCRIPT, "a"), ["one", "two\nthree\n"]);
}
