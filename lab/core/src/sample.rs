//! The sample of one contestant in one round.

use crate::load::MessageCounts;
use crate::metric::Metric;
use serde::{Deserialize, Serialize};

/// The way in which a timed run ended, for the use of its numbers.
///
/// A run that failed makes its contestant void ([`crate::verdict::Fault`]) and gives no sample,
/// unless a claim is about how often it succeeds.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Outcome {
    /// It ended by itself; its numbers are valid.
    Finished,
    /// It was ended at the time-out; its times are lower bounds.
    TimedOut,
    /// Its numbers cannot be used (the clock went backwards): they could have been anything.
    Unusable,
    /// It failed, and a claim is about how often it does; it has no numbers. Without such a claim,
    /// a contestant that fails is void and gives no sample.
    Failed,
}

/// The metrics of one run of one contestant, and what else happened during the run.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Sample {
    /// The way in which the run ended.
    pub outcome: Outcome,
    /// The time from just before the start until the process is reaped. Of a server, from the first
    /// send of its load to the last arrival; its other numbers are those of the load's time.
    pub wall_ns: u64,
    /// The CPU time in user mode, of the contestant and of the children that it waited for; of a
    /// server, of all its processes.
    pub user_ns: u64,
    /// The CPU time in the kernel, of the same processes.
    pub system_ns: u64,
    /// The largest resident set of the largest process, in bytes; of a server, the sum over its
    /// processes.
    pub peak_memory_bytes: u64,
    /// The page faults that needed no disk.
    pub minor_faults: u64,
    /// The page faults that needed the disk.
    pub major_faults: u64,
    /// The number of times that the contestant waited.
    pub voluntary_switches: u64,
    /// The number of times that the contestant was preempted.
    pub involuntary_switches: u64,
    /// The counts of the machine's meters.
    pub meters: Meters,
    /// What else happened during the run.
    pub beside: Beside,
    /// The anomalies of the run.
    pub marks: Marks,
    /// What became of the messages, if it is the sample of a server's load.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub served: Option<Served>,
}

/// What became of the messages of one load.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Served {
    /// What became of them.
    pub counts: MessageCounts,
    /// The sends that were late, and those that were due and never made.
    pub late: u64,
    /// The CPU time of the generator's threads.
    pub generator_cpu_ns: u64,
    /// The latencies at 50, 90, 99 and 99.9%: each lies between that from the actual and that from
    /// the intended send.
    pub latencies_ns: [BatchTime; 4],
}

/// Hardware counters and energy: `None` where the machine has no such meter.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Meters {
    /// CPU cycles in user mode and kernel.
    pub cycles: Option<u64>,
    /// Instructions retired.
    pub instructions: Option<u64>,
    /// Mispredicted branches.
    pub branch_misses: Option<u64>,
    /// Misses of the last cache level.
    pub cache_misses: Option<u64>,
    /// The energy of the package in nanojoules.
    pub energy_nj: Option<u64>,
    /// The time on a CPU as the scheduler counts it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub run_ns: Option<u64>,
}

/// The activity on our CPUs during the sample; `None` where the kernel does not report it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Beside {
    /// The CPU time that other processes used on the CPUs that the contestant could run on.
    pub foreign_cpu_ns: Option<u64>,
    /// The time that the hypervisor took from those CPUs.
    pub steal_ns: Option<u64>,
    /// The number of moves of the contestant from one CPU to another.
    pub migrations: Option<u64>,
    /// The time for which the control group throttled the contestant.
    pub throttled_ns: Option<u64>,
    /// The time for which the contestant's main thread was ready to run and waited for a CPU, plus
    /// the time for which the timing process waited for one after the contestant ended. Both made
    /// the sample longer.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub run_delay_ns: Option<u64>,
}

impl Beside {
    /// Makes the times that others took, which are of a longer time than the sample, those of so
    /// large a part of it.
    pub fn take_part(&mut self, share: f64) {
        for ns in [&mut self.foreign_cpu_ns, &mut self.steal_ns].into_iter().flatten() {
            *ns = (*ns as f64 * share).round() as u64;
        }
    }
}

