//! Compilers and interpreters: whether they are installed, and which version they report.

use super::cache::Key;
use super::error::BuildError;
use super::locked;
use crate::children::Leader;
use crate::files::memory_file;
use crate::program::resolve;
use crate::system::shell_status;
use std::collections::HashMap;
use std::fs::File;
use std::io;
use std::os::unix::fs::FileExt;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
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
    /// The file that its name resolves to.
    pub(super) program: PathBuf,
    /// The first line that its version command printed.
    pub(super) receipt: String,
    /// The flag and the name of the standard that it accepts, once determined.
    pub(super) standard: OnceLock<Option<&'static (String, String)>>,
}

impl Toolchain {
    fn new(program: PathBuf, receipt: String) -> Toolchain {
        Toolchain { program, receipt, standard: OnceLock::new() }
    }

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
        return Ok(Toolchain::new(program, String::new()));
    };
    let version =
        resolve(first, Some(folder)).map_err(|_| missing(recipe, first, String::new()))?;
    let mut command = Command::new(version);
    command.args(rest).current_dir(folder).stdin(Stdio::null());
    command.envs(recipe.environment.iter().map(|(name, value)| (name, value)));
    let output = command
        .output()
        .map_err(|reason| BuildError::Start { command: recipe.version.join(" "), reason })?;
    let receipt = first_line(&output.stdout).or_else(|| first_line(&output.stderr));
    let receipt = receipt.unwrap_or_default();
    if !output.status.success() {
        let asked = format!("what '{}' asks for", recipe.version.join(" "));
        let why = if receipt.is_empty() { String::new() } else { format!(" ({receipt})") };
        return Err(missing(recipe, &asked, why));
    }
    Ok(Toolchain::new(program, receipt))
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
/// How often it is checked whether a program has answered, or the user has interrupted.
const SLICE: Duration = Duration::from_millis(5);

/// Returns the compilers and interpreters found along `PATH`. Asks all of them at the same time,
/// for this long at most. One that exists and does not answer in time, or fails, is listed with the
/// reason.
///
/// Cost: a process each; about a tenth of a second if none has to be loaded from a disk.
pub fn compilers(longest: Duration, interrupted: &AtomicBool) -> Vec<Tool> {
    let begin = Instant::now();
    let mut asked = Vec::new();
    for name in ASKED {
        let Ok(program) = resolve(name, None) else { continue };
        let language = Language::of_program(name).unwrap_or_default();
        asked.push((name, Inquiry::start(Command::new(program).args(&language.entry().version))));
    }
    while begin.elapsed() < longest && !interrupted.load(Ordering::Relaxed) {
        let running = asked.iter_mut().flat_map(|(_, asked)| asked).filter_map(Inquiry::is_running);
        if running.filter(|is_running| *is_running).count() == 0 {
            break;
        }
        std::thread::sleep(SLICE.min(longest.saturating_sub(begin.elapsed())));
    }
    let tools = asked.into_iter().map(|(name, asked)| {
        let answer = asked.map_err(|error| error.to_string()).and_then(|asked| asked.answer());
        let (version, error) = (answer.as_ref().ok().cloned(), answer.err());
        Tool { name: name.to_owned(), version, error }
    });
    tools.collect()
}

/// A program that was asked for its version. Dropping it ends the program.
struct Inquiry {
    leader: Leader,
    /// Its output, and its errors.
    texts: [File; 2],
}

impl Inquiry {
    fn start(command: &mut Command) -> io::Result<Inquiry> {
        let texts = [memory_file()?, memory_file()?];
        command.stdin(Stdio::null()).stdout(texts[0].try_clone()?).stderr(texts[1].try_clone()?);
        Ok(Inquiry { leader: Leader::spawn(command)?, texts })
    }

    /// Checks whether the program still runs; `None` if that is unknown.
    fn is_running(&mut self) -> Option<bool> {
        self.leader.look().ok().map(|ended| ended.is_none())
    }

    /// Returns the version, or why there is none, of a program whose end was seen or not.
    fn answer(&self) -> Result<String, String> {
        let ended = self.leader.ended().ok_or("it did not answer in time")?;
        let lines = self.texts.iter().map(|text| {
            let mut start = vec![0; 1 << 16];
            let length = text.read_at(&mut start, 0).unwrap_or(0);
            first_line(&start[..length])
        });
        let line = lines.flatten().next().unwrap_or_default();
        match shell_status(ended) {
            // Some end the line with a colon, because more lines follow.
            0 if !line.is_empty() => Ok(line.trim_end_matches(':').to_owned()),
            0 => Err("it said nothing".to_owned()),
            status => Err(format!("it failed with status {status}: {line}")),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

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
    fn answers_are_first_lines_or_reasons() {
        let check = |script: &str, expected: Result<&str, &str>| {
            let mut command = Command::new("sh");
            let mut asked = Inquiry::start(command.args(["-c", script])).unwrap();
            while asked.is_running().unwrap() {
                std::thread::sleep(SLICE);
            }
            let answer = asked.answer();
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
