//! Compilers and interpreters: whether they are installed, and which version they report.

use super::cache::Key;
use super::error::BuildError;
use super::locked;
use crate::children::Leader;
use crate::files::{content, memory_file};
use crate::program::resolve;
use crate::system::shell_status;
use std::collections::HashMap;
use std::fs::File;
use std::io::{self, Read};
use std::path::{Path, PathBuf};
use std::process::{Command, ExitStatus, Output, Stdio};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, OnceLock};
use std::time::{Duration, Instant};
use tiebreak_core::language::{Language, Tool};
use tiebreak_core::study::Recipe;

/// Variables that change the output of compilers.
const VARIABLES: [&str; 9] = [
    "CPATH",
    "C_INCLUDE_PATH",
    "CPLUS_INCLUDE_PATH",
    "LIBRARY_PATH",
    "COMPILER_PATH",
    "GCC_EXEC_PREFIX",
    "RUSTUP_TOOLCHAIN",
    "RUSTC",
    "RUSTC_WRAPPER",
];

/// A compiler or interpreter that is installed.
#[derive(Debug)]
pub(super) struct Toolchain {
    /// The file that its name resolves to, or that a script of this name starts.
    pub(super) program: PathBuf,
    /// The first line that its version command printed.
    pub(super) receipt: String,
    /// The flag and the name of the standard that it accepts, once determined.
    pub(super) standard: OnceLock<Option<&'static (String, String)>>,
}

impl Toolchain {
    /// Returns what a cache entry depends on.
    pub(super) fn parts(&self) -> [&[u8]; 2] {
        [self.program.as_os_str().as_encoded_bytes(), self.receipt.as_bytes()]
    }
}

/// The toolchains that were found, so that each is asked for its version once.
#[derive(Debug, Default)]
pub(super) struct Toolchains(Mutex<HashMap<String, Arc<Toolchain>>>);

impl Toolchains {
    /// Finds the compiler or interpreter of a recipe and asks for its version.
    pub(super) fn find(&self, recipe: &Recipe, folder: &str) -> Result<Arc<Toolchain>, BuildError> {
        let Recipe { language, compiler, version, environment, .. } = recipe;
        let asked = format!("{:?}", (folder, language.name(), compiler, version, environment));
        if let Some(toolchain) = locked(&self.0).get(&asked) {
            return Ok(Arc::clone(toolchain));
        }
        let toolchain = Arc::new(ask(recipe, Path::new(folder))?);
        locked(&self.0).insert(asked, Arc::clone(&toolchain));
        Ok(toolchain)
    }
}

fn ask(recipe: &Recipe, folder: &Path) -> Result<Toolchain, BuildError> {
    let program = resolve(&recipe.compiler, Some(folder))
        .map_err(|_| missing(recipe, &recipe.compiler, String::new()))?;
    let [first, rest @ ..] = recipe.version.as_slice() else {
        return Ok(Toolchain { program, receipt: String::new(), standard: OnceLock::new() });
    };
    let version =
        resolve(first, Some(folder)).map_err(|_| missing(recipe, first, String::new()))?;
    let output = output_of(&version, rest, recipe, folder)
        .map_err(|reason| BuildError::Start { command: recipe.version.join(" "), reason })?;
    if !output.status.success() {
        let asked = format!("what '{}' asks for", recipe.version.join(" "));
        let said = first_line(&output.stderr).or_else(|| first_line(&output.stdout));
        let why = said.map(|said| format!(" ({said})")).unwrap_or_default();
        return Err(missing(recipe, &asked, why));
    }
    let program = behind(&program, recipe, folder).unwrap_or(program);
    Ok(Toolchain { program, receipt: receipt(&output), standard: OnceLock::new() })
}

/// Returns the interpreter that a script found along `PATH` starts: version managers have such a
/// script for each program, and it may take longer than the program. `None` if it is no script, or
/// if it changes flags or variables, other than its own, of the interpreter.
fn behind(program: &Path, recipe: &Recipe, folder: &Path) -> Option<PathBuf> {
    let itself = &recipe.language.entry().itself;
    let is_named = !recipe.compiler.contains('/');
    if itself.is_empty() || !is_named || !is_script(program) {
        return None;
    }
    let ask = |program: &Path| {
        let answer = output_of(program, itself, recipe, folder).ok()?;
        let text = String::from_utf8_lossy(&answer.stdout).into_owned();
        answer.status.success().then_some(text)
    };
    let said = ask(program)?;
    let path = PathBuf::from(said.lines().next()?);
    if !path.is_absolute() || is_script(&path) {
        return None;
    }
    let again = ask(&path)?;
    let changes = |text: &str| {
        let lines = text.lines().filter(|line| !MANAGERS.iter().any(|name| line.starts_with(name)));
        lines.map(str::to_owned).collect::<Vec<_>>()
    };
    (changes(&again) == changes(&said)).then_some(path)
}