/// A set of marks. A marked sample stays in the evidence, and the count of marks is shown.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Marks(u16);

/// A reason to look twice at a sample.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[repr(u16)]
pub enum Mark {
    /// It was preempted more than once; starting a process alone often costs one preemption.
    Preempted = 1,
    /// Other processes used more than a tenth of our CPUs' time during it.
    ForeignLoad = 2,
    /// The hypervisor took time.
    Steal = 4,
    /// It moved between CPUs.
    Migrated = 8,
    /// The control group throttled it.
    Throttled = 16,
    /// The clock went backwards while it ran.
    ClockBackwards = 32,
    /// It left processes behind, which were ended.
    #[serde(rename = "left_children")]
    LeftBehind = 64,
    /// A meter shared its hardware counter, so its count is scaled.
    Multiplexed = 128,
    /// Its round waited in vain for a quiet machine.
    NotQuiet = 256,
    /// Its peak memory is no more than what every program is observed to use here: an upper bound
    /// only.
    MemoryFloor = 512,
    /// Its runtime was still getting faster when the timed batches began.
    NotWarm = 1024,
    /// In half or more of its batches, a thread that was to run next to it made fewer than half as
    /// many calls.
    NotTogether = 2048,
    /// The memory of its process still grew in the later half of its batches.
    MemoryGrew = 4096,
    /// The generator of load was late or busy, so it may have been the limit, not the server.
    BehindSchedule = 8192,
}

names! {
    Mark:
    Preempted = "preempted",
    ForeignLoad = "foreign load",
    Steal = "steal",
    Migrated = "migrated",
    Throttled = "throttled",
    ClockBackwards = "clock backwards",
    LeftBehind = "left children",
    Multiplexed = "multiplexed",
    NotQuiet = "not quiet",
    MemoryFloor = "memory floor",
    NotWarm = "not warm",
    NotTogether = "not together",
    MemoryGrew = "memory grew",
    BehindSchedule = "behind schedule",
}

impl Marks {
    /// No mark.
    pub const NONE: Marks = Marks(0);

    /// Returns the set with one more mark.
    #[must_use]
    pub fn with(self, mark: Mark) -> Marks {
        Marks(self.0 | mark as u16)
    }

    /// Returns whether the set has the mark.
    pub fn has(self, mark: Mark) -> bool {
        self.0 & mark as u16 != 0
    }

    /// Returns the marks as one number, one bit each, as the journal keeps them.
    pub fn bits(self) -> u16 {
        self.0
    }

    /// Reads the marks from the number in a journal.
    pub fn from_bits(bits: u16) -> Marks {
        Marks(bits)
    }

    /// Iterates over the marks in the set.
    pub fn iter(self) -> impl Iterator<Item = Mark> {
        Mark::ALL.into_iter().filter(move |mark| self.has(*mark))
    }
}

/// A value that is known to lie between two bounds, both inclusive; the upper one may be infinite.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Reading {
    /// The value is at least this.
    pub low: f64,
    /// The value is at most this.
    pub high: f64,
}

impl Reading {
    /// Returns a value that is known exactly.
    pub fn exact(value: f64) -> Reading {
        Reading { low: value, high: value }
    }

    /// A value that is not known at all.
    pub const UNKNOWN: Reading = Reading { low: 0.0, high: f64::INFINITY };
}

/// The wall time of a timed batch in nanoseconds. It is known exactly, or known to lie between two
/// bounds where the clock of the process that ran it and the clock outside do not agree. Latencies
/// have the same form.
///
/// It is written as one number, or as the two bounds.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(from = "WrittenTime", into = "WrittenTime")]
pub struct BatchTime {
    /// It took at least this.
    pub low_ns: u64,
    /// It took at most this.
    pub high_ns: u64,
}

impl BatchTime {
    /// Returns a time between these two, in either order.
    pub fn between(one_ns: u64, other_ns: u64) -> BatchTime {
        BatchTime { low_ns: one_ns.min(other_ns), high_ns: one_ns.max(other_ns) }
    }

