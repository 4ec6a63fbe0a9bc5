//! Lists and words by atomics, in every interleaving of a few steps.

#![cfg(loom)]

use loom::sync::Arc;
use loom::sync::atomic::{AtomicU64, Ordering};
use loom::thread;
use tiebreak_sync::per_cpu::{Counter, List, Node, Word};

/// A node whose value was written after it was made, so that who misses the write sees 0.
fn node(value: u64) -> Box<Node<AtomicU64>> {
    let node = Box::new(Node::new(AtomicU64::new(0)));
    node.value.store(value, Ordering::Relaxed);
    node
}

fn taken(node: Option<Box<Node<AtomicU64>>>) -> u64 {
    node.map_or(0, |node| {
        let value = node.value.load(Ordering::Relaxed);
        assert_ne!(value, 0, "what was written before the push");
        value
    })
}

/// Two threads push and pop on one list: nothing is lost, and nothing comes out twice.
#[test]
fn nodes_come_out_once() {
    loom::model(|| {
        let list = Arc::new(List::with_atomics());
        list.push(node(1));
        let other = {
            let list = list.clone();
            thread::spawn(move || {
                list.push(node(10));
                taken(list.pop())
            })
        };
        list.push(node(100));
        let mine = taken(list.pop());
        let theirs = other.join().unwrap();
        let mut list = Arc::try_unwrap(list).unwrap();
        let left: u64 = list.drain().map(|node| taken(Some(node))).sum();
        assert_eq!(mine + theirs + left, 111);
    });
}

/// What was written before a word was stored is seen by who loads it.
#[test]
fn words_are_updated_once() {
    loom::model(|| {
        let word = Arc::new(Word::with_atomics(0));
        let counter = Arc::new(Counter::with_atomics());
        let other = {
            let (word, counter) = (word.clone(), counter.clone());
            thread::spawn(move || {
                counter.add(5);
                assert!(word.update(|value| Some(value + 1)).is_ok());
            })
        };
        let seen = word.load();
        if seen.value() == 1 {
            assert_eq!(counter.sum(), 5);
        }
        assert!(word.update(|value| Some(value + 1)).is_ok());
        other.join().unwrap();
        assert_eq!(word.values().sum::<u64>(), 2);
    });
}
