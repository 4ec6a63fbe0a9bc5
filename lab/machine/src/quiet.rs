//! Waiting, before a round, until no other process wants our CPUs.
//!
//! The wait comes before the coins are drawn, never after: a sample that a neighbour disturbed
//! stays in the evidence. So the wait must be bounded, and cheap on a machine that is always busy.

use crate::clock;
use crate::tree::Tree;
use std::collections::BTreeMap;
use std::time::Duration;
use tiebreak_core::sampler::Quiet;

#[cfg(test)]
mod tests;

/// The longest single wait.
const LONGEST_WAIT_NS: u64 = 1_500_000_000;
/// The time that waits may take at the very start of a run, before [`WAIT_SHARE`] of its time.
const START_ALLOWANCE_NS: u64 = 1_500_000_000;
/// The maximum share of the run's time so far that all waits together may take.
const WAIT_SHARE: f64 = 0.4;
/// The pause between two looks while it is not quiet.
const PAUSE: Duration = Duration::from_micros(500);
/// The pause between the two looks that must both find it quiet.
const CONFIRMATION: Duration = Duration::from_micros(200);
/// The age at which a look says nothing about now any more.
const LOOK_NS_MAX: u64 = 20_000_000;
/// The time that a task of the kernel has to end before all tasks are examined.
const BLINK: Duration = Duration::from_micros(50);
/// The number of consecutive waits in vain after which waits become rare.
const PATIENCE: u32 = 3;
/// The number of rounds per wait when waits are rarest.
const RAREST: u64 = 64;
/// The maximum number of tasks that are examined one by one.
const MOST_TASKS: usize = 300;

/// The runnable tasks that were found, by their `stat`, and the CPU of each.
type Running = BTreeMap<String, usize>;

/// A gate that decides when a round may start.
#[derive(Debug)]
pub struct QuietGate {
    tree: Tree,
    cpus: Vec<usize>,
    ours: Vec<u32>,
    /// The runnable tasks of the last look, by their `stat`. Most often the next look finds the
    /// same.
    known: Vec<String>,
    /// When looks began to find it quiet, and the latest one; `None` after one that did not.
    quiet_ns: Option<(u64, u64)>,
    began_ns: Option<u64>,
    waited_ns: u64,
    in_vain: u32,
    skip: u64,
}

impl QuietGate {
    /// Returns a gate for contestants that may run on these CPUs. The processes `ours`, and the
    /// calling one, never count as neighbours.
    pub fn new(cpus: &[usize], ours: &[u32]) -> QuietGate {
        QuietGate::below(Tree::here(), cpus, ours)
    }

    fn below(tree: Tree, cpus: &[usize], ours: &[u32]) -> QuietGate {
        let mut ours = ours.to_vec();
        ours.push(std::process::id());
        let cpus = cpus.to_vec();
        QuietGate {
            tree,
            cpus,
            ours,
            known: Vec::new(),
            quiet_ns: None,
            began_ns: None,
            waited_ns: 0,
            in_vain: 0,
            skip: 0,
        }
    }

    /// Looks at the machine once, for [`QuietGate::was_quiet`], and returns whether it is quiet.
    /// Costs what [`QuietGate::is_quiet`] does.
    pub fn look(&mut self) -> bool {
        let is_quiet = self.is_quiet();
        let now_ns = clock::monotonic_ns();
        let first_ns = self.quiet_ns.map_or(now_ns, |(first_ns, _)| first_ns);
        self.quiet_ns = is_quiet.then_some((first_ns, now_ns));
        is_quiet
    }

    /// Returns whether the latest looks, over at least 0.2 ms, all found it quiet, the last one no
    /// more than 20 ms ago. A round that starts then need not wait.
    pub fn was_quiet(&self) -> bool {
        let Some((first_ns, last_ns)) = self.quiet_ns else { return false };
        last_ns - first_ns >= CONFIRMATION.as_nanos() as u64
            && clock::monotonic_ns().saturating_sub(last_ns) <= LOOK_NS_MAX
    }

    /// Waits until two looks, 0.2 ms apart, both find one of the CPUs free of foreign runnable
    /// tasks, or until a limit ends the wait: `at_most_ns`, 1.5 s, and for all waits together 40%
    /// of the time since the first wait plus 1.5 s.
    ///
    /// After three waits in vain, it waits only every second round, then every fourth, and so on to
    /// every 64th. In other rounds it looks once. It calls `stop` while waiting, which can end the
    /// wait early.
    pub fn wait(&mut self, at_most_ns: u64, stop: &dyn Fn() -> bool) -> Quiet {
        let start_ns = clock::monotonic_ns();
        let began_ns = *self.began_ns.get_or_insert(start_ns);
        let limit_ns = at_most_ns.min(LONGEST_WAIT_NS).min(self.allowance_ns(start_ns - began_ns));
        let patient = self.skip == 0;
        self.skip = self.skip.saturating_sub(1);
        let quiet = loop {
            if self.is_quiet_twice() {
                break true;
            }
            let waited_ns = clock::monotonic_ns() - start_ns;
            if !patient || waited_ns >= limit_ns || stop() {
                break false;
            }
            std::thread::sleep(PAUSE);
        };
        let waited_ns = clock::monotonic_ns() - start_ns;
        self.waited_ns += waited_ns;
        self.learn(quiet, patient);
        Quiet { waited_ns, quiet }
    }

