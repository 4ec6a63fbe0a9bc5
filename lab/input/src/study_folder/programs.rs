//! How to install compilers and interpreters.

use std::path::Path;
use tiebreak_core::language::Language;

/// Returns what installs a program: a package of Debian 12, a command, or an address. An unknown
/// program is assumed to be in a package of the same name.
pub(super) fn package_of(program: &str) -> String {
    let name = Path::new(program).file_name().and_then(|name| name.to_str()).unwrap_or(program);
    let (plain, version) = match name.rsplit_once('-') {
        Some((plain, version)) if is_version(version) => (plain, Some(version)),
        _ => (name, None),
    };
    match (Language::package_of(plain), version) {
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
            ("rustc", "https://rustup.rs"),
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