/// What shells and version managers change for themselves: their variables, or how these begin.
const MANAGERS: [&str; 12] = [
    "PATH=", "PWD=", "OLDPWD=", "SHLVL=", "_=", "PYENV_", "_PYENV_", "NODENV_", "ASDF_", "MISE_",
    "__MISE", "VOLTA_",
];

fn is_script(program: &Path) -> bool {
    let mut start = [0; 2];
    File::open(program).and_then(|mut file| file.read_exact(&mut start)).is_ok() && start == *b"#!"
}

/// Runs a program as the contestants of a recipe are built.
fn output_of(
    program: &Path,
    words: &[String],
    recipe: &Recipe,
    folder: &Path,
) -> io::Result<Output> {
    let environment = recipe.environment.iter().map(|(name, value)| (name, value));
    let mut command = Command::new(program);
    command.args(words).current_dir(folder).stdin(Stdio::null()).envs(environment).output()
}

/// Returns what a program has said of its version.
fn receipt(output: &Output) -> String {
    first_line(&output.stdout).or_else(|| first_line(&output.stderr)).unwrap_or_default()
}

fn missing(recipe: &Recipe, program: &str, why: String) -> BuildError {
    BuildError::Missing { program: program.to_owned(), why, remedy: remedy(&recipe.package) }
}

/// Returns the first line that is not blank.
fn first_line(text: &[u8]) -> Option<String> {
    let text = String::from_utf8_lossy(text);
    text.lines().map(str::trim).find(|line| !line.is_empty()).map(str::to_owned)
}

/// Says how to get a package: a name is Debian's, an address is a page, anything else a command.
fn remedy(package: &str) -> String {
    if package.is_empty() {
        "install it".to_owned()
    } else if package.contains("://") {
        format!("get it from {package}")
    } else if package.contains(' ') {
        format!("'{package}' brings it")
    } else {
        format!("'apt-get install {package}' brings it")
    }
}

/// Returns a key that depends on what may change the output of every compiler: environment
/// variables, and the processor, for which `-march=native` compiles.
pub(super) fn surroundings() -> Key {
    let processor = std::fs::read_to_string("/proc/cpuinfo").unwrap_or_default();
    let fields = ["model name", "flags", "CPU part", "Features"];
    let lines = fields.iter().filter_map(|field| {
        processor.lines().find(|line| line.starts_with(field)).map(str::as_bytes)
    });
    let key = Key::new().with(std::env::consts::ARCH).with_all(lines);
    VARIABLES.iter().fold(key, |key, name| {
        let value = std::env::var_os(name).unwrap_or_default();
        key.with(name).with(value.as_encoded_bytes())
    })
}

/// The programs to ask, in the order of the report.
const ASKED: [&str; 7] = ["gcc", "clang", "rustc", "go", "ldc2", "node", "python3"];

/// Returns the compilers and interpreters found along `PATH`. Asks all of them at the same time,
/// for about this long at most. One that exists and does not answer in time, or fails, is listed
/// with the reason.
///
/// Cost: a process and a thread each; about a tenth of a second if none has to be loaded from a
/// disk.
pub fn compilers(longest: Duration, interrupted: &AtomicBool) -> Vec<Tool> {
    let begin = Instant::now();
    let is_over = || begin.elapsed() >= longest || interrupted.load(Ordering::Relaxed);
    let mut tools = Vec::new();
    std::thread::scope(|scope| {
        let asked = ASKED.iter().filter_map(|name| {
            let program = resolve(name, None).ok()?;
            let language = Language::of_program(name).unwrap_or_default();
            let mut command = Command::new(program);
            command.args(&language.entry().version);
            Some((name, scope.spawn(move || version_of(&mut command, is_over))))
        });
        for (name, thread) in asked.collect::<Vec<_>>() {
            let answer = thread.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic));
            let (version, error) = (answer.as_ref().ok().cloned(), answer.err());
            tools.push(Tool { name: (*name).to_owned(), version, error });
        }
    });
    tools
}

