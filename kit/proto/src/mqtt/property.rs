//! The properties of version 5 (section 2.2.2).

use super::header::write_variable;
use super::items::{Item, Items, Part, Place};
use super::reader::Reader;
use super::{Data, Error, Kind, Qos, REMAINING_LENGTH_MAX, Text, TopicName, Version};
use crate::writer::Writer;
use core::num::{NonZeroU16, NonZeroU32};

/// Properties of a packet or of a will. Versions before 5 have none.
pub type Properties<'a> = Items<'a, Property<'a>>;

const WILL: u16 = Part::Will.bit();
const CONNECT: u16 = Kind::Connect.bit();
const CONNACK: u16 = Kind::Connack.bit();
const PUBLISH: u16 = Kind::Publish.bit();
const SUBSCRIBE: u16 = Kind::Subscribe.bit();
const UNSUBSCRIBE: u16 = Kind::Unsubscribe.bit();
const DISCONNECT: u16 = Kind::Disconnect.bit();
const AUTH: u16 = Kind::Auth.bit();
/// What answers another packet.
const ANSWERS: u16 = Kind::Puback.bit()
    | Kind::Pubrec.bit()
    | Kind::Pubrel.bit()
    | Kind::Pubcomp.bit()
    | Kind::Suback.bit()
    | Kind::Unsuback.bit();
/// All that has properties.
const ALL: u16 =
    ANSWERS | WILL | CONNECT | CONNACK | PUBLISH | SUBSCRIBE | UNSUBSCRIBE | DISCONNECT | AUTH;

/// Makes the type from its table: identifier, name, value, text, and where it may stand.
macro_rules! properties {
    ($($id:literal $name:ident($value:ty) $text:literal [$($place:ident)+];)+) => {
        /// A property with its value. Times are in seconds.
        #[derive(Clone, Copy, Debug, PartialEq, Eq)]
        pub enum Property<'a> {
            $(#[doc = concat!("`", stringify!($id), "`: ", $text, ".")] $name($value),)+
        }

        impl<'a> Property<'a> {
            /// Returns the number that identifies it.
            pub const fn id(&self) -> u8 {
                match self {
                    $(Property::$name(_) => $id,)+
                }
            }

            /// Returns the name that the standard has for it.
            pub const fn name(&self) -> &'static str {
                match self {
                    $(Property::$name(_) => $text,)+
                }
            }

            /// Returns the set of places where it may stand.
            const fn places(&self) -> u16 {
                match self {
                    $(Property::$name(_) => 0 $(| $place)+,)+
                }
            }

            fn read_value(id: u32, reader: &mut Reader<'a>) -> Result<Self, Error> {
                match id {
                    $($id => Value::read(reader, $text).map(Property::$name),)+
                    _ => Err(Error::PropertyUnknown { id }),
                }
            }

            fn check_value(&self) -> Result<(), Error> {
                match self {
                    $(Property::$name(value) => value.check($text),)+
                }
            }

            fn write_value(&self, writer: &mut Writer<'_>) {
                match self {
                    $(Property::$name(value) => value.write(writer),)+
                }
            }
        }
    };
}

