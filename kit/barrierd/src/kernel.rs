//! The programs, attached, and the array that they write.

use std::io;
use std::os::fd::{AsFd, AsRawFd, OwnedFd};
use std::sync::atomic::{AtomicU64, Ordering};

use tiebreak_sync::interrupts::layout::{Slot, slot_bytes};

use crate::bpf::programs::{self, Maps};
use crate::bpf::ring::Ring;
use crate::bpf::system::{self, MapKind, Runs};
use tiebreak_sync::interrupts::mapping::{Access, Mapping, page_size};

/// The tracepoint of context switches.
pub const SWITCHES: &str = "sched_switch";

/// The tracepoint of the tick. Without it nothing bounds how long a barrier takes.
pub const TICK: &str = "local_timer_entry";

/// Further interrupts, of which any may be missing.
pub const OTHERS: [&str; 4] =
    ["reschedule_entry", "call_function_entry", "call_function_single_entry", "irq_handler_entry"];

/// What could not be done, and what to do about it.
pub type Refused = Box<dyn std::error::Error + Send + Sync>;

/// What a user can do about an error of `bpf(2)`.
fn remedy(error: &io::Error) -> &'static str {
    match error.raw_os_error() {
        Some(libc::EPERM | libc::EACCES) => {
            "; run it as root, or with CAP_BPF and CAP_PERFMON, outside of a container or in one \
             that is given these"
        }
        Some(libc::ENOSYS) => "; this kernel, or a filter of system calls, has no bpf(2)",
        Some(libc::ENOENT) => "; this kernel has no such tracepoint",
        _ => "; Linux 5.12 or later is needed, on x86-64",
    }
}

/// Adds what was tried to an error, and what to do about it.
pub(crate) fn doing<T>(what: &str, result: io::Result<T>) -> Result<T, Refused> {
    result.map_err(|error| format!("{what}: {error}{}", remedy(&error)).into())
}

/// Everything in the kernel. It is detached when this is dropped.
#[derive(Debug)]
pub struct Kernel {
    /// The array, for clients.
    pub slots_map: OwnedFd,
    slots: Mapping,
    watermark: Mapping,
    /// Where CPUs report.
    pub ring: Ring,
    cpus: usize,
    programs: [(&'static str, OwnedFd); 2],
    /// Where programs are attached. Only the descriptors keep them so: no other process gets them.
    attached: Vec<(&'static str, OwnedFd)>,
    /// Which of the other tracepoints are missing, and why.
    pub missing: Vec<(&'static str, io::Error)>,
    _private: [OwnedFd; 2],
}

impl Kernel {
    /// Makes the maps for so many CPUs, loads the programs and attaches them.
    ///
    /// # Errors
    ///
    /// The kernel refuses one of these, with what to do about it.
    pub fn attach(cpus: usize) -> Result<Kernel, Refused> {
        let bytes = size_of::<Slot>() as u32;
        let slots_map = doing(
            "making the array of slots by bpf(2)",
            system::create_map(MapKind::Array, bytes, cpus as u32, true),
        )?;
        // Before it is mapped, by anyone: a map that somebody can write is not frozen.
        doing("freezing the array", system::freeze_map(slots_map.as_fd()))?;
        let idle_tasks =
            doing("making a map", system::create_map(MapKind::PerCpuArray, 8, 1, false))?;
        let watermark_map = doing("making a map", system::create_map(MapKind::Array, 8, 1, true))?;
        let ring = doing("making the ring buffer", Ring::new())?;
        let page = page_size();
        let slots = Mapping::new(slots_map.as_fd(), 0, slot_bytes(cpus), Access::Read);
        let watermark = Mapping::new(watermark_map.as_fd(), 0, page, Access::Write);
        let maps = Maps {
            slots: slots_map.as_raw_fd(),
            idle_tasks: idle_tasks.as_raw_fd(),
            watermark: watermark_map.as_raw_fd(),
            ring: ring.as_fd().as_raw_fd(),
        };
        let interrupts = system::load_program(&programs::interrupts(maps));
        let switches = system::load_program(&programs::switches(maps));
        let programs = [
            ("interrupts", doing("loading the program for interrupts", interrupts)?),
            ("switches", doing("loading the program for switches", switches)?),
        ];
        let (attached, missing) = attach_all(&programs)?;
        Ok(Kernel {
            slots: doing("mapping the array", slots)?,
            watermark: doing("mapping the watermark", watermark)?,
            slots_map,
            ring,
            cpus,
            programs,
            attached,
            missing,
            _private: [idle_tasks, watermark_map],
        })
    }

    /// The slots.
    pub fn slots(&self) -> &[Slot] {
        // SAFETY: the array has so many slots, of which all fields are atomics that take any bits;
        // the programs write them with accesses of their own width.
        unsafe { self.slots.slice(0, self.cpus) }
    }

    /// Sets up to which time some client waits; 0 if none does. What is read from the slots
    /// afterwards is read after a full fence.
    pub fn set_watermark(&self, watermark_ns: u64) {
        // SAFETY: the map has one number, and is mapped to be written; the programs read it whole.
        let watermark = unsafe { &self.watermark.slice::<AtomicU64>(0, 1)[0] };
        // SeqCst: a locked instruction, which is the fence that pairs with the programs' own.
        watermark.swap(watermark_ns, Ordering::SeqCst);
    }

    /// Where programs are attached.
    pub fn tracepoints(&self) -> impl Iterator<Item = &'static str> {
        self.attached.iter().map(|attached| attached.0)
    }

    /// What the kernel knows of the runs of each program, by its name.
    pub fn runs(&self) -> Result<[(&'static str, Runs); 2], Refused> {
        let [first, second] = self.programs.each_ref().map(|(name, program)| {
            let runs = doing("asking for a program's times", system::runs(program.as_fd()));
            runs.map(|runs| (*name, runs))
        });
        Ok([first?, second?])
    }
}

/// What is attached to which tracepoints, and why it is not to others.
type Attachments = (Vec<(&'static str, OwnedFd)>, Vec<(&'static str, io::Error)>);

/// Attaches the program for switches first, then the one for interrupts wherever it can be.
fn attach_all(programs: &[(&'static str, OwnedFd); 2]) -> Result<Attachments, Refused> {
    let [(_, interrupts), (_, switches)] = programs;
    let (mut attached, mut missing) = (Vec::new(), Vec::new());
    for (tracepoint, program) in [(SWITCHES, switches), (TICK, interrupts)] {
        let link = system::attach(program.as_fd(), tracepoint);
        attached.push((tracepoint, doing(&format!("attaching to {tracepoint}"), link)?));
    }
    for tracepoint in OTHERS {
        match system::attach(interrupts.as_fd(), tracepoint) {
            Ok(link) => attached.push((tracepoint, link)),
            Err(error) => missing.push((tracepoint, error)),
        }
    }
    Ok((attached, missing))
}
