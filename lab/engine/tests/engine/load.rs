//! Claims about the messages of a load: blocks as evidence in virtual time, and a load on a server
//! of this test that is interrupted and gone on with.

use std::io::{Read, Write};
use std::net::{TcpListener, TcpStream};
use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;
use tiebreak_lab::core::journal::{Event, StopReason, Tally};
use tiebreak_lab::core::load::{LoadEnd, LoadEnding, Pace, Spacing, Traffic, Trust};
use tiebreak_lab::core::plan::{Plan, Scope};
use tiebreak_lab::core::result::RunResult;
use tiebreak_lab::core::verdict::{Fault, Verdict};
use tiebreak_lab::load::{LoadRequest, Pacing};
use tiebreak_lab::load_claims::{self, LoadClaims};
use tiebreak_lab::referee::Referee;
use tiebreak_lab::replay;
use tiebreak_lab::resume::NewBudget;
use tiebreak_lab::run::{self, Ready, Resumed};
use tiebreak_store::Store;

/// Starts a server that answers each request with two bytes, as long as the test runs.
fn server() -> String {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let url = format!("http://{}/", listener.local_addr().unwrap());
    std::thread::spawn(move || {
        for stream in listener.incoming().flatten() {
            std::thread::spawn(move || answer(stream));
        }
    });
    url
}

fn answer(mut stream: TcpStream) {
    let (mut head, mut byte) = (Vec::new(), [0]);
    while matches!(stream.read(&mut byte), Ok(1)) {
        head.push(byte[0]);
        if head.ends_with(b"\r\n\r\n") {
            head.clear();
            if stream.write_all(b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok").is_err() {
                return;
            }
        }
    }
}

fn asked(url: &str, end: LoadEnd) -> LoadRequest {
    LoadRequest {
        command: Vec::new(),
        url: url.to_owned(),
        traffic: Traffic::Http { connections: 2 },
        pacing: Pacing::At(Pace::Open { rate_per_second: 1000, spacing: Spacing::Constant }),
        end,
        seed: "seed".to_owned(),
        threads: None,
        patience: Duration::from_secs(10),
        trust: Trust::System,
    }
}

fn claims(sentences: &[&str], block_ms: u64) -> LoadClaims {
    let sentences = sentences.iter().map(|sentence| sentence.to_string()).collect();
    LoadClaims { sentences, error: 0.01, block_ns: block_ms * 1_000_000 }
}

fn planned(sentences: &[&str]) -> Plan {
    let plan =
        load_claims::plan(&asked(&server(), LoadEnd::Messages(100_000)), &claims(sentences, 100));
    plan.unwrap()
}

/// A block of 100 messages of which so many are surely good and surely bad.
fn block(good: u64, bad: u64, claims: usize) -> Event {
    let tally = Tally {
        good,
        bad,
        good_runs: u64::from(good > 0),
        other_runs: u64::from(good < 100),
        mean_low: 1e6,
        mean_high: 9e6,
    };
    Event::Block { arrivals: 100, tallies: vec![tally; claims], elapsed_ns: 1 }
}

/// Returns the verdict on a claim, and its evidence for and against, after so many such blocks.
fn after(sentence: &str, blocks: usize, (good, bad): (u64, u64)) -> (Verdict, (f64, f64)) {
    let mut referee = Referee::new(&planned(&[sentence]));
    for _ in 0..blocks {
        referee.take_event(&block(good, bad, 1));
    }
    (referee.verdict(0), referee.test(0).evidence())
}

#[test]
fn blocks_settle_claims_and_what_is_unknown_helps_neither_side() {
    for sentence in ["p90 of A is below 5 ms", "p90 is below 5 ms", "90% take less than 5 ms"] {
        assert_eq!(after(sentence, 1000, (99, 1)).0, Verdict::Holds);
        assert_eq!(after(sentence, 1000, (80, 20)).0, Verdict::Refuted);
        // 95 may be good and 95 may be bad: 85 of 100 that are good and 5 that are bad are neither
        // above nor below the bar of 90.
        let (verdict, (above, below)) = after(sentence, 1000, (85, 5));
        assert_eq!(verdict, Verdict::Undecided);
        assert!(above < 1.0 && below < 1.0, "{above} {below}");
        // Bets lose on what is unknown as on its opposite.
        assert_eq!(after(sentence, 3, (85, 5)).1.0, after(sentence, 3, (85, 15)).1.0);
        assert_eq!(after(sentence, 3, (85, 5)).1.1, after(sentence, 3, (95, 5)).1.1);
    }
    assert_eq!(after("A succeeds at least 90% of the time", 1000, (99, 1)).0, Verdict::Holds);
    // The mean lies between 1 and 9 ms.
    for (sentence, verdict) in [
        ("mean is below 10 ms capped at 20 ms", Verdict::Holds),
        ("mean is below 5 ms capped at 20 ms", Verdict::Undecided),
        ("mean is below 900 us capped at 20 ms", Verdict::Refuted),
        ("mean is above 900 us capped at 20 ms", Verdict::Holds),
    ] {
        assert_eq!(after(sentence, 1000, (50, 50)).0, verdict, "{sentence}");
    }
}

