//! What the probes of the machine need from the laboratory: runs of programs.

use crate::error::{LabError, usage};
use crate::planning::{self, Request};
use std::sync::atomic::AtomicBool;
use std::time::Duration;
use tiebreak_core::language::Tool;
use tiebreak_core::plan::Centre;
use tiebreak_core::sampler::{ProgramSampler, RunFailure, RunRequest, Sampler};
use tiebreak_machine::cpus;
use tiebreak_measure::{Programs, build, interrupt};
use tiebreak_probes::{Lab, OwnWork};
use tiebreak_report::shell_line;
use tiebreak_stats::coins::{self, Seed};
use tiebreak_stats::observation::log;

/// The seed of the rounds' coins: the same noise gives the same answer.
const SEED: &str = "noise";

/// The laboratory, as probes of the machine use it.
#[derive(Clone, Debug, Default)]
pub struct Laboratory {
    /// The command that runs some milliseconds of this program's own work, as a shell line.
    pub own_work: Option<String>,
}

/// The word after the name of this program that makes it do [`some_milliseconds`].
pub const OWN_WORK: &str = "__work";
/// Steps of the chain: each depends on the one before, so no CPU can run them in parallel.
const STEPS: u64 = 1_500_000;

/// Walks a chain of xorshift and multiply steps (Marsaglia 2003) and returns its end.
pub fn some_milliseconds() -> u64 {
    (0..STEPS).fold(0x9E37_79B9_7F4A_7C15, |mut x: u64, _| {
        x ^= x << 13;
        x ^= x >> 7;
        x ^= x << 17;
        x.wrapping_mul(0x2545_F491_4F6C_DD1D)
    })
}

/// Returns a command that every machine has and that takes some milliseconds: this program's own
/// work.
///
/// # Errors
/// Fails if the system does not name this program.
pub fn own_work() -> Result<String, LabError> {
    let program = std::env::current_exe()
        .map_err(|error| LabError::Data(format!("cannot find this program itself: {error}")))?;
    Ok(shell_line(&[program.display().to_string(), OWN_WORK.to_owned()]))
}

/// Returns the CPUs to probe: the wanted ones, or all that this process may use.
///
/// # Errors
/// Fails if it may not use one of them.
pub fn chosen_cpus(wanted: Option<&[usize]>) -> Result<Vec<usize>, LabError> {
    let allowed = cpus::allowed();
    let Some(wanted) = wanted else { return Ok(allowed) };
    match wanted.iter().find(|cpu| !allowed.contains(cpu)) {
        Some(cpu) => usage(format!(
            "--cpus: CPU {cpu} is not one that this process may use: {} are",
            cpus::format_cpus(&allowed)
        )),
        None => Ok(wanted.to_vec()),
    }
}

impl Lab for Laboratory {
    fn compilers(&self, longest: Duration, interrupted: &AtomicBool) -> Vec<Tool> {
        build::compilers(longest, interrupted)
    }

    fn own_work(&self) -> Result<Option<Box<dyn OwnWork>>, String> {
        let Some(command) = &self.own_work else { return Ok(None) };
        let commands = vec![command.clone(), command.clone()];
        let request = Request { centre: Centre::Factor, ..Request::new(commands, SEED.to_owned()) };
        let plan = planning::plan(&request).map_err(|error| error.to_string())?;
        let programs =
            Programs::new(&plan, interrupt::flag()).map_err(|error| error.to_string())?;
        Ok(Some(Box::new(Runs { programs, times: Times::default() })))
    }
}

/// Runs of one command, by the sampler of every comparison of programs.
struct Runs {
    programs: Programs,
    times: Times,
}

impl OwnWork for Runs {
    fn round(&mut self, round: u64, wait: Duration, left: Duration) -> Result<f64, RunFailure> {
        self.programs.wait_for_quiet(wait.as_nanos() as u64);
        let coins = coins::draw(Seed::from_text(SEED), round, 0, &[0, 1]);
        let timeout_ns = left.as_nanos() as u64;
        let mut wall_ns = |contestant: usize, padding_bytes: u32| {
            let load_seed = 0;
            let request = RunRequest { contestant, padding_bytes, timeout_ns, load_seed };
            let sample = self.programs.run(&request)?.sample;
            self.times.add(sample.wall_ns.max(1), sample.beside.run_delay_ns);
            Ok(sample.wall_ns.max(1) as f64)
        };
        coins.primer.map(|primer| wall_ns(primer, coins.padding_bytes[0])).transpose()?;
        let mut times = [1.0; 2];
        for (contestant, padding_bytes) in coins.order.iter().zip(&coins.padding_bytes[1..]) {
            times[*contestant] = wall_ns(*contestant, *padding_bytes)?;
        }
        Ok(log(times[0] / times[1]))
    }

    fn lost_share(&self) -> Option<f64> {
        self.times.lost_share()
    }
}

/// The total time of the runs.
#[derive(Default)]
struct Times {
    wall_ns: u64,
    /// How long they were ready and waited for a CPU; `None` if it is unknown for one of them.
    waited_ns: Option<u64>,
}

impl Times {
    fn add(&mut self, wall_ns: u64, waited_ns: Option<u64>) {
        let before = if self.wall_ns == 0 { Some(0) } else { self.waited_ns };
        self.waited_ns = before.zip(waited_ns).map(|(before, more)| before + more);
        self.wall_ns += wall_ns;
    }

    fn lost_share(&self) -> Option<f64> {
        Some((self.waited_ns? as f64 / self.wall_ns.max(1) as f64).min(1.0))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(runs: &[(u64, Option<u64>)], expected: Option<f64>) {
        let mut times = Times::default();
        runs.iter().for_each(|(wall_ns, waited_ns)| times.add(*wall_ns, *waited_ns));
        assert_eq!(times.lost_share(), expected);
    }

    #[test]
    fn lost_time_is_known_if_every_run_tells() {
        check(&[], None);
        check(&[(10, Some(1)), (30, Some(9))], Some(0.25));
        check(&[(10, Some(1)), (30, None), (10, Some(1))], None);
    }
}
