//! What a seed changes and what it does not.

use crate::bench::{Bench, SOURCE, c, call, entrant, object, words};
use object::{Object, ObjectSection, ObjectSymbol, SymbolKind};
use std::collections::BTreeSet;
use std::fs;
use std::path::PathBuf;
use tiebreak_core::language::Language;
use tiebreak_core::study::{Built, Entrant};
use tiebreak_measure::build::{Linker, Placer};

/// Two objects: the table, and what it calls.
fn two_objects(bench: &Bench) -> Entrant {
    bench.write("body.h", "extern uint64_t helper(void);\n#define BODY helper()\n");
    let helper = "#include <stdint.h>\nextern uint64_t helper(void);\n\
                  static const uint64_t words[4] = {7, 7, 7, 7};\nstatic volatile int at;\n\
                  uint64_t helper(void) { return words[at & 3]; }\n";
    bench.write("helper.c", helper);
    let mut entrant = c();
    entrant.recipe.sources = words(&["a.c", "helper.c"]);
    entrant
}

fn link(bench: &Bench, built: &Built, seed: u64) -> PathBuf {
    let out = bench.beside(&format!("{seed}.so"));
    Linker::link(&built.form, seed, &out).unwrap_or_else(|error| panic!("{error}"));
    out
}

#[test]
fn equal_seeds_give_equal_bytes() {
    let bench = Bench::new();
    let built = bench.build(&two_objects(&bench)).unwrap();
    let mut files = BTreeSet::new();
    for seed in 0..20 {
        let bytes = fs::read(link(&bench, &built, seed)).unwrap();
        let again = bench.beside("a name of another length.so");
        Linker::link(&built.form, seed, &again).unwrap();
        assert_eq!(bytes, fs::read(&again).unwrap(), "seed {seed}");
        files.insert(bytes);
    }
    assert_eq!(files.len(), 20, "seeds differ");
    let leftovers = fs::read_dir(bench.beside("")).unwrap().flatten();
    assert!(
        leftovers.filter(|entry| entry.path().extension() == Some("log".as_ref())).count() == 0
    );
}

/// Links with 256 seeds, and places with others, and looks where the timed function stands: in each
/// 16th of a page, and at each multiple of 16 in a cache line, about equally often.
fn check_spread(bench: &Bench, entrant: &Entrant) {
    let built = bench.build(entrant).unwrap_or_else(|error| panic!("{error}"));
    check_uniform(|seed| link(bench, &built, seed));
    check_uniform(|seed| place(bench, &built, 256 + seed));
}

fn check_uniform(make: impl Fn(u64) -> PathBuf) {
    let (mut in_page, mut in_line) = ([0_u32; 16], [0_u32; 4]);
    for seed in 1..=256 {
        let out = make(seed);
        let (result, address) = call(&out);
        assert_eq!(result, 7);
        in_page[address % 4096 / 256] += 1;
        in_line[address % 64 / 16] += 1;
        fs::remove_file(out).unwrap();
    }
    let chi_squared = |counts: &[u32]| {
        let expected = 256.0 / counts.len() as f64;
        counts.iter().map(|&count| (f64::from(count) - expected).powi(2) / expected).sum::<f64>()
    };
    // Exceeded by one uniform draw in ten thousand, at 15 and at 3 degrees of freedom.
    assert!(chi_squared(&in_page) < 44.3, "{in_page:?}");
    assert!(chi_squared(&in_line) < 21.1, "{in_line:?}");
}

#[test]
fn code_of_c_stands_anywhere_in_a_page() {
    let bench = Bench::new();
    check_spread(&bench, &two_objects(&bench));
}

#[test]
fn hot_code_stands_anywhere_too() {
    let bench = Bench::new();
    bench.write(
        "a.c",
        &SOURCE.replace("static uint64_t run", "__attribute__((hot)) static uint64_t run"),
    );
    check_spread(&bench, &c());
}

