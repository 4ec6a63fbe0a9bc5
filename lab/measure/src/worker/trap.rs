//! The handler for touches of memory that does not belong to the contestant.

use super::area::{Header, Touch};
use super::memory::Guarded;
use std::io;
use std::sync::atomic::{AtomicPtr, AtomicUsize, Ordering};

/// The exit status of a process that has recorded a touch.
pub(crate) const TOLD: i32 = 86;
/// The handler needs little, but the kernel saves all vector registers on its stack.
const STACK_BYTES: usize = 64 << 10;

/// Where the handler records a touch; null while none is set.
static HEADER: AtomicPtr<Header> = AtomicPtr::new(std::ptr::null_mut());
/// For the input and the output: where its guards begin and end, its first byte, its length.
static BUFFERS: [[AtomicUsize; 4]; 2] = [const { [const { AtomicUsize::new(0) }; 4] }; 2];

/// Installs the handler: from now on a touch of the guards, and a write to the input, is recorded
/// and ends the process. Other faults end it as without a handler.
///
/// # Errors
/// Fails if the handler cannot be installed.
pub(super) fn set(header: &'static Header, input: &Guarded, output: &Guarded) -> io::Result<()> {
    for (buffer, places) in [input, output].into_iter().zip(&BUFFERS) {
        let (low, high) = buffer.range();
        let values = [low, high, buffer.start().as_ptr() as usize, buffer.bytes()];
        for (place, value) in places.iter().zip(values) {
            place.store(value, Ordering::Relaxed);
        }
    }
    HEADER.store(std::ptr::from_ref(header).cast_mut(), Ordering::Release);
    let stack = Box::leak(vec![0_u8; STACK_BYTES].into_boxed_slice());
    let stack =
        libc::stack_t { ss_sp: stack.as_mut_ptr().cast(), ss_flags: 0, ss_size: STACK_BYTES };
    // SAFETY: the stack lives as long as the process; a zeroed `sigaction` is a valid one, and the
    // handler only stores numbers, ends the process, or restores the default.
    unsafe {
        if libc::sigaltstack(&raw const stack, std::ptr::null_mut()) != 0 {
            return Err(io::Error::last_os_error());
        }
        let mut action: libc::sigaction = std::mem::zeroed();
        let handler: extern "C" fn(i32, *mut libc::siginfo_t, *mut libc::c_void) = on_fault;
        action.sa_sigaction = handler as libc::sighandler_t;
        action.sa_flags = libc::SA_SIGINFO | libc::SA_ONSTACK;
        if libc::sigaction(libc::SIGSEGV, &raw const action, std::ptr::null_mut()) != 0 {
            return Err(io::Error::last_os_error());
        }
    }
    Ok(())
}

extern "C" fn on_fault(signal: i32, info: *mut libc::siginfo_t, context: *mut libc::c_void) {
    // SAFETY: the kernel passes a valid description of the fault, and the header is never unmapped.
    unsafe {
        let header = HEADER.load(Ordering::Acquire).as_ref();
        let touch = classify((*info).si_addr() as usize, access(context));
        if let (Some(header), Some(touch)) = (header, touch) {
            header.tell(touch);
            libc::_exit(TOLD);
        }
        // Not a touch of a buffer: after the handler returns, the fault occurs again and kills the
        // process.
        libc::signal(signal, libc::SIG_DFL);
    }
}

/// Returns which touch a fault at this address is, if it is in one of the buffers.
fn classify(address: usize, access: u32) -> Option<Touch> {
    for (place, buffer) in [Touch::INPUT, Touch::OUTPUT].into_iter().zip(&BUFFERS) {
        let [low, high, start, bytes] =
            [0, 1, 2, 3].map(|index| buffer[index].load(Ordering::Relaxed));
        if (low..high).contains(&address) {
            let end = start + bytes;
            let (side, bytes) = if address < start {
                (Touch::BEFORE_START, start - address)
            } else if address >= end {
                (Touch::PAST_END, address - end + 1)
            } else {
                (Touch::INSIDE, address - start)
            };
            return Some(Touch { place, side, access, bytes: bytes as u64 });
        }
    }
    None
}

/// Returns whether the fault was a read or a write, if the processor reports it: bit 1 of the error
/// code on x86 (Intel SDM, volume 3, section 5.7).
#[cfg(target_arch = "x86_64")]
unsafe fn access(context: *mut libc::c_void) -> u32 {
    // SAFETY: the kernel passes the machine context to a handler.
    let context = unsafe { &*context.cast::<libc::ucontext_t>() };
    let code = context.uc_mcontext.gregs[libc::REG_ERR as usize];
    if code & 2 != 0 { Touch::WROTE } else { Touch::READ }
}

#[cfg(not(target_arch = "x86_64"))]
unsafe fn access(_context: *mut libc::c_void) -> u32 {
    0
}
