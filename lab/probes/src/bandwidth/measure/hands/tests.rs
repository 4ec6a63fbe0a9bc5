//! The threads do their jobs, and their stamps show it.

use super::*;

fn setup<'a>(cpus: &'a [usize], interrupted: &'a AtomicBool) -> Setup<'a> {
    Setup {
        cpus,
        buffer_bytes: 2 * HUGE_PAGE,
        cache_bytes: 1 << 20,
        node: None,
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
fn memory_is_bound_to_a_node_or_the_kernel_says_why_not() {
    const OF_ADDRESS: libc::c_int = 2;
    let (cpus, interrupted) = (cpus::allowed(), AtomicBool::new(false));
    let on = |node| Hand::new(Setup { node: Some(node), ..setup(&cpus[..1], &interrupted) });
    assert_eq!(on(1024).err().unwrap().kind(), io::ErrorKind::InvalidInput);
    // The process may not be allowed to use this node, or to bind at all.
    let hand = match on(0) {
        Ok(hand) => hand,
        Err(error) => return assert!(error.raw_os_error().is_some(), "{error}"),
    };
    let (mut mode, mut nodes) = (-1_i32, [0_u64; NODE_WORDS]);
    let (bits, start) = (NODE_WORDS * 64, hand.buffer.at(0));
    let (mode_at, nodes_at) = (&raw mut mode, nodes.as_mut_ptr());
    // SAFETY: both places are valid, the mask has `bits` bits, and the address is mapped.
    let error = unsafe {
        libc::syscall(libc::SYS_get_mempolicy, mode_at, nodes_at, bits, start, OF_ADDRESS)
    };
    if error == 0 {
        assert_eq!((mode, nodes[0]), (BIND, 1));
    }
}
