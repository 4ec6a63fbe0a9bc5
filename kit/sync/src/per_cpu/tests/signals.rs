//! A storm of signals: each interrupts a section, and its handler uses the same objects.

use super::crew::{prove, share_cpus};
use super::{ABORTS, Wide, has_sections};
use crate::per_cpu::{Counter, List, Node};
use crate::test_affinity::keep_to;
use std::sync::OnceLock;
use std::sync::atomic::{AtomicBool, AtomicI64, AtomicU64, Ordering};
use std::sync::mpsc;
use std::thread;
use std::time::{Duration, Instant};

struct Shared {
    counter: Counter,
    list: List<u64>,
    handled: AtomicI64,
}

static SHARED: OnceLock<Shared> = OnceLock::new();

extern "C" fn handler(_signal: libc::c_int) {
    if let Some(shared) = SHARED.get() {
        shared.handled.fetch_add(1, Ordering::Relaxed);
        shared.counter.add(1);
        if let Some(node) = shared.list.pop() {
            shared.list.push(node);
        }
    }
}

/// Handles a signal until it is dropped.
struct Handled {
    signal: libc::c_int,
    before: libc::sigaction,
}

impl Handled {
    fn new(signal: libc::c_int) -> Option<Handled> {
        // SAFETY: a zeroed action is one; the handler does what a handler may: sections, atomics.
        unsafe {
            let mut action: libc::sigaction = std::mem::zeroed();
            action.sa_sigaction = handler as extern "C" fn(libc::c_int) as usize;
            action.sa_flags = libc::SA_RESTART;
            let mut before = std::mem::zeroed();
            let is_set = libc::sigaction(signal, &raw const action, &raw mut before) == 0;
            is_set.then_some(Handled { signal, before })
        }
    }
}

impl Drop for Handled {
    fn drop(&mut self) {
        // SAFETY: what was there before; no thread of this test is left that could get the signal.
        unsafe { libc::sigaction(self.signal, &raw const self.before, std::ptr::null_mut()) };
    }
}

/// Adds and pops and pushes until it is to stop; gives how often it added, and the aborts.
fn work(shared: &Shared, stop: &AtomicBool) -> (i64, u64) {
    let mut added = 0;
    while !stop.load(Ordering::Relaxed) {
        for _ in 0..100 {
            shared.counter.add_as::<Wide>(1);
            if let Some(node) = shared.list.pop_as::<Wide>() {
                shared.list.push_as::<Wide>(node);
            }
        }
        added += 100;
    }
    (added, ABORTS.take())
}

#[test]
fn a_storm_of_signals_loses_nothing() {
    const THREADS: usize = 3;
    const NODES: u64 = 64;
    if !has_sections() {
        return;
    }
    let shared = SHARED.get_or_init(|| Shared {
        counter: Counter::new(),
        list: List::new(),
        handled: AtomicI64::new(0),
    });
    (0..NODES).for_each(|id| shared.list.push(Box::new(Node::new(id))));
    let signal = libc::SIGRTMIN() + 5;
    let Some(_handled) = Handled::new(signal) else {
        println!("skipped: signal {signal} cannot be handled here");
        return;
    };
    let (stop, sent) = (AtomicBool::new(false), AtomicU64::new(0));
    let ends = thread::scope(|scope| {
        let (sender, receiver) = mpsc::channel();
        let threads: Vec<_> = (0..THREADS)
            .map(|_| {
                let (sender, stop) = (sender.clone(), &stop);
                scope.spawn(move || {
                    share_cpus();
                    // SAFETY: it takes nothing.
                    sender.send(unsafe { libc::gettid() }).unwrap();
                    work(shared, stop)
                })
            })
            .collect();
        let ids: Vec<_> = receiver.iter().take(THREADS).collect();
        let start = Instant::now();
        while start.elapsed() < Duration::from_millis(400) {
            for &id in &ids {
                // SAFETY: numbers go in and out. These threads only end once `stop` is set, further
                // down, so the signal meets no other.
                let status = unsafe { libc::syscall(libc::SYS_tgkill, libc::getpid(), id, signal) };
                sent.fetch_add(u64::from(status == 0), Ordering::Relaxed);
            }
            thread::sleep(Duration::from_micros(50));
        }
        stop.store(true, Ordering::Relaxed);
        threads.into_iter().map(|thread| thread.join().unwrap()).collect::<Vec<_>>()
    });
    let added: i64 = ends.iter().map(|end| end.0).sum();
    let aborts: u64 = ends.iter().map(|end| end.1).sum();
    let (sent, handled) = (sent.into_inner(), shared.handled.load(Ordering::Relaxed));
    println!("{sent} signals, {handled} handled, {added} additions, {aborts} aborts");
    assert!(handled > 0, "no signal was handled, so nothing was tested");
    prove(aborts > 0, "no signal met a section");
    assert_eq!(shared.counter.sum(), added + handled);
    // In a thread of its own, as it changes where the thread may run.
    let left = thread::scope(|scope| scope.spawn(|| nodes(&shared.list)).join().unwrap());
    assert_eq!(left, NODES);
}

/// How many nodes there are, over all CPUs. It takes them out on each in turn.
fn nodes(list: &List<u64>) -> u64 {
    let mut taken = Vec::new();
    for cpu in 0..libc::CPU_SETSIZE as usize {
        if keep_to(&[cpu]) {
            taken.extend(std::iter::from_fn(|| list.pop()));
        }
    }
    let mut ids: Vec<u64> = taken.iter().map(|node| node.value).collect();
    ids.sort_unstable();
    ids.dedup();
    assert_eq!(ids.len(), taken.len(), "a node came out twice");
    ids.len() as u64
}
