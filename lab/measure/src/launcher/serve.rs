//! The launcher's own process: set-up, then one run for each request, until the caller ends. A
//! server that is started by a request runs until another one stops it (`serving.rs`).
//! Between the clock and a program's first instruction there is as little work as possible.

use super::Prepared;
use super::message::{End, Hello, Reply, Request, Run, Serve};
use super::serving;
use super::wait::{self, OwnWaits};
use crate::image::{Environment, Image};
use crate::resources::Waits;
use crate::system::{checked, process_descriptor, rusage};
use crate::wire::channel::Inbox;
use crate::wire::message;
use std::fs::File;
use std::io;
use std::os::fd::{AsFd, AsRawFd, FromRawFd, IntoRawFd, OwnedFd};
use std::os::unix::fs::OpenOptionsExt;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::Path;
use tiebreak_machine::{clock, cpus};

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

fn serve(socket: OwnedFd, prepared: Prepared) -> io::Result<()> {
    let (socket, null) = settle_descriptors(socket)?;
    let folders = match set_up(&prepared) {
        Ok(folders) => folders,
        Err(hello) => return message::send(socket.as_fd(), &hello, &[]),
    };
    message::send(socket.as_fd(), &Hello::Ready, &[])?;
    let (attributes, own) = (Attributes::new()?, Waits::open("self"));
    let mut server = Server { prepared, folders, attributes, own, socket };
    let mut inbox = Inbox::new();
    while let Some((request, standard)) = message::receive(&mut inbox, server.socket.as_fd())? {
        match (request, standard.try_into()) {
            (Request::Run(run), Ok(standard)) => {
                let reply = server.run_once(&run, standard);
                stand_on(&null, &null, &null);
                message::send(server.socket.as_fd(), &reply, &[])?;
            }
            (Request::Serve(serve), Ok(standard)) => {
                let [input, output, errors] = standard.map(File::from);
                stand_on(&input, &output, &errors);
                let started = server.start_server(&serve);
                stand_on(&null, &null, &null);
                serving::serve(server.socket.as_fd(), &mut inbox, &serve, started, &errors)?;
            }
            // It came too late: the run has already ended.
            _ => {}
        }
    }
    Ok(())
}

pub(super) fn errno(error: &io::Error) -> i32 {
    error.raw_os_error().unwrap_or(libc::EINVAL)
}

/// What every run needs.
struct Server {
    prepared: Prepared,
    /// The folder of each contestant.
    folders: Vec<File>,
    attributes: Attributes,
    /// The launcher's own waits for a CPU.
    own: Waits,
    socket: OwnedFd,
}

impl Server {
    fn run_once(&mut self, run: &Run, standard: [OwnedFd; 3]) -> Reply {
        let [input, output, errors] = standard.map(File::from);
        // The contestant inherits the launcher's standard descriptors, so they need no work between
        // the clock and its start.
        stand_on(&input, &output, &errors);
        let Server { prepared, folders, attributes, own, socket } = self;
        prepared.environment.pad(run.padding_bytes);
        let mut reply = Reply { end: End::Broken(0), ..Reply::default() };
        let contestant = run.contestant as usize;
        let (Some(image), Some(folder)) =
            (prepared.images.get(contestant), folders.get(contestant))
        else {
            return reply;
        };
        let watch = wait::Watch { run, output: &output, errors: &errors, socket: socket.as_fd() };
        let entered = enter(folder);
        let mut waits = OwnWaits::new(own);
        match entered.and_then(|()| start(image, &prepared.environment, attributes)) {
            Ok((pid, start_ns)) => {
                reply.start_ns = start_ns;
                watch.until_reaped(pid, &mut reply, &mut waits);
                wait::end_left_behind(&mut reply);
                // The launcher's own peak memory, which `exec` passes on to every program.
                reply.floor_kib = rusage(libc::RUSAGE_SELF).ru_maxrss as u64;
            }
            Err(error) => reply.end = End::NotStarted(errno(&error)),
        }
        reply
    }
}

impl Server {
    /// Starts a server and returns its process number.
    fn start_server(&mut self, serve: &Serve) -> io::Result<i32> {
        let Server { prepared, folders, attributes, .. } = self;
        prepared.environment.pad(serve.padding_bytes);
        let contestant = serve.contestant as usize;
        let found = prepared.images.get(contestant).zip(folders.get(contestant));
        let (image, folder) = found.ok_or(io::ErrorKind::NotFound)?;
        let image = image.with_words(&serve.words).map_err(io::Error::other)?;
        enter(folder)?;
        start(&image, &prepared.environment, attributes).map(|(pid, _)| pid)
    }
}

