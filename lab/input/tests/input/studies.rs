//! Studies that are right and what they are read as, and folders that hold none.

use std::fs;
use std::path::Path;
use tempfile::TempDir;
use tiebreak_core::language::Language;
use tiebreak_core::plan::{Budget, Scope};
use tiebreak_core::study::{Call, Entrant, FigureUnit, Recipe, Study, ThreadCount, Threads};
use tiebreak_input::study_folder::{MAX_ENTRIES, StudyErrors, parse, read};
use tiebreak_input::{MAX_FILE_BYTES, parse as parse_claim};

/// The page's blocks in this language, in its order.
fn blocks(language: &str) -> Vec<String> {
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/manual/studies.md");
    let page = fs::read_to_string(path).unwrap();
    let fence = format!("```{language}\n");
    let blocks = page.split(&fence).skip(1);
    blocks.map(|rest| rest.split("```").next().unwrap().to_owned()).collect()
}

/// The page's examples: the smallest study, snippets, runners, everything at once.
fn whole_studies() -> [String; 3] {
    let whole = blocks("toml").into_iter().filter(|block| block.contains("title = "));
    <[String; 3]>::try_from(whole.collect::<Vec<_>>()).unwrap()
}

/// A folder `sums` with these files, each one line long.
fn folder(files: &[&str]) -> TempDir {
    let parent = tempfile::tempdir().unwrap();
    for file in files {
        let path = parent.path().join("sums").join(file);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, "a line\n").unwrap();
    }
    parent
}

/// The study that this file in a folder with these files is.
fn study(text: &str, files: &[&str]) -> Study {
    let parent = folder(files);
    fs::write(parent.path().join("sums/study.toml"), text).unwrap();
    let folder = parent.path().join("sums");
    let study = read(&folder).unwrap_or_else(|errors| panic!("{errors}"));
    assert_eq!(study.folder, fs::canonicalize(&folder).unwrap().to_str().unwrap());
    study
}

/// The smallest study, with a table for each contestant and no claim.
fn in_tables() -> String {
    let tables = "\n[[contestant]]\nname = \"plain\"\n\n[[contestant]]\nname = \"unrolled\"\n";
    let text = whole_studies()[0].replace("contestants = [\"plain\", \"unrolled\"]\n", "");
    text.replace("claims = [\"unrolled is faster than plain\"]\n", "") + tables
}

fn smallest() -> Study {
    study(&whole_studies()[0], &["oracle.c", "plain.c", "unrolled.c"])
}

/// What is said of this file in a folder with the sources of the smallest study.
fn refused(text: &str) -> String {
    let parent = folder(&["oracle.c", "plain.c", "unrolled.c"]);
    let errors = parse(&parent.path().join("sums"), text).unwrap_err();
    errors.to_string().replace(&format!("{}/", parent.path().display()), "")
}

#[test]
fn the_smallest_study_has_the_defaults_of_the_page() {
    let study = smallest();
    assert_eq!((study.name.as_str(), study.item.as_str()), ("sums", "item"));
    assert_eq!((study.call, study.scope), (Call::Separate, Scope::Code));
    assert_eq!((study.budget, study.precision, study.centre), (None, 0.05, None));
    assert_eq!(study.oracle.as_ref().unwrap().sources, ["oracle.c"]);
    let [workload] = &study.workloads[..] else { panic!("{study:?}") };
    assert!(workload.is_drawn && workload.file.is_none() && workload.size == 20_000);
    let [plain, unrolled] = &study.contestants[..] else { panic!("{study:?}") };
    assert_eq!((plain.contract.as_str(), plain.about.as_str()), ("published", ""));
    assert_eq!((plain.recipe.compiler.as_str(), plain.recipe.package.as_str()), ("gcc", "gcc"));
    assert_eq!(unrolled.recipe.version, ["gcc", "--version"]);
    assert!(plain.recipe.flags == ["-O2"] && plain.recipe.environment.is_empty());
    assert_eq!(study.files, ["oracle.c", "plain.c", "study.toml", "unrolled.c"]);
    assert_eq!((study.source.as_str(), study.reference.as_str()), ("our own", "plain"));
    assert!(study.claims.len() == 1 && study.published.is_empty());
}

