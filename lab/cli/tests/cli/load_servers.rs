//! `load` against real servers: nginx, Mosquitto and Python's websockets, each on a port that is
//! free, where they are installed (`scripts/setup.sh load`); and in `make full` NATS.

use crate::common::{Place, Ran, flat};
use serde_json::Value;
use std::net::{TcpListener, TcpStream};
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::time::Duration;

/// A server of this test; it ends with it.
struct Server {
    child: Child,
    port: u16,
}

impl Drop for Server {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// Returns a port that was free a moment ago.
fn free_port() -> u16 {
    TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().port()
}

/// Starts a server by the command that it has for a port, and waits until it takes connections;
/// `None`, with the reason in the output, where it is not installed.
fn start(place: &Place, command: impl Fn(u16) -> Vec<String>) -> Option<Server> {
    for _ in 0..5 {
        let port = free_port();
        let words = command(port);
        let mut server = Command::new(&words[0]);
        server.args(&words[1..]).current_dir(place.folder()).stdin(Stdio::null());
        let child = server.stdout(Stdio::null()).stderr(Stdio::null()).spawn();
        let Ok(child) = child else {
            println!("skipped: {} is not installed", words[0]);
            return None;
        };
        let mut server = Server { child, port };
        for _ in 0..600 {
            if TcpStream::connect(("127.0.0.1", port)).is_ok() {
                return Some(server);
            }
            // Another program may have taken the port.
            if server.child.try_wait().unwrap().is_some() {
                break;
            }
            std::thread::sleep(Duration::from_millis(50));
        }
    }
    panic!("a server does not start");
}

/// Starts nginx; with `ssl` as what it listens for, it has a certificate for `localhost`.
fn nginx(place: &Place, ssl: &str) -> Option<Server> {
    let folder = place.folder().display().to_string();
    std::fs::write(place.path("index.html"), "ok\n").unwrap();
    let made = rcgen::generate_simple_self_signed(["localhost".to_owned()]).unwrap();
    std::fs::write(place.path("server.pem"), made.cert.pem()).unwrap();
    std::fs::write(place.path("key.pem"), made.signing_key.serialize_pem()).unwrap();
    start(place, |port| {
        let config = format!(
            "daemon off; master_process off; pid {folder}/pid; error_log {folder}/errors;
             events {{ worker_connections 256; }}
             http {{ access_log off; keepalive_requests 100;
                     client_body_temp_path {folder}/a; proxy_temp_path {folder}/b;
                     fastcgi_temp_path {folder}/c; uwsgi_temp_path {folder}/d;
                     scgi_temp_path {folder}/e;
                     ssl_certificate {folder}/server.pem; ssl_certificate_key {folder}/key.pem;
                     server {{ listen 127.0.0.1:{port} {ssl}; root {folder}; }} }}"
        );
        std::fs::write(place.path("nginx.conf"), config).unwrap();
        ["/usr/sbin/nginx", "-p", &folder, "-c", &format!("{folder}/nginx.conf")]
            .map(str::to_owned)
            .into()
    })
}

fn mosquitto(place: &Place) -> Option<Server> {
    start(place, |port| {
        let config = format!(
            "listener {port} 127.0.0.1\nallow_anonymous true\npersistence false\n\
             max_inflight_messages 0\nmax_queued_messages 0\nset_tcp_nodelay true\nlog_dest none\n"
        );
        std::fs::write(place.path("mosquitto.conf"), config).unwrap();
        let path = place.path("mosquitto.conf").display().to_string();
        ["/usr/sbin/mosquitto", "-c", &path].map(str::to_owned).into()
    })
}

/// Starts NATS 2.15 as the study of brokers does; its log is the file `log`.
fn nats(place: &Place) -> Option<Server> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    if !root.join("target/tools/bin/nats-server-2.15").exists() {
        println!("skipped: NATS 2.15 is not installed (scripts/setup.sh servers)");
        return None;
    }
    let script = root.join("studies/mqtt/start").display().to_string();
    let folder = place.folder().display().to_string();
    start(place, |port| {
        [&script, "nats-2.15", &port.to_string(), &folder].map(str::to_owned).into()
    })
}

