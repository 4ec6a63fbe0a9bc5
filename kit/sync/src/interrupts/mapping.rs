//! Memory that daemon and client share, by mapping.

use std::io;
use std::os::fd::{AsRawFd, BorrowedFd};

/// A mapping, until it is dropped.
#[derive(Debug)]
pub struct Mapping {
    start: *mut u8,
    bytes: usize,
}

/// What a mapping is for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Access {
    /// To read.
    Read,
    /// To read and write.
    Write,
}

// SAFETY: the mapping belongs to the process, not to a thread, and is unmapped only when dropped.
unsafe impl Send for Mapping {}
// SAFETY: what is accessed through it, is so by atomics: the promise of who calls `slice`.
unsafe impl Sync for Mapping {}

impl Mapping {
    /// Maps so many bytes from an offset on.
    ///
    /// # Errors
    ///
    /// The kernel refuses.
    pub fn new(
        file: BorrowedFd<'_>,
        offset: usize,
        bytes: usize,
        access: Access,
    ) -> io::Result<Mapping> {
        let protection = match access {
            Access::Read => libc::PROT_READ,
            Access::Write => libc::PROT_READ | libc::PROT_WRITE,
        };
        // SAFETY: a new mapping at a place of the kernel's choice takes nothing from anyone.
        let start = unsafe {
            let file = file.as_raw_fd();
            let (start, offset) = (std::ptr::null_mut(), offset as libc::off_t);
            libc::mmap(start, bytes, protection, libc::MAP_SHARED, file, offset)
        };
        if start == libc::MAP_FAILED {
            Err(io::Error::last_os_error())
        } else {
            Ok(Mapping { start: start.cast(), bytes })
        }
    }

    /// `count` values of a type, at a multiple of its alignment.
    ///
    /// # Safety
    ///
    /// Any bits are valid as a `T`, and others write to it only by atomic accesses that `T` allows.
    /// If it is written here, the mapping is [`Access::Write`].
    ///
    /// # Panics
    ///
    /// The values do not lie within the mapping.
    pub unsafe fn slice<T>(&self, offset: usize, count: usize) -> &[T] {
        let end = count.checked_mul(size_of::<T>()).and_then(|bytes| bytes.checked_add(offset));
        assert!(end.is_some_and(|end| end <= self.bytes) && offset.is_multiple_of(align_of::<T>()));
        // SAFETY: within the mapping, which begins at a page and lives as long as `self`; the rest
        // is the caller's promise.
        unsafe { std::slice::from_raw_parts(self.start.add(offset).cast(), count) }
    }
}

impl Drop for Mapping {
    fn drop(&mut self) {
        // SAFETY: exactly what `new` mapped; references into it borrow `self`.
        unsafe { libc::munmap(self.start.cast(), self.bytes) };
    }
}

/// The size of a page.
pub fn page_size() -> usize {
    // SAFETY: asks for a number.
    usize::try_from(unsafe { libc::sysconf(libc::_SC_PAGESIZE) }).unwrap_or(4096)
}
