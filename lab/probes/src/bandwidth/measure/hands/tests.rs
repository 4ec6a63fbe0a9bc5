//! The threads do their jobs, and their stamps show it.

use super::*;

fn setup<'a>(cpus: &'a [usize], interrupted: &'a AtomicBool) -> Setup<'a> {
    Setup {
        cpus,
        buffer_bytes: 2 * HUGE_PAGE,
        cache_bytes: 1 << 20,
        ready_by_ns: u64::MAX,
        interrupted,
    }
}

#[test]
fn logs_say_when_each_chunk_ended() {
    let (cpus, interrupted) = (cpus::allowed(), AtomicBool::new(false));
    let hands = Hands::new(setup(&cpus, &interrupted)).unwrap();
    assert_eq!(hands.setup.buffer_bytes, 2 * HUGE_PAGE);
    let length = Duration::from_millis(5);
    let check = |what: &str, job: &(dyn Fn(&mut Hand<'_>) + Sync)| {
        hands.run(1, |_, hand| job(hand));
        let log = lock(&hands.hands[0]).log.clone();
        assert!(log.stamps.len() >= 2 && log.stamps.is_sorted(), "{what}");
        assert!(log.stamps[log.stamps.len() - 1] - log.stamps[0] >= 5_000_000);
        assert!(log.chunk > 0);
    };
    for traffic in Traffic::ALL {
        check(traffic.name(), &|hand| hand.stream(traffic, length));
    }
    let nap = Duration::from_micros(50);
    check("naps", &|hand| hand.chunks(7, length, |_| std::thread::sleep(nap)));
    hands.run(cpus.len(), |_, hand| hand.stream(Traffic::Touch, length));
    assert!(hands.hands.iter().all(|hand| lock(hand).log.stamps.len() >= 2));
}

#[test]
fn who_is_interrupted_does_not_go_on() {
    let (cpus, interrupted) = (cpus::allowed(), AtomicBool::new(true));
    let large = Setup { buffer_bytes: 1 << 30, ..setup(&cpus, &interrupted) };
    assert!(Hands::new(large).err().unwrap().to_string().contains("in time"));
    let mut hand = Hand::new(large).unwrap();
    hand.bytes = 1 << 30;
    hand.stream(Traffic::Read, Duration::from_secs(3600));
    assert_eq!((hand.log.stamps.len(), hand.at), (1, 0));
}

#[test]
fn a_buffer_is_aligned_and_touched_as_far_as_is_wanted() {
    let (cpus, interrupted) = (cpus::allowed(), AtomicBool::new(false));
    let three = Setup { buffer_bytes: 3 * HUGE_PAGE - 5, ..setup(&cpus, &interrupted) };
    let late = Setup { ready_by_ns: 0, ..three };
    assert_eq!(Hand::new(late).unwrap().touch(), 0);
    let mut hand = Hand::new(three).unwrap();
    assert_eq!(hand.buffer.at(0) as usize % HUGE_PAGE, 0);
    assert_eq!(hand.touch(), 3 * HUGE_PAGE);
    // SAFETY: the last byte's page was touched.
    let last = unsafe { hand.buffer.at(3 * HUGE_PAGE - BLOCK_BYTES).read() };
    assert_eq!(last, 1);
}

#[test]
fn a_thread_goes_through_the_buffer_of_another_cpu() {
    let (cpus, interrupted) = (cpus::allowed(), AtomicBool::new(false));
    let hands = Hands::new(setup(&cpus, &interrupted)).unwrap();
    let length = Duration::from_millis(5);
    let last = cpus.len() - 1;
    hands.run_on(&cpus[..1], &[last], |_, hand| hand.stream(Traffic::Read, length));
    let read: Vec<bool> = hands.hands.iter().map(|hand| lock(hand).log.chunk > 0).collect();
    assert_eq!(read.iter().rposition(|read| *read), Some(last));
    assert_eq!(read.iter().filter(|read| **read).count(), 1);
}
