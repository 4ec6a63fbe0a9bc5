//! The system call.
//!
//! Each command has its own attributes, the front part of the kernel's union, here as its words of
//! 32 bits. Fields that a kernel does not know are not sent, so that each command works from the
//! kernel on that first had it.

use std::ffi::CString;
use std::io;
use std::os::fd::{AsRawFd, BorrowedFd, FromRawFd, OwnedFd};

use crate::checked;

/// Kinds of maps.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum MapKind {
    /// Values by number, the same for all CPUs.
    Array = 2,
    /// Values by number, each CPU its own.
    PerCpuArray = 6,
    /// Records from all CPUs to one reader.
    Ring = 27,
}

const MAP_CREATE: libc::c_int = 0;
const PROG_LOAD: libc::c_int = 5;
const OBJ_GET_INFO_BY_FD: libc::c_int = 15;
const RAW_TRACEPOINT_OPEN: libc::c_int = 17;
const MAP_FREEZE: libc::c_int = 22;
const ENABLE_STATS: libc::c_int = 32;

const PROGRAM_RAW_TRACEPOINT: u32 = 17;
const FLAG_MMAPABLE: u32 = 1 << 10;

/// # Safety
///
/// `attributes` is what the kernel expects of this command, and what it points to lives on.
unsafe fn bpf(command: libc::c_int, attributes: &mut [u32]) -> io::Result<libc::c_int> {
    let (pointer, bytes) = (attributes.as_mut_ptr(), size_of_val(attributes));
    // SAFETY: the caller's promise; the length is that of the attributes.
    let result = unsafe { libc::syscall(libc::SYS_bpf, command, pointer, bytes) };
    checked(result).map(|result| result as libc::c_int)
}

/// The same, of a command that makes a descriptor.
///
/// # Safety
///
/// As for [`bpf`].
unsafe fn bpf_open(command: libc::c_int, attributes: &mut [u32]) -> io::Result<OwnedFd> {
    // SAFETY: the caller's promise; the descriptor is new and ours.
    unsafe { bpf(command, attributes).map(|descriptor| OwnedFd::from_raw_fd(descriptor)) }
}

/// The two words of a pointer, as the kernel of x86-64 takes it: a number of 64 bits.
fn words_of<T>(pointer: *const T) -> [u32; 2] {
    let number = pointer.expose_provenance() as u64;
    [number as u32, (number >> 32) as u32]
}

/// Makes a map.
///
/// # Errors
///
/// The kernel refuses.
pub fn create_map(
    kind: MapKind,
    value_bytes: u32,
    entries: u32,
    is_mappable: bool,
) -> io::Result<OwnedFd> {
    let key_bytes = if kind == MapKind::Ring { 0 } else { 4 };
    let flags = if is_mappable { FLAG_MMAPABLE } else { 0 };
    let mut attributes = [kind as u32, key_bytes, value_bytes, entries, flags];
    // SAFETY: these are the fields of MAP_CREATE, in their order; none is a pointer.
    unsafe { bpf_open(MAP_CREATE, &mut attributes) }
}

/// From now on no process can write the map; programs still can.
///
/// # Errors
///
/// The kernel refuses.
pub fn freeze_map(map: BorrowedFd<'_>) -> io::Result<()> {
    // SAFETY: this is the field of MAP_FREEZE.
    unsafe { bpf(MAP_FREEZE, &mut [map.as_raw_fd() as u32]).map(drop) }
}

/// Loads a program. Its license is given as GPL: the kernel asks that of programs that call
/// `ktime_get_ns`, `ringbuf_output` or `get_current_task`, as these do.
///
/// # Errors
///
/// The kernel refuses; if for what the program does, the error has the kernel's reasons.
pub fn load_program(code: &[[u8; 8]]) -> io::Result<OwnedFd> {
    let mut log = vec![0_u8; 1 << 16];
    match load(code, &mut []) {
        Err(error) if matches!(error.raw_os_error(), Some(libc::EINVAL | libc::EACCES)) => {
            load(code, &mut log).map_err(|error| with_log(error, &log))
        }
        loaded => loaded,
    }
}

/// Loads it with room for the kernel's reasons, or without.
fn load(code: &[[u8; 8]], log: &mut [u8]) -> io::Result<OwnedFd> {
    let mut attributes = [
        [PROGRAM_RAW_TRACEPOINT, code.len() as u32],
        words_of(code.as_ptr()),
        words_of(c"GPL".as_ptr()),
        [u32::from(!log.is_empty()), log.len() as u32],
        if log.is_empty() { [0, 0] } else { words_of(log.as_ptr()) },
        // The kernel's version, and flags.
        [0, 0],
    ]
    .concat();
    // SAFETY: these are the fields of PROG_LOAD, in their order; code and license outlive the call,
    // and the log has so many bytes.
    unsafe { bpf_open(PROG_LOAD, &mut attributes) }
}

/// The kernel's reasons, where it gave some: its last lines.
fn with_log(error: io::Error, log: &[u8]) -> io::Error {
    let text = String::from_utf8_lossy(log);
    let lines: Vec<&str> = text.trim_end_matches('\0').lines().rev().take(4).collect();
    if lines.is_empty() {
        return error;
    }
    let reasons: Vec<&str> = lines.into_iter().rev().collect();
    io::Error::new(error.kind(), format!("{error}: {}", reasons.join(" / ")))
}

/// Attaches a program to a tracepoint, by its name. It stays so while the descriptor is open, in
/// this process or in any other.
///
/// Raw tracepoints, not those of perf: they need no file system of traces. And perf's are skipped
/// while something else of BPF goes on on the CPU, so that a switch away from idle could be missed.
pub fn attach(program: BorrowedFd<'_>, tracepoint: &str) -> io::Result<OwnedFd> {
    let name = CString::new(tracepoint)?;
    let [low, high] = words_of(name.as_ptr());
    // SAFETY: these are the fields of RAW_TRACEPOINT_OPEN, and 4 bytes of padding; the name
    // outlives the call.
    unsafe { bpf_open(RAW_TRACEPOINT_OPEN, &mut [low, high, program.as_raw_fd() as u32, 0]) }
}

/// Lets the kernel time every program, while the descriptor is open.
pub fn enable_times() -> io::Result<OwnedFd> {
    // SAFETY: this is the field of ENABLE_STATS; 0 stands for run times.
    unsafe { bpf_open(ENABLE_STATS, &mut [0]) }
}

/// What the kernel knows of a program's runs.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Runs {
    /// How many there were while times were taken.
    pub count: u64,
    /// How long they took together.
    pub total_ns: u64,
    /// How many were left out, because another run of the same program was going on.
    pub missed: u64,
    /// The size of the machine code.
    pub machine_code_bytes: u32,
}

/// Asks for a program's runs.
pub fn runs(program: BorrowedFd<'_>) -> io::Result<Runs> {
    // `struct bpf_prog_info`, by its eight-byte words: the machine code's size is the first half of
    // the third, run time, runs and missed runs are the 25th to 27th.
    let mut info = [0_u64; 29];
    let [low, high] = words_of(info.as_mut_ptr());
    let bytes = size_of_val(&info) as u32;
    let mut attributes = [program.as_raw_fd() as u32, bytes, low, high];
    // SAFETY: these are the fields of OBJ_GET_INFO_BY_FD; the kernel writes at most so many bytes.
    unsafe { bpf(OBJ_GET_INFO_BY_FD, &mut attributes)? };
    Ok(Runs {
        count: info[25],
        total_ns: info[24],
        missed: info[26],
        machine_code_bytes: info[2] as u32,
    })
}
