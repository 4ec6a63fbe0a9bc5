//! Stocks of placements.

use crate::bench::{Bench, c, call};
use std::fs;
use std::path::Path;
use tiebreak_core::study::{BuiltForm, Placements};
use tiebreak_measure::build::Stock;

/// A contestant whose placements the linker makes.
fn linked(bench: &Bench) -> BuiltForm {
    let mut entrant = c();
    entrant.recipe.is_linked = true;
    bench.build(&entrant).unwrap().form
}

fn count(folder: &Path) -> usize {
    fs::read_dir(folder).unwrap().count()
}

#[test]
fn a_placement_serves_once() {
    let bench = Bench::new();
    let form = linked(&bench);
    let folder = bench.beside("stocks");
    let stock = Stock::new(folder.clone(), vec![form.clone(), form], Placements::Fresh).unwrap();
    let wanted = [(0, 5), (1, 5), (0, 6), (0, 5)];
    stock.ahead(&wanted).unwrap();
    assert_eq!((stock.made(), count(stock.folder())), (3, 3));
    stock.ahead(&wanted).unwrap();
    assert_eq!(stock.made(), 3);
    let first = stock.take(0, 5).unwrap();
    assert_eq!((call(&first).0, stock.made()), (7, 3));
    let second = stock.take(0, 5).unwrap();
    assert_ne!(first, second);
    assert_eq!(first.as_os_str().len(), second.as_os_str().len());
    assert_eq!(stock.made(), 4, "it was linked anew");
    assert_eq!(fs::read(&first).unwrap(), fs::read(&second).unwrap());
    assert!(stock.take(2, 5).is_err());
    drop(stock);
    assert_eq!(count(&folder), 0);
}

#[test]
fn what_needs_no_linker_is_made_when_it_is_taken() {
    let bench = Bench::new();
    let mut form = bench.build(&c()).unwrap().form;
    if let BuiltForm::Objects { linker, .. } = &mut form {
        linker[0] = "/nowhere/linker".into();
    }
    let stock = Stock::new(bench.beside("stocks"), vec![form], Placements::Fresh).unwrap();
    stock.ahead(&[(0, 5), (0, 6)]).unwrap();
    assert_eq!(stock.made(), 0);
    for (at, seed) in [5, 6, 0].into_iter().enumerate() {
        assert_eq!((call(&stock.take(0, seed).unwrap()).0, stock.made()), (7, at + 1));
    }
}

#[test]
fn what_is_not_wanted_any_more_goes() {
    let bench = Bench::new();
    let form = linked(&bench);
    let forms = vec![form.clone(), form];
    let stock = Stock::new(bench.beside("stocks"), forms, Placements::Fresh).unwrap();
    let check = |wanted: &[(usize, u64)], linked: usize| {
        stock.ahead(wanted).unwrap();
        assert_eq!((count(stock.folder()), stock.made()), (wanted.len(), linked), "{wanted:?}");
    };
    check(&[(0, 5), (1, 5), (0, 6), (1, 6)], 4);
    // The second one is void: the rest is of the first alone.
    check(&[(0, 6), (0, 7)], 5);
    check(&[(0, 5)], 6);
    check(&[], 6);
}

#[test]
fn placements_that_are_reused_are_so_many() {
    let bench = Bench::new();
    let form = linked(&bench);
    let stock = Stock::new(bench.beside("stocks"), vec![form], Placements::Reused(4)).unwrap();
    let wanted: Vec<_> = (1..=50).map(|seed| (0, seed * 7919)).collect();
    stock.ahead(&wanted).unwrap();
    assert_eq!(stock.made(), 4);
    for &(contestant, seed) in &wanted {
        let path = stock.take(contestant, seed).unwrap();
        assert_eq!(path, stock.take(contestant, seed).unwrap());
    }
    stock.ahead(&wanted[..1]).unwrap();
    assert_eq!((stock.made(), count(stock.folder())), (4, 4), "they serve again");
    stock.take(0, 0).unwrap();
    assert_eq!(stock.made(), 5, "as built is one of its own");
}

#[test]
fn a_link_that_fails_says_so_and_the_others_stay() {
    let bench = Bench::new();
    let good = linked(&bench);
    let mut broken = good.clone();
    if let BuiltForm::Objects { objects, .. } = &mut broken {
        objects.push("/nowhere/gone.o".into());
    }
    let stock = Stock::new(bench.beside("stocks"), vec![good, broken], Placements::Fresh).unwrap();
    let error = stock.ahead(&[(0, 1), (1, 1)]).unwrap_err().to_string();
    assert!(error.contains("gone.o") && error.contains("failed with status"), "{error}");
    assert!(stock.take(1, 1).is_err());
    let before = stock.made();
    stock.take(0, 1).unwrap();
    assert!(stock.made() <= before + 1);
}

#[test]
fn what_a_killed_run_left_is_swept() {
    let bench = Bench::new();
    let folder = bench.beside("stocks");
    fs::create_dir_all(folder.join("tmp-1-0")).unwrap();
    fs::write(folder.join("tmp-1-0/a.so"), "").unwrap();
    fs::write(folder.join("tmp-1-0.lock"), "").unwrap();
    let living = Stock::new(folder.clone(), Vec::new(), Placements::Fresh).unwrap();
    assert_eq!(count(&folder), 2, "a folder and its lock");
    let other = Stock::new(folder.clone(), Vec::new(), Placements::Fresh).unwrap();
    assert!(living.folder().exists() && other.folder().exists());
}
