use super::*;
use crate::{Cpu, Limits, Topology};
use tiebreak_core::fingerprint::{Fact, Fingerprint};

mod winners;

fn print(cpus: usize, max_hz: Option<u64>) -> MachinePrint {
    let cpu = |cpu: usize| Cpu {
        cpu,
        is_online: true,
        is_allowed: true,
        max_hz: max_hz.filter(|_| cpu == 0),
        ..Cpu::default()
    };
    let topology = Topology {
        cpus: (0..cpus).map(cpu).collect(),
        caches: Vec::new(),
        nodes: Vec::new(),
        whole_memory_bytes: None,
        sharing: Probed::inconclusive("not measured"),
        limits: Limits::default(),
        compilers: Vec::new(),
    };
    let facts = [("cpus_online", Fact::Number(cpus as u64)), ("now_load", Fact::Number(7))];
    let facts = facts.map(|(key, fact)| (key.to_owned(), fact)).into_iter().collect();
    MachinePrint {
        schema: MachinePrint::SCHEMA.to_owned(),
        taken_unix_ms: 0,
        took_ns: 0,
        is_quick: cpus == 2,
        interrupted: false,
        machine: Fingerprint(facts),
        topology: Some(Probed::of(topology, Vec::new())),
        ..MachinePrint::default()
    }
}

#[test]
fn the_published_comparison_of_two_machines_by_price() {
    // Lemire's machines of row 24: the newer one costs 2.32 against 2.176.
    let (new, old) = (print(64, None), print(64, Some(2_500_000_000)));
    let a = Named { print: &new, name: "c7g", price: Some(2.32) };
    let b = Named { print: &old, name: "c6g", price: Some(2.176) };
    let comparison = compare(a, b);
    let keys: Vec<_> = comparison.figures.iter().map(|figure| figure.key.as_str()).collect();
    assert_eq!(keys, ["topology-cpus", "topology-max-frequency"]);
    let [cpus, frequency] = &comparison.figures[..] else { panic!("{comparison:?}") };
    assert_eq!((cpus.values.ratio, cpus.values.winner), (Some(1.0), None));
    let per_price = cpus.per_price.unwrap();
    assert!((per_price.ratio.unwrap() - 2.32 / 2.176).abs() < 1e-12);
    // A count is a fact, and what a machine says of its frequency another: neither wins.
    assert_eq!((per_price.winner, frequency.better), (None, Better::Neither));
    assert_eq!((frequency.values.a, frequency.values.b), (None, Some(2.5e9)));
    assert!(frequency.values.ratio.is_none() && frequency.per_price.is_none());
    assert_eq!((comparison.facts.as_slice(), comparison.rule), (&[][..], None));
    assert_eq!((comparison.a.is_quick, comparison.b.price), (false, Some(2.176)));
}

#[test]
fn facts_that_differ_are_told_and_state_is_not() {
    let (a, b) = (print(2, None), print(4, None));
    let named = |print| Named { print, name: "x", price: None };
    let comparison = compare(named(&a), named(&b));
    let fact = |count| Some(Fact::Number(count));
    let expected = Difference { key: "cpus_online".into(), a: fact(2), b: fact(4) };
    assert_eq!(comparison.facts, [expected]);
    assert!(comparison.figures.iter().all(|figure| figure.per_price.is_none()));
}

#[test]
fn prices_name_what_is_wrong_with_them() {
    let check = |text: &str, expected: Result<[f64; 2], &str>| {
        let found = prices(text, ["c7g", "c6g"]);
        match expected {
            Ok(prices) => assert_eq!(found, Ok(prices)),
            Err(word) => assert!(found.as_ref().unwrap_err().contains(word), "{found:?}"),
        }
    };
    check("A=2.32,B=2.176", Ok([2.32, 2.176]));
    check(" c6g = 2.176, A=2.32", Ok([2.32, 2.176]));
    check("A=2.32", Err("no price of B"));
    check("B=2.32", Err("no price of A"));
    check("A=2.32,C=1", Err("'C' names neither"));
    check("A=free,B=1", Err("'free' is not a price"));
    check("A=0,B=1", Err("'0' is not a price"));
    check("A=1,c7g=2,B=1", Err("'c7g' has two prices"));
    check("2.32", Err("'2.32' is not a price such as"));
    check("", Err("'' is not a price"));
    assert!(prices("same=1,B=2", ["same", "same"]).unwrap_err().contains("'same' names neither"));
}
