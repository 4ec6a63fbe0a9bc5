//! A contestant in its process: loaded, warmed up, timed, dumped.
//!
//! Whether a runtime is warm is decided by the time that the runner's main thread was on a CPU, if
//! the kernel reports it: that excludes the time of other processes.

use super::judge::Input;
use super::process::{self, DUMP, HELLO, LOAD, Launch, Process, RESET, RUN, Timed, VERSION};
use super::suspicion::{Held, Suspicion};
use super::usage::Usage;
use tiebreak_core::sample::BatchTime;
use tiebreak_core::sampler::UnitFailure;
use tiebreak_core::study::Workload;
use tiebreak_machine::clock;

/// A contestant's process, once it has answered `hello` with a workload loaded.
#[derive(Debug)]
pub(super) struct Runner {
    pub(super) process: Process,
    resets: bool,
    /// Whether the warm-up ended because the runtime did not become faster; false before its end.
    pub(super) is_warm: bool,
    /// How long the main thread was on a CPU for the last `load`; 0 if the kernel does not report
    /// it.
    pub(super) load_ns: u64,
}

/// The result of a batch.
#[derive(Clone, Debug)]
pub(super) struct Batch {
    /// The time that counts: that of all calls, or the geometric mean of the parts.
    pub(super) time: BatchTime,
    /// The time of all calls, at most.
    pub(super) elapsed_ns: u64,
    pub(super) checksum: u64,
    /// What the run alone used.
    pub(super) usage: Usage,
    /// How long the main thread was on a CPU for the resets before the calls.
    pub(super) reset_ns: u64,
}

impl Batch {
    /// Returns the time of the main thread on a CPU or, if the kernel does not report it, the
    /// elapsed time.
    pub(super) fn worked_ns(&self) -> u64 {
        self.usage.scheduled.map_or(self.time.high_ns, |(run_ns, _)| run_ns)
    }
}

impl Runner {
    pub(super) fn start(
        launch: &Launch,
        padding_bytes: u32,
        timeout_ns: u64,
        workload: &Workload,
        input: &Input,
    ) -> Result<Runner, UnitFailure> {
        let process = Process::start(launch, padding_bytes, timeout_ns, &workload.name)?;
        Runner::greet(process, workload, input)
    }

    /// Waits until a process has answered `hello`, and loads a workload.
    pub(super) fn greet(
        mut process: Process,
        workload: &Workload,
        input: &Input,
    ) -> Result<Runner, UnitFailure> {
        let (version, _) = process.ask(&HELLO, &format!(" {VERSION}"))?;
        process::check_version(version).map_err(|what| process.broke(what))?;
        let mut runner = Runner { process, resets: false, is_warm: false, load_ns: 0 };
        runner.load(workload, input)?;
        Ok(runner)
    }

    /// Loads another workload, or the same one with another input.
    pub(super) fn load(&mut self, workload: &Workload, input: &Input) -> Result<(), UnitFailure> {
        let Workload { name, distribution, size, .. } = workload;
        let distribution = distribution.split_whitespace().collect::<Vec<_>>().join("-");
        let path = self.process.give_input(&input.bytes)?;
        self.process.workload.clone_from(name);
        let output = match input.output_bytes() {
            0 => String::new(),
            bytes => format!(" output_bytes={bytes}"),
        };
        let arguments = format!(
            " workload={name} distribution={distribution} size={size} seed={} items={}{output} \
             path={path}",
            input.seed, input.items
        );
        let (resets, held) = self.process.ask(&LOAD, &arguments)?;
        self.resets = resets;
        self.load_ns = held.ran_ns;
        Ok(())
    }

    /// Runs one call that is not evidence. Returns its checksum, and how long the main thread was
    /// on a CPU for it.
    pub(super) fn once(&mut self) -> Result<(u64, u64), UnitFailure> {
        self.reset()?;
        self.run(1).map(|(timed, held)| (timed.checksum, held.ran_ns))
    }

    /// Runs batches until the runtime is judged warm, or the limit is reached. None of them is
    /// compared with the outside clock: before it is warm, a runtime takes long to read a line.
    pub(super) fn warm_up(&mut self, calls: u64) -> Result<(), UnitFailure> {
        let start_ns = clock::monotonic_ns();
        let mut batches_ns = Vec::new();
        loop {
            batches_ns.push(self.batch(calls, None)?.worked_ns());
            let elapsed_ns = clock::monotonic_ns() - start_ns;
            if let Some(is_warm) = warmth(&batches_ns, elapsed_ns) {
                self.is_warm = is_warm;
                return Ok(());
            }
        }
    }

