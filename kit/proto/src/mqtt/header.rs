//! The fixed header of a packet, and the Variable Byte Integer.

use super::{Error, Version};
use crate::Decoded;
use crate::writer::Writer;
use core::fmt;

/// The largest value of a Variable Byte Integer, and so the most bytes that may follow a fixed
/// header (3.1.1 section 2.2.3, 5.0 section 1.5.5).
pub const REMAINING_LENGTH_MAX: usize = 268_435_455;

/// The flags that PUBREL, SUBSCRIBE and UNSUBSCRIBE must have (5.0 section 2.1.3).
const FLAGS_OF_REQUESTS: u8 = 0b0010;
/// The flag of a repeated packet.
pub(super) const FLAG_DUP: u8 = 0b1000;

/// The type of a packet, as its first four bits give it (5.0 section 2.1.2).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[repr(u8)]
pub enum Kind {
    /// A client asks to connect.
    Connect = 1,
    /// The server answers.
    Connack = 2,
    /// A message, in either direction.
    Publish = 3,
    /// A message with QoS 1 has arrived.
    Puback = 4,
    /// A message with QoS 2 has arrived: step 1 of 3.
    Pubrec = 5,
    /// Its sender will not send it again: step 2 of 3.
    Pubrel = 6,
    /// Its delivery is complete: step 3 of 3.
    Pubcomp = 7,
    /// A client subscribes.
    Subscribe = 8,
    /// The server answers.
    Suback = 9,
    /// A client ends subscriptions.
    Unsubscribe = 10,
    /// The server answers.
    Unsuback = 11,
    /// A client shows that it is there.
    Pingreq = 12,
    /// The server answers.
    Pingresp = 13,
    /// The connection ends. Before version 5 only a client says so.
    Disconnect = 14,
    /// A step of an authentication, since version 5.
    Auth = 15,
}

impl Kind {
    /// Returns the type with this number: 1 to 15.
    pub const fn from_u8(number: u8) -> Option<Self> {
        Some(match number {
            1 => Kind::Connect,
            2 => Kind::Connack,
            3 => Kind::Publish,
            4 => Kind::Puback,
            5 => Kind::Pubrec,
            6 => Kind::Pubrel,
            7 => Kind::Pubcomp,
            8 => Kind::Subscribe,
            9 => Kind::Suback,
            10 => Kind::Unsubscribe,
            11 => Kind::Unsuback,
            12 => Kind::Pingreq,
            13 => Kind::Pingresp,
            14 => Kind::Disconnect,
            15 => Kind::Auth,
            _ => return None,
        })
    }

    /// Returns the name that the standard has for it.
    pub const fn name(self) -> &'static str {
        match self {
            Kind::Connect => "CONNECT",
            Kind::Connack => "CONNACK",
            Kind::Publish => "PUBLISH",
            Kind::Puback => "PUBACK",
            Kind::Pubrec => "PUBREC",
            Kind::Pubrel => "PUBREL",
            Kind::Pubcomp => "PUBCOMP",
            Kind::Subscribe => "SUBSCRIBE",
            Kind::Suback => "SUBACK",
            Kind::Unsubscribe => "UNSUBSCRIBE",
            Kind::Unsuback => "UNSUBACK",
            Kind::Pingreq => "PINGREQ",
            Kind::Pingresp => "PINGRESP",
            Kind::Disconnect => "DISCONNECT",
            Kind::Auth => "AUTH",
        }
    }

    /// Returns the flags of every packet of this type; those of PUBLISH vary.
    pub(super) const fn flags(self) -> u8 {
        match self {
            Kind::Pubrel | Kind::Subscribe | Kind::Unsubscribe => FLAGS_OF_REQUESTS,
            _ => 0,
        }
    }

    /// Returns this type's bit in a set of types.
    pub(super) const fn bit(self) -> u16 {
        1 << self as u8
    }

    /// Checks the flags of a packet of this type. In version 3.1 the requests with flags may be
    /// repeated, and then have the flag DUP (3.1 section 2.1).
    fn check_flags(self, flags: u8, version: Version) -> Result<(), Error> {
        let repeated = version == Version::V31 && self.flags() == FLAGS_OF_REQUESTS;
        let compared = if repeated { flags & !FLAG_DUP } else { flags };
        if self == Kind::Publish || compared == self.flags() {
            Ok(())
        } else {
            Err(Error::Flags { kind: self, flags })
        }
    }
}

