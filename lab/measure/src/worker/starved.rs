//! A run that gets no memory: checks whether a contestant that claims not to allocate runs without
//! memory.

use super::area::{Header, Touch};
use super::library::Contestant;
use std::io;

/// The memory that the process may still gain: making a few pages writable is not an allocation.
/// The C library asks for more than twice this at a time.
const SLACK_BYTES: usize = 64 << 10;
/// The first size to take; then its halves, down to what the allocator rounds to 16 bytes.
const LARGEST_BYTES: usize = 1 << 30;
/// Below this, every size class of the allocator is requested.
const SMALL_BYTES: usize = 2048;
const STEP_BYTES: usize = 16;

/// Why that call was not made. A reply holds the index into this list, counted from 1; 0 if the
/// call was made, or if the contestant says that it allocates.
pub(crate) const REASONS: [&str; 3] = [
    "the kernel does not say how much memory a process has (VmData in /proc/self/status)",
    "the kernel does not keep to a limit on memory (RLIMIT_DATA)",
    "its 'prepare' starts threads, which may be what asks for memory",
];
const NOT_TOLD: u64 = 1;
const NO_LIMIT: u64 = 2;
pub(super) const THREADS: u64 = 3;

/// Calls a contestant once more while neither the allocator nor the kernel has memory for it.
/// Records a touch of the heap in the area if the contestant dies in the call, or if its checksum
/// changes. Returns why the call was not made: an index into [`REASONS`], counted from 1, or 0.
///
/// # Errors
/// Fails if the limit cannot be set.
pub(super) fn run(
    header: &Header,
    contestant: &Contestant,
    state: *mut libc::c_void,
    checksum: u64,
) -> io::Result<u64> {
    if let Some(reset) = contestant.reset {
        // SAFETY: the state is what this contestant has prepared.
        unsafe { reset(state) };
    }
    let before = limit()?;
    let Some(used) = used_bytes() else { return Ok(NOT_TOLD) };
    set_limit(libc::rlimit { rlim_cur: used + SLACK_BYTES as u64, ..before })?;
    let is_limited = is_limited();
    if is_limited {
        take_all();
        header.tell(Touch { place: Touch::HEAP, side: Touch::INSIDE, access: 0, bytes: 0 });
        // SAFETY: the same, and it was reset if it needs that.
        let got = unsafe { (contestant.run)(state) };
        if got == checksum {
            header.untell();
        }
    }
    set_limit(before)?;
    Ok(if is_limited { 0 } else { NO_LIMIT })
}

/// Returns whether the kernel enforces the limit: it can be configured not to, and some kernels
/// never do.
fn is_limited() -> bool {
    let access = libc::PROT_READ | libc::PROT_WRITE;
    let flags = libc::MAP_PRIVATE | libc::MAP_ANONYMOUS;
    let null = std::ptr::null_mut();
    // SAFETY: memory that is mapped, or added to the end of the heap, is not used.
    unsafe {
        libc::mmap(null, 2 * SLACK_BYTES, access, flags, -1, 0) == libc::MAP_FAILED
            && libc::sbrk(2 * SLACK_BYTES as libc::intptr_t) as isize == -1
    }
}

/// Takes all memory that the allocator still has, for good: large pieces first, so that few calls
/// are needed.
fn take_all() {
    let mut bytes = LARGEST_BYTES;
    while bytes > 0 {
        // SAFETY: the memory is not used; only the address is read.
        while !std::hint::black_box(unsafe { libc::malloc(bytes) }).is_null() {}
        bytes = if bytes > SMALL_BYTES { bytes / 2 } else { bytes - STEP_BYTES };
    }
}

/// Returns how much writable private memory the process has, without stacks, as the limit counts
/// it; `None` if the kernel does not report it.
fn used_bytes() -> Option<u64> {
    let status = std::fs::read_to_string("/proc/self/status").ok()?;
    let line = status.lines().find_map(|line| line.strip_prefix("VmData:"))?;
    Some(line.trim().strip_suffix(" kB")?.trim().parse::<u64>().ok()? * 1024)
}

/// Returns how much writable private memory the process may have.
fn limit() -> io::Result<libc::rlimit> {
    let mut limit = libc::rlimit { rlim_cur: 0, rlim_max: 0 };
    // SAFETY: the place is valid for the result.
    match unsafe { libc::getrlimit(libc::RLIMIT_DATA, &raw mut limit) } {
        0 => Ok(limit),
        _ => Err(io::Error::last_os_error()),
    }
}

fn set_limit(limit: libc::rlimit) -> io::Result<()> {
    // SAFETY: the limits are valid.
    match unsafe { libc::setrlimit(libc::RLIMIT_DATA, &raw const limit) } {
        0 => Ok(()),
        _ => Err(io::Error::last_os_error()),
    }
}
