//! Headers of frames (RFC 6455 section 5.2).

use super::{Error, mask};
use crate::writer::Writer;
use crate::{Decoded, TooSmall};

/// The most bytes of payload of a control frame (RFC 6455 section 5.5).
pub(super) const MAX_CONTROL: usize = 125;
/// The largest length that the second byte has itself.
const MAX_SHORT: u64 = 125;
/// What the second byte has if two bytes, or eight, follow with the length.
const TWO_FOLLOW: u8 = 126;
const EIGHT_FOLLOW: u8 = 127;
const FINAL: u8 = 0x80;
const RESERVED: u8 = 0x70;
const MASKED: u8 = 0x80;

/// A side of a connection.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Role {
    /// The side that opens the connection, and masks what it sends.
    Client,
    /// The side that accepts it, and never masks.
    Server,
}

/// What a frame is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
pub enum Opcode {
    /// The next frame of the message that is open.
    Continuation = 0x0,
    /// The first frame of a message of UTF-8.
    Text = 0x1,
    /// The first frame of a message of any bytes.
    Binary = 0x2,
    /// The last frame of this side.
    Close = 0x8,
    /// It asks for a [`Opcode::Pong`] with the same payload.
    Ping = 0x9,
    /// It answers a ping, or is sent unasked.
    Pong = 0xA,
}

impl Opcode {
    /// Returns whether this is a control frame, which may stand between those of a message.
    pub fn is_control(self) -> bool {
        self as u8 >= 0x8
    }

    fn from_bits(opcode: u8) -> Result<Self, Error> {
        match opcode {
            0x0 => Ok(Opcode::Continuation),
            0x1 => Ok(Opcode::Text),
            0x2 => Ok(Opcode::Binary),
            0x8 => Ok(Opcode::Close),
            0x9 => Ok(Opcode::Ping),
            0xA => Ok(Opcode::Pong),
            _ => Err(Error::Opcode { opcode }),
        }
    }
}

/// The header of a frame, of 2 to 14 bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct FrameHeader {
    opcode: Opcode,
    is_final: bool,
    mask: Option<[u8; 4]>,
    payload_length: u64,
}

impl FrameHeader {
    /// The most bytes of a header.
    pub const MAX_BYTES: usize = 14;

    /// Returns a header. `is_final` says whether the frame is the last of its message, `mask` is
    /// the key if it is to be masked, and `payload_length` counts bytes.
    ///
    /// # Errors
    /// Fails if a control frame is not final or has more than 125 bytes, or if the length does not
    /// fit into 63 bits.
    pub fn new(
        opcode: Opcode,
        is_final: bool,
        mask: Option<[u8; 4]>,
        payload_length: u64,
    ) -> Result<Self, Error> {
        check_final(opcode, is_final)?;
        if opcode.is_control() && payload_length > MAX_CONTROL as u64 {
            return Err(Error::ControlTooLong);
        }
        if payload_length >> 63 != 0 {
            return Err(Error::LengthBit);
        }
        Ok(FrameHeader { opcode, is_final, mask, payload_length })
    }

    /// Decodes the header of a frame that `sender` sent. A frame of a message may have at most
    /// `limit` bytes of payload.
    ///
    /// # Errors
    /// Fails if a reserved bit is set or the opcode is unknown; if a control frame is fragmented or
    /// too long; if a client did not mask or a server did; or if the length is not written in the
    /// fewest bytes, has 64 bits or exceeds the limit. Each is refused at the byte that shows it.
    pub fn decode(bytes: &[u8], sender: Role, limit: u64) -> Result<Decoded<Self>, Error> {
        let Some(&first) = bytes.first() else {
            return Ok(Decoded::Short { needs: 2 });
        };
        if first & RESERVED != 0 {
            return Err(Error::ReservedBits { bits: (first & RESERVED) >> 4 });
        }
        let opcode = Opcode::from_bits(first & 0xf)?;
        let is_final = first & FINAL != 0;
        check_final(opcode, is_final)?;

        let Some(&second) = bytes.get(1) else {
            return Ok(Decoded::Short { needs: 2 });
        };
        let is_masked = second & MASKED != 0;
        match (sender, is_masked) {
            (Role::Client, false) => return Err(Error::NotMasked),
            (Role::Server, true) => return Err(Error::Masked),
            _ => {}
        }
        let form = second & !MASKED;
        if opcode.is_control() && usize::from(form) > MAX_CONTROL {
            return Err(Error::ControlTooLong);
        }
        let length_end = 2 + following(form);
        let end = length_end + if is_masked { 4 } else { 0 };
        let Some(length_bytes) = bytes.get(2..length_end) else {
            return Ok(Decoded::Short { needs: end });
        };
        let payload_length = payload_length(form, length_bytes)?;
        if !opcode.is_control() && payload_length > limit {
            return Err(Error::FrameTooLong { length: payload_length, limit });
        }
        let Some(key) = bytes.get(length_end..end) else {
            return Ok(Decoded::Short { needs: end });
        };
        let mask = key.first_chunk().copied();
        let value = FrameHeader::new(opcode, is_final, mask, payload_length)?;
        Ok(Decoded::Whole { value, length: end })
    }

