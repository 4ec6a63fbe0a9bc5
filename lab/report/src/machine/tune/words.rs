//! What each setting is called, and why it matters.

use tiebreak_core::machine::Knob;

/// Its name.
pub(super) fn name(knob: Knob) -> &'static str {
    match knob {
        Knob::Governor => "frequency governor",
        Knob::Turbo => "turbo",
        Knob::FrequencyLimit => "frequency limit",
        Knob::Smt => "threads of a core",
        Knob::HugePages => "transparent huge pages",
        Knob::AddressRandomization => "address randomisation",
        Knob::Swap => "swap",
        Knob::NmiWatchdog => "NMI watchdog",
        Knob::TimerMigration => "timer migration",
        Knob::IsolatedCpus => "isolated CPUs",
        Knob::Irqbalance => "irqbalance",
        Knob::PerfEvents => "hardware counters",
        Knob::CpuQuota => "CPU quota",
        Knob::CpuPressure => "CPU pressure",
        Knob::RunnableTasks => "runnable tasks",
        Knob::Steal => "stolen time",
    }
}

/// What it does, and why that matters to a measurement.
pub(super) fn why(knob: Knob) -> &'static str {
    match knob {
        Knob::Governor => {
            "The kernel lowers the frequency of a CPU that has little to do and raises it late, so \
             the first milliseconds of a run are slower than the rest."
        }
        Knob::Turbo => {
            "How far above its nominal frequency a CPU runs depends on heat and on what the other \
             cores do, so the same code takes different times in one minute and the next."
        }
        Knob::FrequencyLimit => {
            "The CPU may not run as fast as it can. That is steady, but it is not what others \
             measure on such a machine."
        }
        Knob::Smt => {
            "Two CPUs that are threads of one core share its adders, caches and ports: what runs \
             on one slows the other by up to half."
        }
        Knob::HugePages => {
            "The kernel gives large pages to whoever gets them first and rearranges memory in the \
             background, so two runs of one program may differ in their page faults."
        }
        Knob::AddressRandomization => {
            "Without it a program lies at the same addresses in each run. A comparison then says \
             something of one layout only: luck that no number of runs averages out."
        }
        Knob::Swap => {
            "Memory is on a disk. A page that has to come back costs milliseconds, whenever it is \
             touched."
        }
        Knob::NmiWatchdog => {
            "The kernel keeps one hardware counter of each CPU for itself and interrupts each CPU \
             with it every few seconds."
        }
        Knob::TimerMigration => {
            "Timers of idle CPUs are moved to busy ones: to the one that is being measured."
        }
        Knob::IsolatedCpus => {
            "No CPU is kept free of other work. With enough CPUs, two can be kept for measuring \
             (--cpus), and the rest of the system stays on the others."
        }
        Knob::Irqbalance => {
            "It moves interrupts of devices from CPU to CPU, also to those that measure, and does \
             so while something is being measured."
        }
        Knob::PerfEvents => {
            "This user may not open all of the kernel's counters, so instructions, cache misses \
             and migrations are not told."
        }
        Knob::CpuQuota => {
            "When the quota of a period is spent, every thread stops until the period ends: gaps \
             of tens of milliseconds, which hit the slower contestant more often."
        }
        Knob::CpuPressure => {
            "Tasks waited for a CPU in the last ten seconds. A contestant that waits is not slow, \
             but its time says so."
        }
        Knob::RunnableTasks => {
            "As many other tasks want to run as there are CPUs, or more. Wait until they are \
             done, or measure on CPUs that they do not use (--cpus)."
        }
        Knob::Steal => {
            "The hypervisor gave CPU time of this virtual machine to others. Nothing inside of it \
             can change that."
        }
    }
}

/// What a command does about it: some only show what goes on.
pub(super) fn verb(knob: Knob) -> &'static str {
    match knob {
        Knob::CpuPressure | Knob::RunnableTasks => "look",
        _ => "change",
    }
}

/// What helps where no command does.
pub(super) fn without_command(knob: Knob) -> &'static str {
    match knob {
        Knob::Steal => "What helps: a machine, or CPUs, that are not shared.",
        Knob::CpuQuota => "What helps: a container, or a service, without a CPU limit.",
        _ => "No command in here changes it.",
    }
}