    /// Returns whether it is one number.
    pub fn is_known(self) -> bool {
        self.low_ns == self.high_ns
    }
}

impl From<u64> for BatchTime {
    fn from(ns: u64) -> BatchTime {
        BatchTime { low_ns: ns, high_ns: ns }
    }
}

impl From<BatchTime> for Reading {
    fn from(time: BatchTime) -> Reading {
        Reading { low: time.low_ns as f64, high: time.high_ns as f64 }
    }
}

#[derive(Serialize, Deserialize)]
#[serde(untagged)]
enum WrittenTime {
    Known(u64),
    Between([u64; 2]),
}

impl From<WrittenTime> for BatchTime {
    fn from(written: WrittenTime) -> BatchTime {
        match written {
            WrittenTime::Known(ns) => ns.into(),
            WrittenTime::Between([one_ns, other_ns]) => BatchTime::between(one_ns, other_ns),
        }
    }
}

impl From<BatchTime> for WrittenTime {
    fn from(time: BatchTime) -> WrittenTime {
        if time.is_known() {
            WrittenTime::Known(time.low_ns)
        } else {
            WrittenTime::Between([time.low_ns, time.high_ns])
        }
    }
}

/// Generates the access to a sample's numbers by the names of their fields: those that every sample
/// has, then those that a machine may not have. What is stored and exported follows this list, so a
/// further field goes to its end.
macro_rules! numbers {
    (always: $($always:ident)*; maybe: $($group:ident.$maybe:ident)*;) => {
        impl Sample {
            /// The names of all numbers.
            pub const NUMBERS: &[&str] = &[$(stringify!($always),)* $(stringify!($maybe),)*];

            /// Returns the numbers in the order of [`Sample::NUMBERS`]; `None` where one was not
            /// measured.
            pub fn numbers(&self) -> impl Iterator<Item = Option<u64>> + use<> {
                [$(Some(self.$always),)* $(self.$group.$maybe,)*].into_iter()
            }

            /// Makes a sample from its numbers by name.
            ///
            /// # Errors
            /// Returns the first error of `number`.
            pub fn from_numbers<E>(
                outcome: Outcome,
                marks: Marks,
                mut number: impl FnMut(&str) -> Result<Option<u64>, E>,
            ) -> Result<Sample, E> {
                let mut sample = Sample { outcome, marks, ..Sample::of_wall_ns(0) };
                $(sample.$always = number(stringify!($always))?.unwrap_or_default();)*
                $(sample.$group.$maybe = number(stringify!($maybe))?;)*
                Ok(sample)
            }
        }
    };
}

numbers! {
    always: wall_ns user_ns system_ns peak_memory_bytes minor_faults major_faults
        voluntary_switches involuntary_switches;
    maybe: meters.cycles meters.instructions meters.branch_misses meters.cache_misses
        meters.energy_nj beside.foreign_cpu_ns beside.steal_ns beside.migrations
        beside.throttled_ns meters.run_ns beside.run_delay_ns;
}

impl Sample {
    /// Returns the sample's value of a metric as an interval, or `None` where it was not measured.
    ///
    /// A time-out bounds every metric from below, because all of them only grow with time. So do
    /// messages that a server lost. Peak memory at the floor is bounded only from above. So is the
    /// wall time of a load whose generator may have been the limit: the server may be faster.
    pub fn reading(&self, metric: Metric) -> Option<Reading> {
        let value = self.value(metric)?;
        let is_bounded = (metric == Metric::PeakMemory && self.marks.has(Mark::MemoryFloor))
            || (metric == Metric::WallTime && self.marks.has(Mark::BehindSchedule));
        let has_lost = self.served.is_some_and(|served| served.counts.lost > 0);
        Some(match self.outcome {
            Outcome::Finished if has_lost && is_bounded => Reading::UNKNOWN,
            Outcome::Finished if is_bounded => Reading { low: 0.0, high: value },
            Outcome::Finished => {
                let low = self.latency(metric).map_or(value, |latency| latency.low_ns as f64);
                Reading { low, high: if has_lost { f64::INFINITY } else { value } }
            }
            Outcome::TimedOut => Reading { low: value, high: f64::INFINITY },
            Outcome::Unusable | Outcome::Failed => Reading::UNKNOWN,
        })
    }

