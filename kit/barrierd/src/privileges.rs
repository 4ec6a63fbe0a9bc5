//! Giving up every right that the daemon no longer needs. After the start that is all of them: the
//! maps are mapped, the programs attached, the files open.

use std::io;

use crate::checked;

/// The user that owns nothing.
pub const NOBODY: u32 = 65534;

/// How the daemon runs once it has given up its rights.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Confined {
    /// Its user.
    pub user: u32,
    /// How many system calls it may make.
    pub calls: usize,
}

/// Becomes another user if this one is root, drops all capabilities, forbids new ones, and filters
/// system calls. The socket's folder stays root's: that user may be one of other services, and
/// a program that can replace the socket is believed by all clients.
///
/// # Errors
///
/// A step failed: nothing less is acceptable, so the daemon then must not run.
pub fn drop_all(user: u32) -> io::Result<Confined> {
    // SAFETY: asks for a number.
    let before = unsafe { libc::geteuid() };
    if before == 0 {
        drop_bounding_set();
        become_user(user)?;
    }
    drop_capabilities()?;
    install_filter()?;
    Ok(Confined { user: if before == 0 { user } else { before }, calls: ALLOWED.len() })
}

/// Without these, no program that would be started could have a capability. None is started; where
/// the kernel refuses, `no_new_privs` has the same effect.
fn drop_bounding_set() {
    for capability in 0..64 {
        // SAFETY: numbers only.
        unsafe { libc::prctl(libc::PR_CAPBSET_DROP, capability, 0, 0, 0) };
    }
}

fn become_user(user: u32) -> io::Result<()> {
    // SAFETY: numbers only; the list of groups is empty.
    unsafe {
        checked(libc::setgroups(0, std::ptr::null()))?;
        checked(libc::setresgid(user, user, user))?;
        checked(libc::setresuid(user, user, user))?;
    }
    // The calls take one number, -1, for "leave it as it is", and say that all went well.
    if is_wholly(user, user) {
        Ok(())
    } else {
        Err(io::Error::other(format!("the system did not make it user {user}")))
    }
}

/// Whether the real, the effective and the saved user and group are these.
fn is_wholly(user: u32, group: u32) -> bool {
    let (mut users, mut groups) = ([0; 3], [0; 3]);
    let ([one, two, three], [four, five, six]) = (&mut users, &mut groups);
    // SAFETY: each call writes three numbers, which are there.
    let is_told =
        unsafe { libc::getresuid(one, two, three) == 0 && libc::getresgid(four, five, six) == 0 };
    is_told && (users, groups) == ([user; 3], [group; 3])
}

/// Empties the sets of capabilities.
fn drop_capabilities() -> io::Result<()> {
    #[repr(C)]
    struct Header {
        version: u32,
        process: i32,
    }
    /// `_LINUX_CAPABILITY_VERSION_3`: two times three sets of 32 bits.
    const VERSION: u32 = 0x2008_0522;
    let mut header = Header { version: VERSION, process: 0 };
    let none = [0_u32; 6];
    // SAFETY: the structures are those of `capset`, and outlive the call.
    let result = unsafe {
        libc::prctl(libc::PR_CAP_AMBIENT, libc::PR_CAP_AMBIENT_CLEAR_ALL, 0, 0, 0);
        libc::syscall(libc::SYS_capset, &raw mut header, none.as_ptr())
    };
    checked(result).map(drop)
}

/// The system calls that the daemon may still make once it runs: what the loop, the allocator and
/// the way out need. The list is of x86-64, as the daemon is. None of them opens, starts or
/// connects anything.
#[cfg(target_arch = "x86_64")]
const ALLOWED: &[libc::c_long] = &[
    libc::SYS_read,
    libc::SYS_write,
    libc::SYS_writev,
    libc::SYS_pread64,
    libc::SYS_close,
    libc::SYS_epoll_wait,
    libc::SYS_epoll_pwait,
    libc::SYS_epoll_ctl,
    libc::SYS_accept4,
    libc::SYS_getsockopt,
    libc::SYS_ioctl,
    libc::SYS_fcntl,
    libc::SYS_recvfrom,
    libc::SYS_sendmsg,
    libc::SYS_futex,
    libc::SYS_clock_gettime,
    libc::SYS_clock_nanosleep,
    libc::SYS_nanosleep,
    libc::SYS_restart_syscall,
    libc::SYS_unlink,
    libc::SYS_mmap,
    libc::SYS_munmap,
    libc::SYS_mremap,
    libc::SYS_madvise,
    libc::SYS_brk,
    libc::SYS_sigaltstack,
    libc::SYS_rt_sigaction,
    libc::SYS_rt_sigprocmask,
    libc::SYS_rt_sigreturn,
    libc::SYS_exit,
    libc::SYS_exit_group,
];

