//! A study in a folder of its own, and a cache beside it.

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::sync::atomic::AtomicBool;
use tempfile::TempDir;
use tiebreak_abi::RawContestant;
use tiebreak_core::language::Language;
use tiebreak_core::plan::Scope;
use tiebreak_core::study::{Built, BuiltForm, Call, Entrant, Recipe, Study};
use tiebreak_measure::build::{BuildError, Builder};

pub static GO_ON: AtomicBool = AtomicBool::new(false);

/// A contestant in C and C++ whose kernel is `BODY`; `helper` stands in another object.
pub const SOURCE: &str = r#"
#include "tiebreak.h"
#include "body.h"
static uint64_t run(void *state) { (void)state; return BODY; }
static void *prepare(const tiebreak_workload *workload) { return (void *)workload; }
static void dump(void *state, const tiebreak_sink *sink) { (void)state; (void)sink; }
static void release(void *state) { (void)state; }
TIEBREAK_EXPORT const tiebreak_contestant tiebreak_contestant_table = {
    TIEBREAK_MAGIC, TIEBREAK_ABI, sizeof(tiebreak_contestant), 0, "test", "", 0, 0, 0, 0,
    prepare, 0, run, dump, release};
"#;

pub struct Bench {
    folder: TempDir,
    pub study: Study,
}

impl Bench {
    /// A study with the source above as `a.c`, and `body.h`, which says what it gives.
    pub fn new() -> Bench {
        let folder = tempfile::tempdir().unwrap();
        fs::create_dir(folder.path().join("study")).unwrap();
        let study = Study {
            folder: folder.path().join("study").to_str().unwrap().to_owned(),
            name: "study".into(),
            title: String::new(),
            source: String::new(),
            item: "item".into(),
            call: Call::Separate,
            scope: Scope::Code,
            reference: "a".into(),
            budget: None,
            precision: 0.05,
            reads_in_run: false,
            reads_whole: false,
            starts_processes: false,
            calls: None,
            centre: None,
            oracle: None,
            workloads: Vec::new(),
            verifications: Vec::new(),
            contracts: Vec::new(),
            contestants: Vec::new(),
            published: Vec::new(),
            claims: Vec::new(),
            files: Vec::new(),
        };
        let bench = Bench { folder, study };
        bench.write("a.c", SOURCE);
        bench.write("body.h", "#define BODY 7\n");
        bench
    }

    pub fn path(&self, name: &str) -> PathBuf {
        Path::new(&self.study.folder).join(name)
    }

    pub fn write(&self, name: &str, text: &str) {
        let path = self.path(name);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, text).unwrap();
    }

    /// Writes a shell script and gives its path.
    pub fn script(&self, name: &str, text: &str) -> String {
        let path = self.folder.path().join(name);
        fs::write(&path, format!("#!/bin/sh\n{text}\n")).unwrap();
        fs::set_permissions(&path, fs::Permissions::from_mode(0o755)).unwrap();
        path.to_str().unwrap().to_owned()
    }

    /// A file next to the study's folder.
    pub fn beside(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    pub fn cache(&self) -> PathBuf {
        self.beside("cache")
    }

    /// Builds with a builder of its own, as another process would.
    pub fn build(&self, entrant: &Entrant) -> Result<Built, BuildError> {
        self.build_with_library(entrant).map(|(built, _)| built)
    }

    /// The same with the library that has nothing drawn.
    pub fn build_with_library(
        &self,
        entrant: &Entrant,
    ) -> Result<(Built, Option<PathBuf>), BuildError> {
        Builder::new(&self.cache()).build(&self.study, entrant, &GO_ON)
    }

    /// Entries of the cache and what else stands beside them.
    pub fn entries(&self) -> Vec<String> {
        let entries = fs::read_dir(self.cache().join("builds")).unwrap();
        entries.map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect()
    }
}

pub fn words(words: &[&str]) -> Vec<String> {
    words.iter().map(|word| (*word).to_owned()).collect()
}

/// A contestant of this language and source, with `-O2` if that is a flag of its compiler.
pub fn entrant(language: Language, compiler: &str, source: &str) -> Entrant {
    let flags: &[&str] = match language.name() {
        "c" | "c++" => &["-O2"],
        _ => &[],
    };
    let recipe = Recipe {
        language,
        sources: words(&[source]),
        compiler: compiler.into(),
        flags: words(flags),
        libraries: Vec::new(),
        version: language.version_command(compiler),
        package: "the-package".into(),
        environment: Vec::new(),
        is_linked: false,
        is_process: false,
    };
    Entrant {
        name: "a".into(),
        stem: "a".into(),
        recipe,
        contract: "published".into(),
        about: String::new(),
        threads: None,
    }
}

pub fn c() -> Entrant {
    entrant(Language::named("c").unwrap(), "gcc", "a.c")
}

/// The first object of what was built.
pub fn object(built: &Built) -> &str {
    let BuiltForm::Objects { objects, .. } = &built.form else { panic!("{built:?}") };
    &objects[0]
}

/// What the contestant of a library gives, and where its function stands in the library's pages.
pub fn call(library: &Path) -> (u64, usize) {
    // SAFETY: the library is one of ours, whose table is as the header says; its functions need no
    // workload.
    unsafe {
        let library = libloading::Library::new(library).unwrap();
        let table = library.get::<*const RawContestant>(tiebreak_abi::CONTESTANT_SYMBOL).unwrap();
        let table = &**table;
        assert_eq!((table.magic, table.abi), (tiebreak_abi::MAGIC, tiebreak_abi::ABI));
        let run = table.run.unwrap();
        let mut word = 0_u64;
        (run((&raw mut word).cast()), run as usize)
    }
}
