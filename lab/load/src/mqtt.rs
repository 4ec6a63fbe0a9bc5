//! A load by MQTT, in versions 3.1, 3.1.1 and 5.0: pairs, round trips, and many to many.
//!
//! # What a server must do
//!
//! It passes each message on to all that have subscribed to its topic, with the payload as it was.
//! No user is named, so it must let anyone in. A message that is delivered with another payload or
//! by another topic ends the load: a wrong answer is never counted as a fast one.
//!
//! # Quality of service
//!
//! With QoS 1 and 2 each side acknowledges what it gets, at once. A sender has at most as many
//! messages under way as the server permits (version 5: Receive Maximum), and at most 65 535. Its
//! packet identifiers go around, so one is used again as late as possible. A server that grants a
//! lower QoS than the messages need ends the load, since another service would be measured. A
//! message that the server refuses in its acknowledgement (version 5) counts as refused. Once all
//! has arrived, the acknowledgements that are missing are waited for, and then counted.
//!
//! # Keep-alive
//!
//! A conversation has no clock, so this side never sends a PINGREQ. With a keep-alive of 0 the
//! server waits for ever (5.0 section 3.1.2.10). With another, or with a Server Keep Alive in its
//! CONNACK, it closes a connection that was silent for 1.5 times as long, and subscribers are
//! silent at QoS 0. Some servers refuse 0 (rumqttd 0.20 does): 65 535 seconds, the longest, are not
//! "never", but more than a load can last ([`LOAD_NS_MAX`](crate::stamp::LOAD_NS_MAX)).

mod client;
mod publisher;
#[cfg(test)]
mod tests;

pub use client::Client;
pub use tiebreak_proto::mqtt::{Qos, Version};

use crate::conversation::Scenario;
use crate::message::{BadOptions, Form, Message};
use crate::random::Words;

/// What is asked of a broker.
#[derive(Clone, Copy, Debug)]
pub struct MqttOptions {
    /// The version that all connections speak.
    pub version: Version,
    /// Who publishes, and who subscribes to it.
    pub shape: Shape,
    /// The payload of a message: at least 16 bytes, at most
    /// [`PAYLOAD_BYTES_MAX`](crate::PAYLOAD_BYTES_MAX).
    pub payload_bytes: usize,
    /// How often a message must arrive at the server, and at most at a subscriber.
    pub publish_qos: Qos,
    /// The QoS that a subscription asks for: a delivery has the lower of both. The published load
    /// test asks for QoS 1 and publishes with QoS 0.
    pub subscribe_qos: Qos,
    /// The keep-alive in seconds, 0 for none: see the [page](self).
    pub keep_alive_s: u16,
    /// Decides client identifiers and topics, so that loads on one server do not meet.
    pub seed: u64,
}

/// Who publishes, and who subscribes to it. None of the counts is 0, but that of wildcards.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Shape {
    /// Each of half the connections publishes to a topic of its own, to which one of the other half
    /// has subscribed: the published load test as its code has it.
    Pairs {
        /// The connections of both kinds together, an even number.
        connections: u32,
    },
    /// The first of a pair publishes a request, the second answers with the same payload on another
    /// topic, and a message has arrived when the first has the answer: the published ping test.
    Ping {
        /// The pairs.
        pairs: u32,
        /// Further connections, which subscribe to all that the first pair says. What they get is
        /// load on the server, and counted nowhere.
        wildcards: u32,
    },
    /// Each message goes to all subscribers: the published load test as its text reads. With one
    /// subscriber, this is the fan-in.
    Fan {
        /// The connections that publish, all to one topic.
        publishers: u32,
        /// The connections that have subscribed to it.
        subscribers: u32,
    },
}

impl Shape {
    /// Returns the number of connections.
    fn connections(self) -> Result<u32, BadOptions> {
        let (sum, least) = match self {
            Shape::Pairs { connections } if connections % 2 == 1 => {
                return Err(BadOptions(format!(
                    "{connections} connections in pairs: give an even number"
                )));
            }
            Shape::Pairs { connections } => (Some(connections), connections),
            Shape::Ping { pairs, wildcards } => {
                (pairs.checked_mul(2).and_then(|ends| ends.checked_add(wildcards)), pairs)
            }
            Shape::Fan { publishers, subscribers } => {
                (publishers.checked_add(subscribers), publishers.min(subscribers))
            }
        };
        let sum = sum.ok_or_else(|| BadOptions(format!("{self:?}: give fewer connections")))?;
        if least == 0 {
            return Err(BadOptions(format!("{self:?}: give at least one of each that is counted")));
        }
        Ok(sum)
    }
}