/// Runs a program until it ends, or until `is_over`, and returns the version that it printed, or
/// why there is none.
fn version_of(command: &mut Command, is_over: impl Fn() -> bool) -> Result<String, String> {
    let (ended, line) = run_until(command, is_over).map_err(|error| error.to_string())?;
    match ended.map(shell_status) {
        // Some end the line with a colon, because more lines follow.
        Some(0) if !line.is_empty() => Ok(line.trim_end_matches(':').to_owned()),
        Some(0) => Err("it said nothing".to_owned()),
        Some(status) => Err(format!("it failed with status {status}: {line}")),
        None => Err("it did not answer in time".to_owned()),
    }
}

/// Runs a program and returns how it ended, `None` if it was over before, and the first line of its
/// output, or else of its errors.
fn run_until(
    command: &mut Command,
    is_over: impl Fn() -> bool,
) -> io::Result<(Option<ExitStatus>, String)> {
    let texts = [memory_file()?, memory_file()?];
    command.stdin(Stdio::null()).stdout(texts[0].try_clone()?).stderr(texts[1].try_clone()?);
    let mut leader = Leader::spawn(command)?;
    let ended = if is_over() { None } else { leader.wait_unless(is_over)? };
    let mut lines = texts.iter().filter_map(|text| first_line(&content(text).ok()?));
    Ok((ended, lines.next().unwrap_or_default()))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::build::sources;
    use std::fs;
    use std::os::unix::fs::PermissionsExt;

    #[test]
    fn remedies_are_packages_commands_or_addresses() {
        let cases = [
            ("clang", "'apt-get install clang' brings it"),
            ("npm install -g bun", "'npm install -g bun' brings it"),
            ("https://ziglang.org/download", "get it from https://ziglang.org/download"),
            ("", "install it"),
        ];
        for (package, expected) in cases {
            assert_eq!(remedy(package), expected);
        }
    }

    #[test]
    fn the_interpreter_is_found_behind_a_script_that_does_nothing_else() {
        let folder = tempfile::tempdir().unwrap();
        let script = folder.path().join("python3");
        let mut recipe = sources::tests::recipe("python", &["a.py"], &[]);
        recipe.compiler = "python3".to_owned();
        let mut asked = Command::new("python3");
        asked.args(["-c", "import sys; print(sys.executable)"]);
        let python = first_line(&asked.output().unwrap().stdout).unwrap();
        let check = |recipe: &Recipe, text: &str, is_found: bool| {
            fs::write(&script, text).unwrap();
            fs::set_permissions(&script, fs::Permissions::from_mode(0o755)).unwrap();
            let found = behind(&script, recipe, folder.path());
            assert_eq!(found, is_found.then(|| PathBuf::from(&python)), "{text}");
        };
        let starts = |before: &str, flags: &str| {
            format!("#!/bin/sh\n{before}\nexec '{python}' {flags} \"$@\"\n")
        };
        let plain = starts("export PYENV_VERSION=3 PATH=\"$PATH:/none\"", "");
        check(&recipe, &plain, true);
        // What the script changes would be lost.
        check(&recipe, &starts("export PYTHONHASHSEED=0", ""), false);
        check(&recipe, &starts("export LD_BIND_NOW=1", ""), false);
        check(&recipe, &starts("", "-O"), false);
        check(&recipe, "#!/bin/sh\necho none\n", false);
        // A script that the study names by its path is what it wants.
        recipe.compiler = script.display().to_string();
        check(&recipe, &plain, false);
    }

    #[test]
    fn answers_are_first_lines_or_reasons() {
        let check = |script: &str, expected: Result<&str, &str>| {
            let mut command = Command::new("sh");
            let answer = version_of(command.args(["-c", script]), || false);
            assert_eq!(answer.as_ref().map(|s| &s[..]).map_err(|s| &s[..]), expected, "{script}");
        };
        check("echo; echo 'tool 1.2'; echo more", Ok("tool 1.2"));
        check("echo 'tool 1.2' >&2", Ok("tool 1.2"));
        check("echo broken; exit 3", Err("it failed with status 3: broken"));
        check(":", Err("it said nothing"));
    }

    #[test]
    fn nobody_is_waited_for() {
        let tools = compilers(Duration::ZERO, &AtomicBool::new(false));
        assert!(tools.iter().all(|tool| tool.version.is_none() && tool.error.is_some()));
        let names: Vec<_> = tools.iter().map(|tool| &tool.name[..]).collect();
        let known: Vec<_> = ASKED.to_vec();
        assert!(names.iter().all(|name| known.contains(name)));
        let stopped = compilers(Duration::from_secs(3600), &AtomicBool::new(true));
        assert_eq!(stopped, tools);
    }
}
