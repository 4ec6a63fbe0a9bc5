//! The way to the daemon: a socket, a greeting, two descriptors.

use std::io;
use std::os::fd::{AsRawFd, FromRawFd, OwnedFd, RawFd};
use std::os::unix::ffi::OsStrExt;
use std::os::unix::net::UnixStream;
use std::path::Path;
use std::time::{Duration, Instant};

use super::Unavailable;
use super::layout::{Hello, VERSION, peer};

/// What takes no client or says nothing for so long is no daemon, or one that gets no CPU: a live
/// one needs far less among busy programs.
const ANSWERS_WITHIN: Duration = Duration::from_millis(500);

/// Between two looks at whether the daemon was stopped.
const LOOK: Duration = Duration::from_millis(10);

/// What is mapped and then closed.
pub(super) struct Parts {
    pub(super) slots: OwnedFd,
    pub(super) page: OwnedFd,
    pub(super) cpus: usize,
}

/// Connects and takes the greeting: in a millisecond, mostly, in some 10 ms if who listens was
/// stopped, and in half a second at most.
pub(super) fn open(path: &Path) -> Result<(UnixStream, Parts), Unavailable> {
    open_by(path, Instant::now() + ANSWERS_WITHIN)
}

fn open_by(path: &Path, deadline: Instant) -> Result<(UnixStream, Parts), Unavailable> {
    let no_daemon = |source| Unavailable::NoDaemon { path: path.to_path_buf(), source };
    let not_barrierd = || Unavailable::NotBarrierd { path: path.to_path_buf() };
    let silent = || Unavailable::Silent { path: path.to_path_buf() };
    let socket = match connect(path, deadline) {
        Err(error) if error.kind() == io::ErrorKind::TimedOut => return Err(silent()),
        connected => connected.map_err(no_daemon)?,
    };
    socket.set_nonblocking(false).map_err(no_daemon)?;
    socket.set_read_timeout(Some(LOOK)).map_err(no_daemon)?;
    let (greeting, descriptors) = match receive_by(&socket, deadline) {
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
    Ok((socket, Parts { slots, page, cpus: hello.cpus as usize }))
}

/// Connects, and gives up after some time: where the queue of a listener is full, the kernel would
/// wait for ever. The socket does not block.
fn connect(path: &Path, deadline: Instant) -> io::Result<UnixStream> {
    let (address, length) = address_of(path)?;
    let flags = libc::SOCK_STREAM | libc::SOCK_CLOEXEC | libc::SOCK_NONBLOCK;
    // SAFETY: numbers only; the descriptor is new and ours.
    let socket = unsafe {
        match libc::socket(libc::AF_UNIX, flags, 0) {
            -1 => return Err(io::Error::last_os_error()),
            socket => UnixStream::from_raw_fd(socket),
        }
    };
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

/// Waits for one message with its descriptors, as long as who listens has not been stopped.
fn receive_by(socket: &UnixStream, deadline: Instant) -> io::Result<(Vec<u8>, Vec<OwnedFd>)> {
    loop {
        match receive(socket) {
            Err(error)
                if error.kind() == io::ErrorKind::WouldBlock
                    && Instant::now() < deadline
                    && !is_stopped(socket) => {}
            received => return received,
        }
    }
}

/// Whether the process that listens was stopped by a signal; one that a debugger or a tracer holds
/// may go on at once. Not where the kernel does not say who it is.
fn is_stopped(socket: &UnixStream) -> bool {
    let Some(peer) = peer(socket).filter(|peer| peer.pid > 0) else { return false };
    let stat = std::fs::read_to_string(format!("/proc/{}/stat", peer.pid)).unwrap_or_default();
    // The name, in brackets, may hold anything; the state comes after it.
    stat.rsplit_once(") ").is_some_and(|(_, rest)| rest.starts_with('T'))
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
    // descriptor in them is new and belongs to nothing else.
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

#[cfg(test)]
#[cfg(not(any(miri, loom)))]
mod tests {
    use std::os::unix::net::UnixListener;

    use super::*;

    fn soon() -> Instant {
        Instant::now() + Duration::from_millis(5)
    }

    /// A process that listens and stops itself at once; it is killed when this is dropped.
    struct Stopped(libc::pid_t);

    impl Stopped {
        fn new(path: &Path) -> Stopped {
            let (address, length) = address_of(path).unwrap();
            // SAFETY: the child makes system calls only, with numbers and with an address that the
            // fork has copied, and never returns.
            unsafe {
                let child = libc::fork();
                assert!(child >= 0);
                if child == 0 {
                    let socket = libc::socket(libc::AF_UNIX, libc::SOCK_STREAM, 0);
                    libc::bind(socket, (&raw const address).cast(), length);
                    libc::listen(socket, 8);
                    loop {
                        libc::raise(libc::SIGSTOP);
                    }
                }
                let mut status = 0;
                assert_eq!(libc::waitpid(child, &raw mut status, libc::WUNTRACED), child);
                assert!(libc::WIFSTOPPED(status));
                Stopped(child)
            }
        }
    }

    impl Drop for Stopped {
        fn drop(&mut self) {
            // SAFETY: the child is ours and nothing has waited for its end.
            unsafe {
                libc::kill(self.0, libc::SIGKILL);
                libc::waitpid(self.0, std::ptr::null_mut(), 0);
            }
        }
    }

    #[test]
    fn a_daemon_that_was_stopped_is_not_waited_for() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("socket");
        let stopped = Stopped::new(&path);
        let deadline = Instant::now() + Duration::from_secs(60);
        let error = open_by(&path, deadline).map(|_| ()).unwrap_err();
        assert!(matches!(error, Unavailable::Silent { .. }), "{error}");
        assert!(Instant::now() < deadline, "it was waited for");
        let socket = connect(&path, soon()).unwrap();
        assert!(is_stopped(&socket));
        drop(stopped);
        assert!(!is_stopped(&socket), "it is gone");
    }

    #[test]
    fn who_runs_is_not_stopped() {
        let (near, _far) = UnixStream::pair().unwrap();
        assert!(!is_stopped(&near));
    }

    #[test]
    fn a_listener_that_takes_nobody_is_not_waited_for() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("socket");
        let listener = UnixListener::bind(&path).unwrap();
        // SAFETY: numbers only. A queue for one.
        assert_eq!(unsafe { libc::listen(listener.as_raw_fd(), 1) }, 0);
        let queue: Vec<_> = (0..20).map_while(|_| connect(&path, soon()).ok()).collect();
        assert!((1..20).contains(&queue.len()), "{} were queued", queue.len());
        let error = connect(&path, soon()).unwrap_err();
        assert_eq!(error.kind(), io::ErrorKind::TimedOut);
        drop(listener.accept().unwrap());
        assert!(connect(&path, soon()).is_ok(), "there is room again");
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
            let result = open(&path).map(|_| ());
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
            (Some(b"welcome"), "is not barrierd:"),
            // Without descriptors.
            (Some(&same), "is not barrierd:"),
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
            assert!(connect(Path::new(path), Instant::now()).is_err(), "{path:?}");
        }
    }
}
