//! The launcher's own process: set-up, then one run for each request, until the caller ends.

use super::folders::Folders;
use super::message::{self, Heard, Hello, Reply, Request};
use super::scheduled::{Own, Waits};
use super::{Prepared, orphans, spawn, wait};
use std::fs::File;
use std::io;
use std::mem::MaybeUninit;
use std::os::fd::{AsFd, AsRawFd, BorrowedFd, FromRawFd, IntoRawFd, OwnedFd};
use std::panic::{AssertUnwindSafe, catch_unwind};
use tiebreak_machine::cpus;

/// The launcher moves its socket to this number and closes all higher descriptors.
const SOCKET: i32 = 3;

/// Runs the launcher in a process that has just been forked. Never returns.
pub(super) fn run(socket: OwnedFd, prepared: Prepared) -> ! {
    // Nothing may unwind into the copy of the caller's stack below.
    let served = catch_unwind(AssertUnwindSafe(|| serve(socket, prepared)));
    let status = if matches!(served, Ok(Ok(()))) { 0 } else { 70 };
    // SAFETY: ends the process at once, without the caller's exit handlers.
    unsafe { libc::_exit(status) }
}

fn serve(socket: OwnedFd, mut prepared: Prepared) -> io::Result<()> {
    let (socket, null) = settle_descriptors(socket)?;
    let socket = socket.as_fd();
    let set_up = set_up(&prepared);
    let hello = match &set_up {
        Ok(_) => Hello::default(),
        Err((stage, contestant, error)) => {
            let errno = error.raw_os_error().unwrap_or(libc::EINVAL);
            Hello { stage: *stage, errno, contestant: *contestant }
        }
    };
    message::send(socket, &hello, &[])?;
    let Ok(folders) = set_up else { return Ok(()) };
    let kept = Kept { folders, attributes: spawn::Attributes::new()?, scheduled: Own::open() };
    loop {
        match message::hear(socket)? {
            Heard::Request(request, standard) => {
                let reply = run_once(&request, standard, &mut prepared, &kept, socket);
                stand_on(&null, &null, &null);
                message::send(socket, &reply, &[])?;
            }
            // The request came too late: the run has already ended.
            Heard::Other => {}
            Heard::Closed => return Ok(()),
        }
    }
}

/// What every run needs and none changes.
struct Kept {
    folders: Folders,
    attributes: spawn::Attributes,
    scheduled: Own,
}

fn run_once(
    request: &Request,
    [input, output, errors]: [OwnedFd; 3],
    prepared: &mut Prepared,
    kept: &Kept,
    socket: BorrowedFd<'_>,
) -> Reply {
    // The contestant inherits the launcher's standard descriptors, so they need no work between the
    // clock and its start.
    stand_on(&input, &output, &errors);
    prepared.environment.pad(request.padding_bytes);
    let mut reply = Reply::new();
    let Some(image) = prepared.images.get(request.contestant as usize) else {
        return reply;
    };
    let watch = wait::Watch { request, output: &output, errors: &errors, socket };
    let entered = kept.folders.enter(request.contestant as usize);
    let mut waits = Waits::new(&kept.scheduled);
    match entered.and_then(|()| spawn::start(image, &prepared.environment, &kept.attributes)) {
        Ok((pid, start_ns)) => {
            reply.start_ns = start_ns;
            watch.until_reaped(pid, &mut reply, &mut waits);
            orphans::end_all(&mut reply);
            reply.floor_kib = own_peak_kib();
        }
        Err(error) => {
            reply.end = Reply::NOT_STARTED;
            reply.errno = error;
        }
    }
    reply
}

/// Closes everything except the socket and points the standard descriptors to `/dev/null`: the
/// launcher must not keep the caller's pipes and terminals open.
fn settle_descriptors(socket: OwnedFd) -> io::Result<(OwnedFd, File)> {
    let old = socket.into_raw_fd();
    // SAFETY: duplicates a descriptor of ours. The number may have belonged to a descriptor of the
    // caller, of which this process has a copy that nothing here uses.
    if old != SOCKET && unsafe { libc::dup3(old, SOCKET, libc::O_CLOEXEC) } < 0 {
        return Err(io::Error::last_os_error());
    }
    close_from(SOCKET + 1);
    // SAFETY: the number is that of our socket, and its old owner has given it up.
    let socket = unsafe { OwnedFd::from_raw_fd(SOCKET) };
    let null = File::options().read(true).write(true).open("/dev/null")?;
    stand_on(&null, &null, &null);
    Ok((socket, null))
}

/// Closes all descriptors from this one on. Nothing in this process may own them.
fn close_from(first: i32) {
    // SAFETY: no owner of such a descriptor is used or dropped in this process.
    if unsafe { libc::syscall(libc::SYS_close_range, first, u32::MAX, 0) } == 0 {
        return;
    }
    // Before Linux 5.9: one by one, up to the usual limits.
    for fd in first..4096 {
        // SAFETY: as above.
        unsafe { libc::close(fd) };
    }
}

/// Makes these the standard input, output and error, which every started program inherits.
fn stand_on(input: &impl AsRawFd, output: &impl AsRawFd, errors: &impl AsRawFd) {
    for (number, fd) in
        [input.as_raw_fd(), output.as_raw_fd(), errors.as_raw_fd()].into_iter().enumerate()
    {
        // SAFETY: duplicates an open descriptor; nothing in this process owns the standard ones.
        unsafe { libc::dup2(fd, number as i32) };
    }
}

/// Sets up the launcher: separate from the caller's signals, the process that adopts orphans, in
/// the right folder, on the right CPUs.
fn set_up(prepared: &Prepared) -> Result<Folders, (i32, u32, io::Error)> {
    let failed = |stage| move |error| (stage, 0, error);
    // SAFETY: these calls take numbers and a text that ends with a zero byte, and change only
    // attributes of this process: its group, its name, its reaction to signals.
    unsafe {
        // A separate group: signals to the caller's group are not meant for the launcher, which
        // ends with the caller.
        libc::setpgid(0, 0);
        libc::prctl(libc::PR_SET_NAME, c"tiebreak-launch".as_ptr());
        for signal in [libc::SIGINT, libc::SIGTERM, libc::SIGQUIT, libc::SIGHUP, libc::SIGPIPE] {
            libc::signal(signal, libc::SIG_IGN);
        }
        if libc::prctl(libc::PR_SET_CHILD_SUBREAPER, 1) != 0 {
            return Err((Hello::SET_UP, 0, io::Error::last_os_error()));
        }
    }
    // Checks now, and not in the first round, that the kernel has the call by which runs are waited
    // for. SAFETY: getpid only reads a number.
    let own = unsafe { libc::getpid() };
    super::process_descriptor(own).map_err(failed(Hello::SET_UP))?;
    let folders = Folders::open(&prepared.directories)
        .map_err(|(contestant, error)| (Hello::DIRECTORY, contestant as u32, error))?;
    if !prepared.cpus.is_empty() {
        cpus::pin_this_thread(&prepared.cpus).map_err(failed(Hello::SET_UP))?;
    }
    Ok(folders)
}

/// Returns the launcher's own peak memory, which `exec` passes on to every program.
fn own_peak_kib() -> u64 {
    let mut usage = MaybeUninit::<libc::rusage>::zeroed();
    // SAFETY: the place is valid for the result, and all zero bytes are a valid value of it.
    let usage = unsafe {
        libc::getrusage(libc::RUSAGE_SELF, usage.as_mut_ptr());
        usage.assume_init()
    };
    u64::try_from(usage.ru_maxrss).unwrap_or(0)
}
