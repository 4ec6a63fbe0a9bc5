//! Loads on a server of this test, and what cannot be loaded.

use crate::common::{Broker, HttpServer, Manners, Place, flat, validate};
use std::net::TcpListener;

/// A URL of a port at which nothing listens.
fn closed_port() -> String {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    format!("http://{}/", listener.local_addr().unwrap())
}

#[test]
fn mistakes_are_named() {
    let place = Place::new();
    let url = "http://127.0.0.1:9/";
    let long = format!("http://{}/", "a".repeat(300));
    let closed = closed_port();
    for (words, code, expected) in [
        (&["http"][..], 64, "<URL>"),
        (&["http", url, "--url", url, "--rate", "5"], 64, "cannot be used with"),
        (&["http", url], 64, "how fast? --rate N"),
        (&["http", url], 64, "--closed"),
        (&["http", url, "--rate", "5", "--closed"], 64, "cannot be used with"),
        (&["http", url, "--rate", "0"], 64, "--rate"),
        (&["http", url, "--rate", "2000000000"], 64, "from 1 to 10000000"),
        (&["http", url, "--rate", "0.5"], 64, "a whole number from 1 to 10000000"),
        (&["http", url, "--rate", "5", "--in-flight", "2"], 64, "cannot be used with"),
        (&["http", url, "--closed", "--in-flight", "any"], 64, "give more --connections"),
        (&["http", url, "--in-flight", "2"], 64, "--closed"),
        (&["http", url, "--closed", "--in-flight", "0"], 64, "a whole number above 0, or any"),
        (&["http", url, "--closed", "--spacing", "poisson"], 64, "cannot be used with"),
        (&["http", url, "--closed", "--sweep"], 64, "cannot be used with"),
        (&["http", url, "--sweep", "--messages", "5"], 64, "cannot be used with"),
        (&["http", url, "--rate", "5", "--messages", "5", "--duration", "1s"], 64, "--duration"),
        (&["http", url, "--rate", "5", "--duration", "0s"], 64, "--duration"),
        (&["http", url, "--rate", "5", "--duration", "5h"], 64, "4 hours"),
        (&["http", url, "--rate", "5", "--threads", "0"], 64, "--threads"),
        (&["http", url, "--rate", "5", "--connections", "0"], 64, "--connections"),
        (&["http", url, "--rate", "5", "--insecure"], 64, "about TLS: give https://"),
        (&["http", "https://a", "--rate", "5", "--insecure", "--ca", "x"], 64, "cannot be used"),
        (&["http", "https://127.0.0.1/", "--rate", "5", "--ca", "absent.pem"], 65, "absent.pem"),
        (&["mqtt", "wss://127.0.0.1/", "--rate", "5"], 64, "tiebreak load websocket"),
        (&["http", "127.0.0.1:9", "--rate", "5"], 64, "give http://HOST[:PORT]/PATH"),
        (&["http", "ws://127.0.0.1:9", "--rate", "5"], 64, "tiebreak load websocket"),
        (&["websocket", url, "--rate", "5"], 64, "tiebreak load http"),
        (&["mqtt", "mqtt://127.0.0.1:x", "--rate", "5"], 64, "'x' is not a port"),
        (&["mqtt", "mqtt://127.0.0.1:9", "--rate", "5", "--qos", "3"], 64, "--qos"),
        (&["mqtt", "mqtt://127.0.0.1:9", "--rate", "5", "--pairs", "3"], 64, "of the shape ping"),
        (&["mqtt", "mqtt://127.0.0.1:9", "--rate", "5", "--connections", "3"], 64, "even number"),
        (&["mqtt", "mqtt://127.0.0.1:9", "--rate", "5", "--payload", "8"], 64, "from 16 to 1342"),
        (&["websocket", "ws://127.0.0.1:9", "--rate", "5", "--shape", "ring"], 64, "ping-pong"),
        (&["http", &long, "--rate", "5"], 65, "cannot find the host"),
        (&["http", &closed, "--rate", "5"], 65, "Connection refused"),
        (&["http", url, "--rate", "5", "--svg", "absent/x.svg"], 65, "absent/x.svg"),
        (&["http", url, "--rate", "5", "--block", "1s"], 64, "--claim"),
        (&["http", url, "--closed", "--claim", "p99 is below 5 ms"], 64, "does not send while"),
        (&["http", url, "--sweep", "--claim", "p99 is below 5 ms"], 64, "one rate"),
        (&["http", &closed, "--rate", "5", "--claim", "p99 is below 5 ms"], 65, "refused"),
    ] {
        let said = place.run(&[&["load"], words].concat());
        assert_eq!(said.code, code, "{words:?}: {said:?}");
        assert!(said.err.contains(expected), "{words:?}: {}", said.err);
        assert!(!said.err.contains("panicked"), "{words:?}: {}", said.err);
    }
}

