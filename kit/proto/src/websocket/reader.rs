//! Reading messages as they come.

use super::frame::end;
use super::{Close, Error, FrameHeader, Opcode, Role, Sequence};
use crate::Decoded;

/// Reads the messages that one side sends, without keeping any of their bytes.
///
/// Representation: a [`Sequence`], and the header of the frame that is being read. A message is
/// given on in pieces, as it comes, whatever its frames are; a control frame is given on whole.
#[derive(Clone, Debug)]
pub struct Reader {
    sender: Role,
    limit: u64,
    sequence: Sequence,
    /// The header of the data frame whose payload is still coming.
    frame: Option<FrameHeader>,
}

/// What a peer says.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Event<'a> {
    /// A piece of a text. All pieces together are UTF-8; one may begin or end within a character.
    Text {
        /// The next bytes, none if a frame is empty.
        piece: &'a [u8],
        /// Whether the message ends here.
        is_last: bool,
    },
    /// A piece of a message of any bytes.
    Binary {
        /// The next bytes, none if a frame is empty.
        piece: &'a [u8],
        /// Whether the message ends here.
        is_last: bool,
    },
    /// To be answered with a pong of the same payload.
    Ping(&'a [u8]),
    /// The answer to a ping, or sent unasked.
    Pong(&'a [u8]),
    /// The last that comes, to be answered with a close if none was sent.
    Close(Option<Close<'a>>),
}

impl Reader {
    /// Begins to read what `sender` sends, in messages of at most `limit` bytes.
    pub fn new(sender: Role, limit: u64) -> Self {
        Reader { sender, limit, sequence: Sequence::new(limit), frame: None }
    }

    /// Decodes the next event. The bytes that it takes are unmasked in place and are not to be
    /// decoded again; the rest stays as it is.
    ///
    /// # Errors
    /// Fails where [`FrameHeader::decode`], [`Sequence`] and [`Close::decode`] do. After an error
    /// the connection is of no more use.
    pub fn decode<'a>(&mut self, bytes: &'a mut [u8]) -> Result<Decoded<Event<'a>>, Error> {
        if let Some(header) = self.frame {
            return self.piece(header, bytes, 0);
        }
        let (header, start) = match FrameHeader::decode(bytes, self.sender, self.limit)? {
            Decoded::Whole { value, length } => (value, length),
            Decoded::Short { needs } => return Ok(Decoded::Short { needs }),
        };
        // Nothing changes until an event is there, as the header is given again until then.
        let mut sequence = self.sequence.clone();
        sequence.begin(&header)?;
        let is_control = header.opcode().is_control();
        let length = header.payload_length();
        let needs = end(start, if is_control { length } else { length.min(1) });
        if bytes.len() < needs {
            return Ok(Decoded::Short { needs });
        }
        self.sequence = sequence;
        if !is_control {
            return self.piece(header, bytes, start);
        }
        let payload = &mut bytes[start..needs];
        header.mask_payload(payload, 0);
        Ok(Decoded::Whole { value: control(header.opcode(), payload)?, length: needs })
    }

    /// Gives on as much of a frame's payload as there is, from `start` on.
    fn piece<'a>(
        &mut self,
        header: FrameHeader,
        bytes: &'a mut [u8],
        start: usize,
    ) -> Result<Decoded<Event<'a>>, Error> {
        let left = self.sequence.left();
        if left > 0 && bytes.len() == start {
            return Ok(Decoded::Short { needs: start + 1 });
        }
        let end = end(start, left).min(bytes.len());
        let piece = &mut bytes[start..end];
        header.mask_payload(piece, header.payload_length() - left);
        let is_text = self.sequence.open_text() == Some(true);
        let is_last = self.sequence.payload(piece)?;
        self.frame = (self.sequence.left() > 0).then_some(header);
        let value =
            if is_text { Event::Text { piece, is_last } } else { Event::Binary { piece, is_last } };
        Ok(Decoded::Whole { value, length: end })
    }
}

fn control(opcode: Opcode, payload: &[u8]) -> Result<Event<'_>, Error> {
    Ok(match opcode {
        Opcode::Ping => Event::Ping(payload),
        Opcode::Pong => Event::Pong(payload),
        _ => Event::Close(Close::decode(payload)?),
    })
}
