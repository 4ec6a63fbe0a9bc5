//! Being asked to stop: Ctrl-C and the polite signals set a flag, and the run ends at its next
//! look.

use std::sync::atomic::{AtomicBool, Ordering};

/// Set by the handler, looked at between rounds and while a contestant runs.
static ASKED: AtomicBool = AtomicBool::new(false);

/// The signals that ask a program to stop.
const SIGNALS: [libc::c_int; 3] = [libc::SIGINT, libc::SIGTERM, libc::SIGHUP];

extern "C" fn on_signal(signal: libc::c_int) {
    ASKED.store(true, Ordering::SeqCst);
    // The second one ends the process as if there were no handler: whoever asks twice means it.
    // SAFETY: `signal` is async-signal-safe, and the disposition it sets is a constant.
    unsafe { libc::signal(signal, libc::SIG_DFL) };
}

/// Installs the handlers and gives the flag that they set. Installing them again does no harm.
///
/// A signal that is ignored, as `nohup` leaves SIGHUP, stays ignored.
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
        // SAFETY: the disposition is a constant: under nohup it would be to ignore the signal.
        unsafe { libc::signal(libc::SIGHUP, libc::SIG_DFL) };
        let flag = flag();
        // SAFETY: raises a signal for which the handler above is installed.
        unsafe { libc::raise(libc::SIGHUP) };
        assert!(flag.swap(false, Ordering::SeqCst));
        super::flag();
    }
}
