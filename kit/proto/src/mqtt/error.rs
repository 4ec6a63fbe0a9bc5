//! What can be wrong with a packet.

use super::{Kind, Reason};
use crate::TooSmall;
use core::fmt;

/// A packet that the standard forbids, or that is longer than was asked for. A connection on which
/// it came must be closed (5.0 section 4.13, 3.1.1 section 4.8). Fields and properties have the
/// names that the standard gives them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Error {
    /// The packet type is 0.
    PacketType,
    /// The flags in the first byte are not those of the type.
    Flags {
        /// The type.
        kind: Kind,
        /// The flags.
        flags: u8,
    },
    /// A Variable Byte Integer goes on after its fourth byte.
    IntegerTooLong {
        /// The field.
        what: &'static str,
    },
    /// A Variable Byte Integer has more bytes than its value needs.
    IntegerNotShortest {
        /// The field.
        what: &'static str,
    },
    /// The packet is longer than is accepted, or than a packet can be.
    TooLong {
        /// Its length in bytes, with the fixed header.
        length: usize,
        /// The largest.
        limit: usize,
    },
    /// A field reaches over the end of the packet or of the properties.
    Truncated {
        /// The field.
        what: &'static str,
    },
    /// There are bytes after the last field.
    Trailing {
        /// The type of the packet.
        kind: Kind,
        /// How many bytes there are.
        bytes: usize,
    },
    /// The first packet of a client is no CONNECT.
    NotConnect {
        /// What it is.
        kind: Kind,
    },
    /// A CONNECT is of another protocol.
    ProtocolName,
    /// A CONNECT is of a version that is not known, or not of this name.
    ProtocolLevel {
        /// The number of the version.
        level: u8,
    },
    /// The reserved flag of a CONNECT is set.
    ConnectFlags,
    /// A CONNECT without a will has a QoS for it, or retains it.
    WillFlags,
    /// A CONNECT before version 5 has a password and no user name.
    PasswordAlone,
    /// A QoS is 3.
    Qos {
        /// What has it.
        what: &'static str,
    },
    /// A PUBLISH with QoS 0 has the flag DUP.
    DupAtQos0,
    /// A packet identifier is 0.
    PacketIdZero,
    /// A text is no UTF-8.
    Utf8 {
        /// The field.
        what: &'static str,
        /// How many bytes before the fault are UTF-8.
        at: usize,
    },
    /// A text has the character U+0000.
    Nul {
        /// The field.
        what: &'static str,
    },
    /// A text or binary data has more than 65 535 bytes.
    FieldTooLong {
        /// The field.
        what: &'static str,
        /// How many bytes it has.
        bytes: usize,
    },
    /// A text or a list is empty and must not be.
    Empty {
        /// The field.
        what: &'static str,
    },
    /// The name of a topic has a wildcard.
    TopicWildcard {
        /// The field.
        what: &'static str,
    },
    /// A topic filter has a wildcard where none can be.
    FilterWildcard,
    /// A shared subscription lacks the name of its group or its filter.
    Share,
    /// A shared subscription has the option No Local.
    ShareNoLocal,
    /// The options of a subscription have a reserved bit.
    SubscriptionOptions {
        /// The options.
        byte: u8,
    },
    /// The Retain Handling of a subscription is 3.
    RetainHandling,
    /// The flags of a CONNACK have a reserved bit.
    ConnackFlags {
        /// The flags.
        byte: u8,
    },
    /// A CONNACK refuses and says that there is a session.
    SessionOfRefused,
    /// A reason or return code is not one of this packet.
    Reason {
        /// The code.
        code: u8,
        /// The packet.
        place: &'static str,
    },
    /// A property is not known.
    PropertyUnknown {
        /// Its identifier.
        id: u32,
    },
    /// A property may not stand there.
    PropertyMisplaced {
        /// The property.
        property: &'static str,
        /// The packet, or the will.
        place: &'static str,
    },
    /// A property stands twice where one may.
    PropertyRepeated {
        /// The property.
        property: &'static str,
    },
    /// A property has a value that means nothing.
    PropertyValue {
        /// The property.
        property: &'static str,
        /// What means something.
        valid: &'static str,
    },
    /// A property is missing without which the packet means nothing.
    PropertyMissing {
        /// The property.
        property: &'static str,
        /// What needs it.
        place: &'static str,
    },
    /// The packet has something that the version lacks.
    NeedsVersion5 {
        /// What it has.
        what: &'static str,
    },
    /// The packet has something that version 3.1 lacks.
    NeedsVersion311 {
        /// What it has.
        what: &'static str,
    },
}

