//! For tests: a program that runs as an ordinary user in a container, without the rights that a
//! probe needs.
//!
//! The restrictions only remove rights. The user becomes `nobody` only where the caller is root;
//! everything else works for any caller.

use std::io;
use std::os::unix::process::CommandExt;
use std::process::Command;

/// The user and group that own nothing.
const UNPRIVILEGED: libc::uid_t = 65_534;

/// The system calls that a container may refuse, by name.
pub const REFUSED: [(&str, libc::c_long); 10] = [
    ("perf_event_open", libc::SYS_perf_event_open),
    ("bpf", libc::SYS_bpf),
    ("sched_setscheduler", libc::SYS_sched_setscheduler),
    ("sched_setattr", libc::SYS_sched_setattr),
    ("mlock", libc::SYS_mlock),
    ("mlock2", libc::SYS_mlock2),
    ("mlockall", libc::SYS_mlockall),
    ("membarrier", libc::SYS_membarrier),
    ("mbind", libc::SYS_mbind),
    ("set_mempolicy", libc::SYS_set_mempolicy),
];

/// The rights of a program.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Rights {
    /// Whether it may choose its CPUs; otherwise `sched_setaffinity` fails with `EPERM` too.
    pub affinity: bool,
    /// The only CPU that it may use; `None` for all that the caller may use.
    pub only_cpu: Option<usize>,
}

/// The kernel's name for the system calls of this processor (`linux/audit.h`).
#[cfg(target_arch = "x86_64")]
const ARCHITECTURE: Option<u32> = Some(0xC000_003E);
#[cfg(target_arch = "aarch64")]
const ARCHITECTURE: Option<u32> = Some(0xC000_00B7);
#[cfg(not(any(target_arch = "x86_64", target_arch = "aarch64")))]
const ARCHITECTURE: Option<u32> = None;

/// Makes a program start as an ordinary user: as `nobody` if the caller is root, without any way to
/// regain rights, on one CPU if requested, and with a filter that answers the calls in [`REFUSED`]
/// with `EPERM`.
///
/// # Errors
/// The command then fails to start if the kernel has no such filters.
pub fn restrict(command: &mut Command, rights: Rights) {
    let filter = filter(rights);
    let begin = move || {
        if let Some(cpu) = rights.only_cpu {
            crate::cpus::pin_this_thread(&[cpu])?;
        }
        drop_root()?;
        install(&filter)
    };
    // SAFETY: between fork and exec it only makes system calls; it allocates and locks nothing.
    unsafe { command.pre_exec(begin) };
}

fn drop_root() -> io::Result<()> {
    // SAFETY: this only reads a number.
    if unsafe { libc::geteuid() } != 0 {
        return Ok(());
    }
    // SAFETY: these calls take numbers and an empty list.
    let refused = unsafe {
        libc::setgroups(0, std::ptr::null()) != 0
            || libc::setresgid(UNPRIVILEGED, UNPRIVILEGED, UNPRIVILEGED) != 0
            || libc::setresuid(UNPRIVILEGED, UNPRIVILEGED, UNPRIVILEGED) != 0
    };
    if refused { Err(io::Error::last_os_error()) } else { Ok(()) }
}

/// Builds a program for the kernel's packet filter, which gets a `seccomp_data` instead of a
/// packet: the number of the system call is at 0, the architecture at 4.
fn filter(rights: Rights) -> Vec<libc::sock_filter> {
    let Some(architecture) = ARCHITECTURE else { return vec![give(libc::SECCOMP_RET_ALLOW)] };
    let affinity = (!rights.affinity).then_some(libc::SYS_sched_setaffinity);
    let refused = REFUSED.iter().map(|(_, number)| *number).chain(affinity);
    let mut program = vec![
        load(4),
        // Calls of another architecture have other numbers: let them through.
        jump_if(architecture, 1, 0),
        give(libc::SECCOMP_RET_ALLOW),
        load(0),
    ];
    let refuse = give(libc::SECCOMP_RET_ERRNO | libc::EPERM as u32);
    for number in refused {
        program.extend([jump_if(number as u32, 0, 1), refuse]);
    }
    program.push(give(libc::SECCOMP_RET_ALLOW));
    program
}

/// Loads the word at this offset.
fn load(offset: u32) -> libc::sock_filter {
    step(libc::BPF_LD | libc::BPF_W | libc::BPF_ABS, 0, 0, offset)
}

fn jump_if(equal_to: u32, then: u8, otherwise: u8) -> libc::sock_filter {
    step(libc::BPF_JMP | libc::BPF_JEQ | libc::BPF_K, then, otherwise, equal_to)
}

fn give(answer: u32) -> libc::sock_filter {
    step(libc::BPF_RET | libc::BPF_K, 0, 0, answer)
}

fn step(code: u32, jt: u8, jf: u8, k: u32) -> libc::sock_filter {
    libc::sock_filter { code: code as u16, jt, jf, k }
}

fn install(filter: &[libc::sock_filter]) -> io::Result<()> {
    let program = libc::sock_fprog { len: filter.len() as u16, filter: filter.as_ptr().cast_mut() };
    // SAFETY: prctl gets numbers, and a program that lives until the call returns and that the
    // kernel only reads.
    let refused = unsafe {
        libc::prctl(libc::PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0
            || libc::prctl(
                libc::PR_SET_SECCOMP,
                libc::c_ulong::from(libc::SECCOMP_MODE_FILTER),
                &raw const program,
                0,
                0,
            ) != 0
    };
    if refused { Err(io::Error::last_os_error()) } else { Ok(()) }
}
