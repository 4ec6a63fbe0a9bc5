//! Giving up every right that the daemon no longer needs. After the start that is all of them: the
//! maps are mapped, the programs attached, the files open.

use std::io;

use crate::filter;

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
/// whoever can replace the socket is believed by all clients.
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
    filter::install()?;
    Ok(Confined { user: if before == 0 { user } else { before }, calls: filter::allowed() })
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
    let is_done = unsafe {
        libc::setgroups(0, std::ptr::null()) == 0
            && libc::setresgid(user, user, user) == 0
            && libc::setresuid(user, user, user) == 0
    };
    if !is_done {
        return Err(io::Error::last_os_error());
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
    if result == 0 { Ok(()) } else { Err(io::Error::last_os_error()) }
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
}
