//! How a daemon ends, and what its clients notice.

use std::time::{Duration, Instant};

use tiebreak_sync::interrupts::{Client, Stale, Unavailable};

use super::links::{is_attached, links_of};
use super::running::{Running, command, is_root};

#[test]
fn a_polite_signal_ends_it_in_order() {
    for signal in [libc::SIGTERM, libc::SIGINT, libc::SIGHUP] {
        let Some(mut daemon) = Running::start() else { return };
        daemon.signal(signal);
        assert_eq!(daemon.child.wait().unwrap().code(), Some(0));
        // As another user it cannot remove what is root's.
        assert_eq!(daemon.socket.exists(), is_root());
        let Err(Unavailable::NoDaemon { source, .. }) = Client::connect_to(&daemon.socket) else {
            panic!("the daemon does not listen there");
        };
        if is_root() {
            assert_eq!(source.kind(), std::io::ErrorKind::ConnectionRefused);
        }
    }
}

#[test]
fn a_killed_daemon_is_noticed() {
    let Some(mut daemon) = Running::start() else { return };
    let client = daemon.client();
    let ticket = client.begin();
    daemon.child.kill().unwrap();
    daemon.child.wait().unwrap();
    assert!(client.has_ended());
    // Virtual time stands still without a daemon.
    assert_eq!(client.poll_virtual(client.begin_virtual()), Err(Stale::Ended));
    // Nor is anything else believed: a CPU that was idle at the end may be busy by now.
    for ticket in [ticket, client.begin(), client.begin_by_counts()] {
        assert_eq!(client.poll(&ticket), Err(Stale::Ended));
        assert_eq!(client.wait(&ticket, None), Err(Stale::Ended));
    }
    assert!(matches!(Client::connect_to(&daemon.socket), Err(Unavailable::NoDaemon { .. })));
}

#[test]
fn a_stopped_daemon_does_not_answer_and_goes_on_later() {
    let Some(daemon) = Running::start() else { return };
    let client = daemon.client();
    daemon.signal(libc::SIGSTOP);
    // It may have begun its last round after the ticket; the next needs another.
    let end = Instant::now() + Duration::from_secs(20);
    let result = (0..3).map(|_| client.wait_virtual(client.begin_virtual(), Some(end)));
    let result = result.last().unwrap();
    assert!(matches!(result, Err(Stale::Unanswered { .. })), "{result:?}");
    let error = Client::connect_to(&daemon.socket).unwrap_err();
    assert!(error.to_string().contains("does not answer"), "{error}");
    daemon.signal(libc::SIGCONT);
    let ticket = client.begin_virtual();
    let end = Instant::now() + Duration::from_secs(20);
    let mut result = client.wait_virtual(ticket, Some(end));
    while matches!(result, Err(stale) if stale != Stale::Ended) && Instant::now() < end {
        result = client.wait_virtual(ticket, Some(end));
    }
    assert_eq!(result, Ok(true));
}

/// However it ends, its clients know before a program is detached, and none stays attached for the
/// clients' sake.
#[test]
fn nothing_stays_attached_and_clients_know_before() {
    let mut clients = Vec::new();
    for signal in [libc::SIGKILL, libc::SIGTERM, libc::SIGABRT].into_iter().cycle().take(12) {
        let Some(mut daemon) = Running::start() else { return };
        let client = daemon.client();
        let links = links_of(daemon.child.id());
        let switches = links.iter().find(|link| link.tracepoint == "sched_switch").unwrap();
        match is_attached(switches.id) {
            Err(error) => return println!("not tested here: links cannot be listed: {error}"),
            Ok(is_attached) => assert!(is_attached && !client.has_ended()),
        }
        daemon.signal(signal);
        let end = Instant::now() + Duration::from_secs(20);
        while is_attached(switches.id).unwrap() {
            assert!(Instant::now() < end, "still attached after signal {signal}");
        }
        assert!(client.has_ended(), "detached by signal {signal}, and its client was not informed");
        daemon.child.wait().unwrap();
        for link in links {
            while is_attached(link.id).unwrap() {
                assert!(Instant::now() < end, "{} stays attached", link.tracepoint);
            }
        }
        clients.push(client);
    }
}

#[test]
fn a_second_daemon_at_the_same_place_is_refused() {
    let Some(daemon) = Running::start() else { return };
    let second = command(&daemon.socket).output().unwrap();
    let text = String::from_utf8_lossy(&second.stderr);
    assert_eq!(second.status.code(), Some(2), "{text}");
    assert!(text.contains("another barrierd listens"), "{text}");
    assert!(!daemon.client().has_ended(), "the first goes on");
}

#[test]
fn the_socket_of_a_killed_daemon_is_replaced() {
    let Some(mut daemon) = Running::start() else { return };
    daemon.child.kill().unwrap();
    daemon.child.wait().unwrap();
    assert!(daemon.socket.exists());
    let mut second = command(&daemon.socket).spawn().unwrap();
    let end = Instant::now() + Duration::from_secs(20);
    let mut client = Client::connect_to(&daemon.socket);
    while client.is_err() && Instant::now() < end {
        std::thread::sleep(Duration::from_millis(10));
        client = Client::connect_to(&daemon.socket);
    }
    let _ = second.kill();
    let _ = second.wait();
    assert_eq!(client.unwrap().daemon_pid(), second.id());
}
