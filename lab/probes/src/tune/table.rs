//! The rows: what is looked at, what it does to a measurement, and what helps.

use super::found::Outcome;
use super::sight::Sight;
use super::words::{Others, Words};
use super::{cores, kernel, load, watched};
use crate::tune::Standing::{Could, Fine, Noisy};

/// Something that is looked at.
#[derive(Clone, Copy, Debug)]
pub(super) struct Row {
    /// Its name for programs, which stays.
    pub(super) knob: &'static str,
    /// What it belongs to; rows of a group lie beside each other.
    pub(super) group: &'static str,
    /// Its name for people.
    pub(super) name: &'static str,
    /// What it does, and what that costs.
    pub(super) why: &'static str,
    /// What helps where no command does.
    pub(super) help: &'static str,
    /// How it is looked at.
    pub(super) check: Check,
}

/// How something is looked at.
#[derive(Clone, Copy, Debug)]
pub(super) enum Check {
    /// Files with known words: the first one that is there counts.
    Files(&'static [Words]),
    /// Anything else.
    Look(fn(&Sight<'_>) -> Outcome),
}

const WORK: &str = "other work";
const SCHEDULING: &str = "scheduling";
const INTERRUPTS: &str = "interrupts";
const WAKING: &str = "waking up";
const FREQUENCY: &str = "frequency";
const MEMORY: &str = "memory and caches";
const COUNTERS: &str = "counters";

const NO_COMMAND: &str = "No command in here changes it.";

/// A switch of the kernel's: off is right, or on is.
const fn switch(file: &'static str, known: Known, right: &'static str) -> Words {
    Words { file, known, others: Others::Unknown, right, offers: None }
}

type Known = &'static [(&'static str, &'static str, crate::tune::Standing)];

const OFF_IS_FINE: Known = &[("0", "off", Fine), ("1", "on", Could)];

/// All that is looked at, in the order in which it is told.
pub(super) const ROWS: [Row; 29] = [
    Row {
        knob: "runnable-tasks",
        group: WORK,
        name: "runnable tasks",
        why: "As many other tasks want to run as there are CPUs, or more. Wait until they are \
              done, or measure on CPUs that they do not use (--cpus).",
        help: NO_COMMAND,
        check: Check::Look(load::runnable),
    },
    Row {
        knob: "cpu-pressure",
        group: WORK,
        name: "CPU pressure",
        why: "Tasks waited for a CPU in the last ten seconds. A contestant that waits is not \
              slow, but its time says so.",
        help: NO_COMMAND,
        check: Check::Look(load::pressure),
    },
    Row {
        knob: "cpu-quota",
        group: WORK,
        name: "CPU quota",
        why: "When the quota of a period is spent, every thread stops until the period ends: \
              gaps of tens of milliseconds, which hit the slower contestant more often.",
        help: "What helps: a container, or a service, without a CPU limit.",
        check: Check::Look(load::cpu_quota),
    },
    Row {
        knob: "steal",
        group: WORK,
        name: "stolen time",
        why: "The hypervisor gave CPU time of this virtual machine to others. Nothing inside of \
              it can change that.",
        help: "What helps: a machine, or CPUs, that are not shared.",
        check: Check::Look(load::steal),
    },
    Row {
        knob: "autogroup",
        group: SCHEDULING,
        name: "autogroup",
        why: "The scheduler shares CPUs between login sessions first and looks at nice only \
              within each. A benchmark at nice -20 then gets no more than any other session: \
              beside busy ones it can lose most of its CPU time.",
        help: NO_COMMAND,
        check: Check::Files(&[switch(
            "/proc/sys/kernel/sched_autogroup_enabled",
            OFF_IS_FINE,
            "0",
        )]),
    },
    Row {
        knob: "smt",
        group: SCHEDULING,
        name: "threads of a core",
        why: "Two CPUs that are threads of one core share its adders, caches and ports: what \
              runs on one slows the other by up to half.",
        help: NO_COMMAND,
        check: Check::Look(cores::threads),
    },
    Row {
        knob: "isolated-cpus",
        group: SCHEDULING,
        name: "isolated CPUs",
        why: "No CPU is kept free of other work. With enough CPUs, two can be kept for measuring \
              (--cpus), and the rest of the system stays on the others.",
        help: NO_COMMAND,
        check: Check::Look(cores::isolation),
    },
    Row {
        knob: "isolation-parts",
        group: SCHEDULING,
        name: "what CPUs are isolated from",
        why: "A CPU is quiet only if other tasks (isolcpus), the tick (nohz_full) and work that \
              the kernel puts off (rcu_nocbs) all stay away, and from every thread of its core: \
              one that is left out brings interruptions back, up to 1000 a second.",
        help: NO_COMMAND,
        check: Check::Look(cores::isolation_parts),
    },
    Row {
        knob: "timer-migration",
        group: SCHEDULING,
        name: "timer migration",
        why: "Timers of idle CPUs are moved to busy ones: to the one that is being measured.",
        help: NO_COMMAND,
        check: Check::Files(&[switch("/proc/sys/kernel/timer_migration", OFF_IS_FINE, "0")]),
    },
    Row {
        knob: "irqbalance",
        group: INTERRUPTS,
        name: "irqbalance",
        why: "It moves interrupts of devices from CPU to CPU, also to those that measure, and \
              does so while something is being measured.",
        help: NO_COMMAND,
        check: Check::Look(kernel::irqbalance),
    },
    Row {
        knob: "irq-affinity",
        group: INTERRUPTS,
        name: "interrupts of devices",
        why: "Disks and network cards may interrupt the CPUs that were isolated to measure: some \
              microseconds each time, and the caches hold the driver's data afterwards. What the \
              kernel alone places (error EIO) stays where it is.",
        help: NO_COMMAND,
        check: Check::Look(cores::interrupts_away),
    },
    Row {
        knob: "isolated-interrupts",
        group: INTERRUPTS,
        name: "interrupts of isolated CPUs",
        why: "Isolated CPUs were interrupted all the same while nothing was measured.",
        help: "What helps: nohz_full for timers, other CPUs for devices, and programs that do not \
               change the memory of all their threads for function calls and TLB shootdowns.",
        check: Check::Look(watched::interrupts),
    },
    Row {
        knob: "nmi-watchdog",
        group: INTERRUPTS,
        name: "NMI watchdog",
        why: "The kernel keeps one hardware counter of each CPU for itself and interrupts each \
              CPU with it every few seconds.",
        help: NO_COMMAND,
        check: Check::Files(&[switch("/proc/sys/kernel/nmi_watchdog", OFF_IS_FINE, "0")]),
    },
    Row {
        knob: "smi",
        group: INTERRUPTS,
        name: "interrupts of the firmware (SMI)",
        why: "The firmware stops all CPUs at once, for 10 us to some milliseconds, and no \
              scheduler or interrupt count shows it: 'tiebreak machine noise' calls such gaps \
              unexplained.",
        help: "What helps: the firmware's setup (power management, USB legacy support, memory \
               scrubbing), or another machine.",
        check: Check::Look(watched::smis),
    },
    Row {
        knob: "wake-up-latency",
        group: WAKING,
        name: "wake-up latency",
        why: "So late an ordinary thread runs after its timer or event. Whatever waits for a \
              disk, a socket or another thread pays the median each time; the late ones mean \
              that others had the CPU.",
        help: "What helps: less other work, or CPUs of one's own (--cpus).",
        check: Check::Look(watched::wake_ups),
    },
    Row {
        knob: "idle-states",
        group: WAKING,
        name: "idle states",
        why: "An idle CPU sleeps so deeply that waking it takes longer than a short piece of \
              work, and its caches may be empty then: the first run after each pause is slower.",
        help: NO_COMMAND,
        check: Check::Look(cores::idle_states),
    },
    Row {
        knob: "halt-polling",
        group: WAKING,
        name: "polling before a halt",
        why: "An idle CPU of this virtual machine is given back at once, and each wake-up goes \
              through the hypervisor, which takes microseconds, often tens of them. With a time \
              to look for work first (200 us is usual) short pauses cost nothing of it.",
        help: NO_COMMAND,
        check: Check::Look(cores::halt_polling),
    },
    Row {
        knob: "governor",
        group: FREQUENCY,
        name: "frequency governor",
        why: "The kernel lowers the frequency of a CPU that has little to do and raises it late, \
              so the first milliseconds of a run are slower than the rest.",
        help: NO_COMMAND,
        check: Check::Files(&[Words {
            file: "/sys/devices/system/cpu/cpu*/cpufreq/scaling_governor",
            known: &[("performance", "performance", Fine)],
            others: Others::Word(Noisy),
            right: "performance",
            offers: Some("/sys/devices/system/cpu/cpu*/cpufreq/scaling_available_governors"),
        }]),
    },
    Row {
        knob: "turbo",
        group: FREQUENCY,
        name: "turbo",
        why: "How far above its nominal frequency a CPU runs depends on heat and on what the \
              other cores do, so the same code takes different times in one minute and the next.",
        help: NO_COMMAND,
        // Intel's file says that there is none, the others' that there is some.
        check: Check::Files(&[
            switch(
                "/sys/devices/system/cpu/intel_pstate/no_turbo",
                &[("1", "off", Fine), ("0", "on", Could)],
                "1",
            ),
            switch("/sys/devices/system/cpu/cpufreq/boost", OFF_IS_FINE, "0"),
        ]),
    },
    Row {
        knob: "frequency-limit",
        group: FREQUENCY,
        name: "frequency limit",
        why: "The CPU may not run as fast as it can. That is steady, but it is not what others \
              measure on such a machine.",
        help: NO_COMMAND,
        check: Check::Look(cores::frequency_limit),
    },
    Row {
        knob: "least-frequency",
        group: FREQUENCY,
        name: "least frequency",
        why: "The processor itself may go below its highest frequency whenever it sees little to \
              do (percent of the highest), and takes some milliseconds to come back.",
        help: NO_COMMAND,
        check: Check::Files(&[Words {
            file: "/sys/devices/system/cpu/intel_pstate/min_perf_pct",
            known: &[("100", "100", Fine)],
            others: Others::Number(Could),
            right: "100",
            offers: None,
        }]),
    },
    Row {
        knob: "energy-bias",
        group: FREQUENCY,
        name: "energy bias (EPB)",
        why: "The processor is told to save energy (0 is speed, 15 is saving), and lowers the \
              frequencies of cores and caches on its own.",
        help: NO_COMMAND,
        check: Check::Files(&[Words {
            file: "/sys/devices/system/cpu/cpu*/power/energy_perf_bias",
            known: &[("0", "0", Fine), ("performance", "performance", Fine)],
            others: Others::Number(Could),
            right: "0",
            offers: None,
        }]),
    },
    Row {
        knob: "energy-preference",
        group: FREQUENCY,
        name: "energy preference (EPP)",
        why: "The processor chooses its frequency by this preference: unless it is performance, it \
              raises it late.",
        help: NO_COMMAND,
        check: Check::Files(&[Words {
            file: "/sys/devices/system/cpu/cpu*/cpufreq/energy_performance_preference",
            known: &[("performance", "performance", Fine), ("0", "0", Fine)],
            others: Others::Word(Could),
            right: "performance",
            offers: Some(
                "/sys/devices/system/cpu/cpu*/cpufreq/energy_performance_available_preferences",
            ),
        }]),
    },
    Row {
        knob: "wide-vectors",
        group: FREQUENCY,
        name: "clock after wide vectors",
        why: "Instructions on wide vectors lower the clock of their core for about a millisecond, \
              so they slow ordinary code after them, also that of another contestant.",
        help: "What helps: contestants that use vectors of one width, or a compiler's option for \
               it (-mprefer-vector-width=256).",
        check: Check::Look(watched::wide_vectors),
    },
    Row {
        knob: "huge-pages",
        group: MEMORY,
        name: "transparent huge pages",
        why: "The kernel gives large pages to whoever gets them first and rearranges memory in \
              the background, so two runs of one program may differ in their page faults.",
        help: NO_COMMAND,
        check: Check::Files(&[switch(
            "/sys/kernel/mm/transparent_hugepage/enabled",
            &[("always", "always", Could), ("madvise", "madvise", Fine), ("never", "never", Fine)],
            "madvise",
        )]),
    },
    Row {
        knob: "address-randomization",
        group: MEMORY,
        name: "address randomisation",
        why: "Without it a program lies at the same addresses in each run. A comparison then says \
              something of one layout only: luck that no number of runs averages out.",
        help: NO_COMMAND,
        check: Check::Files(&[switch(
            "/proc/sys/kernel/randomize_va_space",
            &[("0", "off", Noisy), ("1", "on", Fine), ("2", "on", Fine)],
            "2",
        )]),
    },
    Row {
        knob: "swap",
        group: MEMORY,
        name: "swap",
        why: "Memory is on a disk. A page that has to come back costs milliseconds, whenever it \
              is touched.",
        help: NO_COMMAND,
        check: Check::Look(kernel::swap),
    },
    Row {
        knob: "cache-shares",
        group: MEMORY,
        name: "shares of the L3 cache (resctrl)",
        why: "Other programs take lines of the L3 cache from the one that is measured. The \
              processor can keep a share of it for one group of tasks.",
        help: "What helps: remove a group below /sys/fs/resctrl, as all are taken.",
        check: Check::Look(kernel::cache_shares),
    },
    Row {
        knob: "perf-events",
        group: COUNTERS,
        name: "hardware counters",
        why: "This user may not open all of the kernel's counters, so instructions, cache misses \
              and migrations are not told.",
        help: NO_COMMAND,
        check: Check::Look(kernel::perf_events),
    },
];
