//! Interrupts: Ctrl-C and the other signals that ask a program to stop set a flag, and the run ends
//! when it next reads the flag.

use std::sync::atomic::{AtomicBool, Ordering};

/// The flag. The handler sets it; the run reads it between rounds and while a contestant runs.
static ASKED: AtomicBool = AtomicBool::new(false);

/// The flag of what cannot be interrupted.
pub(crate) static NEVER: AtomicBool = AtomicBool::new(false);

/// The signals that ask a program to stop.
const SIGNALS: [libc::c_int; 3] = [libc::SIGINT, libc::SIGTERM, libc::SIGHUP];

extern "C" fn on_signal(signal: libc::c_int) {
    ASKED.store(true, Ordering::SeqCst);
    // A second signal ends the process as if there were no handler. SAFETY: `signal` is
    // async-signal-safe, and the disposition it sets is a constant.
    unsafe { libc::signal(signal, libc::SIG_DFL) };
}

/// Installs the handlers and returns the flag that they set. Installing them again does no harm.
///
/// An ignored signal stays ignored, for example SIGHUP under `nohup`.
pub fn flag() -> &'static AtomicBool {
    for signal in SIGNALS {
        // SAFETY: a zeroed `sigaction` is a valid one; the handler only stores to an atomic and
        // calls an async-signal-safe function. No `SA_RESTART`: waiting system calls must return.
        unsafe {
            let mut action: libc::sigaction = std::mem::zeroed();
            let mut old: libc::sigaction = std::mem::zeroed();
            libc::sigaction(signal, std::ptr::null(), &mut old);
            if old.sa_sigaction == libc::SIG_IGN {
                continue;
            }
            let handler: extern "C" fn(libc::c_int) = on_signal;
            action.sa_sigaction = handler as libc::sighandler_t;
            libc::sigaction(signal, &action, std::ptr::null_mut());
        }
    }
    &ASKED
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_signal_sets_the_flag_once() {
        // SAFETY: the disposition is a constant. Under nohup the signal would be ignored.
        unsafe { libc::signal(libc::SIGHUP, libc::SIG_DFL) };
        let flag = flag();
        // SAFETY: raises a signal for which the handler above is installed.
        unsafe { libc::raise(libc::SIGHUP) };
        assert!(flag.swap(false, Ordering::SeqCst));
        super::flag();
    }
}
