//! Memory of a probe's own, on pages of a chosen size.

use super::*;

/// Bytes of a page that every kernel has, and of a page that it may give on request, on x86 and on
/// Arm with pages of 4 KiB.
pub(crate) const SMALL_PAGE: usize = 4096;
/// See [`SMALL_PAGE`].
pub(crate) const HUGE_PAGE: usize = 2 << 20;

/// Which pages are asked for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Pages {
    /// The smallest that there are.
    Small = libc::MADV_NOHUGEPAGE as isize,
    /// Transparent huge pages; the kernel may give small ones instead.
    Huge = libc::MADV_HUGEPAGE as isize,
    /// What a program gets that asks for none.
    AsGiven = libc::MADV_NORMAL as isize,
}

/// Bytes below and above the memory that cannot be touched.
const AROUND: usize = 2 * HUGE_PAGE;

/// Zeroed memory that starts at a multiple of [`HUGE_PAGE`]. Pages come when they are touched.
#[derive(Debug)]
pub(crate) struct Mapped {
    whole: *mut u8,
    start: *mut u8,
    bytes: usize,
}

// SAFETY: it owns its memory, of which only raw pointers are given away.
unsafe impl Send for Mapped {}
// SAFETY: as above; who writes through the pointers from several threads uses atomics.
unsafe impl Sync for Mapped {}

impl Mapped {
    /// Reserves memory, rounded up to whole huge pages, between pages that cannot be touched, so
    /// that the kernel counts it apart from all other memory.
    ///
    /// # Errors
    /// The kernel's, if it has no address space or allows no more.
    pub(crate) fn new(bytes: usize, pages: Pages) -> io::Result<Mapped> {
        let bytes = bytes.max(1).div_ceil(HUGE_PAGE) * HUGE_PAGE;
        let (anywhere, all) = (std::ptr::null_mut(), bytes + AROUND);
        let flags = libc::MAP_PRIVATE | libc::MAP_ANONYMOUS | libc::MAP_NORESERVE;
        // SAFETY: a new mapping at an address that the kernel chooses touches no other memory.
        let whole = unsafe { libc::mmap(anywhere, all, libc::PROT_NONE, flags, -1, 0) };
        if whole == libc::MAP_FAILED {
            return Err(io::Error::last_os_error());
        }
        // At least a page below the start, at least one above the end.
        let before = HUGE_PAGE - (whole as usize + SMALL_PAGE) % HUGE_PAGE + SMALL_PAGE;
        let start = whole.wrapping_byte_add(before);
        let mapped = Mapped { whole: whole.cast(), start: start.cast(), bytes };
        // SAFETY: the range lies within the new mapping; advice changes no contents. A kernel
        // without huge pages refuses it, and what really came is asked for later.
        let error = unsafe {
            libc::madvise(start, bytes, pages as libc::c_int);
            libc::mprotect(start, bytes, libc::PROT_READ | libc::PROT_WRITE)
        };
        if error == 0 { Ok(mapped) } else { Err(io::Error::last_os_error()) }
    }

    /// Returns how many bytes there are.
    pub(crate) fn bytes(&self) -> usize {
        self.bytes
    }

    /// Returns the address of a byte of it.
    ///
    /// # Panics
    /// The offset is not below [`Mapped::bytes`].
    pub(crate) fn at(&self, offset: usize) -> *mut u8 {
        assert!(offset < self.bytes, "offset {offset} of {}", self.bytes);
        self.start.wrapping_add(offset)
    }

    /// Returns the share of what was touched so far that lies on huge pages; `None` where the
    /// kernel does not say, or nothing was touched.
    pub(crate) fn huge_share(&self) -> Option<f64> {
        huge_share(&Tree::at(Path::new("/")), self.start as usize)
    }
}

impl Drop for Mapped {
    fn drop(&mut self) {
        // SAFETY: the mapping is this value's own and no pointer into it outlives the value.
        unsafe { libc::munmap(self.whole.cast(), self.bytes + AROUND) };
    }
}

/// Returns the same of the mapping that starts at an address, by `/proc/self/smaps`.
fn huge_share(tree: &Tree, start: usize) -> Option<f64> {
    let text = format!("\n{}", tree.text("/proc/self/smaps")?);
    let (_, own) = text.split_once(&format!("\n{start:x}-"))?;
    let [all, huge] = ["Anonymous:", "AnonHugePages:"].map(|name| {
        let kib = own.lines().find_map(|line| line.strip_prefix(name))?;
        kib.trim().trim_end_matches(" kB").parse::<f64>().ok()
    });
    Some(huge? / all.filter(|all| *all > 0.0)?)
}

/// Returns what a probe may map at most: an eighth of the memory that is free for use, here and in
/// the control groups; 256 MiB if neither is known.
pub(crate) fn memory_share_bytes(tree: &Tree) -> u64 {
    cgroup::memory_free_bytes(tree).unwrap_or(2 << 30) / 8
}

#[cfg(test)]
mod tests {
    use super::*;
    use tiebreak_machine::tree::made_up::tree;

    #[test]
    fn memory_is_aligned_zeroed_and_of_small_pages() {
        let mapped = Mapped::new(3 << 20, Pages::Small).unwrap();
        assert_eq!((mapped.bytes(), mapped.at(0) as usize % HUGE_PAGE), (4 << 20, 0));
        for offset in (0..mapped.bytes()).step_by(SMALL_PAGE) {
            // SAFETY: the address lies within the mapping.
            unsafe { assert_eq!(mapped.at(offset).replace(1), 0) };
        }
        // A kernel that does not report it is no failure.
        assert_eq!(mapped.huge_share().unwrap_or(0.0), 0.0);
    }

    #[test]
    fn the_share_is_that_of_one_mapping() {
        let smaps = "7f00-7f10 rw-p 00000000 00:00 0\nAnonymous: 4096 kB\nAnonHugePages: 0 kB\n\
            8000-9000 rw-p 00000000 00:00 0\nSize: 8192 kB\nAnonymous: 4096 kB\n\
            AnonHugePages: 2048 kB\nVmFlags: rd wr\n\
            a000-b000 rw-p 00000000 00:00 0\nAnonymous: 0 kB\nAnonHugePages: 0 kB\n";
        let (_folder, tree) = tree(&[("proc/self/smaps", smaps)]);
        let check = |start, share| assert_eq!(huge_share(&tree, start), share);
        check(0x7f00, Some(0.0));
        check(0x8000, Some(0.5));
        check(0xa000, None);
        check(0xc000, None);
    }

    #[test]
    fn the_share_of_memory_obeys_the_group() {
        let check = |files: &[(&str, &str)], bytes: u64| {
            let (_folder, tree) = tree(files);
            assert_eq!(memory_share_bytes(&tree), bytes);
        };
        let info = ("proc/meminfo", "MemTotal: 9 kB\nMemAvailable:    8192 kB\n");
        check(&[info], 1 << 20);
        let group = [
            info,
            ("proc/self/cgroup", "0::/job\n"),
            ("proc/self/mountinfo", "30 1 0:26 / /sys/fs/cgroup rw - cgroup2 cgroup2 rw\n"),
            ("sys/fs/cgroup/job/memory.max", "4194304"),
            ("sys/fs/cgroup/job/memory.current", "3145728"),
        ];
        check(&group[..4], 1 << 19);
        check(&group, 1 << 17);
        check(&[], 256 << 20);
    }
}
