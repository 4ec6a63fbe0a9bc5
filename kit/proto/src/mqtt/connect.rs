//! CONNECT and CONNACK (3.1 sections 3.1 and 3.2, as in 3.1.1 and 5.0).

use super::items::{Item, Part, Place};
use super::property;
use super::reader::Reader;
use super::{
    Data, Error, Header, Kind, Packet, Properties, Property, Qos, Reason, Text, TopicName, Version,
};
use crate::Decoded;
use crate::writer::Writer;

/// The name of the protocol of version 3.1.
const NAME_OF_31: &[u8] = b"MQIsdp";
/// The name of the protocol since.
const NAME: &[u8] = b"MQTT";

const FLAG_RESERVED: u8 = 1;
const FLAG_CLEAN_START: u8 = 1 << 1;
const FLAG_WILL: u8 = 1 << 2;
const WILL_QOS_SHIFT: u8 = 3;
const FLAG_WILL_RETAIN: u8 = 1 << 5;
const FLAG_PASSWORD: u8 = 1 << 6;
const FLAG_USER_NAME: u8 = 1 << 7;
/// The QoS of the will and whether it is retained: 0 without a will.
const WILL_FLAGS: u8 = 0b11 << WILL_QOS_SHIFT | FLAG_WILL_RETAIN;

/// CONNECT: the first packet of a client.
///
/// Which client identifiers a server accepts is its own affair, so any text is one here. Version
/// 3.1 asks for 1 to 23 characters, 3.1.1 for a clean session where it is empty. The answer to
/// others is [`Reason::ClientIdentifierNotValid`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Connect<'a> {
    /// The version that the client speaks from here on.
    pub version: Version,
    /// Whether the server forgets an earlier session; before version 5 the later one, too ("clean
    /// session").
    pub clean_start: bool,
    /// The longest time between two packets of the client, in seconds; 0 for any.
    pub keep_alive_seconds: u16,
    /// The properties.
    pub properties: Properties<'a>,
    /// The name of the client and of its session.
    pub client_id: Text<'a>,
    /// What is published if the client is lost.
    pub will: Option<Will<'a>>,
    /// The user.
    pub user_name: Option<Text<'a>>,
    /// The user's password, or anything else that proves who the client is. Before version 5 only
    /// with a user name.
    pub password: Option<Data<'a>>,
}

/// The message that a server publishes if a client is lost.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Will<'a> {
    /// How often it must arrive.
    pub qos: Qos,
    /// Whether the server keeps it for later subscriptions.
    pub retain: bool,
    /// The properties.
    pub properties: Properties<'a>,
    /// Its topic.
    pub topic: TopicName<'a>,
    /// Its bytes.
    pub payload: Data<'a>,
}

impl<'a> Connect<'a> {
    /// Reads the first packet of a client. See [`decode`](super::decode).
    ///
    /// # Errors
    /// Fails as [`decode`](super::decode) does, and for any other packet, as soon as its fixed
    /// header is there.
    pub fn decode(bytes: &'a [u8], limit: usize) -> Result<Decoded<Self>, Error> {
        Header::decode(bytes, Version::V5, limit)?.try_map(|Header { kind, .. }| {
            if kind == Kind::Connect { Ok(()) } else { Err(Error::NotConnect { kind }) }
        })?;
        super::decode(bytes, Version::V5, limit)?.try_map(|packet| match packet {
            Packet::Connect(connect) => Ok(connect),
            other => Err(Error::NotConnect { kind: other.kind() }),
        })
    }

    pub(super) fn read(reader: &mut Reader<'a>) -> Result<Self, Error> {
        let version = read_version(reader)?;
        let flags = reader.u8("connect flags")?;
        check_flags(flags)?;
        let keep_alive_seconds = reader.u16("keep alive")?;
        let properties = property::read(reader, Place::of(Kind::Connect, version))?;
        let client_id = reader.text("client identifier")?;
        let has = |flag| flags & flag != 0;
        Ok(Connect {
            version,
            clean_start: has(FLAG_CLEAN_START),
            keep_alive_seconds,
            properties,
            client_id,
            will: has(FLAG_WILL).then(|| Will::read(reader, flags, version)).transpose()?,
            user_name: has(FLAG_USER_NAME).then(|| reader.text("user name")).transpose()?,
            password: has(FLAG_PASSWORD).then(|| reader.data("password")).transpose()?,
        })
    }

