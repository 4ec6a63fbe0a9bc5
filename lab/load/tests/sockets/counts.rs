//! What becomes of messages: each is counted once, by what the server did with it.

use super::echo::{Echo, FRAME_BYTES, frame, serve, stamp};
use super::server::Server;
use super::{PATIENCE, load, number};
use std::collections::HashSet;
use std::io::{Read, Write};
use std::net::TcpStream;
use std::sync::atomic::Ordering;
use std::sync::{Arc, Mutex};
use std::time::Duration;
use tiebreak_core::load::Spacing;
use tiebreak_core::load::{LoadEnding, MessageCounts, Refusal};
use tiebreak_load::generator::{self, Load, Pace, Watch};
use tiebreak_load::ledger::{Ledger, Outcome, Reach};
use tiebreak_load::schedule::{End, Rate};
use tiebreak_load::seen::Account;
use tiebreak_load::stamp::STAMP_BYTES;

/// Checks what holds of every load.
fn check(seen: &Account) {
    assert_eq!(seen.latencies.count(), seen.counts.arrived);
    assert_eq!(seen.punctuality.sent, seen.counts.sent);
    assert_eq!(seen.counts.intended, seen.counts.sent + seen.punctuality.unsent);
    if let (Some(sends), Some(arrivals)) = (seen.times.sends_ns, seen.times.arrivals_ns) {
        assert!(sends.0 <= sends.1 && arrivals.0 <= arrivals.1 && sends.0 <= arrivals.0);
        assert!(seen.times.before_end.is_none_or(|(last_ns, _)| last_ns <= arrivals.1));
    }
    let before_end = seen.times.before_end.map_or(0, |(_, arrived)| arrived);
    assert!(before_end <= seen.counts.arrived);
}

#[test]
fn every_message_arrives_once() {
    let server = serve(|| |frame| Some(frame.to_vec()));
    for spacing in [Spacing::Constant, Spacing::Poisson] {
        for (connections, threads) in [(1, 1), (7, 2), (2, 3), (12, 4)] {
            let rate = Rate::per_second(2000).unwrap();
            let load = Load {
                threads: number(threads),
                pace: Pace::Open { rate, spacing },
                ..load(&server, 1, End::Sends(500))
            };
            let watch = Watch::default();
            let seen = generator::load(&load, &Echo::of(connections), &watch).unwrap();
            check(&seen);
            let expected = MessageCounts {
                intended: 500,
                sent: 500,
                arrived: 500,
                ..MessageCounts::default()
            };
            assert_eq!((seen.counts, &seen.ending), (expected, &LoadEnding::Complete));
            let bytes = 500 * FRAME_BYTES as u64;
            assert_eq!((seen.written_bytes, seen.read_bytes), (bytes, bytes));
            assert!(seen.generator_cpu_ns > 0);
            let watched = [&watch.open, &watch.sent, &watch.arrived];
            let watched = watched.map(|counter| counter.load(Ordering::SeqCst));
            assert_eq!(watched, [connections.into(), 500, 500]);
        }
    }
}

#[test]
fn a_time_ends_a_schedule() {
    let server = serve(|| |frame| Some(frame.to_vec()));
    let load = load(&server, 1000, End::Ns(300_000_000));
    let seen = generator::load(&load, &Echo::of(2), &Watch::default()).unwrap();
    check(&seen);
    assert_eq!((seen.counts.intended, seen.counts.lost), (300, 0));
    assert_eq!((seen.counts.arrived, seen.ending), (seen.counts.sent, LoadEnding::Complete));
}

/// Of ten messages the server answers one twice, one after the next one, one never, and refuses
/// one.
#[test]
fn what_the_server_does_wrong_is_counted_apart() {
    let server = serve(|| {
        let (mut count, mut held) = (0, Vec::new());
        move |message| {
            count += 1;
            let mut answer = message.to_vec();
            match count % 10 {
                3 => answer.extend(message),
                5 => return Some(std::mem::replace(&mut held, answer)),
                6 => answer.append(&mut held),
                7 => answer.clear(),
                9 => answer[0] = b'n',
                _ => {}
            }
            Some(answer)
        }
    });
    let patience = Duration::from_secs(3);
    let load = Load { threads: number(2), patience, ..load(&server, 2000, End::Sends(200)) };
    let seen = generator::load(&load, &Echo::of(2), &Watch::default()).unwrap();
    check(&seen);
    let expected = MessageCounts {
        intended: 200,
        sent: 200,
        arrived: 160,
        lost: 20,
        duplicated: 20,
        reordered: 20,
        refused: 20,
        under_way: 0,
        unacknowledged: 0,
        reconnected: 0,
    };
    assert_eq!(seen.refusals, [Refusal { code: 7, count: 20 }]);
    assert_eq!((seen.counts, &seen.ending), (expected, &LoadEnding::Waited));
    assert!(seen.backlog >= 20);
}

