//! Which frame may follow which (RFC 6455 section 5.4).

use super::{Error, Frame, FrameHeader, Opcode, Utf8};

/// Checks the frames that one side sends, one after the other: that each message is begun, goes on
/// and ends, that it is not too long, that text is UTF-8, and that nothing follows a close.
///
/// Representation: what is open, and some counts; no bytes of a message are kept. Control frames
/// may stand between the frames of a message and do not change it. After an error the connection is
/// of no more use.
#[derive(Clone, Debug)]
pub struct Sequence {
    limit: u64,
    /// The message that is open: of text with the state of its check, or of other bytes.
    open: Option<Option<Utf8>>,
    /// How many bytes of payload the frames of the message have, the last one included.
    length: u64,
    /// How many bytes of the last frame's payload are still to come.
    left: u64,
    is_final: bool,
    is_closed: bool,
}

impl Sequence {
    /// Begins a connection whose messages may have at most `limit` bytes.
    pub fn new(limit: u64) -> Self {
        Sequence { limit, open: None, length: 0, left: 0, is_final: true, is_closed: false }
    }

    /// Takes a whole frame. Returns whether it ends a message.
    ///
    /// # Errors
    /// Fails if the frame may not come now, if the message becomes too long, or if text is not
    /// UTF-8.
    pub fn accept(&mut self, frame: &Frame<'_>) -> Result<bool, Error> {
        self.begin(frame.header())?;
        if frame.header().opcode().is_control() { Ok(false) } else { self.payload(frame.payload()) }
    }

    /// Takes the header of the next frame. If it is a control frame, its payload is of no concern
    /// here; otherwise it is to be given to [`Sequence::payload`].
    ///
    /// # Errors
    /// Fails if the frame may not come now, or if the message becomes too long.
    pub fn begin(&mut self, header: &FrameHeader) -> Result<(), Error> {
        if self.is_closed {
            return Err(Error::AfterClose);
        }
        if self.left > 0 {
            return Err(Error::FrameNotEnded { left: self.left });
        }
        let opcode = header.opcode();
        if opcode.is_control() {
            self.is_closed = opcode == Opcode::Close;
            return Ok(());
        }
        match (opcode, self.open.is_some()) {
            (Opcode::Continuation, true) => {}
            (Opcode::Continuation, false) => return Err(Error::NothingToContinue),
            (_, true) => return Err(Error::MessageNotEnded),
            (Opcode::Text, false) => self.open = Some(Some(Utf8::new())),
            (_, false) => self.open = Some(None),
        }
        let (length, limit) = (self.length.saturating_add(header.payload_length()), self.limit);
        if length > limit {
            return Err(Error::MessageTooLong { length, limit });
        }
        self.length = length;
        self.left = header.payload_length();
        self.is_final = header.is_final();
        Ok(())
    }

    /// Takes a piece of the payload of the frame that was begun last, not masked; an empty one if
    /// the frame has none. Returns whether it ends a message.
    ///
    /// # Errors
    /// Fails if the piece is longer than what is left of the frame, or if text is not UTF-8.
    pub fn payload(&mut self, piece: &[u8]) -> Result<bool, Error> {
        self.left = self
            .left
            .checked_sub(piece.len() as u64)
            .ok_or(Error::PieceTooLong { length: piece.len(), left: self.left })?;
        let is_last = self.left == 0 && self.is_final;
        if let Some(Some(text)) = &mut self.open {
            text.check(piece)?;
            if is_last && !text.is_whole() {
                return Err(Error::NotUtf8);
            }
        }
        if is_last {
            self.open = None;
            self.length = 0;
        }
        Ok(is_last)
    }

    /// Returns how many bytes of the payload of the last data frame are still to come.
    pub fn left(&self) -> u64 {
        self.left
    }

    /// Returns whether a message of text is open; `None` if no message is.
    pub fn open_text(&self) -> Option<bool> {
        self.open.map(|text| text.is_some())
    }

    /// Returns whether a frame that closes has come.
    pub fn is_closed(&self) -> bool {
        self.is_closed
    }
}
