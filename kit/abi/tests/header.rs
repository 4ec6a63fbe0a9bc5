//! The header as compilers see it: no warning as C99 and C++11, and the layout of `raw.rs`.

mod common;

use common::{Folder, has, include, run};
use core::mem::offset_of;
use tiebreak_abi::{RawContestant, RawOracle, RawRequest, RawSink, RawWorkload};

/// Uses the long forms of the header.
const USER: &str = r#"
#include "tiebreak.h"
TIEBREAK_KERNEL uint64_t kernel(const uint8_t *byte) { return *byte; }
static void *prepare(const tiebreak_workload *workload) { return workload->output; }
static uint64_t run(void *state) {
  uint64_t seed = 1, total = kernel((const uint8_t *)tiebreak_launder(state));
  tiebreak_keep(tiebreak_random(&seed));
  return total;
}
static void dump(void *state, const tiebreak_sink *sink) { sink->write(sink->context, state, 1); }
static void release(void *state) { (void)state; }
TIEBREAK_CONTESTANT("user", prepare, run, dump, release);
static int generate(const tiebreak_request *request, const tiebreak_sink *sink) {
  sink->write(sink->context, request->workload, 1);
  return 0;
}
static uint64_t items(const tiebreak_request *request, const uint8_t *input, uint64_t bytes) {
  return request->size + input[0] + bytes;
}
static int answer(const tiebreak_request *request, const uint8_t *input, uint64_t bytes,
                  const tiebreak_sink *sink, uint64_t *checksum) {
  *checksum = items(request, input, bytes);
  return generate(request, sink);
}
TIEBREAK_ORACLE(generate, items, 0, answer);
"#;

/// Uses its short forms.
const SHORT: &str = r#"
#include "tiebreak.h"
TIEBREAK_KERNEL uint64_t ends(const uint8_t *bytes, uint64_t count) { return count + bytes[0]; }
static uint8_t text(uint64_t *state) { return (uint8_t)(tiebreak_random(state) % 40); }
TIEBREAK_NUMBER(ends);
TIEBREAK_BYTES(text);
TIEBREAK_NUMBER_ORACLE(text_bytes, ends);
"#;

#[test]
fn no_compiler_warns() {
    [USER, SHORT].into_iter().for_each(compiles_everywhere);
}

fn compiles_everywhere(text: &str) {
    let folder = Folder::new();
    let (c, cpp) = (folder.write("user.c", text), folder.write("user.cpp", text));
    let rows = [
        ("gcc", "c99", &c),
        ("gcc", "c17", &c),
        ("clang", "c99", &c),
        ("clang", "c17", &c),
        ("g++", "c++11", &cpp),
        ("g++", "c++20", &cpp),
        ("clang++", "c++11", &cpp),
        ("clang++", "c++20", &cpp),
    ];
    for (compiler, standard, source) in rows.into_iter().filter(|row| has(row.0)) {
        for definition in ["-DTIEBREAK_SEPARATELY", "-DTIEBREAK_INLINED"] {
            let library = folder.path("user.so");
            run(&[
                compiler,
                &format!("-std={standard}"),
                "-Wall",
                "-Wextra",
                "-pedantic",
                "-Werror",
                definition,
                "-O1",
                "-fPIC",
                "-shared",
                "-fvisibility=hidden",
                "-I",
                &include(),
                source,
                "-o",
                &library,
            ]);
            let names = run(&["nm", "-D", "--defined-only", &library]);
            for symbol in ["tiebreak_contestant_table", "tiebreak_oracle_table"] {
                assert!(names.contains(symbol), "{compiler} -std={standard} exports {symbol}");
            }
        }
    }
}

