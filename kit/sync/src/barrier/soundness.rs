//! Whether a strategy that works is also a barrier: decisions about a kernel and a machine, made
//! without trying, since no trial would show it.
//!
//! **`mprotect(2)`.** Taking a right from a page that other CPUs may have in their translation
//! caches forces the kernel to make them forget it. Where it does so by interrupts, each of them
//! passes a full fence. Some CPUs can be made to forget from afar: by AMD's INVLPGB (Zen 3 and
//! later; Linux uses it since 6.15, for processes on three or more CPUs), by Intel's Remote Action
//! Request, and on every AArch64. Then no thread is interrupted, and `mprotect` is no barrier.
//!
//! **Globally expedited `membarrier(2)`.** Linux (since 5.11, read and seen on 6.18) keeps a mark
//! for each CPU that the process running there has registered. It takes the mark away when a thread
//! ends there, and does not put it back when the next thread to run there is of the same process.
//! That CPU is then left out: the call takes 0.1 us in place of 3, and the store-buffering litmus
//! shows the forbidden outcome. `examples/global_expedited.rs` shows it. The private form has no
//! such mark.

use core::sync::atomic::{AtomicBool, Ordering};

use super::Strategy;

/// The kernels whose `mprotect` was read and found to interrupt: from 4.5 to 6.18. A later one may
/// have learnt another way; an earlier release number is that of imitations of Linux, too.
const OLDEST_KERNEL: (u32, u32) = (4, 5);
const NEWEST_KERNEL: (u32, u32) = (6, 18);

/// Hypervisors whose guests reach their other CPUs by interrupts. Others offer the guest a call
/// that does it, and nothing is promised about how.
const HYPERVISORS: [&str; 2] = ["KVMKVMKVM", "VMwareVMware"];

/// Why a strategy that may work is not taken for a barrier.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum Unsound {
    /// The globally expedited `membarrier(2)` of every Linux that was looked at.
    #[error("Linux leaves out a CPU on which a thread of the process has ended")]
    LeavesOutCpus,
    /// `mprotect`, not x86-64: translations are invalidated from afar, or it was never argued that
    /// they are not.
    #[error("not an x86-64 CPU")]
    Architecture,
    /// The CPU has INVLPGB.
    #[error("the CPU can invalidate translations of other CPUs without interrupts (INVLPGB)")]
    Invlpgb,
    /// The CPU has Remote Action Requests.
    #[error("the CPU can invalidate translations of other CPUs without interrupts (RAR)")]
    RemoteAction,
    /// The features of the CPU are not known.
    #[error("/proc/cpuinfo does not tell the features of the CPU")]
    UnknownFeatures,
    /// A hypervisor that may invalidate translations on its own.
    #[error("nothing is known about how this hypervisor invalidates translations")]
    Hypervisor,
    /// A kernel that was not looked at.
    #[error("nothing is known about how this kernel invalidates translations")]
    Kernel,
}

/// Whether the strategy is a barrier here, if it works at all.
pub(super) fn check(strategy: Strategy) -> Result<(), Unsound> {
    match strategy {
        Strategy::GlobalExpedited => Err(Unsound::LeavesOutCpus),
        Strategy::Mprotect => check_mprotect(),
        _ => Ok(()),
    }
}

/// Files are read until the answer was yes once. Not a `OnceLock`: a fork may come in between.
fn check_mprotect() -> Result<(), Unsound> {
    static IS_SOUND: AtomicBool = AtomicBool::new(false);
    // Relaxed, here and below: a thread that does not see it decides the same again.
    if !IS_SOUND.load(Ordering::Relaxed) {
        judge(&this_machine())?;
        IS_SOUND.store(true, Ordering::Relaxed);
    }
    Ok(())
}

