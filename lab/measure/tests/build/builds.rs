//! What is built, when, and what is said where it cannot be.

use crate::bench::{Bench, GO_ON, SOURCE, c, call, entrant, object, words};
use std::fs;
use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::Duration;
use tiebreak_core::language::Language;
use tiebreak_core::study::{Call, Contract};
use tiebreak_measure::build::{BuildError, Builder, Linker, code_of};

#[test]
fn nothing_is_compiled_twice() {
    let bench = Bench::new();
    let count = bench.beside("count");
    let script = format!(
        "case \" $* \" in *' -c '*) echo x >> '{}';; esac; exec gcc \"$@\"",
        count.display()
    );
    let mut entrant = c();
    entrant.recipe.compiler = bench.script("counting", &script);
    let compiles = || fs::read_to_string(&count).unwrap_or_default().lines().count();
    let mut built_at = Vec::new();
    let mut check = |bench: &Bench, entrant: &tiebreak_core::study::Entrant, expected: usize| {
        let built = bench.build(entrant).unwrap();
        assert_eq!(compiles(), expected);
        built_at.push(object(&built).to_owned());
    };
    check(&bench, &entrant, 1);
    check(&bench, &entrant, 1);
    bench.write("README.md", "text about a");
    check(&bench, &entrant, 1);
    bench.write("a.c", &SOURCE.replace("\"test\"", "\"other\""));
    check(&bench, &entrant, 2);
    bench.write("body.h", "#define BODY 8\n");
    check(&bench, &entrant, 3);
    entrant.recipe.flags = words(&["-O1"]);
    check(&bench, &entrant, 4);
    let mut inlined = bench;
    inlined.study.call = Call::Inlined;
    check(&inlined, &entrant, 5);
    inlined.study.call = Call::Separate;
    entrant.recipe.flags = words(&["-O2"]);
    inlined.write("a.c", SOURCE);
    inlined.write("body.h", "#define BODY 7\n");
    check(&inlined, &entrant, 5);
    assert_eq!(built_at[0], built_at[7], "the first is still there");
    assert_eq!(built_at[0], built_at[1]);
    assert!(!inlined.path("a.o").exists(), "nothing is left beside the sources");
}

#[test]
fn code_is_what_a_study_says_wherever_it_is_built() {
    let mut bench = Bench::new();
    let mut entrant = c();
    let mut seen = Vec::new();
    let mut check = |bench: &Bench, entrant: &tiebreak_core::study::Entrant, expected: usize| {
        let code = code_of(&bench.study, &entrant.recipe).unwrap();
        let at = seen.iter().position(|one| *one == code).unwrap_or(seen.len());
        assert_eq!(at, expected);
        seen.push(code);
    };
    check(&bench, &entrant, 0);
    bench.write("README.md", "text about a");
    bench.write("body.rs", "has a name that a.c has too");
    check(&bench, &entrant, 0);
    check(&Bench::new(), &entrant, 0);
    bench.write("body.h", "#define BODY 8\n");
    check(&bench, &entrant, 3);
    entrant.recipe.flags = words(&["-O1"]);
    check(&bench, &entrant, 4);
    entrant.recipe.compiler = "clang".to_owned();
    check(&bench, &entrant, 5);
    entrant.recipe.libraries = words(&["-lm"]);
    check(&bench, &entrant, 6);
    entrant.recipe.environment = vec![("A".to_owned(), "b".to_owned())];
    check(&bench, &entrant, 7);
    bench.write("b.c", SOURCE);
    entrant.recipe.sources = words(&["a.c", "b.c"]);
    check(&bench, &entrant, 8);
    entrant.recipe.sources = words(&["b.c", "a.c"]);
    check(&bench, &entrant, 9);
    bench.study.call = Call::Inlined;
    check(&bench, &entrant, 10);
    fs::remove_file(bench.path("a.c")).unwrap();
    let error = code_of(&bench.study, &entrant.recipe).unwrap_err();
    assert!(error.to_string().contains("a.c"), "{error}");
}

#[test]
fn a_compiler_that_is_missing_is_named_with_its_package() {
    let bench = Bench::new();
    let check = |entrant: &tiebreak_core::study::Entrant, text: &str| {
        let error = bench.build(entrant).unwrap_err();
        assert!(matches!(error, BuildError::Missing { .. }), "{error}");
        assert_eq!(error.to_string(), text);
    };
    let mut missing = entrant(Language::named("c++").unwrap(), "clang++-0", "a.c");
    check(&missing, "clang++-0 is not here; 'apt-get install the-package' brings it");
    missing.recipe.package = "rustup update".into();
    check(&missing, "clang++-0 is not here; 'rustup update' brings it");
    let mut failing = c();
    failing.recipe.version =
        vec![bench.script("old", "echo half; echo too old >&2; exit 3"), "-v".into()];
    let says = format!(
        "what '{} -v' asks for is not here (too old); 'apt-get install the-package' brings it",
        failing.recipe.version[0]
    );
    check(&failing, &says);
}

#[test]
fn a_failing_build_says_the_command_and_what_it_printed() {
    let bench = Bench::new();
    bench.write("broken.c", "int f(void) { return unknown_word; }\n");
    bench.write("no_table.c", "int f(void) { return 1; }\n");
    bench.write(
        "undefined.c",
        &format!("int missing(void);\n{}", SOURCE.replace("BODY", "missing()")),
    );
    let check = |source: &str, parts: &[&str]| {
        let error =
            bench.build(&entrant(Language::named("c").unwrap(), "gcc", source)).unwrap_err();
        assert!(matches!(error, BuildError::Failed { .. }), "{error}");
        for part in parts {
            assert!(error.to_string().contains(part), "{part}: {error}");
        }
    };
    check("broken.c", &["-c broken.c", "failed with status 1:", "unknown_word"]);
    check("no_table.c", &["tiebreak_contestant_table", "failed with status 1:"]);
    check("undefined.c", &["missing", "failed with status 1:"]);
    // What failed left nothing that counts: the kit and the pads are all there is.
    assert_eq!(bench.entries().len(), 2, "{:?}", bench.entries());
}

