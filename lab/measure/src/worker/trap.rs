//! The handler for touches of memory that is not the contestant's.

use super::area::{Header, Touch};
use super::memory::Guarded;
use std::io;
use std::sync::atomic::{AtomicPtr, AtomicUsize, Ordering};

/// The status with which a process ends that has told of a touch.
pub(crate) const TOLD: i32 = 86;
/// The handler needs little, but the kernel saves all vector registers on its stack.
const STACK_BYTES: usize = 64 << 10;

/// Where the handler tells; null while none is set.
static HEADER: AtomicPtr<Header> = AtomicPtr::new(std::ptr::null_mut());
/// Of the input and of the output: where its guards begin and end, its first byte, its length.
static BUFFERS: [[AtomicUsize; 4]; 2] = [const { [const { AtomicUsize::new(0) }; 4] }; 2];

/// From now on a touch of the guards, and a write to the input, is told and ends the process. Other
/// faults end it as they would have.
///
/// # Errors
/// The handler cannot be installed.
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
    // handler does nothing but store numbers, end the process, or give up.
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
    // SAFETY: the kernel gives a valid description of the fault, and the header is never unmapped.
    unsafe {
        let header = HEADER.load(Ordering::Acquire).as_ref();
        let touch = classify((*info).si_addr() as usize, access(context));
        if let (Some(header), Some(touch)) = (header, touch) {
            header.tell(touch);
            libc::_exit(TOLD);
        }
        // It is no touch of ours: once the handler has returned it happens again, and kills.
        libc::signal(signal, libc::SIG_DFL);
    }
}

/// What a fault at this address is, if it is in one of the buffers.
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

/// Whether the fault was a read or a write, where the processor says: bit 1 of the error code that
/// x86 leaves (Intel SDM, volume 3, section 5.7).
#[cfg(target_arch = "x86_64")]
unsafe fn access(context: *mut libc::c_void) -> u32 {
    // SAFETY: the kernel gives a handler its machine context.
    let context = unsafe { &*context.cast::<libc::ucontext_t>() };
    let code = context.uc_mcontext.gregs[libc::REG_ERR as usize];
    if code & 2 != 0 { Touch::WROTE } else { Touch::READ }
}

#[cfg(not(target_arch = "x86_64"))]
unsafe fn access(_context: *mut libc::c_void) -> u32 {
    0
}