/// A server that returns each message, or sends it to all.
fn websockets(place: &Place) -> Option<Server> {
    if !Command::new("/usr/bin/python3")
        .args(["-c", "import websockets"])
        .stderr(Stdio::null())
        .status()
        .is_ok_and(|status| status.success())
    {
        println!("skipped: Python's websockets are not installed");
        return None;
    }
    let script = r#"
import asyncio, sys, websockets
everyone = set()
async def serve(socket, path):
    everyone.add(socket)
    async for message in socket:
        if path == "/all":
            websockets.broadcast(everyone, message)
        else:
            await socket.send(message)
async def main():
    async with websockets.serve(serve, "127.0.0.1", int(sys.argv[1])):
        await asyncio.Future()
asyncio.run(main())
"#;
    std::fs::write(place.path("server.py"), script).unwrap();
    let path = place.path("server.py").display().to_string();
    start(place, |port| ["/usr/bin/python3", &path, &port.to_string()].map(str::to_owned).into())
}

/// Loads a server, and returns the result of the only load.
fn load(place: &Place, words: &[&str]) -> (Ran, Value) {
    let (ran, result) = result(place, words);
    (ran, result["loads"][0].clone())
}

/// Loads a server, and returns the result.
fn result(place: &Place, words: &[&str]) -> (Ran, Value) {
    let mut all = vec!["load"];
    all.extend(words);
    all.extend(["--json", "out.json", "--seed", "s"]);
    let ran = place.run(&all);
    let text = std::fs::read_to_string(place.path("out.json"));
    let json = text.unwrap_or_else(|error| panic!("{error}: {ran:?}"));
    (ran, serde_json::from_str(&json).unwrap())
}

/// Asserts that all messages came, each so often.
fn assert_whole(loaded: &(Ran, Value), messages: u64, arrivals_a_message: u64) {
    let (ran, result) = loaded;
    // On a busy machine the generator may be behind schedule.
    assert!([0, 2].contains(&ran.code), "{ran:?}");
    let counts = &result["counts"];
    for (count, expected) in [
        ("intended", messages),
        ("sent", messages),
        ("arrived", messages * arrivals_a_message),
        ("lost", 0),
        ("duplicated", 0),
        ("reordered", 0),
        ("refused", 0),
        ("unacknowledged", 0),
    ] {
        assert_eq!(counts[count].as_u64(), Some(expected), "{count}: {result}");
    }
}

#[test]
fn nginx_answers_each_request_of_a_schedule() {
    let place = Place::new();
    let Some(server) = nginx(&place, "") else { return };
    let url = format!("http://127.0.0.1:{}/index.html", server.port);
    let open =
        load(&place, &["http", &url, "--rate", "500", "--messages", "500", "--connections", "4"]);
    assert_whole(&open, 500, 1);
    // nginx closes a connection after 100 requests, and it is made again.
    assert!(open.1["counts"]["reconnected"].as_u64() >= Some(4), "{}", open.1);
    let closed =
        load(&place, &["http", &url, "--closed", "--messages", "500", "--connections", "4"]);
    assert_whole(&closed, 500, 1);
    // A page that is not there is refused, which is an answer.
    let missing = format!("http://127.0.0.1:{}/missing", server.port);
    let (_, refused) = load(&place, &["http", &missing, "--closed", "--messages", "50"]);
    assert_eq!(refused["counts"]["refused"], 50, "{refused}");
}

#[test]
fn nginx_answers_over_tls() {
    let place = Place::new();
    let Some(server) = nginx(&place, "ssl") else { return };
    let url = format!("https://localhost:{}/index.html", server.port);
    let pace = ["--closed", "--messages", "500", "--connections", "4", "--threads", "1"];
    let (ran, trusted) =
        result(&place, &[&["http", &url, "--ca", "server.pem"][..], &pace].concat());
    let tls = &trusted["loads"][0]["tls"];
    assert_whole(&(ran, trusted["loads"][0].clone()), 500, 1);
    // nginx closes a connection after 100 requests, and its session goes on in the next.
    assert_eq!(tls["is_verified"], true, "{tls}");
    assert!(tls["agreed"][0]["resumed"].as_u64() >= Some(4), "{tls}");
    assert!(tls["kernel"]["text"].as_str().unwrap().starts_with("kernel TLS is"), "{tls}");
    let any = place.run(&[&["load", "http", &url, "--insecure"][..], &pace].concat());
    assert!(
        [0, 2].contains(&any.code) && any.out.contains("No certificate was checked"),
        "{any:?}"
    );
    let plain = url.replace("https", "http");
    for (url, expected) in [(&url, "--ca FILE"), (&plain, "speaks TLS at this port: give https://")]
    {
        let ran = place.run(&[&["load", "http", url][..], &pace].concat());
        assert!(ran.code == 65 && flat(&ran.err).contains(expected), "{url}: {ran:?}");
    }
}