#[test]
fn c_is_built_as_the_newest_standard_that_the_compiler_takes() {
    let bench = Bench::new();
    let check = |known: &str, name: &str| {
        // A compiler that knows this standard alone.
        let script = format!(
            "for word; do shift; case $word in -std={known}) word=-std=gnu11;; \
             -std=*) exit 1;; esac; set -- \"$@\" \"$word\"; done; exec gcc \"$@\""
        );
        let mut entrant = c();
        entrant.recipe.compiler = bench.script(&format!("knows-{known}"), &script);
        let built = bench.build(&entrant).unwrap_or_else(|error| panic!("{error}"));
        assert_eq!(built.standard.as_deref(), Some(name));
    };
    check("c23", "C23");
    check("c2x", "C2x (C23 draft)");
    check("c17", "C17");
    let mut asked = c();
    asked.recipe.flags = words(&["-std=c11"]);
    assert_eq!(bench.build(&asked).unwrap().standard.as_deref(), Some("C11"));
}

#[test]
fn what_is_built_says_what_it_is() {
    let mut bench = Bench::new();
    let (name, text) = ("loose".to_owned(), String::new());
    bench.study.contracts = vec![Contract { name, text, is_exact: false }];
    let mut entrant = c();
    let built = bench.build(&entrant).unwrap();
    assert!(built.is_exact && built.contract == "published");
    assert!(built.receipt.starts_with("gcc"), "{}", built.receipt);
    entrant.contract = "loose".into();
    assert!(!bench.build(&entrant).unwrap().is_exact);
}

#[test]
fn an_oracle_is_a_library() {
    let mut bench = Bench::new();
    let builder = Builder::new(&bench.cache());
    assert_eq!(builder.build_oracle(&bench.study, &GO_ON).unwrap(), None);
    bench.write("oracle.c", "__attribute__((visibility(\"default\"))) int tiebreak_oracle_table;");
    bench.study.oracle = Some(entrant(Language::named("c").unwrap(), "gcc", "oracle.c").recipe);
    let path = builder.build_oracle(&bench.study, &GO_ON).unwrap().unwrap();
    assert!(path.starts_with(bench.cache()));
    // SAFETY: loads a library without code.
    unsafe {
        libloading::Library::new(&path)
            .unwrap()
            .get::<*const u32>(tiebreak_abi::ORACLE_SYMBOL)
            .unwrap()
    };
}

#[test]
fn builds_side_by_side_make_one() {
    let bench = Bench::new();
    let entrant = c();
    let built: Vec<_> = thread::scope(|scope| {
        let start = || scope.spawn(|| bench.build(&entrant).unwrap());
        let threads: Vec<_> = (0..4).map(|_| start()).collect();
        threads.into_iter().map(|thread| thread.join().unwrap()).collect()
    });
    assert!(built.windows(2).all(|pair| pair[0] == pair[1]));
    assert_eq!(bench.entries().len(), 3, "kit, pads, objects: {:?}", bench.entries());
    let out = bench.beside("a.so");
    Linker::link(&built[0].form, 1, &out).unwrap();
    assert_eq!(call(&out).0, 7);
}

#[test]
fn an_interruption_ends_the_compiler() {
    let bench = Bench::new();
    let started = bench.beside("started");
    let script = format!(
        "case \" $* \" in *' -c '*) echo $$ > '{}'; sleep 60; exit 1;; esac; exec gcc \"$@\"",
        started.display()
    );
    let mut entrant = c();
    entrant.recipe.compiler = bench.script("slow", &script);
    let interrupted = AtomicBool::new(false);
    let builder = Builder::new(&bench.cache());
    let error = thread::scope(|scope| {
        let build = scope.spawn(|| builder.build(&bench.study, &entrant, &interrupted));
        while fs::read_to_string(&started).unwrap_or_default().is_empty() {
            thread::sleep(Duration::from_millis(5));
        }
        interrupted.store(true, Ordering::Relaxed);
        build.join().unwrap().unwrap_err()
    });
    assert!(matches!(error, BuildError::Interrupted), "{error}");
    let compiler = fs::read_to_string(&started).unwrap();
    assert!(!Path::new("/proc").join(compiler.trim()).exists());
    assert!(bench.entries().iter().all(|name| !name.starts_with("tmp")), "{:?}", bench.entries());
}

#[test]
fn the_library_comes_with_what_was_built() {
    let bench = Bench::new();
    let (_, library) = bench.build_with_library(&c()).unwrap();
    let library = library.unwrap();
    assert!(library.starts_with(bench.cache()), "{}", library.display());
    assert_eq!(call(&library).0, 7);
    assert_eq!(bench.build_with_library(&c()).unwrap().1, Some(library));
}

#[test]
fn what_a_killed_build_left_is_swept() {
    let bench = Bench::new();
    let builds = bench.cache().join("builds");
    fs::create_dir_all(builds.join("tmp-1-0")).unwrap();
    fs::write(builds.join("tmp-1-0.lock"), "").unwrap();
    Builder::new(&bench.cache());
    assert!(bench.entries().is_empty(), "{:?}", bench.entries());
}
