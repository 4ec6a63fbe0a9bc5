//! `membarrier(2)`: the kernel makes every other running thread pass a full fence.
//!
//! What it promises, in its manual page: once the call returns, every running thread (of this
//! process, of the registered processes, or of all, by the command) has passed a state in which all
//! its accesses to memory matched its program order, between the entry of the call and its return.
//! Threads that were not running passed one when they were switched out, or will when they are
//! switched in.

use super::{Reason, Strategy};

/// The command of a strategy, that which must come first, and how both are called.
struct Command {
    issue: i32,
    register: Option<i32>,
    call: &'static str,
    register_call: &'static str,
}

const QUERY: i32 = libc::MEMBARRIER_CMD_QUERY;

const PRIVATE: Command = Command {
    issue: libc::MEMBARRIER_CMD_PRIVATE_EXPEDITED,
    register: Some(libc::MEMBARRIER_CMD_REGISTER_PRIVATE_EXPEDITED),
    call: "membarrier(PRIVATE_EXPEDITED)",
    register_call: "membarrier(REGISTER_PRIVATE_EXPEDITED)",
};

const GLOBAL: Command = Command {
    issue: libc::MEMBARRIER_CMD_GLOBAL_EXPEDITED,
    register: Some(libc::MEMBARRIER_CMD_REGISTER_GLOBAL_EXPEDITED),
    call: "membarrier(GLOBAL_EXPEDITED)",
    register_call: "membarrier(REGISTER_GLOBAL_EXPEDITED)",
};

const UNEXPEDITED: Command = Command {
    issue: libc::MEMBARRIER_CMD_GLOBAL,
    register: None,
    call: "membarrier(GLOBAL)",
    register_call: "",
};

const fn command(strategy: Strategy) -> Option<&'static Command> {
    match strategy {
        Strategy::PrivateExpedited => Some(&PRIVATE),
        Strategy::GlobalExpedited => Some(&GLOBAL),
        Strategy::GlobalUnexpedited => Some(&UNEXPEDITED),
        Strategy::Mprotect | Strategy::Interrupts | Strategy::SeqCst => None,
    }
}

/// The raw call; its result, or the errno.
fn membarrier(command: i32) -> Result<i32, i32> {
    // SAFETY: no command of membarrier(2) reads or writes memory of this process through an
    // argument: the three are numbers.
    let result = unsafe { libc::syscall(libc::SYS_membarrier, command, 0, 0) };
    // The mask of QUERY has 10 bits, and every other success is 0.
    if result < 0 { Err(errno()) } else { Ok(result as i32) }
}

fn errno() -> i32 {
    std::io::Error::last_os_error().raw_os_error().unwrap_or(0)
}

/// Makes a strategy ready: the kernel has its command, registers this process, and does it once.
///
/// A kernel, a filter or an emulator may know one of the three and refuse another, and which errno
/// it then answers (EPERM, EINVAL, ENOSYS) says nothing about the rest.
pub(super) fn prepare(strategy: Strategy) -> Result<(), Reason> {
    let Some(command) = command(strategy) else { return Err(Reason::NotOffered) };
    let offered =
        membarrier(QUERY).map_err(|errno| Reason::Errno { call: "membarrier(QUERY)", errno })?;
    let needed = command.issue | command.register.unwrap_or(0);
    if offered & needed != needed {
        return Err(Reason::NotOffered);
    }
    register(strategy)?;
    issue(strategy)
}

/// Registers this process, where the strategy needs that. Again is harmless.
pub(super) fn register(strategy: Strategy) -> Result<(), Reason> {
    let Some(command) = command(strategy) else { return Ok(()) };
    let Some(register) = command.register else { return Ok(()) };
    membarrier(register)
        .map(|_| ())
        .map_err(|errno| Reason::Errno { call: command.register_call, errno })
}

/// The heavy side.
pub(super) fn issue(strategy: Strategy) -> Result<(), Reason> {
    let Some(command) = command(strategy) else { return Err(Reason::NotOffered) };
    membarrier(command.issue)
        .map(|_| ())
        .map_err(|errno| Reason::Errno { call: command.call, errno })
}
