//! The parts of `perf_event_open` that the meters need.

use super::Unavailable;
use std::fs::File;
use std::io::{self, Read};
use std::os::fd::{AsRawFd, FromRawFd};

/// The type of events that every processor has, by the kernel's numbers.
pub(super) const TYPE_HARDWARE: u32 = 0;
/// The type of events of the kernel itself.
pub(super) const TYPE_SOFTWARE: u32 = 1;

/// The counter starts switched off.
pub(super) const DISABLED: u64 = 1;
/// Processes that the counted one starts are counted too.
pub(super) const INHERIT: u64 = 1 << 1;
/// Only user mode is counted.
pub(super) const EXCLUDE_KERNEL: u64 = 1 << 5;
/// The hypervisor is not counted.
pub(super) const EXCLUDE_HYPERVISOR: u64 = 1 << 6;
/// The counter is switched on when its process calls `exec`.
pub(super) const ENABLE_ON_EXEC: u64 = 1 << 12;

/// `PERF_FORMAT_TOTAL_TIME_ENABLED | PERF_FORMAT_TOTAL_TIME_RUNNING`
pub(super) const READ_TIMES: u64 = 3;
/// The same times for a whole group, read by its leader: `PERF_FORMAT_GROUP` with both times.
pub(super) const READ_GROUP: u64 = READ_TIMES | 1 << 3;
/// `PERF_EVENT_IOC_ENABLE` and `PERF_EVENT_IOC_DISABLE`
const SWITCH: [libc::c_ulong; 2] = [0x2400, 0x2401];
/// `PERF_IOC_FLAG_GROUP`
const WHOLE_GROUP: libc::c_ulong = 1;
const FLAG_CLOSE_ON_EXEC: libc::c_ulong = 8;

/// The first published form of `struct perf_event_attr` (`PERF_ATTR_SIZE_VER0`), which every kernel
/// accepts.
#[repr(C)]
#[derive(Default)]
struct Attributes {
    kind: u32,
    size: u32,
    config: u64,
    sample_period: u64,
    sample_type: u64,
    read_format: u64,
    flags: u64,
    wakeup_events: u32,
    breakpoint_type: u32,
    config1: u64,
}

/// An event to count.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Event {
    pub(super) kind: u32,
    pub(super) config: u64,
    pub(super) flags: u64,
    /// [`READ_TIMES`] or [`READ_GROUP`].
    pub(super) read_format: u64,
}

/// The value of a counter: the count, and the times for which it was on and had a hardware counter.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Value {
    pub(super) count: u64,
    pub(super) enabled_ns: u64,
    pub(super) running_ns: u64,
}

#[derive(Debug)]
pub(super) struct Counter(File);

impl Counter {
    /// Opens a counter of the process `pid` (0 is the calling thread, -1 every process) on `cpu`
    /// (-1 is any), in the group of `leader`.
    pub(super) fn open(
        event: Event,
        pid: i32,
        cpu: i32,
        leader: Option<&Counter>,
    ) -> io::Result<Counter> {
        let attributes = Attributes {
            kind: event.kind,
            size: size_of::<Attributes>() as u32,
            config: event.config,
            read_format: event.read_format,
            flags: event.flags,
            ..Attributes::default()
        };
        let group = leader.map_or(-1, |leader| leader.0.as_raw_fd());
        // SAFETY: the attributes are valid for the size that they name and are only read.
        let fd = unsafe {
            libc::syscall(
                libc::SYS_perf_event_open,
                &raw const attributes,
                pid,
                cpu,
                group,
                FLAG_CLOSE_ON_EXEC,
            )
        };
        if fd < 0 {
            return Err(io::Error::last_os_error());
        }
        // SAFETY: the kernel has just made this descriptor and nothing else owns it.
        Ok(Counter(unsafe { File::from_raw_fd(fd as i32) }))
    }

    /// Reads the counter, including what it inherited.
    pub(super) fn read(&self) -> io::Result<Value> {
        let [count, enabled_ns, running_ns] = self.words()?;
        Ok(Value { count, enabled_ns, running_ns })
    }

    /// Switches the whole group of this leader on or off. One system call.
    pub(super) fn switch_group(&self, on: bool) {
        let request = SWITCH[usize::from(!on)];
        // SAFETY: the descriptor is open and the request takes a number.
        unsafe { libc::ioctl(self.0.as_raw_fd(), request as _, WHOLE_GROUP) };
    }

    /// Reads numbers, as many as there are: of the leader of a group that was opened with
    /// [`READ_GROUP`] the number of members, the time for which it was on, the time for which it
    /// had hardware counters, and one count per member. One system call; nothing is allocated.
    pub(super) fn words<const N: usize>(&self) -> io::Result<[u64; N]> {
        let mut bytes = [[0; 8]; N];
        match (&self.0).read(bytes.as_flattened_mut())? {
            0 => Err(io::ErrorKind::UnexpectedEof.into()),
            _ => Ok(bytes.map(u64::from_ne_bytes)),
        }
    }
}

/// Opens hardware counters: of user mode and kernel, or of user mode where only that is permitted.
/// `open` gets the flags to add. Allocates nothing unless it fails.
///
/// # Errors
/// Fails if neither is possible here; the error gives the reason for each.
pub(super) fn open_permitted<T>(open: impl Fn(u64) -> io::Result<T>) -> Result<T, Unavailable> {
    let with_kernel = match open(0) {
        Ok(opened) => return Ok(opened),
        Err(error) => error,
    };
    open(EXCLUDE_KERNEL).map_err(|in_user_mode| {
        let errors = [("perf", with_kernel), ("perf in user mode", in_user_mode)];
        let tried = errors.map(|(way, error)| (way.to_owned(), explain(&error)));
        Unavailable { what: "hardware counters", tried: tried.into() }
    })
}

/// Explains a `perf_event_open` error in words that a user can act on.
fn explain(error: &io::Error) -> String {
    match error.raw_os_error() {
        Some(libc::EACCES | libc::EPERM) => {
            "not permitted (lower /proc/sys/kernel/perf_event_paranoid, or grant CAP_PERFMON)"
                .to_owned()
        }
        Some(libc::ENOENT) => {
            "this machine does not have it (usual in virtual machines)".to_owned()
        }
        Some(libc::ENOSYS) => "the kernel was built without perf events".to_owned(),
        _ => error.to_string(),
    }
}
