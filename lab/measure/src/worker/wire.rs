//! Values as bytes: what both ends of the channel write and read, in one fixed order.

/// Writes values one after the other.
#[derive(Default)]
pub(crate) struct Put(pub(crate) Vec<u8>);

impl Put {
    /// Starts a message of this kind.
    pub(crate) fn kind(kind: u8) -> Put {
        Put(vec![kind])
    }

    pub(crate) fn number(mut self, value: u64) -> Put {
        self.0.extend(value.to_le_bytes());
        self
    }

    pub(crate) fn flag(self, value: bool) -> Put {
        self.number(u64::from(value))
    }

    pub(crate) fn bytes(self, bytes: &[u8]) -> Put {
        let mut put = self.number(bytes.len() as u64);
        put.0.extend(bytes);
        put
    }

    pub(crate) fn numbers(self, values: &[u64]) -> Put {
        values.iter().fold(self.number(values.len() as u64), |put, value| put.number(*value))
    }

    pub(crate) fn text(self, text: &str) -> Put {
        self.bytes(text.as_bytes())
    }
}

/// Reads values one after the other; `None` where the bytes are too few or make no sense.
pub(crate) struct Take<'a>(pub(crate) &'a [u8]);

impl<'a> Take<'a> {
    pub(crate) fn kind(&mut self) -> Option<u8> {
        let (kind, rest) = self.0.split_first()?;
        self.0 = rest;
        Some(*kind)
    }

    pub(crate) fn number(&mut self) -> Option<u64> {
        let (number, rest) = self.0.split_first_chunk()?;
        self.0 = rest;
        Some(u64::from_le_bytes(*number))
    }

    pub(crate) fn number32(&mut self) -> Option<u32> {
        u32::try_from(self.number()?).ok()
    }

    pub(crate) fn flag(&mut self) -> Option<bool> {
        Some(self.number()? != 0)
    }

    pub(crate) fn bytes(&mut self) -> Option<&'a [u8]> {
        let length = usize::try_from(self.number()?).ok()?;
        let (bytes, rest) = self.0.split_at_checked(length)?;
        self.0 = rest;
        Some(bytes)
    }

    pub(crate) fn numbers(&mut self) -> Option<Vec<u64>> {
        (0..self.number()?).map(|_| self.number()).collect()
    }

    pub(crate) fn text(&mut self) -> Option<String> {
        Some(String::from_utf8_lossy(self.bytes()?).into_owned())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_written_is_read_and_no_more() {
        let put = Put::kind(3).number(7).flag(true).text("two words").bytes(b"").number(1 << 40);
        let mut take = Take(&put.0);
        assert_eq!(take.kind(), Some(3));
        assert_eq!(take.number32(), Some(7));
        assert_eq!(take.flag(), Some(true));
        assert_eq!(take.text().as_deref(), Some("two words"));
        assert_eq!(take.bytes(), Some(b"".as_slice()));
        assert_eq!(take.number32(), None, "too large");
        assert_eq!(take.number(), None);
        assert_eq!(take.bytes(), None);
        assert_eq!(Take(&[255; 8]).bytes(), None, "longer than what is there");
        assert_eq!(Take(&[]).kind(), None);
    }
}