    /// Returns the latency of a server's load that is this metric.
    fn latency(&self, metric: Metric) -> Option<BatchTime> {
        Some(self.served?.latencies_ns[metric.latency()?])
    }

    /// Returns the sample's raw value of a metric, whatever the outcome; `None` where it was not
    /// measured. Of a latency it is the upper bound.
    pub fn value(&self, metric: Metric) -> Option<f64> {
        let value = match metric {
            Metric::WallTime => self.wall_ns,
            Metric::CpuTime => self.user_ns.saturating_add(self.system_ns),
            Metric::UserTime => self.user_ns,
            Metric::SystemTime => self.system_ns,
            Metric::PeakMemory => self.peak_memory_bytes,
            Metric::PageFaults => self.minor_faults.saturating_add(self.major_faults),
            Metric::ContextSwitches => {
                self.voluntary_switches.saturating_add(self.involuntary_switches)
            }
            Metric::Cycles => self.meters.cycles?,
            Metric::Instructions => self.meters.instructions?,
            Metric::BranchMisses => self.meters.branch_misses?,
            Metric::CacheMisses => self.meters.cache_misses?,
            Metric::Energy => self.meters.energy_nj?,
            Metric::RunTime => self.meters.run_ns?,
            Metric::LatencyP50 | Metric::LatencyP90 | Metric::LatencyP99 | Metric::LatencyP999 => {
                self.latency(metric)?.high_ns
            }
            Metric::Value => return None,
        };
        Some(value as f64)
    }

    /// Returns the share of its time, from 0 to 1, that the run was ready and waited for a CPU.
    ///
    /// Returns `None` where the kernel does not report it. The kernel reports it only for the main
    /// thread, so the result is also `None` where threads or children did more than a tenth of the
    /// work: their waiting would be missing.
    pub fn delay_share(&self) -> Option<f64> {
        let is_whole = self.is_of_main_thread();
        let share = self.beside.run_delay_ns? as f64 / self.wall_ns as f64;
        (is_whole && self.wall_ns > 0).then_some(share.min(1.0))
    }

    /// Returns whether the main thread is known to have done the work: at least nine tenths of the
    /// CPU time.
    pub fn is_of_main_thread(&self) -> bool {
        let cpu_ns = self.user_ns.saturating_add(self.system_ns) as f64;
        self.meters.run_ns.is_some_and(|run_ns| run_ns as f64 >= 0.9 * cpu_ns)
    }

    /// Returns the sample of a run that failed.
    pub fn failed() -> Sample {
        Sample { outcome: Outcome::Failed, peak_memory_bytes: 0, ..Sample::of_wall_ns(0) }
    }

