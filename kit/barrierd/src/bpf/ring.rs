//! The reader's side of the kernel's ring buffer. What the records say is not needed: that there is
//! one means that a CPU has passed the watermark, and the slots say which.

use std::io;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::sync::atomic::{AtomicU64, Ordering};

use super::system::{MapKind, create_map};
use tiebreak_sync::interrupts::mapping::{Access, Mapping, page_size};

/// A ring of one page.
#[derive(Debug)]
pub struct Ring {
    map: OwnedFd,
    consumer: Mapping,
    producer: Mapping,
}

impl Ring {
    /// Makes one.
    pub fn new() -> io::Result<Ring> {
        let page = page_size();
        let map = create_map(MapKind::Ring, 0, page as u32, false)?;
        // The first page is the reader's position, the second the writers'; then the records.
        let consumer = Mapping::new(map.as_fd(), 0, page, Access::Write)?;
        let producer = Mapping::new(map.as_fd(), page, page, Access::Read)?;
        Ok(Ring { map, consumer, producer })
    }

    /// Takes out all records; whether there were any.
    ///
    /// A record that does not fit is dropped by the kernel. Its CPU's stamp was written before, and
    /// the daemon looks at all stamps after this call, so nothing is lost.
    pub fn drain(&self) -> bool {
        // SAFETY: both positions are numbers of 64 bits at the start of their pages. The kernel
        // accesses them atomically, and the reader's page is mapped to be written.
        let (consumer, producer) = unsafe {
            (&self.consumer.slice::<AtomicU64>(0, 1)[0], &self.producer.slice::<AtomicU64>(0, 1)[0])
        };
        // Acquire and release: as the kernel's interface asks.
        let end = producer.load(Ordering::Acquire);
        consumer.swap(end, Ordering::SeqCst) != end
    }
}

impl AsFd for Ring {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.map.as_fd()
    }
}
