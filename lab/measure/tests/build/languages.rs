//! Contestants of every language, built, linked and called.

use crate::bench::{Bench, SOURCE, call, entrant, words};
use std::fs;
use tiebreak_core::language::Language;
use tiebreak_core::study::{BuiltForm, Call, Entrant};
use tiebreak_measure::build::{BuildError, Linker, Placer};

const RUST: &str = r#"
use tiebreak_abi::{Contestant, Sink, Workload, contestant};
mod body;
struct Test;
impl Contestant for Test {
    const NAME: &'static core::ffi::CStr = c"test";
    type State<'w> = Workload<'w>;
    fn prepare(workload: Workload<'_>) -> Option<Workload<'_>> { Some(workload) }
    fn run(_: &mut Workload<'_>) -> u64 { body::body() }
    fn dump(_: &mut Workload<'_>, _: &mut Sink<'_>) {}
}
contestant!(Test);
"#;
const BODY: &str = "
/// As the study says; the formatting draws in much of the standard library.
pub fn body() -> u64 {
    if cfg!(tiebreak_inlined) { 8 } else { format!(\"{:?}\", [1, 2]).len() as u64 + 1 }
}
";
const D: &str = r#"
import tiebreak;
import std.algorithm.sorting : sort;
extern (C) nothrow:
void* prepare(const(tiebreak_workload)* workload) { return cast(void*) workload; }
ulong run(void* state) {
    int[3] numbers = [7, 9, 8];
    sort(numbers[]);
    version (TIEBREAK_INLINED) return numbers[1];
    else return numbers[0];
}
void dump(void* state, const(tiebreak_sink)* sink) {}
void release(void* state) {}
mixin Contestant!("test", prepare, run, dump, release);
"#;

fn bench() -> Bench {
    let bench = Bench::new();
    bench.write(
        "body.h",
        "#ifdef TIEBREAK_INLINED\n#define BODY 8\n#else\n#define BODY 7\n#endif\n",
    );
    bench.write(
        "a.cpp",
        &SOURCE.replace("BODY", "std::string(BODY, 'a').size()").replacen(
            "#include",
            "#include <string>\n#include",
            1,
        ),
    );
    bench.write("a.d", D);
    bench.write("a.rs", RUST);
    bench.write("body.rs", BODY);
    bench
}

/// Builds, links and places, and calls; says nothing where the compiler is missing.
fn check(bench: &mut Bench, entrant: &Entrant) {
    for (call_is, result) in [(Call::Separate, 7), (Call::Inlined, 8)] {
        bench.study.call = call_is;
        let built = match bench.build(entrant) {
            Err(error @ BuildError::Missing { .. }) => return eprintln!("not tested: {error}"),
            built => built.unwrap_or_else(|error| panic!("{error}")),
        };
        assert!(!built.receipt.is_empty());
        let placer = Placer::of(&built.form).unwrap_or_else(|why| panic!("{entrant:?}: {why}"));
        for seed in [0, 1, 2] {
            let out =
                bench.beside(&format!("{}-{result}-{seed}.so", entrant.recipe.language.name()));
            Linker::link(&built.form, seed, &out).unwrap_or_else(|error| panic!("{error}"));
            assert_eq!(call(&out).0, result, "{entrant:?}, seed {seed}");
            // Another name: the file of that one is still mapped.
            let out = out.with_extension("placed.so");
            fs::write(&out, placer.place(seed).unwrap_or_else(|why| panic!("{why}"))).unwrap();
            assert_eq!(call(&out).0, result, "{entrant:?}, placed, seed {seed}");
        }
    }
}

#[test]
fn c_and_cpp_are_built() {
    let mut bench = bench();
    check(&mut bench, &entrant(Language::named("c").unwrap(), "gcc", "a.c"));
    check(&mut bench, &entrant(Language::named("c").unwrap(), "clang", "a.c"));
    check(&mut bench, &entrant(Language::named("c++").unwrap(), "g++", "a.cpp"));
    check(&mut bench, &entrant(Language::named("c++").unwrap(), "clang++", "a.cpp"));
    let mut other = entrant(Language::named("c++").unwrap(), "clang++", "a.cpp");
    other.recipe.flags = words(&["-O1", "-stdlib=libc++"]);
    let has_libcxx = std::path::Path::new("/usr/include/c++/v1").exists()
        || std::path::Path::new("/usr/lib/llvm-14/include/c++/v1").exists();
    if has_libcxx {
        check(&mut bench, &other);
    }
}

#[test]
fn d_is_built() {
    let mut bench = bench();
    let mut contestant = entrant(Language::named("d").unwrap(), "ldc2", "a.d");
    check(&mut bench, &contestant);
    contestant.recipe.flags = words(&["-O3", "-betterC"]);
    check(&mut bench, &contestant);
}

#[test]
fn rust_is_built() {
    check(&mut bench(), &entrant(Language::named("rust").unwrap(), "rustc", "a.rs"));
}

#[test]
fn a_package_is_built() {
    let mut bench = bench();
    let manifest = |more: &str| {
        format!(
            "[package]\nname = \"a\"\nversion = \"0.0.0\"\nedition = \"2024\"\n\
             [dependencies]\ntiebreak-abi = {{ path = \"../abi\" }}\n\
             [lints.rust]\nunexpected_cfgs = \"allow\"\n[workspace]\n\
             [profile.release]\npanic = \"abort\"\n{more}"
        )
    };
    bench.write(
        "abi/Cargo.toml",
        "[package]\nname = \"tiebreak-abi\"\nversion = \"0.1.0\"\nedition = \"2024\"\n",
    );
    for (name, text) in tiebreak_abi::SOURCES {
        bench.write(&format!("abi/{name}"), text);
    }
    bench.write("package/src/lib.rs", RUST);
    bench.write("package/src/body.rs", BODY);
    let lock = "version = 4\n\n[[package]]\nname = \"a\"\nversion = \"0.0.0\"\n\
                dependencies = [\n \"tiebreak-abi\",\n]\n\n\
                [[package]]\nname = \"tiebreak-abi\"\nversion = \"0.1.0\"\n";
    bench.write("package/Cargo.lock", lock);
    let contestant = entrant(Language::named("cargo").unwrap(), "cargo", "package");
    bench.write("package/Cargo.toml", &manifest(""));
    let error = bench.build(&contestant).unwrap_err().to_string();
    assert!(error.contains("crate-type = [\"staticlib\"]"), "{error}");
    bench.write("package/Cargo.toml", &manifest("[lib]\ncrate-type = [\"staticlib\"]\n"));
    check(&mut bench, &contestant);
    bench.study.call = Call::Separate;
    let mut featured = contestant.clone();
    featured.recipe.flags = words(&["--features", "none-such"]);
    assert!(bench.build(&featured).unwrap_err().to_string().contains("none-such"));
    let mut offline = contestant.clone();
    let script = "echo 'error: failed to download from `index`'; exit 101";
    offline.recipe.compiler = bench.script("offline", script);
    let error = bench.build(&offline).unwrap_err();
    assert!(matches!(error, BuildError::Missing { .. }), "{error}");
    let built = bench.build(&contestant).unwrap();
    assert_eq!(built, bench.build(&contestant).unwrap());
    // What the package depends on by its path counts as well.
    bench.write("abi/src/new.rs", "");
    assert_ne!(built, bench.build(&contestant).unwrap());
}

#[test]
fn other_runtimes_are_commands() {
    let bench = bench();
    bench.write("a.py", "from b import b\nimport parts");
    bench.write("b.py", "");
    bench.write("parts/__init__.py", "");
    let mut contestant = entrant(Language::named("python").unwrap(), "python3", "a.py");
    contestant.recipe.flags = words(&["-u"]);
    contestant.recipe.environment = vec![("A".into(), "b".into())];
    let built = match bench.build(&contestant) {
        Err(error @ BuildError::Missing { .. }) => return eprintln!("not tested: {error}"),
        built => built.unwrap(),
    };
    assert!(built.receipt.starts_with("Python 3"), "{}", built.receipt);
    let BuiltForm::Runner { command, environment, directory, files } = built.form else { panic!() };
    let depends = ["a.py", "b.py", "parts/__init__.py"];
    assert_eq!(files, depends.map(|file| bench.path(file).to_str().unwrap().to_owned()));
    assert_eq!(command[1..], ["-u".to_owned(), bench.path("a.py").to_str().unwrap().to_owned()]);
    assert_eq!(directory, bench.study.folder);
    assert!(environment.contains(&("A".to_owned(), "b".to_owned())));
    let missing = bench.build(&entrant(Language::named("python").unwrap(), "python3", "none.py"));
    assert!(missing.unwrap_err().to_string().contains("none.py"));
}
