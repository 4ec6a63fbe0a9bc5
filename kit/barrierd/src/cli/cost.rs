//! `barrierd cost`.

use std::time::{Duration, Instant};

use clap::Args;

use super::{DONE, unavailable};
use crate::bpf::system::{Runs, enable_times};
use crate::daemon::SYSTEM;
use crate::kernel::{Kernel, Refused};
use crate::machine::Machine;

const EXAMPLES: &str = "\
The kernel times each run of each program (BPF_ENABLE_STATS) and is itself a part of what it times.
The programs are attached once more for this, beside those of a daemon that runs.

Examples:
  barrierd cost
  barrierd cost --seconds 60 --json
  barrierd cost --waiting     as if somebody waited all the time";

/// Measures what the programs cost.
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
pub(super) struct Cost {
    /// How long to measure
    #[arg(long, value_name = "N", default_value_t = 5, value_parser = clap::value_parser!(u64).range(1..))]
    seconds: u64,

    /// Lets every run report, which happens only while somebody waits, and then once a CPU
    #[arg(long)]
    waiting: bool,

    /// Prints one line of JSON
    #[arg(long)]
    json: bool,
}

/// What one program did.
struct Line {
    program: &'static str,
    runs: Runs,
    per_second: f64,
    /// How long one run took, if there was one.
    ns: Option<f64>,
    /// Of all CPUs' time.
    share: f64,
}

impl Cost {
    pub(super) fn execute(&self) -> u8 {
        match self.measure() {
            Ok(lines) if self.json => println!("{}", json(&lines)),
            Ok(lines) => print!("{}", text(&lines)),
            Err(reason) => return unavailable(reason),
        }
        DONE
    }

    fn measure(&self) -> Result<Vec<Line>, Refused> {
        let doing = |what: &str| {
            let doing = what.to_string();
            move |source| Refused { doing, source }
        };
        let machine = Machine::open(SYSTEM.as_ref()).map_err(doing("reading lists of CPUs"))?;
        let cpus = machine.online().map_err(doing("reading lists of CPUs"))?.len();
        let kernel = Kernel::attach(machine.slots())?;
        let _times = enable_times().map_err(doing("asking the kernel to time programs"))?;
        if self.waiting {
            kernel.set_watermark(u64::MAX);
        }
        let (start, before) = (Instant::now(), kernel.runs()?);
        while start.elapsed() < Duration::from_secs(self.seconds) {
            // Nobody sleeps on the reports; they are only made, and the ring must not fill up.
            std::thread::sleep(Duration::from_millis(10));
            kernel.ring().drain();
        }
        let (after, seconds) = (kernel.runs()?, start.elapsed().as_secs_f64());
        let pairs = before.into_iter().zip(after);
        Ok(pairs.map(|((program, from), (_, to))| line(program, from, to, seconds, cpus)).collect())
    }
}

fn line(program: &'static str, from: Runs, to: Runs, seconds: f64, cpus: usize) -> Line {
    let runs = Runs {
        count: to.count - from.count,
        total_ns: to.total_ns - from.total_ns,
        missed: to.missed - from.missed,
        ..to
    };
    Line {
        program,
        runs,
        per_second: runs.count as f64 / seconds,
        ns: (runs.count > 0).then(|| runs.total_ns as f64 / runs.count as f64),
        share: runs.total_ns as f64 / 1e9 / seconds / cpus.max(1) as f64,
    }
}

fn text(lines: &[Line]) -> String {
    let mut text =
        String::from("program     runs a second   ns a run   of all CPUs' time   missed\n");
    for line in lines {
        let ns = line.ns.map_or("-".to_string(), |ns| format!("{ns:.1}"));
        text += &format!(
            "{:<10}  {:>13.0}  {ns:>9}  {:>17.4}%  {:>7}\n",
            line.program,
            line.per_second,
            line.share * 100.0,
            line.runs.missed
        );
    }
    text
}

fn json(lines: &[Line]) -> String {
    let programs: Vec<String> = lines.iter().map(json_line).collect();
    format!(r#"{{"schema":"barrierd/cost/1","programs":[{}]}}"#, programs.join(","))
}

fn json_line(line: &Line) -> String {
    let ns = line.ns.map_or("null".to_string(), |ns| format!("{ns:.3}"));
    format!(
        r#"{{"program":"{}","runs":{},"runs_per_second":{:.3},"run_ns":{ns},"cpu_share":{:.9},"missed":{},"machine_code_bytes":{}}}"#,
        line.program,
        line.runs.count,
        line.per_second,
        line.share,
        line.runs.missed,
        line.runs.machine_code_bytes
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_is_of_what_happened_in_between() {
        let from = Runs { count: 10, total_ns: 1000, missed: 1, machine_code_bytes: 99 };
        let to = Runs { count: 30, total_ns: 5000, missed: 1, machine_code_bytes: 99 };
        let some = line("switches", from, to, 2.0, 4);
        assert_eq!((some.runs.count, some.runs.missed), (20, 0));
        assert_eq!((some.per_second, some.ns), (10.0, Some(200.0)));
        assert!((some.share - 0.5e-6).abs() < 1e-12);
        let none = line("interrupts", from, from, 2.0, 4);
        assert_eq!(none.ns, None);
        assert_eq!(
            json(&[none]),
            r#"{"schema":"barrierd/cost/1","programs":[{"program":"interrupts","runs":0,"#
                .to_string()
                + r#""runs_per_second":0.000,"run_ns":null,"cpu_share":0.000000000,"missed":0,"#
                + r#""machine_code_bytes":99}]}"#
        );
    }
}
