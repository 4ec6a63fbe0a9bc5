//! The result of a load on a server: of one load, or of a sweep over rates.

use serde::{Deserialize, Serialize};
use std::fmt;
use std::num::NonZeroU32;
use std::ops::AddAssign;
use std::path::PathBuf;

/// The version of the JSON form.
pub const LOAD_SCHEMA: &str = "tiebreak/load/1";

/// Who says what to whom, by which protocol.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case", tag = "protocol")]
pub enum Traffic {
    /// HTTP/1.1: each message is a GET request, its arrival is the answer.
    Http {
        /// The connections, which send in turn.
        connections: u32,
    },
    /// WebSocket.
    Websocket(WebSocketTraffic),
    /// MQTT.
    Mqtt(MqttTraffic),
}

impl Traffic {
    /// Returns the same traffic over a tenth of the connections, or as few as it takes.
    pub fn over_a_tenth(&self) -> Traffic {
        let some = |connections: u32| (2 * connections.div_ceil(20)).min(connections);
        match self {
            Traffic::Http { connections } => Traffic::Http { connections: some(*connections) },
            Traffic::Websocket(of) => Traffic::Websocket(WebSocketTraffic {
                connections: some(of.connections),
                ..of.clone()
            }),
            Traffic::Mqtt(of) => Traffic::Mqtt(MqttTraffic {
                connections: some(of.connections),
                pairs: of.pairs.div_ceil(10),
                wildcards: of.wildcards.div_ceil(10),
                ..of.clone()
            }),
        }
    }

    /// Returns whether the protocol promises that each message arrives. MQTT does not with QoS 0.
    pub fn promises_delivery(&self) -> bool {
        !matches!(self, Traffic::Mqtt(MqttTraffic { qos: 0, .. }))
    }

    /// Returns what the server of a load that was not cut short did not do although the protocol
    /// promises it, without its subject: it lost messages, or over MQTT delivered some twice at QoS
    /// 0 or 2, or out of order at QoS 1 or 2, or never acknowledged some. One that leaves a closed
    /// loop waiting for what never arrives has not been loaded as was asked, whatever it promises.
    pub fn broken_promise(&self, pace: &Pace, counts: &MessageCounts) -> Option<String> {
        let MessageCounts { intended, sent, lost, duplicated, reordered, .. } = *counts;
        let unacknowledged = counts.unacknowledged;
        let (noun, arrivals) = (self.message_noun(), self.arrival_noun());
        let qos = if let Traffic::Mqtt(of) = self { Some(of.qos) } else { None };
        let is_closed = matches!(pace, Pace::Closed { .. });
        let unsent = intended.saturating_sub(sent);
        if is_closed && unsent > 0 {
            Some(format!(
                "left a closed loop waiting: {unsent} of {intended} {noun}s were never sent"
            ))
        } else if lost > 0 && self.promises_delivery() {
            let s = if lost == 1 { "" } else { "s" };
            Some(format!("lost {lost} {arrivals}{s} of {sent} {noun}s"))
        } else if let (1.., Some(qos @ (0 | 2))) = (duplicated, qos) {
            Some(format!(
                "made {duplicated} deliveries again, or 64 {noun}s too late, at QoS {qos}"
            ))
        } else if reordered > 0 && qos > Some(0) {
            Some(format!("made {reordered} deliveries out of order"))
        } else if unacknowledged > 0 {
            Some(format!("never acknowledged {unacknowledged} of {sent} {noun}s"))
        } else {
            None
        }
    }

    /// Returns the name of a message.
    pub fn message_noun(&self) -> &'static str {
        if matches!(self, Traffic::Http { .. }) { "request" } else { "message" }
    }

    /// Returns what a server does that is faster than another.
    pub fn faster(&self) -> &'static str {
        match self {
            Traffic::Http { .. } => "answers requests faster",
            Traffic::Websocket(of) if of.shape == WebSocketShape::PingPong => {
                "answers messages faster"
            }
            _ => "passes messages on faster",
        }
    }

    /// Returns the name of the arrival of a message.
    pub fn arrival_noun(&self) -> &'static str {
        match self {
            Traffic::Http { .. } => "answer",
            Traffic::Websocket(of) if of.shape == WebSocketShape::PingPong => "answer",
            _ => "arrival",
        }
    }
}