/// Closes everything except the socket and points the standard descriptors to `/dev/null`: the
/// launcher must not keep the caller's pipes and terminals open.
fn settle_descriptors(socket: OwnedFd) -> io::Result<(OwnedFd, File)> {
    let old = socket.into_raw_fd();
    if old != SOCKET {
        // SAFETY: duplicates a descriptor of ours. Its new number may have belonged to a descriptor
        // of the caller, of which this process has a copy that nothing here uses.
        checked(unsafe { libc::dup3(old, SOCKET, libc::O_CLOEXEC) })?;
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
fn set_up(prepared: &Prepared) -> Result<Vec<File>, Hello> {
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
        checked(libc::prctl(libc::PR_SET_CHILD_SUBREAPER, 1)).map_err(failed_set_up)?;
    }
    // Checks now, and not in the first round, that the kernel has the call by which runs are waited
    // for. SAFETY: getpid only reads a number.
    let own = unsafe { libc::getpid() };
    process_descriptor(own).map_err(failed_set_up)?;
    let mut folders = Vec::new();
    for (contestant, directory) in prepared.directories.iter().enumerate() {
        let opened = open_folder(directory.as_deref().unwrap_or(Path::new(".")));
        folders.push(opened.map_err(|error| no_directory(contestant, &error))?);
    }
    // Only now, as the paths of folders are relative to the current one.
    for (contestant, folder) in folders.iter().enumerate() {
        enter(folder).map_err(|error| no_directory(contestant, &error))?;
    }
    if !prepared.cpus.is_empty() {
        cpus::pin_this_thread(&prepared.cpus).map_err(failed_set_up)?;
    }
    Ok(folders)
}

fn failed_set_up(error: io::Error) -> Hello {
    Hello::NotSetUp(errno(&error))
}

fn no_directory(contestant: usize, error: &io::Error) -> Hello {
    Hello::NoDirectory(contestant as u64, errno(error))
}

/// Opens a folder. Entering it later resolves no path, so the folder may be moved.
fn open_folder(path: &Path) -> io::Result<File> {
    // A folder that cannot be listed may still be entered.
    let flags = libc::O_PATH | libc::O_DIRECTORY;
    File::options().read(true).custom_flags(flags).open(path)
}

/// Makes a contestant's folder the current one, which started programs inherit.
fn enter(folder: &File) -> io::Result<()> {
    // SAFETY: the descriptor is open.
    checked(unsafe { libc::fchdir(folder.as_raw_fd()) }).map(drop)
}

/// What `posix_spawn` sets in the child: its own process group, no blocked signal, and the default
/// reaction to every signal.
struct Attributes(Box<libc::posix_spawnattr_t>);

impl Attributes {
    fn new() -> io::Result<Attributes> {
        let flags = libc::POSIX_SPAWN_SETPGROUP
            | libc::POSIX_SPAWN_SETSIGMASK
            | libc::POSIX_SPAWN_SETSIGDEF;
        // SAFETY: each place is valid for what is initialised in it, and initialised before it is
        // used; the attributes are plain bytes in every libc, so they may be kept.
        unsafe {
            let mut attributes: Box<libc::posix_spawnattr_t> = Box::new(std::mem::zeroed());
            let [mut none, mut all]: [libc::sigset_t; 2] = std::mem::zeroed();
            libc::sigemptyset(&mut none);
            libc::sigfillset(&mut all);
            let errors = [
                libc::posix_spawnattr_init(&mut *attributes),
                libc::posix_spawnattr_setflags(&mut *attributes, flags as libc::c_short),
                libc::posix_spawnattr_setpgroup(&mut *attributes, 0),
                libc::posix_spawnattr_setsigmask(&mut *attributes, &none),
                libc::posix_spawnattr_setsigdefault(&mut *attributes, &all),
            ];
            match errors.into_iter().find(|error| *error != 0) {
                Some(error) => Err(io::Error::from_raw_os_error(error)),
                None => Ok(Attributes(attributes)),
            }
        }
    }
}

/// Starts the program and returns its process number, and the time just before.
fn start(
    image: &Image,
    environment: &Environment,
    attributes: &Attributes,
) -> io::Result<(i32, u64)> {
    let (path, arguments) = (image.path(), image.arguments());
    let variables = environment.variables();
    let mut pid = 0;
    let start_ns = clock::monotonic_ns();
    // SAFETY: the path and all strings of the two vectors end with a zero byte and the vectors with
    // a null pointer; all of them, and the attributes, outlive the call.
    match unsafe {
        libc::posix_spawn(
            &raw mut pid,
            path,
            std::ptr::null(),
            &raw const *attributes.0,
            arguments,
            variables,
        )
    } {
        0 => Ok((pid, start_ns)),
        error => Err(io::Error::from_raw_os_error(error)),
    }
}
