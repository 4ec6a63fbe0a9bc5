//! Sockets between the laboratory and its own processes, launcher and workers. They carry bytes and
//! descriptors, one message in each datagram.

use crate::system::{checked, retried};
use std::io;
use std::os::fd::{AsRawFd, BorrowedFd, FromRawFd, OwnedFd};

/// The longest message in bytes: what the kernel allows a socket by default.
const MOST_BYTES: usize = 160 << 10;
/// The most descriptors in a message.
const MOST_DESCRIPTORS: usize = 4;

/// The buffer for the control message that carries descriptors.
#[repr(C, align(8))]
struct Control([u8; 64]);

/// Returns a connected pair of sockets that preserve message boundaries.
pub(crate) fn pair() -> io::Result<(OwnedFd, OwnedFd)> {
    let mut fds = [-1; 2];
    let kind = libc::SOCK_SEQPACKET | libc::SOCK_CLOEXEC;
    // SAFETY: the array has room for two descriptors.
    checked(unsafe { libc::socketpair(libc::AF_UNIX, kind, 0, fds.as_mut_ptr()) })?;
    // SAFETY: the kernel has just made these descriptors and nothing else owns them.
    Ok(unsafe { (OwnedFd::from_raw_fd(fds[0]), OwnedFd::from_raw_fd(fds[1])) })
}

/// Sends a message with its descriptors.
///
/// # Errors
/// Fails if the other end is closed, or if the message is longer than a datagram can be.
pub(crate) fn send(
    socket: BorrowedFd<'_>,
    bytes: &[u8],
    descriptors: &[BorrowedFd<'_>],
) -> io::Result<()> {
    if bytes.len() > MOST_BYTES || descriptors.len() > MOST_DESCRIPTORS {
        return Err(io::Error::from(io::ErrorKind::InvalidInput));
    }
    let mut part = libc::iovec { iov_base: bytes.as_ptr().cast_mut().cast(), iov_len: bytes.len() };
    let mut control = Control([0; 64]);
    let mut header = header(&mut part, &mut control);
    let length = size_of_val(descriptors) as u32;
    // SAFETY: CMSG_SPACE and CMSG_LEN only compute lengths; the control buffer is aligned and has
    // room for the most descriptors, so the first header and its data lie in it. It may carry none.
    unsafe {
        header.msg_controllen = libc::CMSG_SPACE(length) as _;
        let first = libc::CMSG_FIRSTHDR(&raw const header);
        (*first).cmsg_level = libc::SOL_SOCKET;
        (*first).cmsg_type = libc::SCM_RIGHTS;
        (*first).cmsg_len = libc::CMSG_LEN(length) as _;
        let data = libc::CMSG_DATA(first).cast::<i32>();
        for (index, descriptor) in descriptors.iter().enumerate() {
            data.add(index).write_unaligned(descriptor.as_raw_fd());
        }
    }
    // SAFETY: the header, its part and its control message are valid during the call.
    let send =
        || unsafe { libc::sendmsg(socket.as_raw_fd(), &raw const header, libc::MSG_NOSIGNAL) };
    retried(send).map(drop)
}

/// A buffer for messages of any length, allocated once, so that receiving allocates nothing for a
/// message without descriptors.
#[derive(Debug)]
pub(crate) struct Inbox(Vec<u8>);

impl Inbox {
    pub(crate) fn new() -> Inbox {
        Inbox(vec![0; MOST_BYTES])
    }

    /// Waits for a message and returns its bytes and its descriptors; `None` if the other end is
    /// closed.
    ///
    /// # Errors
    /// Fails if the system call fails, or if a message is longer than any of ours.
    pub(crate) fn receive(
        &mut self,
        socket: BorrowedFd<'_>,
    ) -> io::Result<Option<(&[u8], Vec<OwnedFd>)>> {
        let place = &mut self.0;
        let mut part = libc::iovec { iov_base: place.as_mut_ptr().cast(), iov_len: place.len() };
        let mut control = Control([0; 64]);
        let mut header = header(&mut part, &mut control);
        let flags = libc::MSG_CMSG_CLOEXEC;
        // SAFETY: the header, its part and its control buffer are valid during the call.
        let length =
            retried(|| unsafe { libc::recvmsg(socket.as_raw_fd(), &raw mut header, flags) })?;
        if length == 0 {
            return Ok(None);
        }
        let descriptors = descriptors(&header);
        if header.msg_flags & (libc::MSG_TRUNC | libc::MSG_CTRUNC) != 0 {
            return Err(io::Error::from(io::ErrorKind::InvalidData));
        }
        Ok(Some((&self.0[..length as usize], descriptors)))
    }
}

/// Returns the header of a message of one part, with this buffer for descriptors. It must not
/// outlive either.
fn header(part: &mut libc::iovec, control: &mut Control) -> libc::msghdr {
    // SAFETY: all zero bytes are a valid msghdr.
    let mut header: libc::msghdr = unsafe { std::mem::zeroed() };
    header.msg_iov = part;
    header.msg_iovlen = 1;
    header.msg_control = control.0.as_mut_ptr().cast();
    header.msg_controllen = size_of::<Control>() as _;
    header
}

/// Returns the descriptors that a received control message carries.
fn descriptors(header: &libc::msghdr) -> Vec<OwnedFd> {
    // SAFETY: the kernel has filled the control buffer and set its length, so the first header, if
    // there is one, and its data lie in it; the descriptors in it are new and nothing else owns
    // them.
    unsafe {
        let first = libc::CMSG_FIRSTHDR(std::ptr::from_ref(header));
        if first.is_null() || (*first).cmsg_type != libc::SCM_RIGHTS {
            return Vec::new();
        }
        let bytes = ((*first).cmsg_len as usize).saturating_sub(libc::CMSG_LEN(0) as usize);
        let data = libc::CMSG_DATA(first).cast::<i32>();
        let each = (0..bytes / size_of::<i32>()).map(|index| data.add(index).read_unaligned());
        each.map(|fd| OwnedFd::from_raw_fd(fd)).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::files::memory_file;
    use std::fs::File;
    use std::io::Write;
    use std::os::fd::AsFd;
    use std::os::unix::fs::FileExt;

    #[test]
    fn bytes_and_descriptors_arrive() {
        let (ours, theirs) = pair().unwrap();
        let mut inbox = Inbox::new();
        for count in 0..=MOST_DESCRIPTORS {
            let mut file = memory_file().unwrap();
            write!(file, "file {count}").unwrap();
            send(ours.as_fd(), b"message", &vec![file.as_fd(); count]).unwrap();
            let (bytes, descriptors) = inbox.receive(theirs.as_fd()).unwrap().unwrap();
            assert_eq!((bytes, descriptors.len()), (b"message".as_slice(), count));
            for descriptor in descriptors {
                let mut text = [0; 6];
                File::from(descriptor).read_exact_at(&mut text, 0).unwrap();
                assert_eq!(text, format!("file {count}").as_bytes());
            }
        }
        let long = vec![7; MOST_BYTES];
        send(ours.as_fd(), &long, &[]).unwrap();
        assert_eq!(inbox.receive(theirs.as_fd()).unwrap().unwrap().0, long);
        assert!(send(ours.as_fd(), &vec![7; MOST_BYTES + 1], &[]).is_err());
        drop(ours);
        assert!(inbox.receive(theirs.as_fd()).unwrap().is_none());
        assert!(send(theirs.as_fd(), b"x", &[]).is_err());
    }
}
