use super::*;
use tiebreak_core::fingerprint::{Fact, Fingerprint};
use tiebreak_core::machine::{Cpu, Limits, Probed, Topology};

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
        timers: None,
        cores: None,
        cacheline: None,
        latency: None,
        bandwidth: None,
        noise: None,
        energy: None,
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
    let cpus = &comparison.figures[0];
    assert_eq!((cpus.values.ratio, cpus.values.winner), (Some(1.0), Some(Winner::TooClose)));
    let per_price = cpus.per_price.unwrap();
    assert!((per_price.ratio.unwrap() - 2.32 / 2.176).abs() < 1e-12);
    assert_eq!(per_price.winner, Some(Winner::B));
    let only_b = comparison.figures[1].values;
    assert_eq!((only_b.a, only_b.b, only_b.ratio), (None, Some(2.5e9), None));
    assert_eq!(comparison.facts, []);
    assert_eq!((comparison.a.is_quick, comparison.b.price), (false, Some(2.176)));
}

#[test]
fn a_cost_is_multiplied_by_the_price_and_less_of_it_wins() {
    let check = |values: [f64; 2], better: Better, ratio: f64, winner, priced: Option<f64>| {
        let values = values.map(|v| Some((v, Some(Spread { low: 0.99 * v, high: 1.01 * v }))));
        let found = beside(values, better);
        assert!((found.ratio.unwrap() - ratio).abs() < 1e-12);
        assert_eq!(found.winner, winner);
        let per = per_price(values, (2.0, 1.0), better).and_then(|beside| beside.ratio);
        assert_eq!(per, priced);
    };
    check([100.0, 50.0], Better::Lower, 0.5, Some(Winner::B), Some(0.25));
    check([100.0, 50.0], Better::Higher, 0.5, Some(Winner::A), Some(1.0));
    check([100.0, 200.0], Better::Lower, 2.0, Some(Winner::A), Some(1.0));
    check([100.0, 200.0], Better::Neither, 2.0, None, None);
    check([100.0, 125.0], Better::Higher, 1.25, Some(Winner::TooClose), Some(2.5));
    let without = |value: f64| Some((value, None));
    assert_eq!(beside([without(0.0), without(1.0)], Better::Higher).ratio, None);
    assert_eq!(beside([None, without(1.0)], Better::Higher).winner, None);
}

#[test]
fn a_winner_is_named_where_more_than_the_usual_lies_between() {
    let check = |sides: [(f64, Option<[f64; 2]>); 2], winner: Winner| {
        let spread = |[low, high]: [f64; 2]| Spread { low, high };
        let [a, b] = sides.map(|(value, ends)| Some((value, ends.map(spread))));
        assert_eq!(beside([a, b], Better::Higher).winner, Some(winner), "{sides:?}");
        let turned = match winner {
            Winner::A => Winner::B,
            Winner::B => Winner::A,
            Winner::TooClose => Winner::TooClose,
        };
        assert_eq!(beside([b, a], Better::Higher).winner, Some(turned), "{sides:?}");
    };
    let exact = |value: f64| (value, Some([value, value]));
    check([exact(64.0), exact(64.0)], Winner::TooClose);
    check([exact(100.0), exact(101.0)], Winner::B);
    check([(100.0, Some([90.0, 110.0])), (150.0, Some([105.0, 160.0]))], Winner::TooClose);
    check([(100.0, Some([90.0, 110.0])), (140.0, Some([115.0, 145.0]))], Winner::B);
    // Two prints of one machine said so of its memory.
    check([(95.5, Some([94.0, 97.0])), (108.9, Some([106.0, 110.0]))], Winner::TooClose);
    // What is told of one side only says nothing of the other.
    check([(100.0, Some([99.0, 101.0])), (130.0, None)], Winner::TooClose);
    check([exact(100.0), (140.0, None)], Winner::TooClose);
    check([(100.0, None), (130.0, None)], Winner::TooClose);
    check([(100.0, None), (140.0, None)], Winner::TooClose);
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
