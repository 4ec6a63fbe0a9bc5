//! The page of `tiebreak load`: what a server did under load.

mod hlog;
mod plot;
#[cfg(test)]
mod tests;
mod verdict;

pub use self::hlog::hlog;
pub use self::plot::{chart, svg};

use self::verdict::paragraphs;
use crate::json;
use crate::number::{Scale, trimmed};
use crate::prelude::*;
use tiebreak_core::load::{
    AtLeast, LOAD_SCHEMA, LatencyQuantile, LoadEnd, LoadPart, LoadProgress, LoadResult, MqttShape,
    Pace, PaceResult, Spacing, TlsResult, Traffic,
};

/// The shares that tables have; 1 is the greatest.
const SHARES: [f64; 6] = [0.5, 0.9, 0.99, 0.999, 0.9999, 1.0];
/// The bounds of a latency are one number if they are no further apart than this part of it: the
/// histograms' bins alone are up to two of 128 parts wide.
const CLOSE: f64 = 1.0 / 32.0;

/// The result as JSON with a line feed at the end, as `docs/schema/load-1.schema.json` describes
/// it.
pub fn json(result: &LoadResult) -> String {
    json::text_of(LOAD_SCHEMA, result)
}

/// Returns what was found in some sentences without styles.
pub fn sentence(result: &LoadResult) -> String {
    let paragraphs = paragraphs(result);
    paragraphs.iter().map(|spans| letters(spans)).collect::<Vec<_>>().join(" ")
}

/// Renders the page: the sentences, what became of the messages, latencies by percentile as a table
/// and as a picture, and how all that was done.
pub fn render(result: &LoadResult, look: &Look) -> String {
    let mut page = Page::new(*look);
    for spans in paragraphs(result) {
        page.paragraph("", &spans);
    }
    let has_latencies = result.loads.iter().any(|load| !load.latencies.is_empty());
    if !result.loads.is_empty() {
        page.gap();
        page.wide_table(counts(result));
    }
    if has_latencies {
        page.gap();
        match &result.loads[..] {
            [load] => page.table(percentiles(load)),
            loads => page.wide_table(sweep(loads)),
        }
    }
    page.gap();
    let picture = chart(result).text(look);
    let mut end = Page::new(*look);
    small_print(result).into_iter().for_each(|line| end.say(Tone::Dim, line));
    let gap = if has_latencies { "\n" } else { "" };
    page.finish() + &picture + gap + &end.finish()
}

/// The histograms of the latencies as comma-separated values, a line a bin that is not empty: the
/// number of the load and its rate, the bounds of the bin, and how many arrivals are in it,
/// counted from the actual send and from the intended one. What has no bound or no rate is empty.
pub fn latencies(result: &LoadResult) -> String {
    let head = "load,rate_per_second,low_ns,high_ns,from_actual_send,from_intended_send\r\n";
    let mut text = head.to_owned();
    for (number, load) in (1..).zip(&result.loads) {
        let rate = match load.pace {
            Pace::Open { rate_per_second, .. } => rate_per_second.to_string(),
            Pace::Closed { .. } => String::new(),
        };
        for bin in &load.bins {
            let high =
                if bin.high_ns == u64::MAX { String::new() } else { bin.high_ns.to_string() };
            let (low, actual, intended) = (bin.low_ns, bin.from_actual, bin.from_intended);
            text += &format!("{number},{rate},{low},{high},{actual},{intended}\r\n");
        }
    }
    text
}

/// The progress of a load, as one line.
pub fn progress(progress: &LoadProgress, look: &Look) -> String {
    let LoadProgress { open, connections, sent, arrived, .. } = progress;
    let rate = match progress.pace {
        Pace::Open { rate_per_second, .. } => format!("{rate_per_second} a second"),
        Pace::Closed { .. } => "closed loop".to_owned(),
    };
    let part = match progress.part {
        LoadPart::Whole => String::new(),
        LoadPart::Trial(number) => format!("trial {number} of the search, "),
        LoadPart::Sweep(number) => format!("load {number} of the sweep, "),
    };
    let state = if *sent == 0 && *open < u64::from(*connections) {
        format!("{open} of {connections} connections open")
    } else {
        let time = seconds(progress.elapsed_ns as f64 / 1e9);
        let (time, of_sent) = match progress.end {
            LoadEnd::DurationNs(ns) => {
                (format!("{time} of {}", seconds(ns as f64 / 1e9)), String::new())
            }
            LoadEnd::Messages(messages) => (time, format!(" of {messages}")),
        };
        format!("{time}, {sent}{of_sent} sent, {arrived} arrived")
    };
    shorten_middle(&format!("{part}{rate}: {state}"), look.columns(), *look)
}

