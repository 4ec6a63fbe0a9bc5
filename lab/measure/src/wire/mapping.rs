//! Address space: shared memory, inputs, and outputs.

use crate::system::checked;
use std::io;
use std::os::fd::{AsRawFd, OwnedFd};
use std::ptr::NonNull;

/// The page size on the machines that we know; a machine with larger pages maps more.
pub(crate) const PAGE_BYTES: usize = 4096;
/// The shortest cache line on the machines that we know.
pub(crate) const LINE_BYTES: usize = 64;

/// A range of address space, unmapped when it is dropped.
#[derive(Debug)]
pub(crate) struct Mapping {
    start: NonNull<u8>,
    length: usize,
}

// SAFETY: address space belongs to the whole process, whichever thread asked for it.
unsafe impl Send for Mapping {}

impl Mapping {
    /// Maps a file for reading and writing, shared with every process that has it.
    pub(crate) fn shared(file: &OwnedFd, length: usize) -> io::Result<Mapping> {
        let access = libc::PROT_READ | libc::PROT_WRITE;
        map(None, length, access, libc::MAP_SHARED, Some(file))
    }

    /// Returns zeroed private memory, all of it present from the start.
    pub(crate) fn private(length: usize) -> io::Result<Mapping> {
        let access = libc::PROT_READ | libc::PROT_WRITE;
        let flags = libc::MAP_PRIVATE | libc::MAP_ANONYMOUS | libc::MAP_POPULATE;
        map(None, length, access, flags, None)
    }

    /// Maps a file's first bytes, read-only, with at least `slack` zeros after them, all of it
    /// present from the start. If the file is open for reading only, the kernel refuses to make the
    /// mapping writable.
    pub(crate) fn input(file: &OwnedFd, bytes: usize, slack: usize) -> io::Result<Mapping> {
        let whole = bytes.checked_add(slack).ok_or(io::ErrorKind::OutOfMemory)?;
        let flags = libc::MAP_PRIVATE | libc::MAP_ANONYMOUS;
        let around = map(None, whole, libc::PROT_READ, flags, None)?;
        around.put(file, bytes)?;
        Ok(around)
    }

    /// Replaces an input by the first bytes of another file of the same length, and reads them
    /// once, so that the next reader finds them in the caches.
    ///
    /// # Errors
    /// Fails if the file cannot be mapped.
    pub(crate) fn exchange(&self, file: &OwnedFd, bytes: usize) -> io::Result<()> {
        self.put(file, bytes)?;
        for at in (0..bytes).step_by(LINE_BYTES) {
            // SAFETY: this many bytes are mapped there for reading.
            unsafe { self.start.add(at).read_volatile() };
        }
        Ok(())
    }

    /// Maps the first bytes of a file, read-only, at the start of this range.
    fn put(&self, file: &OwnedFd, bytes: usize) -> io::Result<()> {
        if bytes > 0 {
            assert!(bytes <= self.length);
            // The kernel fills the last page of a file with zeros.
            let flags = libc::MAP_SHARED | libc::MAP_FIXED | libc::MAP_POPULATE;
            let over = map(Some(self.start), bytes, libc::PROT_READ, flags, Some(file))?;
            // The new mapping lies within this range, which unmaps it.
            std::mem::forget(over);
        }
        Ok(())
    }

    pub(crate) fn start(&self) -> NonNull<u8> {
        self.start
    }

    /// Returns the length in bytes, whole pages.
    pub(crate) fn length(&self) -> usize {
        self.length
    }

    pub(crate) fn protect(&self, from: usize, length: usize, access: i32) -> io::Result<()> {
        if length == 0 {
            return Ok(());
        }
        // SAFETY: the range lies in this mapping, and only raw pointers point into it.
        checked(unsafe { libc::mprotect(self.start.add(from).as_ptr().cast(), length, access) })
            .map(drop)
    }
}

impl Drop for Mapping {
    fn drop(&mut self) {
        // SAFETY: the range is ours and nothing points into it any more.
        unsafe { libc::munmap(self.start.as_ptr().cast(), self.length) };
    }
}

pub(crate) fn map(
    at: Option<NonNull<u8>>,
    length: usize,
    access: i32,
    flags: i32,
    file: Option<&OwnedFd>,
) -> io::Result<Mapping> {
    let length = length.max(1).next_multiple_of(PAGE_BYTES);
    let place = at.map_or(std::ptr::null_mut(), |at| at.as_ptr().cast());
    let fd = file.map_or(-1, |file| file.as_raw_fd());
    // SAFETY: without an address, the kernel chooses a free one; a fixed one is a mapping of ours
    // to which only contestants have pointers, none of which runs.
    let start = unsafe { libc::mmap(place, length, access, flags, fd, 0) };
    if start == libc::MAP_FAILED {
        return Err(io::Error::last_os_error());
    }
    let start = NonNull::new(start.cast()).ok_or(io::ErrorKind::OutOfMemory)?;
    Ok(Mapping { start, length })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::files::memory_file;
    use std::io::Write;

    #[test]
    fn inputs_are_files_with_zeros_after_them() {
        let mut file = memory_file().unwrap();
        file.write_all(&[7; PAGE_BYTES]).unwrap();
        let file = OwnedFd::from(file);
        let read = |mapping: &Mapping, at: usize| {
            // SAFETY: the tests below read within the bytes and the slack that they asked for.
            unsafe { mapping.start().add(at).read() }
        };
        let mapping = Mapping::input(&file, PAGE_BYTES, 64).unwrap();
        assert_eq!((read(&mapping, 0), read(&mapping, PAGE_BYTES - 1)), (7, 7));
        assert_eq!((read(&mapping, PAGE_BYTES), read(&mapping, PAGE_BYTES + 63)), (0, 0));
        let mut other = memory_file().unwrap();
        other.write_all(&[8; PAGE_BYTES]).unwrap();
        mapping.exchange(&other.into(), PAGE_BYTES).unwrap();
        assert_eq!((read(&mapping, 0), read(&mapping, PAGE_BYTES - 1)), (8, 8));
        assert_eq!(read(&mapping, PAGE_BYTES + 63), 0);
        mapping.exchange(&file, PAGE_BYTES).unwrap();
        assert_eq!(read(&mapping, PAGE_BYTES - 1), 7);
        let empty = Mapping::input(&file, 0, 8).unwrap();
        assert_eq!(read(&empty, 7), 0);
        let private = Mapping::private(5).unwrap();
        assert_eq!(read(&private, 4), 0);
    }
}
