//! Requests to servers that answer in all the ways that HTTP/1.1 has, and in some that it has not.

use super::load as load_of;
use super::number;
use super::server::Server;
use std::io::{Read, Write};
use std::sync::atomic::AtomicU64;
use std::sync::atomic::Ordering::SeqCst;
use std::sync::{Arc, Mutex};
use tiebreak_core::load::{LoadEnding, MessageCounts, Refusal};
use tiebreak_load::generator::{self, Load, Pace, Watch};
use tiebreak_load::http::Http;
use tiebreak_load::schedule::End;
use tiebreak_load::seen::Account;

/// Reads a request; `None` if the connection ends before.
pub fn request(stream: &mut impl Read) -> Option<Vec<u8>> {
    let (mut request, mut byte) = (Vec::new(), [0]);
    while !request.ends_with(b"\r\n\r\n") {
        stream.read_exact(&mut byte).ok()?;
        request.push(byte[0]);
    }
    Some(request)
}

/// Starts a server that answers so on each connection, in this many pieces, and closes it after so
/// many answers.
fn serve(answer: &'static [u8], pieces: usize, answers: usize) -> Server {
    Server::start(move |mut stream, _| {
        for _ in 0..answers {
            if request(&mut stream).is_none() {
                return;
            }
            for piece in answer.chunks(answer.len().div_ceil(pieces).max(1)) {
                if stream.write_all(piece).is_err() {
                    return;
                }
            }
        }
    })
}

fn asked(server: &Server, method: &str, end: End, in_flight: Option<u32>) -> Account {
    let http = Http::new(method, "/some/thing", "server.example", number(3)).unwrap();
    let open = load_of(server, 1000, end);
    let closed = in_flight.map(|in_flight| Pace::Closed { in_flight: Some(number(in_flight)) });
    let load = Load { threads: number(2), pace: closed.unwrap_or(open.pace), ..open };
    generator::load(&load, &http, &Watch::default()).unwrap()
}

#[test]
fn answers_of_all_forms() {
    for (method, answer, is_refused) in [
        ("GET", &b"HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nhello"[..], false),
        ("GET", b"HTTP/1.1 204 No Content\r\n\r\n", false),
        ("GET", b"HTTP/1.1 301 Moved\r\nLocation: /x\r\nContent-Length: 0\r\n\r\n", false),
        ("HEAD", b"HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\n", false),
        (
            "GET",
            b"HTTP/1.1 200 \r\nTransfer-Encoding: chunked\r\n\r\n\
              5;x=y\r\nhello\r\n1\r\n!\r\n0\r\nT: x\r\n\r\n",
            false,
        ),
        (
            "GET",
            b"HTTP/1.1 103 Early\r\nLink: x\r\n\r\nHTTP/1.1 200 OK\r\nContent-Length: 1\r\n\r\nx",
            false,
        ),
        ("GET", b"HTTP/1.1 404 Not Found\r\nContent-Length: 2\r\n\r\nno", true),
        ("GET", b"HTTP/1.1 408 Late\r\nConnection: close\r\nContent-Length: 2\r\n\r\nno", true),
        ("GET", b"HTTP/1.1 503 Busy\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n", true),
    ] {
        for (pieces, in_flight) in [(1, None), (1000, None), (3, Some(1))] {
            // Who asks for the end of the connection gets it.
            let answers =
                if answer.windows(5).any(|word| word == b"close") { 1 } else { usize::MAX };
            let server = serve(answer, pieces, answers);
            let seen = asked(&server, method, End::Sends(60), in_flight);
            let (arrived, refused) = if is_refused { (0, 60) } else { (60, 0) };
            let expected = MessageCounts {
                intended: 60,
                sent: 60,
                arrived,
                refused,
                reconnected: seen.counts.reconnected,
                ..MessageCounts::default()
            };
            assert_eq!((seen.counts, seen.ending), (expected, LoadEnding::Complete));
            assert_eq!(seen.counts.reconnected > 0, answers == 1);
            let code = std::str::from_utf8(&answer[9..12]).unwrap().parse().unwrap();
            let refusals = if is_refused { vec![Refusal { code, count: 60 }] } else { Vec::new() };
            assert_eq!(seen.refusals, refusals);
        }
    }
}

/// The head of an answer is remembered, since the next one often has the same bytes.
#[test]
fn answers_may_differ_from_the_ones_before() {
    let answers: [&[u8]; 5] = [
        b"HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nhello",
        b"HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nworld",
        b"HTTP/1.1 200 OK\r\nContent-Length: 50\r\n\r\n\
          01234567890123456789012345678901234567890123456789",
        b"HTTP/1.1 404 Not Found\r\nContent-Length: 2\r\n\r\nno",
        b"HTTP/1.1 404 Not Found\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n",
    ];
    let refused = Arc::new(AtomicU64::new(0));
    let counted = Arc::clone(&refused);
    let server = Server::start(move |mut stream, _| {
        for answer in answers.into_iter().cycle() {
            if request(&mut stream).is_none() {
                return;
            }
            counted.fetch_add(u64::from(answer[9] == b'4'), SeqCst);
            if stream.write_all(answer).is_err() {
                return;
            }
        }
    });
    let seen = asked(&server, "GET", End::Sends(90), Some(1));
    assert_eq!(seen.ending, LoadEnding::Complete);
    assert_eq!(seen.counts.refused, refused.load(SeqCst));
    assert_eq!(seen.counts.arrived + seen.counts.refused, 90);
    assert!(seen.counts.refused > 0 && seen.counts.arrived > seen.counts.refused);
}