/// What the decision about `mprotect` is about.
#[derive(Clone, Debug)]
struct Machine {
    /// As `std::env::consts::ARCH` has it.
    architecture: &'static str,
    /// Bit 3 of EBX of CPUID leaf 0x80000008.
    has_invlpgb: bool,
    /// The text of `/proc/cpuinfo`, empty if it cannot be read.
    cpuinfo: String,
    /// What CPUID leaf 0x40000000 says, where there is a hypervisor.
    hypervisor: Option<String>,
    /// The release of the kernel, as `uname -r` prints it.
    kernel: String,
}

/// The decision. Whatever is not known counts against it.
fn judge(machine: &Machine) -> Result<(), Unsound> {
    if machine.architecture != "x86_64" {
        return Err(Unsound::Architecture);
    }
    if machine.has_invlpgb || has_flag(&machine.cpuinfo, "invlpgb") {
        return Err(Unsound::Invlpgb);
    }
    if has_flag(&machine.cpuinfo, "rar") {
        return Err(Unsound::RemoteAction);
    }
    if !has_flag(&machine.cpuinfo, "fpu") {
        return Err(Unsound::UnknownFeatures);
    }
    let is_known = |name: &String| HYPERVISORS.contains(&name.as_str());
    if !machine.hypervisor.as_ref().is_none_or(is_known) {
        return Err(Unsound::Hypervisor);
    }
    if is_known_kernel(&machine.kernel) { Ok(()) } else { Err(Unsound::Kernel) }
}

/// Whether any CPU of `/proc/cpuinfo` has the flag.
fn has_flag(cpuinfo: &str, flag: &str) -> bool {
    let flags = cpuinfo.lines().filter_map(|line| {
        let (key, value) = line.split_once(':')?;
        (key.trim() == "flags").then_some(value)
    });
    flags.flat_map(str::split_whitespace).any(|name| name == flag)
}

fn is_known_kernel(release: &str) -> bool {
    // A sandbox, and the translation layer of Windows: neither has Linux' memory management.
    if release.contains("gvisor") || release.contains("Microsoft") {
        return false;
    }
    let mut numbers = release.split(|c: char| !c.is_ascii_digit()).map(str::parse::<u32>);
    let (Some(Ok(major)), Some(Ok(minor))) = (numbers.next(), numbers.next()) else {
        return false;
    };
    (OLDEST_KERNEL..=NEWEST_KERNEL).contains(&(major, minor))
}

/// This machine.
fn this_machine() -> Machine {
    let kernel = std::fs::read_to_string("/proc/sys/kernel/osrelease").unwrap_or_default();
    Machine {
        architecture: std::env::consts::ARCH,
        has_invlpgb: cpuid::has_invlpgb(),
        cpuinfo: std::fs::read_to_string("/proc/cpuinfo").unwrap_or_default(),
        hypervisor: cpuid::hypervisor(),
        kernel: kernel.trim_end().to_owned(),
    }
}

#[cfg(all(target_arch = "x86_64", not(miri)))]
mod cpuid {
    use core::arch::x86_64::__cpuid;

    pub(super) fn has_invlpgb() -> bool {
        const LEAF: u32 = 0x8000_0008;
        __cpuid(0x8000_0000).eax >= LEAF && __cpuid(LEAF).ebx & (1 << 3) != 0
    }

    pub(super) fn hypervisor() -> Option<String> {
        let is_guest = __cpuid(1).ecx & (1 << 31) != 0;
        if !is_guest {
            return None;
        }
        let leaf = __cpuid(0x4000_0000);
        let letters = [leaf.ebx, leaf.ecx, leaf.edx].map(u32::to_le_bytes).concat();
        Some(String::from_utf8_lossy(&letters).trim_end_matches('\0').to_owned())
    }
}

#[cfg(not(all(target_arch = "x86_64", not(miri))))]
mod cpuid {
    pub(super) fn has_invlpgb() -> bool {
        false
    }

