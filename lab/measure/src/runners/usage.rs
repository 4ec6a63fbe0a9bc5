//! What the kernel has counted for a running process.

use crate::resources::Waits;
use crate::system::{self, stat_field, status_number};
use std::fs::File;
use std::io;
use std::os::unix::fs::FileExt;
use tiebreak_core::sample::Sample;
use tiebreak_machine::clock::{self, ProcessClock};

/// The counters of a process, whose files stay open.
#[derive(Debug)]
pub(super) struct Counters {
    stat: File,
    status: File,
    waits: Waits,
    clock: Option<ProcessClock>,
}

/// The counters of a process at one moment, or their increase.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Usage {
    /// The CPU time of all threads, all of it as user time; the switches are those of the main
    /// thread.
    pub(super) counted: system::Usage,
    /// Time on a CPU and time waiting for one, of the main thread; `None` if the kernel does not
    /// report it.
    pub(super) scheduled: Option<(u64, u64)>,
}

impl Counters {
    /// Opens the counters of an existing process.
    ///
    /// # Errors
    /// Fails if the process has ended, or if the limit on open files is reached.
    pub(super) fn open(pid: u32) -> io::Result<Counters> {
        Ok(Counters {
            stat: File::open(format!("/proc/{pid}/stat"))?,
            status: File::open(format!("/proc/{pid}/status"))?,
            waits: Waits::open(pid),
            clock: ProcessClock::of(pid as i32),
        })
    }

    /// Reads the counters; all 0 once the process has ended. Cost: some 50 us.
    pub(super) fn read(&self) -> Usage {
        let stat = text_of(&self.stat);
        let status = text_of(&self.status);
        let counted = system::Usage {
            user_ns: self.cpu_ns(),
            system_ns: 0,
            minor_faults: stat_field(&stat, 10).unwrap_or(0),
            major_faults: stat_field(&stat, 12).unwrap_or(0),
            voluntary_switches: status_number(&status, "voluntary_ctxt_switches:").unwrap_or(0),
            involuntary_switches: status_number(&status, "nonvoluntary_ctxt_switches:")
                .unwrap_or(0),
        };
        Usage { counted, scheduled: self.waits.scheduled_ns() }
    }

    /// Returns the CPU time of all threads so far.
    pub(super) fn cpu_ns(&self) -> u64 {
        self.clock.map_or(0, clock::process_cpu_ns_of)
    }

    /// Returns how long the main thread has run and how long it has waited for a CPU so far; 0 if
    /// the kernel does not report it.
    pub(super) fn scheduled_ns(&self) -> (u64, u64) {
        self.waits.scheduled_ns().unwrap_or_default()
    }

    /// Returns the largest resident set so far.
    pub(super) fn peak_memory_bytes(&self) -> u64 {
        status_number(&text_of(&self.status), "VmHWM:").map_or(0, |kib| kib * 1024)
    }

    /// Returns the share of the process' CPU time that was spent in the kernel, by the ticks that
    /// the kernel shows.
    pub(super) fn system_share(&self) -> f64 {
        let stat = text_of(&self.stat);
        let [user, system] = [14, 15].map(|index| stat_field(&stat, index).unwrap_or(0.0));
        if user + system > 0.0 { system / (user + system) } else { 0.0 }
    }
}

impl Usage {
    /// Returns what was used since an earlier reading.
    pub(super) fn since(&self, earlier: &Usage) -> Usage {
        let both = self.scheduled.zip(earlier.scheduled);
        Usage {
            counted: self.counted.since(&earlier.counted),
            scheduled: both
                .map(|(now, then)| (now.0.saturating_sub(then.0), now.1.saturating_sub(then.1))),
        }
    }

    /// Adds what one more batch used.
    pub(super) fn add(&mut self, batch: &Usage) {
        self.counted.add(&batch.counted);
        self.scheduled = match (self.scheduled, batch.scheduled) {
            (Some((run, wait)), Some(more)) => Some((run + more.0, wait + more.1)),
            (so_far, more) => so_far.or(more),
        };
    }

    /// Converts the usage to fields of a sample; its times are multiplied by `scale`.
    pub(super) fn into_sample(self, wall_ns: u64, system_share: f64, scale: f64) -> Sample {
        let scaled = |ns: u64| (ns as f64 * scale).round() as u64;
        let cpu_ns = scaled(self.counted.cpu_ns());
        let system_ns = (cpu_ns as f64 * system_share).round() as u64;
        let counted = system::Usage { user_ns: cpu_ns - system_ns, system_ns, ..self.counted };
        let mut sample = counted.sample(wall_ns);
        sample.meters.run_ns = self.scheduled.map(|(run_ns, _)| scaled(run_ns));
        sample.beside.run_delay_ns = self.scheduled.map(|(_, waited_ns)| scaled(waited_ns));
        sample
    }
}

/// Reads a small file of the kernel; empty once its process has ended.
fn text_of(file: &File) -> String {
    let mut buffer = [0; 4096];
    let length = file.read_at(&mut buffer, 0).unwrap_or(0);
    String::from_utf8_lossy(&buffer[..length]).into_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_process_uses_more_and_more() {
        let counters = Counters::open(std::process::id()).unwrap();
        let before = counters.read();
        let memory: Vec<u8> = (0..8 << 20).map(|i| i as u8).collect();
        assert_eq!(std::hint::black_box(&memory)[255], 255);
        let used = counters.read().since(&before);
        assert!(used.counted.cpu_ns() > 0 && used.counted.minor_faults > 0, "{used:?}");
        assert!(counters.peak_memory_bytes() > 8 << 20);
        assert!((0.0..=1.0).contains(&counters.system_share()));
        assert!(Counters::open(1 << 22).is_err());
    }

    #[test]
    fn batches_add_up_to_a_sample() {
        let counted = system::Usage {
            user_ns: 1000,
            system_ns: 0,
            minor_faults: 1,
            major_faults: 2,
            voluntary_switches: 3,
            involuntary_switches: 4,
        };
        let one = Usage { counted, scheduled: Some((900, 50)) };
        let mut sum = Usage::default();
        sum.add(&one);
        sum.add(&one);
        assert_eq!(sum.since(&one), one);
        let sample = sum.into_sample(500, 0.25, 0.5);
        assert_eq!((sample.wall_ns, sample.user_ns, sample.system_ns), (500, 750, 250));
        assert_eq!((sample.minor_faults, sample.major_faults), (2, 4));
        assert_eq!((sample.voluntary_switches, sample.involuntary_switches), (6, 8));
        assert_eq!((sample.meters.run_ns, sample.beside.run_delay_ns), (Some(900), Some(50)));
    }
}