#[test]
fn every_request_is_answered_and_counted() {
    let place = Place::new();
    let server = HttpServer::start();
    for pace in [&["--rate", "2000"][..], &["--closed"], &["--closed", "--in-flight", "1"]] {
        let words = ["load", "http", &server.url(), "--messages", "500", "--json", "-"];
        let said = place.run(&[&words[..], pace].concat());
        // A busy machine may be behind schedule.
        assert!([0, 2].contains(&said.code), "{pace:?}: {said:?}");
        let json = said.json();
        check_schema(&json);
        let counts = &json["loads"][0]["counts"];
        assert_eq!((&counts["sent"], &counts["arrived"]), (&500.into(), &500.into()), "{json:#}");
        assert_eq!(json["loads"][0]["ending"]["code"], "complete");
    }
}

#[test]
fn a_page_a_picture_and_a_file_of_latencies() {
    let place = Place::new();
    let server = HttpServer::start();
    let url = server.url();
    let files = ["--svg", "x.svg", "--latencies", "x.csv", "--hlog", "x.hlog"];
    let words = ["load", "http", &url, "--rate", "1000", "--duration", "500ms", "--seed", "s"];
    let said = place.run(&[&words[..], &files].concat());
    assert!([0, 2].contains(&said.code), "{said:?}");
    for text in ["1000 requests a second", "Open loop", "Seed s.", "99%"] {
        assert!(said.out.contains(text), "no '{text}': {}", said.out);
    }
    assert!(std::fs::read_to_string(place.path("x.svg")).unwrap().starts_with("<svg"));
    let csv = std::fs::read_to_string(place.path("x.csv")).unwrap();
    let counted = csv.lines().skip(1).map(|line| {
        let fields: Vec<&str> = line.split(',').collect();
        fields[4].parse::<u64>().unwrap()
    });
    assert_eq!(counted.sum::<u64>(), 500, "{csv}");
    let hlog = std::fs::read_to_string(place.path("x.hlog")).unwrap();
    let lines = hlog.lines().filter(|line| line.contains("-send,0.000,"));
    assert_eq!(lines.filter(|line| line.contains(",HISTF")).count(), 2, "{hlog}");
}

/// What was seen before is printed, then what the server did, and the exit code is that of void.
#[test]
fn a_server_that_breaks_a_connection_is_named() {
    let place = Place::new();
    let server = HttpServer::breaking_after(20);
    let url = server.url();
    let words = ["load", "http", &url, "--rate", "200", "--connections", "1", "--messages", "60"];
    let said = place.run(&words);
    assert_eq!(said.code, 3, "{said:?}");
    assert!(said.out.contains("Cut short") && said.out.contains("of 20 answers"), "{}", said.out);
    assert!(said.err.contains("error: on connection 0 the server"), "{}", said.err);
}

