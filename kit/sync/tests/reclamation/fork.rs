//! What a child of `fork` may do.

use crate::canary::{Aviary, bury};
use std::sync::mpsc::channel;
use tiebreak_sync::{epoch, hazard};

/// What the child does: all of it, next to a thread of its parent that stays pinned for ever. Gives
/// how many were pending at the end, and how many objects are alive.
fn live_on(
    collector: &epoch::Collector,
    domain: &hazard::Domain,
    aviary: &Aviary,
) -> (usize, usize) {
    let (handle, hazards) = (collector.register(), domain.register());
    for _ in 0..2000 {
        // SAFETY: they were never linked.
        unsafe {
            handle.pin().retire_with(aviary.hatch(), bury);
            hazards.retire_with(aviary.hatch(), bury);
        }
    }
    handle.flush();
    let soon = std::time::Instant::now() + std::time::Duration::from_secs(10);
    while domain.pending() > 0 && std::time::Instant::now() < soon {
        hazards.flush();
    }
    (collector.pending() + domain.pending(), aviary.alive())
}

#[test]
#[cfg_attr(miri, ignore = "no processes there")]
fn a_child_goes_on_beside_pins_of_its_parent() {
    let aviary = Aviary::default();
    let (collector, domain) = (epoch::Collector::new(), hazard::Domain::new());
    let (pinned, is_pinned) = channel();
    let (end, is_end) = channel::<()>();
    std::thread::scope(|scope| {
        let collector = &collector;
        scope.spawn(move || {
            let handle = collector.register();
            let _guard = handle.pin();
            pinned.send(()).unwrap();
            let _ = is_end.recv();
        });
        is_pinned.recv().unwrap();
        // SAFETY: the child uses memory, this crate and nothing that other threads may have locked,
        // and ends itself.
        let child = unsafe { libc::fork() };
        if child == 0 {
            // SAFETY: plain system calls; the alarm ends a child that hangs.
            unsafe { libc::alarm(20) };
            let is_right = live_on(collector, &domain, &aviary) == (2000, 2000);
            // SAFETY: it ends the child without running anything of the parent's.
            unsafe { libc::_exit(if is_right { 0 } else { 1 }) };
        }
        assert!(child > 0);
        let mut status = 0;
        // SAFETY: the child is ours, and `status` is there.
        assert_eq!(unsafe { libc::waitpid(child, &raw mut status, 0) }, child);
        drop(end);
        assert_eq!(status, 0, "the child's status");
    });
}