impl Error {
    /// Returns the reason that a version 5 DISCONNECT or CONNACK gives for it. Not every reason may
    /// stand in both: [`Reason::UnsupportedProtocolVersion`] is of a CONNACK only.
    pub fn reason(&self) -> Reason {
        match self {
            Error::TooLong { .. } => Reason::PacketTooLarge,
            Error::ProtocolLevel { .. } => Reason::UnsupportedProtocolVersion,
            Error::NotConnect { .. }
            | Error::PacketIdZero
            | Error::Empty { .. }
            | Error::RetainHandling
            | Error::ShareNoLocal
            | Error::SessionOfRefused
            | Error::PropertyRepeated { .. }
            | Error::PropertyValue { .. }
            | Error::PropertyMissing { .. } => Reason::ProtocolError,
            _ => Reason::MalformedPacket,
        }
    }
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match *self {
            Error::PacketType => f.write_str("packet type 0 is reserved: there are types 1 to 15"),
            Error::Flags { kind, flags } => {
                let right = kind.flags();
                write!(f, "the flags of a {kind} are {flags:#06b}: they must be {right:#06b}")
            }
            Error::IntegerTooLong { what } => {
                write!(f, "the {what} has more than 4 bytes: its fourth must be below 128")
            }
            Error::IntegerNotShortest { what } => {
                write!(f, "the {what} has more bytes than it needs: version 5 wants the fewest")
            }
            Error::TooLong { length, limit } => {
                write!(f, "the packet has {length} bytes: at most {limit} are accepted")
            }
            Error::Truncated { what } => {
                write!(f, "the {what} ends after its packet or properties: a length is wrong")
            }
            Error::Trailing { kind, bytes } => {
                write!(f, "{bytes} bytes follow the last field of a {kind}: none may")
            }
            Error::NotConnect { kind } => {
                write!(f, "a client's first packet is a {kind}: it must be a CONNECT")
            }
            Error::ProtocolName => {
                f.write_str("the protocol name is neither 'MQTT' nor 'MQIsdp': no MQTT is spoken")
            }
            Error::ProtocolLevel { level } => write!(
                f,
                "protocol level {level} is unknown: 'MQIsdp' has level 3, 'MQTT' levels 4 and 5"
            ),
            Error::ConnectFlags => f.write_str("bit 0 of the flags of a CONNECT is set: it is 0"),
            Error::WillFlags => {
                f.write_str("a CONNECT without a will has a will QoS or Will Retain: both are 0")
            }
            Error::PasswordAlone => {
                f.write_str("a password has no user name: only version 5 permits that")
            }
            Error::Qos { what } => write!(f, "the QoS of the {what} is 3: it is 0, 1 or 2"),
            Error::DupAtQos0 => {
                f.write_str("a PUBLISH with QoS 0 is marked as repeated: only QoS 1 and 2 repeat")
            }
            Error::PacketIdZero => f.write_str("the packet identifier is 0: it is 1 to 65535"),
            Error::Utf8 { what, at } => {
                write!(f, "the {what} is no UTF-8 from byte {at} on: it must be")
            }
            Error::Nul { what } => {
                write!(f, "the {what} has the character U+0000: any other is permitted")
            }
            Error::FieldTooLong { what, bytes } => {
                write!(f, "the {what} has {bytes} bytes: at most 65535 are possible")
            }
            Error::Empty { what } => write!(f, "there is no {what}: at least one must be given"),
            Error::TopicWildcard { what } => {
                write!(f, "the {what} has '+' or '#': only filters of subscriptions have")
            }
            Error::FilterWildcard => f.write_str(
                "a topic filter has '+' or '#' within a level: '+' is a whole level and '#' the \
                 last one",
            ),
            Error::Share => f.write_str(
                "a shared subscription is incomplete: it is $share/NAME/FILTER, without wildcards \
                 in NAME",
            ),
            Error::ShareNoLocal => {
                f.write_str("a shared subscription has No Local: it must be 0 there")
            }
            Error::SubscriptionOptions { byte } => {
                write!(f, "the subscription options are {byte:#010b}: the reserved bits are 0")
            }
            Error::RetainHandling => f.write_str("the Retain Handling is 3: it is 0, 1 or 2"),
            Error::ConnackFlags { byte } => {
                write!(f, "the flags of a CONNACK are {byte:#010b}: the reserved bits are 0")
            }
            Error::SessionOfRefused => {
                f.write_str("a CONNACK that refuses has Session Present: it must be 0 there")
            }
            Error::Reason { code, place } => {
                write!(
                    f,
                    "a {place} has the code {code:#04x}: this version has no such reason for it"
                )
            }
            Error::PropertyUnknown { id } => {
                write!(f, "property {id:#04x} is unknown: version 5 has 27, 0x01 to 0x2a")
            }
            Error::PropertyMisplaced { property, place } => {
                write!(f, "a {place} has the property {property}: it may not stand there")
            }
            Error::PropertyRepeated { property } => {
                write!(f, "the property {property} is there twice: once is permitted")
            }
            Error::PropertyValue { property, valid } => {
                write!(f, "the property {property} has another value: it must be {valid}")
            }
            Error::PropertyMissing { property, place } => {
                write!(f, "the property {property} is missing: {place} needs it")
            }
            Error::NeedsVersion5 { what } => {
                write!(f, "the packet has {what}: that needs version 5")
            }
            Error::NeedsVersion311 { what } => {
                write!(f, "the packet has {what}: that needs version 3.1.1 or 5")
            }
        }
    }
}

impl core::error::Error for Error {}

/// Why a packet was not encoded.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum EncodeError {
    /// The slice is too small.
    TooSmall(TooSmall),
    /// What would be written is not a packet of this version: [`decode`](super::decode) would
    /// refuse it so. No slice helps.
    Refused(Error),
}

impl From<TooSmall> for EncodeError {
    fn from(error: TooSmall) -> Self {
        EncodeError::TooSmall(error)
    }
}

impl From<Error> for EncodeError {
    fn from(error: Error) -> Self {
        EncodeError::Refused(error)
    }
}

impl fmt::Display for EncodeError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            EncodeError::TooSmall(error) => error.fmt(f),
            EncodeError::Refused(error) => error.fmt(f),
        }
    }
}

impl core::error::Error for EncodeError {}
