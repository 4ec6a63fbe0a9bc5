//! What is known of compilers and interpreters: which one a language has, and what brings it.

use std::path::Path;
use tiebreak_core::study::Language;

const RUSTUP: &str = "https://rustup.rs";

/// Programs whose package has another name than they, with that of Debian 12 or the command that
/// installs it. A version may follow the program: `clang++-16` comes with `clang-16`.
const PACKAGES: [(&str, &str); 19] = [
    ("cc", "gcc"),
    ("c++", "g++"),
    ("clang++", "clang"),
    ("ldc2", "ldc"),
    ("ldmd2", "ldc"),
    ("dmd", "https://dlang.org/download.html"),
    ("rustc", RUSTUP),
    ("cargo", RUSTUP),
    ("node", "nodejs"),
    ("bun", "npm install -g bun"),
    ("deno", "npm install -g deno"),
    ("qjs", "quickjs"),
    ("pypy", "pypy3"),
    ("python", "python3"),
    ("graalpy", "https://www.graalvm.org/python"),
    ("icx", "https://www.intel.com/oneapi"),
    ("icpx", "https://www.intel.com/oneapi"),
    ("zig", "https://ziglang.org/download"),
    ("nvcc", "nvidia-cuda-toolkit"),
];

/// The program that builds or runs a language if nothing else is said.
pub(super) fn default_program(language: Language) -> &'static str {
    match language {
        Language::C => "gcc",
        Language::Cpp => "g++",
        Language::D => "ldc2",
        Language::Rust => "rustc",
        Language::Cargo => "cargo",
        Language::Javascript => "node",
        Language::Python => "python3",
    }
}

/// What would bring a program: a package of Debian 12, a command, or an address. Programs that are
/// not known are taken to come in a package of their own name.
pub(super) fn package_of(program: &str) -> String {
    let name = Path::new(program).file_name().and_then(|name| name.to_str()).unwrap_or(program);
    let (plain, version) = match name.rsplit_once('-') {
        Some((plain, version)) if is_version(version) => (plain, Some(version)),
        _ => (name, None),
    };
    let package = PACKAGES.iter().find(|(known, _)| *known == plain).map(|(_, package)| *package);
    match (package, version) {
        (None, _) => name.to_owned(),
        (Some(package), Some(version)) if !package.contains([' ', '/']) => {
            format!("{package}-{version}")
        }
        (Some(package), _) => package.to_owned(),
    }
}

fn is_version(text: &str) -> bool {
    text.starts_with(|c: char| c.is_ascii_digit())
        && text.chars().all(|c| c.is_ascii_digit() || c == '.')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn programs_come_in_packages() {
        let cases = [
            ("gcc", "gcc"),
            ("gcc-13", "gcc-13"),
            ("g++", "g++"),
            ("g++-12", "g++-12"),
            ("clang", "clang"),
            ("clang++", "clang"),
            ("clang++-16", "clang-16"),
            ("/usr/bin/clang++", "clang"),
            ("ldc2", "ldc"),
            ("gdc", "gdc"),
            ("rustc", RUSTUP),
            ("node", "nodejs"),
            ("bun", "npm install -g bun"),
            ("bun-1.1", "npm install -g bun"),
            ("pypy3", "pypy3"),
            ("python3.10", "python3.10"),
            ("tcc", "tcc"),
        ];
        for (program, package) in cases {
            assert_eq!(package_of(program), package, "{program}");
        }
    }
}
