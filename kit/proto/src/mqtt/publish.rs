//! PUBLISH (5.0 and 3.1.1 section 3.3).

use super::header::FLAG_DUP;
use super::items::Place;
use super::property;
use super::reader::Reader;
use super::{Error, Kind, Packet, PacketId, Properties, Property, Qos, TopicName, Version};
use crate::writer::Writer;

const FLAG_RETAIN: u8 = 1;
const QOS_SHIFT: u8 = 1;

/// PUBLISH: a message, from a client to the server or from the server to a client.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Publish<'a> {
    /// How often the message must arrive, and what that takes.
    pub delivery: Delivery,
    /// To the server: whether it keeps the message for later subscriptions. To a client: whether it
    /// was kept.
    pub retain: bool,
    /// The topic; nothing where the property [`Property::TopicAlias`] stands for it.
    pub topic: Option<TopicName<'a>>,
    /// The properties.
    pub properties: Properties<'a>,
    /// The bytes of the message.
    pub payload: &'a [u8],
}

/// How often a message must arrive. With QoS 1 and 2 it has an identifier by which it is
/// acknowledged, and the flag DUP if it was sent before.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Delivery {
    /// QoS 0.
    AtMostOnce,
    /// QoS 1: acknowledged by a PUBACK.
    AtLeastOnce {
        /// The identifier.
        packet_id: PacketId,
        /// Whether it may have been sent before.
        dup: bool,
    },
    /// QoS 2: acknowledged by a PUBREC.
    ExactlyOnce {
        /// The identifier.
        packet_id: PacketId,
        /// Whether it may have been sent before.
        dup: bool,
    },
}

impl Delivery {
    /// Returns the QoS.
    pub fn qos(self) -> Qos {
        match self {
            Delivery::AtMostOnce => Qos::AtMostOnce,
            Delivery::AtLeastOnce { .. } => Qos::AtLeastOnce,
            Delivery::ExactlyOnce { .. } => Qos::ExactlyOnce,
        }
    }

    /// Returns the packet identifier, which QoS 0 lacks.
    pub fn packet_id(self) -> Option<PacketId> {
        match self {
            Delivery::AtMostOnce => None,
            Delivery::AtLeastOnce { packet_id, .. } | Delivery::ExactlyOnce { packet_id, .. } => {
                Some(packet_id)
            }
        }
    }

    /// Returns whether it has the flag DUP.
    pub fn dup(self) -> bool {
        match self {
            Delivery::AtMostOnce => false,
            Delivery::AtLeastOnce { dup, .. } | Delivery::ExactlyOnce { dup, .. } => dup,
        }
    }
}

/// Where the parts of an encoded PUBLISH lie in which messages of one form differ, in bytes from
/// its start.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Offsets {
    /// The two bytes of the packet identifier, the most significant one first; none with QoS 0.
    pub packet_id: Option<usize>,
    /// The payload, which reaches to the end.
    pub payload: usize,
    /// The end of the packet.
    pub end: usize,
}

impl<'a> Publish<'a> {
    /// Returns where packet identifier and payload lie in what [`Packet::encode`] writes. So a
    /// message is encoded once and sent many times, with other bytes in their place.
    ///
    /// ```
    /// use core::num::NonZeroU16;
    /// use tiebreak_proto::mqtt::{Delivery, Packet, Properties, Publish, TopicName, Version};
    ///
    /// let publish = Publish {
    ///     delivery: Delivery::AtLeastOnce { packet_id: NonZeroU16::MIN, dup: false },
    ///     retain: false,
    ///     topic: Some(TopicName::new("a/b")?),
    ///     properties: Properties::EMPTY,
    ///     payload: &[0; 8],
    /// };
    /// let mut bytes = [0; 17];
    /// Packet::from(publish).encode(Version::V311, &mut bytes)?;
    /// let offsets = publish.offsets(Version::V311);
    /// let at = offsets.packet_id.unwrap();
    /// bytes[at..at + 2].copy_from_slice(&7_u16.to_be_bytes());
    /// bytes[offsets.payload..offsets.end].copy_from_slice(&1_000_000_u64.to_be_bytes());
    /// assert_eq!(bytes, *b"\x32\x0f\0\x03a/b\0\x07\0\0\0\0\0\x0f\x42\x40");
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn offsets(&self, version: Version) -> Offsets {
        let place = Place::of(Kind::Publish, version);
        let remaining = Writer::count(|writer| self.write(place, writer));
        let end = Packet::from(*self).encoded_len(version);
        let after_topic = end - remaining + Writer::count(|writer| self.write_topic(writer));
        Offsets {
            packet_id: self.delivery.packet_id().map(|_| after_topic),
            payload: end - self.payload.len(),
            end,
        }
    }

    pub(super) fn read(
        reader: &mut Reader<'a>,
        flags: u8,
        place: Place,
    ) -> Result<Publish<'a>, Error> {
        let dup = flags & FLAG_DUP != 0;
        let qos = Qos::from_bits(flags >> QOS_SHIFT, "PUBLISH")?;
        let topic = reader.text("topic name")?;
        let topic = if topic.as_str().is_empty() {
            None
        } else {
            Some(TopicName::from_text(topic, "topic name")?)
        };
        let delivery = match qos {
            Qos::AtMostOnce if dup => return Err(Error::DupAtQos0),
            Qos::AtMostOnce => Delivery::AtMostOnce,
            Qos::AtLeastOnce => Delivery::AtLeastOnce { packet_id: reader.packet_id()?, dup },
            Qos::ExactlyOnce => Delivery::ExactlyOnce { packet_id: reader.packet_id()?, dup },
        };
        Ok(Publish {
            delivery,
            retain: flags & FLAG_RETAIN != 0,
            topic,
            properties: property::read(reader, place)?,
            payload: reader.rest(),
        })
    }

    pub(super) fn check(&self, place: Place) -> Result<(), Error> {
        self.properties.check(place)?;
        let is_alias = |property| matches!(property, Property::TopicAlias(_));
        if self.topic.is_some() || self.properties.iter().any(is_alias) {
            Ok(())
        } else {
            Err(Error::Empty { what: "topic name" })
        }
    }

    pub(super) fn flags(&self) -> u8 {
        let dup = if self.delivery.dup() { FLAG_DUP } else { 0 };
        dup | (self.delivery.qos() as u8) << QOS_SHIFT | u8::from(self.retain)
    }

    fn write_topic(&self, writer: &mut Writer<'_>) {
        match self.topic {
            Some(topic) => topic.write(writer),
            None => writer.put_u16(0),
        }
    }

    pub(super) fn write(&self, place: Place, writer: &mut Writer<'_>) {
        self.write_topic(writer);
        if let Some(packet_id) = self.delivery.packet_id() {
            writer.put_u16(packet_id.get());
        }
        property::write(&self.properties, place, writer);
        writer.put(self.payload);
    }
}
