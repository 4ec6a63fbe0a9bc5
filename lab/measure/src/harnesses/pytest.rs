//! pytest-benchmark.

use super::{Failure, Harness, Place, Program, RESULTS, SliceRequest, Timed, json, text};
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

pub(super) struct Pytest;

impl Harness for Pytest {
    fn name(&self) -> &'static str {
        "pytest-benchmark"
    }

    fn trace(&self, project: &Path) -> Option<PathBuf> {
        let files = ["pyproject.toml", "setup.cfg", "setup.py", "tox.ini", "requirements.txt"];
        let files = files.iter().map(|name| project.join(name));
        files.into_iter().find(|path| {
            fs::read_to_string(path).is_ok_and(|text| text.contains("pytest-benchmark"))
        })
    }

    /// There is nothing to build: the user's own build, if there is one, was run before.
    fn build(&self, at: &Place<'_>) -> Result<Vec<Program>, Failure> {
        let mut words = vec!["python3".to_owned(), "-m".to_owned(), "pytest".to_owned()];
        words.extend(at.words.iter().cloned());
        at.tool(&["python3", "-c", "import pytest_benchmark"])?;
        Ok(vec![Program { name: String::new(), words, folder: at.project.to_owned() }])
    }

    fn command(&self, program: &Program, asked: &SliceRequest<'_>) -> Command {
        let mut command = Command::new(&program.words[0]);
        command.args(&program.words[1..]).env("PYTHONDONTWRITEBYTECODE", "1");
        command.arg(format!("--rootdir={}", text(&program.folder)));
        // What is imported is this revision's, also where another is installed.
        let own = [program.folder.join("src"), program.folder.clone()];
        let others = std::env::var_os("PYTHONPATH").unwrap_or_default();
        let paths = own.into_iter().chain(std::env::split_paths(&others));
        command.env("PYTHONPATH", std::env::join_paths(paths).unwrap_or_default());
        command.args(["-q", "-p", "no:cacheprovider", "--benchmark-only"]);
        command.args(["--benchmark-min-rounds=1", "--benchmark-warmup=off"]);
        command.arg(format!("--benchmark-max-time={}", asked.slice.as_secs_f64()));
        command.arg(format!("--benchmark-json={}", text(&asked.results.join(RESULTS))));
        command.args(asked.names.unwrap_or_default());
        command
    }

    /// Reads the file of results: the mean of each benchmark, by its name with its file.
    fn read(&self, _: &str, results: &Path) -> Result<Vec<Timed>, String> {
        // It writes none where there is no benchmark.
        let path = results.join(RESULTS);
        if !path.exists() {
            return Ok(Vec::new());
        }
        let all = json(&path)?;
        let all = all["benchmarks"].as_array().ok_or("there is no list 'benchmarks'")?;
        all.iter()
            .map(|one| {
                let name = one["fullname"].as_str().ok_or("a benchmark has no fullname")?;
                let mean = one["stats"]["mean"].as_f64();
                let mean = mean.ok_or_else(|| format!("{name} has no mean"))?;
                Ok(Timed::exact(name, 1e9 * mean))
            })
            .collect()
    }
}
