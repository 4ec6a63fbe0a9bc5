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

#[test]
fn a_side_without_a_partner_gives_up() {
    let board = Board::new(3).unwrap();
    let [done, interrupted] = [AtomicBool::new(false), AtomicBool::new(false)];
    let patience = |wait_ns| Patience {
        done: &done,
        interrupted: &interrupted,
        deadline_ns: monotonic_ns() + wait_ns,
    };
    for (at, kernel) in Kernel::ALL.into_iter().enumerate() {
        assert_eq!(
            sides(kernel).0(board.lines(at), 5, 0, &patience(1_000_000)),
            Observation::default()
        );
        // What the first side left is answered, and then nothing comes.
        sides(kernel).1(board.lines(at), &patience(1_000_000));
    }
    interrupted.store(true, Ordering::Relaxed);
    sides(Kernel::TwoLines).1(board.lines(0), &patience(u64::MAX / 2));
}

#[test]
fn lines_are_apart_and_zero() {
    let board = Board::new(3).unwrap();
    board.touch(3);
    let mut places = Vec::new();
    for segment in 0..3 {
        let lines = board.lines(segment);
        assert_eq!(lines.first.0.load(Ordering::Relaxed), 0);
        assert!(!lines.done.0.load(Ordering::Relaxed));
        places.push(&raw const lines.first.0 as usize);
        places.push(&raw const lines.second.0 as usize);
        places.push(&raw const lines.done.0 as usize);
    }
    assert!(places.windows(2).all(|pair| pair[1] - pair[0] == 512));
}
