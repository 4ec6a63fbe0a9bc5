//! `barrierd cost`.

use std::io::Write;
use std::num::NonZeroU64;
use std::time::{Duration, Instant};

use clap::Args;

use super::{Failed, say, unavailable};
use crate::bpf::system::{Runs, enable_times};
use crate::daemon::SYSTEM;
use crate::kernel::{Kernel, Refused, doing};
use crate::machine::Machine;

const EXAMPLES: &str = "\
The kernel times each run of each program (BPF_ENABLE_STATS) and is itself a part of what it times.
The programs are attached once more for this, in addition to those of a daemon that runs.

Examples:
  barrierd cost
  barrierd cost --seconds 60 --json
  barrierd cost --waiting     as if somebody waited all the time";

/// Measures what the programs cost.
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
pub(super) struct Cost {
    /// How many seconds to measure, at least 1
    #[arg(long, value_name = "N", default_value = "5")]
    seconds: NonZeroU64,

    /// Lets every run report, which happens only while somebody waits, and then once a CPU
    #[arg(long)]
    waiting: bool,

    /// Prints one line of JSON
    #[arg(long)]
    json: bool,
}

/// What one program did, or both together.
struct Line {
    program: &'static str,
    runs: Runs,
    per_second: f64,
    /// How long one run took on average, if there was one.
    mean_ns: Option<f64>,
    /// The median of the averages of windows of 100 ms: who takes the CPU away in the middle of a
    /// run, as a hypervisor does, spoils one window and not this.
    typical_ns: Option<f64>,
    /// Of all CPUs' time together.
    share: f64,
}

impl Cost {
    pub(super) fn execute(&self) -> Result<(), Failed> {
        let lines = self.measure().map_err(unavailable)?;
        say!("{}", if self.json { json(&lines) } else { text(&lines) });
        Ok(())
    }

    fn measure(&self) -> Result<Vec<Line>, Refused> {
        let machine = doing("reading lists of CPUs", Machine::open(SYSTEM.as_ref()))?;
        let cpus = doing("reading lists of CPUs", machine.online())?.len();
        let kernel = Kernel::attach(machine.slots())?;
        let _times = doing("asking the kernel to time programs", enable_times())?;
        if self.waiting {
            kernel.set_watermark(u64::MAX);
        }
        let (start, mut looks) = (Instant::now(), vec![look(&kernel)?]);
        while start.elapsed() < Duration::from_secs(self.seconds.get()) {
            for _ in 0..LOOKS_AT_RING {
                // Nothing sleeps on the reports; they are only made, and the ring must not fill up.
                std::thread::sleep(WINDOW / LOOKS_AT_RING);
                kernel.ring.drain();
            }
            looks.push(look(&kernel)?);
        }
        let seconds = start.elapsed().as_secs_f64();
        let lines = looks[0].iter().enumerate().map(|(index, (program, _))| {
            let looks = looks.iter().map(|look| look[index].1).collect();
            line(program, looks, seconds, cpus)
        });
        Ok(lines.collect())
    }
}

