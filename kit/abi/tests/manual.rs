//! The examples of the manual are built as the laboratory builds them, loaded, and asked.

mod common;

use common::{Folder, has, include, page, run};
use std::ffi::{CString, c_char, c_int, c_void};
use tiebreak_abi::{RawContestant, RawOracle, RawRequest, RawSink, RawWorkload, check};

unsafe extern "C" {
    fn dlopen(path: *const c_char, flags: c_int) -> *mut c_void;
    fn dlsym(library: *mut c_void, symbol: *const c_char) -> *mut c_void;
}

const RTLD_NOW: c_int = 2;

/// The code blocks of the manual, as (language, source).
fn examples() -> Vec<(String, String)> {
    let page = page("docs/manual/contestants.md");
    let mut blocks = page.split("\n```");
    blocks.next();
    blocks
        .step_by(2)
        .map(|block| block.split_once('\n').expect("a block has lines"))
        .map(|(language, source)| (language.to_owned(), source.to_owned()))
        .collect()
}

/// Builds an example, and gives the library; nothing if its compiler is not there.
fn build(folder: &Folder, language: &str, source: &str) -> Option<String> {
    let (object, library) = (folder.path("example.o"), folder.path("example.so"));
    let include = format!("-I{}", include());
    let strict = ["-Wall", "-Wextra", "-pedantic", "-Werror", "-O2", "-fPIC", "-c", "-o"];
    match language {
        "c" | "c++" => {
            let compiler = if language == "c" { "gcc" } else { "g++" };
            let ending = if language == "c" { "c" } else { "cpp" };
            let source = folder.write(&format!("example.{ending}"), source);
            has(compiler)
                .then(|| run(&[&[compiler, &include], &strict[..], &[&object, &source]].concat()))?
        }
        "d" => {
            let source = folder.write("example.d", source);
            let object = format!("-of={object}");
            has("ldc2").then(|| {
                run(&[
                    "ldc2",
                    "-w",
                    "-c",
                    "-betterC",
                    "-O2",
                    "-relocation-model=pic",
                    &include,
                    &source,
                    &object,
                ])
            })?
        }
        "rust" => {
            let source = folder.write("example.rs", source);
            let abi = format!("tiebreak_abi={}", folder.build_abi());
            run(&[
                "rustc",
                "--edition",
                "2024",
                "--crate-type",
                "staticlib",
                "--crate-name",
                "example",
                "-O",
                "-C",
                "panic=abort",
                "-D",
                "warnings",
                "--extern",
                &abi,
                &source,
                "-o",
                &object,
            ])
        }
        other => panic!("the manual has an example in {other}, which this test cannot build"),
    };
    let table = if source.contains("racle") { "oracle" } else { "contestant" };
    let linker = if language == "c++" { "g++" } else { "cc" };
    let wanted = format!("-Wl,-u,tiebreak_{table}_table");
    run(&[linker, "-shared", &wanted, &object, "-o", &library]);
    Some(library)
}

/// A sink that gathers what it takes.
unsafe extern "C" fn gather(context: *mut c_void, bytes: *const c_void, count: u64) {
    // SAFETY: the context is the vector of `gathered`, and the caller's bytes are there.
    unsafe {
        let bytes = std::slice::from_raw_parts(bytes.cast::<u8>(), count as usize);
        (*context.cast::<Vec<u8>>()).extend_from_slice(bytes);
    }
}

fn gathered(ask: impl FnOnce(&RawSink)) -> Vec<u8> {
    let mut taken = Vec::new();
    ask(&RawSink { context: (&raw mut taken).cast(), write: gather });
    taken
}

/// A table of the library.
fn table<T: tiebreak_abi::Table>(library: &str, symbol: &std::ffi::CStr) -> Option<&'static T> {
    let path = CString::new(library).expect("a path");
    // SAFETY: the examples have no constructors that do harm; the library is never unloaded,
    // and the symbol, if it is there, is a table.
    unsafe {
        let library = dlopen(path.as_ptr(), RTLD_NOW);
        assert!(!library.is_null(), "{path:?} can be loaded");
        let table = dlsym(library, symbol.as_ptr()).cast::<T>().cast_const();
        table.as_ref().inspect(|table| {
            assert_eq!(check(*table).err(), None, "a table that can be used");
        })
    }
}

const INPUT: [u8; 5] = [1, 2, 3, 250, 0];
const SUM: u64 = 256;

fn check_contestant(table: &RawContestant) {
    let workload = RawWorkload {
        struct_bytes: size_of::<RawWorkload>() as u32,
        reserved: 0,
        input: INPUT.as_ptr(),
        input_bytes: INPUT.len() as u64,
        output: std::ptr::null_mut(),
        output_bytes: 0,
        items: 1,
    };
    // SAFETY: as the header says, in its order; `check` has found the functions.
    unsafe {
        let state = table.prepare.expect("checked")(&raw const workload);
        assert!(!state.is_null());
        for _ in 0..3 {
            assert_eq!(table.run.expect("checked")(state), SUM);
        }
        let answer = gathered(|sink| table.dump.expect("checked")(state, sink));
        assert_eq!(answer, format!("{SUM}\n").as_bytes());
        table.release.expect("checked")(state);
    }
}

fn check_oracle(table: &RawOracle) -> Vec<u8> {
    let request = RawRequest {
        struct_bytes: size_of::<RawRequest>() as u32,
        reserved: 0,
        workload: c"w".as_ptr(),
        distribution: c"random".as_ptr(),
        contract: c"published".as_ptr(),
        size: 1000,
        seed: 7,
        part: 0,
        parts: 1,
    };
    // SAFETY: as in `check_contestant`.
    unsafe {
        let input = gathered(|sink| {
            assert_eq!(table.generate.expect("checked")(&raw const request, sink), 0);
        });
        assert_eq!(input.len(), 1000);
        assert!(table.output_bytes.is_none());
        let count = input.len() as u64;
        assert_eq!(table.items.expect("checked")(&raw const request, input.as_ptr(), count), 1);
        let mut sum = 0;
        let answer = gathered(|sink| {
            let ask = table.answer.expect("checked");
            assert_eq!(ask(&raw const request, input.as_ptr(), count, sink, &raw mut sum), 0);
        });
        assert_eq!(sum, input.iter().map(|byte| u64::from(*byte)).sum::<u64>());
        assert_eq!(answer, format!("{sum}\n").as_bytes());
        input
    }
}

#[test]
fn examples_are_contestants_and_oracles() {
    let (mut languages, mut inputs) = (Vec::new(), Vec::new());
    for (language, source) in examples() {
        let folder = Folder::new();
        languages.push(language.clone());
        let Some(library) = build(&folder, &language, &source) else { continue };
        let contestant = table::<RawContestant>(&library, tiebreak_abi::CONTESTANT_SYMBOL);
        let oracle = table::<RawOracle>(&library, tiebreak_abi::ORACLE_SYMBOL);
        assert!(contestant.is_some() || oracle.is_some(), "{language}: exports a table\n{source}");
        contestant.into_iter().for_each(check_contestant);
        inputs.extend(oracle.map(check_oracle));
    }
    assert_eq!(languages, ["c", "c++", "d", "rust", "c", "rust"], "what the manual shows");
    assert!(inputs.windows(2).all(|pair| pair[0] == pair[1]), "equal requests give equal bytes");
}
