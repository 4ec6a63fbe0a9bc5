//! A client of MQTT: what it says, and what it understands.

use super::publisher::{Publisher, append};
use super::{Delivery, MqttOptions, Role};
use crate::conversation::{Broken, Conversation, Heard};
use crate::message::Message;
use crate::stamp::Stamp;
use std::collections::VecDeque;
use tiebreak_proto::Decoded;
use tiebreak_proto::mqtt::{
    Acknowledgement, Connack, Connect, Delivery as How, Error, Items, Kind, Packet, PacketId,
    Properties, Property, Publish, Qos, Reason, Suback, Subscribe, Subscription, Text, TopicFilter,
    Version, decode,
};

/// The most bytes of a packet besides the payload of a message: topics and texts of the standard
/// have at most 64 KiB. Longer ones are refused before their bytes have come.
const OVERHEAD_BYTES_MAX: usize = 1 << 16;
/// The packet identifier of the SUBSCRIBE: the last that messages come to.
const SUBSCRIBE_ID: PacketId = PacketId::MAX;

/// A connection of [`Mqtt`](super::Mqtt).
#[derive(Debug)]
pub struct Client {
    version: Version,
    /// The CONNECT.
    connect: Vec<u8>,
    message: Message,
    phase: Phase,
    publisher: Option<Publisher>,
    subscriber: Option<Subscriber>,
    delivery: Delivery,
    /// The requests that wait until their answer can be published.
    unanswered: VecDeque<Stamp>,
}

/// How far a conversation has come.
#[derive(Clone, Copy, Debug)]
enum Phase {
    /// It waits for the CONNACK.
    Connecting,
    /// It waits for the SUBACK.
    Subscribing,
    /// Messages may be sent.
    Open,
}

/// A subscription.
#[derive(Debug)]
struct Subscriber {
    filter: String,
    /// The QoS that is asked for.
    asked: Qos,
    /// The least that is of use: no delivery needs more than its message was published with.
    needed: Qos,
}

impl Subscriber {
    /// Returns whether messages of a topic are asked for.
    fn matches(&self, topic: &str) -> bool {
        match self.filter.strip_suffix('#') {
            Some(above) => topic.starts_with(above),
            None => topic == self.filter,
        }
    }

    /// Takes the answer to the SUBSCRIBE.
    fn granted(&self, suback: &Suback<'_>) -> Result<(), Broken> {
        let filter = &self.filter;
        let mut reasons = suback.reasons.iter();
        let (Some(reason), None, SUBSCRIBE_ID) = (reasons.next(), reasons.next(), suback.packet_id)
        else {
            return Err(Broken("sent a SUBACK that is not of our SUBSCRIBE".into()));
        };
        if reason.is_error() {
            let why = why(reason, reason as u8, &suback.properties);
            return Err(Broken(format!("refused the subscription to '{filter}': {why}")));
        }
        if (reason as u8) < self.needed as u8 {
            let (granted, needed) = (reason as u8, self.needed as u8);
            return Err(Broken(format!(
                "grants QoS {granted} for '{filter}', and QoS {needed} is asked for: ask for less"
            )));
        }
        Ok(())
    }
}

impl Client {
    pub(super) fn new(
        options: &MqttOptions,
        message: Message,
        client_id: &str,
        role: Role,
    ) -> Client {
        let MqttOptions { version, publish_qos, subscribe_qos, keep_alive_s, .. } = *options;
        let mut connect = Vec::new();
        let packet = Connect {
            version,
            clean_start: true,
            keep_alive_seconds: keep_alive_s,
            properties: Properties::EMPTY,
            client_id: Text::new(client_id).expect("the name is made here, and is right"),
            will: None,
            user_name: None,
            password: None,
        };
        append(&Packet::from(packet), version, &mut connect);
        Client {
            version,
            connect,
            message,
            phase: Phase::Connecting,
            publisher: role
                .publishes
                .map(|topic| Publisher::new(version, &topic, publish_qos, message)),
            subscriber: role.subscribes.map(|filter| Subscriber {
                filter,
                asked: subscribe_qos,
                needed: subscribe_qos.min(publish_qos),
            }),
            delivery: role.delivery,
            unanswered: VecDeque::new(),
        }
    }

