//! Texts and bytes with a length before them.

use super::Error;
use crate::writer::Writer;

/// A UTF-8 Encoded String (5.0 section 1.5.4, 3.1.1 section 1.5.3): at most 65 535 bytes of UTF-8,
/// without the character U+0000. Other control characters are permitted, as in the standard.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct Text<'a>(&'a str);

impl<'a> Text<'a> {
    /// The text of no characters.
    pub const EMPTY: Text<'static> = Text("");

    /// Checks a text. Cost: linear.
    ///
    /// # Errors
    /// Fails if it is too long or has U+0000.
    pub fn new(text: &'a str) -> Result<Self, Error> {
        Text::checked(text, "text")
    }

    /// Checks a text that errors call `what`.
    pub(super) fn checked(text: &'a str, what: &'static str) -> Result<Self, Error> {
        check_length(text.len(), what)?;
        if text.as_bytes().contains(&0) {
            return Err(Error::Nul { what });
        }
        Ok(Text(text))
    }

    pub(super) fn from_data(data: Data<'a>, what: &'static str) -> Result<Self, Error> {
        let text = core::str::from_utf8(data.0);
        let text = text.map_err(|error| Error::Utf8 { what, at: error.valid_up_to() })?;
        Text::checked(text, what)
    }

    /// Returns the text.
    pub fn as_str(self) -> &'a str {
        self.0
    }

    pub(super) fn write(self, writer: &mut Writer<'_>) {
        Data(self.0.as_bytes()).write(writer);
    }
}

/// Binary Data (5.0 section 1.5.6): at most 65 535 bytes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct Data<'a>(&'a [u8]);

impl<'a> Data<'a> {
    /// Checks the length.
    ///
    /// # Errors
    /// Fails if there are too many bytes.
    pub fn new(bytes: &'a [u8]) -> Result<Self, Error> {
        check_length(bytes.len(), "binary data")?;
        Ok(Data(bytes))
    }

    /// Takes bytes whose number was read from two bytes.
    pub(super) fn of_u16_length(bytes: &'a [u8]) -> Self {
        Data(bytes)
    }

    /// Returns the bytes.
    pub fn as_bytes(self) -> &'a [u8] {
        self.0
    }

    pub(super) fn write(self, writer: &mut Writer<'_>) {
        // Both constructors hold the length to two bytes.
        writer.put_u16(self.0.len() as u16);
        writer.put(self.0);
    }
}

fn check_length(bytes: usize, what: &'static str) -> Result<(), Error> {
    if bytes <= usize::from(u16::MAX) { Ok(()) } else { Err(Error::FieldTooLong { what, bytes }) }
}
