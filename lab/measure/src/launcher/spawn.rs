//! Starts a program with as little work as possible between the clock and its first instruction.

use crate::image::{Environment, Image};
use std::io;
use std::mem::MaybeUninit;
use tiebreak_machine::clock;

/// What `posix_spawn` sets in the child: its own process group, no blocked signal, and the default
/// reaction to every signal.
pub(super) struct Attributes(Box<libc::posix_spawnattr_t>);

impl Attributes {
    pub(super) fn new() -> io::Result<Attributes> {
        let mut attributes = Box::new(MaybeUninit::<libc::posix_spawnattr_t>::uninit());
        let mut none = MaybeUninit::<libc::sigset_t>::uninit();
        let mut all = MaybeUninit::<libc::sigset_t>::uninit();
        let flags = libc::POSIX_SPAWN_SETPGROUP
            | libc::POSIX_SPAWN_SETSIGMASK
            | libc::POSIX_SPAWN_SETSIGDEF;
        // SAFETY: each place is valid for what is initialised in it, and initialised before it is
        // used; the attributes are plain bytes in every libc, so they may be kept.
        let error = unsafe {
            libc::sigemptyset(none.as_mut_ptr());
            libc::sigfillset(all.as_mut_ptr());
            let place = attributes.as_mut_ptr();
            [
                libc::posix_spawnattr_init(place),
                libc::posix_spawnattr_setflags(place, flags as libc::c_short),
                libc::posix_spawnattr_setpgroup(place, 0),
                libc::posix_spawnattr_setsigmask(place, none.as_ptr()),
                libc::posix_spawnattr_setsigdefault(place, all.as_ptr()),
            ]
            .into_iter()
            .find(|error| *error != 0)
        };
        match error {
            Some(error) => Err(io::Error::from_raw_os_error(error)),
            // SAFETY: initialised above.
            None => Ok(Attributes(unsafe { attributes.assume_init() })),
        }
    }
}

/// Starts the program and returns its process number, and the time just before. The error is an
/// `errno`.
pub(super) fn start(
    image: &Image,
    environment: &Environment,
    attributes: &Attributes,
) -> Result<(i32, u64), i32> {
    let (path, arguments) = (image.path(), image.arguments());
    let variables = environment.variables();
    let mut pid = 0;
    let start_ns = clock::monotonic_ns();
    // SAFETY: the path and all strings of the two vectors end with a zero byte and the vectors with
    // a null pointer; all of them, and the attributes, outlive the call.
    let error = unsafe {
        libc::posix_spawn(
            &raw mut pid,
            path,
            std::ptr::null(),
            &raw const *attributes.0,
            arguments,
            variables,
        )
    };
    if error == 0 { Ok((pid, start_ns)) } else { Err(error) }
}