#[test]
fn names_and_sentences_can_stand_for_their_tables() {
    let text = "title = 'T'\ncontestants = ['loose', 'plain']\n\
                claims = ['fast is faster than plain']\n\
                [[workload]]\nname = 'w'\ndistribution = 'random'\nsize = 1\n\
                [[contestant]]\nname = 'fast'\nsources = ['fast.cc']\n\
                [[claim]]\ntext = 'fast is at least 2x faster than loose'\npublished = true\n";
    let study = study(text, &["fast.cc", "loose.c", "oracle.c", "plain.c"]);
    let names: Vec<&str> = study.contestants.iter().map(|one| one.name.as_str()).collect();
    assert_eq!((names, study.reference.as_str()), (vec!["loose", "plain", "fast"], "loose"));
    let claims = study.claims.iter().map(|claim| (claim.line, claim.is_published));
    assert_eq!(claims.collect::<Vec<_>>(), [(3, false), (12, true)]);
}

#[test]
fn the_reference_is_the_first_with_an_exact_contract() {
    let half = "[[contract]]\nname = 'half'\ntext = 'adds half'\nexact = false\n";
    let text = in_tables() + half;
    let loose = |name: &str, text: &str| {
        let name = format!("name = \"{name}\"\n");
        text.replace(&name, &(name.clone() + "contract = 'half'\n"))
    };
    let plain_is_loose = loose("plain", &text);
    let read = study(&plain_is_loose, &["oracle.c", "plain.c", "unrolled.c"]);
    assert_eq!(read.reference, "unrolled");
    let errors = refused(&loose("unrolled", &plain_is_loose));
    assert!(errors.contains("no contestant has a contract that is exact"), "{errors}");
}

#[test]
fn sources_have_the_names_of_their_contestants() {
    let text = "title = 'T'\nsource = 'S'\nreference = 'plain'\n[oracle]\n[[workload]]\n\
                name = 'w'\ndistribution = 'random'\nsize = 1\n\
                [[contestant]]\nname = 'plain'\nlanguage = 'c'\nflags = ['-march=native']\n\
                [[contestant]]\nname = 'fast'\nlevels = ['-O1', '-O3']\n\
                [[contestant]]\nname = 'raw'\nflags = ['-O0']\n\
                [[contestant]]\nname = 'safe'\n\
                [[contestant]]\nname = 'other'\nlanguage = 'd'\n\
                [[contestant]]\nname = 'crates'\nlanguage = 'cargo'\n";
    let named = ["plain.c", "plain.cpp", "plain.h", "fast.c", "raw.cc", "safe.rs", "other.d"];
    let others = ["oracle.cpp", "oracle.py", "below/fast.c", "fast.test.c", "crates/safe.rs"];
    let package = ["crates/Cargo.toml", "crates/Cargo.lock"];
    let study = study(text, &[&named[..], &others, &package].concat());
    assert_eq!(study.oracle.as_ref().unwrap().sources, ["oracle.cpp"]);
    let found = study.contestants.iter().map(|one| {
        let Recipe { language, sources, flags, .. } = &one.recipe;
        format!("{} {} {} {}", one.name, language.name(), sources.join(" "), flags.join(" "))
    });
    let expected = [
        "plain c plain.c -O2 -march=native",
        "fast-o1 c fast.c -O1",
        "fast-o3 c fast.c -O3",
        "raw c++ raw.cc -O0",
        "safe rust safe.rs -O",
        "other d other.d -O2",
        "crates cargo crates ",
    ];
    assert_eq!(found.collect::<Vec<_>>(), expected);
}