/// Answers that come at once, and acknowledgements that come after the last of them, or never.
#[test]
fn acknowledgements_are_waited_for_and_counted() {
    for (missing, patience) in [(0, PATIENCE), (3, Duration::from_millis(500))] {
        let server = Server::start(move |mut stream, _| {
            let mut message = [0; FRAME_BYTES];
            for _ in 0..=100 {
                let read = stream.read_exact(&mut message);
                read.and_then(|()| stream.write_all(&message)).unwrap();
            }
            // Long enough that all has arrived; if it is not, the test is easier to pass.
            std::thread::sleep(Duration::from_millis(50));
            for _ in missing..100 {
                stream.write_all(&frame(b'a', [0; STAMP_BYTES])).unwrap();
            }
            let _ = stream.read(&mut message);
        });
        let load = Load { threads: number(2), patience, ..load(&server, 10_000, End::Sends(200)) };
        let echo = Echo { window: Some(100), ..Echo::of(2) };
        let seen = generator::load(&load, &echo, &Watch::default()).unwrap();
        check(&seen);
        let expected = MessageCounts {
            intended: 200,
            sent: 200,
            arrived: 200,
            unacknowledged: 2 * missing,
            ..MessageCounts::default()
        };
        assert_eq!((seen.counts, seen.ending), (expected, LoadEnding::Complete));
    }
}

/// Whoever wants to know gets the outcome of each message, while the load runs and at its end.
#[test]
fn every_outcome_is_reported() {
    let server = serve(|| {
        let mut count = 0;
        move |message| {
            count += 1;
            let mut answer = message.to_vec();
            match count % 5 {
                2 => answer[0] = b'n',
                3 => answer.clear(),
                4 => answer.extend(message),
                _ => {}
            }
            Some(answer)
        }
    });
    let patience = Duration::from_millis(500);
    let load = Load { threads: number(2), patience, ..load(&server, 2000, End::Sends(200)) };
    let watch = Watch { ledger: Some(Ledger::default()), ..Watch::default() };
    let ledger = watch.ledger.as_ref().unwrap();
    let (mut arrived, mut refused, mut room) = (HashSet::new(), HashSet::new(), Vec::new());
    let mut take = |outcome| match outcome {
        Outcome::Arrived { number, .. } => assert!(arrived.insert(number), "{number} twice"),
        Outcome::Refused { number } => assert!(refused.insert(number), "{number} twice"),
    };
    let mut before = Reach::default();
    let seen = std::thread::scope(|scope| {
        let loading = scope.spawn(|| generator::load(&load, &Echo::of(3), &watch).unwrap());
        while !loading.is_finished() {
            let reach = ledger.collect(&mut room, &mut take);
            assert!(reach.sent_below >= before.sent_below && reach.sent_below <= 200);
            assert!(reach.heard_until_ns >= before.heard_until_ns);
            before = reach;
            std::thread::sleep(Duration::from_millis(1));
        }
        loading.join().unwrap()
    });
    let reach = ledger.collect(&mut room, &mut take);
    check(&seen);
    assert_eq!(reach.sent_below, 200);
    assert_eq!(
        (arrived.len() as u64, refused.len() as u64),
        (seen.counts.arrived, seen.counts.refused)
    );
    assert_eq!(seen.counts.lost, 200 - seen.counts.arrived - seen.counts.refused);
    assert!(seen.counts.lost >= 39 && arrived.is_disjoint(&refused), "{:?}", seen.counts);
}

/// Two senders, and four connections that hear both: on two threads, so that a message arrives on
/// others than it was sent from.
#[test]
fn a_message_may_arrive_at_many() {
    let all: Arc<Mutex<Vec<TcpStream>>> = Arc::default();
    let server = Server::start(move |mut stream, _| {
        let mut message = [0; FRAME_BYTES];
        while stream.read_exact(&mut message).is_ok() {
            let mut all = all.lock().unwrap();
            if message[0] == b'h' {
                all.push(stream.try_clone().unwrap());
                stream.write_all(&frame(b'h', [0; STAMP_BYTES])).unwrap();
            } else {
                assert!(stamp(message).number < 300);
                all.iter_mut().for_each(|stream| stream.write_all(&message).unwrap());
            }
        }
    });
    let load = Load { threads: number(2), ..load(&server, 2000, End::Sends(300)) };
    let broadcast = Echo { connections: 4, senders: 2, arrivals_a_message: 4, window: None };
    let seen = generator::load(&load, &broadcast, &Watch::default()).unwrap();
    check(&seen);
    let expected =
        MessageCounts { intended: 300, sent: 300, arrived: 1200, ..MessageCounts::default() };
    assert_eq!((seen.counts, seen.ending), (expected, LoadEnding::Complete));
}
