//! The calls of Linux that `std` does not have: sockets that connect without waiting, `epoll`, the
//! limit of files, the CPU time of a thread, and whether the kernel has TLS.

use super::LoadError;
use std::io;
use std::mem;
use std::net::{SocketAddr, TcpStream};
use std::os::fd::{AsRawFd, FromRawFd, OwnedFd, RawFd};
use std::time::Duration;

/// The files that are open beside the connections, with some to spare.
const OTHER_FILES: u64 = 32;

/// Begins a connection, with small messages sent at once (TCP_NODELAY). It is made, or has failed,
/// when the socket is writable: then [`TcpStream::take_error`] says which.
pub(super) fn connect(address: SocketAddr) -> io::Result<TcpStream> {
    let family = if address.is_ipv4() { libc::AF_INET } else { libc::AF_INET6 };
    let kind = libc::SOCK_STREAM | libc::SOCK_NONBLOCK | libc::SOCK_CLOEXEC;
    // SAFETY: the call takes numbers only.
    let fd = checked(unsafe { libc::socket(family, kind, 0) })?;
    // SAFETY: the file was just opened, and nothing else owns it.
    let socket = unsafe { TcpStream::from_raw_fd(fd) };
    socket.set_nodelay(true)?;
    let begun = match address {
        SocketAddr::V4(v4) => {
            let name = libc::sockaddr_in {
                sin_family: family as libc::sa_family_t,
                sin_port: v4.port().to_be(),
                sin_addr: libc::in_addr { s_addr: u32::from_ne_bytes(v4.ip().octets()) },
                sin_zero: [0; 8],
            };
            connect_to(fd, &name)
        }
        SocketAddr::V6(v6) => {
            let name = libc::sockaddr_in6 {
                sin6_family: family as libc::sa_family_t,
                sin6_port: v6.port().to_be(),
                sin6_flowinfo: v6.flowinfo(),
                sin6_addr: libc::in6_addr { s6_addr: v6.ip().octets() },
                sin6_scope_id: v6.scope_id(),
            };
            connect_to(fd, &name)
        }
    };
    match begun {
        Err(error) if error.raw_os_error() != Some(libc::EINPROGRESS) => Err(error),
        _ => Ok(socket),
    }
}

/// Connects to a name, which is one of the types that begin with the family.
fn connect_to<T>(fd: RawFd, name: &T) -> io::Result<()> {
    let length = mem::size_of::<T>() as libc::socklen_t;
    // SAFETY: the name has this length, and the kernel only reads it.
    checked(unsafe { libc::connect(fd, (&raw const *name).cast(), length) }).map(|_| ())
}

/// What became possible on a connection.
#[derive(Clone, Copy, Debug)]
pub(super) struct Ready {
    /// Which one: the key that it was added with.
    pub(super) key: usize,
    /// Reading gives bytes, the end, or an error.
    pub(super) is_readable: bool,
    /// Writing takes bytes, or gives an error; or the attempt to connect has ended.
    pub(super) is_writable: bool,
}

/// Waits for many connections at once. A closed one removes itself.
pub(super) struct Epoll {
    fd: OwnedFd,
    events: Vec<libc::epoll_event>,
    /// Whether the kernel can wait for less than a millisecond (Linux 5.11).
    has_nanoseconds: bool,
}

impl Epoll {
    /// Makes one that gives at most so many events at once.
    pub(super) fn new(events_max: usize) -> io::Result<Epoll> {
        // SAFETY: the call takes numbers only.
        let fd = checked(unsafe { libc::epoll_create1(libc::EPOLL_CLOEXEC) })?;
        // SAFETY: the file was just opened, and nothing else owns it.
        let fd = unsafe { OwnedFd::from_raw_fd(fd) };
        let events = vec![libc::epoll_event { events: 0, u64: 0 }; events_max];
        Ok(Epoll { fd, events, has_nanoseconds: true })
    }

    /// Adds a connection: it is waited for its bytes and for room to write.
    pub(super) fn add(&self, socket: &TcpStream, key: usize) -> io::Result<()> {
        self.control(libc::EPOLL_CTL_ADD, socket, key, true)
    }

    /// Changes whether it is waited for room to write, too.
    pub(super) fn change(&self, socket: &TcpStream, key: usize, writes: bool) -> io::Result<()> {
        self.control(libc::EPOLL_CTL_MOD, socket, key, writes)
    }

    fn control(&self, call: i32, socket: &TcpStream, key: usize, writes: bool) -> io::Result<()> {
        let interest = if writes { libc::EPOLLIN | libc::EPOLLOUT } else { libc::EPOLLIN };
        let mut event = libc::epoll_event { events: interest as u32, u64: key as u64 };
        let (epoll, socket) = (self.fd.as_raw_fd(), socket.as_raw_fd());
        // SAFETY: both files are open, and the kernel only reads the event.
        checked(unsafe { libc::epoll_ctl(epoll, call, socket, &raw mut event) }).map(|_| ())
    }