/// Writes a rate with the digits that count: `48213`, `1.234 M`.
fn rate_text(per_second: f64) -> String {
    value_text(Unit::Count, per_second)
}

/// Writes nanoseconds with four digits, rounded as a bound.
fn ns_text(ns: u64, rounding: Rounding) -> String {
    let value = ns as f64;
    let text = Scale::of(Unit::Nanoseconds, value).write_rounded(value, rounding);
    match text.split_once(' ') {
        Some((digits, unit)) => format!("{} {unit}", trimmed(digits)),
        None => text,
    }
}

fn throughput(rate: AtLeast) -> String {
    let low = rate_text(rate.low);
    if rate.high.is_some() { low } else { format!("at least {low}") }
}

/// Whether the bounds of some latency of a load are so far apart that both must be told.
fn is_interval(load: &PaceResult) -> bool {
    load.latencies.iter().any(|at| (at.high_ns - at.low_ns) as f64 > CLOSE * at.high_ns as f64)
}

/// Returns the latency at a share, if so many arrived.
fn at(load: &PaceResult, share: f64) -> Option<&LatencyQuantile> {
    load.latencies.iter().find(|quantile| quantile.share == share)
}

fn share_label(share: f64) -> String {
    if share == 1.0 { "max".to_owned() } else { share_text(share, 6) }
}

fn pace_label(pace: &Pace) -> String {
    match pace {
        Pace::Open { rate_per_second, .. } => rate_per_second.to_string(),
        Pace::Closed { .. } => "closed".to_owned(),
    }
}

/// What became of the messages: a row a load. What is 0 everywhere has no column, but for what was
/// sent and what arrived.
fn counts(result: &LoadResult) -> Vec<Column> {
    let loads = &result.loads;
    let number = |title: &str, rank: u8, of: fn(&PaceResult) -> u64| {
        let cells = cells(loads, |load| match of(load) {
            0 if rank > 0 => "-".to_owned(),
            count => count.to_string(),
        });
        Column::right(title, cells).rank(rank)
    };
    vec![
        Column::left("rate", cells(loads, |load| pace_label(&load.pace))),
        number("unsent", 1, |load| load.counts.intended.saturating_sub(load.counts.sent)),
        number("sent", 0, |load| load.counts.sent),
        number("arrived", 0, |load| load.counts.arrived),
        Column::right(
            "a second",
            cells(loads, |load| or_none(load.arrived_per_second.map(throughput))),
        ),
        number("lost", 1, |load| load.counts.lost),
        number("refused", 1, |load| load.counts.refused),
        number("under way", 1, |load| load.counts.under_way),
        number("unacknowledged", 1, |load| load.counts.unacknowledged),
        number("duplicated", 1, |load| load.counts.duplicated),
        number("reordered", 1, |load| load.counts.reordered),
        number("reconnected", 2, |load| load.counts.reconnected),
        number("late", 2, |load| load.late),
        Column::right(
            "CPU each",
            cells(loads, |load| {
                let ns = load.generator_cpu_a_message_ns;
                or_none(ns.map(|ns| value_text(Unit::Nanoseconds, ns)))
            }),
        )
        .rank(3),
    ]
}

/// The latencies of one load by percentile: from both sends, unless they are one number.
fn percentiles(load: &PaceResult) -> Vec<Column> {
    let rows: Vec<_> = SHARES.into_iter().filter_map(|share| at(load, share)).collect();
    let low = cells(&rows, |at| ns_text(at.low_ns, Rounding::Down));
    let high = cells(&rows, |at| ns_text(at.high_ns, Rounding::Up));
    let mut columns = vec![Column::right("", cells(&rows, |at| share_label(at.share)))];
    if is_interval(load) {
        columns.push(Column::decimal("from the actual send", low));
        columns.push(Column::decimal("from the intended send", high));
    } else {
        columns.push(Column::decimal("latency", high));
    }
    columns
}