/// Messages over WebSocket.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct WebSocketTraffic {
    /// Who gets a message.
    pub shape: WebSocketShape,
    /// The connections, which send in turn.
    pub connections: u32,
    /// The size of a message, without its frame.
    pub payload_bytes: u32,
    /// Whether messages are text; otherwise they are binary.
    pub is_text: bool,
}

/// Who gets a message of WebSocket.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum WebSocketShape {
    /// The server sends each message back to its sender (echo): a message and its answer are a
    /// round trip. All connections send.
    PingPong,
    /// The server sends each message to all but its sender. There are two connections: the second
    /// sends back what it gets, and a message has arrived when the first has it again. These are
    /// the clients of the published benchmarks. A server that sends to the sender, too, breaks the
    /// conversation.
    Relay,
    /// The server sends each message to every connection, its sender too. All connections send.
    Broadcast,
}

names!(WebSocketShape: PingPong = "ping-pong", Relay = "relay", Broadcast = "broadcast");

/// Messages over MQTT.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct MqttTraffic {
    /// Who gets a message.
    pub shape: MqttShape,
    /// The connections of all shapes but `ping`.
    pub connections: u32,
    /// The pairs of the shape `ping`.
    pub pairs: u32,
    /// The subscribers to all topics of the first pair, in the shape `ping`.
    pub wildcards: u32,
    /// The size of a message, without its topic.
    pub payload_bytes: u32,
    /// The quality of service of messages: 0, 1 or 2. Subscriptions ask for 1 at least.
    pub qos: u8,
    /// The version of the protocol.
    pub version: MqttVersion,
    /// The keep-alive of each connection in seconds; 0 for none.
    pub keep_alive_s: u16,
}

/// Who gets a message of MQTT.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum MqttShape {
    /// Half of the connections publish, each to one of the other half.
    Pairs,
    /// The first of a pair publishes a request, the second publishes the answer.
    Ping,
    /// One connection publishes to all others.
    Fanout,
    /// All connections but one publish to that one.
    Fanin,
}

names!(MqttShape: Pairs = "pairs", Ping = "ping", Fanout = "fanout", Fanin = "fanin");

/// A version of MQTT.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum MqttVersion {
    /// Level 3, `MQIsdp`.
    #[serde(rename = "3.1")]
    V31,
    /// Level 4.
    #[serde(rename = "3.1.1")]
    V311,
    /// Level 5.
    #[serde(rename = "5.0")]
    V5,
}

names!(MqttVersion: V31 = "3.1", V311 = "3.1.1", V5 = "5.0");

/// How sends are spread over time.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Spacing {
    /// At equal distances.
    Constant,
    /// As those of independent users, with exponential gaps.
    Poisson,
}

names!(Spacing: Constant = "constant", Poisson = "poisson");

/// What decides when a message is sent.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case", tag = "loop")]
pub enum Pace {
    /// A schedule, which no answer moves.
    Open {
        /// The messages a second, over all connections.
        rate_per_second: u64,
        /// How they are spread over time.
        spacing: Spacing,
    },
    /// The answers: a sender that has its answer sends the next.
    Closed {
        /// The messages that a sender may have under way; `None` for as many as its socket takes.
        in_flight: Option<u32>,
    },
}

/// Where a load ends.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum LoadEnd {
    /// After so many messages.
    Messages(u64),
    /// After so many nanoseconds.
    DurationNs(u64),
}

/// The result of `tiebreak load`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct LoadResult {
    /// The command line that made it.
    pub command: Vec<String>,
    /// Where the server is, as the user wrote it.
    pub url: String,
    /// Who said what to whom.
    pub traffic: Traffic,
    /// The connections in all.
    pub connections: u32,
    /// The threads of the generator.
    pub threads: u32,
    /// Decides everything that is random.
    pub seed: String,
    /// Where each load ended, if nothing ended it earlier.
    pub end: LoadEnd,
    /// The highest rate that the server sustains, or what a search that ended early had found;
    /// `None` unless that was looked for.
    pub saturation: Option<SaturationResult>,
    /// One entry per load: a sweep has several, the slowest first.
    pub loads: Vec<PaceResult>,
    /// Why a sweep ended early, if a load could not begin or nothing arrived.
    pub failure: Option<String>,
}

