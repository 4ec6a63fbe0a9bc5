//! The chunked transfer coding (RFC 9112 section 7.1).

use super::line::{is_space, is_text, line};
use super::{Error, Fields};
use crate::writer::Writer;
use crate::{Decoded, TooSmall};

/// The most digits of the size of a chunk: those of 64 bits.
const MAX_DIGITS: usize = 16;

/// Reads a body that comes in chunks.
///
/// Representation: what comes next, and what is left of the limits. It keeps no bytes: data is
/// given on as it comes, and what lies between waits in the caller's buffer until it is whole.
///
/// ```
/// use tiebreak_proto::Decoded;
/// use tiebreak_proto::http::{Chunked, Piece};
///
/// let mut rest: &[u8] = b"4\r\nWiki\r\n0\r\n\r\n";
/// let mut chunked = Chunked::new(1 << 20, 1024);
/// let mut body = Vec::new();
/// while let Decoded::Whole { value, length } = chunked.decode(rest)? {
///     rest = &rest[length..];
///     match value {
///         Piece::Data(data) => body.extend(data),
///         Piece::End(trailers) => {
///             assert_eq!(trailers.iter().count(), 0);
///             break;
///         }
///     }
/// }
/// assert_eq!((&body[..], rest), (&b"Wiki"[..], &b""[..]));
/// # Ok::<(), tiebreak_proto::http::Error>(())
/// ```
#[derive(Clone, Debug)]
pub struct Chunked {
    next: Next,
    /// How many more bytes of data may be announced.
    left: u64,
    /// The most bytes of data.
    limit: u64,
    /// How many more bytes of extensions may come.
    extensions_left: usize,
    /// The most bytes of extensions, and of trailers.
    extra_limit: usize,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Next {
    /// The first size.
    Size,
    /// This many bytes of data, then the CRLF that ends the chunk, and the next size.
    Data(u64),
    /// The body has ended.
    Nothing,
}

/// What a body in chunks is made of.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Piece<'a> {
    /// The next bytes of the body, at least one.
    Data(&'a [u8]),
    /// The end, with the trailers. A recipient does not let them change how the message is framed
    /// or routed (RFC 9110 section 6.5.1).
    End(Fields<'a>),
}

impl Chunked {
    /// Begins a body of at most `limit` bytes. The extensions of all its chunks together have at
    /// most `extra_limit` bytes, and so do its trailers.
    pub fn new(limit: u64, extra_limit: usize) -> Self {
        Chunked { next: Next::Size, left: limit, limit, extensions_left: extra_limit, extra_limit }
    }

    /// Returns whether the body has ended.
    pub fn is_ended(&self) -> bool {
        self.next == Next::Nothing
    }

    /// Decodes the next piece of the body. Extensions of chunks are checked for bytes that are
    /// never allowed, and skipped.
    ///
    /// # Errors
    /// Fails if the size of a chunk, its end or a trailer is malformed, if a limit is exceeded, or
    /// if the body has ended. After an error the connection is of no more use.
    pub fn decode<'a>(&mut self, bytes: &'a [u8]) -> Result<Decoded<Piece<'a>>, Error> {
        let size_at = match self.next {
            Next::Size => 0,
            Next::Data(0) => match bytes {
                [] | [b'\r'] => return Ok(Decoded::Short { needs: bytes.len() + 1 }),
                [b'\r', b'\n', ..] => 2,
                _ => return Err(Error::ChunkEnd),
            },
            Next::Data(size) => return Ok(self.data(bytes, 0, size)),
            Next::Nothing => return Err(Error::BodyEnded),
        };
        // Nothing changes until a piece is there, as its bytes are given again until then.
        let mut next = self.clone();
        let Some((size, length)) = next.size(&bytes[size_at..])? else {
            return Ok(Decoded::Short { needs: bytes.len() + 1 });
        };
        let start = size_at + length;
        let piece = if size == 0 { next.end(bytes, start)? } else { next.data(bytes, start, size) };
        if let Decoded::Whole { .. } = piece {
            *self = next;
        }
        Ok(piece)
    }

