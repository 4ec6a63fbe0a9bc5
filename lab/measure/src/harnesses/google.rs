//! google-benchmark.

use super::{
    Failure, Harness, Place, Program, RESULTS, SliceRequest, Timed, any_of, contains, files_below,
    json, text, threads,
};
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

    /// Configures and builds by CMake where there are lists for it, and takes the programs that
    /// have its options; else those that the user's build has left in the project.
    fn build(&self, at: &Place<'_>) -> Result<Vec<Program>, Failure> {
        let (source, built) = (text(at.project), text(at.built));
        let has_lists = at.project.join("CMakeLists.txt").is_file();
        if has_lists {
            let configure = ["cmake", "-S", &source, "-B", &built, "-DCMAKE_BUILD_TYPE=Release"];
            let more = at.words.iter().map(String::as_str);
            at.tool(&configure.into_iter().chain(more).collect::<Vec<_>>())?;
            at.tool(&["cmake", "--build", &built, "--parallel", &threads().to_string()])?;
        }
        let from = if has_lists { at.built } else { at.project };
        let mut found = Vec::new();
        files_below(from, &mut found);
        let is_program = |path: &PathBuf| {
            let mode = fs::metadata(path).map_or(0, |metadata| metadata.permissions().mode());
            let name = path.file_name().unwrap_or_default().to_string_lossy();
            mode & 0o111 != 0 && !name.contains(".so") && is_elf(path) && contains(path, &SIGNS)
        };
        let programs = found.into_iter().filter(is_program).map(|path| Program {
            name: text(path.strip_prefix(from).unwrap_or(&path)),
            words: vec![text(&path)],
            folder: at.project.to_owned(),
        });
        Ok(programs.collect())
    }

    fn command(&self, program: &Program, asked: &SliceRequest<'_>) -> Command {
        let mut command = Command::new(&program.words[0]);
        command.arg("--benchmark_out_format=json");
        command.arg(format!("--benchmark_out={}", text(&asked.results.join(RESULTS))));
        command.arg(format!("--benchmark_min_time={}", asked.slice.as_secs_f64()));
        command.args(asked.names.map(|names| format!("--benchmark_filter={}", any_of(names))));
        command
    }

    /// Reads the JSON that it writes: the mean of all repetitions of a benchmark. Aggregates are
    /// left out, and what was skipped or failed.
    fn read(&self, _: &str, results: &Path) -> Result<Vec<Timed>, String> {
        let all = json(&results.join(RESULTS))?;
        let all = all["benchmarks"].as_array().ok_or("there is no list 'benchmarks'")?;
        let mut timed: Vec<(Timed, f64)> = Vec::new();
        for one in all.iter().filter(|one| one["run_type"] != "aggregate") {
            let name = one["name"].as_str().ok_or("a benchmark has no name")?;
            if one["skipped"] == true || one["error_occurred"] == true {
                continue;
            }
            let unit = match one["time_unit"].as_str() {
                Some("ns") => 1.0,
                Some("us") => 1e3,
                Some("ms") => 1e6,
                Some("s") => 1e9,
                _ => return Err(format!("{name} has no time_unit of ns, us, ms or s")),
            };
            let time = one["real_time"].as_f64().ok_or(format!("{name} has no real_time"))?;
            match timed.iter_mut().find(|(other, _)| other.name == name) {
                Some((other, times)) => {
                    *times += 1.0;
                    other.ns += (unit * time - other.ns) / *times;
                }
                None => timed.push((Timed::exact(name, unit * time), 1.0)),
            }
        }
        Ok(timed.into_iter().map(|(one, _)| one).collect())
    }
}

fn is_elf(path: &Path) -> bool {
    use std::io::Read;
    let mut magic = [0; 4];
    fs::File::open(path).and_then(|mut file| file.read_exact(&mut magic)).is_ok()
        && magic == *b"\x7fELF"
}
