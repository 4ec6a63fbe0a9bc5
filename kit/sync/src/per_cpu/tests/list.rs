//! Lists: every node is popped once, with what was in it.

use super::crew::{Until, crew, prove, report};
use super::{Wide, has_sections, mode};
use crate::per_cpu::section::{Form, Plain};
use crate::per_cpu::{List, Mode, Node};
use std::sync::atomic::{AtomicU64, Ordering};

const CANARY: u64 = 0x5eed_cafe_f00d_beef;
const POISON: u64 = 0xdead_dead_dead_dead;

/// A number, and one that follows from it: torn or freed ones do not match.
struct Item {
    id: u64,
    canary: u64,
}

impl Item {
    fn new(id: u64) -> Item {
        Item { id, canary: id ^ CANARY }
    }

    /// Its number, once.
    fn take(&mut self) -> u64 {
        assert_eq!(self.canary, self.id ^ CANARY, "node {:#x} is not what was pushed", self.id);
        self.canary = POISON;
        self.id
    }
}

/// How many nodes went in and out, and the sums of their numbers.
#[derive(Default)]
struct Books {
    pushed: [u64; 2],
    popped: [u64; 2],
}

fn book(line: &mut [u64; 2], id: u64) {
    line[0] += 1;
    line[1] = line[1].wrapping_add(id);
}

/// Gives how often sections were interrupted.
fn churn<F: Form>(what: &str, mut list: List<Item>, until: Until) -> u64 {
    let ids = AtomicU64::new(1);
    let (books, aborts) = crew(until, |books: &mut Books| {
        for step in 0..300_u64 {
            // Three pushed, two popped: lists grow and are emptied.
            if step % 5 < 3 {
                let id = ids.fetch_add(1, Ordering::Relaxed);
                book(&mut books.pushed, id);
                list.push_as::<F>(Box::new(Node::new(Item::new(id))));
            } else if let Some(mut node) = list.pop_as::<F>() {
                book(&mut books.popped, node.value.take());
            }
        }
    });
    let mut all = Books::default();
    for part in &books {
        for (sum, number) in [(&mut all.pushed, part.pushed), (&mut all.popped, part.popped)] {
            *sum = [sum[0] + number[0], sum[1].wrapping_add(number[1])];
        }
    }
    match list.mode() {
        Mode::Rseq(_) => report(what, all.pushed[0] + all.popped[0], aborts),
        mode => println!("{what}: {} pushed, {} popped, {mode}", all.pushed[0], all.popped[0]),
    }
    list.drain().for_each(|mut node| book(&mut all.popped, node.value.take()));
    assert_eq!(all.popped, all.pushed, "each node comes out once");
    aborts
}

#[test]
fn nodes_come_out_once_however_often_sections_are_interrupted() {
    if has_sections() {
        let aborts = churn::<Wide>("push and pop", List::new(), Until::of_a_run());
        prove(aborts > 0, "no push or pop was interrupted");
    }
}

#[test]
fn nodes_come_out_once_in_the_mode_of_the_process() {
    mode();
    churn::<Plain>("push and pop, plain", List::new(), Until { aborts: 100_000, seconds: 0.3 });
}

#[test]
fn nodes_come_out_once_by_atomics() {
    let until = Until { aborts: 1, seconds: 0.3 };
    churn::<Plain>("push and pop by atomics", List::with_atomics(), until);
}

#[test]
fn a_list_frees_what_it_holds() {
    mode();
    let held = std::rc::Rc::new(());
    for mut list in [List::new(), List::with_atomics()] {
        for _ in 0..10 {
            list.push(Box::new(Node::new(held.clone())));
        }
        // An iterator that is dropped halfway leaves the rest in the list.
        assert_eq!(list.drain().take(3).count(), 3);
        assert_eq!(std::rc::Rc::strong_count(&held), 8);
        drop(list);
        assert_eq!(std::rc::Rc::strong_count(&held), 1);
    }
}
