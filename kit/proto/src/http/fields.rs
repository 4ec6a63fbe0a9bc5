//! Fields of a head, and of the trailers of a chunked body (RFC 9112 section 5).

use super::Error;
use super::line::{ascii, is_space, is_text, is_token, line, trim};
use crate::writer::Writer;

/// A field: a name and a value without white space around it.
///
/// Representation: two slices. The name is a token; the value has no control characters except
/// tabs, but may have bytes above 127, about whose meaning the standard says nothing.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Field<'a> {
    name: &'a [u8],
    value: &'a [u8],
}

impl<'a> Field<'a> {
    /// Returns a field; white space around `value` is left out.
    ///
    /// # Errors
    /// Fails if `name` is no token, or if `value` has a control character other than a tab.
    pub fn new(name: &'a str, value: &'a (impl AsRef<[u8]> + ?Sized)) -> Result<Self, Error> {
        Field { name: name.as_bytes(), value: trim(value.as_ref()) }.checked()
    }

    /// Returns a field of which the caller knows that [`Field::new`] would not refuse it.
    pub(crate) fn known(name: &'a str, value: &'a str) -> Self {
        Field { name: name.as_bytes(), value: value.as_bytes() }
    }

    /// Returns the name, in the letters in which it came.
    pub fn name(&self) -> &'a str {
        ascii(self.name)
    }

    /// Returns the value.
    pub fn value(&self) -> &'a [u8] {
        self.value
    }

    /// Returns whether this is its name, in whatever letters.
    pub fn is_named(&self, name: &str) -> bool {
        self.name.eq_ignore_ascii_case(name.as_bytes())
    }

    /// Reads a line without its CRLF.
    fn parse(line: &'a [u8]) -> Result<Self, Error> {
        if line.first().is_some_and(|&byte| is_space(byte)) {
            return Err(Error::Folded);
        }
        let field = Self::split(line).ok_or(Error::NoColon)?;
        if field.name.last().is_some_and(|&byte| is_space(byte)) {
            return Err(Error::SpaceBeforeColon);
        }
        field.checked()
    }

    /// Splits a line at its first colon.
    fn split(line: &'a [u8]) -> Option<Self> {
        let colon = line.iter().position(|&byte| byte == b':')?;
        Some(Field { name: &line[..colon], value: trim(&line[colon + 1..]) })
    }

    fn checked(self) -> Result<Self, Error> {
        if !is_token(self.name) {
            return Err(Error::FieldName);
        }
        match self.value.iter().find(|&&byte| !is_text(byte)) {
            Some(&byte) => Err(Error::FieldValue { byte }),
            None => Ok(self),
        }
    }
}

/// The values of a name that at most one field may have.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Only<'a> {
    Missing,
    One(&'a [u8]),
    Several,
}

/// The fields of a head, or of trailers, in order.
///
/// Representation: the lines as they came, which were checked once, or a list. It is read from the
/// first field at each question: heads are short, and a program asks for few names.
#[derive(Clone, Copy, Debug)]
pub struct Fields<'a>(Source<'a>);

#[derive(Clone, Copy, Debug)]
enum Source<'a> {
    /// Checked lines, each with its CRLF, without the empty line.
    Lines(&'a [u8]),
    List(&'a [Field<'a>]),
}

impl<'a> Fields<'a> {
    /// Returns the fields of a list.
    pub fn new(list: &'a [Field<'a>]) -> Self {
        Fields(Source::List(list))
    }

    /// Reads fields up to and with the empty line. Returns them and how many bytes they took;
    /// `None` if the empty line is not there.
    pub(super) fn decode(bytes: &'a [u8]) -> Result<Option<(Self, usize)>, Error> {
        let mut length = 0;
        while let Some(line) = line(&bytes[length..])? {
            if line.is_empty() {
                return Ok(Some((Fields(Source::Lines(&bytes[..length])), length + 2)));
            }
            Field::parse(line)?;
            length += line.len() + 2;
        }
        Ok(None)
    }

    /// Writes the fields and the empty line.
    pub(super) fn write(&self, writer: &mut Writer<'_>) {
        for field in self {
            writer.put(field.name);
            writer.put(b": ");
            writer.put(field.value);
            writer.put(b"\r\n");
        }
        writer.put(b"\r\n");
    }

    /// Iterates over the fields.
    pub fn iter(&self) -> FieldsIter<'a> {
        FieldsIter(self.0)
    }

    /// Iterates over the values of all fields of a name, in whatever letters.
    pub fn all<'n>(&self, name: &'n str) -> impl Iterator<Item = &'a [u8]> + use<'a, 'n> {
        self.iter().filter(move |field| field.is_named(name)).map(|field| field.value)
    }

    /// Returns the value of the first field of a name, in whatever letters.
    pub fn get(&self, name: &str) -> Option<&'a [u8]> {
        self.all(name).next()
    }

    /// Returns the value of the only field of a name, in whatever letters.
    pub(crate) fn only(&self, name: &str) -> Only<'a> {
        let mut values = self.all(name);
        match (values.next(), values.next()) {
            (None, _) => Only::Missing,
            (Some(value), None) => Only::One(value),
            (Some(_), Some(_)) => Only::Several,
        }
    }

    /// Iterates over the elements of the lists that all fields of a name make together, without
    /// white space around them and without empty ones (RFC 9110 section 5.6.1). It is for lists of
    /// plain words: a comma between quotes separates, too.
    pub fn elements<'n>(&self, name: &'n str) -> impl Iterator<Item = &'a [u8]> + use<'a, 'n> {
        self.all(name)
            .flat_map(|value| value.split(|&byte| byte == b','))
            .map(trim)
            .filter(|element| !element.is_empty())
    }

    /// Returns whether the lists of a name have an element, in whatever letters.
    pub fn lists(&self, name: &str, element: &str) -> bool {
        self.elements(name).any(|listed| listed.eq_ignore_ascii_case(element.as_bytes()))
    }
}

impl Default for Fields<'_> {
    /// Returns no fields.
    fn default() -> Self {
        Fields(Source::List(&[]))
    }
}

/// Two are equal if they have the same fields in the same order, wherever these lie.
impl PartialEq for Fields<'_> {
    fn eq(&self, other: &Self) -> bool {
        self.iter().eq(other.iter())
    }
}

impl Eq for Fields<'_> {}

impl<'a> IntoIterator for &Fields<'a> {
    type Item = Field<'a>;
    type IntoIter = FieldsIter<'a>;

    fn into_iter(self) -> FieldsIter<'a> {
        self.iter()
    }
}

/// Iterates over [`Fields`].
#[derive(Clone, Debug)]
pub struct FieldsIter<'a>(Source<'a>);

impl<'a> Iterator for FieldsIter<'a> {
    type Item = Field<'a>;

    fn next(&mut self) -> Option<Field<'a>> {
        match &mut self.0 {
            Source::Lines(bytes) => {
                let line = line(bytes).ok()??;
                *bytes = &bytes[line.len() + 2..];
                Field::split(line)
            }
            Source::List(list) => list.split_off_first().copied(),
        }
    }
}