    /// Takes a packet, whose last byte is needed where the standard has two numbers for a reason.
    fn packet(
        &mut self,
        packet: &Packet<'_>,
        last_byte: u8,
        out: &mut Vec<u8>,
        heard: &mut Vec<Heard>,
    ) -> Result<(), Broken> {
        let kind = packet.kind();
        match (self.phase, packet) {
            (Phase::Connecting, Packet::Connack(connack)) => {
                self.connected(connack, last_byte, out, heard)
            }
            (Phase::Connecting, _) => Err(Broken(format!("sent a {kind} before its CONNACK"))),
            (Phase::Subscribing, Packet::Suback(suback)) => {
                self.subscriber.as_ref().map_or(Ok(()), |subscriber| subscriber.granted(suback))?;
                self.open_now(heard);
                Ok(())
            }
            // It may come before the SUBACK (3.1.1 section 3.8.4).
            (_, Packet::Publish(publish)) => self.delivered(publish, out, heard),
            (_, Packet::Puback(answer) | Packet::Pubrec(answer) | Packet::Pubcomp(answer)) => {
                let refused = match &mut self.publisher {
                    Some(publisher) => publisher.acknowledged(kind, answer, out)?,
                    None => return Err(unasked(kind)),
                };
                let code = u16::from(answer.reason as u8);
                heard.extend(refused.map(|stamp| Heard::Refused(stamp, code)));
                self.answer(out);
                Ok(())
            }
            (_, Packet::Pubrel(release)) => {
                let complete = Acknowledgement::new(release.packet_id);
                append(&Packet::Pubcomp(complete), self.version, out);
                Ok(())
            }
            (_, Packet::Disconnect(disconnect)) if self.version == Version::V5 => {
                let reason = disconnect.reason;
                let why = why(reason, reason as u8, &disconnect.properties);
                Err(Broken(format!("ended the connection: {why}")))
            }
            _ => Err(unasked(kind)),
        }
    }

    fn connected(
        &mut self,
        connack: &Connack<'_>,
        last_byte: u8,
        out: &mut Vec<u8>,
        heard: &mut Vec<Heard>,
    ) -> Result<(), Broken> {
        if connack.reason != Reason::Success {
            let is_code = self.version == Version::V5;
            let code = if is_code { connack.reason as u8 } else { last_byte };
            return Err(refusal(connack, code));
        }
        for property in &connack.properties {
            self.permitted(&property)?;
        }
        let Some(subscriber) = &self.subscriber else {
            self.open_now(heard);
            return Ok(());
        };
        let filter = TopicFilter::new(&subscriber.filter);
        let filter = filter.expect("the filter is made here, and is right");
        let subscriptions = [Subscription::new(filter, subscriber.asked)];
        let subscribe = Subscribe {
            packet_id: SUBSCRIBE_ID,
            properties: Properties::EMPTY,
            subscriptions: Items::new(&subscriptions),
        };
        append(&Packet::from(subscribe), self.version, out);
        self.phase = Phase::Subscribing;
        Ok(())
    }

    /// Takes what the server says of itself in its CONNACK.
    fn permitted(&mut self, property: &Property<'_>) -> Result<(), Broken> {
        match (property, &mut self.publisher, &self.subscriber) {
            (Property::ReceiveMaximum(most), Some(publisher), _) => publisher.limit(most.get()),
            (Property::MaximumQos(most), Some(publisher), _) if *most < publisher.qos() => {
                let (most, qos) = (*most as u8, publisher.qos() as u8);
                return Err(Broken(format!(
                    "has QoS {most} at most, and QoS {qos} is asked for: ask for less"
                )));
            }
            (Property::MaximumPacketSize(most), Some(publisher), _)
                if (most.get() as usize) < publisher.packet_bytes() =>
            {
                let bytes = publisher.packet_bytes();
                return Err(Broken(format!(
                    "takes packets of at most {most} bytes, and a message has {bytes}"
                )));
            }
            (Property::WildcardSubscriptionAvailable(false), _, Some(subscriber))
                if subscriber.filter.ends_with('#') =>
            {
                return Err(Broken("has no wildcards in subscriptions".into()));
            }
            _ => {}
        }
        Ok(())
    }

    fn open_now(&mut self, heard: &mut Vec<Heard>) {
        self.phase = Phase::Open;
        heard.push(Heard::Open);
    }

