use super::*;
use crate::svg;
use tiebreak_core::load::{
    KernelTls, LatencyBin, LoadEnding, MessageCounts, MqttTraffic, MqttVersion, Overload, Refusal,
    SaturationResult, TlsAgreed, WebSocketShape, WebSocketTraffic,
};
use unicode_width::UnicodeWidthStr;

const LOOK: Look = Look { width: 80, color: false, unicode: true };
const ASCII: Look = Look { width: 80, color: false, unicode: false };

/// Latencies of 200 000 arrivals, from the intended sends, in microseconds.
const LATENCIES_US: [(f64, u64); 15] = [
    (0.0, 61),
    (0.5, 118),
    (0.8, 131),
    (0.9, 152),
    (0.95, 204),
    (0.98, 411),
    (0.99, 740),
    (0.995, 1190),
    (0.998, 1900),
    (0.999, 2700),
    (0.9995, 3100),
    (0.9998, 3500),
    (0.9999, 3900),
    (0.99995, 4100),
    (1.0, 4250),
];

pub(super) fn open(rate_per_second: u64) -> Pace {
    Pace::Open { rate_per_second, spacing: Spacing::Constant }
}

/// A load whose every send was late by so many microseconds.
pub(super) fn load(pace: Pace, late_us: u64) -> PaceResult {
    PaceResult {
        pace,
        duration_ns: 10_000_100_000,
        counts: MessageCounts {
            intended: 200_000,
            sent: 200_000,
            arrived: 200_000,
            ..MessageCounts::default()
        },
        refusals: Vec::new(),
        late: 0,
        arrived_per_second: Some(AtLeast { low: 19_999.9, high: Some(19_999.9) }),
        latencies: LATENCIES_US
            .map(|(share, us)| {
                let (low_us, high_us) = (us, us + late_us);
                LatencyQuantile { share, low_ns: 1000 * low_us, high_ns: 1000 * high_us }
            })
            .to_vec(),
        generator_cpu_a_message_ns: Some(912.4),
        written_bytes: 12_600_000,
        read_bytes: 168_200_000,
        tolerance_ns: 1_000_000,
        is_behind_schedule: false,
        tls: None,
        ending: LoadEnding::Complete,
        bins: vec![
            LatencyBin { low_ns: 61_000, high_ns: 61_439, from_actual: 3, from_intended: 0 },
            LatencyBin { low_ns: 62_000, high_ns: u64::MAX, from_actual: 0, from_intended: 3 },
        ],
    }
}

pub(super) fn result(loads: Vec<PaceResult>) -> LoadResult {
    LoadResult {
        command: ["tiebreak", "load", "http"].map(str::to_owned).to_vec(),
        url: "http://localhost:8080/".to_owned(),
        traffic: Traffic::Http { connections: 10 },
        connections: 10,
        threads: 1,
        seed: "c0ffee".to_owned(),
        end: LoadEnd::DurationNs(10_000_000_000),
        saturation: None,
        loads,
        failure: None,
    }
}

fn behind() -> LoadResult {
    let mut load = load(open(20_000), 5000);
    (load.is_behind_schedule, load.late) = (true, 41_230);
    load.counts = MessageCounts {
        sent: 199_200,
        arrived: 199_190,
        lost: 7,
        refused: 3,
        reordered: 12,
        ..load.counts
    };
    load.refusals = vec![Refusal { code: 404, count: 1 }, Refusal { code: 503, count: 2 }];
    load.arrived_per_second = Some(AtLeast { low: 18_211.4, high: None });
    load.ending = LoadEnding::Waited;
    result(vec![load])
}

fn closed() -> LoadResult {
    let mut load = load(Pace::Closed { in_flight: Some(1) }, 0);
    load.arrived_per_second = Some(AtLeast { low: 1_482_133.0, high: Some(1_482_133.0) });
    let traffic = Traffic::Mqtt(MqttTraffic {
        shape: MqttShape::Ping,
        connections: 0,
        pairs: 400,
        wildcards: 1,
        payload_bytes: 16,
        qos: 1,
        version: MqttVersion::V311,
        keep_alive_s: 0,
    });
    LoadResult { traffic, connections: 801, ..result(vec![load]) }
}

