//! What holds for every study's file.

use crate::common::with_slip;
use proptest::prelude::*;
use std::path::Path;

const EXAMPLE: &str = include_str!("../../src/study_folder/skeleton/study.toml");

/// Lines and pieces from which files are put together.
const PIECES: [&str; 47] = [
    "title = 'x'\nsource = 'y'\nreference = 'naive'\n",
    "[oracle]\nlanguage = 'c'\nsources = ['sums.c']\n",
    "[[workload]]\nname = 'w'\ndistribution = 'd'\nsize = 5\n",
    "[[workload]]\nname = 'v'\nfile = 'data.txt'\n",
    "[[contestant]]\nname = 'naive'\nlanguage = 'c'\nsources = ['naive.c']\n",
    "[[contestant]]\nname = 'swar'\nlanguage = 'c'\nsources = ['swar.c']\n",
    "[[contestant]]\nname = \"sw\\r\"\nlanguage = 'c'\nsources = ['swar.c']\n",
    "title = \"\\u001B[31m\"\nsource = \"\\u202E\\n\"\n",
    "[[contestant]]\nname = 'js'\nlanguage = 'javascript'\nsources = ['swar.js']\n",
    "[[contract]]\nname = 'unchecked'\ntext = 'x'\nexact = false\n",
    "[[verify]]\nname = 'all'\ndistribution = 'x'\nsize = 0\n",
    "[[published]]\nsource = 'x'\nmachine = 'y'\nunit = 's'\n",
    "[published.figures.w]\nnaive = 2.5\n",
    "[[claim]]\ntext = 'swar is faster than naive on w'\n",
    "[[claim]]\ntext = \"swar is fsater than na\\u0069ve\"\n",
    "[[claim]]\ntext = '''\nswar is within 5%\r\n of naive by memory'''\n",
    "[[claim]]\ntext = 'p99 of swar is below 5 ms'\n",
    "[workload]\n",
    "[[oracle]]\n",
    "[published.figures]\n",
    "name = 'caf\u{e9}'\n",
    "name = 'w'\n",
    "language = 'cargo'\n",
    "sources = ['../x', '/', 'packaged', '.', '']\n",
    "compiler = 'clang++-16'\n",
    "flags = ['-O3']\n",
    "libraries = [5]\n",
    "version = []\n",
    "package = 'x'\n",
    "environment = { A = 'b', '' = 'c' }\n",
    "contract = 'unchecked'\n",
    "about = ''\n",
    "precision = '5%'\n",
    "budget = '30s, 5 rounds'\n",
    "scope = 'code'\n",
    "centre = 'median'\n",
    "call = 'inlined'\n",
    "seed = 0x5\n",
    "drawn = false\n",
    "answer = '5'\n",
    "file = 'empty.txt'\n",
    "parts = 0\n",
    "contestants = ['naive', 'swar']\n",
    "claims = ['swar is faster than naive', '']\n",
    "unknown.key = 1979-05-27\n",
    "'' = {}\n",
    "[",
];

fn check(text: &str) {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/study");
    crate::common::check_study(text, &folder);
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(1000))]

    #[test]
    fn no_text_panics(text in "(?s).{0,80}") {
        check(&text);
    }

    #[test]
    fn no_lines_panic(
        lines in proptest::collection::vec(proptest::sample::select(&PIECES[..]), 0..14),
    ) {
        check(&lines.concat());
    }

    #[test]
    fn no_slip_in_the_example_panics(
        at in any::<prop::sample::Index>(),
        c: char,
        length in 0..4_usize,
    ) {
        check(&with_slip(EXAMPLE, |chars| at.index(chars), c, length));
    }
}

#[test]
fn some_lines_make_a_study() {
    let text = [0, 1, 2, 4, 5, 11, 12, 13].map(|index| PIECES[index]).concat();
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/study");
    assert_eq!(crate::common::check_study(&text, &folder), 0);
}
