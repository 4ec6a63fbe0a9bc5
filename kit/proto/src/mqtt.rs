//! MQTT 3.1, 3.1.1 and 5.0: packets of clients and of servers, from bytes and to bytes.
//!
//! The standards are MQTT V3.1 (IBM and Eurotech 2010), MQTT Version 3.1.1 (OASIS 2014) and MQTT
//! Version 5.0 (OASIS 2019); section numbers here are those of 5.0 where nothing else is said.
//!
//! [`decode`] reads one packet and checks all that can be checked of a packet alone: lengths,
//! flags, texts, names of topics and filters, which properties and reasons may stand in it. What
//! follows from the rest of a connection is its user's: which packet may come now and from which
//! side, which topic an alias stands for, which client identifiers are accepted.
//!
//! [`Packet::encode`] writes nothing that [`decode`] refuses, so a packet that needs version 5 is
//! refused for earlier ones, and nothing is left out silently. Decoding what it wrote gives an
//! equal packet.
//!
//! A packet is a view: texts and bytes are borrowed, and lists ([`Items`]) are read as they are
//! iterated. Nothing is allocated.
//!
//! ```
//! use tiebreak_proto::Decoded;
//! use tiebreak_proto::mqtt::{Packet, Version, decode};
//!
//! // A PUBLISH with QoS 0 to a/b, and the start of something else.
//! let bytes = b"\x30\x07\0\x03a/bhi\x30";
//! match decode(bytes, Version::V311, 1 << 20)? {
//!     Decoded::Whole { value: Packet::Publish(publish), length } => {
//!         assert_eq!(publish.topic.unwrap().as_str(), "a/b");
//!         assert_eq!((publish.payload, length), (&b"hi"[..], 9));
//!     }
//!     other => panic!("{other:?}"),
//! }
//! assert_eq!(decode(&bytes[9..], Version::V311, 1 << 20)?, Decoded::Short { needs: 2 });
//! # Ok::<(), tiebreak_proto::mqtt::Error>(())
//! ```

mod connect;
mod error;
mod header;
mod items;
mod property;
mod publish;
mod reader;
mod reason;
mod response;
mod subscribe;
mod text;
mod topic;

pub use connect::{Connack, Connect, Will};
pub use error::{EncodeError, Error};
pub use header::{Header, Kind, REMAINING_LENGTH_MAX};
pub use items::{Items, ItemsIter};
pub use property::{Properties, Property, SubscriptionId};
pub use publish::{Delivery, Offsets, Publish};
pub use reason::Reason;
pub use response::{Acknowledgement, Auth, Disconnect};
pub use subscribe::{RetainHandling, Suback, Subscribe, Subscription, Unsuback, Unsubscribe};
pub use text::{Data, Text};
pub use topic::{Shared, TopicFilter, TopicName};

use crate::Decoded;
use crate::writer::Writer;
use core::num::NonZeroU16;
use items::Place;
use reader::Reader;

/// What connects a packet with its answer (section 2.2.1): never 0.
pub type PacketId = NonZeroU16;

/// A version of the standard.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Version {
    /// MQTT 3.1: protocol name `MQIsdp`, level 3.
    V31,
    /// MQTT 3.1.1: level 4.
    V311,
    /// MQTT 5.0: level 5.
    V5,
}

impl Version {
    /// Returns the version with this protocol level.
    pub const fn from_level(level: u8) -> Option<Self> {
        match level {
            3 => Some(Version::V31),
            4 => Some(Version::V311),
            5 => Some(Version::V5),
            _ => None,
        }
    }

    /// Returns the protocol level, by which a CONNECT names the version.
    pub const fn level(self) -> u8 {
        match self {
            Version::V31 => 3,
            Version::V311 => 4,
            Version::V5 => 5,
        }
    }
}

/// Quality of service: how often a message must arrive (section 4.3).
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[repr(u8)]
pub enum Qos {
    /// It may get lost.
    AtMostOnce = 0,
    /// It may arrive more than once.
    AtLeastOnce = 1,
    /// It arrives once.
    ExactlyOnce = 2,
}

impl Qos {
    /// Returns the QoS that the two lowest bits give.
    fn from_bits(bits: u8, what: &'static str) -> Result<Self, Error> {
        match bits & 0b11 {
            0 => Ok(Qos::AtMostOnce),
            1 => Ok(Qos::AtLeastOnce),
            2 => Ok(Qos::ExactlyOnce),
            _ => Err(Error::Qos { what }),
        }
    }
}