#[cfg(not(target_arch = "x86_64"))]
const ALLOWED: &[libc::c_long] = &[];

/// From `linux/audit.h`: calls of x86-64.
const ARCHITECTURE: u32 = 0xc000_003e;

/// Offsets in `struct seccomp_data`.
const NUMBER_AT: u32 = 0;
const ARCHITECTURE_AT: u32 = 4;

const LOAD: u16 = (libc::BPF_LD | libc::BPF_W | libc::BPF_ABS) as u16;
const JUMP_IF_EQUAL: u16 = (libc::BPF_JMP | libc::BPF_JEQ | libc::BPF_K) as u16;
const RETURN: u16 = (libc::BPF_RET | libc::BPF_K) as u16;

const fn step(code: u16, jt: u8, jf: u8, k: u32) -> libc::sock_filter {
    libc::sock_filter { code, jt, jf, k }
}

/// The filter: a list of comparisons, of which one that holds skips to the end.
fn filter(allowed: &[libc::c_long]) -> Vec<libc::sock_filter> {
    let mut filter = vec![
        step(LOAD, 0, 0, ARCHITECTURE_AT),
        step(JUMP_IF_EQUAL, 1, 0, ARCHITECTURE),
        step(RETURN, 0, 0, libc::SECCOMP_RET_KILL_PROCESS),
        step(LOAD, 0, 0, NUMBER_AT),
    ];
    for (index, number) in allowed.iter().enumerate() {
        let to_end = (allowed.len() - index) as u8;
        filter.push(step(JUMP_IF_EQUAL, to_end, 0, *number as u32));
    }
    filter.push(step(RETURN, 0, 0, libc::SECCOMP_RET_ERRNO | libc::EPERM as u32));
    filter.push(step(RETURN, 0, 0, libc::SECCOMP_RET_ALLOW));
    filter
}

/// Filters the calls of this process from now on: all but the allowed ones fail with EPERM.
fn install_filter() -> io::Result<()> {
    let mut filter = filter(ALLOWED);
    let program = libc::sock_fprog { len: filter.len() as u16, filter: filter.as_mut_ptr() };
    // SAFETY: the kernel copies the program, which outlives the calls.
    unsafe {
        checked(libc::prctl(libc::PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0))?;
        checked(libc::prctl(libc::PR_SET_SECCOMP, libc::SECCOMP_MODE_FILTER, &program)).map(drop)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn who_it_is_is_asked_of_the_system() {
        // SAFETY: asks for numbers.
        let (user, group) = unsafe { (libc::getuid(), libc::getgid()) };
        assert!(is_wholly(user, group));
        for (user, group) in [(u32::MAX, u32::MAX), (user ^ 1, group), (user, group ^ 1)] {
            assert!(!is_wholly(user, group), "{user} {group}");
        }
    }

    /// Runs the filter on a call, as the kernel would.
    #[cfg(target_arch = "x86_64")]
    fn run(filter: &[libc::sock_filter], architecture: u32, number: libc::c_long) -> u32 {
        let (mut at, mut value) = (0, 0);
        loop {
            let step = filter[at];
            at += 1;
            match (step.code, step.k) {
                (LOAD, ARCHITECTURE_AT) => value = architecture,
                (LOAD, NUMBER_AT) => value = number as u32,
                (JUMP_IF_EQUAL, k) => at += usize::from(if value == k { step.jt } else { step.jf }),
                (RETURN, k) => return k,
                other => panic!("no such step: {other:?}"),
            }
        }
    }

    #[cfg(target_arch = "x86_64")]
    #[test]
    fn what_is_allowed_passes_and_nothing_else() {
        let filter = filter(ALLOWED);
        let refused = libc::SECCOMP_RET_ERRNO | libc::EPERM as u32;
        for number in 0..600 {
            let expected =
                if ALLOWED.contains(&number) { libc::SECCOMP_RET_ALLOW } else { refused };
            assert_eq!(run(&filter, ARCHITECTURE, number), expected, "call {number}");
        }
        assert_eq!(run(&filter, 0x4000_0003, 0), libc::SECCOMP_RET_KILL_PROCESS);
        for dangerous in [
            libc::SYS_bpf,
            libc::SYS_openat,
            libc::SYS_execve,
            libc::SYS_clone3,
            libc::SYS_connect,
            libc::SYS_ptrace,
        ] {
            assert_eq!(run(&filter, ARCHITECTURE, dangerous), refused);
        }
    }
}
