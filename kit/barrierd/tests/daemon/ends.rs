//! How a daemon ends, and what its clients notice.

use std::time::{Duration, Instant};

use tiebreak_sync::interrupts::{Client, CpuSet, Stale, Unavailable};

use super::clients::check_never_idle;
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
            panic!("nobody listens there");
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
    // Real barriers are complete, or it is said why not; they do not hang.
    for ticket in [ticket, client.begin(), client.begin_by_counts()] {
        let end = Instant::now() + Duration::from_secs(10);
        let result = client.wait(&ticket, Some(end));
        assert!(matches!(result, Ok(true) | Err(Stale::Ended)), "{result:?}");
        assert!(Instant::now() < end);
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

#[test]
fn idle_flags_stay_true_when_the_daemon_was_killed() {
    let Some(mut daemon) = Running::start() else { return };
    let client = daemon.client();
    daemon.child.kill().unwrap();
    daemon.child.wait().unwrap();
    for cpu in CpuSet::of_thread().unwrap().iter().take(2) {
        check_never_idle(&client, cpu);
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
