//! What the tests of kernels share; the fuzz target uses the checks, too.

#![allow(dead_code, reason = "each test uses its own part")]

pub mod byte_set;
pub mod decimal;
pub mod names;
pub mod percent;
pub mod rolling_hash;
pub mod uint8;
pub mod utf8;

/// Bytes between two pages that end the process if they are touched.
pub struct Guarded {
    from: *mut u8,
    pub page_bytes: usize,
}

impl Guarded {
    pub fn new() -> Guarded {
        // SAFETY: the mapping is new, and its middle page is its own.
        unsafe {
            let page_bytes = usize::try_from(libc::sysconf(libc::_SC_PAGESIZE)).unwrap();
            let (none, both) = (libc::PROT_NONE, libc::PROT_READ | libc::PROT_WRITE);
            let flags = libc::MAP_PRIVATE | libc::MAP_ANONYMOUS;
            let all = libc::mmap(std::ptr::null_mut(), 3 * page_bytes, none, flags, -1, 0);
            assert_ne!(all, libc::MAP_FAILED);
            let from = all.cast::<u8>().add(page_bytes);
            assert_eq!(libc::mprotect(from.cast(), page_bytes, both), 0);
            Guarded { from, page_bytes }
        }
    }

    pub fn bytes(&mut self) -> &mut [u8] {
        // SAFETY: the page is mapped as long as this lives, and borrowed as this is.
        unsafe { std::slice::from_raw_parts_mut(self.from, self.page_bytes) }
    }
}

impl Drop for Guarded {
    fn drop(&mut self) {
        // SAFETY: the mapping is this one's, and nothing of it is borrowed.
        unsafe { libc::munmap(self.from.sub(self.page_bytes).cast(), 3 * self.page_bytes) };
    }
}

/// Numbers that say little of each other.
pub struct Random(pub u32);

impl Random {
    pub fn next(&mut self) -> u32 {
        self.0 = self.0.wrapping_mul(747_796_405).wrapping_add(2_891_336_453);
        self.0
    }
}