/// Whom a load over TLS trusts.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Trust {
    /// Those whom the system trusts.
    #[default]
    System,
    /// Those, and the certificates in this file in PEM: of authorities, or of the server itself.
    Also(PathBuf),
    /// Any server.
    Any,
}

/// How the connections of a load were encrypted.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct TlsResult {
    /// Whether the server's certificate was checked. Otherwise the user asked to accept any.
    pub is_verified: bool,
    /// What client and server agreed on, one entry per version and cipher.
    pub agreed: Vec<TlsAgreed>,
    /// Why the kernel did not encrypt.
    #[serde(serialize_with = "crate::worded::one")]
    pub kernel: KernelTls,
}

/// What client and server agreed on, and how often.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct TlsAgreed {
    /// The version of TLS: `1.2` or `1.3`.
    pub version: String,
    /// The cipher suite by its name in IANA's registry, such as `TLS_AES_256_GCM_SHA384`.
    pub cipher: String,
    /// The handshakes, those that resumed a session among them.
    pub handshakes: u64,
    /// Those that resumed a session.
    pub resumed: u64,
}

impl TlsAgreed {
    /// Adds it to a list, which has one entry per version and cipher.
    pub fn add_to(self, list: &mut Vec<TlsAgreed>) {
        let same = |other: &&mut TlsAgreed| {
            (&other.version, &other.cipher) == (&self.version, &self.cipher)
        };
        match list.iter_mut().find(same) {
            Some(other) => {
                other.handshakes += self.handshakes;
                other.resumed += self.resumed;
            }
            None => list.push(self),
        }
    }
}

/// Why the kernel does not encrypt for a load.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case", tag = "code")]
pub enum KernelTls {
    /// It could; the generator does not ask it to.
    NotUsed,
    /// It cannot.
    Unavailable {
        /// What it said when it was asked.
        why: String,
    },
}

impl fmt::Display for KernelTls {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            KernelTls::NotUsed => f.write_str("kernel TLS is available here, and not used yet"),
            KernelTls::Unavailable { why } => {
                write!(f, "kernel TLS is not available here: TCP_ULP 'tls' gives '{why}'")
            }
        }
    }
}

/// The load of a run whose claims are about its messages: an open loop, from which a run that was
/// interrupted goes on.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct LoadPlan {
    /// Where the server is, as the user wrote it.
    pub url: String,
    /// Who says what to whom.
    pub traffic: Traffic,
    /// The messages a second, over all connections.
    pub rate_per_second: u64,
    /// How they are spread over time.
    pub spacing: Spacing,
    /// How often each message is to arrive.
    pub arrivals_a_message: u32,
    /// The connections in all.
    pub connections: u32,
    /// The threads of the generator.
    pub threads: NonZeroU32,
    /// How long connections are waited for, and messages after the last send, in nanoseconds.
    pub patience_ns: u64,
    /// Whom it trusts, over TLS.
    #[serde(default)]
    pub trust: Trust,
}

/// What was seen of a load at one pace.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct PaceResult {
    /// What decided when a message was sent.
    pub pace: Pace,
    /// From the first send to the last arrival, in nanoseconds; 0 if nothing arrived.
    pub duration_ns: u64,
    /// What became of the messages.
    pub counts: MessageCounts,
    /// How often messages were refused, by what the server said, in ascending order.
    #[serde(default)]
    pub refusals: Vec<Refusal>,
    /// The sends that were late, and those that were due so long ago and never made.
    pub late: u64,
    /// The arrivals a second, from the start to the last of them, in an open loop at least to the
    /// schedule's end; `None` if there were none.
    pub arrived_per_second: Option<AtLeast>,
    /// The latencies at some shares, in ascending order; the last one is the greatest.
    pub latencies: Vec<LatencyQuantile>,
    /// The CPU time of the generator's threads for a message, in nanoseconds; `None` if nothing was
    /// sent.
    pub generator_cpu_a_message_ns: Option<f64>,
    /// The bytes that were written.
    pub written_bytes: u64,
    /// The bytes that were read.
    pub read_bytes: u64,
    /// How late a send may be before it counts as late, in nanoseconds.
    pub tolerance_ns: u64,
    /// Whether more than one send in 1000 was late: latencies may then be those of the generator,
    /// and the throughput is at least what was measured.
    pub is_behind_schedule: bool,
    /// How the connections were encrypted; `None` if they were not.
    #[serde(default)]
    pub tls: Option<TlsResult>,
    /// How it ended.
    #[serde(serialize_with = "crate::worded::one")]
    pub ending: LoadEnding,
    /// The histograms of the latencies, for a file of their own.
    #[serde(skip)]
    pub bins: Vec<LatencyBin>,
}

