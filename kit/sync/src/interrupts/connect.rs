//! The way to the daemon: a socket, a greeting, three descriptors.

use std::io::{self, Read, Write};
use std::os::fd::{AsRawFd, FromRawFd, OwnedFd, RawFd};
use std::os::unix::net::UnixStream;
use std::path::Path;
use std::time::Duration;

use super::errors::Unavailable;
use super::layout::{Hello, VERSION};

/// Who says nothing for so long is no daemon.
const GREETING_WITHIN: Duration = Duration::from_secs(1);

/// A connection.
#[derive(Debug)]
pub(super) struct Connection {
    socket: UnixStream,
    /// While this is open, the program on context switches stays attached.
    _switches: OwnedFd,
}

/// What is mapped and then closed.
pub(super) struct Parts {
    pub(super) slots: OwnedFd,
    pub(super) page: OwnedFd,
    pub(super) cpus: usize,
}

impl Connection {
    pub(super) fn open(path: &Path) -> Result<(Connection, Parts), Unavailable> {
        let no_daemon = |source| Unavailable::NoDaemon { path: path.to_path_buf(), source };
        let not_barrierd = || Unavailable::NotBarrierd { path: path.to_path_buf() };
        let socket = UnixStream::connect(path).map_err(no_daemon)?;
        socket.set_read_timeout(Some(GREETING_WITHIN)).map_err(no_daemon)?;
        let (greeting, descriptors) = match receive(&socket) {
            Ok((greeting, _)) if greeting.is_empty() => return Err(Unavailable::TurnedAway),
            Err(error) if error.kind() == io::ErrorKind::ConnectionReset => {
                return Err(Unavailable::TurnedAway);
            }
            Err(error) if error.kind() == io::ErrorKind::WouldBlock => return Err(not_barrierd()),
            received => received.map_err(no_daemon)?,
        };
        let hello = Hello::from_bytes(&greeting).ok_or_else(not_barrierd)?;
        let [slots, page, switches] =
            <[OwnedFd; Hello::DESCRIPTORS]>::try_from(descriptors).map_err(|_| not_barrierd())?;
        if hello.version != VERSION || hello.cpus == 0 {
            return Err(not_barrierd());
        }
        socket.set_nonblocking(true).map_err(no_daemon)?;
        let parts = Parts { slots, page, cpus: hello.cpus as usize };
        Ok((Connection { socket, _switches: switches }, parts))
    }

    #[cfg(all(test, target_arch = "x86_64", not(any(miri, loom))))]
    pub(super) fn of_parts(socket: UnixStream, switches: OwnedFd) -> Connection {
        Connection { socket, _switches: switches }
    }

    /// Asks the daemon to wake this process. If it cannot be told, it has ended, or it has so many
    /// of these to read that one more says nothing new.
    pub(super) fn send(&self, message: u8) {
        let _ = (&self.socket).write(&[message]);
    }

    /// Whether the daemon has ended: its end of the connection is closed. After the greeting it
    /// sends nothing, so nothing is lost by reading.
    pub(super) fn has_ended(&self) -> bool {
        match (&self.socket).read(&mut [0]) {
            Ok(bytes) => bytes == 0,
            Err(error) => error.kind() == io::ErrorKind::ConnectionReset,
        }
    }
}

/// Room for control messages, aligned as they must be.
#[repr(align(8))]
struct Control([u8; 128]);

/// One message with its descriptors. No bytes if the other end was closed.
fn receive(socket: &UnixStream) -> io::Result<(Vec<u8>, Vec<OwnedFd>)> {
    let (mut bytes, mut control) = ([0_u8; 64], Control([0; 128]));
    let mut part = libc::iovec { iov_base: bytes.as_mut_ptr().cast(), iov_len: bytes.len() };
    // SAFETY: a zeroed `msghdr` is a valid one; it points to a buffer and to room for control
    // messages that outlive the call, with their lengths. What the kernel wrote is read below.
    let (length, message) = unsafe {
        let mut message: libc::msghdr = std::mem::zeroed();
        message.msg_iov = &mut part;
        message.msg_iovlen = 1;
        message.msg_control = control.0.as_mut_ptr().cast();
        message.msg_controllen = control.0.len() as _;
        (libc::recvmsg(socket.as_raw_fd(), &mut message, libc::MSG_CMSG_CLOEXEC), message)
    };
    if length < 0 {
        return Err(io::Error::last_os_error());
    }
    let descriptors = descriptors(&message);
    Ok((bytes[..length as usize].to_vec(), descriptors))
}

/// The descriptors that came with a message.
fn descriptors(message: &libc::msghdr) -> Vec<OwnedFd> {
    let mut descriptors = Vec::new();
    // SAFETY: the macros walk the control messages that the kernel wrote, within their length; each
    // descriptor in them is new and belongs to nobody else.
    unsafe {
        let mut header = libc::CMSG_FIRSTHDR(message);
        while !header.is_null() {
            if ((*header).cmsg_level, (*header).cmsg_type) == (libc::SOL_SOCKET, libc::SCM_RIGHTS) {
                let data = libc::CMSG_DATA(header).cast::<RawFd>();
                let bytes = (*header).cmsg_len as usize - libc::CMSG_LEN(0) as usize;
                for index in 0..bytes / size_of::<RawFd>() {
                    descriptors.push(OwnedFd::from_raw_fd(data.add(index).read_unaligned()));
                }
            }
            header = libc::CMSG_NXTHDR(message, header);
        }
    }
    descriptors
}
