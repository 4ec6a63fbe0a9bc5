//! The barriers of a child of `fork`.

use std::sync::atomic::{AtomicBool, Ordering::Relaxed};
use std::time::{Duration, Instant};

use crate::alone;
use crate::litmus::{Limit, store_buffering, two_cpus};
use tiebreak_sync::barrier::{Barrier, Strategy, Substituted};

/// Runs the body in a child, and says whether it returned true there. A child that hangs is ended
/// by its own alarm.
fn in_a_child(body: impl FnOnce() -> bool) -> bool {
    // SAFETY: the child has this thread only. What it does needs no lock of another thread but the
    // C library's own, which that takes over at a fork.
    let child = unsafe { libc::fork() };
    assert!(child >= 0, "{}", std::io::Error::last_os_error());
    if child == 0 {
        // SAFETY: neither call has a precondition; _exit runs nothing of the parent's.
        unsafe { libc::alarm(20) };
        let code = if body() { 0 } else { 1 };
        // SAFETY: as above.
        unsafe { libc::_exit(code) };
    }
    let mut status = 0;
    // SAFETY: the kernel writes one number.
    let ended = unsafe { libc::waitpid(child, &raw mut status, 0) };
    ended == child && status == 0
}

fn available() -> Vec<Barrier> {
    Strategy::ALL.into_iter().filter_map(|strategy| Barrier::with(strategy).ok()).collect()
}

#[test]
fn a_child_has_the_barrier_of_its_parent() {
    let _alone = alone();
    let cpus = match two_cpus() {
        Ok(cpus) => cpus,
        Err(reason) => return println!("skipped: {reason}"),
    };
    let limit = Limit { time: Duration::from_millis(60), ..Limit::of_a_run() };
    for barrier in available() {
        let is_right = in_a_child(|| {
            let seen = store_buffering(cpus, || barrier.light(), || barrier.heavy(), limit);
            seen.forbidden == 0 && seen.rounds > 0 && Substituted::so_far().is_none()
        });
        println!("{}: {}", barrier.strategy(), if is_right { "works" } else { "does not work" });
        assert!(is_right, "{}", barrier.strategy());
    }
}

#[test]
fn a_grandchild_has_it_too() {
    let _alone = alone();
    let barrier = Barrier::process();
    assert!(in_a_child(|| in_a_child(|| {
        barrier.heavy();
        Substituted::so_far().is_none()
    })));
}

/// Another thread may be in the middle of a heavy side, or of the choice, at the fork.
#[test]
fn a_fork_beside_a_heavy_side_leaves_no_lock_behind() {
    let _alone = alone();
    for barrier in available() {
        let is_over = AtomicBool::new(false);
        std::thread::scope(|scope| {
            scope.spawn(|| {
                while !is_over.load(Relaxed) {
                    barrier.heavy();
                    let _ = Barrier::with(barrier.strategy());
                }
            });
            let end = Instant::now() + Duration::from_millis(150);
            let mut children = 0;
            let mut are_right = true;
            while are_right && Instant::now() < end {
                are_right = in_a_child(|| {
                    barrier.heavy();
                    Substituted::so_far().is_none()
                });
                children += 1;
            }
            is_over.store(true, Relaxed);
            assert!(are_right, "{} after {children} forks", barrier.strategy());
            println!("{}: {children} children", barrier.strategy());
        });
    }
}
