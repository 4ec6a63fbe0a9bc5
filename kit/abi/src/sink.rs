//! The receiver of answers and inputs.

use crate::raw::RawSink;
use core::fmt::{self, Display, Write};

/// A receiver of the bytes of an answer or an input. As a [`core::fmt::Write`] it never fails.
#[derive(Debug)]
pub struct Sink<'a>(&'a RawSink);

impl<'a> Sink<'a> {
    /// Wraps the laboratory's sink.
    ///
    /// # Safety
    /// `raw.write` may be called with `raw.context` and any bytes for as long as `'a`.
    pub unsafe fn new(raw: &'a RawSink) -> Sink<'a> {
        Sink(raw)
    }

    /// Writes these bytes.
    pub fn bytes(&mut self, bytes: &[u8]) {
        // SAFETY: the bytes are readable; the caller of `new` promised the rest.
        unsafe { (self.0.write)(self.0.context, bytes.as_ptr().cast(), bytes.len() as u64) }
    }

    /// Writes a value's text and the end of a line: one item of an answer.
    pub fn line(&mut self, item: impl Display) {
        // `write_str` below never fails, and an error of the item's own leaves its line short.
        let _ = write!(self, "{item}");
        self.bytes(b"\n");
    }
}

impl Write for Sink<'_> {
    fn write_str(&mut self, text: &str) -> fmt::Result {
        self.bytes(text.as_bytes());
        Ok(())
    }
}