/// The connections of a load by MQTT. Senders have the first numbers, then come those who receive
/// (of sender 0 first), and last the wildcards.
#[derive(Clone, Debug)]
pub struct Mqtt {
    options: MqttOptions,
    connections: u32,
    message: Message,
    /// What tells the load's names from those of others: 48 bits.
    tag: u64,
}

impl Mqtt {
    /// Makes a load of these options.
    ///
    /// # Errors
    /// Fails for a payload that is too short or too long, an odd number of connections in pairs, a
    /// count of 0, and more connections than can be counted.
    pub fn new(options: MqttOptions) -> Result<Mqtt, BadOptions> {
        Ok(Mqtt {
            options,
            connections: options.shape.connections()?,
            message: Message::new(Form::Bytes, options.payload_bytes)?,
            tag: Words::new(options.seed).next_u64() >> 16,
        })
    }

    /// Returns the name of a topic or filter of this load.
    fn topic(&self, name: &str) -> String {
        format!("tiebreak/{:012x}/{name}", self.tag)
    }

    /// Returns what a connection is for.
    fn role(&self, connection: u32) -> Role {
        let senders = self.senders();
        let sender = connection % senders;
        match (self.options.shape, connection / senders) {
            (Shape::Pairs { .. }, 0) => Role::publisher(self.topic(&sender.to_string())),
            (Shape::Pairs { .. }, _) => Role::subscriber(self.topic(&sender.to_string())),
            (Shape::Fan { .. }, 0) => Role::publisher(self.topic("all")),
            (Shape::Fan { .. }, _) => Role::subscriber(self.topic("all")),
            (Shape::Ping { .. }, place) => {
                let request = self.topic(&format!("{sender}/request"));
                let reply = self.topic(&format!("{sender}/reply"));
                match place {
                    0 => Role { publishes: Some(request), ..Role::subscriber(reply) },
                    1 => Role {
                        publishes: Some(reply),
                        delivery: Delivery::IsAnswered,
                        ..Role::subscriber(request)
                    },
                    _ => Role { delivery: Delivery::None, ..Role::subscriber(self.topic("0/#")) },
                }
            }
        }
    }
}

/// What a connection is for.
struct Role {
    /// The topic that it publishes to.
    publishes: Option<String>,
    /// The filter that it subscribes to: a topic, or all below one.
    subscribes: Option<String>,
    delivery: Delivery,
}

impl Role {
    fn publisher(topic: String) -> Role {
        Role { publishes: Some(topic), subscribes: None, delivery: Delivery::None }
    }

    fn subscriber(filter: String) -> Role {
        Role { publishes: None, subscribes: Some(filter), delivery: Delivery::Arrives }
    }
}

/// What a delivery means.
#[derive(Clone, Copy, Debug)]
enum Delivery {
    /// Nothing: it is load.
    None,
    /// Its message has arrived.
    Arrives,
    /// Its message is published again, as the answer.
    IsAnswered,
}

impl Scenario for Mqtt {
    type Conversation = Client;

    fn connections(&self) -> u32 {
        self.connections
    }

    fn senders(&self) -> u32 {
        match self.options.shape {
            Shape::Pairs { connections } => connections / 2,
            Shape::Ping { pairs, .. } => pairs,
            Shape::Fan { publishers, .. } => publishers,
        }
    }

    fn connection_of(&self, sender: u32) -> u32 {
        sender
    }

    fn group_of(&self, connection: u32) -> u32 {
        let senders = self.senders();
        match self.options.shape {
            Shape::Pairs { .. } => connection % senders,
            Shape::Ping { .. } if connection < 2 * senders => connection % senders,
            Shape::Ping { .. } => connection - senders,
            Shape::Fan { .. } => connection,
        }
    }

    fn arrivals_a_message(&self) -> u32 {
        match self.options.shape {
            Shape::Pairs { .. } | Shape::Ping { .. } => 1,
            Shape::Fan { subscribers, .. } => subscribers,
        }
    }

    fn is_answered(&self) -> bool {
        !matches!(self.options.shape, Shape::Fan { .. })
    }

    fn is_acknowledged(&self) -> bool {
        self.options.publish_qos != Qos::AtMostOnce
    }

    fn converse(&self, connection: u32) -> Client {
        // 22 letters and digits: 3.1.1 section 3.1.3.1 promises no server takes more than 23.
        let client_id = format!("tb{:012x}{connection:08x}", self.tag);
        Client::new(&self.options, self.message, &client_id, self.role(connection))
    }
}
