//! A daemon that always has something to do, on a system whose files the test writes.

use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc;
use std::time::{Duration, Instant};

use barrierd::daemon::{Daemon, Prepared};
use barrierd::machine::Machine;
use barrierd::signals::Signals;
use tiebreak_sync::interrupts::Client;

const CLOCK: &str = "clocksource/clocksource0/current_clocksource";

/// A copy of the system's lists, with a clock that CPUs have in common.
fn copy_of_system(folder: &Path) {
    std::fs::create_dir_all(folder.join("cpu")).unwrap();
    std::fs::create_dir_all(folder.join(CLOCK).parent().unwrap()).unwrap();
    for list in ["cpu/possible", "cpu/online"] {
        let text = std::fs::read(Path::new("/sys/devices/system").join(list)).unwrap();
        std::fs::write(folder.join(list), text).unwrap();
    }
    std::fs::write(folder.join(CLOCK), "tsc\n").unwrap();
}

/// Runs a daemon in this thread. Tells which thread that is; a SIGTERM to it ends the daemon.
fn serve(system: &Path, socket: &Path, tell: &mpsc::Sender<libc::pthread_t>) {
    let signals = Signals::block().unwrap();
    let mut prepared = match Prepared::new() {
        Ok(prepared) => prepared,
        Err(error) => return println!("not tested here: {error}"),
    };
    prepared.machine = Machine::open(system).unwrap();
    // As on a machine whose clocks agree.
    prepared.survey.margin_ns.get_or_insert(50_000);
    let mut daemon = Daemon::new(prepared, socket, signals).unwrap();
    // SAFETY: asks for a number.
    tell.send(unsafe { libc::pthread_self() }).unwrap();
    daemon.run().unwrap();
}

/// Ends the daemon and who asks it, however the test ends.
struct End<'a> {
    thread: libc::pthread_t,
    is_over: &'a AtomicBool,
}

impl Drop for End<'_> {
    fn drop(&mut self) {
        self.is_over.store(true, Ordering::Release);
        // SAFETY: the thread lives until it has taken the signal, which it blocks.
        unsafe { libc::pthread_kill(self.thread, libc::SIGTERM) };
    }
}

#[test]
fn a_clock_is_withdrawn_although_somebody_always_waits() {
    let folder = tempfile::tempdir().unwrap();
    let (system, socket) = (folder.path().join("system"), folder.path().join("socket"));
    copy_of_system(&system);
    let is_over = AtomicBool::new(false);
    let (sender, receiver) = mpsc::channel();
    std::thread::scope(|scope| {
        let (system, socket, is_over) = (&system, &socket, &is_over);
        scope.spawn(move || serve(system, socket, &sender));
        let Ok(thread) = receiver.recv() else { return };
        let _end = End { thread, is_over };
        let client = Client::connect_to(socket).unwrap();
        assert!(client.margin_ns().is_some());
        // Virtual time never stands still: the daemon is asked each millisecond.
        scope.spawn(|| {
            let asking = Client::connect_to(socket).unwrap();
            while !is_over.load(Ordering::Acquire) {
                let _ = asking.poll_virtual(asking.begin_virtual());
                std::thread::sleep(Duration::from_millis(1));
            }
        });
        std::fs::write(system.join(CLOCK), "jiffies\n").unwrap();
        let end = Instant::now() + Duration::from_secs(10);
        while client.margin_ns().is_some() && Instant::now() < end {
            std::thread::sleep(Duration::from_millis(5));
        }
        assert_eq!(client.margin_ns(), None);
    });
}