    pub(super) fn check(&self) -> Result<(), Error> {
        if self.version != Version::V5 && self.user_name.is_none() && self.password.is_some() {
            return Err(Error::PasswordAlone);
        }
        self.properties.check(Place::of(Kind::Connect, self.version))?;
        let has = |wanted: fn(&Property<'_>) -> bool| self.properties.iter().any(|p| wanted(&p));
        if has(|property| matches!(property, Property::AuthenticationData(_)))
            && !has(|property| matches!(property, Property::AuthenticationMethod(_)))
        {
            let (property, place) = ("Authentication Method", "Authentication Data");
            return Err(Error::PropertyMissing { property, place });
        }
        match &self.will {
            Some(will) => will.properties.check(Will::place(self.version)),
            None => Ok(()),
        }
    }

    pub(super) fn write(&self, writer: &mut Writer<'_>) {
        let name = if self.version == Version::V31 { NAME_OF_31 } else { NAME };
        Data::of_u16_length(name).write(writer);
        writer.put_u8(self.version.level());
        writer.put_u8(self.flags());
        writer.put_u16(self.keep_alive_seconds);
        property::write(&self.properties, Place::of(Kind::Connect, self.version), writer);
        self.client_id.write(writer);
        if let Some(will) = &self.will {
            property::write(&will.properties, Will::place(self.version), writer);
            will.topic.write(writer);
            will.payload.write(writer);
        }
        if let Some(user_name) = self.user_name {
            user_name.write(writer);
        }
        if let Some(password) = self.password {
            password.write(writer);
        }
    }

    fn flags(&self) -> u8 {
        let flag = |is_set: bool, flag: u8| if is_set { flag } else { 0 };
        let will = self.will.map_or(0, |will| {
            FLAG_WILL | (will.qos as u8) << WILL_QOS_SHIFT | flag(will.retain, FLAG_WILL_RETAIN)
        });
        will | flag(self.clean_start, FLAG_CLEAN_START)
            | flag(self.user_name.is_some(), FLAG_USER_NAME)
            | flag(self.password.is_some(), FLAG_PASSWORD)
    }
}

fn read_version(reader: &mut Reader<'_>) -> Result<Version, Error> {
    let name = reader.data("protocol name")?.as_bytes();
    if name != NAME && name != NAME_OF_31 {
        return Err(Error::ProtocolName);
    }
    let level = reader.u8("protocol level")?;
    Version::from_level(level)
        .filter(|version| (*version == Version::V31) == (name == NAME_OF_31))
        .ok_or(Error::ProtocolLevel { level })
}

fn check_flags(flags: u8) -> Result<(), Error> {
    if flags & FLAG_RESERVED != 0 {
        return Err(Error::ConnectFlags);
    }
    if flags & FLAG_WILL == 0 && flags & WILL_FLAGS != 0 {
        return Err(Error::WillFlags);
    }
    Ok(())
}

impl<'a> Will<'a> {
    fn place(version: Version) -> Place {
        Place { version, part: Part::Will }
    }

    fn read(reader: &mut Reader<'a>, flags: u8, version: Version) -> Result<Self, Error> {
        Ok(Will {
            qos: Qos::from_bits(flags >> WILL_QOS_SHIFT, "will")?,
            retain: flags & FLAG_WILL_RETAIN != 0,
            properties: property::read(reader, Will::place(version))?,
            topic: TopicName::from_text(reader.text("will topic")?, "will topic")?,
            payload: reader.data("will payload")?,
        })
    }
}

/// CONNACK: the server's answer to a CONNECT.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Connack<'a> {
    /// Whether the server goes on with an earlier session. Version 3.1 does not say.
    pub session_present: bool,
    /// Whether the client is connected, and if not, why.
    pub reason: Reason,
    /// The properties.
    pub properties: Properties<'a>,
}

impl<'a> Connack<'a> {
    pub(super) fn read(reader: &mut Reader<'a>, place: Place) -> Result<Self, Error> {
        let flags = reader.u8("connect acknowledge flags")?;
        if flags > 1 {
            return Err(Error::ConnackFlags { byte: flags });
        }
        Ok(Connack {
            session_present: flags == 1,
            reason: Reason::read(reader, place)?,
            properties: property::read(reader, place)?,
        })
    }

    pub(super) fn check(&self, place: Place) -> Result<(), Error> {
        if self.session_present && place.version == Version::V31 {
            return Err(Error::NeedsVersion311 { what: "Session Present" });
        }
        if self.session_present && self.reason != Reason::Success {
            return Err(Error::SessionOfRefused);
        }
        self.reason.check(place)?;
        self.properties.check(place)
    }

    pub(super) fn write(&self, place: Place, writer: &mut Writer<'_>) {
        writer.put_u8(u8::from(self.session_present));
        self.reason.write(place, writer);
        property::write(&self.properties, place, writer);
    }
}
