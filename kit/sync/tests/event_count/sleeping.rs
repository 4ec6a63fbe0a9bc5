//! A waiter that sleeps does nothing, and what wakes it for nothing does not end its wait.

use std::sync::mpsc;
use std::time::Duration;

use tiebreak_sync::event_count::{Bound, Waiting};

use super::subject::{Hand, Subject, hopeless};

super::for_every_kind! {
    a_parked_waiter_sleeps,
    signals_do_not_end_a_wait,
}

/// The kernel's number of this thread.
fn this_thread() -> libc::pid_t {
    // SAFETY: it takes nothing and cannot fail.
    unsafe { libc::gettid() }
}

/// How often a thread of this process has left its CPU, if the kernel tells.
fn context_switches(thread: libc::pid_t) -> Option<u64> {
    let status = std::fs::read_to_string(format!("/proc/self/task/{thread}/status")).ok()?;
    let counts = status.lines().filter_map(|line| line.split_once("_ctxt_switches:"));
    let counts: Vec<u64> =
        counts.map(|(_, count)| count.trim().parse().ok()).collect::<Option<_>>()?;
    (counts.len() == 2).then(|| counts.iter().sum())
}

/// Whether the thread sleeps, as the kernel says.
fn is_asleep(thread: libc::pid_t) -> bool {
    std::fs::read_to_string(format!("/proc/self/task/{thread}/stat"))
        .is_ok_and(|stat| stat.rsplit_once(") ").is_some_and(|(_, rest)| rest.starts_with('S')))
}

/// Once it sleeps for good, it stays off the CPU until it is woken.
fn a_parked_waiter_sleeps<S: Subject>() {
    let count = S::new(Waiting::new());
    if count.bound() == Bound::OneSecond && !super::length::is_full() {
        println!("skipped: the one-second rule takes seconds to show it");
        return;
    }
    it_sleeps_for_good(count);
}

#[test]
#[ignore = "long: the rule needs a second, and its longest slice another one and a half"]
fn a_waiter_parked_by_the_one_second_rule_sleeps() {
    use tiebreak_sync::event_count::{EventCount32, Single};
    let waiting = Waiting::new().bound(Bound::OneSecond);
    it_sleeps_for_good(EventCount32::<Single>::with_waiting(waiting));
}

fn it_sleeps_for_good<S: Subject>(count: S) {
    if context_switches(this_thread()).is_none() {
        println!("skipped: /proc does not count context switches here");
        return;
    }
    // Longer than every slice of the rule that has slices.
    let quiet = match count.bound() {
        Bound::OneSecond => Duration::from_millis(1700),
        _ => Duration::from_millis(300),
    };
    let (sender, receiver) = mpsc::channel();
    std::thread::scope(|scope| {
        let count = &count;
        scope.spawn(move || {
            sender.send(this_thread()).unwrap();
            assert_eq!(count.wait(0), 1);
        });
        let waiter = receiver.recv().unwrap();
        let is_quiet = comes_to_rest(waiter, quiet);
        count.hand().unwrap().increment();
        assert!(is_quiet, "the waiter never slept through {quiet:?} by {}", count.bound());
    });
}

/// Whether the thread comes to sleep through a whole `quiet`, on its way there once or twice awake.
fn comes_to_rest(thread: libc::pid_t, quiet: Duration) -> bool {
    for _ in 0..10 {
        let before = context_switches(thread);
        let slept_before = is_asleep(thread);
        std::thread::sleep(quiet);
        if slept_before && is_asleep(thread) && context_switches(thread) == before {
            return true;
        }
    }
    false
}

extern "C" fn ignore(_signal: libc::c_int) {}

/// Signals interrupt the system call; the waiter goes back to sleep.
fn signals_do_not_end_a_wait<S: Subject>() {
    // SAFETY: the handler does nothing, so it may run anywhere; no other test uses this signal.
    unsafe {
        let mut action: libc::sigaction = std::mem::zeroed();
        action.sa_sigaction = ignore as extern "C" fn(libc::c_int) as libc::sighandler_t;
        assert_eq!(libc::sigaction(libc::SIGUSR2, &action, std::ptr::null_mut()), 0);
    }
    let count = S::new(Waiting::new().spins(0));
    let (sender, receiver) = mpsc::channel();
    std::thread::scope(|scope| {
        let count = &count;
        let waiter = scope.spawn(move || {
            sender.send(this_thread()).unwrap();
            count.wait_until(0, hopeless())
        });
        let thread = receiver.recv().unwrap();
        for _ in 0..100 {
            // SAFETY: a signal with a handler, to a thread of this process that is not joined yet.
            unsafe { libc::syscall(libc::SYS_tgkill, libc::getpid(), thread, libc::SIGUSR2) };
            std::thread::sleep(Duration::from_micros(200));
        }
        assert!(!waiter.is_finished(), "a signal has ended the wait");
        count.hand().unwrap().increment();
        assert_eq!(waiter.join().unwrap(), Some(1));
    });
}