    /// Reads the line before a chunk. Returns the size and the bytes of the line; `None` if it is
    /// not whole.
    fn size(&mut self, bytes: &[u8]) -> Result<Option<(u64, usize)>, Error> {
        let limit = self.extra_limit;
        let longest = self.extensions_left.saturating_add(MAX_DIGITS + 2);
        let seen = &bytes[..bytes.len().min(longest)];
        let Some(line) = line(seen)? else {
            if bytes.len() < longest {
                return Ok(None);
            }
            split_size(seen)?;
            return Err(Error::ExtensionsTooLong { limit });
        };
        let (size, extension) = split_size(line)?;
        check_extension(extension)?;
        self.extensions_left = self
            .extensions_left
            .checked_sub(extension.len())
            .ok_or(Error::ExtensionsTooLong { limit })?;
        self.left = self.left.checked_sub(size).ok_or(Error::BodyTooLong {
            length: (self.limit - self.left).saturating_add(size),
            limit: self.limit,
        })?;
        Ok(Some((size, line.len() + 2)))
    }

    /// Gives on as much of a chunk as there is.
    fn data<'a>(&mut self, bytes: &'a [u8], start: usize, size: u64) -> Decoded<Piece<'a>> {
        let there = bytes.len() - start;
        if there == 0 {
            return Decoded::Short { needs: start + 1 };
        }
        let taken = usize::try_from(size).map_or(there, |size| size.min(there));
        self.next = Next::Data(size - taken as u64);
        let end = start + taken;
        Decoded::Whole { value: Piece::Data(&bytes[start..end]), length: end }
    }

    /// Reads the trailers.
    fn end<'a>(&mut self, bytes: &'a [u8], start: usize) -> Result<Decoded<Piece<'a>>, Error> {
        let longest = self.extra_limit.saturating_add(2);
        let there = &bytes[start..];
        let Some((fields, length)) = Fields::decode(&there[..there.len().min(longest)])? else {
            return if there.len() < longest {
                Ok(Decoded::Short { needs: bytes.len() + 1 })
            } else {
                Err(Error::TooLong { limit: self.extra_limit })
            };
        };
        self.next = Next::Nothing;
        Ok(Decoded::Whole { value: Piece::End(fields), length: start + length })
    }
}

/// Splits the size of a chunk from what follows in its line.
fn split_size(line: &[u8]) -> Result<(u64, &[u8]), Error> {
    let digits = line.iter().take_while(|byte| byte.is_ascii_hexdigit()).count();
    if digits == 0 || digits > MAX_DIGITS {
        return Err(Error::ChunkSize);
    }
    let (digits, rest) = line.split_at(digits);
    let size = digits.iter().fold(0, |size, &digit| {
        let digit = (digit as char).to_digit(16).unwrap_or(0);
        size << 4 | u64::from(digit)
    });
    Ok((size, rest))
}

/// Checks that what follows a size is nothing, or begins with `;` and has no control characters.
fn check_extension(extension: &[u8]) -> Result<(), Error> {
    let first = extension.iter().find(|&&byte| !is_space(byte));
    let is_extension = extension.is_empty() || first == Some(&b';');
    if is_extension && extension.iter().all(|&byte| is_text(byte)) {
        Ok(())
    } else {
        Err(Error::ChunkExtension)
    }
}

/// A chunk to be written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Chunk<'a>(pub &'a [u8]);

impl Chunk<'_> {
    /// Writes the chunk and returns how many bytes that took: none if it is empty, as an empty
    /// chunk would end the body.
    ///
    /// # Errors
    /// Fails if `out` is too small.
    pub fn encode(&self, out: &mut [u8]) -> Result<usize, TooSmall> {
        Writer::fill(out, |writer| self.write(writer))
    }

    /// Returns how many bytes [`Chunk::encode`] writes.
    pub fn encoded_len(&self) -> usize {
        Writer::count(|writer| self.write(writer))
    }

    fn write(&self, writer: &mut Writer<'_>) {
        if !self.0.is_empty() {
            writer.put_hex(self.0.len() as u64);
            writer.put(b"\r\n");
            writer.put(self.0);
            writer.put(b"\r\n");
        }
    }
}

/// The end of a body in chunks, with its trailers, to be written.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct LastChunk<'a>(pub Fields<'a>);

impl LastChunk<'_> {
    /// Writes the end of a body and returns how many bytes that took.
    ///
    /// # Errors
    /// Fails if `out` is too small.
    pub fn encode(&self, out: &mut [u8]) -> Result<usize, TooSmall> {
        Writer::fill(out, |writer| self.write(writer))
    }

    /// Returns how many bytes [`LastChunk::encode`] writes.
    pub fn encoded_len(&self) -> usize {
        Writer::count(|writer| self.write(writer))
    }

    fn write(&self, writer: &mut Writer<'_>) {
        writer.put(b"0\r\n");
        self.0.write(writer);
    }
}
