//! `tiebreak load`: loads a server, and says how fast it answers.

use crate::choice::{Names, one_of};
use crate::io::Io;
use crate::options::{Reporting, Store, described};
use crate::quantities::{self, whole};
use crate::screen::Screen;
use crate::{exit, race};
use clap::error::ErrorKind;
use clap::{ArgGroup, Args, CommandFactory, FromArgMatches, Parser, Subcommand};
use std::num::NonZeroU32;
use std::path::PathBuf;
use std::sync::atomic::Ordering;
use std::time::Duration;
use tiebreak_lab::core::load::{
    LoadEnd, LoadEnding, LoadResult, MessageCounts, MqttShape, MqttTraffic, MqttVersion, Pace,
    PaceResult, Spacing, Traffic, Trust, WebSocketShape, WebSocketTraffic,
};
use tiebreak_lab::core::result::RunResult;
use tiebreak_lab::core::server::{PORT, ServerPlan};
use tiebreak_lab::load::{
    self, LoadRequest, MESSAGES_MAX, PAYLOAD_BYTES_MAX, Pacing, RATE_PER_SECOND_MAX,
};
use tiebreak_lab::load_claims::{self, LoadClaims};
use tiebreak_lab::planning::seed_or_random;
use tiebreak_lab::report::{json, load as page};
use tiebreak_lab::run::Ready;
use tiebreak_lab::words::{self, WordsError};
use tiebreak_lab::{LabError, interrupt};

/// The rate at which a search for saturation begins.
const SEARCH_FROM_PER_SECOND: u64 = 1000;
/// How long a load is, unless the user says so.
const DURATION_NS: u64 = 10_000_000_000;
/// How long it is at most if something is claimed.
const CLAIMED_DURATION_NS: u64 = 600_000_000_000;
/// How much of its schedule is then one observation.
const BLOCK_NS: u64 = 1_000_000_000;
/// The size of a message of WebSocket, unless the user says so: a stamp as text has 22 bytes.
const WEBSOCKET_BYTES: u32 = 32;
/// More connections than this are a slip: an address has fewer ports.
const CONNECTIONS_MAX: u64 = 1_000_000;
/// The connections of the shape relay.
const RELAY: u32 = 2;

#[derive(Debug, Subcommand)]
pub enum LoadCommand {
    /// GET requests over HTTP/1.1
    Http(HttpOptions),
    /// Messages over WebSocket: sent back, passed on, or sent to all
    Websocket(WebSocketOptions),
    /// Messages over MQTT: pairs, round trips, one to many, many to one
    Mqtt(MqttOptions),
}

#[derive(Debug, Args)]
pub struct HttpOptions {
    /// The server, and what to get: http://HOST[:PORT]/PATH, or https://
    #[arg(required_unless_present = "url_option")]
    url: Option<String>,

    /// How many connections send in turn; each has one request under way
    #[arg(long, value_name = "N", default_value_t = 10,
          value_parser = whole::<u32>(1, CONNECTIONS_MAX))]
    connections: u32,

    #[command(flatten)]
    common: Common,
}

#[derive(Debug, Args)]
pub struct WebSocketOptions {
    /// The server, and what to get: ws://HOST[:PORT]/PATH, or wss://
    #[arg(required_unless_present = "url_option")]
    url: Option<String>,

    /// To whom the server sends a message
    #[arg(long, value_parser = one_of(WEBSOCKET_SHAPES), default_value = "ping-pong")]
    shape: WebSocketShape,

    /// How many connections send in turn [default: 10; of relay 2, of which one sends]
    #[arg(long, value_name = "N", value_parser = whole::<u32>(1, CONNECTIONS_MAX))]
    connections: Option<u32>,

    /// The bytes of a message: at least 16, as text 22
    #[arg(long, value_name = "BYTES", default_value_t = WEBSOCKET_BYTES,
          value_parser = whole::<u32>(16, PAYLOAD_BYTES_MAX as u64))]
    payload: u32,

    /// Send text instead of binary messages
    #[arg(long)]
    text: bool,

    #[command(flatten)]
    common: Common,
}

