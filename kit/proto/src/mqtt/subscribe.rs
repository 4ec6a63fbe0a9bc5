//! SUBSCRIBE, SUBACK, UNSUBSCRIBE and UNSUBACK (5.0 and 3.1.1 sections 3.8 to 3.11).

use super::items::{Item, Items, Part, Place};
use super::property;
use super::reader::Reader;
use super::{Error, Kind, PacketId, Properties, Qos, Reason, TopicFilter, Version};
use crate::writer::Writer;

const FLAG_NO_LOCAL: u8 = 1 << 2;
const FLAG_RETAIN_AS_PUBLISHED: u8 = 1 << 3;
const RETAIN_HANDLING_SHIFT: u8 = 4;
const RESERVED: u8 = 0b1100_0000;
/// What the options of versions before 5 consist of.
const QOS_ONLY: u8 = 0b11;

/// SUBSCRIBE: a client asks for messages.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Subscribe<'a> {
    /// The identifier, which the answer repeats.
    pub packet_id: PacketId,
    /// The properties.
    pub properties: Properties<'a>,
    /// The subscriptions, at least one.
    pub subscriptions: Items<'a, Subscription<'a>>,
}

/// A filter with the options of its subscription (5.0 section 3.8.3.1).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Subscription<'a> {
    /// Which topics.
    pub filter: TopicFilter<'a>,
    /// The largest QoS of what is sent for it.
    pub qos: Qos,
    /// Whether the client's own messages are left out; since version 5.
    pub no_local: bool,
    /// Whether messages keep their flag RETAIN; since version 5.
    pub retain_as_published: bool,
    /// Which retained messages are sent at once; since version 5.
    pub retain_handling: RetainHandling,
}

/// Which retained messages a server sends for a new subscription.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[repr(u8)]
pub enum RetainHandling {
    /// All that match, as before version 5.
    #[default]
    Send = 0,
    /// All that match, if the client did not have this subscription.
    SendIfNew = 1,
    /// None.
    DoNotSend = 2,
}

impl<'a> Subscription<'a> {
    /// Makes a subscription as all versions have it.
    pub const fn new(filter: TopicFilter<'a>, qos: Qos) -> Self {
        Subscription {
            filter,
            qos,
            no_local: false,
            retain_as_published: false,
            retain_handling: RetainHandling::Send,
        }
    }

    fn options(self) -> u8 {
        let flag = |is_set: bool, flag: u8| if is_set { flag } else { 0 };
        self.qos as u8
            | flag(self.no_local, FLAG_NO_LOCAL)
            | flag(self.retain_as_published, FLAG_RETAIN_AS_PUBLISHED)
            | (self.retain_handling as u8) << RETAIN_HANDLING_SHIFT
    }
}

impl<'a> Item<'a> for Subscription<'a> {
    fn read(reader: &mut Reader<'a>, place: Place) -> Result<Self, Error> {
        let filter = TopicFilter::read(reader, place)?;
        let byte = reader.u8("subscription options")?;
        let reserved = if place.version == Version::V5 { RESERVED } else { !QOS_ONLY };
        if byte & reserved != 0 {
            return Err(Error::SubscriptionOptions { byte });
        }
        Ok(Subscription {
            filter,
            qos: Qos::from_bits(byte, "subscription")?,
            no_local: byte & FLAG_NO_LOCAL != 0,
            retain_as_published: byte & FLAG_RETAIN_AS_PUBLISHED != 0,
            retain_handling: match byte >> RETAIN_HANDLING_SHIFT {
                0 => RetainHandling::Send,
                1 => RetainHandling::SendIfNew,
                2 => RetainHandling::DoNotSend,
                _ => return Err(Error::RetainHandling),
            },
        })
    }

    fn check(self, place: Place) -> Result<(), Error> {
        if place.version == Version::V5 {
            if self.filter.shared()?.is_some() && self.no_local {
                return Err(Error::ShareNoLocal);
            }
        } else if self.options() & !QOS_ONLY != 0 {
            return Err(Error::NeedsVersion5 { what: "options of a subscription" });
        }
        Ok(())
    }

    fn write(self, _: Place, writer: &mut Writer<'_>) {
        self.filter.write(writer);
        writer.put_u8(self.options());
    }
}

impl<'a> Item<'a> for TopicFilter<'a> {
    fn read(reader: &mut Reader<'a>, _: Place) -> Result<Self, Error> {
        TopicFilter::from_text(reader.text("topic filter")?)
    }

    fn check(self, place: Place) -> Result<(), Error> {
        if place.version == Version::V5 {
            self.shared()?;
        }
        Ok(())
    }

    fn write(self, _: Place, writer: &mut Writer<'_>) {
        self.write(writer);
    }
}

impl<'a> Subscribe<'a> {
    pub(super) fn read(reader: &mut Reader<'a>, place: Place) -> Result<Self, Error> {
        let (packet_id, properties, subscriptions) = read(reader, place)?;
        Ok(Subscribe { packet_id, properties, subscriptions })
    }