/// A load of which most is never sent, since the server says nothing any more, is no good load; and
/// a sweep does not go on to look for a rate at which it would.
#[test]
fn a_server_that_falls_silent_is_named() {
    let place = Place::new();
    let loaded = |words: &[&str]| {
        let url = HttpServer::silent_after(20).url();
        let load = ["load", "http", &url, "--connections", "2", "--timeout", "300ms"];
        place.run(&[&load[..], words].concat())
    };
    let said = loaded(&["--closed", "--messages", "90"]);
    assert_eq!(said.code, 3, "{said:?}");
    assert!(flat(&said.out).contains("68 were never sent, 2 never arrived"), "{}", said.out);
    assert!(said.err.contains("left a closed loop waiting: 68 of 90 requests"), "{}", said.err);
    let said = loaded(&["--rate", "300", "--messages", "60"]);
    assert_eq!(said.code, 2, "{said:?}");
    let said = loaded(&["--sweep", "--duration", "100ms", "--rate", "100"]);
    assert_eq!(said.code, 3, "{said:?}");
    assert!(said.err.contains("the server answered none of"), "{}", said.err);
    assert!(said.out.contains("the sweep ended early, as"), "{}", said.out);
    assert!(said.out.contains("Saturation: "), "{}", said.out);
    // A server that has no TLS waits for the end of a request.
    let said = loaded(&["--tls", "--closed", "--messages", "5"]);
    assert!(said.code == 65 && said.err.contains("leaves them unanswered"), "{said:?}");
}

/// All arrives, and the broker never says that it took any of it.
#[test]
fn a_broker_that_acknowledges_nothing_is_named() {
    let place = Place::new();
    let load = ["load", "mqtt", "--connections", "2", "--messages", "50", "--json", "x.json"];
    for (acknowledges, qos, pace, unacknowledged) in [
        (true, "1", &["--rate", "500", "--timeout", "60s"][..], 0),
        (true, "2", &["--closed", "--timeout", "60s"], 0),
        (false, "0", &["--closed", "--timeout", "60s"], 0),
        (false, "1", &["--closed", "--timeout", "300ms"], 50),
        (false, "2", &["--rate", "500", "--timeout", "300ms"], 50),
    ] {
        let broker = Broker::start(Manners { acknowledges, deliveries: 1 });
        let said = place.run(&[&load[..], &["--url", &broker.url(), "--qos", qos], pace].concat());
        let json: serde_json::Value =
            serde_json::from_slice(&std::fs::read(place.path("x.json")).unwrap()).unwrap();
        check_schema(&json);
        let counts = &json["loads"][0]["counts"];
        assert_eq!((&counts["arrived"], &counts["lost"]), (&50.into(), &0.into()), "{json:#}");
        assert_eq!(counts["unacknowledged"], unacknowledged, "{json:#}");
        let is_named = unacknowledged > 0;
        assert!((said.code == 3) == is_named && [0, 2, 3].contains(&said.code), "{said:?}");
        assert_eq!(said.err.contains("never acknowledged 50 of 50 messages"), is_named, "{said:?}");
        let missing = "Missing: the acknowledgements of 50 messages.";
        assert_eq!(flat(&said.out).contains(missing), is_named, "{said:?}");
    }
}

