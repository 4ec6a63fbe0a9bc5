//! Text that comes in parts.

use super::{Invalid, Validator, begun};
use core::str;

/// A text of which each part is validated as it comes. Places are counted from its start.
#[derive(Clone, Debug)]
pub struct Stream {
    validator: Validator,
    /// How many bytes came, with those that wait.
    came: usize,
    /// The first bytes of a character whose end has not come.
    waiting: [u8; 4],
    waiting_bytes: usize,
    mistake: Option<Invalid>,
}

impl Stream {
    pub(super) const fn new(validator: Validator) -> Stream {
        Stream { validator, came: 0, waiting: [0; 4], waiting_bytes: 0, mistake: None }
    }

    /// Takes the next part.
    ///
    /// # Errors
    /// Fails if what came is the beginning of no text, and says where; from then on always.
    pub fn push(&mut self, part: &[u8]) -> Result<(), Invalid> {
        if let Some(mistake) = self.mistake {
            return Err(mistake);
        }
        let pushed = self.end_waiting(part).and_then(|rest| self.push_rest(rest));
        self.mistake = pushed.err();
        pushed
    }

    /// Ends the text.
    ///
    /// # Errors
    /// Fails if a part did, and if it ends within a character.
    pub fn finish(self) -> Result<(), Invalid> {
        match (self.mistake, self.waiting_bytes) {
            (Some(mistake), _) => Err(mistake),
            (None, 0) => Ok(()),
            (None, waiting) => Err(Invalid { at: self.came - waiting, bytes: None }),
        }
    }

    /// Takes the end of the character that waits; returns what comes after it.
    fn end_waiting<'part>(&mut self, part: &'part [u8]) -> Result<&'part [u8], Invalid> {
        let mut rest = part;
        while let (1.., [byte, after @ ..]) = (self.waiting_bytes, rest) {
            self.waiting[self.waiting_bytes] = *byte;
            let bytes = self.waiting_bytes + 1;
            self.waiting_bytes = match str::from_utf8(&self.waiting[..bytes]) {
                Ok(_) => 0,
                Err(error) if error.error_len().is_none() => bytes,
                Err(error) => return Err(Invalid::of(error, self.came - self.waiting_bytes)),
            };
            self.came += 1;
            rest = after;
        }
        Ok(rest)
    }

    /// Takes bytes before which no character waits; none, if one does.
    fn push_rest(&mut self, bytes: &[u8]) -> Result<(), Invalid> {
        if bytes.is_empty() {
            return Ok(());
        }
        let (whole, begun) = bytes.split_at(bytes.len() - begun(bytes));
        self.validator.validate(whole).map_err(|mistake| Invalid {
            at: self.came + mistake.at,
            // A character that ends with these is broken off by the one that is begun after it.
            bytes: mistake.bytes.or(Some((whole.len() - mistake.at) as u8)),
        })?;
        self.came += whole.len();
        if let Err(error) = str::from_utf8(begun)
            && error.error_len().is_some()
        {
            return Err(Invalid::of(error, self.came));
        }
        self.waiting[..begun.len()].copy_from_slice(begun);
        self.waiting_bytes = begun.len();
        self.came += begun.len();
        Ok(())
    }
}