/// Every size and offset as `name number`, a line each, of C and D.
macro_rules! layouts {
    ($($raw:ident = $c:literal { $($field:ident),* };)*) => {{
        let mut rust = String::new();
        let (mut c, mut d) = (String::new(), String::new());
        $(
            rust += &format!("{} {}\n", $c, size_of::<$raw>());
            c += &format!("  printf(\"{0} %zu\\n\", sizeof({0}));\n", $c);
            d += &format!("  printf(\"{0} %zu\\n\", {0}.sizeof);\n", $c);
            $(
                let name = concat!($c, ".", stringify!($field));
                rust += &format!("{name} {}\n", offset_of!($raw, $field));
                c += &format!("  printf(\"{name} %zu\\n\", offsetof({}, {}));\n", $c,
                    stringify!($field));
                d += &format!("  printf(\"{name} %zu\\n\", {name}.offsetof);\n");
            )*
        )*
        (rust, c, d)
    }};
}

#[test]
fn layouts_are_those_of_rust() {
    let (mut rust, mut c, d) = layouts! {
        RawWorkload = "tiebreak_workload" {
            struct_bytes, reserved, input, input_bytes, output, output_bytes, items };
        RawSink = "tiebreak_sink" { context, write };
        RawContestant = "tiebreak_contestant" {
            magic, abi, struct_bytes, flags, name, needs, input_slack_bytes, output_slack_bytes,
            alignment_bytes, reserved, prepare, reset, run, dump, release };
    };
    let folder = Folder::new();
    if has("ldc2") {
        let source = folder.write(
            "layout.d",
            &format!(
                "import core.stdc.stdio;\nimport tiebreak;\nextern (C) int main()\n{{\n{d}  \
                printf(\"%u %u %u\\n\", TIEBREAK_ABI, TIEBREAK_MAGIC, TIEBREAK_ALLOCATES);\n  \
                return 0;\n}}\n"
            ),
        );
        let program = folder.path("layout-d");
        run(&["ldc2", "-betterC", &format!("-I{}", include()), &source, &format!("-of={program}")]);
        assert_eq!(run(&[&program]), format!("{rust}{}", constants()), "ldc2");
    }
    let oracle = layouts! {
        RawRequest = "tiebreak_request" {
            struct_bytes, reserved, workload, distribution, contract, size, seed, part, parts };
        RawOracle = "tiebreak_oracle" {
            magic, abi, struct_bytes, reserved, generate, items, output_bytes, answer };
    };
    rust += &oracle.0;
    c += &oracle.1;
    let source = folder.write(
        "layout.c",
        &format!(
            "#include \"tiebreak.h\"\n#include <stddef.h>\n#include <stdio.h>\nint main(void) \
            {{\n{c}  printf(\"%u %u %u\\n\", TIEBREAK_ABI, TIEBREAK_MAGIC, TIEBREAK_ALLOCATES);\n  \
            return 0;\n}}\n"
        ),
    );
    for compiler in ["gcc", "clang"].into_iter().filter(|name| has(name)) {
        let program = folder.path("layout");
        run(&[compiler, "-I", &include(), &source, "-o", &program]);
        assert_eq!(run(&[&program]), format!("{rust}{}", constants()), "{compiler}");
    }
}

fn constants() -> String {
    use tiebreak_abi::{ABI, ALLOCATES, MAGIC};
    format!("{ABI} {MAGIC} {ALLOCATES}\n")
}

/// The stream of the header is that of [`tiebreak_abi::Random`].
#[test]
fn random_numbers_are_those_of_rust() {
    if !has("gcc") {
        return;
    }
    let folder = Folder::new();
    let source = folder.write(
        "random.c",
        "#include \"tiebreak.h\"\n#include <stdio.h>\nint main(void) {\n  uint64_t state = 42;\n  \
         for (int i = 0; i < 5; i++) \n    \
         printf(\"%llu\\n\", (unsigned long long)tiebreak_random(&state));\n  \
         return 0;\n}\n",
    );
    let program = folder.path("random");
    run(&["gcc", "-I", &include(), &source, "-o", &program]);
    let mut random = tiebreak_abi::Random::new(42);
    let expected: String = (0..5).map(|_| format!("{}\n", random.next_u64())).collect();
    assert_eq!(run(&[&program]), expected);
}
