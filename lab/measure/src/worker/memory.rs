//! Memory for inputs and outputs, and the handler for touches of memory that does not belong to the
//! contestant.

use crate::system::checked;
use crate::wire::area::{Header, TOUCHED, Touch};
use crate::wire::mapping::{Mapping, PAGE_BYTES, map};
use crate::wire::message::Side;
use std::io;
use std::ops::Range;
use std::ptr::NonNull;
use std::sync::OnceLock;

/// The length of each guard: far enough for a step over many elements.
const GUARD_BYTES: usize = 1 << 20;

/// A buffer between two inaccessible ranges.
#[derive(Debug)]
pub(super) struct Guarded {
    mapping: Mapping,
    /// The offset from the start of the mapping.
    offset: usize,
    /// The usable length, without slack.
    pub(super) bytes: usize,
    slack: usize,
}

impl Guarded {
    /// Returns zeroed memory for this many bytes, with slack after them.
    pub(super) fn new(
        bytes: usize,
        slack: usize,
        alignment: usize,
        side: Side,
    ) -> io::Result<Guarded> {
        let used = bytes.checked_add(slack).ok_or(io::ErrorKind::OutOfMemory)?;
        let middle = used.next_multiple_of(PAGE_BYTES);
        let flags = libc::MAP_PRIVATE | libc::MAP_ANONYMOUS;
        let mapping = map(None, middle + 2 * GUARD_BYTES, libc::PROT_NONE, flags, None)?;
        mapping.protect(GUARD_BYTES, middle, libc::PROT_READ | libc::PROT_WRITE)?;
        let last = GUARD_BYTES + middle - used;
        let offset = match side {
            Side::Front => GUARD_BYTES,
            Side::End => last - last % alignment,
            Side::Flush => last,
        };
        Ok(Guarded { mapping, offset, bytes, slack })
    }

    pub(super) fn start(&self) -> NonNull<u8> {
        // SAFETY: the offset lies in the mapping or at its end.
        unsafe { self.mapping.start().add(self.offset) }
    }

    /// Returns the whole range, with the guards.
    fn range(&self) -> Range<usize> {
        let start = self.mapping.start().as_ptr().addr();
        start..start + self.mapping.length()
    }

    /// Returns everything between the guards.
    pub(super) fn middle(&mut self) -> &mut [u8] {
        let length = self.mapping.length() - 2 * GUARD_BYTES;
        // SAFETY: as many bytes lie between the guards, initialised, and `self` is borrowed.
        unsafe {
            let start = self.mapping.start().add(GUARD_BYTES);
            std::slice::from_raw_parts_mut(start.as_ptr(), length)
        }
    }

    /// Returns the content.
    pub(super) fn content(&mut self) -> &mut [u8] {
        let (from, bytes) = (self.offset - GUARD_BYTES, self.bytes);
        &mut self.middle()[from..from + bytes]
    }

    /// Makes it read-only.
    pub(super) fn seal(&self) -> io::Result<()> {
        let length = self.mapping.length() - 2 * GUARD_BYTES;
        self.mapping.protect(GUARD_BYTES, length, libc::PROT_READ)
    }

    /// Returns how many bytes after the slack, and how many before the start, lie between the
    /// guards and are no longer `byte`, counted to the farthest one.
    pub(super) fn stray(&mut self, byte: u8) -> (usize, usize) {
        let (before, bytes, slack) = (self.offset - GUARD_BYTES, self.bytes, self.slack);
        let (front, rest) = self.middle().split_at(before);
        let past = rest[bytes + slack..].iter().rposition(|found| *found != byte);
        let ahead = front.iter().position(|found| *found != byte);
        (past.map_or(0, |last| slack + last + 1), ahead.map_or(0, |first| before - first))
    }
}

/// The handler needs little, but the kernel saves all vector registers on its stack.
const STACK_BYTES: usize = 64 << 10;

/// What the handler knows; empty while it is not installed.
static TRAP: OnceLock<Trap> = OnceLock::new();

struct Trap {
    /// Where it records a touch.
    header: &'static Header,
    /// The addresses of the input and of the output, each with and without its guards.
    buffers: [(u32, Range<usize>, Range<usize>); 2],
}