/// A packet.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Packet<'a> {
    /// A client asks to connect.
    Connect(Connect<'a>),
    /// The server answers.
    Connack(Connack<'a>),
    /// A message.
    Publish(Publish<'a>),
    /// A message with QoS 1 has arrived.
    Puback(Acknowledgement<'a>),
    /// A message with QoS 2 has arrived.
    Pubrec(Acknowledgement<'a>),
    /// It will not be sent again.
    Pubrel(Acknowledgement<'a>),
    /// Its delivery is complete.
    Pubcomp(Acknowledgement<'a>),
    /// A client subscribes.
    Subscribe(Subscribe<'a>),
    /// The server answers.
    Suback(Suback<'a>),
    /// A client ends subscriptions.
    Unsubscribe(Unsubscribe<'a>),
    /// The server answers.
    Unsuback(Unsuback<'a>),
    /// A client shows that it is there.
    Pingreq,
    /// The server answers.
    Pingresp,
    /// The connection ends.
    Disconnect(Disconnect<'a>),
    /// A step of an authentication.
    Auth(Auth<'a>),
}

/// Reads the packet that the bytes begin with. `version` is what the connection's CONNECT said; a
/// CONNECT is read by its own, so for the first packet any will do. [`Connect::decode`] reads that
/// one and nothing else.
///
/// Flags, and a length above `limit` bytes (the fixed header included), are refused as soon as the
/// fixed header is there; everything else is checked once the packet is whole. Cost: linear in the
/// packet without its payload.
///
/// # Errors
/// Fails if no packet of the version begins so. The connection is then of no more use.
pub fn decode(bytes: &[u8], version: Version, limit: usize) -> Result<Decoded<Packet<'_>>, Error> {
    let (header, header_length) = match Header::decode(bytes, version, limit)? {
        Decoded::Whole { value, length } => (value, length),
        Decoded::Short { needs } => return Ok(Decoded::Short { needs }),
    };
    let length = header.packet_length;
    let Some(body) = bytes.get(header_length..length) else {
        return Ok(Decoded::Short { needs: length });
    };
    let mut reader = Reader::new(body);
    let value = Packet::read(&mut reader, header, version)?;
    reader.end(header.kind)?;
    value.check(version)?;
    if let Packet::Connect(Connect { version: Version::V5, .. }) = value {
        header::check_shortest(body.len() as u32, header_length - 1, header::REMAINING_LENGTH)?;
    }
    Ok(Decoded::Whole { value, length })
}

impl<'a> Packet<'a> {
    /// Returns the type.
    pub fn kind(&self) -> Kind {
        match self {
            Packet::Connect(_) => Kind::Connect,
            Packet::Connack(_) => Kind::Connack,
            Packet::Publish(_) => Kind::Publish,
            Packet::Puback(_) => Kind::Puback,
            Packet::Pubrec(_) => Kind::Pubrec,
            Packet::Pubrel(_) => Kind::Pubrel,
            Packet::Pubcomp(_) => Kind::Pubcomp,
            Packet::Subscribe(_) => Kind::Subscribe,
            Packet::Suback(_) => Kind::Suback,
            Packet::Unsubscribe(_) => Kind::Unsubscribe,
            Packet::Unsuback(_) => Kind::Unsuback,
            Packet::Pingreq => Kind::Pingreq,
            Packet::Pingresp => Kind::Pingresp,
            Packet::Disconnect(_) => Kind::Disconnect,
            Packet::Auth(_) => Kind::Auth,
        }
    }

    /// Writes the packet as `version` has it, and returns how many bytes it wrote. A CONNECT is
    /// written by its own version. What a packet may leave out is left out.
    ///
    /// # Errors
    /// Fails if the slice is too small, or if the packet is none of that version.
    pub fn encode(&self, version: Version, out: &mut [u8]) -> Result<usize, EncodeError> {
        self.check(version)?;
        let remaining = Writer::count(|writer| self.write_body(version, writer));
        header::check_remaining(remaining)?;
        Ok(Writer::fill(out, |writer| {
            self.write_header(remaining, writer);
            self.write_body(version, writer);
        })?)
    }

    /// Returns how many bytes [`Packet::encode`] writes if it does not refuse the packet.
    pub fn encoded_len(&self, version: Version) -> usize {
        let remaining = Writer::count(|writer| self.write_body(version, writer));
        Writer::count(|writer| self.write_header(remaining, writer)) + remaining
    }

    fn read(reader: &mut Reader<'a>, header: Header, version: Version) -> Result<Self, Error> {
        let place = Place::of(header.kind, version);
        Ok(match header.kind {
            Kind::Connect => Packet::Connect(Connect::read(reader)?),
            Kind::Connack => Packet::Connack(Connack::read(reader, place)?),
            Kind::Publish => Packet::Publish(Publish::read(reader, header.flags, place)?),
            Kind::Puback => Packet::Puback(Acknowledgement::read(reader, place)?),
            Kind::Pubrec => Packet::Pubrec(Acknowledgement::read(reader, place)?),
            Kind::Pubrel => Packet::Pubrel(Acknowledgement::read(reader, place)?),
            Kind::Pubcomp => Packet::Pubcomp(Acknowledgement::read(reader, place)?),
            Kind::Subscribe => Packet::Subscribe(Subscribe::read(reader, place)?),
            Kind::Suback => Packet::Suback(Suback::read(reader, place)?),
            Kind::Unsubscribe => Packet::Unsubscribe(Unsubscribe::read(reader, place)?),
            Kind::Unsuback => Packet::Unsuback(Unsuback::read(reader, place)?),
            Kind::Pingreq => Packet::Pingreq,
            Kind::Pingresp => Packet::Pingresp,
            Kind::Disconnect => Packet::Disconnect(Disconnect::read(reader, place)?),
            Kind::Auth => Packet::Auth(Auth::read(reader, place)?),
        })
    }

    /// Checks what the types do not rule out: what [`decode`] and [`Packet::encode`] both refuse.
    fn check(&self, version: Version) -> Result<(), Error> {
        let place = Place::of(self.kind(), version);
        match self {
            Packet::Connect(packet) => packet.check(),
            Packet::Connack(packet) => packet.check(place),
            Packet::Publish(packet) => packet.check(place),
            Packet::Puback(packet)
            | Packet::Pubrec(packet)
            | Packet::Pubrel(packet)
            | Packet::Pubcomp(packet) => packet.check(place),
            Packet::Subscribe(packet) => packet.check(place),
            Packet::Suback(packet) => packet.check(place),
            Packet::Unsubscribe(packet) => packet.check(place),
            Packet::Unsuback(packet) => packet.check(place),
            Packet::Pingreq | Packet::Pingresp => Ok(()),
            Packet::Disconnect(packet) => packet.check(place),
            Packet::Auth(packet) => packet.check(place),
        }
    }

    fn write_header(&self, remaining: usize, writer: &mut Writer<'_>) {
        let kind = self.kind();
        let flags = match self {
            Packet::Publish(publish) => publish.flags(),
            _ => kind.flags(),
        };
        writer.put_u8((kind as u8) << 4 | flags);
        header::write_variable(writer, u32::try_from(remaining).unwrap_or(u32::MAX));
    }

    fn write_body(&self, version: Version, writer: &mut Writer<'_>) {
        let place = Place::of(self.kind(), version);
        match self {
            Packet::Connect(packet) => packet.write(writer),
            Packet::Connack(packet) => packet.write(place, writer),
            Packet::Publish(packet) => packet.write(place, writer),
            Packet::Puback(packet)
            | Packet::Pubrec(packet)
            | Packet::Pubrel(packet)
            | Packet::Pubcomp(packet) => packet.write(place, writer),
            Packet::Subscribe(packet) => packet.write(place, writer),
            Packet::Suback(packet) => packet.write(place, writer),
            Packet::Unsubscribe(packet) => packet.write(place, writer),
            Packet::Unsuback(packet) => packet.write(place, writer),
            Packet::Pingreq | Packet::Pingresp => {}
            Packet::Disconnect(packet) => packet.write(place, writer),
            Packet::Auth(packet) => packet.write(place, writer),
        }
    }
}

/// Makes a packet of what it consists of, where that is of one type only.
macro_rules! from {
    ($($name:ident)+) => {
        $(impl<'a> From<$name<'a>> for Packet<'a> {
            fn from(packet: $name<'a>) -> Packet<'a> {
                Packet::$name(packet)
            }
        })+
    };
}

from!(Connect Connack Publish Subscribe Suback Unsubscribe Unsuback Disconnect Auth);
