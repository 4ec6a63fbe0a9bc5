//! The way to the daemon: a socket, a greeting, three descriptors.

use std::io;
use std::os::fd::{AsRawFd, FromRawFd, OwnedFd, RawFd};
use std::os::unix::ffi::OsStrExt;
use std::path::Path;

use super::errors::Unavailable;
use super::layout::{Hello, VERSION};

/// A connection.
#[derive(Debug)]
pub(super) struct Connection {
    socket: OwnedFd,
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
        let socket = connect(path)
            .map_err(|source| Unavailable::NoDaemon { path: path.to_path_buf(), source })?;
        let (hello, descriptors) = receive(&socket).map_err(|source| match source.kind() {
            io::ErrorKind::ConnectionReset => Unavailable::TurnedAway,
            _ => Unavailable::NoDaemon { path: path.to_path_buf(), source },
        })?;
        let Some(hello) = hello else { return Err(Unavailable::TurnedAway) };
        let not_barrierd = || Unavailable::NotBarrierd { path: path.to_path_buf() };
        let hello = Hello::from_bytes(&hello).ok_or_else(not_barrierd)?;
        let [slots, page, switches] =
            <[OwnedFd; Hello::DESCRIPTORS]>::try_from(descriptors).map_err(|_| not_barrierd())?;
        if hello.version != VERSION || hello.cpus == 0 {
            return Err(not_barrierd());
        }
        let parts = Parts { slots, page, cpus: hello.cpus as usize };
        Ok((Connection { socket, _switches: switches }, parts))
    }

    /// Asks the daemon to wake this process. If it cannot be told, it has ended, or it has so many
    /// of these to read that one more says nothing new.
    pub(super) fn send(&self, message: u8) {
        let flags = libc::MSG_DONTWAIT | libc::MSG_NOSIGNAL;
        // SAFETY: one byte is read from the stack.
        unsafe {
            libc::send(self.socket.as_raw_fd(), (&raw const message).cast(), 1, flags);
        }
    }

    /// Whether the daemon has ended: its end of the connection is closed.
    pub(super) fn has_ended(&self) -> bool {
        let (mut byte, flags) = (0_u8, libc::MSG_PEEK | libc::MSG_DONTWAIT);
        // SAFETY: at most one byte is written, to the stack.
        let received =
            unsafe { libc::recv(self.socket.as_raw_fd(), (&raw mut byte).cast(), 1, flags) };
        match received {
            0 => true,
            1.. => false,
            _ => io::Error::last_os_error().kind() == io::ErrorKind::ConnectionReset,
        }
    }
}

/// Connects to a socket of packets. If the daemon says nothing for a second, it is none.
fn connect(path: &Path) -> io::Result<OwnedFd> {
    let (address, bytes) = address(path)?;
    let second = libc::timeval { tv_sec: 1, tv_usec: 0 };
    // SAFETY: the descriptor is new and ours; the structures live for the calls that read them, and
    // the lengths are theirs.
    unsafe {
        let kind = libc::SOCK_SEQPACKET | libc::SOCK_CLOEXEC;
        let socket = match libc::socket(libc::AF_UNIX, kind, 0) {
            -1 => return Err(io::Error::last_os_error()),
            socket => OwnedFd::from_raw_fd(socket),
        };
        for option in [libc::SO_RCVTIMEO, libc::SO_SNDTIMEO] {
            let (value, length) = ((&raw const second).cast(), size_of_val(&second) as u32);
            libc::setsockopt(socket.as_raw_fd(), libc::SOL_SOCKET, option, value, length);
        }
        match libc::connect(socket.as_raw_fd(), (&raw const address).cast(), bytes) {
            0 => Ok(socket),
            _ => Err(io::Error::last_os_error()),
        }
    }
}

/// A path as the address of a socket, and its length.
fn address(path: &Path) -> io::Result<(libc::sockaddr_un, libc::socklen_t)> {
    // SAFETY: a zeroed `sockaddr_un` is a valid one.
    let mut address: libc::sockaddr_un = unsafe { std::mem::zeroed() };
    address.sun_family = libc::AF_UNIX as libc::sa_family_t;
    let bytes = path.as_os_str().as_bytes();
    if bytes.is_empty() || bytes.contains(&0) || bytes.len() >= address.sun_path.len() {
        return Err(io::Error::new(io::ErrorKind::InvalidInput, "no path of a socket"));
    }
    for (to, from) in address.sun_path.iter_mut().zip(bytes) {
        *to = *from as libc::c_char;
    }
    Ok((address, size_of::<libc::sockaddr_un>() as libc::socklen_t))
}

/// Room for control messages, aligned as they must be.
#[repr(align(8))]
struct Control([u8; 128]);

/// One message with its descriptors. No message if the other end was closed.
fn receive(socket: &OwnedFd) -> io::Result<(Option<Vec<u8>>, Vec<OwnedFd>)> {
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
    Ok(((length > 0).then(|| bytes[..length as usize].to_vec()), descriptors))
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