// 5.0 table 2-4.
properties! {
    0x01 PayloadFormatIndicator(bool) "Payload Format Indicator" [PUBLISH WILL];
    0x02 MessageExpiryInterval(u32) "Message Expiry Interval" [PUBLISH WILL];
    0x03 ContentType(Text<'a>) "Content Type" [PUBLISH WILL];
    0x08 ResponseTopic(TopicName<'a>) "Response Topic" [PUBLISH WILL];
    0x09 CorrelationData(Data<'a>) "Correlation Data" [PUBLISH WILL];
    0x0b SubscriptionIdentifier(SubscriptionId) "Subscription Identifier" [PUBLISH SUBSCRIBE];
    0x11 SessionExpiryInterval(u32) "Session Expiry Interval" [CONNECT CONNACK DISCONNECT];
    0x12 AssignedClientIdentifier(Text<'a>) "Assigned Client Identifier" [CONNACK];
    0x13 ServerKeepAlive(u16) "Server Keep Alive" [CONNACK];
    0x15 AuthenticationMethod(Text<'a>) "Authentication Method" [CONNECT CONNACK AUTH];
    0x16 AuthenticationData(Data<'a>) "Authentication Data" [CONNECT CONNACK AUTH];
    0x17 RequestProblemInformation(bool) "Request Problem Information" [CONNECT];
    0x18 WillDelayInterval(u32) "Will Delay Interval" [WILL];
    0x19 RequestResponseInformation(bool) "Request Response Information" [CONNECT];
    0x1a ResponseInformation(Text<'a>) "Response Information" [CONNACK];
    0x1c ServerReference(Text<'a>) "Server Reference" [CONNACK DISCONNECT];
    0x1f ReasonString(Text<'a>) "Reason String" [CONNACK ANSWERS DISCONNECT AUTH];
    0x21 ReceiveMaximum(NonZeroU16) "Receive Maximum" [CONNECT CONNACK];
    0x22 TopicAliasMaximum(u16) "Topic Alias Maximum" [CONNECT CONNACK];
    0x23 TopicAlias(NonZeroU16) "Topic Alias" [PUBLISH];
    0x24 MaximumQos(Qos) "Maximum QoS" [CONNACK];
    0x25 RetainAvailable(bool) "Retain Available" [CONNACK];
    0x26 UserProperty((Text<'a>, Text<'a>)) "User Property" [ALL];
    0x27 MaximumPacketSize(NonZeroU32) "Maximum Packet Size" [CONNECT CONNACK];
    0x28 WildcardSubscriptionAvailable(bool) "Wildcard Subscription Available" [CONNACK];
    0x29 SubscriptionIdentifierAvailable(bool) "Subscription Identifier Available" [CONNACK];
    0x2a SharedSubscriptionAvailable(bool) "Shared Subscription Available" [CONNACK];
}

/// What identifies a subscription to the client that made it: 1 to 268 435 455.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct SubscriptionId(u32);

impl SubscriptionId {
    /// Returns the identifier, if the number is one.
    pub const fn new(number: u32) -> Option<Self> {
        let is_one = number != 0 && number as usize <= REMAINING_LENGTH_MAX;
        if is_one { Some(SubscriptionId(number)) } else { None }
    }

    /// Returns the number.
    pub const fn get(self) -> u32 {
        self.0
    }
}

impl Property<'_> {
    /// Returns whether it may stand there more than once.
    fn is_repeatable(&self, part: Part) -> bool {
        match self {
            Property::UserProperty(_) => true,
            // A message can match several subscriptions; a SUBSCRIBE has one identifier.
            Property::SubscriptionIdentifier(_) => part == Part::Packet(Kind::Publish),
            _ => false,
        }
    }
}

impl<'a> Item<'a> for Property<'a> {
    fn read(reader: &mut Reader<'a>, _: Place) -> Result<Self, Error> {
        let id = reader.variable("property identifier")?;
        Property::read_value(id, reader)
    }

    fn check(self, place: Place) -> Result<(), Error> {
        if place.version != Version::V5 {
            return Err(Error::NeedsVersion5 { what: "a property" });
        }
        if self.places() & place.part.bit() == 0 {
            let (property, place) = (self.name(), place.part.name());
            return Err(Error::PropertyMisplaced { property, place });
        }
        self.check_value()
    }

    fn check_all(items: &Properties<'a>, place: Place) -> Result<(), Error> {
        let mut found = 0_u64;
        items.each(|property| {
            property.check(place)?;
            let bit = 1 << property.id();
            if found & bit != 0 && !property.is_repeatable(place.part) {
                return Err(Error::PropertyRepeated { property: property.name() });
            }
            found |= bit;
            Ok(())
        })
    }

    fn write(self, _: Place, writer: &mut Writer<'_>) {
        writer.put_u8(self.id());
        self.write_value(writer);
    }
}

/// Takes the properties of a packet or of a will with the length before them.
pub(super) fn read<'a>(reader: &mut Reader<'a>, place: Place) -> Result<Properties<'a>, Error> {
    if place.version != Version::V5 {
        return Ok(Properties::EMPTY);
    }
    let length = reader.variable("property length")?;
    Properties::from_wire(reader.take(length as usize, "properties")?, place)
}

/// Writes the properties of a packet or of a will with the length before them.
pub(super) fn write(properties: &Properties<'_>, place: Place, writer: &mut Writer<'_>) {
    if place.version == Version::V5 {
        let length = Writer::count(|counter| properties.write(place, counter));
        // A length that does not fit makes the packet too long, which is refused.
        write_variable(writer, u32::try_from(length).unwrap_or(u32::MAX));
        properties.write(place, writer);
    }
}

/// A value of a property.
trait Value<'a>: Copy {
    fn read(reader: &mut Reader<'a>, what: &'static str) -> Result<Self, Error>;

    /// Checks what the type does not rule out.
    fn check(self, _what: &'static str) -> Result<(), Error> {
        Ok(())
    }

    fn write(self, writer: &mut Writer<'_>);
}

impl<'a> Value<'a> for bool {
    fn read(reader: &mut Reader<'a>, what: &'static str) -> Result<Self, Error> {
        match reader.u8(what)? {
            0 => Ok(false),
            1 => Ok(true),
            _ => Err(Error::PropertyValue { property: what, valid: "0 or 1" }),
        }
    }

    fn write(self, writer: &mut Writer<'_>) {
        writer.put_u8(u8::from(self));
    }
}

impl<'a> Value<'a> for Qos {
    fn read(reader: &mut Reader<'a>, what: &'static str) -> Result<Self, Error> {
        bool::read(reader, what).map(|one| if one { Qos::AtLeastOnce } else { Qos::AtMostOnce })
    }

    fn check(self, what: &'static str) -> Result<(), Error> {
        // A server that has QoS 2 has all, and so no maximum.
        if self == Qos::ExactlyOnce {
            return Err(Error::PropertyValue { property: what, valid: "0 or 1" });
        }
        Ok(())
    }

    fn write(self, writer: &mut Writer<'_>) {
        writer.put_u8(self as u8);
    }
}

impl<'a> Value<'a> for u16 {
    fn read(reader: &mut Reader<'a>, what: &'static str) -> Result<Self, Error> {
        reader.u16(what)
    }

    fn write(self, writer: &mut Writer<'_>) {
        writer.put_u16(self);
    }
}

impl<'a> Value<'a> for u32 {
    fn read(reader: &mut Reader<'a>, what: &'static str) -> Result<Self, Error> {
        reader.u32(what)
    }

    fn write(self, writer: &mut Writer<'_>) {
        writer.put_u32(self);
    }
}

/// What is valid where 0 is not.
const NOT_0: &str = "at least 1";

impl<'a> Value<'a> for NonZeroU16 {
    fn read(reader: &mut Reader<'a>, what: &'static str) -> Result<Self, Error> {
        let value = NonZeroU16::new(reader.u16(what)?);
        value.ok_or(Error::PropertyValue { property: what, valid: NOT_0 })
    }

    fn write(self, writer: &mut Writer<'_>) {
        writer.put_u16(self.get());
    }
}

impl<'a> Value<'a> for NonZeroU32 {
    fn read(reader: &mut Reader<'a>, what: &'static str) -> Result<Self, Error> {
        let value = NonZeroU32::new(reader.u32(what)?);
        value.ok_or(Error::PropertyValue { property: what, valid: NOT_0 })
    }

    fn write(self, writer: &mut Writer<'_>) {
        writer.put_u32(self.get());
    }
}

impl<'a> Value<'a> for SubscriptionId {
    fn read(reader: &mut Reader<'a>, what: &'static str) -> Result<Self, Error> {
        let value = SubscriptionId::new(reader.variable(what)?);
        value.ok_or(Error::PropertyValue { property: what, valid: NOT_0 })
    }

    fn write(self, writer: &mut Writer<'_>) {
        write_variable(writer, self.0);
    }
}

impl<'a> Value<'a> for Text<'a> {
    fn read(reader: &mut Reader<'a>, what: &'static str) -> Result<Self, Error> {
        reader.text(what)
    }

    fn write(self, writer: &mut Writer<'_>) {
        self.write(writer);
    }
}

impl<'a> Value<'a> for Data<'a> {
    fn read(reader: &mut Reader<'a>, what: &'static str) -> Result<Self, Error> {
        reader.data(what)
    }

    fn write(self, writer: &mut Writer<'_>) {
        self.write(writer);
    }
}

impl<'a> Value<'a> for TopicName<'a> {
    fn read(reader: &mut Reader<'a>, what: &'static str) -> Result<Self, Error> {
        TopicName::from_text(reader.text(what)?, what)
    }

    fn write(self, writer: &mut Writer<'_>) {
        self.write(writer);
    }
}

impl<'a> Value<'a> for (Text<'a>, Text<'a>) {
    fn read(reader: &mut Reader<'a>, what: &'static str) -> Result<Self, Error> {
        Ok((reader.text(what)?, reader.text(what)?))
    }

    fn write(self, writer: &mut Writer<'_>) {
        self.0.write(writer);
        self.1.write(writer);
    }
}