    /// Returns the time that all waits together may still take, `elapsed_ns` after the first one.
    fn allowance_ns(&self, elapsed_ns: u64) -> u64 {
        let total = START_ALLOWANCE_NS + (elapsed_ns as f64 * WAIT_SHARE) as u64;
        total.saturating_sub(self.waited_ns)
    }

    fn learn(&mut self, quiet: bool, patient: bool) {
        if quiet {
            self.in_vain = 0;
            self.skip = 0;
        } else if patient {
            self.in_vain += 1;
            if self.in_vain >= PATIENCE {
                let doublings = (self.in_vain - PATIENCE + 1).min(RAREST.ilog2());
                self.skip = (1 << doublings) - 1;
            }
        }
    }

    fn is_quiet_twice(&mut self) -> bool {
        if !self.look() {
            return false;
        }
        std::thread::sleep(CONFIRMATION);
        self.look()
    }

    /// Returns whether one of our CPUs is free of foreign runnable tasks right now.
    ///
    /// Cost: about 5 us when fewer foreign tasks are runnable than we have CPUs, or the same ones
    /// as at the last look; 0.1 ms when that is so a moment later; otherwise about 5 us per task of
    /// the machine in addition, up to 300 tasks. With more tasks, the number of runnable ones alone
    /// decides.
    pub fn is_quiet(&mut self) -> bool {
        let Some(foreign) = self.foreign() else { return true };
        if foreign < self.cpus.len() {
            return true;
        }
        let mut running = Running::new();
        self.known.iter().for_each(|task| self.examine(task, &mut running));
        if running.len() < foreign && self.has_free(&running) {
            // Most often the rest are tasks of the kernel, which end in some microseconds.
            std::thread::sleep(BLINK);
            if self.foreign().is_some_and(|foreign| foreign < self.cpus.len()) {
                return true;
            }
            if !self.examine_all(&mut running) {
                return false;
            }
        }
        self.known = running.keys().cloned().collect();
        self.has_free(&running)
    }

    /// Returns whether one of our CPUs has none of these tasks.
    fn has_free(&self, running: &Running) -> bool {
        self.cpus.iter().any(|ours| running.values().all(|cpu| cpu != ours))
    }

    /// Records the task with this `stat` if it is runnable.
    fn examine(&self, stat: &str, running: &mut Running) {
        let cpu = self.tree.text(stat).as_deref().and_then(runnable_on);
        running.extend(cpu.map(|cpu| (stat.to_owned(), cpu)));
    }

    /// Returns the number of runnable tasks on the machine besides the calling thread.
    fn foreign(&self) -> Option<usize> {
        let text = self.tree.text("/proc/loadavg")?;
        let runnable: usize = text.split(' ').nth(3)?.split_once('/')?.0.parse().ok()?;
        Some(runnable.saturating_sub(1))
    }

    /// Examines every foreign task. Returns false if there are too many.
    fn examine_all(&self, running: &mut Running) -> bool {
        let mut looked = 0;
        for name in std::fs::read_dir(self.tree.path("/proc")).into_iter().flatten().flatten() {
            let name = name.file_name();
            let Some(pid) = name.to_str().and_then(|name| name.parse::<u32>().ok()) else {
                continue;
            };
            if self.ours.contains(&pid) {
                continue;
            }
            let threads = self.tree.path(&format!("/proc/{pid}/task"));
            for thread in std::fs::read_dir(threads).into_iter().flatten().flatten() {
                let thread = thread.file_name();
                self.examine(&format!("/proc/{pid}/task/{}/stat", thread.display()), running);
                looked += 1;
            }
            if looked > MOST_TASKS {
                return false;
            }
        }
        true
    }
}

/// Returns the CPU of a runnable task, from the text of its `stat`; `None` if it sleeps.
fn runnable_on(stat: &str) -> Option<usize> {
    // The name, in brackets, may contain anything. The state is the first field after it, the CPU
    // the 37th (field 39 of proc(5)).
    let (_, rest) = stat.rsplit_once(") ")?;
    let mut fields = rest.split(' ');
    if fields.next()? != "R" {
        return None;
    }
    fields.nth(35)?.parse().ok()
}
