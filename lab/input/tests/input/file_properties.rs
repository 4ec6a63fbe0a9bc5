//! What holds for every file.

use crate::common::with_slip;
use proptest::prelude::*;
use tiebreak_input::EXAMPLE;

/// Lines and pieces from which files are put together.
const PIECES: [&str; 34] = [
    "[[contest]]\n",
    "[contest]\n",
    "[contest.contestants]\n",
    "[contest.contestants.a]\n",
    "[contest.revisions]\n",
    "contestants = { a = 'x', b = { command = 'y', prepare = 'z' } }\n",
    "a = 'sort x'\n",
    "b = \"sort \\u0078\"\n",
    "command = \"x\"\n",
    "base = 'main'\n",
    "head = '.'\n",
    "build-jobs = 2\n",
    "max-slowdown = '3%'\n",
    "claims = ['a is faster than b']\n",
    "claims = [\"a is fsater than \\x62 on \\u00e9\", 5, {claim = 'b is within 2% of a'}]\n",
    "claims = ['''\na is faster\r\n than c''', \"\"\"\\\n  a succeeds \\\n at least 98 of\"\"\"]\n",
    "claims = ['mean of a is below 5 ms', 'p99 of b is below 5 MB', 'head is faster than base']\n",
    "claims = ['a uses less memory than b on w', {claim = 'a is faster than b', strict = true}]\n",
    "name = 'caf\u{e9}'\n",
    "error = '1%'\n",
    "error = 5e-1\n",
    "budget = '30s, 5 rounds'\n",
    "seed = 0x5\n",
    "family = 'e-bh'\n",
    "workload = 'w'\n",
    "timeout = '1s'\n",
    "gate = true\n",
    "strict = true\n",
    "check = 'same-output'\n",
    "output = 'null'\n",
    "cpus = '0-3'\n",
    "unknown.key = 1979-05-27\n",
    "'' = {}\n",
    "[",
];

proptest! {
    #![proptest_config(ProptestConfig::with_cases(1000))]

    #[test]
    fn no_text_panics(text in "(?s).{0,80}") {
        crate::common::check_file(&text);
    }

    #[test]
    fn no_lines_panic(
        lines in proptest::collection::vec(proptest::sample::select(&PIECES[..]), 0..12),
    ) {
        crate::common::check_file(&lines.concat());
    }

    #[test]
    fn no_slip_in_the_example_panics(
        at in any::<prop::sample::Index>(),
        c: char,
        length in 0..4_usize,
    ) {
        crate::common::check_file(&with_slip(EXAMPLE, |chars| at.index(chars), c, length));
    }
}