/// A server that has had enough of an idle connection says so, whether the next request is on its
/// way or not; the connection is made again, and so is the request.
#[test]
fn a_status_408_on_an_idle_connection_is_no_answer() {
    for (idle, is_answered) in [
        (&b"HTTP/1.1 408 Request Timeout\r\nContent-Length: 4\r\n\r\nidle"[..], true),
        (b"HTTP/1.1 408 Request Timeout\r\n\r\nidle", true),
        (b"HTTP/1.1 408 Request Timeout\r\nConnection: close\r\nContent-Length: 0\r\n\r\n", false),
    ] {
        let server = Server::start(move |mut stream, _| {
            for answer in [b"HTTP/1.1 204 Done\r\n\r\n", idle] {
                let is_idle = answer == idle;
                if (!is_idle || is_answered) && request(&mut stream).is_none() {
                    return;
                }
                stream.write_all(answer).unwrap();
            }
        });
        let seen = asked(&server, "GET", End::Sends(30), None);
        let counts = seen.counts;
        assert_eq!((counts.arrived, counts.refused, seen.ending), (30, 0, LoadEnding::Complete));
        assert!(counts.reconnected >= 27, "{counts:?}");
    }
}

#[test]
fn the_request_is_what_was_asked_for() {
    let seen: Arc<Mutex<Vec<u8>>> = Arc::default();
    let requests = Arc::clone(&seen);
    let server = Server::start(move |mut stream, _| {
        while let Some(request) = request(&mut stream) {
            *requests.lock().unwrap() = request;
            stream.write_all(b"HTTP/1.1 204 x\r\n\r\n").unwrap();
        }
    });
    asked(&server, "GET", End::Sends(3), None);
    let expected =
        b"GET /some/thing HTTP/1.1\r\nHost: server.example\r\nUser-Agent: tiebreak\r\n\r\n";
    assert_eq!(
        seen.lock().unwrap().escape_ascii().to_string(),
        expected.escape_ascii().to_string()
    );
    for (method, target, host) in [("G T", "/", "h"), ("GET", "no path", "h"), ("GET", "/", "a b")]
    {
        assert!(Http::new(method, target, host, number(1)).is_err(), "{method} {target} {host}");
    }
}

/// Servers that close the connection after some answers, said or unsaid, and those whose answers
/// end by it: it is made again, and a request that was on its way is made again.
#[test]
fn closed_connections_are_made_again() {
    for (answer, answers) in [
        (&b"HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nhello"[..], 1),
        (b"HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nhello", 7),
        (b"HTTP/1.1 200 OK\r\nConnection: close\r\nContent-Length: 5\r\n\r\nhello", 1),
        (b"HTTP/1.1 200 OK\r\n\r\nhello", 1),
        (b"HTTP/1.0 200 OK\r\nContent-Length: 2\r\n\r\nhi", 1),
    ] {
        for in_flight in [None, Some(1)] {
            let server = serve(answer, 2, answers);
            let seen = asked(&server, "GET", End::Sends(60), in_flight);
            assert_eq!((seen.counts.sent, seen.counts.arrived), (60, 60), "{answers}");
            assert_eq!((seen.counts.lost, seen.ending), (0, LoadEnding::Complete));
            // Each of three connections has 20 answers.
            let least = 3 * (20 / answers as u64 - 1);
            assert!(seen.counts.reconnected >= least, "{}", seen.counts.reconnected);
        }
    }
}

#[test]
fn answers_that_are_none() {
    for (answer, expected) in [
        (&b"garbage\r\n\r\n"[..], "gave an answer that is not HTTP/1.1: the status line lacks"),
        (b"HTTP/1.1 200 OK\r\nContent-Length: x\r\n\r\n", "gave an answer that is not HTTP/1.1: "),
        (b"HTTP/1.1 200 OK\r\nContent-", "closed the connection in the middle of the head"),
        (b"HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\nhello", "closed the connection 4 bytes"),
        (
            b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nhel",
            "closed the connection in the middle of an answer",
        ),
        (b"HTTP/1.1 101 Other\r\nUpgrade: x\r\n\r\n", "changed to another protocol"),
        (b"HTTP/1.1 204 x\r\n\r\nHTTP/1.1 204 x\r\n\r\n", "sent 18 bytes that nobody asked for"),
        (
            b"HTTP/1.1 204 x\r\nConnection: close\r\n\r\nmore",
            "sent 4 more bytes after an answer that it called the last",
        ),
        (b"", "closed the connection without an answer"),
    ] {
        let server = serve(answer, 1, 1);
        let seen = asked(&server, "GET", End::Sends(60), Some(1));
        let LoadEnding::Broken { connection, why } = &seen.ending else {
            panic!("{:?}", seen.ending)
        };
        assert!(*connection < 3 && why.starts_with(expected), "{why}");
        assert!(seen.counts.arrived < 60 && seen.counts.sent <= 60);
    }
}

/// A server that goes away altogether ends the load.
#[test]
fn a_server_that_is_gone_is_not_waited_for() {
    let server = serve(b"HTTP/1.1 204 x\r\n\r\n", 1, 5);
    let address = server.address;
    let http = Http::new("GET", "/", "server.example", number(2)).unwrap();
    let load = Load { address, ..load_of(&server, 100, End::Sends(1_000_000)) };
    let watch = Watch::default();
    let seen = std::thread::scope(|scope| {
        let loading = scope.spawn(|| generator::load(&load, &http, &watch));
        while watch.arrived.load(std::sync::atomic::Ordering::SeqCst) < 4 {
            std::thread::yield_now();
        }
        drop(server);
        loading.join().unwrap().unwrap()
    });
    let is_broken =
        matches!(&seen.ending, LoadEnding::Broken { why, .. } if why.contains("closed the"));
    assert!(is_broken, "{:?}", seen.ending);
    assert!(seen.counts.arrived >= 4);
}
