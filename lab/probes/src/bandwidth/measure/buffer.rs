//! Memory that a thread of the probe goes through: large pages where the kernel gives them, on a
//! node of its own choice.

use super::*;

/// The size of the large pages that are asked for.
pub(super) const LARGE_PAGE_BYTES: usize = HUGE_PAGE;

/// `MPOL_BIND` of `linux/mempolicy.h`: pages come from these nodes or not at all.
const BIND: libc::c_int = 2;

/// Words of a mask of nodes: room for 1024, the most that a kernel is built for.
const NODE_WORDS: usize = 16;

/// A buffer of the calling process, aligned to a large page.
#[derive(Debug)]
pub(super) struct Buffer(Mapped);

impl Buffer {
    /// Address space of at least `bytes`, in whole large pages, none of it touched yet. With a
    /// node, all of its pages will come from there.
    ///
    /// # Errors
    /// What the kernel says: there is not so much address space, or the node cannot be used.
    pub(super) fn new(bytes: usize, node: Option<usize>) -> io::Result<Buffer> {
        let mut buffer = Buffer(Mapped::new(bytes, Pages::Huge)?);
        node.map_or(Ok(()), |node| buffer.bind(node))?;
        Ok(buffer)
    }

    fn bind(&mut self, node: usize) -> io::Result<()> {
        let mask = node_mask(node).ok_or(io::ErrorKind::InvalidInput)?;
        let bits = (NODE_WORDS * 64) as libc::c_ulong;
        // SAFETY: the range is part of the mapping, and the mask has as many bits as is said.
        let error = unsafe {
            let (start, bytes) = (self.start(), self.0.bytes());
            libc::syscall(libc::SYS_mbind, start, bytes, BIND, mask.as_ptr(), bits, 0_u32)
        };
        if error == 0 { Ok(()) } else { Err(io::Error::last_os_error()) }
    }

    /// Writes into every page for the first time, which gives it memory, until `go_on` says no;
    /// gives the bytes that are ready.
    pub(super) fn touch(&mut self, mut go_on: impl FnMut() -> bool) -> usize {
        for at in (0..self.0.bytes()).step_by(LARGE_PAGE_BYTES) {
            if !go_on() {
                return at;
            }
            for page in (at..at + LARGE_PAGE_BYTES).step_by(BLOCK_BYTES) {
                // SAFETY: the address lies in the mapping, which nobody else has.
                unsafe { self.0.at(page).write_volatile(1) };
            }
        }
        self.0.bytes()
    }

    /// Where it begins.
    pub(super) fn start(&mut self) -> *mut u8 {
        self.0.at(0)
    }
}

/// The mask with this node alone; `None` if the kernel cannot have such a node.
fn node_mask(node: usize) -> Option<[u64; NODE_WORDS]> {
    let mut mask = [0; NODE_WORDS];
    *mask.get_mut(node / 64)? = 1 << (node % 64);
    Some(mask)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_mask_names_one_node() {
        for (node, word, bits) in [(0, 0, 1), (3, 0, 8), (64, 1, 1), (1023, 15, 1 << 63)] {
            let mask = node_mask(node).unwrap();
            assert_eq!((mask[word], mask.iter().map(|w| w.count_ones()).sum()), (bits, 1_u32));
        }
        assert_eq!(node_mask(1024), None);
    }

    #[test]
    fn a_buffer_is_aligned_and_touched_as_far_as_is_wanted() {
        let mut buffer = Buffer::new(3 * LARGE_PAGE_BYTES - 5, None).unwrap();
        assert_eq!(buffer.start() as usize % LARGE_PAGE_BYTES, 0);
        let mut pages = 0;
        let ready = buffer.touch(|| {
            pages += 1;
            pages <= 2
        });
        assert_eq!(ready, 2 * LARGE_PAGE_BYTES);
        assert_eq!(buffer.touch(|| true), 3 * LARGE_PAGE_BYTES);
        // SAFETY: the last byte's page was touched.
        let last = unsafe { buffer.start().add(3 * LARGE_PAGE_BYTES - BLOCK_BYTES).read() };
        assert_eq!(last, 1);
    }

    #[test]
    fn a_node_that_is_not_there_is_an_error() {
        assert!(Buffer::new(LARGE_PAGE_BYTES, Some(1023)).is_err());
        assert!(Buffer::new(LARGE_PAGE_BYTES, Some(1024)).is_err());
    }
}
