//! Frames that lie whole in a slice, and masking.

use super::{Error, FrameHeader, Opcode, Role};
use crate::writer::Writer;
use crate::{Decoded, TooSmall};

/// A frame with its whole payload, which is not masked here.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Frame<'a> {
    header: FrameHeader,
    payload: &'a [u8],
}

impl<'a> Frame<'a> {
    /// Returns a frame. `is_final` says whether it is the last of its message, and `mask` is the
    /// key if it is to be masked.
    ///
    /// # Errors
    /// Fails if a control frame is not final or has more than 125 bytes.
    pub fn new(
        opcode: Opcode,
        is_final: bool,
        mask: Option<[u8; 4]>,
        payload: &'a [u8],
    ) -> Result<Self, Error> {
        let header = FrameHeader::new(opcode, is_final, mask, payload.len() as u64)?;
        Ok(Frame { header, payload })
    }

    /// Decodes a frame that `sender` sent. A frame of a message may have at most `limit` bytes of
    /// payload. If the frame is whole, its payload is unmasked in place, so the same bytes are not
    /// to be decoded again.
    ///
    /// Only the frame by itself is looked at; [`Sequence::accept`](super::Sequence::accept) checks
    /// it against those before it.
    ///
    /// # Errors
    /// Fails where [`FrameHeader::decode`] does.
    pub fn decode(bytes: &'a mut [u8], sender: Role, limit: u64) -> Result<Decoded<Self>, Error> {
        let (header, start) = match FrameHeader::decode(bytes, sender, limit)? {
            Decoded::Whole { value, length } => (value, length),
            Decoded::Short { needs } => return Ok(Decoded::Short { needs }),
        };
        let end = end(start, header.payload_length());
        let Some(payload) = bytes.get_mut(start..end) else {
            return Ok(Decoded::Short { needs: end });
        };
        header.mask_payload(payload, 0);
        Ok(Decoded::Whole { value: Frame { header, payload }, length: end })
    }

    /// Returns the header.
    pub fn header(&self) -> &FrameHeader {
        &self.header
    }

    /// Returns the payload, not masked.
    pub fn payload(&self) -> &'a [u8] {
        self.payload
    }

    /// Writes the frame, masked if its header has a key, and returns how many bytes that took.
    ///
    /// # Errors
    /// Fails if `out` is too small.
    pub fn encode(&self, out: &mut [u8]) -> Result<usize, TooSmall> {
        Writer::fill(out, |writer| {
            self.header.write(writer);
            if let Some(place) = writer.place(self.payload.len()) {
                place.copy_from_slice(self.payload);
                self.header.mask_payload(place, 0);
            }
        })
    }

    /// Returns how many bytes [`Frame::encode`] writes.
    pub fn encoded_len(&self) -> usize {
        self.header.encoded_len() + self.payload.len()
    }
}

/// Returns where a payload ends that begins at `start`; beyond every slice if that is no `usize`.
pub(super) fn end(start: usize, payload_length: u64) -> usize {
    usize::try_from(payload_length).map_or(usize::MAX, |length| start.saturating_add(length))
}

/// Masks a part of a payload in place, or unmasks it, which is the same (RFC 6455 section 5.3).
///
/// Byte `i` of the payload is combined with byte `i` modulo 4 of the key by exclusive or; `part`
/// begins at byte `offset` of the payload. Cost: a load, an exclusive or and a store for 8 bytes,
/// or for as many as the compiler's vectors have.
pub fn mask(part: &mut [u8], key: [u8; 4], offset: u64) {
    let mut turned = key;
    turned.rotate_left((offset % 4) as usize);
    let [a, b, c, d] = turned;
    let word = u64::from_ne_bytes([a, b, c, d, a, b, c, d]);
    let (words, rest) = part.as_chunks_mut();
    for bytes in words {
        *bytes = (u64::from_ne_bytes(*bytes) ^ word).to_ne_bytes();
    }
    for (byte, key_byte) in rest.iter_mut().zip(turned.iter().cycle()) {
        *byte ^= key_byte;
    }
}