    /// Runs a batch of this many calls, each after a reset if the contestant needs one. With a
    /// suspicion it is compared with the outside clock.
    pub(super) fn batch(
        &mut self,
        calls: u64,
        mut suspicion: Option<&mut Suspicion>,
    ) -> Result<Batch, UnitFailure> {
        if !self.resets {
            return self.exchange(calls, suspicion);
        }
        let mut sum = self.exchange(1, suspicion.as_deref_mut())?;
        for _ in 1..calls {
            let call = self.exchange(1, suspicion.as_deref_mut())?;
            sum.time.low_ns += call.time.low_ns;
            sum.time.high_ns += call.time.high_ns;
            sum.elapsed_ns += call.elapsed_ns;
            sum.reset_ns += call.reset_ns;
            sum.usage.add(&call.usage);
            if call.checksum != sum.checksum {
                let what = "gave another checksum after a reset: each run must do the same work";
                return Err(self.process.broke(what));
            }
        }
        Ok(sum)
    }

    /// Sends one request to run and returns its result, with what it used.
    fn exchange(
        &mut self,
        calls: u64,
        suspicion: Option<&mut Suspicion>,
    ) -> Result<Batch, UnitFailure> {
        let reset_ns = self.reset()?;
        let before = self.process.counters.read();
        let (timed, held) = self.run(calls)?;
        self.process.rest();
        let usage = self.process.counters.read().since(&before);
        let checksum = timed.checksum;
        let mut time = BatchTime::from(timed.batch_ns());
        let mut elapsed_ns = timed.elapsed_ns;
        if let Some(suspicion) = suspicion {
            if let Some(what) = suspicion.convict(&held) {
                return Err(self.process.broke(what));
            }
            let BatchTime { low_ns, high_ns } = held.time();
            elapsed_ns = high_ns;
            let [low, high] = [low_ns, high_ns].map(|ns| timed.with_elapsed(ns).batch_ns());
            time = BatchTime::between(low, high);
        }
        Ok(Batch { time, elapsed_ns, checksum, usage, reset_ns })
    }

    /// Restores the input, if the contestant needs it, and returns how long its main thread was on
    /// a CPU for that.
    fn reset(&mut self) -> Result<u64, UnitFailure> {
        if !self.resets {
            return Ok(0);
        }
        self.process.ask(&RESET, "").map(|((), held)| held.ran_ns)
    }

    fn run(&mut self, calls: u64) -> Result<(Timed, Held), UnitFailure> {
        let (timed, held) = self.process.ask(&RUN, &format!(" {calls}"))?;
        let held = Held { inside_ns: timed.elapsed_ns, ..held };
        Ok((timed, held))
    }

    /// Returns the answer of the last run, and how long it took to write it.
    pub(super) fn dump(&mut self) -> Result<(Vec<u8>, u64), UnitFailure> {
        let arguments = format!(" path={}", self.process.dump_path());
        let (bytes, held) = self.process.ask(&DUMP, &arguments)?;
        let dumped = self.process.dumped()?;
        if bytes != dumped.len() as u64 {
            return Err(self.process.broke(format!(
                "dumped {} bytes and said another number: it must write all of its answer to the \
                 file and close it before it says so",
                dumped.len()
            )));
        }
        Ok((dumped, held.outside_ns))
    }

    /// Runs one call that is not evidence, and returns its answer and its checksum.
    pub(super) fn answer(&mut self) -> Result<(Vec<u8>, u64), UnitFailure> {
        let (checksum, _) = self.once()?;
        let (text, _) = self.dump()?;
        Ok((text, checksum))
    }
}

