//! What compilers make of a loop over a pure function, with and without laundering.
//!
//! Each source has a loop that calls a function which only reads, once by a real call and once
//! inlined. Laundered, the work must stand inside of the loop; not laundered, the same compiler
//! must take it out: a negative control, without which this test could not fail.

mod common;

use common::{Folder, has, include, run};

const C: &str = r#"
#include "tiebreak.h"
__attribute__((noinline)) uint64_t kernel(const uint64_t *word) { return *word ^ 5; }
static inline uint64_t inlined(const uint64_t *word) { return *word ^ 5; }
#ifdef LAUNDERED
#define POINTER ((const uint64_t *)tiebreak_launder(word))
#define USE(value) tiebreak_keep(value)
#else
#define POINTER word
#define USE(value) (void)(value)
#endif
#ifdef __cplusplus
extern "C" {
#endif
uint64_t sum_of_calls(const uint64_t *word, uint64_t count) {
  uint64_t total = 0;
  for (uint64_t i = 0; i < count; i++) total = (total << 1) ^ kernel(POINTER);
  return total;
}
uint64_t sum_inlined(const uint64_t *word, uint64_t count) {
  uint64_t total = 0;
  for (uint64_t i = 0; i < count; i++) total = (total << 1) ^ inlined(POINTER);
  return total;
}
void dropped_calls(const uint64_t *word, uint64_t count) {
  for (uint64_t i = 0; i < count; i++) USE(kernel(POINTER));
}
void dropped_inlined(const uint64_t *word, uint64_t count) {
  for (uint64_t i = 0; i < count; i++) USE(inlined(POINTER));
}
#ifdef __cplusplus
}
#endif
"#;

const RUST: &str = r#"
#[cfg(laundered)]
use tiebreak_abi::{keep, launder};
#[cfg(not(laundered))]
fn launder<T>(pointer: T) -> T { pointer }
#[cfg(not(laundered))]
fn keep(_value: u64) {}

#[unsafe(no_mangle)]
#[inline(never)]
pub fn kernel(word: &u64) -> u64 { *word ^ 5 }
#[inline(always)]
fn inlined(word: &u64) -> u64 { *word ^ 5 }

#[unsafe(no_mangle)]
pub fn sum_of_calls(word: &u64, count: u64) -> u64 {
    (0..count).fold(0, |total, _| (total << 1) ^ kernel(launder(word)))
}
#[unsafe(no_mangle)]
pub fn sum_inlined(word: &u64, count: u64) -> u64 {
    (0..count).fold(0, |total, _| (total << 1) ^ inlined(launder(word)))
}
#[unsafe(no_mangle)]
pub fn dropped_calls(word: &u64, count: u64) {
    (0..count).for_each(|_| keep(kernel(launder(word))));
}
#[unsafe(no_mangle)]
pub fn dropped_inlined(word: &u64, count: u64) {
    (0..count).for_each(|_| keep(inlined(launder(word))));
}
"#;

const D: &str = r#"
module loops;
version (Laundered) import tiebreak;
else
{
    T* tiebreak_launder(T)(T* pointer) { pragma(inline, true); return pointer; }
    void tiebreak_keep()(ulong value) { pragma(inline, true); }
}
extern (C) nothrow @nogc:
pragma(inline, false) ulong kernel(const(ulong)* word) { return *word ^ 5; }
pragma(inline, true) ulong inlined(const(ulong)* word) { return *word ^ 5; }
ulong sum_of_calls(const(ulong)* word, ulong count)
{
    ulong total = 0;
    foreach (i; 0 .. count) total = (total << 1) ^ kernel(tiebreak_launder(word));
    return total;
}
ulong sum_inlined(const(ulong)* word, ulong count)
{
    ulong total = 0;
    foreach (i; 0 .. count) total = (total << 1) ^ inlined(tiebreak_launder(word));
    return total;
}
void dropped_calls(const(ulong)* word, ulong count)
{
    foreach (i; 0 .. count) tiebreak_keep(kernel(tiebreak_launder(word)));
}
void dropped_inlined(const(ulong)* word, ulong count)
{
    foreach (i; 0 .. count) tiebreak_keep(inlined(tiebreak_launder(word)));
}
"#;

/// The functions of each source; of the first kind the work is a call, of the second a load.
const CALLS: [&str; 2] = ["sum_of_calls", "dropped_calls"];
const LOADS: [&str; 2] = ["sum_inlined", "dropped_inlined"];

/// The instructions of a function, labels among them.
fn body<'a>(assembly: &'a str, function: &str) -> Vec<&'a str> {
    let lines = || assembly.lines().map(str::trim);
    // Of two functions that came out alike, LLVM keeps one and a second name for it.
    let names = [format!("{function} = "), format!(".set\t{function}, ")];
    let alias = lines().find_map(|line| names.iter().find_map(|name| line.strip_prefix(&**name)));
    let label = format!("{}:", alias.unwrap_or(function));
    let mut rest = lines().skip_while(|line| !line.starts_with(&label));
    assert!(rest.next().is_some(), "the assembly has {function}:\n{assembly}");
    rest.take_while(|line| !line.starts_with(".size") && !line.contains(".cfi_endproc")).collect()
}

