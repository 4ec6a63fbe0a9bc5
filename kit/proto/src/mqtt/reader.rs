//! Reading the fields of a packet from its bytes.

use super::header::{check_shortest, read_variable};
use super::{Data, Error, Kind, PacketId, Text};

/// What is left of a packet. Each method takes one field from its start, and fails if the packet
/// ends before the field does. `what` is the field's name in an error. The shortest are inlined, as
/// they are called several times a packet.
#[derive(Clone, Copy, Debug)]
pub struct Reader<'a> {
    bytes: &'a [u8],
}

impl<'a> Reader<'a> {
    pub fn new(bytes: &'a [u8]) -> Self {
        Reader { bytes }
    }

    #[inline]
    pub fn is_empty(&self) -> bool {
        self.bytes.is_empty()
    }

    #[inline]
    pub fn take(&mut self, count: usize, what: &'static str) -> Result<&'a [u8], Error> {
        let (taken, rest) = self.bytes.split_at_checked(count).ok_or(Error::Truncated { what })?;
        self.bytes = rest;
        Ok(taken)
    }

    /// Takes all that is left.
    pub fn rest(&mut self) -> &'a [u8] {
        core::mem::take(&mut self.bytes)
    }

    #[inline]
    fn array<const N: usize>(&mut self, what: &'static str) -> Result<[u8; N], Error> {
        let (taken, rest) = self.bytes.split_first_chunk().ok_or(Error::Truncated { what })?;
        self.bytes = rest;
        Ok(*taken)
    }

    #[inline]
    pub fn u8(&mut self, what: &'static str) -> Result<u8, Error> {
        self.array(what).map(u8::from_be_bytes)
    }

    #[inline]
    pub fn u16(&mut self, what: &'static str) -> Result<u16, Error> {
        self.array(what).map(u16::from_be_bytes)
    }

    pub fn u32(&mut self, what: &'static str) -> Result<u32, Error> {
        self.array(what).map(u32::from_be_bytes)
    }

    /// Takes a Variable Byte Integer. Within a packet only version 5 has them, so it must have its
    /// shortest form.
    pub fn variable(&mut self, what: &'static str) -> Result<u32, Error> {
        let found = read_variable(self.bytes, what)?;
        let (value, taken) = found.ok_or(Error::Truncated { what })?;
        check_shortest(value, taken, what)?;
        self.bytes = &self.bytes[taken..];
        Ok(value)
    }

    pub fn data(&mut self, what: &'static str) -> Result<Data<'a>, Error> {
        let length = self.u16(what)?;
        self.take(usize::from(length), what).map(Data::of_u16_length)
    }

    pub fn text(&mut self, what: &'static str) -> Result<Text<'a>, Error> {
        Text::from_data(self.data(what)?, what)
    }

    pub fn packet_id(&mut self) -> Result<PacketId, Error> {
        PacketId::new(self.u16("packet identifier")?).ok_or(Error::PacketIdZero)
    }

    /// Checks that nothing is left of a packet of this type.
    pub fn end(&self, kind: Kind) -> Result<(), Error> {
        match self.bytes.len() {
            0 => Ok(()),
            bytes => Err(Error::Trailing { kind, bytes }),
        }
    }
}