/// The latencies of several loads: a row a load, a column a percentile.
fn sweep(loads: &[PaceResult]) -> Vec<Column> {
    let mut columns = vec![Column::left("rate", cells(loads, |load| pace_label(&load.pace)))];
    for (index, share) in SHARES.into_iter().enumerate() {
        let latencies = cells(loads, |load| {
            or_none(at(load, share).map(|at| {
                let high = ns_text(at.high_ns, Rounding::Up);
                if load.is_behind_schedule {
                    between(Some(ns_text(at.low_ns, Rounding::Down)), Some(high))
                } else {
                    high
                }
            }))
        });
        // On a narrow screen the middle and the far tail stay.
        let rank = [0, 3, 0, 1, 4, 2][index];
        columns.push(Column::right(&share_label(share), latencies).rank(rank));
    }
    columns
}

fn small_print(result: &LoadResult) -> Vec<String> {
    let mut lines = Vec::new();
    let open = result.loads.iter().find_map(|load| match load.pace {
        Pace::Open { spacing, .. } => Some(spacing),
        Pace::Closed { .. } => None,
    });
    if let Some(spread) = open {
        let spread = match spread {
            Spacing::Constant => "at equal distances",
            Spacing::Poisson => "at random, as by independent users",
        };
        let noun = result.traffic.message_noun();
        lines.push(format!(
            "Open loop: {noun}s were to be sent {spread}, whether {}s came or not, and latencies \
             count from when their {noun} was to be sent.",
            result.traffic.arrival_noun()
        ));
    }
    let connections = count(u64::from(result.connections), "connection");
    let threads = count(u64::from(result.threads), "thread");
    let (traffic, url) = (traffic_text(&result.traffic), plain(&result.url));
    lines.push(format!("{traffic}, at {url} on {connections}, by {threads}."));
    if let [load] = &result.loads[..] {
        let [written, read] = [load.written_bytes, load.read_bytes]
            .map(|bytes| value_text(Unit::Bytes, bytes as f64));
        lines.push(format!("{written} written, {read} read."));
    }
    lines.extend(tls_lines(&result.loads));
    lines.push(format!("Seed {}.", plain(&result.seed)));
    lines
}

/// Says how the connections were encrypted, if they were.
fn tls_lines(loads: &[PaceResult]) -> Vec<String> {
    let all: Vec<&TlsResult> = loads.iter().filter_map(|load| load.tls.as_ref()).collect();
    let Some(tls) = all.first() else { return Vec::new() };
    let mut agreed = Vec::new();
    all.iter().flat_map(|tls| &tls.agreed).for_each(|of| of.clone().add_to(&mut agreed));
    let agreed = agreed.iter().map(|of| {
        let handshakes = count(of.handshakes, "handshake");
        let resumed = count(of.resumed, "session");
        format!("TLS {} with {}: {handshakes}, {resumed} resumed.", of.version, of.cipher)
    });
    let is_verified = if tls.is_verified {
        "The server's certificate was checked."
    } else {
        "No certificate was checked (--insecure)."
    };
    let how = format!("{is_verified} Encrypted by the generator: {}.", tls.kernel);
    agreed.chain([how]).collect()
}

/// Says who says what to whom.
fn traffic_text(traffic: &Traffic) -> String {
    match traffic {
        Traffic::Http { .. } => "HTTP/1.1, GET".to_owned(),
        Traffic::Websocket(of) => {
            let kind = if of.is_text { "text" } else { "binary" };
            let size = count(u64::from(of.payload_bytes), "byte");
            format!("WebSocket, {}, {kind} messages of {size}", of.shape.name())
        }
        Traffic::Mqtt(of) => {
            let size = count(u64::from(of.payload_bytes), "byte");
            let shape = match of.shape {
                MqttShape::Ping => {
                    let wildcards = count(u64::from(of.wildcards), "wildcard");
                    format!("ping of {} and {wildcards}", count(u64::from(of.pairs), "pair"))
                }
                shape => shape.name().to_owned(),
            };
            let (version, qos) = (of.version.name(), of.qos);
            format!("MQTT {version}, {shape}, QoS {qos}, messages of {size}")
        }
    }
}