/// Sentences are settled while the load runs, it ends then, and the journal says the same.
#[test]
fn what_is_claimed_is_settled_and_replayed() {
    let place = Place::new();
    let server = HttpServer::start();
    let url = server.url();
    let load = ["load", "http", &url, "--rate", "2000", "--block", "5ms", "--timeout", "60s"];
    for (claims, code) in [
        (&["median is below 50 s"][..], 0),
        (&["80% take less than 50 s", "A succeeds at least 80% of the time"], 0),
        (&["median is below 1 ns"], 1),
        (&["median is below 50 s", "p40 of A is below 1 ns"], 1),
        (&["mean is below 1 ns capped at 1 us"], 1),
    ] {
        let claims: Vec<&str> = claims.iter().flat_map(|claim| ["--claim", claim]).collect();
        let said = place.run(&[&load[..], &claims, &["--json", "-"]].concat());
        assert_eq!(said.code, code, "{claims:?}: {said:?}");
        assert!(said.err.contains("needs at least") || claims[1].contains("mean"), "{said:?}");
        let json = said.json();
        validate(&json);
        assert_eq!(json["stopped"], "settled");
        assert_eq!(json["load"]["loads"][0]["ending"]["code"], "settled");
        assert!(json["load"]["loads"][0]["counts"]["arrived"].as_u64() > Some(9), "{json:#}");
        assert_eq!(place.run(&["replay", "--json", "-"]).json(), json, "a replay says the same");
    }
    let history = place.run(&["history"]);
    assert!(history.out.contains("holds, refuted"), "{history:?}");
    let page = place.run(&["show"]);
    for text in ["Refuted", "2000 requests a second", "under this load"] {
        assert!(flat(&page.out).contains(text), "no '{text}': {}", page.out);
    }
    let budget =
        place.run(&[&load[..], &["--claim", "p99 is below 50 s", "--messages", "20"]].concat());
    assert_eq!(budget.code, 2, "{budget:?}");
    assert!(budget.out.contains("Undecided after 20 messages"), "{budget:?}");
    assert!(budget.err.contains("it can only be refuted"), "{budget:?}");
}

#[test]
fn a_server_that_breaks_a_connection_makes_claims_void() {
    let place = Place::new();
    let server = HttpServer::breaking_after(20);
    let url = server.url();
    let words = ["load", "http", &url, "--rate", "200", "--connections", "1", "--block", "10ms"];
    let said = place.run(&[&words[..], &["--claim", "p99 is below 5 s"]].concat());
    assert_eq!(said.code, 3, "{said:?}");
    assert!(flat(&said.out).contains("gave an answer that is not HTTP/1.1"), "{}", said.out);
    assert_eq!(place.run(&["replay"]).code, 3);
}

/// A verdict says that messages came twice where the broker may deliver them so; where it must not,
/// there is none.
#[test]
fn a_broker_that_delivers_twice_makes_claims_void_unless_it_may() {
    let place = Place::new();
    let load = ["load", "mqtt", "--connections", "2", "--rate", "1000", "--timeout", "60s"];
    let claim = ["--block", "10ms", "--claim", "median is below 50 s", "--json", "x.json"];
    for (qos, deliveries, code) in [("1", 1, 0), ("1", 2, 0), ("0", 2, 3), ("2", 2, 3)] {
        let broker = Broker::start(Manners { acknowledges: true, deliveries });
        let url = ["--url", &broker.url(), "--qos", qos];
        let said = place.run(&[&load[..], &claim, &url].concat());
        assert_eq!(said.code, code, "{said:?}");
        let json: serde_json::Value =
            serde_json::from_slice(&std::fs::read(place.path("x.json")).unwrap()).unwrap();
        validate(&json);
        let warnings = json["warnings"].as_array().unwrap();
        let warns = warnings.iter().any(|warning| warning["code"] == "came_again");
        assert_eq!(warns, deliveries > 1, "{json:#}");
        let is_void = flat(&said.out).contains(&format!("too late, at QoS {qos}"));
        assert_eq!(is_void, code == 3, "{said:?}");
        assert_eq!(place.run(&["replay", "--json", "-"]).json(), json, "a replay says the same");
    }
}

fn check_schema(value: &serde_json::Value) {
    let schema = include_str!("../../../../docs/schema/load-1.schema.json");
    let schema: serde_json::Value = serde_json::from_str(schema).unwrap();
    let schema = jsonschema::draft202012::new(&schema).unwrap();
    let errors: Vec<_> = schema.iter_errors(value).map(|error| error.to_string()).collect();
    assert_eq!(errors, [""; 0], "{value:#}");
}
