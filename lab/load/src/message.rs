//! What the payload of a message consists of, whatever carries it: a stamp, and filler behind it.

use crate::stamp::{STAMP_BYTES, STAMP_CHARACTERS, Stamp};
use std::fmt;

/// The longest payload: 128 MiB, so that a message with all that stands around it is below the
/// longest packet of MQTT, 256 MiB.
pub const PAYLOAD_BYTES_MAX: usize = 1 << 27;

/// What stands behind the stamp: any printable character that the alphabet of stamps lacks.
const FILLER: u8 = b'.';

/// Options of which no load can be made: a sentence with what would be right.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct BadOptions(pub String);

impl fmt::Display for BadOptions {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl std::error::Error for BadOptions {}

/// How a stamp is written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Form {
    /// As 16 bytes of any value.
    Bytes,
    /// As 22 characters of ASCII.
    Text,
}

impl Form {
    fn stamp_bytes(self) -> usize {
        match self {
            Form::Bytes => STAMP_BYTES,
            Form::Text => STAMP_CHARACTERS,
        }
    }
}

/// The payload of all messages of a load: they differ in their stamps only.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Message {
    form: Form,
    length: usize,
}

impl Message {
    /// Describes payloads of so many bytes.
    ///
    /// # Errors
    /// Fails if the stamp does not fit, or above [`PAYLOAD_BYTES_MAX`].
    pub(crate) fn new(form: Form, length: usize) -> Result<Message, BadOptions> {
        let least = form.stamp_bytes();
        if (least..=PAYLOAD_BYTES_MAX).contains(&length) {
            return Ok(Message { form, length });
        }
        Err(BadOptions(format!(
            "a payload of {length} bytes: give {least}, which its time stamp needs, to \
             {PAYLOAD_BYTES_MAX}"
        )))
    }

    /// Returns the bytes of a payload.
    pub(crate) fn length(&self) -> usize {
        self.length
    }

    /// Appends the payload of a message.
    pub(crate) fn append(&self, stamp: Stamp, out: &mut Vec<u8>) {
        let end = out.len() + self.length;
        match self.form {
            Form::Bytes => out.extend_from_slice(&stamp.to_bytes()),
            Form::Text => out.extend_from_slice(&stamp.to_text()),
        }
        out.resize(end, FILLER);
    }

    /// Reads a payload; `None` if it is of no message of the load: another length, no stamp, or
    /// another filler. Cost: linear.
    pub(crate) fn read(&self, payload: &[u8]) -> Option<Stamp> {
        let (stamp, filler) = payload.split_at_checked(self.form.stamp_bytes())?;
        if payload.len() != self.length || filler.iter().any(|byte| *byte != FILLER) {
            return None;
        }
        match self.form {
            Form::Bytes => stamp.try_into().ok().map(Stamp::from_bytes),
            Form::Text => stamp.try_into().ok().and_then(Stamp::from_text),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const STAMP: Stamp = Stamp { number: 5, intended_ns: 6, actual_ns: 7 };

    #[test]
    fn payloads_come_back_and_nothing_else_does() {
        for (form, least) in [(Form::Bytes, 16), (Form::Text, 22)] {
            for length in [least, least + 1, 1000] {
                let message = Message::new(form, length).unwrap();
                let mut out = b"before".to_vec();
                message.append(STAMP, &mut out);
                let payload = &mut out[6..];
                assert_eq!(payload.len(), length);
                assert_eq!(message.read(payload), Some(STAMP));
                assert_eq!(message.read(&payload[..length - 1]), None);
                assert_eq!(message.read(&[&payload[..], b"."].concat()), None);
                if length > least {
                    payload[length - 1] = b'!';
                    assert_eq!(message.read(payload), None);
                }
            }
            assert!(Message::new(form, least - 1).is_err());
            assert!(Message::new(form, PAYLOAD_BYTES_MAX).is_ok());
            let error = Message::new(form, PAYLOAD_BYTES_MAX + 1).unwrap_err().to_string();
            assert!(error.contains(&format!("give {least}")), "{error}");
        }
    }

    #[test]
    fn a_text_is_printable() {
        let mut text = Vec::new();
        Message::new(Form::Text, 100).unwrap().append(STAMP, &mut text);
        assert!(text.iter().all(u8::is_ascii_graphic), "{text:?}");
    }
}
