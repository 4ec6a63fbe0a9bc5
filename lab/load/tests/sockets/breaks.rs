//! Servers that refuse, break, or do nothing, and users that stop: each ends the load, and what was
//! seen until then is kept.

use super::echo::{Echo, FRAME_BYTES, frame, serve, stamp};
use super::server::Server;
use super::{load, number};
use std::io::{Read, Write};
use std::net::TcpStream;
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::Duration;
use tiebreak_core::load::LoadEnding;
use tiebreak_load::generator::{self, Load, LoadError, Watch};
use tiebreak_load::schedule::End;
use tiebreak_load::seen::Account;
use tiebreak_load::stamp::{LOAD_NS_MAX, MESSAGES_MAX, Stamp};

/// Loads on two threads, with an end that is far away.
fn of(server: &Server) -> Load {
    Load { threads: number(2), ..load(server, 1000, End::Sends(1_000_000)) }
}

fn seen_of(server: &Server) -> Account {
    generator::load(&of(server), &Echo::of(4), &Watch::default()).unwrap()
}

fn error_of(load: &Load) -> (LoadError, String) {
    let error = generator::load(load, &Echo::of(4), &Watch::default()).unwrap_err();
    let said = error.to_string();
    (error, said)
}

#[test]
fn a_closed_port() {
    let server = serve(|| |_| None);
    // A port that a client has is nobody else's, and no server's.
    let client = TcpStream::connect(server.address).unwrap();
    let address = client.local_addr().unwrap();
    let (error, said) = error_of(&Load { address, ..of(&server) });
    assert!(matches!(error, LoadError::Connect { address: at, .. } if at == address), "{said}");
    assert!(said.contains("refused") && said.ends_with("start the server there first"), "{said}");
}

#[test]
fn a_server_that_never_opens() {
    let server = Server::start(
        |mut stream, _| {
            while stream.read(&mut [0; 64]).is_ok_and(|bytes| bytes > 0) {}
        },
    );
    let patience = Duration::from_millis(200);
    let (error, said) = error_of(&Load { patience, ..of(&server) });
    assert!(matches!(error, LoadError::NotOpen { open: 0, connections: 4, .. }), "{said}");
    assert_eq!(
        said,
        "the server takes connections and leaves them unanswered: none of 4 is open after 200ms; \
         give the address of a server that speaks this protocol"
    );
}

#[test]
fn a_server_that_refuses() {
    let garbage = Server::start(|mut stream, _| {
        let _ = stream.write_all(&[b'x'; FRAME_BYTES]);
        let _ = stream.read(&mut [0; 64]);
    });
    let closing = Server::start(|_, _| {});
    for (server, expected) in [(&garbage, "sent the letter 120"), (&closing, "closed")] {
        let (error, said) = error_of(&of(server));
        let is_refused = matches!(&error, LoadError::Refused { why, .. } if why.contains(expected));
        assert!(is_refused, "{said}");
    }
}

/// Answers 20 messages of each connection, then says something else, or only closes.
fn breaking(last: &'static [u8]) -> Server {
    let answer = move |count: &mut u32, message: [u8; FRAME_BYTES], stream: &mut dyn Write| {
        *count += 1;
        let answer = if *count <= 20 { &message[..] } else { last };
        stream.write_all(answer).is_ok() && *count <= 20
    };
    Server::start(move |mut stream, _| {
        let (mut count, mut message) = (0, [0; FRAME_BYTES]);
        while stream.read_exact(&mut message).is_ok() {
            let goes_on = if message[0] == b'h' {
                stream.write_all(&message).is_ok()
            } else {
                answer(&mut count, message, &mut stream)
            };
            if !goes_on {
                break;
            }
        }
    })
}

#[test]
fn a_server_that_breaks_in_the_middle() {
    for (last, expected) in [
        (&b""[..], "closed the connection"),
        (&b"mhalf"[..], "closed the connection"),
        (&[b'!'; FRAME_BYTES][..], "sent the letter 33"),
    ] {
        let server = breaking(last);
        let seen = seen_of(&server);
        let LoadEnding::Broken { connection, why } = &seen.ending else {
            panic!("{:?}", seen.ending)
        };
        assert!(*connection < 4 && why.starts_with(expected), "{connection} {why}");
        assert!((20..=80).contains(&seen.counts.arrived), "{:?}", seen.counts);
        assert!(seen.counts.sent > seen.counts.arrived && seen.counts.sent < 1_000_000);
        assert_eq!(seen.latencies.count(), seen.counts.arrived);
    }
}

