//! A broker that is played in memory.

use super::{How, delivery};
use crate::conversation::{Heard, Scenario};
use crate::mqtt::publisher::append;
use crate::mqtt::{Client, Mqtt, MqttOptions, Qos, Version};
use crate::played::Played;
use std::collections::{HashMap, HashSet};
use tiebreak_proto::Decoded;
use tiebreak_proto::mqtt::{
    Acknowledgement, Connack, Connect, Items, Kind, Packet, PacketId, Properties, Publish, Reason,
    Suback, TopicFilter, decode,
};

/// A broker and all clients of a load.
pub(super) struct Room {
    version: Version,
    pub(super) clients: Vec<Played<Client>>,
    pub(super) subscriptions: Vec<(usize, String, Qos)>,
    pub(super) names: HashSet<String>,
    /// What is sent to each client next.
    sent: Vec<Vec<u8>>,
    /// The deliveries that each client has not acknowledged, with what must come next.
    deliveries: HashMap<(usize, PacketId), Kind>,
    packet_id: PacketId,
    /// The messages that were published.
    pub(super) published: u64,
}

impl Room {
    pub(super) fn new(options: MqttOptions) -> Room {
        let mqtt = Mqtt::new(options).unwrap();
        let clients = (0..mqtt.connections()).map(|at| Played::new(mqtt.converse(at)));
        let clients: Vec<_> = clients.collect();
        let mut room = Room {
            version: options.version,
            sent: vec![Vec::new(); clients.len()],
            clients,
            subscriptions: Vec::new(),
            names: HashSet::new(),
            deliveries: HashMap::new(),
            packet_id: PacketId::MIN,
            published: 0,
        };
        room.settle();
        for client in &mut room.clients {
            assert_eq!(std::mem::take(&mut client.heard), [Heard::Open]);
        }
        room
    }

    /// Lets everyone speak until all have said what they have to.
    pub(super) fn settle(&mut self) {
        loop {
            let mut is_silent = true;
            for at in 0..self.clients.len() {
                let said = std::mem::take(&mut self.clients[at].out);
                self.take(at, &said);
                let sent = std::mem::take(&mut self.sent[at]);
                is_silent &= said.is_empty() && sent.is_empty();
                self.clients[at].receive(&sent).unwrap();
            }
            if is_silent {
                assert!(self.deliveries.is_empty(), "{:?}", self.deliveries);
                return;
            }
        }
    }

    fn take(&mut self, at: usize, mut said: &[u8]) {
        while !said.is_empty() {
            match decode(said, self.version, 1 << 20).unwrap() {
                Decoded::Whole { value, length } => {
                    self.packet(at, &value);
                    said = &said[length..];
                }
                short => panic!("{short:?}"),
            }
        }
    }

    fn send(&mut self, at: usize, packet: &Packet<'_>) {
        append(packet, self.version, &mut self.sent[at]);
    }

    fn packet(&mut self, at: usize, packet: &Packet<'_>) {
        let properties = Properties::EMPTY;
        match packet {
            Packet::Connect(connect) => {
                let Connect { version, client_id, clean_start, .. } = *connect;
                assert_eq!((version, clean_start), (self.version, true));
                assert!(self.names.insert(client_id.as_str().to_owned()));
                assert!((1..=23).contains(&client_id.as_str().len()));
                let reason = Reason::Success;
                self.send(at, &Connack { session_present: false, reason, properties }.into());
            }
            Packet::Subscribe(subscribe) => {
                let one = subscribe.subscriptions.iter().next().unwrap();
                self.subscriptions.push((at, one.filter.as_str().to_owned(), one.qos));
                let reasons = [Reason::from_u8(one.qos as u8).unwrap()];
                let (packet_id, reasons) = (subscribe.packet_id, Items::new(&reasons));
                self.send(at, &Suback { packet_id, properties, reasons }.into());
            }
            Packet::Publish(publish) => self.publish(at, publish),
            Packet::Pubrel(ack) => {
                self.send(at, &Packet::Pubcomp(Acknowledgement::new(ack.packet_id)));
            }
            Packet::Puback(ack) | Packet::Pubrec(ack) | Packet::Pubcomp(ack) => {
                let awaited = self.deliveries.remove(&(at, ack.packet_id));
                assert_eq!(awaited, Some(packet.kind()));
                if packet.kind() == Kind::Pubrec {
                    self.deliveries.insert((at, ack.packet_id), Kind::Pubcomp);
                    self.send(at, &Packet::Pubrel(Acknowledgement::new(ack.packet_id)));
                }
            }
            other => panic!("{other:?}"),
        }
    }

    fn publish(&mut self, at: usize, publish: &Publish<'_>) {
        self.published += 1;
        match publish.delivery {
            How::AtMostOnce => {}
            How::AtLeastOnce { packet_id, .. } => {
                self.send(at, &Packet::Puback(Acknowledgement::new(packet_id)));
            }
            How::ExactlyOnce { packet_id, .. } => {
                self.send(at, &Packet::Pubrec(Acknowledgement::new(packet_id)));
            }
        }
        let topic = publish.topic.unwrap();
        for (to, filter, granted) in self.subscriptions.clone() {
            if !TopicFilter::new(&filter).unwrap().matches(topic) {
                continue;
            }
            let qos = granted.min(publish.delivery.qos());
            self.packet_id = self.packet_id.checked_add(1).unwrap_or(PacketId::MIN);
            let awaited = match qos {
                Qos::AtMostOnce => None,
                Qos::AtLeastOnce => Some(Kind::Puback),
                Qos::ExactlyOnce => Some(Kind::Pubrec),
            };
            let key = (to, self.packet_id);
            assert!(awaited.is_none_or(|kind| self.deliveries.insert(key, kind).is_none()));
            let delivery = delivery(qos, self.packet_id);
            self.send(to, &Publish { delivery, ..*publish }.into());
        }
    }
}