    fn delivered(
        &mut self,
        publish: &Publish<'_>,
        out: &mut Vec<u8>,
        heard: &mut Vec<Heard>,
    ) -> Result<(), Broken> {
        let topic = publish.topic.map_or("", |topic| topic.as_str());
        if !self.subscriber.as_ref().is_some_and(|subscriber| subscriber.matches(topic)) {
            return Err(Broken(format!(
                "delivered a message of the topic {topic:?} to a client that has not subscribed \
                 to it"
            )));
        }
        let Some(stamp) = self.message.read(publish.payload) else {
            return Err(Broken(format!(
                "delivered a message with a payload of {} bytes that is none of those that were \
                 sent, of {}",
                publish.payload.len(),
                self.message.length()
            )));
        };
        match publish.delivery {
            How::AtMostOnce => {}
            How::AtLeastOnce { packet_id, .. } => {
                append(&Packet::Puback(Acknowledgement::new(packet_id)), self.version, out);
            }
            How::ExactlyOnce { packet_id, .. } => {
                append(&Packet::Pubrec(Acknowledgement::new(packet_id)), self.version, out);
            }
        }
        match self.delivery {
            Delivery::None => {}
            Delivery::Arrives => heard.push(Heard::Arrived(stamp)),
            Delivery::IsAnswered => {
                self.unanswered.push_back(stamp);
                self.answer(out);
            }
        }
        Ok(())
    }

    /// Publishes as many of the answers as can be.
    fn answer(&mut self, out: &mut Vec<u8>) {
        let Some(publisher) = &mut self.publisher else { return };
        while publisher.is_free()
            && let Some(stamp) = self.unanswered.pop_front()
        {
            publisher.publish(stamp, out);
        }
    }

    /// Returns what is wrong with bytes that are not of this version. A server that lacks version 5
    /// says so in a CONNACK of the version that it has, where it has another number.
    fn wrong(&self, bytes: &[u8], error: &Error) -> Broken {
        if let (Phase::Connecting, Error::Reason { code, .. }) = (self.phase, error)
            && let Ok(Decoded::Whole { value: Packet::Connack(connack), .. }) =
                decode(bytes, Version::V311, bytes.len())
        {
            return refusal(&connack, *code);
        }
        Broken(format!("sent bytes that are not MQTT: {error}"))
    }
}

impl Conversation for Client {
    fn open(&mut self, out: &mut Vec<u8>, _: &mut Vec<Heard>) {
        out.extend_from_slice(&self.connect);
    }

    fn is_free(&self) -> bool {
        self.publisher.as_ref().is_some_and(Publisher::is_free)
    }

    fn send(&mut self, stamp: Stamp, out: &mut Vec<u8>) {
        if let Some(publisher) = &mut self.publisher {
            publisher.publish(stamp, out);
        }
    }

    fn receive(
        &mut self,
        bytes: &mut [u8],
        out: &mut Vec<u8>,
        heard: &mut Vec<Heard>,
    ) -> Result<usize, Broken> {
        let limit = self.message.length() + OVERHEAD_BYTES_MAX;
        let mut done = 0;
        loop {
            let rest = &bytes[done..];
            match decode(rest, self.version, limit) {
                Ok(Decoded::Whole { value, length }) => {
                    self.packet(&value, rest[length - 1], out, heard)?;
                    done += length;
                }
                Ok(Decoded::Short { .. }) => return Ok(done),
                Err(error) => return Err(self.wrong(rest, &error)),
            }
        }
    }

    fn unacknowledged(&self) -> u64 {
        self.publisher.as_ref().map_or(0, Publisher::unacknowledged)
    }

    fn end(&mut self, _: bool, _: &mut Vec<Heard>) -> Result<(), Broken> {
        Err(Broken(match self.phase {
            Phase::Connecting => "closed the connection in place of a CONNACK".into(),
            Phase::Subscribing => "closed the connection in place of a SUBACK".into(),
            Phase::Open => "closed the connection".into(),
        }))
    }
}

fn unasked(kind: Kind) -> Broken {
    Broken(format!("sent a {kind} that nothing asked for"))
}

fn refusal(connack: &Connack<'_>, code: u8) -> Broken {
    Broken(format!("refused the connection: {}", why(connack.reason, code, &connack.properties)))
}

/// Returns a reason with its number, and what the server says to it.
fn why(reason: Reason, code: u8, properties: &Properties<'_>) -> String {
    let said = properties.iter().find_map(|property| match property {
        Property::ReasonString(text) => Some(format!(", {:?}", text.as_str())),
        _ => None,
    });
    format!("{reason} ({code:#04x}){}", said.unwrap_or_default())
}