    pub(super) fn check(&self, place: Place) -> Result<(), Error> {
        check(&self.properties, &self.subscriptions, "subscription", place)
    }

    pub(super) fn write(&self, place: Place, writer: &mut Writer<'_>) {
        write(self.packet_id, &self.properties, &self.subscriptions, place, writer);
    }
}

/// SUBACK: the server's answer to a SUBSCRIBE.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Suback<'a> {
    /// The identifier of the SUBSCRIBE.
    pub packet_id: PacketId,
    /// The properties.
    pub properties: Properties<'a>,
    /// What became of each subscription, in their order.
    pub reasons: Items<'a, Reason>,
}

impl<'a> Suback<'a> {
    pub(super) fn read(reader: &mut Reader<'a>, place: Place) -> Result<Self, Error> {
        let (packet_id, properties, reasons) = read(reader, place)?;
        Ok(Suback { packet_id, properties, reasons })
    }

    pub(super) fn check(&self, place: Place) -> Result<(), Error> {
        check(&self.properties, &self.reasons, "reason code", place)
    }

    pub(super) fn write(&self, place: Place, writer: &mut Writer<'_>) {
        write(self.packet_id, &self.properties, &self.reasons, place, writer);
    }
}

/// UNSUBSCRIBE: a client asks for an end of subscriptions.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Unsubscribe<'a> {
    /// The identifier, which the answer repeats.
    pub packet_id: PacketId,
    /// The properties.
    pub properties: Properties<'a>,
    /// The filters of the subscriptions, at least one.
    pub filters: Items<'a, TopicFilter<'a>>,
}

impl<'a> Unsubscribe<'a> {
    pub(super) fn read(reader: &mut Reader<'a>, place: Place) -> Result<Self, Error> {
        let (packet_id, properties, filters) = read(reader, place)?;
        Ok(Unsubscribe { packet_id, properties, filters })
    }

    pub(super) fn check(&self, place: Place) -> Result<(), Error> {
        check(&self.properties, &self.filters, "topic filter", place)
    }

    pub(super) fn write(&self, place: Place, writer: &mut Writer<'_>) {
        write(self.packet_id, &self.properties, &self.filters, place, writer);
    }
}

/// UNSUBACK: the server's answer to an UNSUBSCRIBE.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Unsuback<'a> {
    /// The identifier of the UNSUBSCRIBE.
    pub packet_id: PacketId,
    /// The properties.
    pub properties: Properties<'a>,
    /// What became of each filter, in their order; before version 5 none.
    pub reasons: Items<'a, Reason>,
}

impl<'a> Unsuback<'a> {
    pub(super) fn read(reader: &mut Reader<'a>, place: Place) -> Result<Self, Error> {
        let (packet_id, properties, reasons) = read(reader, place)?;
        Ok(Unsuback { packet_id, properties, reasons })
    }

    pub(super) fn check(&self, place: Place) -> Result<(), Error> {
        check(&self.properties, &self.reasons, "reason code", place)
    }

    pub(super) fn write(&self, place: Place, writer: &mut Writer<'_>) {
        write(self.packet_id, &self.properties, &self.reasons, place, writer);
    }
}

/// Takes the packet identifier, the properties and the list.
fn read<'a, T: Item<'a>>(
    reader: &mut Reader<'a>,
    place: Place,
) -> Result<(PacketId, Properties<'a>, Items<'a, T>), Error> {
    let packet_id = reader.packet_id()?;
    let properties = property::read(reader, place)?;
    let items =
        if has_list(place) { Items::from_wire(reader.rest(), place)? } else { Items::EMPTY };
    Ok((packet_id, properties, items))
}

/// Checks the properties and the list, which must not be empty if there is one.
fn check<'a, T: Item<'a>>(
    properties: &Properties<'a>,
    items: &Items<'a, T>,
    what: &'static str,
    place: Place,
) -> Result<(), Error> {
    properties.check(place)?;
    match (has_list(place), items.is_empty()) {
        (true, true) => Err(Error::Empty { what }),
        (true, false) => items.check(place),
        (false, true) => Ok(()),
        (false, false) => Err(Error::NeedsVersion5 { what: "a reason" }),
    }
}

fn write<'a, T: Item<'a>>(
    packet_id: PacketId,
    properties: &Properties<'a>,
    items: &Items<'a, T>,
    place: Place,
    writer: &mut Writer<'_>,
) {
    writer.put_u16(packet_id.get());
    property::write(properties, place, writer);
    if has_list(place) {
        items.write(place, writer);
    }
}

/// Returns whether there is a list. Before version 5, UNSUBACK has none.
fn has_list(place: Place) -> bool {
    place.version == Version::V5 || place.part != Part::Packet(Kind::Unsuback)
}