#[test]
fn an_answer_to_nothing() {
    for change in [
        |stamp: &mut Stamp| stamp.number = 999_999_999,
        |stamp: &mut Stamp| stamp.intended_ns = stamp.actual_ns + 1,
        |stamp: &mut Stamp| stamp.actual_ns = LOAD_NS_MAX,
    ] {
        let server = serve(move || {
            move |message| {
                let mut stamp = stamp(message);
                change(&mut stamp);
                Some(frame(b'm', stamp.to_bytes()).to_vec())
            }
        });
        let seen = seen_of(&server);
        let is_found =
            matches!(&seen.ending, LoadEnding::Broken { why, .. } if why.contains("never sent"));
        assert!(is_found, "{:?}", seen.ending);
        assert_eq!(seen.counts.arrived, 0);
    }
}

#[test]
fn a_server_that_never_answers() {
    let server = serve(|| |_| Some(Vec::new()));
    let patience = Duration::from_millis(300);
    let load = Load { patience, end: End::Sends(50), ..of(&server) };
    let seen = generator::load(&load, &Echo::of(4), &Watch::default()).unwrap();
    assert_eq!((seen.counts.sent, seen.counts.arrived, seen.counts.lost), (50, 0, 50));
    assert_eq!((seen.backlog, seen.ending), (50, LoadEnding::Waited));
    assert!(seen.latencies.value_at(0.5).is_none() && seen.times.arrivals_ns.is_none());
}

#[test]
fn the_user_stops_it() {
    let server = serve(|| |frame| Some(frame.to_vec()));
    let watch = Watch::default();
    let seen = std::thread::scope(|scope| {
        scope.spawn(|| {
            while watch.arrived.load(Ordering::SeqCst) < 10 {
                std::thread::sleep(Duration::from_millis(1));
            }
            watch.stop.store(true, Ordering::SeqCst);
        });
        generator::load(&of(&server), &Echo::of(4), &watch).unwrap()
    });
    assert_eq!((seen.ending, seen.counts.lost), (LoadEnding::Interrupted, 0));
    assert!(seen.counts.arrived >= 10 && seen.counts.sent < 1_000_000);
    // Who asks to stop before the start gets no load.
    let error = generator::load(&of(&server), &Echo::of(4), &watch).unwrap_err();
    assert!(matches!(error, LoadError::Interrupted), "{error}");
}

#[test]
fn loads_that_cannot_be() {
    let server = serve(|| |frame| Some(frame.to_vec()));
    for end in [End::Sends(MESSAGES_MAX + 1), End::Ns(LOAD_NS_MAX + 1)] {
        let (error, said) = error_of(&Load { end, ..of(&server) });
        assert!(matches!(error, LoadError::TooMuch), "{said}");
        assert!(said.ends_with("give at most 1099511627776 messages and 4 hours"), "{said}");
    }
    // No system lets a process have so many files.
    let many = Echo::of(u32::MAX);
    let error = generator::load(&of(&server), &many, &Watch::default()).unwrap_err();
    assert!(matches!(error, LoadError::Files { .. }), "{error}");
    assert!(error.to_string().contains("'ulimit -Hn 42949"), "{error}");
}

/// The server reads nothing until the generator has turned to all messages. None of them waits for
/// another to be answered, and each latency has the wait.
#[test]
fn a_server_that_reads_nothing_for_a_while() {
    let watch = Arc::new(Watch::default());
    let seen_by_server = Arc::clone(&watch);
    let server = serve(move || {
        let watch = Arc::clone(&seen_by_server);
        move |message| {
            while watch.sent.load(Ordering::SeqCst) < 100 {
                std::thread::sleep(Duration::from_millis(1));
            }
            Some(message.to_vec())
        }
    });
    let load = Load { end: End::Sends(100), ..of(&server) };
    let seen = generator::load(&load, &Echo::of(4), &watch).unwrap();
    assert_eq!((seen.counts.arrived, seen.ending), (100, LoadEnding::Complete));
    let (sends_ns, arrivals_ns) = (seen.times.sends_ns.unwrap(), seen.times.arrivals_ns.unwrap());
    assert!(sends_ns.1 <= arrivals_ns.0);
    let slowest = seen.latencies.lows().max_ns().unwrap();
    assert!(slowest >= arrivals_ns.0 - sends_ns.0);
}
