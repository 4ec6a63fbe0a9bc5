//! The system call.
//!
//! Each command has its own structure, the front part of the kernel's union. Fields that a kernel
//! does not know are not sent, so that each command works from the kernel on that first had it.

use std::ffi::CString;
use std::io;
use std::os::fd::{AsRawFd, BorrowedFd, FromRawFd, OwnedFd};

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
unsafe fn bpf<T>(command: libc::c_int, attributes: &mut T) -> io::Result<libc::c_int> {
    // SAFETY: the caller's promise; the length is that of the structure.
    let result = unsafe {
        libc::syscall(libc::SYS_bpf, command, std::ptr::from_mut(attributes), size_of::<T>())
    };
    if result < 0 { Err(io::Error::last_os_error()) } else { Ok(result as libc::c_int) }
}

/// The same, of a command that makes a descriptor.
///
/// # Safety
///
/// As for [`bpf`].
unsafe fn bpf_open<T>(command: libc::c_int, attributes: &mut T) -> io::Result<OwnedFd> {
    // SAFETY: the caller's promise; the descriptor is new and ours.
    unsafe { bpf(command, attributes).map(|descriptor| OwnedFd::from_raw_fd(descriptor)) }
}

/// Makes a map.
pub fn create_map(
    kind: MapKind,
    value_bytes: u32,
    entries: u32,
    is_mappable: bool,
) -> io::Result<OwnedFd> {
    #[repr(C)]
    struct Attributes {
        kind: u32,
        key_bytes: u32,
        value_bytes: u32,
        entries: u32,
        flags: u32,
    }
    let key_bytes = if kind == MapKind::Ring { 0 } else { 4 };
    let flags = if is_mappable { FLAG_MMAPABLE } else { 0 };
    let mut attributes = Attributes { kind: kind as u32, key_bytes, value_bytes, entries, flags };
    // SAFETY: these are the fields of MAP_CREATE, in their order; none is a pointer.
    unsafe { bpf_open(MAP_CREATE, &mut attributes) }
}

/// From now on no process can write the map; programs still can.
pub fn freeze_map(map: BorrowedFd<'_>) -> io::Result<()> {
    #[repr(C)]
    struct Attributes {
        map: i32,
    }
    let mut attributes = Attributes { map: map.as_raw_fd() };
    // SAFETY: this is the field of MAP_FREEZE.
    unsafe { bpf(MAP_FREEZE, &mut attributes).map(drop) }
}

/// Loads a program. If the kernel refuses it for what it does, the error has the kernel's reasons.
///
/// Its license is given as GPL: the kernel asks that of programs that call `ktime_get_ns`,
/// `ringbuf_output` or `get_current_task`, as these do.
pub fn load_program(code: &[[u8; 8]]) -> io::Result<OwnedFd> {
    #[repr(C)]
    struct Attributes {
        kind: u32,
        instructions: u32,
        code: u64,
        license: u64,
        log_level: u32,
        log_bytes: u32,
        log: u64,
        kernel_version: u32,
        flags: u32,
    }
    let license = c"GPL";
    let mut attributes = Attributes {
        kind: PROGRAM_RAW_TRACEPOINT,
        instructions: code.len() as u32,
        code: code.as_ptr() as u64,
        license: license.as_ptr() as u64,
        log_level: 0,
        log_bytes: 0,
        log: 0,
        kernel_version: 0,
        flags: 0,
    };
    // SAFETY: these are the fields of PROG_LOAD, in their order; code and license outlive the call.
    let refused = match unsafe { bpf_open(PROG_LOAD, &mut attributes) } {
        Ok(program) => return Ok(program),
        Err(error) => error,
    };
    if !matches!(refused.raw_os_error(), Some(libc::EINVAL | libc::EACCES)) {
        return Err(refused);
    }
    let mut log = vec![0_u8; 1 << 16];
    attributes.log_level = 1;
    attributes.log_bytes = log.len() as u32;
    attributes.log = log.as_mut_ptr() as u64;
    // SAFETY: as above, and the log has so many bytes.
    match unsafe { bpf_open(PROG_LOAD, &mut attributes) } {
        Ok(program) => Ok(program),
        Err(error) => Err(with_log(error, &log)),
    }
}

/// The kernel's reasons, where it gave some: its last lines.
fn with_log(error: io::Error, log: &[u8]) -> io::Error {
    let text = String::from_utf8_lossy(log);
    let lines: Vec<&str> = text.trim_end_matches('\0').lines().rev().take(4).collect();
    if lines.is_empty() {
        error
    } else {
        io::Error::new(
            error.kind(),
            format!("{error}: {}", lines.into_iter().rev().collect::<Vec<_>>().join(" / ")),
        )
    }
}

/// Attaches a program to a tracepoint, by its name. It stays so while the descriptor is open, in
/// this process or in any other.
///
/// Raw tracepoints, not those of perf: they need no file system of traces. And perf's are skipped
/// while something else of BPF goes on on the CPU, so that a switch away from idle could be missed.
pub fn attach(program: BorrowedFd<'_>, tracepoint: &str) -> io::Result<OwnedFd> {
    #[repr(C)]
    struct Attributes {
        name: u64,
        program: u32,
        padding: u32,
    }
    let name = CString::new(tracepoint)?;
    let mut attributes =
        Attributes { name: name.as_ptr() as u64, program: program.as_raw_fd() as u32, padding: 0 };
    // SAFETY: these are the fields of RAW_TRACEPOINT_OPEN; the name outlives the call.
    unsafe { bpf_open(RAW_TRACEPOINT_OPEN, &mut attributes) }
}

/// Lets the kernel time every program, while the descriptor is open.
pub fn enable_times() -> io::Result<OwnedFd> {
    #[repr(C)]
    struct Attributes {
        kind: u32,
    }
    let mut attributes = Attributes { kind: 0 };
    // SAFETY: this is the field of ENABLE_STATS; 0 stands for run times.
    unsafe { bpf_open(ENABLE_STATS, &mut attributes) }
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
    #[repr(C)]
    struct Attributes {
        descriptor: u32,
        bytes: u32,
        info: u64,
    }
    // `struct bpf_prog_info`, by its eight-byte words: the machine code's size is the first half of
    // the third, run time, runs and missed runs are the 25th to 27th.
    let mut info = [0_u64; 29];
    let mut attributes = Attributes {
        descriptor: program.as_raw_fd() as u32,
        bytes: size_of_val(&info) as u32,
        info: info.as_mut_ptr() as u64,
    };
    // SAFETY: these are the fields of OBJ_GET_INFO_BY_FD; the kernel writes at most so many bytes.
    unsafe { bpf(OBJ_GET_INFO_BY_FD, &mut attributes)? };
    Ok(Runs {
        count: info[25],
        total_ns: info[24],
        missed: info[26],
        machine_code_bytes: info[2] as u32,
    })
}