    /// Returns a finished sample of which only the wall time is known; in tests, also in virtual
    /// time.
    pub fn of_wall_ns(wall_ns: u64) -> Sample {
        Sample {
            outcome: Outcome::Finished,
            wall_ns,
            user_ns: wall_ns,
            system_ns: 0,
            peak_memory_bytes: 4096,
            minor_faults: 0,
            major_faults: 0,
            voluntary_switches: 0,
            involuntary_switches: 0,
            meters: Meters::default(),
            beside: Beside::default(),
            marks: Marks::NONE,
            served: None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_others_took_is_that_of_the_part_alone() {
        let mut beside =
            Beside { foreign_cpu_ns: Some(1000), migrations: Some(3), ..Beside::default() };
        beside.take_part(0.25);
        let expected =
            Beside { foreign_cpu_ns: Some(250), migrations: Some(3), ..Beside::default() };
        assert_eq!(beside, expected);
    }

    #[test]
    fn a_time_out_bounds_from_below() {
        let mut sample = Sample::of_wall_ns(10);
        assert_eq!(sample.reading(Metric::WallTime), Some(Reading::exact(10.0)));
        sample.outcome = Outcome::TimedOut;
        let reading = sample.reading(Metric::WallTime).unwrap();
        assert_eq!((reading.low, reading.high), (10.0, f64::INFINITY));
        sample.outcome = Outcome::Unusable;
        assert_eq!(sample.reading(Metric::WallTime).unwrap().low, 0.0);
        assert_eq!(sample.reading(Metric::Energy), None);
    }

    #[test]
    fn a_generator_at_its_limit_and_lost_messages_bound_what_a_server_can_do() {
        let latencies_ns = [10, 20, 30, 40].map(|ns| BatchTime::between(ns, 2 * ns));
        let mut sample = Sample::of_wall_ns(1000);
        sample.served = Some(Served { latencies_ns, ..Served::default() });
        let check = |sample: &Sample, metric, low, high| {
            assert_eq!(sample.reading(metric), Some(Reading { low, high }), "{metric:?}");
        };
        check(&sample, Metric::WallTime, 1000.0, 1000.0);
        check(&sample, Metric::LatencyP50, 10.0, 20.0);
        check(&sample, Metric::LatencyP999, 40.0, 80.0);
        let late = Sample { marks: Marks::NONE.with(Mark::BehindSchedule), ..sample };
        check(&late, Metric::WallTime, 0.0, 1000.0);
        check(&late, Metric::LatencyP99, 30.0, 60.0);
        check(&late, Metric::CpuTime, 1000.0, 1000.0);
        sample.served.as_mut().unwrap().counts.lost = 1;
        check(&sample, Metric::WallTime, 1000.0, f64::INFINITY);
        check(&sample, Metric::LatencyP90, 20.0, f64::INFINITY);
        let both = Sample { marks: late.marks, ..sample };
        check(&both, Metric::WallTime, 0.0, f64::INFINITY);
        assert_eq!(Sample::of_wall_ns(1).reading(Metric::LatencyP50), None);
    }

    #[test]
    fn the_share_of_waiting_is_known_where_the_main_thread_did_the_work() {
        let mut sample = Sample::of_wall_ns(1000);
        sample.user_ns = 600;
        let mut check = |run_ns, run_delay_ns, expected| {
            sample.meters.run_ns = run_ns;
            sample.beside.run_delay_ns = run_delay_ns;
            assert_eq!(sample.delay_share(), expected, "{run_ns:?} {run_delay_ns:?}");
        };
        check(Some(600), Some(250), Some(0.25));
        check(Some(540), Some(0), Some(0.0));
        check(Some(539), Some(250), None);
        check(Some(600), Some(5000), Some(1.0));
        check(Some(600), None, None);
        check(None, Some(250), None);
        let nothing = Sample { wall_ns: 0, ..sample };
        assert_eq!(nothing.delay_share(), None);
    }

    #[test]
    fn every_number_has_its_place_by_name() {
        let number = |name: &str| {
            let place = Sample::NUMBERS.iter().position(|other| *other == name);
            Ok::<_, ()>(Some(place.unwrap() as u64))
        };
        let sample = Sample::from_numbers(Outcome::Finished, Marks::NONE, number).unwrap();
        let places: Vec<_> = (0..Sample::NUMBERS.len() as u64).map(Some).collect();
        assert_eq!(sample.numbers().collect::<Vec<_>>(), places);
        // All fields but the outcome and the marks are numbers.
        let written = serde_json::to_value(sample).unwrap();
        let fields = ["meters", "beside"].map(|group| written[group].as_object().unwrap().len());
        let all = written.as_object().unwrap().len() - 4 + fields.iter().sum::<usize>();
        assert_eq!(all, Sample::NUMBERS.len());
    }

    #[test]
    fn marks_survive_as_bits() {
        let marks = Marks::NONE.with(Mark::Steal).with(Mark::Preempted);
        assert_eq!(Marks::from_bits(marks.bits()), marks);
        assert_eq!(marks.iter().collect::<Vec<_>>(), [Mark::Preempted, Mark::Steal]);
    }
}