fn swept() -> LoadResult {
    let mut loads: Vec<_> =
        [5000, 10_000, 15_000, 18_000].into_iter().map(|rate| load(open(rate), 0)).collect();
    loads[2].counts.duplicated = 4;
    loads[3].late = 912;
    (loads[3].is_behind_schedule, loads[3].latencies) = (true, load(open(1), 900).latencies);
    let saturation = SaturationResult {
        low_per_second: 20_000,
        high_per_second: Some(20_900),
        is_generator_bound: false,
        overload: Overload::Falls { to_per_second: 12_000 },
        trials: 7,
        trial_ns: 2_000_000_000,
    };
    let traffic = Traffic::Websocket(WebSocketTraffic {
        shape: WebSocketShape::PingPong,
        connections: 10,
        payload_bytes: 32,
        is_text: true,
    });
    loads[0].tls = Some(TlsResult {
        is_verified: false,
        agreed: vec![TlsAgreed {
            version: "1.3".to_owned(),
            cipher: "TLS_AES_256_GCM_SHA384".to_owned(),
            handshakes: 110,
            resumed: 1,
        }],
        kernel: KernelTls::Unavailable { why: "No such file or directory".to_owned() },
    });
    LoadResult { traffic, saturation: Some(saturation), ..result(loads) }
}

/// A load that the server cut off before anything arrived.
fn broken() -> LoadResult {
    let mut load = load(open(20_000), 0);
    load.counts = MessageCounts { intended: 40, sent: 40, ..MessageCounts::default() };
    load.ending = LoadEnding::Broken { connection: 3, why: "closed the connection".to_owned() };
    (load.arrived_per_second, load.duration_ns) = (None, 0);
    (load.latencies, load.bins) = (Vec::new(), Vec::new());
    result(vec![load])
}