/// The lines that a loop repeats: those between a label and a jump back to it.
fn looped<'a>(body: &[&'a str]) -> Vec<&'a str> {
    let mut inside = Vec::new();
    for (start, line) in body.iter().enumerate() {
        let Some(label) = line.split_once(':').map(|(label, _)| label) else { continue };
        let jumps_here = |line: &&str| line.split_whitespace().skip(1).any(|word| word == label);
        if let Some(length) = body[start..].iter().rposition(jumps_here) {
            inside.extend(&body[start..=start + length]);
        }
    }
    inside
}

/// Whether the line reads memory through a pointer.
fn is_load(line: &str) -> bool {
    let address = ["(%r", "[r", "[x"].iter().any(|open| line.contains(open));
    address && !line.starts_with("lea") && !line.starts_with('.')
}

/// Whether the line calls a function: in these sources there is but one.
fn is_call(line: &str) -> bool {
    line.starts_with("call") || line.starts_with("bl")
}

/// Whether the function's loop does its work each time.
fn works_each_time(assembly: &str, function: &str) -> bool {
    let is_work = if CALLS.contains(&function) { is_call } else { is_load };
    looped(&body(assembly, function)).into_iter().any(is_work)
}

/// Holds the assembly with laundering against that without it.
fn check(compiler: &str, laundered: &str, control: &str) {
    for function in CALLS.into_iter().chain(LOADS) {
        assert!(
            works_each_time(laundered, function),
            "{compiler}: the loop of {function} has lost its work\n{laundered}"
        );
        assert!(
            !works_each_time(control, function),
            "{compiler}: without laundering the loop of {function} keeps its work, so that this \
             test shows nothing\n{control}"
        );
    }
}

fn is_known_machine() -> bool {
    let known = cfg!(any(target_arch = "x86_64", target_arch = "aarch64"));
    if !known {
        eprintln!("skipped: the test reads the assembly of x86-64 and AArch64 alone");
    }
    known
}

#[test]
fn c_and_cpp_keep_what_is_laundered() {
    let folder = Folder::new();
    let rows = [("gcc", "c"), ("clang", "c"), ("g++", "cpp"), ("clang++", "cpp")];
    for (compiler, ending) in rows.into_iter().filter(|row| is_known_machine() && has(row.0)) {
        let source = folder.write(&format!("loops.{ending}"), C);
        for level in ["-O1", "-O2", "-O3"] {
            let build = |definition: &str| {
                run(&[
                    compiler,
                    level,
                    "-fno-exceptions",
                    "-fno-unroll-loops",
                    "-S",
                    "-I",
                    &include(),
                    definition,
                    &source,
                    "-o",
                    "-",
                ])
            };
            check(&format!("{compiler} {level}"), &build("-DLAUNDERED"), &build("-DCONTROL"));
        }
    }
}

#[test]
fn rust_keeps_what_is_laundered() {
    if !is_known_machine() || !has("rustc") {
        return;
    }
    let folder = Folder::new();
    let (library, source) = (folder.build_abi(), folder.write("loops.rs", RUST));
    for level in ["1", "2", "3"] {
        let build = |name: &str| {
            let assembly = folder.path("loops.s");
            run(&[
                "rustc",
                "--edition",
                "2024",
                "--crate-type",
                "lib",
                "--emit",
                "asm",
                "--cfg",
                name,
                "--check-cfg",
                "cfg(laundered,control)",
                "-C",
                &format!("opt-level={level}"),
                "-C",
                "codegen-units=1",
                "--extern",
                &format!("tiebreak_abi={library}"),
                &source,
                "-o",
                &assembly,
            ]);
            std::fs::read_to_string(&assembly).expect("rustc wrote it")
        };
        check(&format!("rustc opt-level={level}"), &build("laundered"), &build("control"));
    }
}

#[test]
fn d_keeps_what_is_laundered() {
    if !is_known_machine() || !has("ldc2") {
        return;
    }
    let folder = Folder::new();
    let source = folder.write("loops.d", D);
    let build = |version: &str| {
        let assembly = folder.path("loops.s");
        run(&[
            "ldc2",
            "-betterC",
            "-O2",
            &format!("-d-version={version}"),
            "-output-s",
            &format!("-I{}", include()),
            &source,
            &format!("-of={assembly}"),
        ]);
        std::fs::read_to_string(&assembly).expect("ldc2 wrote it")
    };
    check("ldc2 -O2", &build("Laundered"), &build("Control"));
}
