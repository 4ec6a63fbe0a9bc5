//! Placements for AArch64 on another machine: compiled by a cross compiler, run by an emulator.

use crate::bench::{Bench, entrant, words};
use std::collections::BTreeSet;
use std::fs;
use std::path::Path;
use std::process::Command;
use tiebreak_core::language::Language;
use tiebreak_core::study::BuiltForm;
use tiebreak_measure::build::{Linker, Placer};

/// Loads a library, and prints what its contestant gives and where in a page its function lies.
const LOADER: &str = r#"
#include "tiebreak.h"
#include <dlfcn.h>
#include <stdio.h>
int main(int count, char **words) {
  void *library = dlopen(words[count - 1], RTLD_NOW | RTLD_LOCAL);
  if (!library) return puts(dlerror()), 1;
  const tiebreak_contestant *table = dlsym(library, "tiebreak_contestant_table");
  printf("%d %d\n", (int)table->run((void *)words), (int)((uintptr_t)table->run % 4096));
  return dlclose(library);
}"#;

const PLAIN: &str = r#"
#include <math.h>
#include <stdlib.h>
#include <string.h>
static __thread int own = 3; __thread int far = 1; static __thread char zero[99];
extern __thread int other;
extern int nowhere(void) __attribute__((weak));
extern int helper(int); extern int wide[];
static int made; __attribute__((constructor)) static void make(void) { made = 1; }
static int (*const table[])(const char *) = {atoi};
static const char *const words[] = {"one", "two"};
static volatile long double quad = 2; static volatile short halves[3] = {1, 2, 3};
#define BODY (own + far + made + other + (nowhere ? 99 : 0) + table[0]("2") \
  + (int)strlen(words[own & 1]) + zero[own] + (int)sqrt((double)quad + 2) + helper(1) \
  + wide[1] + halves[1] - 10)
"#;
const HELPER: &str = r#"
__thread int other = 1; int wide[5000] = {0, 1};
int helper(int x) { switch (x) { case 0: return 3; case 1: return 1; case 2: return wide[2];
  case 3: return 9; case 4: return 12; case 5: return -1; default: return wide[x]; } }
"#;
const THROWS: &str = r#"
#include <stdexcept>
#include <string>
#include <vector>
template <class T> T twice(T value) { static T last; last = value; return last + last; }
static std::vector<std::string> list = {"a", "bcd"};
__attribute__((noinline)) static void fail(int how) { if (how) throw std::runtime_error(list[1]); }
__attribute__((noinline)) static int caught() {
  std::string text;
  try { fail(1); } catch (const std::exception &error) { text = error.what(); }
  return (int)text.size() + 4 + twice(0);
}
#define BODY caught()
"#;

const GCC: &str = "aarch64-linux-gnu-gcc";

fn is_there(program: &str) -> bool {
    let found = Command::new(program).arg("--version").output();
    found.is_ok_and(|output| output.status.success())
}

fn compile(folder: &Path, arguments: &[&str]) {
    let status = Command::new(GCC).current_dir(folder).args(arguments).status().unwrap();
    assert!(status.success(), "{arguments:?}");
}

/// Puts pads for this processor in the place of those that the machine's own compiler made.
fn cross_pads(folder: &Path, form: &mut BuiltForm) {
    let BuiltForm::Objects { code_padding, data_padding, .. } = form else { panic!("a process") };
    for (section, padding) in [("text", code_padding), ("data", data_padding)] {
        *padding = (4..12).map(|power| (format!("{section}-{power}.o"), 1 << power)).collect();
        for (name, bytes) in padding {
            let flags = if section == "text" { "ax" } else { "aw" };
            let text = format!("\t.section .{section},\"{flags}\"\n\t.fill {bytes}, 1, 0xcc\n");
            fs::write(folder.join("pad.s"), text).unwrap();
            compile(folder, &["-c", "pad.s", "-o", name]);
            *name = folder.join(&*name).to_str().unwrap().to_owned();
        }
    }
}

fn check(bench: &Bench, language: &str, body: &str, flags: &[&str]) {
    bench.write("body.h", body);
    let source = if language == "c" { "a.c" } else { "a.cpp" };
    bench.write(source, crate::bench::SOURCE);
    let compiler = if language == "c" { GCC } else { "aarch64-linux-gnu-g++" };
    let mut entrant = entrant(Language::named(language).unwrap(), compiler, source);
    entrant.recipe.flags = [&words(&["-O2"]), &words(flags)[..]].concat();
    if language == "c" {
        entrant.recipe.sources.push("helper.c".to_owned());
        entrant.recipe.libraries = words(&["-lm"]);
    }
    let built = bench.build(&entrant).unwrap_or_else(|error| panic!("{error}"));
    let (folder, mut form) = (bench.beside(""), built.form);
    cross_pads(&folder, &mut form);
    let placer = Placer::of(&form).unwrap_or_else(|why| panic!("{flags:?}: {why}"));
    let out = folder.join("out.so");
    let run = |how: &str| {
        let mut command = Command::new("qemu-aarch64");
        let loaded = command.args(["-L", "/usr/aarch64-linux-gnu"]).arg(folder.join("loader"));
        let said = String::from_utf8(loaded.arg(&out).output().unwrap().stdout).unwrap();
        let offset = said.trim().strip_prefix("7 ").and_then(|offset| offset.parse::<usize>().ok());
        offset.unwrap_or_else(|| panic!("{flags:?}, {how}: {said}"))
    };
    let mut offsets = BTreeSet::new();
    for seed in 0..12 {
        Linker::link(&form, seed, &out).unwrap_or_else(|error| panic!("{error}"));
        let linked = run("linked");
        fs::write(&out, placer.place(seed).unwrap_or_else(|why| panic!("{why}"))).unwrap();
        let placed = run("placed");
        // Gold writes the file's name into it, so what follows may lie some steps later.
        assert_eq!(linked % 16, placed % 16, "{flags:?}, seed {seed}");
        offsets.insert(placed);
    }
    assert!(offsets.len() > 6, "{offsets:?}");
}

#[test]
fn aarch64_is_placed() {
    if let Some(missing) = [GCC, "qemu-aarch64"].iter().find(|program| !is_there(program)) {
        return eprintln!("not tested: '{missing}' is not installed");
    }
    let bench = Bench::new();
    let folder = bench.beside("");
    for (name, text) in tiebreak_abi::SOURCES {
        bench.write(name, text);
    }
    fs::write(folder.join("loader.c"), LOADER).unwrap();
    compile(&folder, &["-O1", "-I", "study/include", "loader.c", "-o", "loader", "-ldl"]);
    bench.write("helper.c", HELPER);
    let all: [&[&str]; 5] = [
        &[],
        &["-mtls-dialect=trad"],
        &["-ftls-model=initial-exec", "-fno-plt"],
        &["-O0", "-ffunction-sections"],
        &["-ftls-model=local-dynamic", "-mtls-dialect=trad", "-Os"],
    ];
    for flags in all {
        check(&bench, "c", PLAIN, flags);
    }
    if is_there("aarch64-linux-gnu-g++") {
        check(&bench, "c++", THROWS, &[]);
    }
}