#[test]
fn everything_at_once_is_read_as_it_stands() {
    let text = &whole_studies()[2];
    let cargo = ["crates/Cargo.toml", "crates/Cargo.lock", "crates/src/lib.rs"];
    let made =
        ["crates/target/debug/x", "x.o", ".git/config", "README.md", "BIAS.md", "crates/a.rlib"];
    let named = [
        "oracle.cpp",
        "naive.cpp",
        "swar.rs",
        "lut.cpp",
        "log.txt",
        "digits.h",
        "crates/README.md",
    ];
    let study = study(text, &[&cargo[..], &made, &named].concat());
    assert_eq!(study.item, "number");
    assert_eq!(study.budget, Some(Budget { rounds: None, seconds: Some(240.0) }));
    let files = study.files.join(" ");
    assert_eq!(
        files,
        "crates/Cargo.lock crates/Cargo.toml crates/README.md crates/src/lib.rs digits.h log.txt \
         lut.cpp naive.cpp oracle.cpp study.toml swar.rs"
    );
    let [drawn, one, log] = &study.workloads[..] else { panic!("{study:?}") };
    assert!(drawn.is_drawn && !one.is_drawn && !log.is_drawn);
    assert_eq!((one.seed, log.file.as_deref(), log.size), (1234, Some("log.txt"), 7));
    let [first, second] = &study.verifications[..] else { panic!("{study:?}") };
    assert_eq!((first.parts, first.is_full, second.parts), (256, false, 65_536));
    assert!(second.is_full && !study.contracts[0].is_exact);
    let [naive, swar, lut, crates] = &study.contestants[..] else { panic!("{study:?}") };
    assert_eq!(naive.recipe.libraries, ["-lfmt"]);
    assert_eq!(naive.recipe.environment, [("LANG".to_owned(), "C".to_owned())]);
    assert_eq!(
        (swar.recipe.language, swar.contract.as_str()),
        (Language::named("rust").unwrap(), "relaxed")
    );
    assert_eq!((lut.recipe.package.as_str(), lut.contract.as_str()), ("g++", "unchecked"));
    assert_eq!(
        (crates.recipe.compiler.as_str(), &crates.recipe.sources[0][..]),
        ("cargo", "crates")
    );
    let [table, words] = &study.published[..] else { panic!("{study:?}") };
    assert_eq!((table.unit, table.figures.len()), (FigureUnit::MillionsASecond, 2));
    assert_eq!((table.figures[1].contestant.as_str(), table.figures[1].value), ("swar", 320.5));
    assert!(words.figures.is_empty() && words.text == "twice as fast on an M1");
    assert_eq!(study.claims.len(), 2);
    assert!(study.claims[0].is_published && !study.claims[1].is_published);
    let line = text.lines().nth(study.claims[0].line as usize - 1).unwrap();
    assert!(line.contains(&study.claims[0].text), "{line}");
}

#[test]
fn each_number_of_threads_is_a_contestant() {
    let of = |threads: &str| {
        let text = format!("{}\nthreads = {threads}\n", in_tables());
        let study = study(&text, &["oracle.c", "plain.c", "unrolled.c"]);
        let on = |of: &Entrant| (of.name.clone(), of.threads.clone());
        study.contestants.iter().map(on).collect::<Vec<_>>()
    };
    let check = |threads: &str, expected: &[(&str, ThreadCount)]| {
        let family = || "unrolled".to_owned();
        let on = |(name, count): &(&str, _)| {
            ((*name).to_owned(), Some(Threads { family: family(), count: *count }))
        };
        let expected: Vec<_> = expected.iter().map(on).collect();
        assert_eq!(of(threads)[1..], expected);
        assert_eq!(of(threads)[0], ("plain".to_owned(), None));
    };
    let (two, all) = (ThreadCount::Number(2), ThreadCount::All);
    check("2", &[("unrolled", two)]);
    check("\"all\"", &[("unrolled", all)]);
    check("[\"all\"]", &[("unrolled-xall", all)]);
    let one = ThreadCount::Number(1);
    check("[1, 2, \"all\"]", &[("unrolled-x1", one), ("unrolled-x2", two), ("unrolled-xall", all)]);
}