/// The number of batches that are compared with as many before them.
const WINDOW: usize = 5;
/// A runtime is warm once the fastest of a window is not faster by more than this.
const GAIN: f64 = 0.02;
/// Warm-up lasts at least this long: a runtime may observe before it compiles.
const WARM_UP_NS_MIN: u64 = 100_000_000;
/// After this time half as many batches may say that a runtime is warm: long ones take seconds.
const LONG_NS: u64 = 500_000_000;
/// Warm-up ends after this time, warm or not.
const LIMIT_NS: u64 = 2_000_000_000;
/// The least number of batches at that end, so that there is something to compare.
const BATCHES_MIN: usize = 3;
/// Timed batches whose second half is faster than the first by more than this were not warm.
const TIMED_GAIN: f64 = 0.03;
/// With fewer timed batches than this, their halves say nothing.
const TIMED_MIN: usize = 4;

/// Returns whether a contestant is warm once the timed batches follow, `None` before that, from the
/// times of the batches of its warm-up, which has lasted this long.
fn warmth(batches_ns: &[u64], elapsed_ns: u64) -> Option<bool> {
    let count = batches_ns.len();
    let is_long = elapsed_ns >= LONG_NS && count >= WINDOW;
    let is_full = is_long || elapsed_ns >= WARM_UP_NS_MIN && count >= 2 * WINDOW;
    let is_late = elapsed_ns >= LIMIT_NS && count >= BATCHES_MIN;
    // Compares the fastest of the last batches with the fastest of those before: of five each, or
    // of half of all.
    let width = WINDOW.min(count / 2);
    let (before, last) = batches_ns.split_at(count - width);
    let is_warm = !gains(&before[before.len().saturating_sub(width)..], last, GAIN);
    ((is_full && is_warm) || is_late).then_some(is_warm)
}

/// Returns whether timed batches, in order, still became faster: compares the fastest of the second
/// half with the fastest of the first.
pub(super) fn was_cold(timed_ns: &[u64]) -> bool {
    let (first, second) = timed_ns.split_at(timed_ns.len() / 2);
    timed_ns.len() >= TIMED_MIN && gains(first, second, TIMED_GAIN)
}

fn gains(before_ns: &[u64], after_ns: &[u64], gain: f64) -> bool {
    let fastest = before_ns.iter().min().zip(after_ns.iter().min());
    fastest.is_some_and(|(before, after)| (*after as f64) < *before as f64 * (1.0 - gain))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Returns the batches until the warm-up ended, and whether it was warm.
    fn warmed(batch_ns: impl Fn(usize) -> u64) -> (usize, bool) {
        let (mut batches_ns, mut elapsed_ns) = (Vec::new(), 0);
        for batch in 0.. {
            elapsed_ns += batch_ns(batch);
            batches_ns.push(batch_ns(batch));
            if let Some(is_warm) = warmth(&batches_ns, elapsed_ns) {
                return (batch + 1, is_warm);
            }
        }
        unreachable!()
    }

    #[test]
    fn warm_up_lasts_until_nothing_is_gained() {
        let millisecond = 1_000_000;
        assert_eq!(warmed(|_| millisecond), (100, true));
        assert_eq!(warmed(|_| 20 * millisecond), (10, true));
        assert_eq!(warmed(|batch| (20 + batch as u64 % 3) * millisecond), (10, true));
        // Five of the fast batches, and one before them to compare with.
        assert_eq!(warmed(|batch| if batch < 7 { 50 } else { 40 } * millisecond), (13, true));
        // Always faster: 2 s end it.
        let faster =
            |batch: usize| (100.0 * millisecond as f64 * 0.98_f64.powi(batch as i32)) as u64;
        let (batches, is_warm) = warmed(faster);
        assert!(!is_warm && (20..40).contains(&batches), "{batches}");
        // Long batches: five are enough, or three in 2 s.
        assert_eq!(warmed(|_| 150 * millisecond), (5, true));
        assert!(!warmed(|batch| (200 - 10 * batch as u64) * millisecond).1);
        assert_eq!(warmed(|_| 1_000 * millisecond), (3, true));
        assert_eq!(warmed(|batch| (1_500 - 100 * batch as u64) * millisecond), (3, false));
    }

    #[test]
    fn timed_batches_that_still_gain_were_cold() {
        let check =
            |batches: &[u64], cold: bool| assert_eq!(was_cold(batches), cold, "{batches:?}");
        check(&[], false);
        check(&[100, 50], false);
        check(&[100, 100, 50], false);
        check(&[100, 100, 98, 99], false);
        check(&[100, 101, 96, 99], true);
        check(&[90, 101, 96, 99], false);
    }
}
