//! The way to the daemon: a socket, a greeting, two descriptors.

use std::io;
use std::os::fd::{AsRawFd, FromRawFd, OwnedFd, RawFd};
use std::os::unix::ffi::OsStrExt;
use std::os::unix::net::UnixStream;
use std::path::Path;
use std::time::{Duration, Instant};

use super::errors::Unavailable;
use super::layout::{Hello, VERSION};

/// A daemon that takes nobody for so long was stopped.
const CONNECTED_WITHIN: Duration = Duration::from_secs(1);

/// Who says nothing for so long is no daemon, or one that was stopped.
const GREETING_WITHIN: Duration = Duration::from_secs(1);

/// A connection.
#[derive(Debug)]
pub(super) struct Connection {
    socket: UnixStream,
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
        let silent = || Unavailable::Silent { path: path.to_path_buf() };
        let socket = match connect(path, CONNECTED_WITHIN) {
            Err(error) if error.kind() == io::ErrorKind::TimedOut => return Err(silent()),
            connected => connected.map_err(no_daemon)?,
        };
        socket.set_nonblocking(false).map_err(no_daemon)?;
        socket.set_read_timeout(Some(GREETING_WITHIN)).map_err(no_daemon)?;
        let (greeting, descriptors) = match receive(&socket) {
            Ok((greeting, _)) if greeting.is_empty() => return Err(Unavailable::TurnedAway),
            Err(error) if error.kind() == io::ErrorKind::ConnectionReset => {
                return Err(Unavailable::TurnedAway);
            }
            Err(error) if error.kind() == io::ErrorKind::WouldBlock => return Err(silent()),
            received => received.map_err(no_daemon)?,
        };
        let hello = Hello::from_bytes(&greeting).ok_or_else(not_barrierd)?;
        if hello.version != VERSION {
            let (path, version) = (path.to_path_buf(), hello.version);
            return Err(Unavailable::Version { path, version });
        }
        let [slots, page] =
            <[OwnedFd; Hello::DESCRIPTORS]>::try_from(descriptors).map_err(|_| not_barrierd())?;
        if hello.cpus == 0 {
            return Err(not_barrierd());
        }
        socket.set_nonblocking(true).map_err(no_daemon)?;
        let parts = Parts { slots, page, cpus: hello.cpus as usize };
        Ok((Connection { socket }, parts))
    }

    #[cfg(all(test, target_arch = "x86_64", not(any(miri, loom))))]
    pub(super) fn of_socket(socket: UnixStream) -> Connection {
        Connection { socket }
    }

    /// Asks the daemon to wake this process. If it cannot be told, it has ended, or it has so many
    /// of these to read that one more says nothing new.
    pub(super) fn send(&self, message: u8) {
        let flags = libc::MSG_NOSIGNAL | libc::MSG_DONTWAIT;
        // SAFETY: the kernel reads one byte, which outlives the call. Without a signal: the program
        // may not ignore SIGPIPE.
        unsafe { libc::send(self.socket.as_raw_fd(), (&raw const message).cast(), 1, flags) };
    }
}

/// Connects, and gives up after some time: where the queue of a listener is full, the kernel would
/// wait for ever. The socket does not block.
fn connect(path: &Path, within: Duration) -> io::Result<UnixStream> {
    let (address, length) = address_of(path)?;
    let flags = libc::SOCK_STREAM | libc::SOCK_CLOEXEC | libc::SOCK_NONBLOCK;
    // SAFETY: numbers only; the descriptor is new and ours.
    let socket = unsafe {
        match libc::socket(libc::AF_UNIX, flags, 0) {
            -1 => return Err(io::Error::last_os_error()),
            socket => UnixStream::from_raw_fd(socket),
        }
    };
    let deadline = Instant::now() + within;
    loop {
        // SAFETY: the address outlives the call and has so many bytes.
        let result =
            unsafe { libc::connect(socket.as_raw_fd(), (&raw const address).cast(), length) };
        if result == 0 {
            return Ok(socket);
        }
        let error = io::Error::last_os_error();
        match error.raw_os_error() {
            Some(libc::EAGAIN | libc::EINTR) if Instant::now() < deadline => {
                std::thread::sleep(Duration::from_millis(1));
            }
            Some(libc::EAGAIN) => return Err(io::ErrorKind::TimedOut.into()),
            _ => return Err(error),
        }
    }
}

