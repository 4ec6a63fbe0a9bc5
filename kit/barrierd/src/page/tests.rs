use tiebreak_sync::interrupts::layout::State;

use super::*;

fn slots(cpus: usize) -> Vec<Slot> {
    (0..cpus).map(|_| Slot::default()).collect()
}

fn run(slot: &Slot, stamp_ns: u64, is_idle: bool) {
    slot.count.fetch_add(1, Ordering::Relaxed);
    slot.state.store(State::new(stamp_ns, is_idle).0, Ordering::Relaxed);
}

fn page(cpus: usize) -> Page {
    Page::new(cpus, &CpuSet::new(), &(0..cpus).collect(), Some(10)).unwrap()
}

#[test]
fn a_cpu_has_the_virtual_time_of_the_round_before_its_run() {
    let (mut page, slots) = (page(2), slots(2));
    let time = |page: &Page, cpu: usize| page.words()[cpu].virtual_time.load(Ordering::Relaxed);
    run(&slots[0], 5, false);
    run(&slots[1], 5, false);
    assert_eq!(page.publish(&slots, 10).oldest_virtual_time, 0, "nothing to compare with yet");
    assert_eq!(page.publish(&slots, 11).oldest_virtual_time, 0, "no run since");
    run(&slots[0], 12, false);
    let round = page.publish(&slots, 13);
    assert_eq!((time(&page, 0), time(&page, 1)), (2, 0), "round 3 saw a run since round 2");
    assert_eq!(round, Round { oldest_busy_ns: Some(5), oldest_virtual_time: 0 });
    run(&slots[1], 14, true);
    let round = page.publish(&slots, 15);
    assert_eq!((time(&page, 0), time(&page, 1)), (2, 4), "who is idle has the round's own");
    assert_eq!(round, Round { oldest_busy_ns: Some(12), oldest_virtual_time: 2 });
}

#[test]
fn words_change_when_their_cpu_has_moved_and_only_then() {
    let (mut page, slots) = (page(2), slots(2));
    run(&slots[0], 5, false);
    run(&slots[1], 5, false);
    page.publish(&slots, 10);
    let words =
        |page: &Page| [0, 1].map(|cpu: usize| page.words()[cpu].futex.load(Ordering::Relaxed));
    let before = words(&page);
    run(&slots[1], 20, false);
    page.publish(&slots, 21);
    let after = words(&page);
    assert_eq!(after[0], before[0]);
    assert_ne!(after[1], before[1]);
    assert_eq!(page.words()[1].stamp_ns.load(Ordering::Relaxed), 20);
}

#[test]
fn all_idle_is_as_if_stamped_now() {
    let (mut page, slots) = (page(2), slots(2));
    run(&slots[0], 5, true);
    run(&slots[1], 6, true);
    assert_eq!(page.publish(&slots, 99).oldest_busy_ns, None);
    assert_eq!(page.header().oldest_stamp_ns.load(Ordering::Relaxed), 99);
}

#[test]
fn offline_is_said_with_the_state_before_the_look() {
    let (mut page, slots) = (page(3), slots(3));
    run(&slots[1], 5, false);
    let offline = |page: &Page, cpu: usize| page.words()[cpu].offline_state.load(Ordering::Relaxed);
    let come_up = || {
        // CPU 2 comes up while the daemon looks, and goes again.
        run(&slots[2], 7, true);
        Ok([0].into_iter().collect())
    };
    page.say_offline(&slots, come_up).unwrap();
    assert_eq!(offline(&page, 0), ONLINE);
    assert_eq!(offline(&page, 1), State::new(5, false).0);
    assert_eq!(offline(&page, 2), 0, "not the state that it has now");
    assert_eq!(page.header().generation.load(Ordering::Relaxed), 1);
    page.say_offline(&slots, || Ok([0].into_iter().collect())).unwrap();
    assert_eq!(page.header().generation.load(Ordering::Relaxed), 1, "nothing has changed");
    page.say_offline(&slots, || Ok((0..3).collect())).unwrap();
    assert_eq!((offline(&page, 1), offline(&page, 2)), (ONLINE, ONLINE));
    assert_eq!(page.header().generation.load(Ordering::Relaxed), 2);
}

#[test]
fn a_cpu_that_was_not_surveyed_ends_the_clock_when_it_comes_up() {
    let surveyed: CpuSet = [0].into_iter().collect();
    let (mut page, slots) = (Page::new(2, &CpuSet::new(), &surveyed, Some(10)).unwrap(), slots(2));
    let is_surveyed = |page: &Page| [0, 1].map(|cpu: usize| page.words()[cpu].is_surveyed());
    assert_eq!(is_surveyed(&page), [true, false]);
    page.say_offline(&slots, || Ok([0].into_iter().collect())).unwrap();
    assert!(page.margin_ns().is_some());
    page.say_offline(&slots, || Ok((0..2).collect())).unwrap();
    assert!(page.margin_ns().is_none());
    page.say_offline(&slots, || Ok([0].into_iter().collect())).unwrap();
    assert!(page.margin_ns().is_none(), "for good");
}

#[test]
fn others_can_map_the_page_to_read_and_not_to_write() {
    let page = page(2);
    assert!(Mapping::new(page.as_fd(), 0, page_bytes(2), Access::Read).is_ok());
    assert!(Mapping::new(page.as_fd(), 0, page_bytes(2), Access::Write).is_err());
    // SAFETY: numbers only.
    let shrunk = unsafe { libc::ftruncate(page.as_fd().as_raw_fd(), 0) };
    assert_ne!(shrunk, 0);
}

#[test]
fn a_clock_that_is_withdrawn_stays_so() {
    let page = page(1);
    assert!(page.margin_ns().is_some());
    page.withdraw_clock();
    assert!(page.margin_ns().is_none());
    assert_eq!((page.margin_ns(), page.header().generation.load(Ordering::Relaxed)), (None, 1));
}
