//! Lists what is looked at: what each thing does to a measurement, and what helps.

use super::*;
use Check::{Files, Look};
use Standing::{Could, Fine, Noisy};
use tiebreak_machine::fingerprint::chosen;

/// Something that is looked at.
#[derive(Clone, Copy, Debug)]
pub(super) struct Row {
    /// Its name for programs, which stays.
    pub(super) knob: &'static str,
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

/// Returns all rows, each with what it belongs to.
pub(super) fn rows() -> impl Iterator<Item = (&'static str, &'static Row)> {
    GROUPS.iter().flat_map(|(group, rows)| rows.iter().map(move |row| (*group, row)))
}

const fn row(knob: &'static str, name: &'static str, check: Check) -> Row {
    Row { knob, name, why: "", help: "No command in here changes it.", check }
}

impl Row {
    /// Says what it does, and what that costs.
    const fn why(self, why: &'static str) -> Row {
        Row { why, ..self }
    }

    /// Says what helps where no command does.
    const fn help(self, help: &'static str) -> Row {
        Row { help, ..self }
    }
}

/// Returns a switch of the kernel's: off is right, or on is.
const fn switch(file: &'static str, known: Known, right: &'static str) -> Words {
    Words { file, known, others: Others::Unknown, right, offers: None }
}

type Known = &'static [(&'static str, &'static str, Standing)];

const OFF_IS_FINE: Known = &[("0", "off", Fine), ("1", "on", Could)];

/// All that is looked at, by what it belongs to, in the order in which it is shown.
const GROUPS: [(&str, &[Row]); 7] = [
    ("other work", WORK),
    ("scheduling", SCHEDULING),
    ("interrupts", INTERRUPTS),
    ("waking up", WAKING),
    ("frequency", FREQUENCY),
    ("memory and caches", MEMORY),
    ("counters", COUNTERS),
];

const AUTOGROUP: [Words; 1] =
    [switch("/proc/sys/kernel/sched_autogroup_enabled", OFF_IS_FINE, "0")];
const TIMER_MIGRATION: [Words; 1] = [switch("/proc/sys/kernel/timer_migration", OFF_IS_FINE, "0")];
const NMI_WATCHDOG: [Words; 1] = [switch("/proc/sys/kernel/nmi_watchdog", OFF_IS_FINE, "0")];
const GOVERNOR: [Words; 1] = [Words {
    file: "/sys/devices/system/cpu/cpu*/cpufreq/scaling_governor",
    known: &[("performance", "performance", Fine)],
    others: Others::Word(Noisy),
    right: "performance",
    offers: Some("/sys/devices/system/cpu/cpu*/cpufreq/scaling_available_governors"),
}];
// Intel's file says that there is none, the others' that there is some.
const TURBO: [Words; 2] = [
    switch(
        "/sys/devices/system/cpu/intel_pstate/no_turbo",
        &[("1", "off", Fine), ("0", "on", Could)],
        "1",
    ),
    switch("/sys/devices/system/cpu/cpufreq/boost", OFF_IS_FINE, "0"),
];
const LEAST_FREQUENCY: [Words; 1] = [Words {
    others: Others::Number(Could),
    ..switch("/sys/devices/system/cpu/intel_pstate/min_perf_pct", &[("100", "100", Fine)], "100")
}];
const ENERGY_BIAS: [Words; 1] = [Words {
    file: "/sys/devices/system/cpu/cpu*/power/energy_perf_bias",
    known: &[("0", "0", Fine), ("performance", "performance", Fine)],
    others: Others::Number(Could),
    right: "0",
    offers: None,
}];
const ENERGY_PREFERENCE: [Words; 1] = [Words {
    file: "/sys/devices/system/cpu/cpu*/cpufreq/energy_performance_preference",
    known: &[("performance", "performance", Fine), ("0", "0", Fine)],
    others: Others::Word(Could),
    right: "performance",
    offers: Some("/sys/devices/system/cpu/cpu*/cpufreq/energy_performance_available_preferences"),
}];
const HUGE_PAGES: [Words; 1] = [switch(
    "/sys/kernel/mm/transparent_hugepage/enabled",
    &[("always", "always", Could), ("madvise", "madvise", Fine), ("never", "never", Fine)],
    "madvise",
)];
const ADDRESS_RANDOMIZATION: [Words; 1] = [switch(
    "/proc/sys/kernel/randomize_va_space",
    &[("0", "off", Noisy), ("1", "on", Fine), ("2", "on", Fine)],
    "2",
)];

const WORK: &[Row] = &[
    row("runnable-tasks", "runnable tasks", Look(load::runnable)).why(
        "As many other tasks want to run as there are CPUs, or more. Wait until they are done, \
         or measure on CPUs that they do not use (--cpus).",
    ),
    row("cpu-pressure", "CPU pressure", Look(load::pressure)).why(
        "Tasks waited for a CPU in the last ten seconds. A contestant that waits is not slow, \
         but its time says so.",
    ),
    row("cpu-quota", "CPU quota", Look(load::cpu_quota))
        .why(
            "When the quota of a period is spent, every thread stops until the period ends: gaps \
             of tens of milliseconds, which hit the slower contestant more often.",
        )
        .help("What helps: a container, or a service, without a CPU limit."),
    row("steal", "stolen time", Look(load::steal))
        .why(
            "The hypervisor gave CPU time of this virtual machine to others. Nothing inside of \
             it can change that.",
        )
        .help("What helps: a machine, or CPUs, that are not shared."),
];

const SCHEDULING: &[Row] = &[
    row("autogroup", "autogroup", Files(&AUTOGROUP)).why(
        "The scheduler shares CPUs between login sessions first and looks at nice only within \
         each. A benchmark at nice -20 then gets no more than any other session: beside busy \
         ones it can lose most of its CPU time.",
    ),
    row("smt", "threads of a core", Look(cores::threads)).why(
        "Two CPUs that are threads of one core share its adders, caches and ports: what runs on \
         one slows the other by up to half.",
    ),
    row("isolated-cpus", "isolated CPUs", Look(cores::isolation)).why(
        "No CPU is kept free of other work. With enough CPUs, two can be kept for measuring \
         (--cpus), and the rest of the system stays on the others.",
    ),
    row("isolation-parts", "what CPUs are isolated from", Look(cores::isolation_parts)).why(
        "A CPU is quiet only if other tasks (isolcpus), the tick (nohz_full) and work that the \
         kernel puts off (rcu_nocbs) all stay away, and from every thread of its core: one that \
         is left out brings interruptions back, up to 1000 a second.",
    ),
    row("timer-migration", "timer migration", Files(&TIMER_MIGRATION))
        .why("Timers of idle CPUs are moved to busy ones: to the one that is being measured."),
];

const INTERRUPTS: &[Row] = &[
    row("irqbalance", "irqbalance", Look(load::irqbalance)).why(
        "It moves interrupts of devices from CPU to CPU, also to those that measure, and does so \
         while something is being measured.",
    ),
    row("irq-affinity", "interrupts of devices", Look(cores::interrupts_away)).why(
        "Disks and network cards may interrupt the CPUs that were isolated to measure: some \
         microseconds each time, and the caches hold the driver's data afterwards. What the \
         kernel alone places (error EIO) stays where it is.",
    ),
    row("isolated-interrupts", "interrupts of isolated CPUs", Look(load::interrupts))
        .why("Isolated CPUs were interrupted all the same while nothing was measured.")
        .help(
            "What helps: nohz_full for timers, other CPUs for devices, and programs that do not \
             change the memory of all their threads for function calls and TLB shootdowns.",
        ),
    row("nmi-watchdog", "NMI watchdog", Files(&NMI_WATCHDOG)).why(
        "The kernel keeps one hardware counter of each CPU for itself and interrupts each CPU \
         with it every few seconds.",
    ),
    row("smi", "interrupts of the firmware (SMI)", Look(load::smis))
        .why(
            "The firmware stops all CPUs at once, for 10 us to some milliseconds, and no \
             scheduler or interrupt count shows it: 'tiebreak machine noise' calls such gaps \
             unexplained.",
        )
        .help(
            "What helps: the firmware's setup (power management, USB legacy support, memory \
             scrubbing), or another machine.",
        ),
];

const WAKING: &[Row] = &[
    row("wake-up-latency", "wake-up latency", Look(load::wake_ups))
        .why(
            "So late an ordinary thread runs after its timer or event. Whatever waits for a \
             disk, a socket or another thread pays the median each time; the late ones mean that \
             others had the CPU.",
        )
        .help("What helps: less other work, or CPUs of one's own (--cpus)."),
    row("idle-states", "idle states", Look(cores::idle_states)).why(
        "An idle CPU sleeps so deeply that waking it takes longer than a short piece of work, \
         and its caches may be empty then: the first run after each pause is slower.",
    ),
    row("halt-polling", "polling before a halt", Look(cores::halt_polling)).why(
        "An idle CPU of this virtual machine is given back at once, and each wake-up goes \
         through the hypervisor, which takes microseconds, often tens of them. With a time to \
         look for work first (200 us is usual) short pauses cost nothing of it.",
    ),
];

const FREQUENCY: &[Row] = &[
    row("governor", "frequency governor", Files(&GOVERNOR)).why(
        "The kernel lowers the frequency of a CPU that has little to do and raises it late, so \
         the first milliseconds of a run are slower than the rest.",
    ),
    row("turbo", "turbo", Files(&TURBO)).why(
        "How far above its nominal frequency a CPU runs depends on heat and on what the other \
         cores do, so the same code takes different times in one minute and the next.",
    ),
    row("frequency-limit", "frequency limit", Look(cores::frequency_limit)).why(
        "The CPU may not run as fast as it can. That is steady, but it is not what others \
         measure on such a machine.",
    ),
    row("least-frequency", "least frequency", Files(&LEAST_FREQUENCY)).why(
        "The processor itself may go below its highest frequency whenever it sees little to do \
         (percent of the highest), and takes some milliseconds to come back.",
    ),
    row("energy-bias", "energy bias (EPB)", Files(&ENERGY_BIAS)).why(
        "The processor is told to save energy (0 is speed, 15 is saving), and lowers the \
         frequencies of cores and caches on its own.",
    ),
    row("energy-preference", "energy preference (EPP)", Files(&ENERGY_PREFERENCE)).why(
        "The processor chooses its frequency by this preference: unless it is performance, it \
         raises it late.",
    ),
    row("wide-vectors", "clock after wide vectors", Look(load::wide_vectors))
        .why(
            "Instructions on wide vectors lower the clock of their core for about a millisecond, \
             so they slow ordinary code after them, also that of another contestant.",
        )
        .help(
            "What helps: contestants that use vectors of one width, or a compiler's option for \
             it (-mprefer-vector-width=256).",
        ),
];

const MEMORY: &[Row] = &[
    row("huge-pages", "transparent huge pages", Files(&HUGE_PAGES)).why(
        "The kernel gives large pages to whoever gets them first and rearranges memory in the \
         background, so two runs of one program may differ in their page faults.",
    ),
    row("address-randomization", "address randomisation", Files(&ADDRESS_RANDOMIZATION)).why(
        "Without it a program lies at the same addresses in each run. A comparison then says \
         something of one layout only: luck that no number of runs averages out.",
    ),
    row("swap", "swap", Look(load::swap)).why(
        "Memory is on a disk. A page that has to come back costs milliseconds, whenever it is \
         touched.",
    ),
    row("cache-shares", "shares of the L3 cache (resctrl)", Look(load::cache_shares))
        .why(
            "Other programs take lines of the L3 cache from the one that is measured. The \
             processor can keep a share of it for one group of tasks.",
        )
        .help("What helps: remove a group below /sys/fs/resctrl, as all are taken."),
];

const COUNTERS: &[Row] = &[row("perf-events", "hardware counters", Look(load::perf_events)).why(
    "This user may not open all of the kernel's counters, so instructions, cache misses and \
         migrations are not told.",
)];

/// A file, and what its words mean.
#[derive(Clone, Copy, Debug)]
pub(super) struct Words {
    /// Its path; a `*` stands for any CPU.
    pub(super) file: &'static str,
    /// The words that are known: each with how it is shown, and how it stands.
    pub(super) known: &'static [(&'static str, &'static str, Standing)],
    /// What other words are.
    pub(super) others: Others,
    /// What to write where it does not stand well.
    pub(super) right: &'static str,
    /// A file that lists all words that may be written, where there is one; `*` as above.
    pub(super) offers: Option<&'static str>,
}

/// What words that a row does not name are.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Others {
    /// Nothing that is understood here.
    Unknown,
    /// If it is a whole number, it stands so.
    Number(Standing),
    /// Each stands so.
    Word(Standing),
}