    /// Returns what the frame is.
    pub fn opcode(&self) -> Opcode {
        self.opcode
    }

    /// Returns whether the frame is the last of its message.
    pub fn is_final(&self) -> bool {
        self.is_final
    }

    /// Returns the key with which the payload is masked, if it is.
    pub fn mask(&self) -> Option<[u8; 4]> {
        self.mask
    }

    /// Returns how many bytes of payload follow.
    pub fn payload_length(&self) -> u64 {
        self.payload_length
    }

    /// Masks a part of the payload, or unmasks it, if the header has a key. The part begins at byte
    /// `offset` of the payload.
    pub(super) fn mask_payload(&self, part: &mut [u8], offset: u64) {
        if let Some(key) = self.mask {
            mask(part, key, offset);
        }
    }

    /// Writes the header and returns how many bytes that took.
    ///
    /// # Errors
    /// Fails if `out` is too small.
    pub fn encode(&self, out: &mut [u8]) -> Result<usize, TooSmall> {
        Writer::fill(out, |writer| self.write(writer))
    }

    /// Returns how many bytes [`FrameHeader::encode`] writes.
    pub fn encoded_len(&self) -> usize {
        2 + following(self.form()) + if self.mask.is_some() { 4 } else { 0 }
    }

    /// Returns the lowest seven bits of the second byte: the length, or how many bytes have it.
    fn form(&self) -> u8 {
        match self.payload_length {
            length @ 0..=MAX_SHORT => length as u8,
            length if length <= u16::MAX.into() => TWO_FOLLOW,
            _ => EIGHT_FOLLOW,
        }
    }

    pub(super) fn write(&self, writer: &mut Writer<'_>) {
        let form = self.form();
        let first = self.opcode as u8 | if self.is_final { FINAL } else { 0 };
        let second = form | if self.mask.is_some() { MASKED } else { 0 };
        writer.put(&[first, second]);
        writer.put(&self.payload_length.to_be_bytes()[8 - following(form)..]);
        writer.put(self.mask.as_ref().map_or(&[], |key| &key[..]));
    }
}

fn check_final(opcode: Opcode, is_final: bool) -> Result<(), Error> {
    if opcode.is_control() && !is_final { Err(Error::FragmentedControl) } else { Ok(()) }
}

/// Returns how many bytes of the length follow the second byte of a header.
fn following(form: u8) -> usize {
    match form {
        TWO_FOLLOW => 2,
        EIGHT_FOLLOW => 8,
        _ => 0,
    }
}

/// Reads the length of a payload from the second byte's form and the bytes that follow it.
fn payload_length(form: u8, bytes: &[u8]) -> Result<u64, Error> {
    let length = bytes.iter().fold(0, |length, &byte| length << 8 | u64::from(byte));
    let least = match form {
        TWO_FOLLOW => MAX_SHORT + 1,
        EIGHT_FOLLOW => u64::from(u16::MAX) + 1,
        _ => return Ok(form.into()),
    };
    if length >> 63 != 0 {
        Err(Error::LengthBit)
    } else if length < least {
        Err(Error::LengthForm { length })
    } else {
        Ok(length)
    }
}