#[test]
fn code_of_rust_stands_anywhere_too() {
    let bench = Bench::new();
    bench.write(
        "a.rs",
        "use tiebreak_abi::{Contestant, Sink, Workload, contestant};
         struct Test;
         impl Contestant for Test {
             const NAME: &'static core::ffi::CStr = c\"test\";
             type State<'w> = Workload<'w>;
             fn prepare(workload: Workload<'_>) -> Option<Workload<'_>> { Some(workload) }
             fn run(_: &mut Workload<'_>) -> u64 { format!(\"{:?}\", [1, 2]).len() as u64 + 1 }
             fn dump(_: &mut Workload<'_>, _: &mut Sink<'_>) {}
         }
         contestant!(Test);",
    );
    let entrant = entrant(Language::named("rust").unwrap(), "rustc", "a.rs");
    let object_bytes = fs::metadata(object(&bench.build(&entrant).unwrap())).unwrap().len();
    assert!(object_bytes < 15 << 20, "the parts that are not needed are left out: {object_bytes}");
    check_spread(&bench, &entrant);
}

#[test]
fn data_stands_anywhere_too() {
    let bench = Bench::new();
    let source =
        "static const char text[5000] = \"text\"; static int number = 3; static char zero[99];";
    let kinds = ["text", "&number", "zero"];
    for kind in kinds {
        // The result is an address in a page, as the library is loaded at the start of one.
        bench.write("body.h", &format!("{source}\n#define BODY ((uint64_t){kind} & 4095)\n"));
        let built = bench.build(&c()).unwrap();
        let places: BTreeSet<_> =
            (1..=64).map(|seed| call(&link(&bench, &built, seed)).0).collect();
        // 64 draws among 256 places or more: 56 different ones are expected.
        assert!(places.len() > 40, "{kind}: {places:?}");
    }
}

#[test]
fn a_contestant_exports_its_table_alone() {
    let bench = Bench::new();
    bench.write(
        "a.c",
        &format!("{SOURCE}\n__attribute__((visibility(\"default\"))) int other_name;"),
    );
    let built = bench.build(&c()).unwrap();
    let out = link(&bench, &built, 1);
    // SAFETY: loads a library of ours.
    let library = unsafe { libloading::Library::new(&out).unwrap() };
    // SAFETY: only looks for names.
    unsafe {
        assert!(library.get::<*const u32>(tiebreak_abi::CONTESTANT_SYMBOL).is_ok());
        assert!(library.get::<*const u32>(c"other_name").is_err());
    }
}

/// Places without the linker.
fn place(bench: &Bench, built: &Built, seed: u64) -> PathBuf {
    let placer = Placer::of(&built.form).unwrap_or_else(|why| panic!("{why}"));
    let out = bench.beside(&format!("{seed}-placed.so"));
    fs::write(&out, placer.place(seed).unwrap_or_else(|why| panic!("{why}"))).unwrap();
    out
}

/// Places and links with the same seeds: the function gives the same, and lies at the same offset
/// in a page up to some multiples of 16 bytes, the step of the pads: between sections of templates,
/// gold leaves more room than their alignment asks for.
fn check_placed(bench: &Bench, entrant: &Entrant) {
    let built = bench.build(entrant).unwrap_or_else(|error| panic!("{error}"));
    let mut shifts = BTreeSet::new();
    for seed in 0..16 {
        let (linked, placed) = (link(bench, &built, seed), place(bench, &built, seed));
        let (linked, placed) = (call(&linked), call(&placed));
        assert_eq!((linked.0, placed.0), (7, 7), "seed {seed}");
        shifts.insert(placed.1.wrapping_sub(linked.1) % 16);
    }
    assert_eq!(shifts, BTreeSet::from([0]));
}

/// A contestant in C++ of the table and of these sources.
fn cpp(bench: &Bench, body: &str, sources: &[(&str, &str)]) -> Entrant {
    bench.write("body.h", body);
    let source = fs::read_to_string(bench.path("a.c")).unwrap();
    bench.write("a.cpp", &source);
    let mut entrant = entrant(Language::named("c++").unwrap(), "g++", "a.cpp");
    for (name, text) in sources {
        bench.write(name, text);
        entrant.recipe.sources.push((*name).to_owned());
    }
    entrant
}

#[test]
fn a_placement_is_where_the_linker_puts_it() {
    let bench = Bench::new();
    let entrant = two_objects(&bench);
    check_placed(&bench, &entrant);
    let built = bench.build(&entrant).unwrap();
    for seed in 0..64 {
        let (linked, placed) = (link(&bench, &built, seed), place(&bench, &built, seed));
        assert_eq!(call(&placed).1 % 4096, call(&linked).1 % 4096, "seed {seed}");
    }
}

#[test]
fn libraries_by_another_linker_are_followed_too() {
    let bench = Bench::new();
    let mut entrant = two_objects(&bench);
    let without_gold =
        "for word; do shift; [ \"$word\" = -fuse-ld=gold ] || set -- \"$@\" \"$word\"
        done\nexec gcc \"$@\"";
    entrant.recipe.compiler = bench.script("gcc-without-gold", without_gold);
    check_placed(&bench, &entrant);
    bench.write("body.h", "#include <stdlib.h>\n#define BODY (uint64_t)atoi(\"7\")\n");
    check_placed(&bench, &entrant);
}

#[test]
fn thread_local_data_constructors_and_calls_of_libraries_are_placed() {
    let bench = Bench::new();
    bench.write(
        "body.h",
        "#include <math.h>\n#include <stdio.h>\n#include <stdlib.h>\n#include <string.h>
         static _Thread_local int own = 3; static _Thread_local char zero[99];
         _Thread_local int far = 1;
         extern int nowhere(void) __attribute__((weak));
         static int made; __attribute__((constructor)) static void make(void) { made = 1; }
         static int (*const table[])(const char *) = {atoi, puts};
         static const char *const words[] = {\"one\", \"two\"};
         static int odd(int x) { return x & 1; } static int (*volatile call_me)(int) = odd;
         #define BODY (own++ - own + 1 + far + made + (nowhere ? 99 : 0) + table[0](\"2\") \\
             + (int)strlen(words[own & 1]) - 3 + call_me(3) + zero[own & 63] + (int)sqrt(4.0))\n",
    );
    let mut entrant = c();
    entrant.recipe.libraries = words(&["-lm"]);
    check_placed(&bench, &entrant);
}

#[test]
fn exceptions_templates_and_virtual_functions_are_placed() {
    let bench = Bench::new();
    let shared = "#include <cstdint>\n#include <string>\n#include <vector>\n#include <stdexcept>
        struct Shape { virtual ~Shape() = default; virtual int sides() const { return 0; } };
        template <class T> T twice(T value) { static T last; last = value; return last + last; }
        struct Counter { int count = 0; Counter() { count++; } ~Counter() { count--; } };
        inline Counter &counter() { static thread_local Counter own; return own; }
        uint64_t helper(int);\n";
    let helper = "#include \"shared.h\"
        struct Square : Shape { int sides() const override { return 4; } };
        static std::vector<std::string> words = {\"a\", \"bcd\"};
        static void fail(int how) { if (how) throw std::runtime_error(words[1]); }
        uint64_t helper(int how) {
            Square square; const Shape *shape = &square; std::string text;
            try { Counter inner; fail(how); }
            catch (const std::exception &error) { text = error.what(); }
            if (!dynamic_cast<const Square *>(shape)) throw 1;
            return shape->sides() + text.size() + counter().count - 1 + twice(0);
        }\n";
    let body = "#include \"shared.h\"\n#define BODY (helper(1) + twice(0) + twice<long>(0))\n";
    bench.write("shared.h", shared);
    let entrant = cpp(&bench, body, &[("helper.cpp", helper)]);
    check_placed(&bench, &entrant);
}

#[test]
fn hot_and_cold_code_is_placed() {
    let bench = Bench::new();
    bench.write(
        "body.h",
        "__attribute__((hot, noinline)) static int hot(int x) { return x + 1; }
         __attribute__((cold, noinline)) static int cold(int x) { return x - 1; }
         static volatile int six = 6, eight = 8;
         \n#define BODY (six < 7 ? hot(six) : cold(eight))\n",
    );
    check_placed(&bench, &c());
    bench.write("helper.c", "int cold_too(int x) { return x; }\n");
    let mut entrant = c();
    entrant.recipe.sources.push("helper.c".to_owned());
    entrant.recipe.flags = words(&["-O2", "-ffunction-sections", "-fdata-sections"]);
    check_placed(&bench, &entrant);
}

/// Builds a contestant in C with this `body.h`, these flags and libraries, and checks that only the
/// linker can place it, or that it is placed, if no reason is expected.
fn check_refused(body: &str, flags: &[&str], libraries: &[&str], expected: &str) {
    let bench = Bench::new();
    bench.write("body.h", body);
    let mut entrant = c();
    entrant.recipe.flags = [&words(&["-O2"]), &words(flags)[..]].concat();
    entrant.recipe.libraries = words(libraries);
    let built = bench.build(&entrant).unwrap_or_else(|error| panic!("{error}"));
    match Placer::of(&built.form) {
        Ok(_) => assert!(expected.is_empty(), "placed, in spite of {expected}"),
        Err(why) => assert!(!expected.is_empty() && why.to_string().contains(expected), "{why}"),
    }
    let out = if expected.is_empty() { place(&bench, &built, 3) } else { link(&bench, &built, 3) };
    assert_eq!(call(&out).0, 7);
}

#[test]
fn what_only_the_linker_can_place_is_refused_with_the_reason() {
    let check = |body: &str, flags: &[&str], expected| check_refused(body, flags, &[], expected);
    let seven = "#define BODY 7\n";
    let with = |source: &str| format!("{source}\n#define BODY 7\n");
    let ifunc = "static int seven(void) { return 7; }
        static int (*choose(void))(void) { return seven; }
        static int chosen(void) __attribute__((ifunc(\"choose\")));\n#define BODY chosen()\n";
    check(ifunc, &[], "chosen at load (IFUNC)");
    check("int common[4];\n#define BODY (7 + common[1])\n", &["-fcommon"], "COMMON");
    check(seven, &["-flto"], "-flto");
    check(seven, &["-flto", "-ffat-lto-objects"], "-flto");
    check(seven, &["-Wl,-z,execstack", "-Wl,-rpath,/nowhere"], "");
    check(seven, &["-Wl,--defsym=other=0"], "--defsym");
    check(seven, &["-Xlinker", "--wrap=malloc"], "--wrap");
    let end = "extern char _end[];
        char *volatile at = _end;\n#define BODY (at ? 7 : 8)\n";
    check(end, &["-O0"], "'_end'");
    let own = "extern const char own[] __attribute__((weak, visibility(\"hidden\")));\n#define own \
               __ehdr_start\n#define BODY (own && own[1] == 'E' ? 7 : 8)\n";
    check(&own.replacen("own[]", "__ehdr_start[]", 1), &[], "'__ehdr_start'");
    let section = |flags: &str, text: &str| {
        with(&format!("__asm__(\".pushsection {flags}\\n{text}\\n.popsection\");"))
    };
    let constructor = "static void make(void) {}
        static void (*made)(void) __attribute__((section(\".ctors\"), used)) = make;";
    check(&with(constructor), &[], "'.ctors'");
    check(&section(".odd,\\\"awx\\\"", ".quad 1"), &[], "writable and executable");
    if cfg!(target_arch = "x86_64") {
        let relocation = "odd: .quad odd@GOTOFF";
        check(&section(".data.odd,\\\"aw\\\"", relocation), &[], "a relocation");
        let part = "int far; __attribute__((visibility(\"default\"))) extern int far;
            static inline int upper(void) { uint64_t all; unsigned high;
            __asm__(\"movq far@GOTPCREL(%%rip), %0; movl far@GOTPCREL+4(%%rip), %1\"
            : \"=r\"(all), \"=r\"(high)); return all >> 32 == high; }
            \n#define BODY (6 + upper())\n";
        check(part, &[], "");
    }
    let bench = Bench::new();
    let mut entrant = c();
    entrant.recipe.is_linked = true;
    assert!(Placer::of(&bench.build(&entrant).unwrap().form).is_err(), "as the study asks");
}

#[test]
fn objects_are_known_by_what_they_are() {
    let bench = Bench::new();
    let object = bench.beside("an object of another ending");
    bench.write(
        "other.c",
        "extern int made; __attribute__((constructor)) static void make(void) { made = 7; }",
    );
    let mut command = std::process::Command::new("gcc");
    command.args(["-fPIC", "-fvisibility=hidden", "-c", "-o"]).arg(&object);
    assert!(command.arg(bench.path("other.c")).status().unwrap().success());
    check_refused("int made;\n#define BODY made\n", &[], &[object.to_str().unwrap()], "");
}

#[test]
fn debuggers_find_functions_and_no_page_is_writable_and_executable() {
    let bench = Bench::new();
    bench.write(
        "body.h",
        "static const char *const volatile relocated[] = {\"1\"}; static volatile int data = 7;
         \n#define BODY (data + (relocated[0][0] - '1'))\n",
    );
    let built = bench.build(&c()).unwrap();
    let placed = place(&bench, &built, 5);
    let bytes = fs::read(&placed).unwrap();
    let file = object::File::parse(&*bytes).unwrap();
    let run = file.symbols().find(|symbol| symbol.name() == Ok("run")).unwrap();
    assert_eq!(run.address() as usize % 4096, call(&placed).1 % 4096);
    assert_eq!(file.symbol_by_name("data").map(|symbol| symbol.kind()), Some(SymbolKind::Data));
    let text = file.section_by_name(".text").unwrap();
    assert_eq!(run.section_index(), Some(text.index()));
    // SAFETY: loads a library of ours.
    let _library = unsafe { libloading::Library::new(&placed).unwrap() };
    let maps = fs::read_to_string("/proc/self/maps").unwrap();
    let own = maps.lines().filter(|line| line.ends_with(placed.to_str().unwrap()));
    let access: BTreeSet<_> = own.filter_map(|line| line.split(' ').nth(1)).collect();
    assert!(access.contains("r-xp") && access.contains("rw-p") && access.contains("r--p"));
    assert!(access.iter().all(|one| !one.starts_with("rwx") && !one.starts_with("-wx")));
    // What is relocated and then protected.
    let section =
        file.section_by_name(".data.rel.ro.local").or(file.section_by_name(".data.rel.ro"));
    let base = maps.lines().find(|line| line.ends_with(placed.to_str().unwrap())).unwrap();
    let base = u64::from_str_radix(base.split('-').next().unwrap(), 16).unwrap();
    let at = base + section.unwrap().address();
    let holds = |line: &&str| {
        let (begin, rest) = line.split_once('-').unwrap();
        let [begin, end] = [begin, rest.split(' ').next().unwrap()]
            .map(|text| u64::from_str_radix(text, 16).unwrap());
        (begin..end).contains(&at)
    };
    assert!(maps.lines().find(holds).unwrap().contains(" r--p "), "{at:x} in {maps}");
}
