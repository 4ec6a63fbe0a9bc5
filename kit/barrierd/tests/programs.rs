//! The two programs, run by the kernel with arguments of ours. Where it allows no BPF, the tests
//! say so and return.

use std::io;
use std::os::fd::{AsFd, AsRawFd, OwnedFd};
use std::sync::atomic::{AtomicU64, Ordering};

use barrierd::bpf::programs::{self, Maps};
use barrierd::bpf::ring::Ring;
use barrierd::bpf::system::{self, MapKind};
use tiebreak_sync::interrupts::CpuSet;
use tiebreak_sync::interrupts::layout::{Slot, now_ns, slot_bytes};
use tiebreak_sync::interrupts::mapping::{Access, Mapping, page_size};

/// The number of CPUs for which the maps are made: more than there are.
const CPUS: usize = 1024;

struct Loaded {
    slots: Mapping,
    slots_map: OwnedFd,
    idle_tasks: OwnedFd,
    watermark: Mapping,
    ring: Ring,
    interrupts: OwnedFd,
    switches: OwnedFd,
    _watermark_map: OwnedFd,
}

fn load() -> io::Result<Loaded> {
    let slots_map = system::create_map(MapKind::Array, 64, CPUS as u32, true)?;
    system::freeze_map(slots_map.as_fd())?;
    let idle_tasks = system::create_map(MapKind::PerCpuArray, 8, 1, false)?;
    let watermark_map = system::create_map(MapKind::Array, 8, 1, true)?;
    let ring = Ring::new()?;
    let maps = Maps {
        slots: slots_map.as_raw_fd(),
        idle_tasks: idle_tasks.as_raw_fd(),
        watermark: watermark_map.as_raw_fd(),
        ring: ring.as_fd().as_raw_fd(),
    };
    Ok(Loaded {
        slots: Mapping::new(slots_map.as_fd(), 0, slot_bytes(CPUS), Access::Read)?,
        watermark: Mapping::new(watermark_map.as_fd(), 0, page_size(), Access::Write)?,
        interrupts: system::load_program(&programs::interrupts(maps))?,
        switches: system::load_program(&programs::switches(maps))?,
        slots_map,
        idle_tasks,
        ring,
        _watermark_map: watermark_map,
    })
}

/// The programs, or a line of why not.
fn loaded() -> Option<Loaded> {
    match load() {
        Ok(loaded) => Some(loaded),
        Err(error) => {
            println!("not tested here: bpf(2) fails: {error}");
            None
        }
    }
}

/// One system call, with attributes that live on.
fn bpf<T>(command: libc::c_int, attributes: &mut T) -> io::Result<()> {
    let (pointer, bytes) = (std::ptr::from_mut(attributes), size_of::<T>());
    // SAFETY: each caller below has the fields of its command, and pointers to what outlives this.
    match unsafe { libc::syscall(libc::SYS_bpf, command, pointer, bytes) } {
        0 => Ok(()),
        _ => Err(io::Error::last_os_error()),
    }
}

/// `BPF_PROG_TEST_RUN`: runs a program on a CPU as if an event had these arguments. The thread goes
/// to that CPU first: an idle one would run it in its idle task, which the program would learn.
fn run(program: &OwnedFd, cpu: usize, arguments: [u64; 4]) -> io::Result<()> {
    go_to(cpu)?;
    #[repr(C)]
    #[derive(Default)]
    struct Attributes {
        program: u32,
        result: u32,
        unused: [u64; 4],
        arguments_bytes: u32,
        arguments_out_bytes: u32,
        arguments: u64,
        arguments_out: u64,
        flags: u32,
        cpu: u32,
    }
    const ON_CPU: u32 = 1;
    bpf(
        10,
        &mut Attributes {
            program: program.as_raw_fd() as u32,
            arguments_bytes: 32,
            arguments: arguments.as_ptr() as u64,
            flags: ON_CPU,
            cpu: cpu as u32,
            ..Attributes::default()
        },
    )
}

/// Binds the thread to a CPU.
fn go_to(cpu: usize) -> io::Result<()> {
    // SAFETY: the set is made of zeros, which is an empty one, and outlives the call.
    let bound = unsafe {
        let mut set: libc::cpu_set_t = std::mem::zeroed();
        libc::CPU_SET(cpu, &mut set);
        libc::sched_setaffinity(0, size_of::<libc::cpu_set_t>(), &set)
    };
    if bound == 0 { Ok(()) } else { Err(io::Error::last_os_error()) }
}

/// Gives every CPU an idle task at this address.
fn set_idle_tasks(map: &OwnedFd, address: u64) -> io::Result<()> {
    #[repr(C)]
    struct Attributes {
        map: u32,
        padding: u32,
        key: u64,
        value: u64,
        flags: u64,
    }
    let (key, values) = (0_u32, [address; CPUS]);
    let map = map.as_raw_fd() as u32;
    let (key, value) = ((&raw const key) as u64, values.as_ptr() as u64);
    bpf(2, &mut Attributes { map, padding: 0, key, value, flags: 0 })
}