/// Returns what the first of these files that is there says.
pub(super) fn look_at_files(files: &[Words], sight: &Sight<'_>) -> Outcome {
    let mut absent = Vec::new();
    for words in files {
        match words.look(sight) {
            Err(Lack::Absent(why)) => absent.push(why),
            told => return told,
        }
    }
    Err(Lack::Absent(absent.join(", ")))
}

impl Words {
    fn look(&self, sight: &Sight<'_>) -> Outcome {
        let (mut shown, mut writes) = (BTreeSet::new(), Vec::new());
        let mut standing = Standing::Fine;
        for (file, text) in sight.each(self.file)? {
            // `always [madvise] never`: the one that was chosen.
            let old = chosen(&text).unwrap_or(text);
            let (word, its) = self.read(&old).ok_or_else(|| Lack::holds(&file, &old))?;
            shown.insert(word.to_owned());
            if its != Standing::Fine {
                standing = its;
                writes.push(Write { file, old, new: self.right.to_owned() });
            }
        }
        let now = shown.into_iter().collect::<Vec<_>>().join(" and ");
        let found = Found::new(standing, now);
        let is_change = !writes.is_empty() && self.is_offered(sight);
        Ok(if is_change { found.writing(sight, &writes) } else { found })
    }

    /// Returns how a word is shown, and how it stands.
    fn read<'a>(&'a self, word: &'a str) -> Option<(&'a str, Standing)> {
        if let Some((_, shown, standing)) = self.known.iter().find(|known| known.0 == word) {
            return Some((shown, *standing));
        }
        match self.others {
            Others::Word(standing) if !word.is_empty() => Some((word, standing)),
            Others::Number(standing) => word.parse::<i64>().ok().map(|_| (word, standing)),
            _ => None,
        }
    }

    /// Whether the kernel takes the right word.
    fn is_offered(&self, sight: &Sight<'_>) -> bool {
        let Some(Ok(offers)) = self.offers.map(|file| sight.each(file)) else { return true };
        offers.iter().all(|(_, words)| words.split_whitespace().any(|word| word == self.right))
    }
}
