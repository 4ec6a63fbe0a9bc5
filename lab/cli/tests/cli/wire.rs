//! `wire`: the protocol, line by line, and the real Cucumber where it is installed.

use crate::common::{Place, Ran};
use serde_json::{Value, json};
use std::io::{BufRead, BufReader, Read, Write};
use std::net::{Shutdown, TcpStream};
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::time::Duration;

/// Long enough for any answer on a busy machine: a test that waits so long has failed.
const PATIENCE: Duration = Duration::from_secs(120);

/// A server in a place of its own; it ends with the test.
struct Server {
    child: Child,
    port: u16,
    said: BufReader<std::process::ChildStderr>,
}

impl Server {
    fn start(place: &Place) -> Server {
        let mut command = place.command(&["wire", "--port", "0", "--print-port", "--seed", "s"]);
        command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
        let mut child = command.spawn().unwrap();
        let mut port = String::new();
        BufReader::new(child.stdout.take().unwrap()).read_line(&mut port).unwrap();
        let said = BufReader::new(child.stderr.take().unwrap());
        Server { child, port: port.trim().parse().unwrap(), said }
    }

    fn client(&self) -> Client {
        let stream = TcpStream::connect(("127.0.0.1", self.port)).unwrap();
        stream.set_read_timeout(Some(PATIENCE)).unwrap();
        Client(BufReader::new(stream))
    }

    /// Reads what the server says until a line has this in it.
    fn wait_for(&mut self, part: &str) -> String {
        let mut said = String::new();
        while said.lines().last().is_none_or(|line| !line.contains(part)) {
            assert!(self.said.read_line(&mut said).unwrap() > 0, "no '{part}' in: {said}");
        }
        said
    }

