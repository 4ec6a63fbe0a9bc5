//! The Rust crate criterion.

use super::{
    Failure, Harness, Place, Program, SliceRequest, Timed, any_of, contains, files_below, json,
    text,
};
use serde_json::Value;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

pub(super) struct Criterion;

/// The least that it accepts.
const SAMPLES: &str = "10";

impl Harness for Criterion {
    fn name(&self) -> &'static str {
        "criterion"
    }

    fn trace(&self, project: &Path) -> Option<PathBuf> {
        let manifest = project.join("Cargo.toml");
        let text = fs::read_to_string(&manifest).ok()?;
        let members = || {
            let mut found = Vec::new();
            files_below(project, &mut found);
            found.into_iter().find(|path| {
                path.ends_with("Cargo.toml")
                    && fs::read_to_string(path).is_ok_and(|text| names_it(&text))
            })
        };
        if names_it(&text) { Some(manifest) } else { members() }
    }

    fn build(&self, at: &Place<'_>) -> Result<Vec<Program>, Failure> {
        let target = text(&at.built.join("target"));
        let mut words =
            vec!["cargo", "bench", "--no-run", "--message-format=json-render-diagnostics"];
        words.extend(["--quiet", "--target-dir", &target]);
        words.extend(at.words.iter().map(String::as_str));
        let messages = at.tool(&words)?;
        let messages = messages.lines().filter_map(|line| serde_json::from_str(line).ok());
        let mut programs = Vec::new();
        for message in messages {
            let message: Value = message;
            let Some(executable) = message["executable"].as_str() else { continue };
            let is_bench = message["target"]["kind"][0] == "bench";
            if is_bench && contains(Path::new(executable), &[b"CRITERION_HOME"]) {
                let manifest = Path::new(message["manifest_path"].as_str().unwrap_or_default());
                let package = manifest.parent().unwrap_or(at.project);
                // Two packages of a workspace may have programs of the same name.
                let within = text(package.strip_prefix(at.project).unwrap_or(package));
                let target = message["target"]["name"].as_str().unwrap_or_default();
                let name = format!("{within} {target}").trim_start().to_owned();
                let words = vec![executable.to_owned(), "--bench".to_owned()];
                programs.push(Program { name, words, folder: package.to_owned() });
            }
        }
        Ok(programs)
    }

    fn command(&self, program: &Program, asked: &SliceRequest<'_>) -> Command {
        let mut command = Command::new(&program.words[0]);
        command.args(&program.words[1..]).env("CRITERION_HOME", asked.results);
        command.env("CARGO_MANIFEST_DIR", &program.folder);
        let seconds = asked.slice.as_secs_f64().to_string();
        // A tenth of a slice finds how many iterations fit into one.
        let warm_up = (asked.slice.as_secs_f64() / 10.0).to_string();
        command.args(["--noplot", "--sample-size", SAMPLES, "--measurement-time", &seconds]);
        command.args(["--warm-up-time", &warm_up, "--nresamples", "1001"]);
        command.args(asked.names.map(any_of));
        command
    }

    /// Reads the samples that it writes: iterations and nanoseconds of each.
    fn read(&self, _: &str, results: &Path) -> Result<Vec<Timed>, String> {
        let mut found = Vec::new();
        files_below(results, &mut found);
        let new = found.iter().filter(|path| path.ends_with("new/benchmark.json"));
        new.map(|path| {
            let name = json(path)?["full_id"].as_str().map(str::to_owned);
            let name = name.ok_or_else(|| format!("{} has no full_id", path.display()))?;
            let path = path.with_file_name("sample.json");
            let samples = json(&path)?;
            let sum = |key: &str| {
                let values = samples[key].as_array().map(Vec::as_slice).unwrap_or_default();
                values.iter().filter_map(Value::as_f64).sum::<f64>()
            };
            let ns = sum("times") / sum("iters");
            let ns = Some(ns).filter(|ns| ns.is_finite());
            let ns = ns.ok_or_else(|| format!("{} has no samples", path.display()))?;
            Ok(Timed::exact(&name, ns))
        })
        .collect()
    }
}

/// Whether a manifest asks for criterion.
fn names_it(manifest: &str) -> bool {
    manifest.lines().any(|line| {
        let line = line.trim_start();
        line.starts_with("criterion") || line.starts_with("[dev-dependencies.criterion")
    })
}
