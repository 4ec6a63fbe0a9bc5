//! What clients see.

use std::io::{Read, Write};
use std::os::unix::net::{UnixListener, UnixStream};
use std::process::Command;
use std::time::{Duration, Instant};

use tiebreak_sync::interrupts::{Age, CheckIns, Client, CpuSet, Stale, Unavailable};

use super::running::{PROGRAM, Running, is_root};

/// A busy machine may keep a CPU from its interrupts for long; a test only wants the end.
fn until_done(mut wait: impl FnMut(Option<Instant>) -> Result<bool, Stale>) {
    let end = Instant::now() + Duration::from_secs(30);
    loop {
        match wait(Some(end)) {
            Ok(is_done) => return assert!(is_done, "not within half a minute"),
            Err(stale @ (Stale::Ended | Stale::Clock)) => panic!("{stale}"),
            Err(stale) => assert!(Instant::now() < end, "{stale}"),
        }
    }
}

#[test]
fn barriers_of_every_kind_come_to_their_end() {
    let Some(daemon) = Running::start() else { return };
    let client = daemon.client();
    let here: CpuSet = CpuSet::of_thread().unwrap();
    for _ in 0..5 {
        let by_clock = client.begin();
        assert_eq!(by_clock.is_by_clock(), client.margin_ns().is_some());
        until_done(|end| client.wait(&by_clock, end));
        let by_counts = client.begin_by_counts();
        assert!(!by_counts.is_by_clock());
        until_done(|end| client.wait(&by_counts, end));
        let here = client.begin_on(&here);
        until_done(|end| client.wait(&here, end));
        let check_ins = client.begin_with(None, &CheckIns::new(client.cpus()));
        until_done(|end| client.wait(&check_ins, end));
        let round = client.begin_virtual();
        until_done(|end| client.wait_virtual(round, end));
        assert_eq!(client.poll_virtual(round), Ok(true));
    }
}

#[test]
fn polling_alone_comes_to_the_end_too() {
    let Some(daemon) = Running::start() else { return };
    let client = daemon.client();
    let ticket = client.begin();
    until_done(|end| {
        while Some(Instant::now()) < end {
            if client.poll(&ticket)? {
                return Ok(true);
            }
            std::thread::sleep(Duration::from_millis(1));
        }
        Ok(false)
    });
}

#[test]
fn a_deadline_that_has_passed_ends_the_wait() {
    let Some(daemon) = Running::start() else { return };
    let client = daemon.client();
    let past = Some(Instant::now());
    let has_ended_early = (0..1000).any(|_| client.wait(&client.begin(), past) == Ok(false));
    assert!(has_ended_early, "not every CPU is interrupted within a microsecond each time");
}

#[test]
fn a_cpu_that_runs_us_is_never_said_to_be_idle() {
    let Some(daemon) = Running::start() else { return };
    let client = daemon.client();
    for cpu in CpuSet::of_thread().unwrap().iter().take(2) {
        check_never_idle(&client, cpu);
    }
}

/// Runs on a CPU, sleeps so that it may become idle, runs again: always busy when looked at there.
/// And each sleep is a switch, which is counted.
fn check_never_idle(client: &Client, cpu: usize) {
    const SLEEPS: u64 = 200;
    let (events, idle_counts) = (client.events()[cpu], client.idle_counts()[cpu]);
    let run = || {
        bind_to(cpu);
        for _ in 0..SLEEPS {
            std::thread::sleep(Duration::from_micros(300));
            for _ in 0..100 {
                let age = client.ages()[cpu];
                assert!(matches!(age, Age::Busy(_)), "CPU {cpu}: {age:?}");
            }
        }
    };
    std::thread::scope(|scope| scope.spawn(run).join()).unwrap();
    let events = client.events()[cpu] - events;
    assert!(events >= SLEEPS, "{events} events in {SLEEPS} sleeps");
    match client.idle_counts()[cpu] - idle_counts {
        0 => println!("CPU {cpu} never was idle: of the flag this run shows nothing"),
        times => println!("CPU {cpu} was idle {times} times in {SLEEPS} sleeps"),
    }
}

fn bind_to(cpu: usize) {
    // SAFETY: the set is made empty before it is used, the number is one the kernel gave.
    let result = unsafe {
        let mut set: libc::cpu_set_t = std::mem::zeroed();
        libc::CPU_ZERO(&mut set);
        libc::CPU_SET(cpu, &mut set);
        libc::sched_setaffinity(0, size_of_val(&set), &set)
    };
    assert_eq!(result, 0);
}

#[test]
fn many_clients_wait_at_once() {
    let Some(daemon) = Running::start() else { return };
    std::thread::scope(|scope| {
        for _ in 0..16 {
            scope.spawn(|| {
                let client = daemon.client();
                for _ in 0..3 {
                    let ticket = client.begin();
                    until_done(|end| client.wait(&ticket, end));
                }
            });
        }
    });
}

#[test]
fn one_client_cannot_spoil_it_for_another() {
    let Some(daemon) = Running::start() else { return };
    let client = daemon.client();
    let mut nonsense = UnixStream::connect(&daemon.socket).unwrap();
    nonsense.write_all(b"never heard of").unwrap();
    let mut flood = UnixStream::connect(&daemon.socket).unwrap();
    flood.set_write_timeout(Some(Duration::from_millis(10))).unwrap();
    let end = Instant::now() + Duration::from_millis(300);
    while Instant::now() < end {
        let _ = flood.write(&[b'w'; 4096]);
        let ticket = client.begin();
        until_done(|end| client.wait(&ticket, end));
    }
    assert!(!client.has_ended());
    // After the greeting comes the end.
    let mut rest = Vec::new();
    nonsense.set_read_timeout(Some(Duration::from_secs(10))).unwrap();
    assert!(nonsense.read_to_end(&mut rest).is_ok() || rest.len() == 16);
}

#[test]
fn a_user_without_rights_is_a_client() {
    let Some(daemon) = Running::start() else { return };
    if !is_root() {
        println!("not tested here: only root can become another user");
        return;
    }
    // A copy where that user may read it.
    let folder = daemon.socket.parent().unwrap().parent().unwrap();
    let program = folder.join("barrierd");
    std::fs::copy(PROGRAM, &program).unwrap();
    let mut command = Command::new(&program);
    command.args(["status", "--socket"]).arg(&daemon.socket);
    let output = match std::os::unix::process::CommandExt::uid(&mut command, 65534).output() {
        Ok(output) => output,
        Err(error) => return println!("not tested here: the user nobody cannot start it: {error}"),
    };
    let text = String::from_utf8_lossy(&output.stdout);
    assert_eq!(output.status.code(), Some(0), "{output:?}");
    assert!(text.contains(&format!("process {}", daemon.child.id())), "{text}");
    assert!(text.contains("a barrier took"), "{text}");
}

#[test]
fn who_is_no_daemon_is_not_believed() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("socket");
    assert!(matches!(Client::connect_to(&path), Err(Unavailable::NoDaemon { .. })));
    let listener = UnixListener::bind(&path).unwrap();
    for answer in [None, Some("welcome")] {
        std::thread::scope(|scope| {
            scope.spawn(|| {
                let (mut stream, _) = listener.accept().unwrap();
                if let Some(answer) = answer {
                    stream.write_all(answer.as_bytes()).unwrap();
                }
            });
            let error = Client::connect_to(&path).unwrap_err();
            match answer {
                None => assert!(matches!(error, Unavailable::TurnedAway), "{error}"),
                Some(_) => assert!(matches!(error, Unavailable::NotBarrierd { .. }), "{error}"),
            }
        });
    }
}