/// Installs the handler: from now on a touch of the guards, and a write to the input, is recorded
/// and ends the process. Other faults end it as without a handler.
///
/// # Errors
/// Fails if the handler cannot be installed.
pub(super) fn install_trap(
    header: &'static Header,
    input: &Guarded,
    output: &Guarded,
) -> io::Result<()> {
    let buffers = [(Touch::INPUT, input), (Touch::OUTPUT, output)].map(|(place, buffer)| {
        let start = buffer.start().as_ptr().addr();
        (place, buffer.range(), start..start + buffer.bytes)
    });
    TRAP.get_or_init(|| Trap { header, buffers });
    let stack = Box::leak(vec![0_u8; STACK_BYTES].into_boxed_slice());
    let stack =
        libc::stack_t { ss_sp: stack.as_mut_ptr().cast(), ss_flags: 0, ss_size: STACK_BYTES };
    // SAFETY: the stack lives as long as the process; a zeroed `sigaction` is a valid one, and the
    // handler only stores numbers, ends the process, or restores the default.
    unsafe {
        checked(libc::sigaltstack(&raw const stack, std::ptr::null_mut()))?;
        let mut action: libc::sigaction = std::mem::zeroed();
        let handler: extern "C" fn(i32, *mut libc::siginfo_t, *mut libc::c_void) = on_fault;
        action.sa_sigaction = handler as libc::sighandler_t;
        action.sa_flags = libc::SA_SIGINFO | libc::SA_ONSTACK;
        checked(libc::sigaction(libc::SIGSEGV, &raw const action, std::ptr::null_mut())).map(drop)
    }
}

extern "C" fn on_fault(signal: i32, info: *mut libc::siginfo_t, context: *mut libc::c_void) {
    // SAFETY: the kernel passes a valid description of the fault, and the header is never unmapped.
    unsafe {
        if let Some(trap) = TRAP.get()
            && let Some(touch) = trap.touch((*info).si_addr().addr(), access(context))
        {
            trap.header.record_touch(touch);
            libc::_exit(TOUCHED);
        }
        // Not a touch of a buffer: after the handler returns, the fault occurs again and kills the
        // process.
        libc::signal(signal, libc::SIG_DFL);
    }
}

impl Trap {
    /// Returns which touch a fault at this address is, if it is in one of the buffers.
    fn touch(&self, address: usize, access: u32) -> Option<Touch> {
        let mut buffers = self.buffers.iter();
        let (place, _, content) = buffers.find(|(_, guarded, _)| guarded.contains(&address))?;
        let (side, bytes) = if address < content.start {
            (Touch::BEFORE_START, content.start - address)
        } else if address >= content.end {
            (Touch::PAST_END, address - content.end + 1)
        } else {
            (Touch::INSIDE, address - content.start)
        };
        Some(Touch { place: *place, side, access, bytes: bytes as u64 })
    }
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn guarded_buffers_lie_where_they_should() {
        let check = |bytes: usize, slack: usize, side: Side, from_end: usize| {
            let mut guarded = Guarded::new(bytes, slack, 64, side).unwrap();
            guarded.middle().fill(0xa5);
            assert_eq!(guarded.content().len(), bytes);
            let end = guarded.range().end - GUARD_BYTES;
            let start = guarded.start().as_ptr() as usize;
            assert_eq!(end - start, from_end, "{bytes} {slack} {side:?}");
            assert_eq!(guarded.stray(0xa5), (0, 0));
        };
        check(100, 0, Side::Front, PAGE_BYTES);
        check(100, 0, Side::Flush, 100);
        check(100, 0, Side::End, 128);
        check(100, 28, Side::End, 128);
        check(100, 29, Side::End, 192);
        check(PAGE_BYTES, 1, Side::Flush, PAGE_BYTES + 1);
        check(0, 0, Side::Front, 0);
        check(0, 0, Side::Flush, 0);
    }

    #[test]
    fn stray_bytes_between_the_guards_are_found() {
        let mut guarded = Guarded::new(100, 10, 64, Side::End).unwrap();
        guarded.middle().fill(1);
        let start = guarded.start();
        let write = |at: isize| {
            // SAFETY: the tests below write between the guards.
            unsafe { start.offset(at).write(2) };
        };
        write(0);
        write(109);
        assert_eq!(guarded.stray(1), (0, 0), "all of this may be written");
        write(111);
        assert_eq!(guarded.stray(1), (12, 0));
        write(-3);
        assert_eq!(guarded.stray(1), (12, 3));
    }
}
