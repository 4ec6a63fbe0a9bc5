//! What a seed changes and what it does not.

use crate::bench::{Bench, SOURCE, c, call, entrant, object, words};
use std::collections::BTreeSet;
use std::fs;
use std::path::PathBuf;
use tiebreak_core::language::Language;
use tiebreak_core::study::{Built, Entrant};
use tiebreak_measure::build::Linker;

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

/// Links with 256 seeds and looks where the timed function stands: in each 16th of a page, and at
/// each multiple of 16 in a cache line, about equally often.
fn check_spread(bench: &Bench, entrant: &Entrant) {
    let built = bench.build(entrant).unwrap_or_else(|error| panic!("{error}"));
    let (mut in_page, mut in_line) = ([0_u32; 16], [0_u32; 4]);
    for seed in 1..=256 {
        let out = link(bench, &built, seed);
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