/// Messages that were refused in the same way.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Refusal {
    /// What the server said: a status of HTTP, or a reason code of MQTT.
    pub code: u16,
    /// How many messages.
    pub count: u64,
}

/// What became of the messages of a load.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct MessageCounts {
    /// The messages that the schedule has up to its end, or to the load's if that came first; in a
    /// closed loop those that were asked for, or that were sent until its time was over.
    pub intended: u64,
    /// The messages that the generator turned to.
    pub sent: u64,
    /// The arrivals, each counted once.
    pub arrived: u64,
    /// The arrivals that never came: `(sent - refused) * arrivals a message - arrived`; 0 if the
    /// load was cut short.
    pub lost: u64,
    /// The arrivals of what had already arrived there, or came after 64 or more later ones of the
    /// same sender, so that this is not known.
    pub duplicated: u64,
    /// The arrivals after one that the same sender had sent later.
    pub reordered: u64,
    /// The messages that the server said it would not do.
    pub refused: u64,
    /// If the load was cut short: the arrivals that were still to come. They are not lost.
    #[serde(default)]
    pub under_way: u64,
    /// The messages of MQTT with QoS 1 or 2 whose last acknowledgement by the broker never came; 0
    /// if the load was cut short.
    #[serde(default)]
    pub unacknowledged: u64,
    /// The connections that were made again, because the server had closed them when it may.
    pub reconnected: u64,
}

impl AddAssign for MessageCounts {
    fn add_assign(&mut self, more: MessageCounts) {
        self.intended += more.intended;
        self.sent += more.sent;
        self.arrived += more.arrived;
        self.lost += more.lost;
        self.duplicated += more.duplicated;
        self.reordered += more.reordered;
        self.refused += more.refused;
        self.under_way += more.under_way;
        self.unacknowledged += more.unacknowledged;
        self.reconnected += more.reconnected;
    }
}

/// A rate that is at least one number, and at most another.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct AtLeast {
    /// It is at least this.
    pub low: f64,
    /// It is at most this; `None` if that is unknown.
    pub high: Option<f64>,
}

/// The latency within which a share of the messages arrived: it lies between two bounds.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct LatencyQuantile {
    /// The share.
    pub share: f64,
    /// The lower bound, from the actual sends.
    pub low_ns: u64,
    /// The upper bound, from the intended sends.
    pub high_ns: u64,
}

/// Arrivals whose latency lies between two bounds, both inclusive.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct LatencyBin {
    /// The lower bound.
    pub low_ns: u64,
    /// The upper bound; `u64::MAX` of those that are beyond all others.
    pub high_ns: u64,
    /// How many there are if latencies are counted from the actual send.
    pub from_actual: u64,
    /// How many there are if latencies are counted from the intended send.
    pub from_intended: u64,
}

/// How a load ended.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case", tag = "code")]
pub enum LoadEnding {
    /// All messages arrived, or were refused.
    Complete,
    /// Some had not arrived when the wait for them ended.
    Waited,
    /// The user asked to stop. What was under way is neither arrived nor lost.
    Interrupted,
    /// What was claimed of the load is settled. What was under way is neither arrived nor lost.
    Settled,
    /// A connection ended when it must not, or said what the protocol does not have. All that was
    /// seen until then counts.
    Broken {
        /// Which connection, counted from 0.
        connection: u32,
        /// What happened, as the end of the sentence "the server ...".
        why: String,
    },
}

impl fmt::Display for LoadEnding {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            LoadEnding::Complete => f.write_str("all messages arrived or were refused"),
            LoadEnding::Waited => {
                f.write_str("some messages had not arrived when the wait for them ended")
            }
            LoadEnding::Interrupted => f.write_str("the user asked to stop"),
            LoadEnding::Settled => f.write_str("what was claimed is settled"),
            LoadEnding::Broken { connection, why } => {
                write!(f, "on connection {connection} the server {why}")
            }
        }
    }
}

