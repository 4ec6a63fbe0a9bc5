//! Threads that the kernel does not know, and processes that were forked.

use super::{Wide, has_sections, mode};
use crate::per_cpu::{Counter, List, Node, Word};
use std::thread;

/// Takes this thread's registration back, as another library might.
#[cfg(all(target_arch = "x86_64", target_pointer_width = "64"))]
fn unregister() -> bool {
    use crate::per_cpu::rseq::{Area, Finder};

    const UNREGISTER: u32 = 1;
    let area = Finder::of(mode()).and_then(Area::of_thread);
    let Some(area) = area else {
        return false;
    };
    let thread_pointer: usize;
    // SAFETY: the ABI has the thread pointer itself at its own address.
    unsafe { std::arch::asm!("mov {}, fs:0", out(reg) thread_pointer) };
    let address = thread_pointer.wrapping_add_signed(area.offset());
    // It was registered with one of these lengths.
    [32, 64, 28, 20].into_iter().any(|bytes: usize| {
        // SAFETY: the kernel forgets the area; the thread has no section any more, which is what is
        // tested.
        unsafe { libc::syscall(libc::SYS_rseq, address, bytes, UNREGISTER, Area::SIGNATURE) == 0 }
    })
}

#[cfg(not(all(target_arch = "x86_64", target_pointer_width = "64")))]
fn unregister() -> bool {
    false
}

#[test]
fn a_thread_that_the_kernel_does_not_know_works_by_atomics() {
    if !has_sections() {
        return;
    }
    let (counter, word, list) = (Counter::new(), Word::new(5), List::new());
    thread::scope(|scope| {
        scope.spawn(|| {
            let seen_before = word.load();
            if !unregister() {
                println!("skipped: the registration cannot be taken back here");
                return;
            }
            let seen = word.load();
            assert_ne!(seen.cpu(), seen_before.cpu());
            assert_eq!(seen.cpu() + 1, word.values().count(), "the last word is no CPU's");
            assert_eq!(word.compare_and_store(seen_before, 6), Err(seen), "not without a section");
            assert_eq!(word.compare_and_store(seen, 7), Ok(()));
            assert_eq!(word.values().last(), Some(7));
            (0..1000).for_each(|_| counter.add(2));
            list.push(Box::new(Node::new(1)));
            list.push(Box::new(Node::new(2)));
            assert_eq!(list.pop().map(|node| node.value), Some(2));
        });
        (0..1000).for_each(|_| counter.add_as::<Wide>(3));
    });
    let sum = counter.sum();
    assert!(sum == 5000 || sum == 3000, "{sum}");
    // What is no CPU's is for everybody.
    let left = list.pop().map(|node| node.value);
    assert_eq!(left, (sum == 5000).then_some(1));
}

#[test]
fn a_forked_process_has_its_own_copy_and_goes_on() {
    mode();
    let counter = Counter::new();
    counter.add(7);
    // SAFETY: the child adds, reads and ends: all of which may be done after a fork.
    let child = unsafe { libc::fork() };
    if child == 0 {
        (0..1000).for_each(|_| counter.add_as::<Wide>(1));
        // SAFETY: as above.
        unsafe { libc::_exit(if counter.sum() == 1007 { 0 } else { 1 }) };
    }
    assert!(child > 0, "fork: {}", std::io::Error::last_os_error());
    let mut status = -1;
    // SAFETY: the status may be written.
    let ended = unsafe { libc::waitpid(child, &raw mut status, 0) };
    assert_eq!((ended, status), (child, 0));
    assert_eq!(counter.sum(), 7);
}

#[test]
fn a_word_is_stored_only_where_it_is_what_was_seen() {
    mode();
    for word in [Word::new(1), Word::with_atomics(1)] {
        let before = word.update(|value| value.checked_add(1));
        assert_eq!(before, Ok(1));
        let refused = word.update(|_| None);
        assert!(matches!(refused, Err(1 | 2)), "{refused:?}");
        // A thread may be moved at any time; what counts is that exactly one word has changed.
        let count = word.values().count() as u64;
        assert_eq!(word.values().sum::<u64>(), count + 1);
    }
}
