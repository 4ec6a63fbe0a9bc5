//! Sinks: write the output of an oracle or a contestant to a file, or discard it.

use std::fs::File;
use std::io::Write;
use std::os::fd::OwnedFd;
use tiebreak_abi::RawSink;

/// The number of bytes that are buffered.
const BUFFER_BYTES: usize = 64 << 10;

/// Takes bytes by the C ABI.
pub(super) struct Sink {
    file: Option<File>,
    buffer: Vec<u8>,
    failed: Option<std::io::Error>,
}

impl Sink {
    /// Creates a sink that writes to this file, or discards everything.
    pub(super) fn new(file: Option<OwnedFd>) -> Sink {
        Sink::with_buffer(file, Sink::buffer())
    }

    /// Creates a sink with an existing buffer: one from [`Sink::buffer`], or from the sink that
    /// used it before.
    pub(super) fn with_buffer(file: Option<OwnedFd>, buffer: Vec<u8>) -> Sink {
        Sink { file: file.map(File::from), buffer, failed: None }
    }

    /// Allocates a buffer.
    pub(super) fn buffer() -> Vec<u8> {
        Vec::with_capacity(BUFFER_BYTES)
    }

    /// Returns the sink for the C side; it must not outlive `self`.
    pub(super) fn raw(&mut self) -> RawSink {
        RawSink { context: std::ptr::from_mut(self).cast(), write }
    }

    /// Writes the rest, and returns the buffer.
    ///
    /// # Errors
    /// Returns the error of the first write that failed.
    pub(super) fn finish(mut self) -> std::io::Result<Vec<u8>> {
        self.flush();
        self.failed.map_or(Ok(self.buffer), Err)
    }

    fn take(&mut self, bytes: &[u8]) {
        if self.file.is_none() {
            return;
        }
        if self.buffer.len() + bytes.len() > BUFFER_BYTES {
            self.flush();
        }
        if bytes.len() >= BUFFER_BYTES {
            self.write(bytes);
        } else {
            self.buffer.extend(bytes);
        }
    }

    fn flush(&mut self) {
        let buffer = std::mem::take(&mut self.buffer);
        self.write(&buffer);
        self.buffer = buffer;
        self.buffer.clear();
    }

    fn write(&mut self, bytes: &[u8]) {
        if let (Some(file), None) = (&mut self.file, &self.failed) {
            self.failed = file.write_all(bytes).err();
        }
    }
}

unsafe extern "C" fn write(context: *mut libc::c_void, bytes: *const libc::c_void, count: u64) {
    if count == 0 {
        return;
    }
    // SAFETY: the context is the sink that `raw` was called on, which is alive and not used
    // elsewhere during the call; the caller guarantees that this many bytes are readable.
    unsafe {
        let bytes = std::slice::from_raw_parts(bytes.cast::<u8>(), count as usize);
        (*context.cast::<Sink>()).take(bytes);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::output::memory_file;
    use std::os::unix::fs::FileExt;

    #[test]
    fn bytes_of_any_number_arrive_in_order() {
        let file = memory_file().unwrap();
        let mut sink = Sink::new(Some(file.try_clone().unwrap().into()));
        let raw = sink.raw();
        let mut expected = Vec::new();
        for length in [3, 0, BUFFER_BYTES, 1, BUFFER_BYTES - 1, 2, 3 * BUFFER_BYTES, 5] {
            let part: Vec<u8> = (0..length).map(|at| (at + expected.len()) as u8).collect();
            // SAFETY: the sink is alive, and the part has as many bytes.
            unsafe { (raw.write)(raw.context, part.as_ptr().cast(), part.len() as u64) };
            expected.extend(part);
        }
        sink.finish().unwrap();
        let mut got = vec![0; expected.len()];
        file.read_exact_at(&mut got, 0).unwrap();
        assert_eq!(got, expected);
        assert_eq!(file.metadata().unwrap().len(), expected.len() as u64);
    }
}