const WEBSOCKET_SHAPES: Names<WebSocketShape> = &[
    ("ping-pong", "Back to its sender", WebSocketShape::PingPong),
    ("relay", "To the other of two, which sends it back", WebSocketShape::Relay),
    ("broadcast", "To all, its sender too", WebSocketShape::Broadcast),
];

#[derive(Debug, Args)]
pub struct MqttOptions {
    /// The broker: mqtt://HOST[:PORT], or mqtts://
    #[arg(required_unless_present = "url_option")]
    url: Option<String>,

    /// Who publishes to whom
    #[arg(long, value_parser = one_of(MQTT_SHAPES), default_value = "pairs")]
    shape: MqttShape,

    /// How many connections there are [default: 10]
    #[arg(long, value_name = "N", value_parser = whole::<u32>(2, CONNECTIONS_MAX),
          conflicts_with_all = ["pairs", "wildcards"])]
    connections: Option<u32>,

    /// Of the shape ping: how many pairs there are [default: 5]
    #[arg(long, value_name = "N", value_parser = whole::<u32>(1, CONNECTIONS_MAX / 2))]
    pairs: Option<u32>,

    /// Of the shape ping: how many further connections get all requests and answers of one pair
    /// [default: 0]
    #[arg(long, value_name = "N", value_parser = whole::<u32>(0, CONNECTIONS_MAX))]
    wildcards: Option<u32>,

    /// The bytes of a message: at least 16
    #[arg(long, value_name = "BYTES", default_value_t = 16,
          value_parser = whole::<u32>(16, PAYLOAD_BYTES_MAX as u64))]
    payload: u32,

    /// The quality of service: 0 may get lost, 1 is acknowledged, 2 arrives exactly once
    #[arg(long, value_name = "0|1|2", default_value_t = 0,
          value_parser = clap::value_parser!(u8).range(0..=2))]
    qos: u8,

    /// The version of the protocol
    #[arg(long, value_parser = one_of(MQTT_VERSIONS), default_value = "3.1.1")]
    mqtt_version: MqttVersion,

    /// The keep-alive in seconds that connections ask for; 0 for none, which some brokers refuse
    #[arg(long, value_name = "SECONDS", default_value_t = 0)]
    keep_alive: u16,

    #[command(flatten)]
    common: Common,
}

const MQTT_SHAPES: Names<MqttShape> = &[
    ("pairs", "Half of the connections, each to one of the other half", MqttShape::Pairs),
    ("ping", "The first of each pair to the second, which answers", MqttShape::Ping),
    ("fanout", "One to all others", MqttShape::Fanout),
    ("fanin", "All others to one", MqttShape::Fanin),
];

const MQTT_VERSIONS: Names<MqttVersion> = &[
    ("3.1", "MQTT 3.1", MqttVersion::V31),
    ("3.1.1", "MQTT 3.1.1", MqttVersion::V311),
    ("5.0", "MQTT 5.0", MqttVersion::V5),
];

