//! Servers against each other: a small one in Python that can be slow, and Mosquitto, where they
//! are installed.

use crate::common::{Place, Ran, flat, validate};
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::Duration;

/// Answers requests of HTTP/1.1 at a port, each so many seconds later.
const SERVER: &str = r#"
import asyncio, sys
async def serve(reader, writer):
    try:
        while True:
            await reader.readuntil(b"\r\n\r\n")
            await asyncio.sleep(float(sys.argv[2]))
            writer.write(b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok")
    except (asyncio.IncompleteReadError, ConnectionError):
        writer.close()
async def main():
    async with await asyncio.start_server(serve, "127.0.0.1", int(sys.argv[1])):
        await asyncio.Future()
asyncio.run(main())
"#;

const PYTHON: &str = "/usr/bin/python3";

/// Returns the command of the server that answers after so many seconds; `None` without Python.
fn server(place: &Place, delay: &str) -> Option<String> {
    if !Path::new(PYTHON).exists() {
        println!("skipped: {PYTHON} is not installed");
        return None;
    }
    let path = place.path("server.py");
    std::fs::write(&path, SERVER).unwrap();
    Some(format!("{PYTHON} {} {{port}} {delay}", path.display()))
}

/// A load of so many requests, one after the other.
fn closed(messages: u32) -> String {
    format!("http --closed --connections 1 --messages {messages} http://127.0.0.1:{{port}}/")
}

/// Returns the commands of processes that have a text in them, and the folders of runs that are
/// left below the temporary folder of a place.
fn left(place: &Place) -> Vec<String> {
    let text = place.folder().display().to_string();
    let entries = std::fs::read_dir("/proc").unwrap().flatten();
    let commands = entries.filter_map(|entry| std::fs::read(entry.path().join("cmdline")).ok());
    let commands = commands.map(|bytes| String::from_utf8_lossy(&bytes).replace('\0', " "));
    let folders = std::fs::read_dir(place.folder()).unwrap().flatten();
    let folders = folders.map(|entry| entry.file_name().to_string_lossy().into_owned());
    let folders = folders.filter(|name| name.starts_with("tiebreak-server"));
    commands.filter(|command| command.contains(&text)).chain(folders).collect()
}

/// Runs the program with the place as its temporary folder.
fn run(place: &Place, words: &[&str]) -> Ran {
    let ran = Ran::of(place.command(words).env("TMPDIR", place.folder()).output().unwrap());
    assert_eq!(left(place), [""; 0], "{ran:?}");
    ran
}

#[test]
fn a_server_that_takes_longer_for_each_request_is_found_slower() {
    let place = Place::new();
    let Some(quick) = server(&place, "0") else { return };
    let slow = server(&place, "0.001").unwrap();
    let load = closed(100);
    let claims = ["--claim", "A is faster than B", "--claim", "A is faster than B by p50 latency"];
    let words = ["compare", &quick, &slow, "--load", &load, "--no-wait", "--json", "out.json"];
    // Whatever else the machine does: more rounds than any quiet one needs.
    let ran = run(&place, &[&words[..], &claims, &["--error", "5%", "--runs", "80"]].concat());
    assert_eq!(ran.code, 0, "{ran:?}");
    assert!(flat(&ran.out).contains("the load is 100 requests in a closed loop"), "{}", ran.out);
    let text = std::fs::read_to_string(place.path("out.json")).unwrap();
    let json: serde_json::Value = serde_json::from_str(&text).unwrap();
    validate(&json);
    assert_eq!(json["servers"]["url"], "http://127.0.0.1:{port}/");
    for contestant in json["contestants"].as_array().unwrap() {
        let (samples, served) = (&contestant["samples"], &contestant["served"]);
        let counts = &served["counts"];
        assert_eq!(counts["arrived"].as_u64(), samples.as_u64().map(|n| 100 * n), "{served}");
        assert!(contestant["metrics"]["p99_latency_ns"]["median"].as_f64() > Some(0.0));
    }
    // The journal has it all.
    let replayed = run(&place, &["replay", "--json", "again.json"]);
    assert_eq!(replayed.code, 0, "{replayed:?}");
    let again = std::fs::read_to_string(place.path("again.json")).unwrap();
    let again: serde_json::Value = serde_json::from_str(&again).unwrap();
    assert_eq!(again["verdicts"], json["verdicts"]);
    assert_eq!(again["contestants"][0]["served"], json["contestants"][0]["served"]);
    assert_eq!(run(&place, &["export", "--csv", "x.csv", "--journal", "x.jsonl"]).code, 0);
    let csv = std::fs::read_to_string(place.path("x.csv")).unwrap();
    assert!(csv.lines().next().unwrap().ends_with("p999_low_ns,p999_high_ns"), "{csv}");
    assert!(csv.lines().skip(1).all(|line| line.contains(",100,100,0,0,")), "{csv}");
    assert_eq!(run(&place, &["replay", "x.jsonl"]).code, 0);
}

#[test]
fn a_server_is_not_faster_than_itself() {
    let place = Place::new();
    let broker = "/usr/sbin/mosquitto";
    if !Path::new(broker).exists() {
        return println!("skipped: {broker} is not installed");
    }
    let command = format!("{broker} -p {{port}}");
    let load = "mqtt --shape ping --closed --pairs 2 --messages 50 mqtt://127.0.0.1:{port}";
    let ask = ["--load", load, "--no-wait", "--runs", "10", "--error", "0.01%", "--seed", "s"];
    let ran = run(&place, &[&["compare", &command, &command], &ask[..]].concat());
    assert_eq!(ran.code, 2, "{ran:?}");
    assert!(ran.out.contains("Undecided") && ran.out.contains("arrivals/s"), "{}", ran.out);
}

#[test]
fn a_server_that_dies_is_void_with_its_words() {
    let place = Place::new();
    let Some(good) = server(&place, "0") else { return };
    let dying = place.script("dying", "echo no luck at $1 >&2; exit 7");
    std::fs::write(
        place.path("claims.toml"),
        format!(
            "[[contest]]\nload = {:?}\nready-within = \"20s\"\nwait-for-quiet = false\n\
             claims = [\"good is faster than dying\"]\n\
             [contest.contestants]\ngood = {good:?}\ndying = {:?}\n",
            closed(10),
            format!("{dying} {{port}}")
        ),
    )
    .unwrap();
    let ran = run(&place, &["check"]);
    assert_eq!(ran.code, 3, "{ran:?}");
    let said = flat(&ran.out);
    let expected = "dying ended with exit status 7 before it was ready; it said: no luck at";
    assert!(said.contains(expected), "{said}");
}

/// However the program ends, nothing of a server is left.
#[test]
fn servers_end_with_the_program() {
    let place = Place::new();
    let Some(command) = server(&place, "0.01") else { return };
    // Not by SIGINT, which is ignored where the tests run in the background of a shell.
    for (signal, code) in [("-TERM", Some(130)), ("-KILL", None)] {
        let load = closed(5000);
        let words = ["compare", &command, &command, "--load", &load, "--no-wait", "--budget=1h"];
        let mut started = place.command(&words);
        started.env("TMPDIR", place.folder()).stdout(Stdio::null()).stderr(Stdio::null());
        let mut child = started.spawn().unwrap();
        // One process of the server, and one folder; the program itself has the text, too.
        wait_until(|| left(&place).iter().any(|name| name.starts_with("tiebreak-server")));
        wait_until(|| left(&place).iter().filter(|name| name.starts_with(PYTHON)).count() == 1);
        let pid = child.id().to_string();
        assert!(Command::new("kill").args([signal, &pid]).status().unwrap().success());
        assert_eq!(child.wait().unwrap().code(), code);
        // The launcher outlives a program that is killed by a moment.
        wait_until(|| left(&place).is_empty());
    }
}

/// Waits for up to a minute.
fn wait_until(is_so: impl Fn() -> bool) {
    for _ in 0..1200 {
        if is_so() {
            return;
        }
        std::thread::sleep(Duration::from_millis(50));
    }
    panic!("not so within a minute");
}

#[test]
fn mistakes_about_servers_are_named() {
    let place = Place::new();
    let load = "http --closed --messages 9 http://127.0.0.1:{port}/";
    let file = |options: &str| {
        format!(
            "[[contest]]\n{options}\nclaims = [\"a is faster than b\"]\n\
             contestants = {{ a = \"true {{port}}\", b = \"false\" }}\n"
        )
    };
    for (words, expected) in [
        (&["true"][..], "command of B, 'true'"),
        (&["true {port}", "--input", "text.txt"], "--input: a server gets no standard input"),
        (&["true {port}", "--claim", "p99 of A is below 1s"], "the times of whole loads"),
    ] {
        let ran = run(&place, &[&["compare", "true {port}", "--load", load], words].concat());
        assert!(ran.code == 64 && ran.err.contains(expected), "{words:?}: {ran:?}");
    }
    for (load, expected) in [
        ("", "it is empty: give words of 'tiebreak load'"),
        ("ftp", "unrecognized subcommand 'ftp'"),
        ("http --closed --messages 9 http://127.0.0.1/", "write {port} where"),
        ("http --closed http://127.0.0.1:{port}/", "in a closed loop give --messages"),
        ("http --sweep http://127.0.0.1:{port}/", "--sweep: each run of a server has one load"),
        ("http --rate 5 http://127.0.0.1:{port}/?a", "'?' at character 39"),
        ("http --rate 5 ws://127.0.0.1:{port}/", "ws:// is for 'tiebreak load websocket'"),
        ("http --rate 5 --claim 'p99 is below 1s' http://127.0.0.1:{port}/", "--claim: the result"),
    ] {
        let ran = run(&place, &["compare", "true {port}", "true {port}", "--load", load]);
        assert!(ran.code == 64 && ran.err.contains(expected), "{load}: {ran:?}");
        let said = format!("load = {load:?}");
        std::fs::write(place.path("claims.toml"), file(&said)).unwrap();
        let ran = run(&place, &["check"]);
        assert!(ran.code == 65 && ran.err.contains("claims.toml:"), "{load}: {ran:?}");
    }
    for (options, expected) in [
        (format!("load = {load:?}"), "claims.toml:1: in the contest 'contest-1': each run of"),
        ("load = 3".to_owned(), "'load'"),
        (format!("load = {load:?}\nready-within = \"soon\""), "'ready-within'"),
    ] {
        std::fs::write(place.path("claims.toml"), file(&options)).unwrap();
        let ran = run(&place, &["check"]);
        assert!(ran.code == 65 && flat(&ran.err).contains(expected), "{options}: {ran:?}");
    }
    // Programs have no latencies.
    let ran = run(&place, &["compare", "true", "true", "--by", "p99 latency"]);
    assert!(ran.code == 64 && ran.err.contains("only a server under load has"), "{ran:?}");
}
