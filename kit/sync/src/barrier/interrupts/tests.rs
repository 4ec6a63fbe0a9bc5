use super::*;
use crate::interrupts::Stale;
use crate::interrupts::tests::made::Daemon;

const SOON: Duration = Duration::from_secs(20);

fn refuse() -> Result<Client, Unavailable> {
    Err(Unavailable::TurnedAway)
}

/// A place with the client of a daemon that lives.
fn connected(daemon: &Daemon) -> Place {
    let place = Place::new(None);
    place.replace(None, Arc::new(daemon.client()));
    place
}

#[test]
fn a_client_that_is_there_is_no_barrier() {
    let daemon = Daemon::new(2);
    let place = connected(&daemon);
    // The daemon lives, and no CPU is interrupted. A thread that loses its own CPU for so long that
    // all look silent tries again.
    let is_silent = |result: &_| matches!(result, Err(Reason::Barrierd(Stale::Silent { .. })));
    let mut early = (0..100).map(|_| place.whole_barrier(Duration::from_millis(20), refuse));
    let result = early.find(|result| !is_silent(result));
    assert_eq!(result, Some(Err(Reason::NoDaemon)), "a heavy side that did not come to its end");
    let result = place.whole_barrier(SOON, refuse);
    assert!(is_silent(&result), "{result:?}");
}

#[test]
fn it_is_one_once_every_cpu_was_interrupted() {
    let daemon = Daemon::new(2);
    let place = connected(&daemon);
    let is_done = std::sync::atomic::AtomicBool::new(false);
    std::thread::scope(|scope| {
        scope.spawn(|| {
            while !is_done.load(std::sync::atomic::Ordering::Acquire) {
                daemon.run(0);
                daemon.run(1);
                std::thread::sleep(Duration::from_millis(1));
            }
        });
        let end = Instant::now() + SOON;
        let mut result = place.whole_barrier(SOON, refuse);
        // On a busy machine the other thread may have to wait.
        while matches!(result, Err(Reason::Barrierd(Stale::Silent { .. }))) && Instant::now() < end
        {
            result = place.whole_barrier(SOON, refuse);
        }
        is_done.store(true, std::sync::atomic::Ordering::Release);
        assert_eq!(result, Ok(()));
    });
}

#[test]
fn a_client_whose_daemon_has_ended_is_replaced_and_closed() {
    let mut first = Daemon::new(1);
    let place = connected(&first);
    let old = place.hold(|client| client.clone()).unwrap();
    first.end();
    let second = Daemon::new(1);
    second.idle(0);
    assert_eq!(place.whole_barrier(SOON, || Ok(second.client())), Ok(()));
    assert_eq!(Arc::strong_count(&old), 1, "only this test still holds it");
    assert!(!place.hold(|client| client.clone()).unwrap().has_ended());
}

#[test]
fn of_clients_made_at_once_one_stays() {
    let daemon = Daemon::new(1);
    let place = Place::new(None);
    let clients = [daemon.client(), daemon.client()].map(Arc::new);
    for client in &clients {
        place.replace(None, client.clone());
    }
    assert_eq!(clients.each_ref().map(Arc::strong_count), [2, 1]);
    drop(place);
    assert_eq!(clients.each_ref().map(Arc::strong_count), [1, 1]);
}
