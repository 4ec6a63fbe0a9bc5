//! `membarrier(2)`: the kernel makes every other running thread pass a full fence.
//!
//! What it promises, in its manual page: once the call returns, every running thread (of this
//! process, of the registered processes, or of all, by the command) has passed a state in which all
//! its accesses to memory matched its program order, between the entry of the call and its return.
//! Threads that were not running passed one when they were switched out, or will when they are
//! switched in.

use super::{Reason, Strategy};

/// A command, and its name in messages.
type Command = (i32, &'static str);

const QUERY: Command = (libc::MEMBARRIER_CMD_QUERY, "membarrier(QUERY)");

/// The command that must come first, if any, and the one that does the heavy side.
const fn commands(strategy: Strategy) -> Result<(Option<Command>, Command), Reason> {
    Ok(match strategy {
        Strategy::PrivateExpedited => (
            Some((
                libc::MEMBARRIER_CMD_REGISTER_PRIVATE_EXPEDITED,
                "membarrier(REGISTER_PRIVATE_EXPEDITED)",
            )),
            (libc::MEMBARRIER_CMD_PRIVATE_EXPEDITED, "membarrier(PRIVATE_EXPEDITED)"),
        ),
        Strategy::GlobalExpedited => (
            Some((
                libc::MEMBARRIER_CMD_REGISTER_GLOBAL_EXPEDITED,
                "membarrier(REGISTER_GLOBAL_EXPEDITED)",
            )),
            (libc::MEMBARRIER_CMD_GLOBAL_EXPEDITED, "membarrier(GLOBAL_EXPEDITED)"),
        ),
        Strategy::GlobalUnexpedited => (None, (libc::MEMBARRIER_CMD_GLOBAL, "membarrier(GLOBAL)")),
        _ => return Err(Reason::NotOffered),
    })
}

/// The raw call, and its result.
fn membarrier((command, name): Command) -> Result<i32, Reason> {
    // SAFETY: no command of membarrier(2) reads or writes memory of this process through an
    // argument: the three are numbers.
    let result = unsafe { libc::syscall(libc::SYS_membarrier, command, 0, 0) };
    // The mask of QUERY has 10 bits, and every other success is 0.
    if result < 0 { Err(Reason::of_last(name)) } else { Ok(result as i32) }
}

/// Makes a strategy ready: the kernel has its command, registers this process, and does it once.
///
/// A kernel, a filter or an emulator may know one of the three and refuse another, and which errno
/// it then answers (EPERM, EINVAL, ENOSYS) says nothing about the rest.
pub(super) fn prepare(strategy: Strategy) -> Result<(), Reason> {
    let (register, issue) = commands(strategy)?;
    let needed = issue.0 | register.map_or(0, |register| register.0);
    if membarrier(QUERY)? & needed != needed {
        return Err(Reason::NotOffered);
    }
    self::register(strategy)?;
    self::issue(strategy)
}

/// Registers this process, where the strategy needs that. Again is harmless.
pub(super) fn register(strategy: Strategy) -> Result<(), Reason> {
    match commands(strategy) {
        Ok((Some(register), _)) => membarrier(register).map(drop),
        _ => Ok(()),
    }
}

/// The heavy side.
pub(super) fn issue(strategy: Strategy) -> Result<(), Reason> {
    membarrier(commands(strategy)?.1).map(drop)
}