#[test]
fn each_combination_of_lists_is_a_contestant() {
    let of = |lists: &str| {
        let text = format!("{}\nflags = [\"-g\"]\n{lists}\n", in_tables());
        study(&text, &["oracle.c", "plain.c", "unrolled.c"]).contestants
    };
    let all = of("compilers = [\"gcc\", \"clang-16\"]\nlevels = [\"-O1\", \"-Os\"]\n\
                  standards = [\"gnu2x\"]\nthreads = [1, 2]");
    let names: Vec<&str> = all.iter().map(|one| one.name.as_str()).collect();
    assert_eq!(names.len(), 1 + 8);
    assert_eq!(names[..3], ["plain", "unrolled-gcc-o1-gnu2x-x1", "unrolled-gcc-o1-gnu2x-x2"]);
    let last = &all[8];
    assert_eq!(last.name, "unrolled-clang-16-os-gnu2x-x2");
    assert_eq!(last.stem, "unrolled");
    assert_eq!(last.threads.as_ref().unwrap().family, "unrolled-clang-16-os-gnu2x");
    assert_eq!(last.recipe.compiler, "clang-16");
    assert_eq!(last.recipe.package, "clang-16");
    assert_eq!(last.recipe.flags, ["-g", "-Os", "-std=gnu2x"]);
    let march = of("march = [\"x86-64-v3\", \"native\"]");
    assert_eq!(march[1].name, "unrolled-x86-64-v3");
    assert_eq!(march[1].recipe.flags, ["-O2", "-g", "-march=x86-64-v3"]);
    assert_eq!(march[2].recipe.compiler, "gcc");
}

#[test]
fn runners_need_no_oracle() {
    let text = &whole_studies()[1];
    let study = study(text, &["programs.py"]);
    assert_eq!((study.scope, study.oracle), (Scope::Binary, None));
    assert_eq!(study.workloads[0].answer.as_deref(), Some("75025"));
    assert!(!study.workloads[0].is_drawn && study.workloads[0].distribution.is_empty());
    assert_eq!(study.contestants[0].recipe.package, "python3");
    assert_eq!(study.contestants[1].recipe.version, ["pypy3", "--version"]);
}

#[test]
fn snippets_of_the_page_are_right_and_its_error_is_real() {
    let snippets: Vec<String> =
        blocks("toml").into_iter().filter(|block| block.starts_with("[[")).collect();
    assert_eq!(snippets.len(), 2);
    let text = in_tables().replace("\"small\"", "\"random-20k\"");
    let text = text.replace("\"plain\"", "\"naive\"").replace("\"unrolled\"", "\"swar\"");
    study(&(text + &snippets.concat()), &["oracle.c", "naive.c", "swar.c"]);

    let misspelt = "\n[[contestant]]\nname = \"third\"\nsources = [\"plian.c\"]\n";
    let slip = whole_studies()[0].clone() + misspelt;
    assert_eq!(blocks("text"), [refused(&slip) + "\n"]);
}

#[test]
fn folders_without_a_study_are_told_apart() {
    let parent = folder(&["plain.c", "bytes/study.toml"]);
    let sums = parent.path().join("sums");
    let says = |folder: &Path| read(folder).unwrap_err();
    for folder in [&sums, &sums.join("nowhere"), &sums.join("plain.c")] {
        let message = says(folder).to_string();
        assert!(matches!(says(folder), StudyErrors::NoStudy { .. }), "{message}");
        assert!(message.starts_with("there is no study.toml in '"), "{message}");
        assert!(message.ends_with("'tiebreak study new NAME' makes one that works"), "{message}");
    }
    fs::write(sums.join("bytes/study.toml"), b"title = \"\xff\"").unwrap();
    assert!(says(&sums.join("bytes")).to_string().contains("is not UTF-8"));
    fs::create_dir_all(sums.join("folder/study.toml")).unwrap();
    assert!(says(&sums.join("folder")).to_string().starts_with("cannot read '"));
}