/// What the kernel knows of the runs of each program, and of both together.
fn look(kernel: &Kernel) -> Result<[(&'static str, Runs); 3], Refused> {
    let [first, second] = kernel.runs()?;
    Ok([first, second, ("together", sum(first.1, second.1))])
}

/// Both programs as one.
fn sum(one: Runs, other: Runs) -> Runs {
    Runs {
        count: one.count + other.count,
        total_ns: one.total_ns + other.total_ns,
        missed: one.missed + other.missed,
        machine_code_bytes: one.machine_code_bytes + other.machine_code_bytes,
    }
}

const WINDOW: Duration = Duration::from_millis(100);
const LOOKS_AT_RING: u32 = 10;

/// What a program did, by looks at its runs of which each has all before it.
fn line(program: &'static str, looks: Vec<Runs>, seconds: f64, cpus: usize) -> Line {
    let first = looks.first().copied().unwrap_or_default();
    let runs = between(first, looks.last().copied().unwrap_or_default());
    let windows = looks.windows(2).filter_map(|pair| mean_ns(between(pair[0], pair[1])));
    Line {
        program,
        runs,
        per_second: runs.count as f64 / seconds,
        mean_ns: mean_ns(runs),
        typical_ns: median(windows.collect()),
        share: runs.total_ns as f64 / 1e9 / seconds / cpus.max(1) as f64,
    }
}

/// What happened between two looks.
fn between(from: Runs, to: Runs) -> Runs {
    Runs {
        count: to.count - from.count,
        total_ns: to.total_ns - from.total_ns,
        missed: to.missed - from.missed,
        ..to
    }
}

fn mean_ns(runs: Runs) -> Option<f64> {
    (runs.count > 0).then(|| runs.total_ns as f64 / runs.count as f64)
}

/// The lower median.
fn median(mut values: Vec<f64>) -> Option<f64> {
    values.sort_by(f64::total_cmp);
    values.get(values.len().saturating_sub(1) / 2).copied()
}

fn text(lines: &[Line]) -> String {
    let mut text =
        String::from("program     runs a second  typical ns  average ns  CPU share  missed");
    for Line { program, runs, per_second, mean_ns, typical_ns, share } in lines {
        let [typical, mean] = [typical_ns, mean_ns].map(|ns| in_ns(*ns, 1, "-"));
        let percent = share * 100.0;
        text += &format!(
            "\n{program:<10}  {per_second:>13.0}  {typical:>10}  {mean:>10}  {percent:>8.4}%  \
             {:>6}",
            runs.missed
        );
    }
    text
}

fn in_ns(ns: Option<f64>, decimals: usize, absent: &str) -> String {
    ns.map_or(absent.to_string(), |ns| format!("{ns:.decimals$}"))
}

fn json(lines: &[Line]) -> String {
    let programs = lines.iter().map(json_line).collect::<Vec<_>>().join(",");
    format!(r#"{{"schema":"barrierd/cost/1","programs":[{programs}]}}"#)
}

fn json_line(line: &Line) -> String {
    let Line { program, runs, per_second, mean_ns, typical_ns, share } = line;
    let Runs { count, missed, machine_code_bytes, .. } = runs;
    let [typical, mean] = [typical_ns, mean_ns].map(|ns| in_ns(*ns, 3, "null"));
    format!(
        "{{\"program\":\"{program}\",\"runs\":{count},\"runs_per_second\":{per_second:.3},\
         \"typical_run_ns\":{typical},\"mean_run_ns\":{mean},\"cpu_share\":{share:.9},\
         \"missed\":{missed},\"machine_code_bytes\":{machine_code_bytes}}}"
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    fn runs(count: u64, total_ns: u64) -> Runs {
        Runs { count, total_ns, missed: 1, machine_code_bytes: 99 }
    }

    #[test]
    fn a_line_is_of_what_happened_in_between() {
        // Windows of 100, none, 100 and 10 000 ns a run.
        let looks = vec![runs(10, 1000), runs(20, 2000), runs(20, 2000), runs(30, 3000)];
        let some = line("switches", [looks, vec![runs(40, 103_000)]].concat(), 2.0, 4);
        assert_eq!((some.runs.count, some.runs.missed), (30, 0));
        assert_eq!((some.per_second, some.typical_ns), (15.0, Some(100.0)));
        assert_eq!(some.mean_ns, Some(3400.0));
        assert!((some.share - 102_000.0 / 1e9 / 2.0 / 4.0).abs() < 1e-12);
    }

    #[test]
    fn together_is_the_sum() {
        let both = sum(runs(10, 1000), runs(30, 500));
        assert_eq!((both.count, both.total_ns), (40, 1500));
        assert_eq!((both.missed, both.machine_code_bytes), (2, 198));
    }

    #[test]
    fn a_program_that_did_not_run_has_no_time() {
        let none = line("interrupts", vec![runs(10, 1000)], 2.0, 4);
        assert_eq!((none.mean_ns, none.typical_ns), (None, None));
        let expected = concat!(
            r#"{"schema":"barrierd/cost/1","programs":[{"program":"interrupts","runs":0,"#,
            r#""runs_per_second":0.000,"typical_run_ns":null,"mean_run_ns":null,"#,
            r#""cpu_share":0.000000000,"missed":0,"machine_code_bytes":99}]}"#
        );
        assert_eq!(json(&[none]), expected);
    }
}
