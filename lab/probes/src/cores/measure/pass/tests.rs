use super::*;

#[test]
fn a_batch_with_a_gap_is_counted_and_not_used() {
    fn check(times: &[u64], cut_off: u64, expected: (Option<f64>, u64, u64)) {
        let seen = summary(&mut times.to_vec(), cut_off, 50);
        assert_eq!((seen.latency_ns, seen.batches, seen.invalid), expected);
    }
    check(&[], 0, (None, 0, 0));
    check(&[], 1, (None, 1, 1));
    check(&[8000; 9], 0, (None, 9, 0));
    check(&[8000; 10], 1, (Some(80.0), 11, 1));
    let mut times = vec![8000; 30];
    times.extend([10_000; 10]);
    times.extend([10_001, 12_000, 4_000_000]);
    check(&times, 0, (Some(80.0), 43, 3));
    // The quartile is of those that are left.
    let mut times = vec![40_000; 100];
    times.extend([8000, 8000, 8000, 8000, 8000, 8000, 8100, 8100, 8100, 8100, 8100, 8100]);
    check(&times, 0, (Some(80.0), 112, 100));
}

fn check_alone<const KERNEL: u8>(at: usize) {
    let board = Board::new().unwrap();
    let interrupted = AtomicBool::new(false);
    let lines = &board.lines()[at];
    let side = |wait_ns| {
        let deadline_ns = monotonic_ns() + wait_ns;
        Side { lines, interrupted: &interrupted, deadline_ns, clock_ns: 0 }
    };
    assert_eq!(side(1_000_000).time::<KERNEL>(), Observation::default());
    // What the first side left is answered, and then nothing comes.
    side(1_000_000).answer::<KERNEL>();
    interrupted.store(true, Ordering::Relaxed);
    side(u64::MAX / 2).answer::<KERNEL>();
}

#[test]
fn a_side_without_a_partner_gives_up() {
    check_alone::<{ Kernel::TwoLines as u8 }>(0);
    check_alone::<{ Kernel::OneLine as u8 }>(1);
    check_alone::<{ Kernel::CompareExchange as u8 }>(2);
}

#[test]
fn the_cost_of_the_clock_is_not_in_a_batch() {
    let board = Board::new().unwrap();
    let interrupted = AtomicBool::new(false);
    let (lines, deadline_ns) = (&board.lines()[0], monotonic_ns() + 100_000_000_000);
    // The answer of the first trip is there already.
    lines.second.0.store(2, Ordering::Relaxed);
    // Nothing is left of a batch that takes less time than the clock.
    let side = Side { lines, interrupted: &interrupted, deadline_ns, clock_ns: 100_000_000_000 };
    assert_eq!(side.batch_ns::<{ Kernel::TwoLines as u8 }>(&mut 1, 1), Some(0));
}

#[test]
fn lines_are_apart_and_zero() {
    let board = Board::new().unwrap();
    let mut places = Vec::new();
    for lines in board.lines() {
        assert_eq!(lines.first.0.load(Ordering::Relaxed), 0);
        assert!(!lines.done.0.load(Ordering::Relaxed));
        places.push(&raw const lines.first.0 as usize);
        places.push(&raw const lines.second.0 as usize);
        places.push(&raw const lines.done.0 as usize);
    }
    assert!(places.windows(2).all(|pair| pair[1] - pair[0] == 512));
}