impl fmt::Display for Kind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

/// The fixed header of a packet: enough to count packets or to pass over them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Header {
    /// The type of the packet.
    pub kind: Kind,
    /// The four flags. Only those of PUBLISH vary.
    pub flags: u8,
    /// How many bytes the whole packet has, this header included.
    pub packet_length: usize,
}

impl Header {
    /// Reads a fixed header of 2 to 5 bytes. The flags are those of the type, except that flags of
    /// PUBLISH which cannot stand together are left to [`decode`](super::decode).
    ///
    /// Version 5 requires the shortest form of the length (section 1.5.5), earlier versions do not.
    /// A CONNECT says its version later, so its length may have any form here.
    ///
    /// # Errors
    /// Fails if no packet of the version begins so, or if the packet will be longer than `limit`
    /// bytes.
    #[inline]
    pub fn decode(bytes: &[u8], version: Version, limit: usize) -> Result<Decoded<Self>, Error> {
        let Some((&first, rest)) = bytes.split_first() else {
            return Ok(Decoded::Short { needs: 2 });
        };
        let kind = Kind::from_u8(first >> 4).ok_or(Error::PacketType)?;
        if kind == Kind::Auth && version != Version::V5 {
            return Err(Error::NeedsVersion5 { what: "the type AUTH" });
        }
        let flags = first & 0b1111;
        kind.check_flags(flags, version)?;
        let Some((remaining, taken)) = read_variable(rest, REMAINING_LENGTH)? else {
            return Ok(Decoded::Short { needs: bytes.len() + 1 });
        };
        if version == Version::V5 && kind != Kind::Connect {
            check_shortest(remaining, taken, REMAINING_LENGTH)?;
        }
        let length = 1 + taken;
        let packet_length = length + remaining as usize;
        if packet_length > limit {
            return Err(Error::TooLong { length: packet_length, limit });
        }
        Ok(Decoded::Whole { value: Header { kind, flags, packet_length }, length })
    }
}

/// What errors call the length in a fixed header.
pub(super) const REMAINING_LENGTH: &str = "remaining length";

/// Reads a Variable Byte Integer (5.0 section 1.5.5) and returns it with its number of bytes, or
/// nothing if the bytes end within it.
///
/// # Errors
/// Fails if a fourth byte says that there is a fifth.
#[inline]
pub(super) fn read_variable(
    bytes: &[u8],
    what: &'static str,
) -> Result<Option<(u32, usize)>, Error> {
    let mut value = 0;
    for (index, byte) in bytes.iter().take(4).enumerate() {
        value |= u32::from(byte & 0x7f) << (7 * index);
        if byte & 0x80 == 0 {
            return Ok(Some((value, index + 1)));
        }
    }
    if bytes.len() < 4 { Ok(None) } else { Err(Error::IntegerTooLong { what }) }
}

/// Checks that a Variable Byte Integer has no more bytes than it needs.
pub(super) fn check_shortest(value: u32, taken: usize, what: &'static str) -> Result<(), Error> {
    let needed = Writer::count(|writer| write_variable(writer, value));
    if taken == needed { Ok(()) } else { Err(Error::IntegerNotShortest { what }) }
}

/// Writes a Variable Byte Integer of at most [`REMAINING_LENGTH_MAX`] in its shortest form.
pub(super) fn write_variable(writer: &mut Writer<'_>, mut value: u32) {
    while value >= 0x80 {
        writer.put_u8(value as u8 | 0x80);
        value >>= 7;
    }
    writer.put_u8(value as u8);
}

/// Checks that no more bytes follow a fixed header than its length can say.
pub(super) fn check_remaining(remaining: usize) -> Result<(), Error> {
    // The longest fixed header has 5 bytes.
    let (length, limit) = (remaining.saturating_add(5), REMAINING_LENGTH_MAX + 5);
    if length <= limit { Ok(()) } else { Err(Error::TooLong { length, limit }) }
}
