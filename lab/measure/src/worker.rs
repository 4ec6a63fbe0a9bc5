//! A worker: the process in which contestants that are functions run.
//!
//! `tiebreak __worker` is one. Its standard input is a socket. The first message there carries the
//! memory that it shares with the sender (`wire::area`); then it gets one request after the other
//! (`wire::message`). In the shared memory it records whose code runs, so that a crash or a hang
//! can be attributed, and what was measured. Contestants do not use the socket: what they print, to
//! standard output or standard error, is kept for the message about a crash. A worker ends when the
//! other end of the socket is closed, or the kernel ends it when its parent has ended. Each unit
//! starts a new one, so whatever a contestant does to its process ends with the unit.

mod batch;
mod checking;
mod conduct;
mod helpers;
mod library;
mod memory;
mod meters;
mod profile;
mod state;
mod tasks;
mod unit;

use crate::system::{checked, owned};
use crate::wire::area::Area;
use crate::wire::channel::Inbox;
use crate::wire::message::{self, Load, Reply, Request};
use crate::worker::library::{Contestant, Oracle};
use crate::worker::unit::Unit;
use std::fs::File;
use std::io;
use std::os::fd::{AsFd, AsRawFd, BorrowedFd, OwnedFd};
use std::path::Path;

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
        Err(error) if error.raw_os_error() == Some(libc::ENOTSOCK) => USAGE,
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

/// Makes the kernel end this process when the thread that started it ends, even if it is stopped
/// then.
fn end_with_parent() {
    // SAFETY: the call takes numbers.
    unsafe { libc::prctl(libc::PR_SET_PDEATHSIG, libc::SIGKILL) };
}

/// Makes the kernel also end the processes that contestants will have started, which are in its
/// group. A process that is stopped would not do that.
fn end_group_with_parent() {
    // SAFETY: the calls take numbers; the handler makes one call that a handler may make.
    unsafe {
        if libc::getpgrp() == libc::getpid() {
            let handler: extern "C" fn(libc::c_int) = end_group;
            libc::signal(libc::SIGRTMAX(), handler as libc::sighandler_t);
            libc::prctl(libc::PR_SET_PDEATHSIG, libc::SIGRTMAX());
        }
    }
}

extern "C" fn end_group(_signal: libc::c_int) {
    // SAFETY: the call takes numbers; the group is our own.
    unsafe { libc::kill(0, libc::SIGKILL) };
}

fn serve(socket: BorrowedFd<'_>) -> io::Result<()> {
    let mut inbox = Inbox::new();
    let Some((_, shared)) = inbox.receive(socket)? else { return Ok(()) };
    let [shared] = exactly(shared)?;
    // A signal handler keeps a pointer to it until the process ends.
    let area: &'static Area = Box::leak(Box::new(Area::map(&shared)?));
    // Contestants shall not find it.
    drop(shared);
    let mut oracle = None;
    while let Some((request, mut files)) = message::receive(&mut inbox, socket)? {
        if matches!(
            request,
            Request::Probe(_) | Request::Check(_) | Request::Profile(_) | Request::Load(_)
        ) {
            end_group_with_parent();
        }
        match (request, oracle) {
            (Request::Probe(library), _) => {
                let loaded = Contestant::load(Path::new(&library));
                message::send(socket, &loaded.map(|contestant| contestant.facts()), &[])?;
            }
            (Request::Check(check), _) => {
                let checked = checking::check(&check, area, exactly(files)?);
                message::send(socket, &checked, &[])?;
            }
            (Request::Profile(profile), _) => {
                let profiled = profile::profile(&profile, area, exactly(files)?);
                message::send(socket, &profiled, &[])?;
            }
            (Request::Oracle(library), _) => {
                let loaded = Oracle::load(Path::new(&library));
                message::send(socket, &loaded.map(|loaded| oracle = Some(loaded)), &[])?;
            }
            (Request::Input { question, is_made }, Some(oracle)) => {
                let input = oracle.input(&question, exactly(files)?, is_made);
                message::send(socket, &input, &[])?;
            }
            (Request::Answer { question, input_bytes }, Some(oracle)) => {
                message::send(socket, &oracle.answer(&question, input_bytes, files), &[])?;
            }
            (Request::Load(load), _) => {
                return state::lower(load.stack_bytes, &mut || {
                    serve_unit(socket, &mut inbox, area, &load, std::mem::take(&mut files))
                });
            }
            _ => return Err(io::ErrorKind::InvalidData.into()),
        }
    }
    Ok(())
}

/// Loads a unit and runs it until the other end is closed, all on a stack that was moved.
fn serve_unit(
    socket: BorrowedFd<'_>,
    inbox: &mut Inbox,
    area: &'static Area,
    load: &Load,
    files: Vec<OwnedFd>,
) -> io::Result<()> {
    let mut unit = match Unit::load(load, area, files) {
        Ok(unit) => unit,
        Err(why) => return message::send(socket, &Reply::<()>::Err(why), &[]),
    };
    message::send(socket, &Reply::Ok(()), &[])?;
    while let Some((request, mut files)) = message::receive(inbox, socket)? {
        match request {
            Request::Rounds(rounds) => {
                message::send(socket, &unit.run(&rounds, files.pop()), &[])?;
            }
            Request::Together => {
                message::send(socket, &checking::together(&mut unit, exactly(files)?), &[])?;
            }
            _ => return Err(io::ErrorKind::InvalidData.into()),
        }
    }
    Ok(())
}

/// Returns the descriptors of a message that comes with this many.
fn exactly<const N: usize>(files: Vec<OwnedFd>) -> io::Result<[OwnedFd; N]> {
    files.try_into().map_err(|_| io::ErrorKind::InvalidInput.into())
}
