//! Closed loops: the answers decide when a message is sent.

use super::echo::{Echo, FRAME_BYTES, serve, stamp};
use super::server::Server;
use super::{load, number};
use std::io::{Read, Write};
use std::sync::{Arc, Mutex};
use std::time::Duration;
use tiebreak_core::load::{LoadEnding, MessageCounts};
use tiebreak_load::generator::{self, Load, Pace, Watch};
use tiebreak_load::schedule::End;

/// The server waits until it has as many messages as may be under way, looks that there is not one
/// more, and only then answers. So fewer would stop the load, and more are seen.
#[test]
fn exactly_so_many_are_under_way() {
    for (in_flight, connections, threads) in [(1, 3, 1), (1, 5, 2), (4, 2, 2)] {
        let numbers: Arc<Mutex<Vec<u64>>> = Arc::default();
        let seen_numbers = Arc::clone(&numbers);
        let server = Server::start(move |mut stream, _| {
            let mut hello = [0; FRAME_BYTES];
            if stream.read_exact(&mut hello).is_ok() {
                stream.write_all(&hello).unwrap();
            }
            let mut messages = vec![[0; FRAME_BYTES]; in_flight];
            while stream.read_exact(messages.as_flattened_mut()).is_ok() {
                std::thread::sleep(Duration::from_millis(2));
                stream.set_nonblocking(true).unwrap();
                let more = stream.peek(&mut [0]);
                stream.set_nonblocking(false).unwrap();
                let mut numbers = seen_numbers.lock().unwrap();
                numbers.extend(messages.iter().map(|message| stamp(*message).number));
                if more.is_ok_and(|bytes| bytes > 0) {
                    numbers.push(u64::MAX);
                }
                stream.write_all(messages.as_flattened()).unwrap();
            }
        });
        let sends = 10 * u64::from(connections) * in_flight as u64;
        let in_flight = Some(number(in_flight as u32));
        let load = Load {
            pace: Pace::Closed { in_flight },
            threads: number(threads),
            ..load(&server, 1, End::Sends(sends))
        };
        let seen = generator::load(&load, &Echo::of(connections), &Watch::default()).unwrap();
        let expected = MessageCounts {
            intended: sends,
            sent: sends,
            arrived: sends,
            ..MessageCounts::default()
        };
        assert_eq!((seen.counts, seen.ending), (expected, LoadEnding::Complete));
        assert_eq!((seen.punctuality.unsent, seen.punctuality.late), (0, 0));
        assert_eq!(seen.latencies.lows(), seen.latencies.highs());
        let mut numbers = numbers.lock().unwrap();
        numbers.sort_unstable();
        assert!(numbers.iter().copied().eq(0..sends), "{in_flight:?}: {numbers:?}");
    }
}

/// Much more than the sockets take: the generator has to wait for room, and to read meanwhile.
#[test]
fn as_many_as_the_socket_takes() {
    let server = Server::start(|mut stream, _| {
        let mut hello = [0; FRAME_BYTES];
        if stream.read_exact(&mut hello).is_ok() {
            stream.write_all(&hello).unwrap();
        }
        std::thread::sleep(Duration::from_millis(50));
        let mut bytes = vec![0; 1 << 16];
        while let Ok(length @ 1..) = stream.read(&mut bytes) {
            stream.write_all(&bytes[..length]).unwrap();
        }
    });
    let sends = 600_000;
    let load = Load {
        pace: Pace::Closed { in_flight: None },
        threads: number(2),
        ..load(&server, 1, End::Sends(sends))
    };
    let seen = generator::load(&load, &Echo::of(3), &Watch::default()).unwrap();
    let expected =
        MessageCounts { intended: sends, sent: sends, arrived: sends, ..MessageCounts::default() };
    assert_eq!((seen.counts, seen.ending), (expected, LoadEnding::Complete));
    assert_eq!(seen.written_bytes, sends * FRAME_BYTES as u64);
    assert_eq!(seen.latencies.count(), sends);
}

#[test]
fn a_time_ends_a_closed_loop() {
    let server = serve(|| |frame| Some(frame.to_vec()));
    let load = Load {
        pace: Pace::Closed { in_flight: Some(number(2)) },
        ..load(&server, 1, End::Ns(3_000_000_000))
    };
    let seen = generator::load(&load, &Echo::of(2), &Watch::default()).unwrap();
    assert!(seen.counts.sent >= 4 && seen.times.sends_ns.unwrap().1 < 3_000_000_000);
    assert_eq!((seen.counts.arrived, seen.ending), (seen.counts.sent, LoadEnding::Complete));
}

/// The sender of a message that never comes waits no longer than the user.
#[test]
fn a_lost_message_does_not_stop_the_load_for_ever() {
    let server = serve(|| {
        let mut count = 0;
        move |frame| {
            count += 1;
            Some(if count <= 5 { frame.to_vec() } else { Vec::new() })
        }
    });
    let load = Load {
        pace: Pace::Closed { in_flight: Some(number(1)) },
        patience: Duration::from_secs(2),
        ..load(&server, 1, End::Sends(1000))
    };
    let seen = generator::load(&load, &Echo::of(2), &Watch::default()).unwrap();
    let expected = MessageCounts {
        intended: 1000,
        sent: 12,
        arrived: 10,
        lost: 2,
        ..MessageCounts::default()
    };
    assert_eq!((seen.counts, seen.ending), (expected, LoadEnding::Waited));
}

/// What frees a connection may be no arrival.
#[test]
fn an_acknowledgement_lets_a_connection_go_on() {
    let server = Server::start(|mut stream, _| {
        let mut frame = [0; FRAME_BYTES];
        while stream.read_exact(&mut frame).is_ok() && stream.write_all(&frame).is_ok() {
            if frame[0] == b'm' {
                // Long enough to be read alone; if it is not, the test is easier to pass.
                std::thread::sleep(Duration::from_millis(2));
                frame[0] = b'a';
                let _ = stream.write_all(&frame);
            }
        }
    });
    let load = Load { pace: Pace::Closed { in_flight: None }, ..load(&server, 1, End::Sends(100)) };
    let echo = Echo { window: Some(1), ..Echo::of(2) };
    let seen = generator::load(&load, &echo, &Watch::default()).unwrap();
    let expected =
        MessageCounts { intended: 100, sent: 100, arrived: 100, ..MessageCounts::default() };
    assert_eq!((seen.counts, seen.ending), (expected, LoadEnding::Complete));
}
