//! Reads what the compiler has made of each form: that one holds the registers of its name shows
//! that it was compiled for them, on machines that cannot run it, too.

#![cfg(target_arch = "x86_64")]

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::{env, fs};

/// Returns the assembly of each function of the crate, optimised.
fn assembly() -> BTreeMap<String, String> {
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join("instructions");
    let mut cargo = Command::new(env::var_os("CARGO").unwrap_or("cargo".into()));
    cargo.args(["rustc", "--quiet", "--offline", "--locked", "--release", "--lib"]);
    cargo.args(["--package", "tiebreak-simd", "--manifest-path"]);
    cargo.arg(Path::new(env!("CARGO_MANIFEST_DIR")).join("Cargo.toml"));
    cargo.arg("--target-dir").arg(&folder).args(["--", "--emit=asm", "-Ccodegen-units=1"]);
    let ran = cargo.output().unwrap();
    assert!(ran.status.success(), "{}", String::from_utf8_lossy(&ran.stderr));
    let files = fs::read_dir(folder.join("release/deps")).unwrap();
    let files: Vec<PathBuf> = files.map(|file| file.unwrap().path()).collect();
    let newest = files.iter().filter(|path| path.extension().is_some_and(|kind| kind == "s"));
    let newest = newest.max_by_key(|path| path.metadata().unwrap().modified().unwrap()).unwrap();
    let text = fs::read_to_string(newest).unwrap();
    let mut functions = BTreeMap::new();
    let mut name = "";
    for line in text.lines() {
        // A function begins with its name; other labels begin with a dot.
        if let Some(label) = line.strip_suffix(':').filter(|label| !label.starts_with('.')) {
            name = label;
        }
        let code: &mut String = functions.entry(name.to_owned()).or_default();
        code.push_str(line);
        code.push('\n');
    }
    functions
}

#[test]
fn each_form_holds_the_registers_of_its_name() {
    let functions = assembly();
    let kernels: [(&str, &[&str]); 5] = [
        ("byte_set", &["find", "span", "count", "masks", "escape"]),
        ("decimal", &["write"]),
        ("rolling_hash", &["hashes", "count"]),
        ("uint8", &["parse", "count"]),
        ("utf8", &["check"]),
    ];
    for (form, register) in [("ssse3", "%xmm"), ("avx2", "%ymm"), ("avx512", "%zmm")] {
        for (kernel, function) in
            kernels.iter().flat_map(|(kernel, all)| all.iter().map(move |name| (kernel, name)))
        {
            let register = match (*kernel, form) {
                ("uint8", "avx2") => "vpcmpeqb", // In registers of 16 bytes.
                _ => register,
            };
            let has =
                |name: &str| [*kernel, form, *function].iter().all(|part| name.contains(part));
            let named: Vec<_> = functions.iter().filter(|(name, _)| has(name)).collect();
            assert!(!named.is_empty(), "{function} of {kernel} is not there in {form}");
            for (name, code) in named {
                assert!(code.contains(register), "{name} has no {register}");
            }
        }
    }
}