/// A path as the kernel takes it.
fn address_of(path: &Path) -> io::Result<(libc::sockaddr_un, libc::socklen_t)> {
    // SAFETY: a zeroed `sockaddr_un` is a valid one.
    let mut address: libc::sockaddr_un = unsafe { std::mem::zeroed() };
    address.sun_family = libc::AF_UNIX as libc::sa_family_t;
    let bytes = path.as_os_str().as_bytes();
    // A byte of 0 must follow.
    if bytes.is_empty() || bytes.len() >= address.sun_path.len() || bytes.contains(&0) {
        return Err(io::Error::from_raw_os_error(libc::EINVAL));
    }
    for (to, from) in address.sun_path.iter_mut().zip(bytes) {
        *to = *from as libc::c_char;
    }
    Ok((address, size_of::<libc::sockaddr_un>() as libc::socklen_t))
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

#[cfg(all(test, not(any(miri, loom))))]
mod tests {
    use std::os::unix::net::UnixListener;

    use super::*;

    #[test]
    fn a_listener_that_takes_nobody_is_not_waited_for() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("socket");
        let listener = UnixListener::bind(&path).unwrap();
        // SAFETY: numbers only. A queue for one.
        assert_eq!(unsafe { libc::listen(listener.as_raw_fd(), 1) }, 0);
        let queue: Vec<_> =
            (0..20).map_while(|_| connect(&path, Duration::from_millis(5)).ok()).collect();
        assert!((1..20).contains(&queue.len()), "{} were queued", queue.len());
        let error = connect(&path, Duration::from_millis(5)).unwrap_err();
        assert_eq!(error.kind(), io::ErrorKind::TimedOut);
        drop(listener.accept().unwrap());
        assert!(connect(&path, Duration::from_millis(5)).is_ok(), "there is room again");
    }

    /// What a client says of one who listens and, after it took somebody, sends these bytes.
    fn reason(answer: Option<&[u8]>) -> Unavailable {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("socket");
        let listener = UnixListener::bind(&path).unwrap();
        std::thread::scope(|scope| {
            let taken = scope.spawn(|| {
                let (mut stream, _) = listener.accept().unwrap();
                std::io::Write::write_all(&mut stream, answer.unwrap_or_default()).unwrap();
                // Without an answer, it stays open.
                answer.is_none().then_some(stream)
            });
            let result = Connection::open(&path).map(|_| ());
            drop(taken.join());
            result.unwrap_err()
        })
    }

    #[test]
    fn silence_another_version_and_a_stranger_are_told_apart() {
        let other = Hello { version: VERSION + 1, cpus: 1 }.to_bytes();
        let same = Hello { version: VERSION, cpus: 1 }.to_bytes();
        let cases: [(Option<&[u8]>, &str); 5] = [
            (None, "does not answer"),
            (Some(&other), "speaks version 3 and this program version 2"),
            (Some(b"welcome"), "is no barrierd:"),
            // Without descriptors.
            (Some(&same), "is no barrierd:"),
            (Some(b""), "turned this process away"),
        ];
        for (answer, expected) in cases {
            let error = reason(answer).to_string();
            assert!(error.contains(expected), "{answer:?}: {error}");
        }
    }

    #[test]
    fn a_path_that_is_no_address_is_an_error() {
        for path in ["", "with\0zero", &"x".repeat(108)] {
            assert!(connect(Path::new(path), Duration::ZERO).is_err(), "{path:?}");
        }
    }
}