    pub(super) fn hypervisor() -> Option<String> {
        None
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// An Intel server without a hypervisor, on a kernel that was looked at.
    fn sound() -> Machine {
        Machine {
            architecture: "x86_64",
            has_invlpgb: false,
            cpuinfo: "processor\t: 0\nflags\t\t: fpu vme sse2\nbugs\t\t: spectre_v1\n".into(),
            hypervisor: None,
            kernel: "6.1.0-18-amd64".into(),
        }
    }

    fn with_flags(flags: &str) -> Machine {
        let cpuinfo = format!("flags\t\t: fpu sse2\n\nprocessor\t: 1\nflags\t\t: {flags}\n");
        Machine { cpuinfo, ..sound() }
    }

    fn with_kernel(release: &str) -> Machine {
        Machine { kernel: release.into(), ..sound() }
    }

    fn with_hypervisor(name: &str) -> Machine {
        Machine { hypervisor: Some(name.into()), ..sound() }
    }

    #[test]
    fn only_a_machine_that_is_known_to_interrupt_is_taken() {
        let cases = [
            ("an ordinary server", sound(), Ok(())),
            ("AArch64", Machine { architecture: "aarch64", ..sound() }, Err(Unsound::Architecture)),
            ("32-bit x86", Machine { architecture: "x86", ..sound() }, Err(Unsound::Architecture)),
            ("CPUID", Machine { has_invlpgb: true, ..sound() }, Err(Unsound::Invlpgb)),
            ("one CPU of two", with_flags("fpu sse2 invlpgb"), Err(Unsound::Invlpgb)),
            ("RAR", with_flags("fpu rar sse2"), Err(Unsound::RemoteAction)),
            ("a flag with the same letters", with_flags("fpu rarely invlpgbx"), Ok(())),
            (
                "no /proc",
                Machine { cpuinfo: String::new(), ..sound() },
                Err(Unsound::UnknownFeatures),
            ),
            (
                "an Arm's cpuinfo",
                Machine { cpuinfo: "Features\t: fp asimd fpu\n".into(), ..sound() },
                Err(Unsound::UnknownFeatures),
            ),
            ("KVM", with_hypervisor("KVMKVMKVM"), Ok(())),
            ("VMware", with_hypervisor("VMwareVMware"), Ok(())),
            ("Hyper-V", with_hypervisor("Microsoft Hv"), Err(Unsound::Hypervisor)),
            ("Xen", with_hypervisor("XenVMMXenVMM"), Err(Unsound::Hypervisor)),
            ("a hypervisor without a name", with_hypervisor(""), Err(Unsound::Hypervisor)),
            ("the newest that is known", with_kernel("6.18.44"), Ok(())),
            ("a later one", with_kernel("6.19.0-rc1"), Err(Unsound::Kernel)),
            ("a much later one", with_kernel("10.0.1"), Err(Unsound::Kernel)),
            ("gVisor, of old", with_kernel("4.4.0"), Err(Unsound::Kernel)),
            ("gVisor", with_kernel("4.19.0-gvisor"), Err(Unsound::Kernel)),
            ("no number", with_kernel("linux"), Err(Unsound::Kernel)),
            ("nothing", with_kernel(""), Err(Unsound::Kernel)),
        ];
        for (name, machine, expected) in cases {
            assert_eq!(judge(&machine), expected, "{name}");
        }
    }

    #[test]
    fn the_other_strategies_need_no_decision() {
        assert_eq!(check(Strategy::GlobalExpedited), Err(Unsound::LeavesOutCpus));
        for strategy in Strategy::ALL {
            if !matches!(strategy, Strategy::GlobalExpedited | Strategy::Mprotect) {
                assert_eq!(check(strategy), Ok(()), "{strategy}");
            }
        }
    }

    #[test]
    #[cfg_attr(miri, ignore = "reads files of the machine")]
    fn this_machine_is_judged_without_an_error() {
        let machine = this_machine();
        let text = match judge(&machine) {
            Ok(()) => "sound".to_owned(),
            Err(unsound) => unsound.to_string(),
        };
        println!("mprotect here, kernel {}: {text}", machine.kernel);
        assert!(!text.is_empty());
    }
}
