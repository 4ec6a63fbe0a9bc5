//! Whether the machine is x86: the outcomes that Sewell et al. list for it ("x86-TSO", CACM 2010,
//! and the tests amd3, n4b, n5, n6 and iwp2 of their paper of 2009), allowed and forbidden.

use crate::explore::explore;
use crate::parse::parse;

const ALLOWED: bool = true;
const FORBIDDEN: bool = false;

/// Name, threads, the outcome, and whether a processor may show it.
const LITMUS: [(&str, &str, &str, bool); 15] = [
    (
        "SB",
        "thread a:\n x = 1\n r = y\nthread b:\n y = 1\n r = x",
        "a.r == 0 and b.r == 0",
        ALLOWED,
    ),
    (
        "SB with fences",
        "thread a:\n x = 1\n fence\n r = y\nthread b:\n y = 1\n fence\n r = x",
        "a.r == 0 and b.r == 0",
        FORBIDDEN,
    ),
    (
        "SB with one fence",
        "thread a:\n x = 1\n fence\n r = y\nthread b:\n y = 1\n r = x",
        "a.r == 0 and b.r == 0",
        ALLOWED,
    ),
    (
        "SB with exchanges",
        "thread a:\n s = lock_xchg(x, 1)\n r = y\nthread b:\n s = lock_xchg(y, 1)\n r = x",
        "a.r == 0 and b.r == 0",
        FORBIDDEN,
    ),
    (
        "SB with one interrupt",
        "thread a:\n x = 1\n interrupt b\n fence\n r = y\nthread b:\n y = 1\n r = x",
        "a.r == 0 and b.r == 0",
        ALLOWED,
    ),
    (
        "SB with a fence and an interrupt",
        "thread a:\n x = 1\n fence\n interrupt b\n r = y\nthread b:\n y = 1\n r = x",
        "a.r == 0 and b.r == 0",
        FORBIDDEN,
    ),
    (
        "MP",
        "thread a:\n x = 1\n y = 1\nthread b:\n r = y\n s = x",
        "b.r == 1 and b.s == 0",
        FORBIDDEN,
    ),
    (
        "LB",
        "thread a:\n r = x\n y = 1\nthread b:\n r = y\n x = 1",
        "a.r == 1 and b.r == 1",
        FORBIDDEN,
    ),
    (
        "2+2W",
        "thread a:\n x = 1\n y = 2\nthread b:\n y = 1\n x = 2",
        "x == 1 and y == 1",
        FORBIDDEN,
    ),
    (
        "IRIW",
        "thread a:\n x = 1\nthread b:\n y = 1\n\
         thread c:\n r = x\n s = y\nthread d:\n r = y\n s = x",
        "c.r == 1 and c.s == 0 and d.r == 1 and d.s == 0",
        FORBIDDEN,
    ),
    ("R", "thread a:\n x = 1\n y = 1\nthread b:\n y = 2\n r = x", "y == 2 and b.r == 0", ALLOWED),
    (
        "amd3",
        "thread a:\n x = 1\n q = x\n r = y\nthread b:\n y = 1\n q = y\n r = x",
        "a.q == 1 and a.r == 0 and b.q == 1 and b.r == 0",
        ALLOWED,
    ),
    (
        "n4b",
        "thread a:\n r = x\n x = 1\nthread b:\n r = x\n x = 2",
        "a.r == 2 and b.r == 1",
        FORBIDDEN,
    ),
    (
        "n5",
        "thread a:\n x = 1\n r = x\nthread b:\n x = 2\n r = x",
        "a.r == 2 and b.r == 1",
        FORBIDDEN,
    ),
    (
        "n6",
        "thread a:\n x = 1\n q = x\n r = y\nthread b:\n y = 1\n x = 2",
        "a.q == 1 and a.r == 0 and x == 1",
        ALLOWED,
    ),
];

#[test]
fn the_machine_allows_what_x86_allows_and_nothing_else() {
    for (name, threads, outcome, expected) in LITMUS {
        let text = format!("shared x = 0, y = 0\n{threads}\nnever {outcome}\n");
        let model = parse(&text).unwrap_or_else(|error| panic!("{name}: {error}"));
        let report = explore(&model, 100_000).unwrap();
        let is_seen = report.counterexample.is_some();
        println!("{name}: {outcome}: {}", if is_seen { "allowed" } else { "forbidden" });
        assert_eq!(is_seen, expected, "{name}");
    }
}

/// Two increments of one word that are not atomic: one may be lost, as between any two CPUs; with
/// `lock` none is.
#[test]
fn increments_are_atomic_only_when_locked() {
    for (add, is_lost) in [("xadd", true), ("lock_xadd", false)] {
        let text = format!("shared x = 0\nthread a b:\n old = {add}(x, 1)\nnever x == 1\n");
        let report = explore(&parse(&text).unwrap(), 1000).unwrap();
        assert_eq!(report.counterexample.is_some(), is_lost, "{add}");
    }
}

/// A text that is no model is refused, and says which line is wrong.
#[test]
fn what_is_no_model_is_refused() {
    let wrong = [
        ("shared x = 0\nthread a:\n await x == y", "'y'"),
        ("shared x = 0, y = 0\nthread a:\n await x == y", "more than one word"),
        ("shared x = 0\nthread a:\n r = incr(x)", "incr"),
        ("shared x = 0\nthread a:\n interrupt b", "interrupt b"),
        ("shared x\nthread a:\n r = x", "has no '='"),
        ("thread a:\n r = 1 +", "too early"),
        ("thread a:\n r = 1\n    s = 2", "opens no block"),
        ("thread a:\n    r = 1\n  s = 2", "indented"),
        ("thread a:\n sleep", "sleep"),
    ];
    for (text, expected) in wrong {
        let error = parse(text).expect_err(text);
        assert!(error.contains(expected), "{text}: {error}");
    }
}