/// The highest rate that a server sustains, as a search found it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct SaturationResult {
    /// The highest rate that it was seen to sustain; 0 if there is none.
    pub low_per_second: u64,
    /// The lowest rate that it did not; `None` if there is none.
    pub high_per_second: Option<u64>,
    /// Whether the generator could not ask for more than the lower rate.
    pub is_generator_bound: bool,
    /// What the server does when it is asked for more.
    pub overload: Overload,
    /// The trials that this took.
    pub trials: u64,
    /// How long each was, in nanoseconds.
    pub trial_ns: u64,
}

/// What a server does when it is asked for more than it can do.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case", tag = "form")]
pub enum Overload {
    /// No trial has shown it.
    Unknown,
    /// It goes on at no less than 95% of the rate that it sustains.
    Holds,
    /// It does less while it is asked for too much, and recovers.
    Falls {
        /// The lowest rate of its answers under overload.
        to_per_second: u64,
    },
    /// It sustained this rate before it was asked for too much, and no longer afterwards.
    Fell {
        /// The rate.
        from_per_second: u64,
    },
}

/// How far a load has come, for those who watch it.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct LoadProgress {
    /// What it is a part of.
    pub part: LoadPart,
    /// What decides when a message is sent.
    pub pace: Pace,
    /// Where it ends.
    pub end: LoadEnd,
    /// The time since it began, in nanoseconds.
    pub elapsed_ns: u64,
    /// The connections that are open.
    pub open: u64,
    /// The connections in all.
    pub connections: u32,
    /// The messages that were sent so far.
    pub sent: u64,
    /// The arrivals so far.
    pub arrived: u64,
}

/// What a load is a part of.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LoadPart {
    /// It is the only one.
    Whole,
    /// A trial of the search for saturation, by its number from 1.
    Trial(u64),
    /// A load of a sweep, by its number from 1.
    Sweep(u64),
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_was_promised_is_told_from_what_was_not() {
        let mqtt = |qos| {
            Traffic::Mqtt(MqttTraffic {
                version: MqttVersion::V311,
                shape: MqttShape::Pairs,
                connections: 2,
                pairs: 0,
                wildcards: 0,
                payload_bytes: 16,
                qos,
                keep_alive_s: 0,
            })
        };
        let http = Traffic::Http { connections: 1 };
        let closed = Pace::Closed { in_flight: Some(1) };
        let open = Pace::Open { rate_per_second: 9, spacing: Spacing::Constant };
        let none = MessageCounts { intended: 9, sent: 9, arrived: 9, ..MessageCounts::default() };
        let unsent = MessageCounts { sent: 4, arrived: 4, ..none };
        let lost = MessageCounts { arrived: 7, lost: 2, ..none };
        let twice = MessageCounts { duplicated: 3, ..none };
        let disordered = MessageCounts { reordered: 1, ..none };
        let unsaid = MessageCounts { unacknowledged: 2, ..none };
        let stopped = "left a closed loop waiting: 5 of 9 messages were never sent";
        let of_requests = "left a closed loop waiting: 5 of 9 requests were never sent";
        for (traffic, pace, counts, expected) in [
            (http.clone(), closed, none, None),
            (http.clone(), closed, unsent, Some(of_requests)),
            (http.clone(), open, unsent, None),
            (http, open, lost, Some("lost 2 answers of 9 requests")),
            (mqtt(0), closed, unsent, Some(stopped)),
            (mqtt(0), closed, lost, None),
            (mqtt(1), closed, lost, Some("lost 2 arrivals of 9 messages")),
            (mqtt(1), open, twice, None),
            (
                mqtt(0),
                open,
                twice,
                Some("made 3 deliveries again, or 64 messages too late, at QoS 0"),
            ),
            (
                mqtt(2),
                open,
                twice,
                Some("made 3 deliveries again, or 64 messages too late, at QoS 2"),
            ),
            (mqtt(0), open, disordered, None),
            (mqtt(1), open, disordered, Some("made 1 deliveries out of order")),
            (mqtt(1), open, unsaid, Some("never acknowledged 2 of 9 messages")),
        ] {
            let found = traffic.broken_promise(&pace, &counts);
            assert_eq!(found.as_deref(), expected, "{traffic:?} {pace:?} {counts:?}");
        }
    }
}