#[test]
fn the_folder_is_the_name() {
    let parent = folder(&["oracle.c", "plain.c", "unrolled.c"]);
    for (name, is_name) in [("sums-2", true), ("Sums", false), ("my_sums", false), ("-s", false)] {
        let path = parent.path().join(name);
        let before = fs::read_dir(parent.path()).unwrap().next().unwrap().unwrap().path();
        fs::rename(before, &path).unwrap();
        match parse(&path, &whole_studies()[0]) {
            Ok(study) => assert!(is_name && study.name == name),
            Err(errors) => {
                let message = format!("the folder is called '{name}'");
                assert!(!is_name && errors.to_string().contains(&message), "{errors}");
            }
        }
    }
}

#[test]
fn paths_are_plain_and_links_do_not_lead_out() {
    let text = &in_tables();
    let study = study(
        &text.replace("name = \"plain\"", "name = \"plain\"\nsources = [\"./c//plain.c\"]"),
        &["oracle.c", "c/plain.c", "unrolled.c"],
    );
    assert_eq!(study.contestants[0].recipe.sources, ["c/plain.c"]);

    let parent = folder(&["oracle.c", "unrolled.c", "../outside/secret.c"]);
    let sums = parent.path().join("sums");
    std::os::unix::fs::symlink("../outside/secret.c", sums.join("plain.c")).unwrap();
    let errors = parse(&sums, text).unwrap_err().to_string();
    assert!(errors.contains("'plain.c' leads out of the study's folder"), "{errors}");
    fs::remove_file(sums.join("plain.c")).unwrap();
    std::os::unix::fs::symlink("unrolled.c", sums.join("plain.c")).unwrap();
    assert!(parse(&sums, text).is_ok());
    std::os::unix::fs::symlink(".", sums.join("loop")).unwrap();
    let files = parse(&sums, text).unwrap().files;
    assert_eq!(files, ["oracle.c", "plain.c", "unrolled.c"]);
}

#[test]
fn words_of_claims_are_names_where_sentences_can_hold_them() {
    let words = "is uses succeeds faster slower than at least no more most within of less fewer \
                 mean median p99 which rounds the time memory 98 2x percent times below above";
    let pairs = words.split_whitespace().map(|word| (word, "b")).chain([("a", "median")]);
    for (left, right) in pairs {
        let text = in_tables()
            .replace("\"plain\"", &format!("\"{right}\""))
            .replace("\"unrolled\"", &format!("\"{left}\""))
            .replace("\"small\"", &format!("\"{left}\""));
        for middle in ["is at least 1.5x faster than", "is within 2% of"] {
            let claim = format!("{left} {middle} {right} on {left}");
            let text = format!("{text}[[claim]]\ntext = \"{claim}\"\n");
            let sources = [left, right].map(|name| format!("{name}.c"));
            let study = study(&text, &["oracle.c", &sources[0], &sources[1]]);
            let read = parse_claim(&study.claims[0].text, &[left, right]).unwrap();
            let found = (read.left.as_str(), read.right.as_deref(), read.workload.as_deref());
            assert_eq!(found, (left, Some(right), Some(left)), "{claim}");
        }
    }
}

#[test]
fn sizes_have_limits() {
    let text = &in_tables();
    let message = refused(&format!("{text}# {}\n", "x".repeat(MAX_FILE_BYTES)));
    assert!(message.contains("expected at most 1000000"), "{message}");

    let claim =
        |n: usize| format!("[[claim]]\ntext = \"unrolled is at least {n}x faster than plain\"\n");
    let many: String = (1..=MAX_ENTRIES + 1).map(claim).collect();
    let message = refused(&format!("{text}{many}"));
    assert!(message.contains("this is claim 1001 of the study"), "{message}");
    assert!(message.ends_with("1 error in sums/study.toml"), "{message}");

    let names: Vec<String> = (0..=10_000).map(|n| format!("data/{n}")).collect();
    let names: Vec<&str> = names.iter().map(String::as_str).collect();
    let parent = folder(&names);
    let errors = parse(&parent.path().join("sums"), text).unwrap_err();
    assert!(matches!(errors, StudyErrors::TooManyFiles { most: 10_000, .. }), "{errors}");
}
