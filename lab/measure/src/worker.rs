//! A worker: the process in which contestants that are functions run.
//!
//! `tiebreak __worker` is one. Its standard input is a socket, over which it gets one request after
//! the other (`wire::message`). It shares memory with the sender (`wire::area`). There it records
//! whose code runs, so that a crash or a hang can be attributed, reads the orders of rounds, and
//! writes what was measured. Contestants do not use the socket: what they print, to standard output
//! or standard error, is kept for the message about a crash. A worker ends when the other end of
//! the socket is closed, or the kernel ends it when its parent has ended. Each unit starts a new
//! one, so whatever a contestant does to its process ends with the unit.

mod batch;
mod checking;
mod conduct;
mod helpers;
mod library;
mod memory;
mod meters;
mod state;
mod unit;

use crate::system::{checked, owned};
use crate::wire::channel::{self, Inbox};
use crate::wire::message;
use crate::wire::message::{Load, Reply, Request};
use crate::worker::library::{Contestant, Oracle};
use crate::worker::unit::Unit;
use std::fs::File;
use std::io;
use std::os::fd::{AsFd, AsRawFd, BorrowedFd, OwnedFd};

/// The exit status of a worker whose standard input is not a socket of the laboratory, or one whose
/// other end is closed.
const USAGE: u8 = 64;
/// The exit status of a worker that could not continue.
const BROKEN: u8 = 70;

/// Serves requests until the other end is closed, and returns the exit status. This is all of
/// `tiebreak __worker`.
pub fn main() -> u8 {
    let Ok(socket) = settle() else {
        return USAGE;
    };
    match serve(socket.as_fd()) {
        Ok(()) => 0,
        Err(_) => BROKEN,
    }
}

/// Moves the socket away from standard input, where contestants might find it, and makes this
/// process end with its parent, which may have ended already.
fn settle() -> io::Result<OwnedFd> {
    // SAFETY: these calls take numbers and texts that end with a zero byte; nothing in this process
    // owns the standard input.
    unsafe {
        libc::prctl(libc::PR_SET_NAME, c"tiebreak-worker".as_ptr());
        let socket = owned(libc::fcntl(0, libc::F_DUPFD_CLOEXEC, 3))?;
        let mut kind = 0;
        let mut length = size_of_val(&kind) as libc::socklen_t;
        let place = (&raw mut kind).cast();
        let name = libc::SO_TYPE;
        let fd = socket.as_raw_fd();
        if libc::getsockopt(fd, libc::SOL_SOCKET, name, place, &raw mut length) != 0
            || kind != libc::SOCK_SEQPACKET
        {
            return Err(io::Error::from(io::ErrorKind::InvalidInput));
        }
        let null = File::options().read(true).write(true).open("/dev/null")?;
        checked(libc::dup2(null.as_raw_fd(), 0))?;
        end_with_parent();
        // The kernel closes what a process had open before it signals its children. A worker that
        // gets no signal any more therefore finds the socket closed, although it may still hold
        // requests.
        if is_abandoned(socket.as_fd())? {
            return Err(io::Error::from(io::ErrorKind::BrokenPipe));
        }
        Ok(socket)
    }
}

/// Returns whether the other end is closed.
fn is_abandoned(socket: BorrowedFd<'_>) -> io::Result<bool> {
    let mut polled = libc::pollfd { fd: socket.as_raw_fd(), events: 0, revents: 0 };
    // SAFETY: the entry is valid, and nothing is waited for.
    checked(unsafe { libc::poll(&raw mut polled, 1, 0) })?;
    Ok(polled.revents & libc::POLLHUP != 0)
}

/// Makes the kernel end this process when the thread that started it ends, and also the processes
/// that contestants have started, which are in its group.
fn end_with_parent() {
    // SAFETY: the calls take numbers; the handler makes one call that a handler may make.
    unsafe {
        let mut signal = libc::SIGKILL;
        if libc::getpgrp() == libc::getpid() {
            signal = libc::SIGRTMAX();
            let handler: extern "C" fn(libc::c_int) = end_group;
            libc::signal(signal, handler as libc::sighandler_t);
        }
        libc::prctl(libc::PR_SET_PDEATHSIG, signal);
    }
}

