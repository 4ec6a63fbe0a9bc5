//! Sinks: what an oracle or a contestant writes goes to a file, or nowhere.

use std::fs::File;
use std::io::Write;
use std::os::fd::OwnedFd;
use tiebreak_abi::RawSink;

/// Bytes are gathered until there are so many.
const BUFFER_BYTES: usize = 64 << 10;

/// Takes bytes by the C ABI.
pub(super) struct Sink {
    file: Option<File>,
    buffer: Vec<u8>,
    failed: Option<std::io::Error>,
}

impl Sink {
    /// One that writes to this file, or throws everything away.
    pub(super) fn new(file: Option<OwnedFd>) -> Sink {
        Sink::with_buffer(file, Sink::buffer())
    }

    /// One that gathers bytes in a buffer that is there already: made by [`Sink::buffer`], or given
    /// back by the sink that had it before.
    pub(super) fn with_buffer(file: Option<OwnedFd>, buffer: Vec<u8>) -> Sink {
        Sink { file: file.map(File::from), buffer, failed: None }
    }

    /// Room for what is gathered.
    pub(super) fn buffer() -> Vec<u8> {
        Vec::with_capacity(BUFFER_BYTES)
    }

    /// The sink as the C side sees it; it must not outlive `self`.
    pub(super) fn raw(&mut self) -> RawSink {
        RawSink { context: std::ptr::from_mut(self).cast(), write }
    }

    /// Writes what is left, and gives back the buffer.
    ///
    /// # Errors
    /// What the system said at the first write that failed.
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
    // SAFETY: the context is the sink that `raw` was called on, which is alive and used by nobody
    // else meanwhile; the caller says that so many bytes may be read.
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