    /// Interrupts the server, and returns its exit code.
    fn interrupt(&mut self) -> Option<i32> {
        let pid = self.child.id().to_string();
        assert!(Command::new("kill").args(["-TERM", &pid]).status().unwrap().success());
        self.child.wait().unwrap().code()
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// A client, which talks as Cucumber does.
struct Client(BufReader<TcpStream>);

impl Client {
    fn send(&mut self, message: &Value) {
        self.0.get_mut().write_all(format!("{message}\n").as_bytes()).unwrap();
    }

    fn receive(&mut self) -> Value {
        let mut line = String::new();
        self.0.read_line(&mut line).unwrap();
        serde_json::from_str(&line).unwrap_or_else(|error| panic!("{error}: {line}"))
    }

    fn ask(&mut self, message: &Value) -> Value {
        self.send(message);
        self.receive()
    }

    /// Asks for a step, and returns the message that invokes it, with what stands below it.
    fn invocation(&mut self, text: &str, below: Option<Value>) -> Value {
        let found = self.ask(&json!(["step_matches", { "name_to_match": text }]));
        let step = &found[1][0];
        let arguments = step["args"].as_array().unwrap_or_else(|| panic!("{text}: {found}")).iter();
        let arguments: Vec<Value> =
            arguments.map(|argument| argument["val"].clone()).chain(below).collect();
        json!(["invoke", { "id": step["id"], "args": arguments }])
    }

    fn perform(&mut self, text: &str, below: Option<Value>) -> Value {
        let invocation = self.invocation(text, below);
        self.ask(&invocation)
    }

    /// Begins a scenario about two sleepers, raced for so long.
    fn begin(&mut self, budget: &str) {
        assert_eq!(self.ask(&json!(["begin_scenario", { "tags": ["x"] }])), json!(["success"]));
        let programs =
            json!([["program", "command"], ["quick", "sleep 0.001"], ["slow", "sleep {s}"]]);
        let steps = [
            ("these programs:", Some(programs)),
            (r#"the parameter "s" is "0.05""#, None),
            (r#"the option "wait-for-quiet" is "false""#, None),
        ];
        for (text, below) in steps {
            assert_eq!(self.perform(text, below), json!(["success"]), "{text}");
        }
        let budget = format!("they are raced for at most {budget} with an error of 1%");
        assert_eq!(self.perform(&budget, None), json!(["success"]));
    }

    fn is_closed(&mut self) -> bool {
        let mut rest = Vec::new();
        self.0.read_to_end(&mut rest).is_ok() && rest.is_empty()
    }
}

/// Checks that a step failed, by this name and with this in its message.
fn check_fail(reply: &Value, name: &str, part: &str) {
    assert_eq!(reply[0], "fail", "{reply}");
    assert_eq!(reply[1]["exception"], name, "{reply}");
    assert!(reply[1]["message"].as_str().unwrap().contains(part), "{part}: {reply}");
}

#[test]
fn claims_are_settled_and_every_verdict_has_its_reply() {
    let place = Place::new();
    let mut server = Server::start(&place);
    let mut client = server.client();
    client.begin("400 rounds");
    let holds = r#""quick" is at least 1.5x faster than "slow""#;
    assert_eq!(client.perform(holds, None), json!(["success"]));
    // The error of all claims together is 1%, of which the second has a sixth and the third a
    // twelfth.
    let refuted = client.perform(r#""quick" is at least 90x faster than "slow""#, None);
    check_fail(&refuted, "Refuted", "wrong with probability at most 0.17%");
    check_fail(&refuted, "Refuted", "'tiebreak show ");
    let refuted = client.perform(r#""slow" is faster than "quick""#, None);
    check_fail(&refuted, "Refuted", "wrong with probability at most 0.084%");
    let claims = json!("quick is faster than slow\nquick succeeds at least 10% of the time\n");
    assert_eq!(client.perform("these claims hold:", Some(claims)), json!(["success"]));
    let table =
        |verdict: &str| json!([["claim", "verdict"], ["quick is faster than slow", verdict]]);
    let verdicts = "the verdicts are:";
    assert_eq!(client.perform(verdicts, Some(table("holds"))), json!(["success"]));
    let differs = client.perform(verdicts, Some(table("refuted")));
    assert_eq!(differs, json!(["diff!", [table("refuted"), table("holds")]]));
    assert_eq!(client.perform("they are raced for at most 2 rounds", None), json!(["success"]));
    let open = client.perform(r#""quick" is faster than "slow""#, None);
    assert_eq!(open[0], "pending");
    assert!(open[1].as_str().unwrap().starts_with("Undecided after 2 rounds"), "{open}");
    assert_eq!(client.perform(verdicts, Some(table("holds")))[0], "pending");
    let broken = r#"the program "broken" is "sh -c 'echo no >&2; exit 3'""#;
    assert_eq!(client.perform(broken, None), json!(["success"]));
    let void = client.perform(r#""broken" is faster than "slow""#, None);
    check_fail(&void, "Void", "broken ended with exit status 3; it said: no");
    let table = json!([["claim", "verdict"], ["broken is faster than slow", "holds"]]);
    let void = client.perform(verdicts, Some(table));
    check_fail(&void, "Void", "broken ended with exit status 3; it said: no");
    assert_eq!(client.ask(&json!(["end_scenario"])), json!(["success"]));
    let forgotten = client.perform(holds, None);
    check_fail(&forgotten, "WrongStep", "this scenario names no program");
    let said = server.wait_for("broken");
    assert!(said.contains("client 1: Holds: "), "{said}");
}

#[test]
fn what_is_wrong_says_what_would_be_right() {
    let place = Place::new();
    let server = Server::start(&place);
    let mut client = server.client();
    client.begin("9 rounds");
    let slip = client.perform(r#""quick" is fsater than "slow""#, None);
    check_fail(&slip, "WrongStep", "did you mean 'faster'?");
    let option = client.perform(r#"the option "timeot" is "5s""#, None);
    check_fail(&option, "WrongStep", "did you mean 'timeout'?");
    client.begin("9 rounds");
    assert_eq!(client.perform(r#"the program "gone" is "no-such-program""#, None)[0], "success");
    let gone = client.perform(r#""gone" is faster than "slow""#, None);
    check_fail(&gone, "NotRaced", "'no-such-program' is not a program");
    let unknown = json!(["step_matches", { "name_to_match": "\"quick\" is nicer than \"slow\"" }]);
    assert_eq!(client.ask(&unknown), json!(["success", []]));
    let snippet = client.ask(&json!(["snippet_text", {
        "step_keyword": "Dann",
        "step_name": "\"quick\" is nicer than \"slow\"",
        "multiline_arg_class": "",
    }]));
    assert!(snippet[1].as_str().unwrap().contains("at least 1.5x faster"), "{snippet}");
    check_fail(&client.ask(&json!(["dance"])), "ProtocolError", "expected step_matches");
    check_fail(&client.ask(&json!(["invoke", { "id": "99" }])), "WrongStep", "no step has this id");
    let short = json!(["invoke", { "id": "0", "args": ["quick"] }]);
    check_fail(&client.ask(&short), "WrongStep", "takes a text for each word in capitals");
}

#[test]
fn garbage_costs_its_own_connection_only() {
    let place = Place::new();
    let server = Server::start(&place);
    let mut other = server.client();
    other.begin("400 rounds");
    let long = [vec![b'x'; 1_100_000], vec![b'\n']].concat();
    let deep = [vec![b'['; 200_000], vec![b'\n']].concat();
    let garbage: [&[u8]; 6] =
        [b"GET / HTTP/1.1\r\n", b"\xff\xfe\x00\n", b"\n", b"{\"a\":1}\n", &deep, &long];
    for sent in garbage {
        let mut client = server.client();
        // The server may close before all of it is sent.
        let _ = client.0.get_mut().write_all(sent);
        let mut line = String::new();
        // A connection that is closed on what was not read yet is reset, perhaps before the reply.
        if client.0.read_line(&mut line).is_ok_and(|read| read > 0) {
            check_fail(&serde_json::from_str(&line).unwrap(), "ProtocolError", "expected");
        } else {
            assert!(sent.len() > 1_000_000, "{sent:?} has no reply");
        }
        assert!(sent.len() > 1000 || client.is_closed());
    }
    assert_eq!(other.perform(r#""quick" is faster than "slow""#, None), json!(["success"]));
}

/// A race that no test waits for.
const ENDLESS: &str = "1000000 rounds";
const NEVER_PROVEN: &str = r#"p99.99999 of "quick" is below 1 min"#;

#[test]
fn a_client_that_goes_away_ends_its_race() {
    let place = Place::new();
    let mut server = Server::start(&place);
    let mut client = server.client();
    client.begin(ENDLESS);
    let invocation = client.invocation(NEVER_PROVEN, None);
    client.send(&invocation);
    place.wait_for_rounds(3);
    drop(client);
    let said = server.wait_for("is gone; claims raced for: 1");
    assert!(said.contains("Undecided"), "{said}");
    let mut next = server.client();
    next.begin("400 rounds");
    assert_eq!(next.perform(r#""quick" is faster than "slow""#, None), json!(["success"]));
}

#[test]
fn a_client_that_stops_waiting_gets_no_answer_to_what_it_gave_up() {
    let place = Place::new();
    let mut server = Server::start(&place);
    let mut client = server.client();
    client.begin(ENDLESS);
    let invocation = client.invocation(NEVER_PROVEN, None);
    client.send(&invocation);
    place.wait_for_rounds(3);
    assert_eq!(client.ask(&json!(["end_scenario"])), json!(["success"]));
    server.wait_for("did not wait for the end of a race");
    client.begin("400 rounds");
    assert_eq!(client.perform(r#""quick" is faster than "slow""#, None), json!(["success"]));
    let found = client.ask(&json!(["step_matches", { "name_to_match": "x" }]));
    assert_eq!(found, json!(["success", []]), "nothing was answered twice");
}

#[test]
fn clients_race_in_turns() {
    let place = Place::new();
    let server = Server::start(&place);
    let mut first = server.client();
    first.begin(ENDLESS);
    let invocation = first.invocation(NEVER_PROVEN, None);
    first.send(&invocation);
    place.wait_for_rounds(3);
    let mut second = server.client();
    second.begin("400 rounds");
    assert_eq!(second.perform(r#""quick" is faster than "slow""#, None), json!(["success"]));
}

#[test]
fn an_interrupted_server_answers_and_keeps_what_it_has() {
    let place = Place::new();
    let mut server = Server::start(&place);
    let (mut client, mut idle) = (server.client(), server.client());
    idle.begin("9 rounds");
    client.begin(ENDLESS);
    let invocation = client.invocation(NEVER_PROVEN, None);
    client.send(&invocation);
    place.wait_for_rounds(3);
    assert_eq!(server.interrupt(), Some(130));
    let open = client.receive();
    assert_eq!(open[0], "pending");
    assert!(open[1].as_str().unwrap().contains("interrupted: 'tiebreak resume "), "{open}");
    assert!(client.is_closed() && idle.is_closed());
    let replayed = place.run(&["replay", "latest"]);
    assert_eq!(replayed.code, 130, "{replayed:?}");
    assert!(replayed.out.contains("Interrupted; everything up to here is kept"), "{replayed:?}");
}

#[test]
fn a_client_that_says_no_more_is_answered() {
    let place = Place::new();
    let mut server = Server::start(&place);
    let mut client = server.client();
    client.send(&json!(["begin_scenario"]));
    client.0.get_mut().shutdown(Shutdown::Write).unwrap();
    assert_eq!(client.receive(), json!(["success"]));
    assert!(client.is_closed());
    server.wait_for("is gone; claims raced for: 0");
}

#[test]
fn the_port_is_one_of_this_machine_alone_and_of_one_server() {
    let place = Place::new();
    let server = Server::start(&place);
    let port = format!(":{:04X}", server.port);
    let sockets = std::fs::read_to_string("/proc/net/tcp").unwrap();
    let local: Vec<&str> = sockets
        .lines()
        .filter_map(|line| line.split_whitespace().nth(1))
        .filter(|address| address.ends_with(&port))
        .collect();
    assert!(!local.is_empty() && local.iter().all(|one| one.starts_with("0100007F")), "{local:?}");
    let sockets = std::fs::read_to_string("/proc/net/tcp6").unwrap_or_default();
    assert!(!sockets.contains(&format!("{port} 00000000")), "{sockets}");
    let taken = place.run(&["wire", "--port", &server.port.to_string()]);
    assert_eq!((taken.code, taken.out.as_str()), (65, ""), "{taken:?}");
    assert_eq!(taken.err.lines().count(), 1, "{taken:?}");
    assert!(taken.err.contains("another program listens there; --port 0"), "{taken:?}");
    assert_eq!(place.run(&["wire", "--port", "70000"]).code, 64);
}

#[test]
fn the_manual_has_every_step() {
    let listed = Place::new().main(&["wire", "--steps"]);
    assert_eq!(listed.code, 0, "{listed:?}");
    let manual = include_str!("../../../../docs/manual/wire.md");
    for pattern in listed.out.lines().filter(|line| !line.starts_with(' ')) {
        assert!(manual.contains(&format!("`{pattern}`")), "{pattern}");
    }
}

/// Runs Cucumber on features of a folder, next to a server; `None` where it is not installed.
fn cucumber(folder: &Path, features: &[&str]) -> Option<Ran> {
    let version = Command::new("cucumber").arg("--version").output();
    let version = version.map(|said| String::from_utf8_lossy(&said.stdout).into_owned());
    // Later ones have the protocol in a gem of its own, which a project has to ask for.
    if !version.as_ref().is_ok_and(|version| version.starts_with("2.")) {
        eprintln!(
            "skipped: there is no Cucumber 2 here ({version:?}); 'scripts/setup.sh test' installs \
             Debian's"
        );
        return None;
    }
    let place = Place::new();
    let server = Server::start(&place);
    let mut command = Command::new("cucumber");
    command.arg("--no-color").args(features).current_dir(folder).env("LC_ALL", "C.UTF-8");
    command.env("TIEBREAK_PORT", server.port.to_string());
    Some(Ran::of(command.output().unwrap()))
}

/// The folder of the manual's features.
fn manual() -> std::path::PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/manual/wire")
}

#[test]
fn cucumber_runs_the_features_of_the_manual() {
    let features = ["features/counting.feature", "features/deutsch.feature"];
    let Some(said) = cucumber(&manual(), &features) else { return };
    assert_eq!(said.code, 0, "{said:?}");
    assert!(said.out.contains("4 scenarios (4 passed)"), "{said:?}");
}

#[test]
fn cucumber_shows_why_a_claim_fails() {
    let Some(said) = cucumber(&manual(), &["features/failing.feature"]) else { return };
    assert_eq!(said.code, 1, "{said:?}");
    let parts = [
        "6 scenarios (4 failed, 1 undefined, 1 pending)",
        "Refuted: \"seq\" is at least 90x faster than \"awk\"",
        "Undecided after 2 rounds",
        "broken ended with exit status 1; it said: cat: /nowhere: No such file or directory",
        "(-) refuted",
        "(+) holds",
        "did you mean 'faster'?",
        "# tiebreak has no step '\"seq\" is nicer than \"awk\"'",
    ];
    for part in parts {
        assert!(said.out.contains(part), "{part}: {}", said.out);
    }
}
