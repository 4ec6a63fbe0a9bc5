//! Reason codes, and the return codes that versions before 5 had in their place.

use super::items::{Item, Part, Place};
use super::reader::Reader;
use super::{Error, Kind, Version};
use crate::writer::Writer;
use core::fmt;

const CONNACK: u16 = Kind::Connack.bit();
const PUBACK: u16 = Kind::Puback.bit() | Kind::Pubrec.bit();
const PUBCOMP: u16 = Kind::Pubrel.bit() | Kind::Pubcomp.bit();
const SUBACK: u16 = Kind::Suback.bit();
const UNSUBACK: u16 = Kind::Unsuback.bit();
const DISCONNECT: u16 = Kind::Disconnect.bit();
const AUTH: u16 = Kind::Auth.bit();

/// Makes the type from its table: code, name, text, and the packets that may have it.
macro_rules! reasons {
    ($($code:literal $name:ident $text:literal [$($place:ident)+];)+) => {
        /// Why a request was accepted or not, or why a connection ends (5.0 section 2.4). Its
        /// number is the reason code of version 5.
        ///
        /// Earlier versions have other numbers in CONNACK (3.1.1 section 3.2.2.3). Their return
        /// codes 1 to 5 stand for [`Reason::UnsupportedProtocolVersion`],
        /// [`Reason::ClientIdentifierNotValid`], [`Reason::ServerUnavailable`],
        /// [`Reason::BadUserNameOrPassword`] and [`Reason::NotAuthorized`]. Their SUBACK has the
        /// granted QoS, or [`Reason::UnspecifiedError`] for a failure. 3.1 defines no failure, but
        /// servers that speak 3.1.1, too, may answer so to its clients. Other packets have no
        /// reason, which is [`Reason::Success`].
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
        #[repr(u8)]
        pub enum Reason {
            $(#[doc = concat!("`", stringify!($code), "`: ", $text, ".")] $name = $code,)+
        }

        impl Reason {
            /// Returns the reason with this code of version 5.
            pub const fn from_u8(code: u8) -> Option<Self> {
                match code {
                    $($code => Some(Reason::$name),)+
                    _ => None,
                }
            }

            /// Returns the text and the set of packets that may have it.
            const fn row(self) -> (&'static str, u16) {
                match self {
                    $(Reason::$name => ($text, 0 $(| $place)+),)+
                }
            }
        }
    };
}

// 5.0 table 2-6, and what the tables of the packets add to it.
reasons! {
    0x00 Success "success, normal disconnection, or QoS 0 granted"
        [CONNACK PUBACK PUBCOMP SUBACK UNSUBACK DISCONNECT AUTH];
    0x01 GrantedQos1 "QoS 1 granted" [SUBACK];
    0x02 GrantedQos2 "QoS 2 granted" [SUBACK];
    0x04 DisconnectWithWill "disconnect with Will Message" [DISCONNECT];
    0x10 NoMatchingSubscribers "no matching subscribers" [PUBACK];
    0x11 NoSubscriptionExisted "no subscription existed" [UNSUBACK];
    0x18 ContinueAuthentication "continue authentication" [AUTH];
    0x19 Reauthenticate "re-authenticate" [AUTH];
    0x80 UnspecifiedError "unspecified error" [CONNACK PUBACK SUBACK UNSUBACK DISCONNECT];
    0x81 MalformedPacket "malformed packet" [CONNACK DISCONNECT];
    0x82 ProtocolError "protocol error" [CONNACK DISCONNECT];
    0x83 ImplementationSpecificError "implementation specific error"
        [CONNACK PUBACK SUBACK UNSUBACK DISCONNECT];
    0x84 UnsupportedProtocolVersion "unsupported protocol version" [CONNACK];
    0x85 ClientIdentifierNotValid "client identifier not valid" [CONNACK];
    0x86 BadUserNameOrPassword "bad user name or password" [CONNACK];
    0x87 NotAuthorized "not authorized" [CONNACK PUBACK SUBACK UNSUBACK DISCONNECT];
    0x88 ServerUnavailable "server unavailable" [CONNACK];
    0x89 ServerBusy "server busy" [CONNACK DISCONNECT];
    0x8a Banned "banned" [CONNACK];
    0x8b ServerShuttingDown "server shutting down" [DISCONNECT];
    0x8c BadAuthenticationMethod "bad authentication method" [CONNACK DISCONNECT];
    0x8d KeepAliveTimeout "keep alive timeout" [DISCONNECT];
    0x8e SessionTakenOver "session taken over" [DISCONNECT];
    0x8f TopicFilterInvalid "topic filter invalid" [SUBACK UNSUBACK DISCONNECT];
    0x90 TopicNameInvalid "topic name invalid" [CONNACK PUBACK DISCONNECT];
    0x91 PacketIdInUse "packet identifier in use" [PUBACK SUBACK UNSUBACK];
    0x92 PacketIdNotFound "packet identifier not found" [PUBCOMP];
    0x93 ReceiveMaximumExceeded "receive maximum exceeded" [DISCONNECT];
    0x94 TopicAliasInvalid "topic alias invalid" [DISCONNECT];
    0x95 PacketTooLarge "packet too large" [CONNACK DISCONNECT];
    0x96 MessageRateTooHigh "message rate too high" [DISCONNECT];
    0x97 QuotaExceeded "quota exceeded" [CONNACK PUBACK SUBACK DISCONNECT];
    0x98 AdministrativeAction "administrative action" [DISCONNECT];
    0x99 PayloadFormatInvalid "payload format invalid" [CONNACK PUBACK DISCONNECT];
    0x9a RetainNotSupported "retain not supported" [CONNACK DISCONNECT];
    0x9b QosNotSupported "QoS not supported" [CONNACK DISCONNECT];
    0x9c UseAnotherServer "use another server" [CONNACK DISCONNECT];
    0x9d ServerMoved "server moved" [CONNACK DISCONNECT];
    0x9e SharedSubscriptionsNotSupported "shared subscriptions not supported" [SUBACK DISCONNECT];
    0x9f ConnectionRateExceeded "connection rate exceeded" [CONNACK DISCONNECT];
    0xa0 MaximumConnectTime "maximum connect time" [DISCONNECT];
    0xa1 SubscriptionIdsNotSupported "subscription identifiers not supported"
        [SUBACK DISCONNECT];
    0xa2 WildcardSubscriptionsNotSupported "wildcard subscriptions not supported"
        [SUBACK DISCONNECT];
}

/// The reasons that the return codes 0 to 5 of a CONNACK before version 5 stand for.
const RETURN_CODES: [Reason; 6] = [
    Reason::Success,
    Reason::UnsupportedProtocolVersion,
    Reason::ClientIdentifierNotValid,
    Reason::ServerUnavailable,
    Reason::BadUserNameOrPassword,
    Reason::NotAuthorized,
];

impl Reason {
    /// Returns whether it says that something failed: its code is at least 0x80.
    pub const fn is_error(self) -> bool {
        self as u8 >= 0x80
    }

    /// Returns the byte that stands for it there, if one does.
    fn to_wire(self, place: Place) -> Option<u8> {
        let is_permitted = match (place.version, place.part) {
            (Version::V5, part) => self.row().1 & part.bit() != 0,
            (_, Part::Packet(Kind::Connack)) => {
                let mut codes = (0..).zip(RETURN_CODES);
                return codes.find(|(_, reason)| *reason == self).map(|(code, _)| code);
            }
            (_, Part::Packet(Kind::Suback)) => matches!(
                self,
                Reason::Success
                    | Reason::GrantedQos1
                    | Reason::GrantedQos2
                    | Reason::UnspecifiedError
            ),
            _ => false,
        };
        is_permitted.then_some(self as u8)
    }

    /// Returns the reason that a byte stands for there.
    fn from_wire(byte: u8, place: Place) -> Option<Self> {
        let is_return_code =
            place.version != Version::V5 && place.part == Part::Packet(Kind::Connack);
        let reason = if is_return_code {
            RETURN_CODES.get(usize::from(byte)).copied()
        } else {
            Reason::from_u8(byte)
        };
        reason.filter(|reason| reason.to_wire(place).is_some())
    }
}

impl<'a> Item<'a> for Reason {
    fn read(reader: &mut Reader<'a>, place: Place) -> Result<Self, Error> {
        let code = reader.u8("reason code")?;
        Reason::from_wire(code, place).ok_or(Error::Reason { code, place: place.part.name() })
    }

    fn check(self, place: Place) -> Result<(), Error> {
        match self.to_wire(place) {
            Some(_) => Ok(()),
            None => Err(Error::Reason { code: self as u8, place: place.part.name() }),
        }
    }

    fn write(self, place: Place, writer: &mut Writer<'_>) {
        // What may not stand there is refused before anything is written.
        writer.put_u8(self.to_wire(place).unwrap_or(self as u8));
    }
}

impl fmt::Display for Reason {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.row().0)
    }
}