    /// Waits until something is possible or the time is over. Returns how many events there are. A
    /// kernel that knows milliseconds only waits for less than the time, never for more.
    pub(super) fn wait(&mut self, time: Duration) -> io::Result<usize> {
        let (fd, events) = (self.fd.as_raw_fd(), self.events.as_mut_ptr());
        let events_max = self.events.len() as i32;
        if self.has_nanoseconds {
            let time = libc::timespec {
                tv_sec: time.as_secs() as libc::time_t,
                tv_nsec: time.subsec_nanos().into(),
            };
            let no_mask = std::ptr::null::<libc::sigset_t>();
            // SAFETY: there is room for `events_max` events, the kernel only reads the time, and
            // without a mask it reads no size of one.
            let found = unsafe {
                let call = libc::SYS_epoll_pwait2;
                libc::syscall(call, fd, events, events_max, &raw const time, no_mask, 0usize)
            };
            match checked(found as i32) {
                Err(error) if error.raw_os_error() == Some(libc::ENOSYS) => {
                    self.has_nanoseconds = false;
                }
                found => return count(found),
            }
        }
        // SAFETY: there is room for `events_max` events.
        let found = unsafe { libc::epoll_wait(fd, events, events_max, time.as_millis() as i32) };
        count(checked(found))
    }

    /// Returns one of the events that the last wait gave.
    pub(super) fn ready(&self, at: usize) -> Ready {
        let libc::epoll_event { events, u64: key } = self.events[at];
        let has = |flags: i32| events & (flags | libc::EPOLLERR | libc::EPOLLHUP) as u32 != 0;
        Ready {
            key: key as usize,
            is_readable: has(libc::EPOLLIN),
            is_writable: has(libc::EPOLLOUT),
        }
    }
}

/// Returns the number of events. A signal ends a wait without one.
fn count(found: io::Result<i32>) -> io::Result<usize> {
    match found {
        Ok(found) => Ok(found as usize),
        Err(error) if error.kind() == io::ErrorKind::Interrupted => Ok(0),
        Err(error) => Err(error),
    }
}

/// Returns the files that a load needs, and the limits of the process.
///
/// # Errors
/// Fails if its hard limit is lower than that.
pub(super) fn files(connections: u32, threads: u32) -> Result<(u64, libc::rlimit), LoadError> {
    let open = std::fs::read_dir("/proc/self/fd").map_or(0, |files| files.count() as u64);
    let needed = u64::from(connections) + u64::from(threads) + open + OTHER_FILES;
    let mut limit = libc::rlimit { rlim_cur: 0, rlim_max: 0 };
    // SAFETY: `limit` is a valid place for the result.
    checked(unsafe { libc::getrlimit(libc::RLIMIT_NOFILE, &raw mut limit) })
        .map_err(|error| LoadError::System("the limit of files cannot be read", error))?;
    if limit.rlim_max < needed {
        return Err(LoadError::Files { needed, limit: limit.rlim_max });
    }
    Ok((needed, limit))
}

/// Lets the process have these files: the soft limit is raised to the hard one if it is lower.
///
/// # Errors
/// As [`files`].
pub(super) fn allow_files(connections: u32, threads: u32) -> Result<(), LoadError> {
    let (needed, mut limit) = files(connections, threads)?;
    if limit.rlim_cur >= needed {
        return Ok(());
    }
    limit.rlim_cur = limit.rlim_max;
    // SAFETY: the kernel only reads `limit`.
    checked(unsafe { libc::setrlimit(libc::RLIMIT_NOFILE, &raw const limit) })
        .map(drop)
        .map_err(|error| LoadError::System("the limit of files cannot be raised", error))
}

/// Lets the sleeps of the calling thread end when they should, not up to 50 us later for the sake
/// of fewer interrupts. Where that is refused, sends are late and the pacer says so.
pub(super) fn sleep_exactly() {
    // SAFETY: the call takes numbers only.
    unsafe { libc::prctl(libc::PR_SET_TIMERSLACK, 1) };
}

/// Returns the CPU time of the calling thread so far, in nanoseconds.
pub(super) fn thread_cpu_ns() -> u64 {
    let mut time = libc::timespec { tv_sec: 0, tv_nsec: 0 };
    // SAFETY: `time` is a valid place for the result; a failing call leaves it at zero.
    unsafe { libc::clock_gettime(libc::CLOCK_THREAD_CPUTIME_ID, &raw mut time) };
    time.tv_sec as u64 * 1_000_000_000 + time.tv_nsec as u64
}

/// Asks whether the kernel can encrypt for a socket: the protocol `tls` above TCP (Linux 4.13).
///
/// # Errors
/// Fails with the kernel's words if it cannot, or may not load what it needs.
pub(super) fn has_tls() -> io::Result<()> {
    // SAFETY: the call takes numbers only.
    let fd = checked(unsafe { libc::socket(libc::AF_INET, libc::SOCK_STREAM, 0) })?;
    // SAFETY: the file was just opened, and nothing else owns it.
    let fd = unsafe { OwnedFd::from_raw_fd(fd) };
    let name = b"tls";
    // SAFETY: the name has this length, and the kernel only reads it.
    let set = unsafe {
        let (name, length) = (name.as_ptr().cast(), name.len() as libc::socklen_t);
        libc::setsockopt(fd.as_raw_fd(), libc::IPPROTO_TCP, libc::TCP_ULP, name, length)
    };
    match checked(set) {
        // It has it, for a socket that is connected.
        Err(error) if error.raw_os_error() == Some(libc::ENOTCONN) => Ok(()),
        other => other.map(|_| ()),
    }
}

fn checked(result: i32) -> io::Result<i32> {
    if result < 0 { Err(io::Error::last_os_error()) } else { Ok(result) }
}
