//! A filter that makes chosen system calls of the calling thread fail with a chosen errno. It
//! cannot be taken back, so only a process that was started for one test may install it.

use std::io;

/// Calls that are refused.
#[derive(Clone, Copy, Debug)]
pub struct Rule {
    /// The number of the system call.
    pub number: i64,
    /// Only with this value (its lower half) of the argument at this place.
    pub argument: Option<(u32, u32)>,
}

impl Rule {
    pub const fn all(number: i64) -> Rule {
        Rule { number, argument: None }
    }

    #[allow(dead_code, reason = "not every test that has this file refuses by argument")]
    pub const fn when(number: i64, place: u32, value: u32) -> Rule {
        Rule { number, argument: Some((place, value)) }
    }
}

/// A filter that can be installed.
pub struct Filter(Vec<libc::sock_filter>);

impl Filter {
    pub fn new(rules: &[Rule], errno: i32) -> io::Result<Filter> {
        let Some(architecture) = ARCHITECTURE else {
            return Err(io::Error::other("no number is known for this architecture"));
        };
        Ok(Filter(program(architecture, rules, errno)))
    }

    /// Refuses the calls from now on, in this thread and those that it starts. It makes two system
    /// calls and nothing else, so it may be called between `fork` and `exec`.
    pub fn install(&self) -> io::Result<()> {
        let (len, filter) = (self.0.len() as u16, self.0.as_ptr().cast_mut());
        let program = libc::sock_fprog { len, filter };
        // SAFETY: prctl gets numbers here.
        if unsafe { libc::prctl(libc::PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) } != 0 {
            return Err(io::Error::last_os_error());
        }
        // SAFETY: the kernel only reads the program, which lives until the call returns.
        let result = unsafe {
            libc::syscall(libc::SYS_seccomp, libc::SECCOMP_SET_MODE_FILTER, 0, &raw const program)
        };
        if result == 0 { Ok(()) } else { Err(io::Error::last_os_error()) }
    }
}

/// What `AUDIT_ARCH_*` calls this architecture.
const ARCHITECTURE: Option<u32> = if cfg!(target_arch = "x86_64") {
    Some(0xc000_003e)
} else if cfg!(target_arch = "aarch64") {
    Some(0xc000_00b7)
} else {
    None
};

/// The kernel gives the program a `seccomp_data`: the number at 0, the architecture at 4, the
/// arguments of 8 bytes each from 16.
fn program(architecture: u32, rules: &[Rule], errno: i32) -> Vec<libc::sock_filter> {
    let answer = give(libc::SECCOMP_RET_ERRNO | errno as u32);
    let mut program = vec![load(4), jump_if(architecture, 1, 0), give(libc::SECCOMP_RET_ALLOW)];
    for rule in rules {
        program.push(load(0));
        match rule.argument {
            None => program.extend([jump_if(rule.number as u32, 0, 1), answer]),
            Some((place, value)) => program.extend([
                jump_if(rule.number as u32, 0, 3),
                load(16 + 8 * place),
                jump_if(value, 0, 1),
                answer,
            ]),
        }
    }
    program.push(give(libc::SECCOMP_RET_ALLOW));
    program
}

const fn load(offset: u32) -> libc::sock_filter {
    step(libc::BPF_LD | libc::BPF_W | libc::BPF_ABS, 0, 0, offset)
}

const fn jump_if(equal_to: u32, then: u8, otherwise: u8) -> libc::sock_filter {
    step(libc::BPF_JMP | libc::BPF_JEQ | libc::BPF_K, then, otherwise, equal_to)
}

const fn give(answer: u32) -> libc::sock_filter {
    step(libc::BPF_RET | libc::BPF_K, 0, 0, answer)
}

const fn step(code: u32, jt: u8, jf: u8, k: u32) -> libc::sock_filter {
    libc::sock_filter { code: code as u16, jt, jf, k }
}
