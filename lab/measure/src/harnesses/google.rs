//! google-benchmark.

use super::{Asked, Failure, Harness, Place, Program, Timed, any_of, contains, files_below, text};
use serde_json::Value;
use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::Command;

pub(super) struct Google;

/// What programs have that are linked with it: the name of an option, or the function of a shared
/// library that reads it.
const SIGNS: [&[u8]; 2] = [b"benchmark_list_tests", b"_ZN9benchmark10Initialize"];

impl Harness for Google {
    fn name(&self) -> &'static str {
        "google-benchmark"
    }

    fn trace(&self, project: &Path) -> Option<PathBuf> {
        let lists = project.join("CMakeLists.txt");
        let text = fs::read_to_string(&lists).ok()?;
        text.contains("benchmark::benchmark").then_some(lists)
    }

    /// Configures and builds by CMake where there are lists for it, and takes the programs that have
    /// its options; else those that the user's build has left in the project.
    fn build(&self, at: &Place<'_>) -> Result<Vec<Program>, Failure> {
        let (source, built) = (text(at.project), text(at.built));
        let has_lists = at.project.join("CMakeLists.txt").is_file();
        if has_lists {
            let configure = ["cmake", "-S", &source, "-B", &built, "-DCMAKE_BUILD_TYPE=Release"];
            let more = at.words.iter().map(String::as_str);
            at.tool(&configure.into_iter().chain(more).collect::<Vec<_>>())?;
            at.tool(&["cmake", "--build", &built, "--parallel", "2"])?;
        }
        let from = if has_lists { at.built } else { at.project };
        let mut found = Vec::new();
        files_below(from, &mut found);
        let is_program = |path: &PathBuf| {
            let mode = fs::metadata(path).map_or(0, |metadata| metadata.permissions().mode());
            let is_library = path.to_string_lossy().contains(".so");
            mode & 0o111 != 0 && !is_library && is_elf(path) && contains(path, &SIGNS)
        };
        let programs = found.into_iter().filter(is_program).map(|path| Program {
            name: text(path.strip_prefix(from).unwrap_or(&path)),
            words: vec![text(&path)],
            folder: at.project.to_owned(),
        });
        Ok(programs.collect())
    }

    fn command(&self, program: &Program, asked: &Asked<'_>) -> Command {
        let mut command = Command::new(&program.words[0]);
        command.arg("--benchmark_format=json");
        command.arg(format!("--benchmark_min_time={}", asked.slice.as_secs_f64()));
        command.args(asked.names.map(|names| format!("--benchmark_filter={}", any_of(names))));
        command
    }

    /// Reads the JSON of its standard output; aggregates are left out.
    fn read(&self, output: &str, _: &Path) -> Result<Vec<Timed>, String> {
        let all: Value = serde_json::from_str(output).map_err(|error| error.to_string())?;
        let all = all["benchmarks"].as_array().ok_or("there is no list 'benchmarks'")?.clone();
        let single = all.iter().filter(|one| one["run_type"] != "aggregate");
        single
            .map(|one| {
                let name = one["name"].as_str().ok_or("a benchmark has no name")?.to_owned();
                if let Some(error) = one["error_message"].as_str() {
                    return Err(format!("{name}: {error}"));
                }
                let unit = match one["time_unit"].as_str() {
                    Some("ns") => 1.0,
                    Some("us") => 1e3,
                    Some("ms") => 1e6,
                    Some("s") => 1e9,
                    _ => return Err(format!("{name} has no time_unit of ns, us, ms or s")),
                };
                let time = one["real_time"].as_f64().ok_or(format!("{name} has no real_time"))?;
                Ok(Timed { name, ns: unit * time })
            })
            .collect()
    }
}

fn is_elf(path: &Path) -> bool {
    use std::io::Read;
    let mut magic = [0; 4];
    fs::File::open(path).and_then(|mut file| file.read_exact(&mut magic)).is_ok()
        && magic == *b"\x7fELF"
}