/// Options of every protocol.
#[derive(Debug, Args)]
#[command(group(ArgGroup::new("pace").args(["rate", "closed"])))]
struct Common {
    /// The URL, for who looks for an option.
    #[arg(
        long = "url",
        id = "url_option",
        value_name = "URL",
        hide = true,
        conflicts_with = "url"
    )]
    url_option: Option<String>,

    /// Over TLS, as the scheme of the URL can say.
    #[arg(long, hide = true)]
    tls: bool,

    /// Open loop: this many messages a second over all connections, whether answers come or not;
    /// with --sweep where the search for saturation begins
    #[arg(long, value_name = "N", value_parser = whole::<u64>(1, RATE_PER_SECOND_MAX))]
    rate: Option<u64>,

    /// How sends are spread over time
    #[arg(long, value_parser = one_of(SPACINGS), default_value = "constant",
          conflicts_with = "closed")]
    spacing: Spacing,

    /// Closed loop: a sender sends the next message when it has its answer, so that the latencies
    /// of a server that stops are missing
    #[arg(long)]
    closed: bool,

    /// Of a closed loop: how many messages a sender may have under way, or any for as many as its
    /// connection takes [default: 1]
    #[arg(long, value_name = "N|any", value_parser = in_flight, requires = "closed",
          conflicts_with_all = ["rate", "sweep"])]
    in_flight: Option<InFlight>,

    /// How long messages are sent [default: 10s; with --claim at most 10min]
    #[arg(long, value_name = "TIME", value_parser = quantities::duration_ns)]
    duration: Option<u64>,

    /// How many messages are sent
    #[arg(long, value_name = "N", value_parser = whole::<u64>(1, MESSAGES_MAX),
          conflicts_with_all = ["duration", "sweep"])]
    messages: Option<u64>,

    /// Look for the highest rate that the server sustains, then load it at 25, 50, 75 and 90% of
    /// that, each for --duration
    #[arg(long, conflicts_with = "closed")]
    sweep: bool,

    #[arg(long)]
    seed: Option<String>,

    /// The threads that send and receive [default: all CPUs but one, which is left to the server]
    #[arg(long, value_name = "N", value_parser = whole::<u32>(1, 1000))]
    threads: Option<u32>,

    /// How long the next connection is waited for, and after the last send the next arrival
    #[arg(long, value_name = "TIME", default_value = "5s", value_parser = quantities::duration_ns)]
    timeout: u64,

    /// With TLS: trust the certificates in this file in PEM, of authorities or of the server,
    /// besides those that the system trusts
    #[arg(long, value_name = "FILE", conflicts_with = "insecure")]
    ca: Option<PathBuf>,

    /// With TLS: accept any certificate
    #[arg(long)]
    insecure: bool,

    /// A sentence about the latencies, such as 'p99 is below 5 ms', to be settled: the load ends as
    /// soon as it is; may be repeated
    #[arg(long, value_name = "SENTENCE")]
    claim: Vec<String>,

    #[arg(long, allow_hyphen_values = true, value_parser = quantities::fraction,
          requires = "claim")]
    error: f64,

    /// With --claim: how much of the schedule is one observation; at least 30 times as long as the
    /// server is slow at a stretch [default: 1s]
    #[arg(long, value_name = "TIME", value_parser = quantities::duration_ns, requires = "claim")]
    block: Option<u64>,

    #[command(flatten)]
    store: Store,

    #[command(flatten)]
    reporting: Reporting,

    /// Draw the latencies by percentile as SVG
    #[arg(long, value_name = "FILE")]
    svg: Option<PathBuf>,

    /// Write the histograms of the latencies as CSV
    #[arg(long, value_name = "FILE")]
    latencies: Option<PathBuf>,

    /// Write them as a log of HdrHistogram, for its tools
    #[arg(long, value_name = "FILE")]
    hlog: Option<PathBuf>,
}

const SPACINGS: Names<Spacing> = &[
    ("constant", "At equal distances", Spacing::Constant),
    ("poisson", "At random, as by independent users", Spacing::Poisson),
];

/// How many messages a sender may have under way.
#[derive(Clone, Copy, Debug)]
enum InFlight {
    AtMost(u32),
    Any,
}

fn in_flight(text: &str) -> Result<InFlight, String> {
    match (text, text.parse()) {
        ("any", _) => Ok(InFlight::Any),
        (_, Ok(most @ 1..)) => Ok(InFlight::AtMost(most)),
        _ => Err("give a whole number above 0, or any".to_owned()),
    }
}

