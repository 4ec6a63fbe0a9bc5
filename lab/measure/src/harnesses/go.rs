//! `go test -bench`.

use super::{
    Failure, Harness, Place, Program, SliceRequest, Timed, escaped, files_below, text, threads,
};
use std::path::{Path, PathBuf};
use std::process::Command;

pub(super) struct Go;

impl Harness for Go {
    fn name(&self) -> &'static str {
        "go"
    }

    fn trace(&self, project: &Path) -> Option<PathBuf> {
        test_files(project).into_iter().next()
    }

    fn build(&self, at: &Place<'_>) -> Result<Vec<Program>, Failure> {
        let files = test_files(at.project);
        let has_benchmarks = |folder: &Path| files.iter().any(|file| file.parent() == Some(folder));
        // Packages of this module, as Go sees them: no other modules in it, and no test data.
        let folders = at.tool(&["go", "list", "-f", "{{.Dir}}", "./..."])?;
        let mut programs = Vec::new();
        for (number, folder) in folders.lines().map(PathBuf::from).enumerate() {
            let built = at.built.join(format!("{number}.test"));
            if !has_benchmarks(&folder) {
                continue;
            }
            let within = folder.strip_prefix(at.project).unwrap_or(&folder).to_owned();
            let package = format!("./{}", within.display());
            let output = text(&built);
            let mut words = vec!["go", "test", "-c", "-o", &output];
            words.extend(at.words.iter().map(String::as_str));
            words.push(&package);
            at.tool(&words)?;
            // Where no file is for this system, none comes out.
            if built.is_file() {
                programs.push(Program { name: text(&within), words: vec![output], folder });
            }
        }
        Ok(programs)
    }

    fn command(&self, program: &Program, asked: &SliceRequest<'_>) -> Command {
        let benchmarks = match asked.names {
            None => ".".to_owned(),
            // Each level of a name is a pattern of its own; alternatives are whole names.
            Some(names) => {
                let levels = |name: &str| {
                    let levels = name.split('/').map(|level| format!("^{}$", escaped(level)));
                    levels.collect::<Vec<_>>().join("/")
                };
                names.iter().map(|name| levels(name)).collect::<Vec<_>>().join("|")
            }
        };
        let mut command = Command::new(&program.words[0]);
        command.args(["-test.run=^$", "-test.count=1", "-test.timeout=0"]);
        command.env("GOMAXPROCS", threads().to_string());
        command.arg(format!("-test.bench={benchmarks}"));
        command.arg(format!("-test.benchtime={}ns", asked.slice.as_nanos()));
        command
    }

    /// Reads lines such as `BenchmarkSum/small-4   1000   1234 ns/op   8 B/op`. Behind the name is
    /// the number of threads, if there is more than one.
    fn read(&self, output: &str, _: &Path) -> Result<Vec<Timed>, String> {
        let mut timed = Vec::new();
        let behind = (threads() > 1).then(|| format!("-{}", threads()));
        for line in output.lines().filter(|line| line.starts_with("Benchmark")) {
            let words: Vec<&str> = line.split_whitespace().collect();
            let Some(at) = words.iter().position(|word| *word == "ns/op") else { continue };
            let name = behind.as_ref().and_then(|behind| words[0].strip_suffix(behind));
            let name = name.unwrap_or(words[0]);
            let one = words.get(at.wrapping_sub(1)).and_then(|ns| Timed::read(name, ns));
            timed.push(one.ok_or_else(|| format!("no time before 'ns/op' in '{line}'"))?);
        }
        Ok(timed)
    }
}

/// Returns the test files that have benchmarks.
fn test_files(project: &Path) -> Vec<PathBuf> {
    let mut found = Vec::new();
    files_below(project, &mut found);
    found.retain(|path| {
        path.to_string_lossy().ends_with("_test.go")
            && std::fs::read_to_string(path).is_ok_and(|text| text.contains("\nfunc Benchmark"))
    });
    found
}
