//! Packets that end with a reason and properties, which are left out where they say nothing: the
//! acknowledgements of PUBLISH, DISCONNECT and AUTH. Before version 5 they have neither.

use super::items::{Item, Place};
use super::property;
use super::reader::Reader;
use super::{Error, PacketId, Properties, Property, Reason, Version};
use crate::writer::Writer;

/// PUBACK, PUBREC, PUBREL or PUBCOMP (5.0 and 3.1.1 sections 3.4 to 3.7).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Acknowledgement<'a> {
    /// The identifier of the PUBLISH.
    pub packet_id: PacketId,
    /// What became of it; before version 5 always [`Reason::Success`].
    pub reason: Reason,
    /// The properties.
    pub properties: Properties<'a>,
}

/// DISCONNECT: the connection ends (5.0 and 3.1.1 section 3.14).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Disconnect<'a> {
    /// Why; before version 5 always [`Reason::Success`].
    pub reason: Reason,
    /// The properties.
    pub properties: Properties<'a>,
}

/// AUTH: a step of an authentication, since version 5 (section 3.15).
///
/// It must have the property [`Property::AuthenticationMethod`], except in the form without any
/// byte, which says [`Reason::Success`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Auth<'a> {
    /// Which step.
    pub reason: Reason,
    /// The properties.
    pub properties: Properties<'a>,
}

impl<'a> Acknowledgement<'a> {
    /// Says that all went well.
    pub const fn new(packet_id: PacketId) -> Self {
        Acknowledgement { packet_id, reason: Reason::Success, properties: Properties::EMPTY }
    }

    pub(super) fn read(reader: &mut Reader<'a>, place: Place) -> Result<Self, Error> {
        let packet_id = reader.packet_id()?;
        let (reason, properties) = read(reader, place)?;
        Ok(Acknowledgement { packet_id, reason, properties })
    }

    pub(super) fn check(&self, place: Place) -> Result<(), Error> {
        check(self.reason, &self.properties, place)
    }

    pub(super) fn write(&self, place: Place, writer: &mut Writer<'_>) {
        writer.put_u16(self.packet_id.get());
        write(self.reason, &self.properties, place, writer);
    }
}

impl<'a> Disconnect<'a> {
    /// The normal end of a connection.
    pub const NORMAL: Disconnect<'a> =
        Disconnect { reason: Reason::Success, properties: Properties::EMPTY };

    pub(super) fn read(reader: &mut Reader<'a>, place: Place) -> Result<Self, Error> {
        let (reason, properties) = read(reader, place)?;
        Ok(Disconnect { reason, properties })
    }

    pub(super) fn check(&self, place: Place) -> Result<(), Error> {
        check(self.reason, &self.properties, place)
    }

    pub(super) fn write(&self, place: Place, writer: &mut Writer<'_>) {
        write(self.reason, &self.properties, place, writer);
    }
}

impl<'a> Auth<'a> {
    pub(super) fn read(reader: &mut Reader<'a>, place: Place) -> Result<Self, Error> {
        let (reason, properties) = read(reader, place)?;
        Ok(Auth { reason, properties })
    }

    pub(super) fn check(&self, place: Place) -> Result<(), Error> {
        if place.version != Version::V5 {
            return Err(Error::NeedsVersion5 { what: "the type AUTH" });
        }
        check(self.reason, &self.properties, place)?;
        let is_short = self.reason == Reason::Success && self.properties.is_empty();
        let is_method = |property| matches!(property, Property::AuthenticationMethod(_));
        if is_short || self.properties.iter().any(is_method) {
            Ok(())
        } else {
            let property = "Authentication Method";
            Err(Error::PropertyMissing { property, place: "an AUTH" })
        }
    }

    pub(super) fn write(&self, place: Place, writer: &mut Writer<'_>) {
        write(self.reason, &self.properties, place, writer);
    }
}

/// Takes a reason and properties, either of which may be left out.
fn read<'a>(reader: &mut Reader<'a>, place: Place) -> Result<(Reason, Properties<'a>), Error> {
    if place.version != Version::V5 || reader.is_empty() {
        return Ok((Reason::Success, Properties::EMPTY));
    }
    let reason = Reason::read(reader, place)?;
    let properties =
        if reader.is_empty() { Properties::EMPTY } else { property::read(reader, place)? };
    Ok((reason, properties))
}

fn check(reason: Reason, properties: &Properties<'_>, place: Place) -> Result<(), Error> {
    if place.version == Version::V5 {
        reason.check(place)?;
    } else if reason != Reason::Success {
        return Err(Error::NeedsVersion5 { what: "a reason" });
    }
    properties.check(place)
}

/// Writes a reason and properties, and leaves out what says nothing.
fn write(reason: Reason, properties: &Properties<'_>, place: Place, writer: &mut Writer<'_>) {
    if place.version != Version::V5 || (reason == Reason::Success && properties.is_empty()) {
        return;
    }
    reason.write(place, writer);
    if !properties.is_empty() {
        property::write(properties, place, writer);
    }
}
