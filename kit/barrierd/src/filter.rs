//! The system calls that the daemon may still make once it runs. All others fail with EPERM.
//!
//! The list is of x86-64, as the daemon is: on others it says so before it comes to this.

use std::io;

/// What the loop, the allocator and the way out need. None of them opens, starts or connects
/// anything.
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

/// The filter: a list of comparisons, of which one that holds skips to the end.
fn filter(allowed: &[libc::c_long]) -> Vec<libc::sock_filter> {
    let step = |code, jt, jf, k| libc::sock_filter { code, jt, jf, k };
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

/// How many calls stay allowed.
pub fn allowed() -> usize {
    ALLOWED.len()
}

/// Filters the calls of this process from now on.
///
/// # Errors
///
/// The kernel has no filters.
pub fn install() -> io::Result<()> {
    let mut filter = filter(ALLOWED);
    let program = libc::sock_fprog { len: filter.len() as u16, filter: filter.as_mut_ptr() };
    // SAFETY: the kernel copies the program, which outlives the calls.
    unsafe {
        if libc::prctl(libc::PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0
            || libc::prctl(libc::PR_SET_SECCOMP, libc::SECCOMP_MODE_FILTER, &program) != 0
        {
            return Err(io::Error::last_os_error());
        }
    }
    Ok(())
}

#[cfg(all(test, target_arch = "x86_64"))]
mod tests {
    use super::*;

    /// Runs the filter on a call, as the kernel would.
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
