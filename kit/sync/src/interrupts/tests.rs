//! Clients of daemons that have stopped or ended.

pub(crate) mod made;

use super::*;
use made::Daemon;

#[test]
fn a_virtual_barrier_does_not_wait_for_ever_for_a_daemon_that_was_stopped() {
    // It keeps the connection and does nothing.
    let daemon = Daemon::new(2);
    let client = daemon.client();
    let ticket = client.begin_virtual();
    assert_eq!(client.poll_virtual(ticket), Ok(false), "it was asked only now");
    let end = Instant::now() + Duration::from_secs(20);
    for _ in 0..2 {
        let result = client.wait_virtual(ticket, Some(end));
        assert!(matches!(result, Err(Stale::Unanswered { .. })), "{result:?}");
    }
}

#[test]
fn an_idle_flag_of_a_daemon_that_has_ended_completes_nothing() {
    let mut daemon = Daemon::new(1);
    let client = daemon.client();
    daemon.idle(0);
    let tickets = [client.begin(), client.begin_by_counts()];
    assert_eq!(tickets.each_ref().map(|ticket| client.poll(ticket)), [Ok(true); 2]);
    daemon.end();
    for ticket in &tickets {
        assert_eq!(client.poll(ticket), Err(Stale::Ended));
        assert_eq!(client.wait(ticket, None), Err(Stale::Ended));
    }
}
