//! Lists within packets, without memory of their own: bytes that were checked, or a slice.

use super::reader::Reader;
use super::{Error, Kind, Version};
use crate::writer::Writer;
use core::fmt;
use core::slice;

/// Where a list stands: what may be in it depends on that.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Place {
    pub version: Version,
    pub part: Part,
}

/// A part of a packet that has lists.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Part {
    /// The will in a CONNECT.
    Will,
    /// The packet itself.
    Packet(Kind),
}

impl Part {
    /// Returns this part's bit in a set of parts. No packet has type 0, so bit 0 is the will's.
    pub const fn bit(self) -> u16 {
        match self {
            Part::Will => 1,
            Part::Packet(kind) => kind.bit(),
        }
    }

    pub fn name(self) -> &'static str {
        match self {
            Part::Will => "will",
            Part::Packet(kind) => kind.name(),
        }
    }
}

impl Place {
    /// Returns the place of lists in packets of this type.
    pub fn of(kind: Kind, version: Version) -> Self {
        Place { version, part: Part::Packet(kind) }
    }
}

/// What a list may consist of. It is public because [`Items`] is, but users cannot name it.
pub trait Item<'a>: Copy {
    /// Takes one from the bytes of a packet.
    fn read(reader: &mut Reader<'a>, place: Place) -> Result<Self, Error>;

    /// Checks that it may stand there.
    fn check(self, place: Place) -> Result<(), Error>;

    /// Checks all of a list.
    fn check_all(items: &Items<'a, Self>, place: Place) -> Result<(), Error> {
        items.each(|item| item.check(place))
    }

    /// Writes it as bytes of a packet.
    fn write(self, place: Place, writer: &mut Writer<'_>);
}

/// A list in a packet. Lists are equal if their items are.
///
/// Representation: bytes that [`decode`](super::decode) has checked, which are read again item by
/// item, or a slice of items to encode.
#[derive(Clone, Copy)]
pub struct Items<'a, T> {
    source: Source<'a, T>,
}

#[derive(Clone, Copy)]
enum Source<'a, T> {
    Wire { bytes: &'a [u8], place: Place },
    List(&'a [T]),
}

impl<'a, T: Item<'a>> Items<'a, T> {
    /// The list of no items.
    pub const EMPTY: Items<'a, T> = Items { source: Source::List(&[]) };

    /// Makes a list to encode. Whether each item may stand in the packet is checked then.
    pub const fn new(items: &'a [T]) -> Self {
        Items { source: Source::List(items) }
    }

    /// Checks the bytes of a list.
    pub(super) fn from_wire(bytes: &'a [u8], place: Place) -> Result<Self, Error> {
        let items = Items { source: Source::Wire { bytes, place } };
        T::check_all(&items, place)?;
        Ok(items)
    }

    /// Returns whether there is no item.
    pub fn is_empty(&self) -> bool {
        match self.source {
            Source::Wire { bytes, .. } => bytes.is_empty(),
            Source::List(list) => list.is_empty(),
        }
    }

    /// Returns the items in their order. Each is read from the bytes again, so texts are checked
    /// once more.
    pub fn iter(&self) -> ItemsIter<'a, T> {
        ItemsIter(match self.source {
            Source::Wire { bytes, place } => Inner::Wire(Reader::new(bytes), place),
            Source::List(list) => Inner::List(list.iter()),
        })
    }

    /// Calls a function for each item, until it fails or an item cannot be read.
    pub(super) fn each(
        &self,
        mut function: impl FnMut(T) -> Result<(), Error>,
    ) -> Result<(), Error> {
        match self.source {
            Source::Wire { bytes, place } => {
                let mut reader = Reader::new(bytes);
                while !reader.is_empty() {
                    function(T::read(&mut reader, place)?)?;
                }
                Ok(())
            }
            Source::List(list) => list.iter().try_for_each(|item| function(*item)),
        }
    }

    /// Checks that the list may stand there. Bytes that come from such a place were checked.
    pub(super) fn check(&self, place: Place) -> Result<(), Error> {
        match self.source {
            Source::Wire { place: from, .. } if from == place => Ok(()),
            _ => T::check_all(self, place),
        }
    }

    pub(super) fn write(&self, place: Place, writer: &mut Writer<'_>) {
        match self.source {
            Source::Wire { bytes, place: from } if from == place => writer.put(bytes),
            _ => self.iter().for_each(|item| item.write(place, writer)),
        }
    }
}

impl<'a, T: Item<'a>> Default for Items<'a, T> {
    fn default() -> Self {
        Items::EMPTY
    }
}

impl<'a, T: Item<'a> + PartialEq> PartialEq for Items<'a, T> {
    fn eq(&self, other: &Self) -> bool {
        self.iter().eq(other.iter())
    }
}

impl<'a, T: Item<'a> + Eq> Eq for Items<'a, T> {}

impl<'a, T: Item<'a> + fmt::Debug> fmt::Debug for Items<'a, T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_list().entries(self.iter()).finish()
    }
}

impl<'a, T: Item<'a>> IntoIterator for &Items<'a, T> {
    type Item = T;
    type IntoIter = ItemsIter<'a, T>;

    fn into_iter(self) -> ItemsIter<'a, T> {
        self.iter()
    }
}

/// Iterates over [`Items`].
#[derive(Clone, Debug)]
pub struct ItemsIter<'a, T>(Inner<'a, T>);

#[derive(Clone, Debug)]
enum Inner<'a, T> {
    Wire(Reader<'a>, Place),
    List(slice::Iter<'a, T>),
}

impl<'a, T: Item<'a>> Iterator for ItemsIter<'a, T> {
    type Item = T;

    fn next(&mut self) -> Option<T> {
        match &mut self.0 {
            Inner::Wire(reader, _) if reader.is_empty() => None,
            // The bytes were checked, so they can be read.
            Inner::Wire(reader, place) => T::read(reader, *place).ok(),
            Inner::List(list) => list.next().copied(),
        }
    }
}
