//! The threads do their jobs, and the logs show it.

use super::*;

fn with_common(check: impl FnOnce(Common<'_>)) {
    let cpus = cpus::allowed();
    let vectors = Vectors::widest();
    let interrupted = AtomicBool::new(false);
    let common = Common {
        cpus: &cpus,
        vectors: &vectors,
        buffer_bytes: 2 * LARGE_PAGE_BYTES,
        cache_bytes: 1 << 20,
        node: None,
        ready_by_ns: u64::MAX,
        interrupted: &interrupted,
    };
    check(common);
}

fn with_team(check: impl FnOnce(&Team)) {
    with_common(|common| {
        std::thread::scope(|scope| check(&Team::start(scope, common).unwrap()));
    });
}

#[test]
fn logs_say_when_each_chunk_ended() {
    with_team(|team| {
        assert_eq!(team.buffer_bytes, 2 * LARGE_PAGE_BYTES);
        let length = Duration::from_millis(5);
        team.run(&[Job::Weave(1 << 20)], true, length);
        let jobs =
            Traffic::ALL.map(Job::Stream).into_iter().chain([Job::Trickle(1000), Job::Chase]);
        for job in jobs {
            for is_pinned in [true, false] {
                let logs = team.run(&[job], is_pinned, length);
                let [log] = &logs[..] else { panic!("{job:?}: {logs:?}") };
                assert!(log.stamps.len() >= 2 && log.stamps.is_sorted(), "{job:?}");
                assert!(log.stamps[log.stamps.len() - 1] - log.stamps[0] >= 5_000_000);
                assert!(log.chunk > 0);
            }
            // Writing kernels go over the pointers.
            team.run(&[Job::Weave(1 << 20)], true, length);
        }
        let all = vec![Job::Stream(Traffic::Touch); team.workers.len()];
        assert_eq!(team.run(&all, true, length).len(), team.workers.len());
    });
}

#[test]
fn pointers_are_one_cycle_at_all_times() {
    with_common(|common| {
        let mut hand =
            Hand::new(common, common.cpus[0], buffer(common.buffer_bytes, None).unwrap());
        let steps = STEP_LINES;
        for (asked, go_on, lines) in [
            (1, false, 1),
            (2, false, 2),
            (1000, true, 1000),
            (2 * steps, true, 2 * steps),
            (2 * steps, false, steps + 1),
        ] {
            assert_eq!(hand.weave(asked, || go_on), lines);
            let (mut at, mut seen) = (0, vec![false; lines]);
            for _ in 0..lines {
                // SAFETY: the offsets are those of lines in the buffer.
                at = unsafe { hand.buffer.at(0).add(at).cast::<u64>().read() } as usize;
                assert!(!std::mem::replace(&mut seen[at / LINE_BYTES], true), "{lines}");
            }
            assert_eq!(at, 0, "{lines}");
        }
    });
}

#[test]
fn pointers_take_no_longer_than_they_may() {
    let lines = 2 * LARGE_PAGE_BYTES / LINE_BYTES;
    fn bytes(lines: usize) -> u64 {
        (lines * LINE_BYTES) as u64
    }
    with_team(|team| {
        let chunk = |length| team.run(&[Job::Weave(usize::MAX)], true, length)[0].chunk;
        assert_eq!(chunk(Duration::ZERO), bytes(STEP_LINES + 1));
        assert_eq!(chunk(Duration::from_secs(600)), bytes(lines));
    });
}

#[test]
fn an_interrupted_team_is_ready_at_once() {
    let cpus = cpus::allowed();
    let vectors = Vectors::widest();
    let interrupted = AtomicBool::new(true);
    let common = Common {
        cpus: &cpus,
        vectors: &vectors,
        buffer_bytes: 1 << 30,
        cache_bytes: 1 << 20,
        node: None,
        ready_by_ns: u64::MAX,
        interrupted: &interrupted,
    };
    let mut hand = Hand::new(common, cpus[0], buffer(common.buffer_bytes, None).unwrap());
    assert_eq!(hand.bytes, 0);
    hand.bytes = 1 << 30;
    let woven = hand.job(Job::Weave(usize::MAX), u64::from(u32::MAX));
    assert_eq!(woven, ((STEP_LINES + 1) * LINE_BYTES) as u64);
}

#[test]
fn a_mask_names_one_node() {
    for (node, word, bits) in [(0, 0, 1), (3, 0, 8), (64, 1, 1), (1023, 15, 1 << 63)] {
        let mask = node_mask(node).unwrap();
        assert_eq!((mask[word], mask.iter().map(|w| w.count_ones()).sum()), (bits, 1_u32));
    }
    assert_eq!(node_mask(1024), None);
}

#[test]
fn a_buffer_is_aligned_and_touched_as_far_as_is_wanted() {
    let buffer = buffer(3 * LARGE_PAGE_BYTES - 5, None).unwrap();
    assert_eq!(buffer.at(0) as usize % LARGE_PAGE_BYTES, 0);
    let mut pages = 0;
    let ready = touch(&buffer, || {
        pages += 1;
        pages <= 2
    });
    assert_eq!(ready, 2 * LARGE_PAGE_BYTES);
    assert_eq!(touch(&buffer, || true), 3 * LARGE_PAGE_BYTES);
    // SAFETY: the last byte's page was touched.
    let last = unsafe { buffer.at(3 * LARGE_PAGE_BYTES - BLOCK_BYTES).read() };
    assert_eq!(last, 1);
}

#[test]
fn a_node_that_is_not_there_is_an_error() {
    assert!(buffer(LARGE_PAGE_BYTES, Some(1023)).is_err());
    assert!(buffer(LARGE_PAGE_BYTES, Some(1024)).is_err());
}