impl Loaded {
    fn slot(&self, cpu: usize) -> &Slot {
        // SAFETY: the array has so many slots, with fields that are atomics.
        unsafe { &self.slots.slice::<Slot>(0, CPUS)[cpu] }
    }

    fn set_watermark(&self, ns: u64) {
        // SAFETY: one number, mapped to be written.
        unsafe { self.watermark.slice::<AtomicU64>(0, 1)[0].store(ns, Ordering::SeqCst) };
    }
}

fn some_cpus() -> Vec<usize> {
    CpuSet::of_thread().unwrap().iter().take(4).collect()
}

const IDLE_TASK: u64 = 0xffff_8880_dead_beef;

#[test]
fn only_a_switch_to_the_idle_task_makes_a_cpu_idle() {
    let Some(loaded) = loaded() else { return };
    let cpus = some_cpus();
    for &cpu in &cpus {
        if let Err(error) = run(&loaded.switches, cpu, [0, 1, IDLE_TASK, 0]) {
            return println!("not tested here: no test runs: {error}");
        }
        assert!(!loaded.slot(cpu).state().is_idle(), "which task is idle is not known yet");
    }
    set_idle_tasks(&loaded.idle_tasks, IDLE_TASK).unwrap();
    for cpu in cpus {
        for (next, is_idle) in [
            (IDLE_TASK - 1, false),
            (IDLE_TASK, true),
            (0, false),
            (IDLE_TASK, true),
            (IDLE_TASK + 1, false),
        ] {
            run(&loaded.switches, cpu, [0, 1, next, 0]).unwrap();
            assert_eq!(loaded.slot(cpu).state().is_idle(), is_idle, "next task {next:x}");
            run(&loaded.interrupts, cpu, [0; 4]).unwrap();
            assert_eq!(loaded.slot(cpu).state().is_idle(), is_idle, "an interrupt keeps the flag");
        }
        assert_eq!(loaded.slot(cpu).idle_count.load(Ordering::Relaxed), 2);
        // Linux 5.18 has the previous task where others have the next.
        run(&loaded.switches, cpu, [0, 0, 1, IDLE_TASK]).unwrap();
        assert!(!loaded.slot(cpu).state().is_idle());
    }
}

#[test]
fn each_run_counts_one_and_stamps_its_own_cpu() {
    let Some(loaded) = loaded() else { return };
    let cpus = some_cpus();
    for program in [&loaded.interrupts, &loaded.switches] {
        for cpu in &cpus {
            let before: Vec<u64> = cpus.iter().map(|cpu| loaded.slot(*cpu).count()).collect();
            let start_ns = now_ns();
            if let Err(error) = run(program, *cpu, [0; 4]) {
                return println!("not tested here: no test runs: {error}");
            }
            let stamp_ns = loaded.slot(*cpu).state().stamp_ns();
            // The clocks of two CPUs may differ a little.
            assert!(
                (start_ns.saturating_sub(1_000_000)..=now_ns() + 1_000_000).contains(&stamp_ns)
            );
            for (other, before) in cpus.iter().zip(before) {
                let more = u64::from(other == cpu);
                assert_eq!(loaded.slot(*other).count(), before + more, "CPU {other}");
            }
        }
    }
}

#[test]
fn a_run_is_reported_if_the_stamp_before_was_not_later_than_the_watermark() {
    let Some(loaded) = loaded() else { return };
    let cpu = some_cpus()[0];
    for program in [&loaded.interrupts, &loaded.switches] {
        if let Err(error) = run(program, cpu, [0; 4]) {
            return println!("not tested here: no test runs: {error}");
        }
        loaded.ring.drain();
        let is_reported = |distance_ns: i64| {
            let stamp_ns = loaded.slot(cpu).state().stamp_ns();
            loaded.set_watermark(stamp_ns.saturating_add_signed(distance_ns));
            run(program, cpu, [0; 4]).unwrap();
            loaded.ring.drain()
        };
        assert!(!is_reported(i64::MIN), "no client waits");
        assert!(!is_reported(-1));
        assert!(is_reported(0));
        assert!(is_reported(1));
        assert!(!is_reported(-1));
        loaded.set_watermark(loaded.slot(cpu).state().stamp_ns());
        run(program, cpu, [0; 4]).unwrap();
        run(program, cpu, [0; 4]).unwrap();
        assert!(loaded.ring.drain() && !loaded.ring.drain());
    }
}

#[test]
fn nobody_can_write_the_slots() {
    let Some(loaded) = loaded() else { return };
    assert!(Mapping::new(loaded.slots_map.as_fd(), 0, slot_bytes(CPUS), Access::Write).is_err());
    assert!(set_idle_tasks(&loaded.slots_map, 1).is_err(), "not by bpf(2) either");
    assert!(Mapping::new(loaded.slots_map.as_fd(), 0, slot_bytes(CPUS), Access::Read).is_ok());
}