/// Returns the URL, who says what to whom, and the other options.
fn parts(command: LoadCommand) -> Result<(String, Traffic, Common), LabError> {
    let (url, traffic, common) = match command {
        LoadCommand::Http(HttpOptions { url, connections, common }) => {
            (url, Traffic::Http { connections }, common)
        }
        LoadCommand::Websocket(options) => {
            let traffic = websocket(&options);
            (options.url, traffic, options.common)
        }
        LoadCommand::Mqtt(options) => {
            let traffic = mqtt(&options)?;
            (options.url, traffic, options.common)
        }
    };
    // One of the two is there.
    let url = url.or_else(|| common.url_option.clone()).unwrap_or_default();
    let is_plain = ["http://", "ws://", "mqtt://"].iter().any(|scheme| url.starts_with(scheme));
    let url = if common.tls && is_plain { url.replacen("://", "s://", 1) } else { url };
    Ok((url, traffic, common))
}

/// The words of a load on servers that are contestants.
#[derive(Debug, Parser)]
#[command(name = "load", no_binary_name = true, disable_help_subcommand = true)]
struct OfServers {
    #[command(subcommand)]
    command: LoadCommand,
}

/// Reads the load on servers that are contestants: the words of `tiebreak load`, without those that
/// say what becomes of its result.
///
/// # Errors
/// Returns what is wrong, and what would be right.
pub fn of_servers(text: &str) -> Result<ServerPlan, String> {
    let words = words::split(text).map_err(|error| match error {
        WordsError::NeedsShell { character, position } => format!(
            "'{character}' at character {position} means something to a shell: put the word in \
             quotes"
        ),
        WordsError::Empty => format!(
            "it is empty: give words of 'tiebreak load', such as http --closed --messages 20000 \
             http://127.0.0.1:{PORT}/"
        ),
        error => error.to_string(),
    })?;
    let found = described(OfServers::command()).try_get_matches_from(words);
    let words = found.and_then(|found| OfServers::from_arg_matches(&found));
    let words = words.map_err(|error| in_one_line(&error))?;
    let (url, traffic, common) = parts(words.command).map_err(|error| error.to_string())?;
    let Common { reporting, svg, latencies, hlog, store, claim, seed, sweep, .. } = &common;
    let unused = [
        ("--sweep", *sweep, "each run of a server has one load: give --rate or --closed"),
        ("--seed", seed.is_some(), "it is a coin of each round: give it outside of the load"),
        ("--json", reporting.json.json.is_some(), ELSEWHERE),
        ("--quiet", reporting.quiet, ELSEWHERE),
        ("--svg", svg.is_some(), ELSEWHERE),
        ("--latencies", latencies.is_some(), ELSEWHERE),
        ("--hlog", hlog.is_some(), ELSEWHERE),
        ("--store", store.path().is_some(), ELSEWHERE),
        ("--claim", !claim.is_empty(), ELSEWHERE),
    ];
    if let Some((option, _, why)) = unused.into_iter().find(|(_, is_given, _)| *is_given) {
        return Err(format!("{option}: {why}"));
    }
    let Pacing::At(pace) = pacing(&common).map_err(|error| error.to_string())? else {
        return Err("--sweep has no one rate".to_owned());
    };
    Ok(ServerPlan {
        threads: common.threads,
        patience_ns: common.timeout,
        trust: trust(&common),
        ..ServerPlan::new(text.trim(), &url, traffic, pace, end(&common))
    })
}

/// Why an option about the result of a load means nothing of servers.
const ELSEWHERE: &str = "the result is that of the comparison: give it outside of the load";

