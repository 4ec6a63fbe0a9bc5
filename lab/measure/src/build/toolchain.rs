//! Compilers and interpreters: whether they are installed, and which version they report.

use super::error::BuildError;
use super::key::Key;
use crate::program::resolve;
use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::{Arc, Mutex, OnceLock, PoisonError};
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
}

/// The toolchains that were found, so that each is asked for its version once.
#[derive(Debug, Default)]
pub(super) struct Toolchains(Mutex<HashMap<Vec<String>, Arc<Toolchain>>>);

impl Toolchains {
    /// Finds the compiler or interpreter of a recipe and asks for its version.
    pub(super) fn find(&self, recipe: &Recipe, folder: &str) -> Result<Arc<Toolchain>, BuildError> {
        let environment = recipe.environment.iter().flat_map(|(name, value)| [name, value]);
        let words = recipe.version.iter().chain(environment).map(String::as_str);
        let asked: Vec<_> = [folder, recipe.language.name(), &recipe.compiler]
            .into_iter()
            .chain(words)
            .map(str::to_owned)
            .collect();
        // The map is intact even after a thread panicked: values are only ever added.
        let found = || self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(toolchain) = found().get(&asked) {
            return Ok(Arc::clone(toolchain));
        }
        let toolchain = Arc::new(ask(recipe, Path::new(folder))?);
        found().insert(asked, Arc::clone(&toolchain));
        Ok(toolchain)
    }
}

fn ask(recipe: &Recipe, folder: &Path) -> Result<Toolchain, BuildError> {
    let missing = |program: &str, why: String| BuildError::Missing {
        program: program.to_owned(),
        why,
        remedy: remedy(&recipe.package),
    };
    let program = resolve(&recipe.compiler, Some(folder))
        .map_err(|_| missing(&recipe.compiler, String::new()))?;
    let [first, rest @ ..] = recipe.version.as_slice() else {
        return Ok(Toolchain::new(program, String::new()));
    };
    let version = resolve(first, Some(folder)).map_err(|_| missing(first, String::new()))?;
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
        return Err(missing(&asked, why));
    }
    Ok(Toolchain::new(program, receipt))
}

/// Returns the first line that is not blank.
pub(super) fn first_line(text: &[u8]) -> Option<String> {
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
}