extern "C" fn end_group(_signal: libc::c_int) {
    // SAFETY: the call takes numbers; the group is our own.
    unsafe { libc::kill(0, libc::SIGKILL) };
}

fn serve(socket: BorrowedFd<'_>) -> io::Result<()> {
    let mut inbox = Inbox::new();
    let mut oracle = None;
    while let Some((request, descriptors)) = message::receive(&mut inbox, socket)? {
        let reply = match request {
            Request::Load(load) => {
                return serve_unit(socket, &mut inbox, &load, descriptors);
            }
            request => serve_once(request, descriptors, &mut oracle).unwrap_or_else(failed),
        };
        message::send(socket, &reply, &[])?;
    }
    Ok(())
}

fn serve_once(
    request: Request,
    descriptors: Vec<OwnedFd>,
    oracle: &mut Option<Oracle>,
) -> io::Result<Reply> {
    let mut descriptors = descriptors.into_iter();
    let mut next = || descriptors.next().ok_or(io::ErrorKind::InvalidInput);
    Ok(match request {
        Request::Probe(library) => match Contestant::load(&library) {
            Ok(contestant) => Reply::Table(contestant.facts()),
            Err(refusal) => Reply::Refused(0, refusal),
        },
        Request::Check(check) => checking::check(&check, [next()?, next()?, next()?])?,
        Request::Together(pass) => checking::together(&pass, [next()?, next()?, next()?, next()?])?,
        Request::Oracle(library) => match Oracle::load(&library) {
            Ok(loaded) => {
                *oracle = Some(loaded);
                Reply::Done
            }
            Err(refusal) => Reply::Refused(0, refusal),
        },
        Request::Input { question, is_made } => {
            library::input(loaded(oracle)?, &question, next()?, is_made)?
        }
        Request::Answer { question, input_bytes } => {
            let oracle = loaded(oracle)?;
            library::answer(oracle, &question, &next()?, input_bytes, next().ok())?
        }
        Request::Load(_) | Request::Rounds(_) => Reply::Failed("nothing is loaded".to_owned()),
    })
}

fn loaded(oracle: &Option<Oracle>) -> io::Result<&Oracle> {
    oracle.as_ref().ok_or_else(|| io::Error::other("no oracle was loaded"))
}

/// Loads a unit and runs rounds of it until the other end is closed, all on a stack that was moved.
fn serve_unit(
    socket: BorrowedFd<'_>,
    inbox: &mut Inbox,
    load: &Load,
    descriptors: Vec<OwnedFd>,
) -> io::Result<()> {
    state::lower(load.stack_bytes, &mut || {
        let loaded = match descriptors.as_slice() {
            [area, input] => Unit::load(load, area, input, None),
            [area, input, other] => Unit::load(load, area, input, Some(other)),
            _ => Err(io::Error::from(io::ErrorKind::InvalidInput)),
        };
        let mut unit = match loaded {
            Ok(Ok(unit)) => unit,
            Ok(Err(reply)) => return message::send(socket, &reply, &[]),
            Err(error) => return message::send(socket, &failed(error), &[]),
        };
        message::send(socket, &Reply::Ready(unit.resets()), &[])?;
        // Encoded before the rounds, so that nothing is allocated between them.
        let done = message::bytes(&Reply::Done);
        while let Some((request, descriptors)) = message::receive(inbox, socket)? {
            let Request::Rounds(rounds) = request else {
                return Err(io::Error::from(io::ErrorKind::InvalidData));
            };
            // The file for what is dumped in the rounds, if there is one.
            match unit.run(&rounds, descriptors.into_iter().next()) {
                Reply::Done => channel::send(socket, &done, &[])?,
                reply => message::send(socket, &reply, &[])?,
            }
        }
        Ok(())
    })
}

fn failed(error: io::Error) -> Reply {
    Reply::Failed(error.to_string())
}