/// Returns an error of clap without its usage.
fn in_one_line(error: &clap::Error) -> String {
    if error.kind() == ErrorKind::DisplayHelp {
        return "for help say 'tiebreak load http --help'".to_owned();
    }
    let text = error.render().to_string();
    let text = text.strip_prefix("error: ").unwrap_or(&text);
    let text = text.split("\n\nUsage:").next().unwrap_or(text);
    let text = text.split("\n\nFor more information").next().unwrap_or(text);
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

fn end(common: &Common) -> LoadEnd {
    let usual_ns = if common.claim.is_empty() { DURATION_NS } else { CLAIMED_DURATION_NS };
    match common.messages {
        Some(messages) => LoadEnd::Messages(messages),
        None => LoadEnd::DurationNs(common.duration.unwrap_or(usual_ns)),
    }
}

fn trust(common: &Common) -> Trust {
    match common.ca.clone() {
        _ if common.insecure => Trust::Any,
        Some(file) => Trust::Also(file),
        None => Trust::System,
    }
}

pub fn run(command: LoadCommand, io: &mut Io) -> Result<u8, LabError> {
    let (url, traffic, common) = parts(command)?;
    let request = LoadRequest {
        command: io.typed.clone(),
        url,
        traffic,
        pacing: pacing(&common)?,
        end: end(&common),
        seed: seed_or_random(common.seed.as_deref())?,
        threads: common.threads.and_then(NonZeroU32::new),
        patience: Duration::from_nanos(common.timeout),
        trust: trust(&common),
    };
    if common.claim.is_empty() {
        measure(&request, &common, io)
    } else {
        judge(&request, common, io)
    }
}

/// Loads the server until what is claimed is settled.
fn judge(request: &LoadRequest, common: Common, io: &mut Io) -> Result<u8, LabError> {
    let claims = LoadClaims {
        sentences: common.claim,
        error: common.error,
        block_ns: common.block.unwrap_or(BLOCK_NS),
    };
    let ready = Ready::new(load_claims::plan(request, &claims)?, interrupt::flag())?;
    let Reporting { json, quiet } = &common.reporting;
    let targets =
        json.open(json::text)?.file("svg", common.svg.as_deref(), |run: &RunResult| {
            run.load.as_deref().map(page::svg)
        })?;
    let targets = targets.file("latencies", common.latencies.as_deref(), |run: &RunResult| {
        run.load.as_deref().map(page::latencies)
    })?;
    let targets = targets.file("hlog", common.hlog.as_deref(), |run: &RunResult| {
        run.load.as_deref().map(page::hlog)
    })?;
    race::go(ready.begin(common.store.path(), io.typed.clone())?, targets, *quiet, io)
}

fn websocket(options: &WebSocketOptions) -> Traffic {
    let usual = if options.shape == WebSocketShape::Relay { RELAY } else { 10 };
    Traffic::Websocket(WebSocketTraffic {
        shape: options.shape,
        connections: options.connections.unwrap_or(usual),
        payload_bytes: options.payload,
        is_text: options.text,
    })
}

fn mqtt(options: &MqttOptions) -> Result<Traffic, LabError> {
    let is_ping = options.shape == MqttShape::Ping;
    if is_ping && options.connections.is_some() {
        let text = "--connections: of the shape ping say --pairs, and --wildcards";
        return Err(LabError::Usage(text.to_owned()));
    }
    if !is_ping && (options.pairs.is_some() || options.wildcards.is_some()) {
        let text = format!(
            "--pairs and --wildcards are of the shape ping: of {} say --connections",
            options.shape.name()
        );
        return Err(LabError::Usage(text));
    }
    let of_shape = |number: u32, is_of_it: bool| if is_of_it { number } else { 0 };
    Ok(Traffic::Mqtt(MqttTraffic {
        shape: options.shape,
        connections: of_shape(options.connections.unwrap_or(10), !is_ping),
        pairs: of_shape(options.pairs.unwrap_or(5), is_ping),
        wildcards: of_shape(options.wildcards.unwrap_or(0), is_ping),
        payload_bytes: options.payload,
        qos: options.qos,
        version: options.mqtt_version,
        keep_alive_s: options.keep_alive,
    }))
}

fn pacing(common: &Common) -> Result<Pacing, LabError> {
    let spacing = common.spacing;
    Ok(match (common.sweep, common.rate, common.closed) {
        (true, rate, _) => {
            let start_per_second = rate.unwrap_or(SEARCH_FROM_PER_SECOND);
            Pacing::Sweep { start_per_second, spacing }
        }
        (_, Some(rate_per_second), _) => Pacing::At(Pace::Open { rate_per_second, spacing }),
        (_, None, true) => {
            let in_flight = match common.in_flight.unwrap_or(InFlight::AtMost(1)) {
                InFlight::AtMost(most) => Some(most),
                InFlight::Any => None,
            };
            Pacing::At(Pace::Closed { in_flight })
        }
        (_, None, false) => {
            let text = "how fast? --rate N sends so many messages a second, whatever the server \
                        does; --closed waits for answers, which hides the latencies of a server \
                        that stops; --sweep looks for the rates";
            return Err(LabError::Usage(text.to_owned()));
        }
    })
}

fn measure(request: &LoadRequest, common: &Common, io: &mut Io) -> Result<u8, LabError> {
    let stop = interrupt::flag();
    let Reporting { json, quiet } = &common.reporting;
    let targets = json.open(page::json)?.file("svg", common.svg.as_deref(), page::svg)?.file(
        "latencies",
        common.latencies.as_deref(),
        page::latencies,
    )?;
    let targets = targets.file("hlog", common.hlog.as_deref(), page::hlog)?;
    let result = Screen::during(io, *quiet, |screen| {
        load::run(request, stop, |progress| {
            screen.show_as(|look, _| vec![page::progress(progress, look)]);
        })
    })?;
    let text =
        if *quiet { page::sentence(&result) + "\n" } else { page::render(&result, &io.out_look()) };
    targets.deliver(&text, &result, io)?;
    if let Some(why) = failure(&result) {
        io.complain(&why);
    }
    Ok(code(&result, stop.load(Ordering::SeqCst)))
}

/// Returns why the server is to blame for a load that ended too early, if it is.
fn failure(result: &LoadResult) -> Option<String> {
    let broken = result.loads.iter().find_map(|load| match &load.ending {
        ending @ LoadEnding::Broken { .. } => Some(ending.to_string()),
        _ => None,
    });
    broken.or_else(|| result.failure.clone()).or_else(|| {
        let what = result.loads.iter().find_map(|load| broken_promise(result, load));
        what.map(|what| format!("the server {what}"))
    })
}

/// Returns what the server of a load did not do although it promises it. A schedule may ask for
/// more than a server can answer in time: what is lost then is no broken promise, nor is what has
/// no acknowledgement.
fn broken_promise(result: &LoadResult, load: &PaceResult) -> Option<String> {
    let is_whole = matches!(load.ending, LoadEnding::Complete | LoadEnding::Waited);
    let counts = match load.counts {
        counts if is_open(load) && counts.lost > 0 => {
            MessageCounts { lost: 0, unacknowledged: 0, ..counts }
        }
        counts => counts,
    };
    is_whole.then(|| result.traffic.broken_promise(&load.pace, &counts)).flatten()
}

fn is_open(load: &PaceResult) -> bool {
    matches!(load.pace, Pace::Open { .. })
}

/// Returns whether some of what a schedule asked for was never sent, or never arrived.
fn has_missing(result: &LoadResult, load: &PaceResult) -> bool {
    let MessageCounts { intended, sent, lost, .. } = load.counts;
    is_open(load) && (intended > sent || lost > 0 && result.traffic.promises_delivery())
}

/// Returns the exit code: what the user or the server cut off comes first, then what is known as
/// bounds only.
fn code(result: &LoadResult, is_interrupted: bool) -> u8 {
    let loads = &result.loads;
    let is_bound = result.saturation.is_some_and(|found| found.is_generator_bound);
    let has_found_none = result.saturation.is_some_and(|found| found.low_per_second == 0);
    if is_interrupted || loads.iter().any(|load| load.ending == LoadEnding::Interrupted) {
        exit::INTERRUPTED
    } else if failure(result).is_some()
        || has_found_none
        || loads.iter().any(|load| load.counts.arrived == 0)
    {
        exit::VOID
    } else if is_bound
        || loads.iter().any(|load| load.is_behind_schedule || has_missing(result, load))
    {
        exit::OPEN
    } else {
        exit::HOLDS
    }
}
