//! A document as MessagePack, written while it is read: `json.h` has the form.

use serde::de::{DeserializeSeed, Deserializer, Error, MapAccess, SeqAccess, Visitor};
use std::fmt::{Formatter, Write};
use tiebreak_abi::Sink;

/// Writes the value that it is asked to read.
pub struct Transcode<'m>(pub &'m mut Vec<u8>);

impl Transcode<'_> {
    /// Begins what has a length: the length is 0 until [`Transcode::end`] sets it.
    fn begin(&mut self, kind: u8) -> usize {
        self.0.extend_from_slice(&[kind, 0, 0, 0, 0]);
        self.0.len()
    }
    fn end(&mut self, begun: usize, count: usize) {
        self.0[begun - 4..begun].copy_from_slice(&(count as u32).to_be_bytes());
    }
}

impl<'de> DeserializeSeed<'de> for Transcode<'_> {
    type Value = ();
    fn deserialize<D: Deserializer<'de>>(self, from: D) -> Result<(), D::Error> {
        from.deserialize_any(self)
    }
}

impl<'de> Visitor<'de> for Transcode<'_> {
    type Value = ();

    fn expecting(&self, to: &mut Formatter<'_>) -> std::fmt::Result {
        to.write_str("any value")
    }
    fn visit_unit<E>(self) -> Result<(), E> {
        self.0.push(0xc0);
        Ok(())
    }
    fn visit_bool<E>(self, value: bool) -> Result<(), E> {
        self.0.push(0xc2 + u8::from(value));
        Ok(())
    }
    fn visit_f64<E>(self, value: f64) -> Result<(), E> {
        self.0.push(0xcb);
        self.0.extend_from_slice(&value.to_be_bytes());
        Ok(())
    }
    fn visit_u64<E: Error>(self, value: u64) -> Result<(), E> {
        self.visit_f64(value as f64)
    }
    fn visit_i64<E: Error>(self, value: i64) -> Result<(), E> {
        self.visit_f64(value as f64)
    }
    fn visit_str<E>(mut self, value: &str) -> Result<(), E> {
        let begun = self.begin(0xdb);
        self.end(begun, value.len());
        self.0.extend_from_slice(value.as_bytes());
        Ok(())
    }
    fn visit_seq<A: SeqAccess<'de>>(mut self, mut from: A) -> Result<(), A::Error> {
        let begun = self.begin(0xdd);
        let mut count = 0;
        while from.next_element_seed(Transcode(self.0))?.is_some() {
            count += 1;
        }
        self.end(begun, count);
        Ok(())
    }
    fn visit_map<A: MapAccess<'de>>(mut self, mut from: A) -> Result<(), A::Error> {
        let begun = self.begin(0xdf);
        let mut count = 0;
        while from.next_key_seed(Transcode(self.0))?.is_some() {
            from.next_value_seed(Transcode(self.0))?;
            count += 1;
        }
        self.end(begun, count);
        Ok(())
    }
}

/// Returns the checksum of MessagePack, and writes it where there is a sink.
pub fn answered(msgpack: &[u8], sink: Option<&mut Sink<'_>>) -> u64 {
    if let Some(sink) = sink {
        let mut text = String::new();
        for line in msgpack.chunks(32) {
            for byte in line {
                let _ = write!(text, "{byte:02x}");
            }
            text.push('\n');
        }
        sink.bytes(text.as_bytes());
    }
    let words = msgpack.chunks(512).filter_map(|chunk| chunk.first_chunk());
    let words = words.map(|word| u64::from_ne_bytes(*word));
    words.fold(msgpack.len() as u64, u64::wrapping_add)
}
