//! Messages between the caller and the launcher: plain numbers, one message in each datagram.

use crate::system::Usage;
use crate::wire::channel;
use std::io;
use std::os::fd::{BorrowedFd, OwnedFd};
use zerocopy::{FromBytes, Immutable, IntoBytes};

/// "Run this now." The descriptors of standard input, output and error come with it.
#[repr(C)]
#[derive(Clone, Copy, Debug, Default, FromBytes, IntoBytes, Immutable)]
pub(crate) struct Request {
    /// Index among the prepared images.
    pub(crate) contestant: u32,
    pub(crate) padding_bytes: u32,
    pub(crate) timeout_ns: u64,
    /// 0 if standard output is not checked.
    pub(crate) output_limit_bytes: u64,
}

/// "End the run." It is harmless when nothing runs.
pub(crate) const CANCEL: u8 = b'c';

/// "I am ready", or why not.
#[repr(C)]
#[derive(Clone, Copy, Debug, Default, FromBytes, IntoBytes, Immutable)]
pub(crate) struct Hello {
    pub(crate) stage: i32,
    pub(crate) errno: i32,
    /// The contestant whose folder cannot be entered.
    pub(crate) contestant: u32,
}

impl Hello {
    pub(crate) const READY: i32 = 0;
    pub(crate) const DIRECTORY: i32 = 1;
    pub(crate) const SET_UP: i32 = 2;
}

/// How a run ended.
#[repr(C)]
#[derive(Clone, Copy, Debug, Default, FromBytes, IntoBytes, Immutable)]
pub(crate) struct Reply {
    pub(crate) end: i32,
    /// The error number of a call that the system refused.
    pub(crate) errno: i32,
    /// The status as `wait` returns it.
    pub(crate) status: i32,
    /// The number of processes that it left behind and that were ended.
    pub(crate) left_behind: u32,
    /// The time just before the start, by the monotonic clock.
    pub(crate) start_ns: u64,
    /// The time just after it was reaped.
    pub(crate) end_ns: u64,
    pub(crate) usage: Usage,
    pub(crate) peak_kib: u64,
    /// The launcher's own peak memory so far.
    pub(crate) floor_kib: u64,
    /// Time of its main thread on a CPU, as the scheduler counts it; [`Reply::UNKNOWN`] if the
    /// kernel does not count it.
    pub(crate) run_ns: u64,
    /// Time of its main thread ready to run and waiting for a CPU.
    pub(crate) run_delay_ns: u64,
    /// The name of one process that was left behind, ended by zero bytes.
    pub(crate) left_name: [u8; 32],
}

impl Reply {
    /// It ended by itself.
    pub(crate) const ENDED: i32 = 0;
    /// The system refused to start it.
    pub(crate) const NOT_STARTED: i32 = 1;
    /// It was ended at the time-out.
    pub(crate) const TIMED_OUT: i32 = 2;
    /// It was ended because it wrote too much.
    pub(crate) const FLOODED: i32 = 3;
    /// It was ended because the caller asked for it, or has ended.
    pub(crate) const CANCELLED: i32 = 4;
    /// It could not be monitored, and was ended.
    pub(crate) const BROKEN: i32 = 5;
    /// Stands for a number that the kernel did not report.
    pub(crate) const UNKNOWN: u64 = u64::MAX;

    /// Returns a reply without numbers.
    pub(crate) fn new() -> Reply {
        let (run_ns, run_delay_ns) = (Reply::UNKNOWN, Reply::UNKNOWN);
        Reply { end: Reply::BROKEN, run_ns, run_delay_ns, ..Reply::default() }
    }
}

/// The number of descriptors of a request.
const DESCRIPTORS: usize = 3;

/// Sends a message with its descriptors.
pub(crate) fn send<T: IntoBytes + Immutable>(
    socket: BorrowedFd<'_>,
    message: &T,
    descriptors: &[BorrowedFd<'_>],
) -> io::Result<()> {
    channel::send(socket, message.as_bytes(), descriptors)
}

/// Receives a message; `None` if the other end is closed. A message of another length is an error.
pub(crate) fn receive<T: FromBytes + IntoBytes + Default>(
    socket: BorrowedFd<'_>,
) -> io::Result<Option<T>> {
    let mut message = T::default();
    match channel::receive(socket, message.as_mut_bytes())? {
        None => Ok(None),
        Some(received) if received.length == size_of::<T>() => Ok(Some(message)),
        Some(_) => Err(io::Error::from(io::ErrorKind::InvalidData)),
    }
}

/// What the launcher receives while it waits.
pub(crate) enum Heard {
    /// A request with its three descriptors.
    Request(Request, [OwnedFd; DESCRIPTORS]),
    /// "End the run", or an unknown message.
    Other,
    /// The caller has ended.
    Closed,
}

/// Receives a message of the caller.
pub(crate) fn hear(socket: BorrowedFd<'_>) -> io::Result<Heard> {
    let mut request = Request::default();
    let Some(received) = channel::receive(socket, request.as_mut_bytes())? else {
        return Ok(Heard::Closed);
    };
    let is_whole = received.length == size_of::<Request>();
    Ok(match received.descriptors.try_into() {
        Ok(descriptors) if is_whole => Heard::Request(request, descriptors),
        _ => Heard::Other,
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::wire::channel::pair;
    use std::fs::File;
    use std::io::{Read, Seek, Write};
    use std::os::fd::AsFd;

    #[test]
    fn messages_and_descriptors_arrive() {
        let (ours, theirs) = pair().unwrap();
        let mut file = tempfile::tempfile().unwrap();
        write!(file, "here").unwrap();
        let request = Request { contestant: 3, padding_bytes: 9, timeout_ns: 7, ..request() };
        send(ours.as_fd(), &request, &[file.as_fd(); 3]).unwrap();
        let Heard::Request(got, [_, _, third]) = hear(theirs.as_fd()).unwrap() else { panic!() };
        assert_eq!((got.contestant, got.padding_bytes, got.timeout_ns), (3, 9, 7));
        let mut third = File::from(third);
        third.rewind().unwrap();
        let mut text = String::new();
        third.read_to_string(&mut text).unwrap();
        assert_eq!(text, "here");
        let reply = Reply { end_ns: 5, left_name: [7; 32], ..Reply::new() };
        send(theirs.as_fd(), &reply, &[]).unwrap();
        let got: Reply = receive(ours.as_fd()).unwrap().unwrap();
        assert_eq!((got.end_ns, got.left_name), (5, [7; 32]));
    }

    fn request() -> Request {
        Request::default()
    }

    #[test]
    fn other_messages_and_the_end_are_told_apart() {
        let (ours, theirs) = pair().unwrap();
        send(ours.as_fd(), &CANCEL, &[]).unwrap();
        assert!(matches!(hear(theirs.as_fd()).unwrap(), Heard::Other));
        send(ours.as_fd(), &request(), &[]).unwrap();
        assert!(matches!(hear(theirs.as_fd()).unwrap(), Heard::Other), "no descriptors");
        send(theirs.as_fd(), &CANCEL, &[]).unwrap();
        assert!(receive::<Reply>(ours.as_fd()).is_err(), "too short");
        drop(ours);
        assert!(matches!(hear(theirs.as_fd()).unwrap(), Heard::Closed));
        assert!(send(theirs.as_fd(), &CANCEL, &[]).is_err());
    }
}