/// Every kind of result.
fn all() -> [(&'static str, LoadResult); 6] {
    [
        ("punctual", result(vec![load(open(20_000), 0)])),
        ("behind", behind()),
        ("closed", closed()),
        ("swept", swept()),
        ("broken", broken()),
        ("not begun", LoadResult { failure: Some("gone".to_owned()), ..result(Vec::new()) }),
    ]
}

#[test]
fn pages_look_as_they_were_approved() {
    for (name, result) in all() {
        insta::assert_snapshot!(name.replace(' ', "_"), render(&result, &LOOK));
    }
}

#[test]
fn a_page_in_ascii_is_ascii_and_fits() {
    for (name, result) in all() {
        assert!(render(&result, &ASCII).is_ascii(), "{name}");
        for width in [40, 60, 80, 200] {
            let look = Look { width, ..LOOK };
            for line in render(&result, &look).lines() {
                assert!(line.width() <= look.table_columns(), "{name} at {width}: {line}");
            }
        }
    }
}

#[test]
fn sentences_say_what_the_figures_do_not() {
    let check = |result: &LoadResult, says: &[&str]| {
        let sentence = sentence(result);
        for text in says {
            assert!(sentence.contains(text), "no '{text}' in: {sentence}");
        }
    };
    let punctual = sentence(&all()[0].1);
    assert_eq!(
        punctual,
        "20000 requests a second: of 200000 answers, half took at most 118 us, 99% took at most \
         740 us, 99.9% took at most 2.7 ms, all took at most 4.25 ms."
    );
    check(
        &behind(),
        &[
            "more than 1 ms late with 41230 of 200000 requests at 20000 a second",
            "Missing: 800 were never sent, 7 never arrived, 3 were",
        ],
    );
    check(
        &closed(),
        &["1.482 M arrivals a second", "latencies of a server that stops are missing"],
    );
    check(&broken(), &["Cut short", "Nothing arrived: 40 requests sent."]);
    let said = "Saturation: 20000 messages a second are sustained, 20900 are not (7 trials of 2 s)";
    check(&swept(), &[said, "falls to 12000 a second, and recovers"]);
    let mut swept = swept();
    let mut saturation = |change: fn(&mut SaturationResult), says: &str| {
        swept.saturation.iter_mut().for_each(change);
        check(&swept, &[says]);
    };
    saturation(|found| found.overload = Overload::Holds, "goes on at that rate");
    let fell = "Before it was asked for too much, the server sustained 9000 a second";
    saturation(|found| found.overload = Overload::Fell { from_per_second: 9000 }, fell);
    saturation(|found| found.is_generator_bound = true, "at least 20000 messages a second; the");
    saturation(|found| found.low_per_second = 0, "not even 20900 messages a second");
}

/// A quantity is one number only if its bounds are as close as the bins of a histogram.
#[test]
fn bounds_are_told_where_they_differ() {
    let titles = |late_us| -> Vec<String> {
        let columns = percentiles(&load(open(1), late_us));
        columns.into_iter().map(|column| column.title).collect()
    };
    assert_eq!(titles(0), ["", "latency"]);
    assert_eq!(titles(1), ["", "latency"]);
    assert_eq!(titles(9), ["", "from the actual send", "from the intended send"]);
    assert_eq!(chart(&result(vec![load(open(1), 1)])).curves.len(), 1);
    assert_eq!(chart(&result(vec![load(open(1), 9)])).curves.len(), 2);
    assert_eq!(chart(&swept()).curves.len(), 4);
}

#[test]
fn the_picture_has_a_share_for_each_tick() {
    let chart = chart(&all()[0].1);
    let across = chart.across().unwrap();
    let ticks: Vec<String> =
        chart.x_ticks(across, 12).into_iter().map(|tick| (chart.x.write)(tick)).collect();
    assert_eq!(ticks, ["0%", "90%", "99%", "99.9%", "99.99%"]);
    for (name, result) in all() {
        let svg = super::svg(&result);
        assert!(svg.starts_with("<svg") && svg.contains("prefers-color-scheme:dark"), "{name}");
        assert_eq!(svg, svg::charts(&[super::chart(&result)]));
    }
    insta::assert_snapshot!("picture", super::svg(&behind()));
}

#[test]
fn every_result_obeys_the_schema() {
    let schema = include_str!("../../../../docs/schema/load-1.schema.json");
    let schema: serde_json::Value = serde_json::from_str(schema).unwrap();
    jsonschema::meta::validate(&schema).unwrap();
    let schema = jsonschema::draft202012::new(&schema).unwrap();
    for (name, result) in all() {
        let value: serde_json::Value = serde_json::from_str(&json(&result)).unwrap();
        let errors: Vec<_> = schema.iter_errors(&value).map(|error| error.to_string()).collect();
        assert_eq!(errors, [""; 0], "{name}: {value:#}");
    }
}

#[test]
fn bins_are_lines() {
    let text = latencies(&result(vec![load(open(5), 0), closed().loads.remove(0)]));
    let lines: Vec<&str> = text.split_terminator("\r\n").collect();
    assert_eq!(
        lines,
        [
            "load,rate_per_second,low_ns,high_ns,from_actual_send,from_intended_send",
            "1,5,61000,61439,3,0",
            "1,5,62000,,0,3",
            "2,,61000,61439,3,0",
            "2,,62000,,0,3",
        ]
    );
}

#[test]
fn progress_is_one_line() {
    let begun = LoadProgress {
        part: LoadPart::Whole,
        pace: open(20_000),
        end: LoadEnd::DurationNs(10_000_000_000),
        elapsed_ns: 300_000_000,
        open: 3,
        connections: 10,
        sent: 0,
        arrived: 0,
    };
    let check = |of: LoadProgress, expected: &str| assert_eq!(progress(&of, &LOOK), expected);
    check(begun, "20000 a second: 3 of 10 connections open");
    let going = LoadProgress { elapsed_ns: 3_000_000_000, open: 10, sent: 60_000, ..begun };
    check(going, "20000 a second: 3 s of 10 s, 60000 sent, 0 arrived");
    let trial = LoadProgress { part: LoadPart::Trial(3), arrived: 5, ..going };
    check(trial, "trial 3 of the search, 20000 a second: 3 s of 10 s, 60000 sent, 5 arrived");
    let counted = LoadProgress {
        part: LoadPart::Sweep(2),
        pace: Pace::Closed { in_flight: None },
        end: LoadEnd::Messages(70_000),
        ..going
    };
    check(counted, "load 2 of the sweep, closed loop: 3 s, 60000 of 70000 sent, 0 arrived");
}