#[test]
fn a_server_that_breaks_a_connection_is_void_from_then_on() {
    let plan = planned(&["p90 is below 5 ms", "p90 is below 4 ms with 50% as bad"]);
    assert_eq!(plan.scope, Scope::Load);
    let mut referee = Referee::new(&plan);
    while referee.verdict(1) == Verdict::Undecided {
        referee.take_event(&block(95, 5, 2));
    }
    let fault = Fault::Connection { connection: 3, what: "said nonsense".to_owned() };
    let round = referee.rounds;
    referee.take_event(&Event::Void { contestant: 0, round, attempt: None, fault });
    assert_eq!([0, 1].map(|claim| referee.verdict(claim)), [Verdict::Void, Verdict::Holds]);
}

#[test]
fn what_cannot_be_claimed_of_a_load_is_named() {
    let url = server();
    let long = LoadEnd::Messages(1000);
    let sweep = Pacing::Sweep { start_per_second: 100, spacing: Spacing::Constant };
    for (sentence, block_ms, end, pacing, expected) in [
        (
            "p99 is below 5 ms",
            100,
            long,
            Some(Pacing::At(Pace::Closed { in_flight: None })),
            "closed",
        ),
        ("p99 is below 5 ms", 100, long, Some(sweep), "one rate"),
        ("p99 is below 20 s", 100, long, None, "give --timeout 20s or more"),
        ("mean is below 20 s", 100, long, None, "cannot be proven without a cap"),
        ("mean is below 1 s capped at 30 s", 100, long, None, "give --timeout 30s or more"),
        ("p99 is below 5 MB by memory", 100, long, None, "only latencies are known"),
        ("p99 is below 5 ms", 0, long, None, "has no message"),
        ("p99 is below 5 ms", 2000, long, None, "less than one block of 2s"),
        ("p99 is below 5 ms", 100, LoadEnd::DurationNs(50_000_000), None, "less than one block"),
        ("A is faster than B", 100, long, None, "B"),
        ("p99 is blow 5 ms", 100, long, None, "below"),
    ] {
        let mut asked = asked(&url, end);
        asked.pacing = pacing.unwrap_or(asked.pacing);
        let said =
            load_claims::plan(&asked, &claims(&[sentence], block_ms)).unwrap_err().to_string();
        assert!(said.contains(expected), "{sentence}: {said}");
    }
}

fn resumed(store: &Path, stop: &'static AtomicBool) -> RunResult {
    let Resumed::Run(run) = run::resume(None, Some(store), NewBudget::Same, stop).unwrap() else {
        panic!("a study");
    };
    run.go(std::io::empty(), |_| {}).unwrap()
}

/// Replays the only run of a store; it must say what the run has said.
fn check_replay(store: &Path, result: &RunResult) -> Vec<Event> {
    let store = Store::open(store).unwrap();
    let journal = store.journal(&store.find("latest").unwrap()).unwrap();
    let mut replayed = replay::replay(&journal).unwrap();
    assert_eq!(replayed.verdicts, result.verdicts);
    // Histograms are for files, and are not in the journal.
    let mut result = result.clone();
    for load in [&mut result, &mut replayed].into_iter().filter_map(|run| run.load.as_mut()) {
        load.loads.iter_mut().for_each(|load| load.bins.clear());
    }
    assert_eq!(replayed, result);
    journal.events
}

#[test]
fn an_interrupted_load_goes_on_with_what_it_had() {
    static STOP: AtomicBool = AtomicBool::new(false);
    let folder = tempfile::tempdir().unwrap();
    let store = folder.path().join("journal.db");
    let asked = asked(&server(), LoadEnd::Messages(100_000));
    // It takes some twenty blocks of 20 messages to hold.
    let plan = load_claims::plan(&asked, &claims(&["80% take less than 9 s"], 20)).unwrap();
    let run = Ready::new(plan, &STOP).unwrap().begin(Some(&store), Vec::new()).unwrap();
    let first = run.go(std::io::empty(), |so_far| {
        let is_enough = so_far().rounds >= 60;
        STOP.fetch_or(is_enough, Ordering::SeqCst);
    });
    let first = first.unwrap();
    assert_eq!(first.stopped, Some(StopReason::Interrupted));
    assert_eq!(first.verdicts[0].verdict, Verdict::Undecided);
    assert_eq!(first.load.as_ref().unwrap().loads[0].ending, LoadEnding::Interrupted);
    check_replay(&store, &first);

    STOP.store(false, Ordering::SeqCst);
    let second = resumed(&store, &STOP);
    assert_eq!(second.stopped, Some(StopReason::Settled));
    let share = second.verdicts[0].share.clone().unwrap();
    assert_eq!(second.verdicts[0].verdict, Verdict::Holds);
    assert_eq!(share.trials, share.least_trials_to_hold, "the first blocks are evidence still");
    assert!(share.trials > first.rounds);
    let loads = &second.load.as_ref().unwrap().loads;
    assert_eq!(loads.len(), 2);
    assert!(loads.iter().all(|load| load.counts.arrived > 0), "{loads:?}");
    let events = check_replay(&store, &second);
    let blocks = events.iter().filter(|event| matches!(event, Event::Block { .. })).count();
    assert_eq!(blocks as u64 * 20, share.trials);
}