#[test]
fn mosquitto_passes_each_message_on() {
    let place = Place::new();
    let Some(server) = mosquitto(&place) else { return };
    let url = format!("mqtt://127.0.0.1:{}", server.port);
    for version in ["3.1", "3.1.1", "5.0"] {
        for qos in ["0", "1", "2"] {
            let words = ["mqtt", &url, "--shape", "pairs", "--connections", "8", "--qos", qos];
            let pace = ["--mqtt-version", version, "--rate", "400", "--messages", "200"];
            assert_whole(&load(&place, &[&words[..], &pace].concat()), 200, 1);
        }
    }
    let pace = ["--closed", "--messages", "200"];
    let ping = ["mqtt", &url, "--shape", "ping", "--pairs", "4", "--wildcards", "2"];
    assert_whole(&load(&place, &[&ping[..], &pace].concat()), 200, 1);
    let pace = ["--rate", "200", "--messages", "100"];
    let fanout = ["mqtt", &url, "--shape", "fanout", "--connections", "5"];
    assert_whole(&load(&place, &[&fanout[..], &pace].concat()), 100, 4);
    let fanin = ["mqtt", &url, "--shape", "fanin", "--connections", "5"];
    assert_whole(&load(&place, &[&fanin[..], &pace].concat()), 100, 1);
}

#[test]
#[ignore = "a broker that is built from source: make full"]
fn nats_delivers_exactly_once_and_has_no_version_3_1() {
    let place = Place::new();
    let Some(server) = nats(&place) else { return };
    let url = format!("mqtt://127.0.0.1:{}", server.port);
    let pairs = ["mqtt", &url, "--shape", "pairs", "--connections", "8", "--qos", "2"];
    for pace in [&["--rate", "400"][..], &["--closed", "--in-flight", "100"]] {
        let words = [&pairs[..], pace, &["--messages", "400"]].concat();
        assert_whole(&load(&place, &words), 400, 1);
    }
    let old = ["--mqtt-version", "3.1", "--closed", "--messages", "8"];
    let ran = place.run(&[&["load"], &pairs[..], &old].concat());
    let said = "closed the connection in place of a CONNACK";
    assert!(ran.code == 65 && flat(&ran.err).contains(said), "{ran:?}");
    let log = std::fs::read_to_string(place.path("log")).unwrap();
    assert!(log.contains(r#"older protocol "MQIsdp" not supported"#), "{log}");
}

#[test]
fn a_websocket_server_returns_each_message_and_sends_it_to_all() {
    let place = Place::new();
    let Some(server) = websockets(&place) else { return };
    let url = format!("ws://127.0.0.1:{}/", server.port);
    let echo = ["websocket", &url, "--rate", "200", "--messages", "200", "--connections", "4"];
    assert_whole(&load(&place, &echo), 200, 1);
    let closed = ["websocket", &url, "--closed", "--messages", "200", "--connections", "4"];
    assert_whole(&load(&place, &closed), 200, 1);
    // Who asks for one and gets the other is told so.
    let all = format!("ws://127.0.0.1:{}/all", server.port);
    for (words, expected) in [
        (&["websocket", &all, "--connections", "4"][..], "a connection that it is not for"),
        (&["websocket", &url, "--shape", "relay"], "back to the connection that had sent it"),
        (&["websocket", &all, "--shape", "relay"], "back to the connection that had sent it"),
    ] {
        let (ran, _) = load(&place, &[words, &["--closed", "--messages", "50"]].concat());
        assert!(ran.code == 3 && flat(&ran.err).contains(expected), "{words:?}: {ran:?}");
    }
    let broadcast = ["websocket", &all, "--shape", "broadcast", "--closed", "--messages", "100"];
    assert_whole(&load(&place, &[&broadcast[..], &["--connections", "4"]].concat()), 100, 4);
}
