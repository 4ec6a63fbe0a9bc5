//! What a server has used so far, with all that it started: the sums over the processes below the
//! launcher, and over those that it has reaped.

use super::message::Accounts;
use super::wait::{parse_stat, processes};
use crate::system::{Usage, rusage, stat_field, status_number};
use std::collections::HashMap;
use tiebreak_machine::clock::{self, ProcessClock};

/// Returns the accounts of the processes below this one. A process that has ended counts with the
/// one that waited for it. Cost: it reads the whole process list, some milliseconds.
pub(super) fn below_this_process() -> Accounts {
    let all: HashMap<i32, (String, i32)> = processes()
        .filter_map(|(pid, stat)| {
            let (_, _, parent) = parse_stat(&stat)?;
            Some((pid, (stat, parent as i32)))
        })
        .collect();
    let own = std::process::id() as i32;
    let reaped = Usage::from(rusage(libc::RUSAGE_CHILDREN));
    let mut sum = Accounts { cpu_ns: reaped.cpu_ns(), usage: reaped, ..Accounts::default() };
    let below = all.iter().filter(|(pid, _)| is_below(**pid, own, &all));
    below.for_each(|(pid, (stat, _))| add(&mut sum, *pid, stat));
    sum
}

/// Returns whether a process is another one's child, or below one.
fn is_below(pid: i32, own: i32, all: &HashMap<i32, (String, i32)>) -> bool {
    let parents = std::iter::successors(all.get(&pid), |(_, parent)| all.get(parent));
    // Processes that end meanwhile could make a circle of the table.
    parents.take(all.len()).any(|(_, parent)| *parent == own)
}

/// Adds a process, with the children that it has waited for.
fn add(sum: &mut Accounts, pid: i32, stat: &str) {
    let field = |index| stat_field::<u64>(stat, index).unwrap_or(0);
    let [user, system, waited_user, waited_system] =
        [14, 15, 16, 17].map(|index| field(index) * tick_ns());
    let own_ns = ProcessClock::of(pid).map_or(0, clock::process_cpu_ns_of);
    let own_ns = if own_ns > 0 { own_ns } else { user + system };
    sum.cpu_ns += own_ns + waited_user + waited_system;
    let [mut voluntary, mut involuntary] = [0; 2];
    for thread in std::fs::read_dir(format!("/proc/{pid}/task")).into_iter().flatten().flatten() {
        let status = std::fs::read_to_string(thread.path().join("status")).unwrap_or_default();
        voluntary += status_number(&status, "voluntary_ctxt_switches:").unwrap_or(0);
        involuntary += status_number(&status, "nonvoluntary_ctxt_switches:").unwrap_or(0);
    }
    sum.usage.add(&Usage {
        user_ns: user + waited_user,
        system_ns: system + waited_system,
        minor_faults: field(10) + field(11),
        major_faults: field(12) + field(13),
        voluntary_switches: voluntary,
        involuntary_switches: involuntary,
    });
    if !matches!(parse_stat(stat), Some((_, 'Z', _))) {
        let status = std::fs::read_to_string(format!("/proc/{pid}/status")).unwrap_or_default();
        sum.peak_kib += status_number(&status, "VmHWM:").unwrap_or(0);
    }
}

/// Returns the unit of the kernel's times in `/proc`.
fn tick_ns() -> u64 {
    // SAFETY: the call takes and returns a number.
    let ticks = unsafe { libc::sysconf(libc::_SC_CLK_TCK) };
    1_000_000_000 / u64::try_from(ticks).unwrap_or(0).max(1)
}

impl Accounts {
    /// Returns whether nothing of it runs any more, or the process that was started has failed.
    pub(crate) fn is_over(&self) -> bool {
        !self.runs || self.ended.is_some_and(|status| status != 0)
    }

    /// Returns what was used since an earlier reading, with its times as exact as the CPU time.
    pub(crate) fn since(&self, earlier: &Accounts) -> Usage {
        let used = self.usage.since(&earlier.usage);
        let cpu_ns = self.cpu_ns.saturating_sub(earlier.cpu_ns);
        let shown_ns = used.cpu_ns().max(1) as f64;
        let system_ns = (cpu_ns as f64 * (used.system_ns as f64 / shown_ns)).round() as u64;
        Usage { user_ns: cpu_ns - system_ns.min(cpu_ns), system_ns, ..used }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::io::{BufRead, BufReader};
    use std::process::{Command, Stdio};

    #[test]
    fn a_tree_is_all_that_is_below() {
        let script = "sh -c 'x=0; while [ $x -lt 20000 ]; do x=$((x+1)); done; echo up; sleep 60'";
        let mut command = Command::new("sh");
        // The first shell waits for the second one, which has the third below it.
        command.args(["-c", &format!("{script} & wait")]).stdout(Stdio::piped());
        let mut child = command.spawn().unwrap();
        let mut lines = BufReader::new(child.stdout.take().unwrap()).lines();
        lines.next().unwrap().unwrap();
        let accounts = below_this_process();
        child.kill().unwrap();
        child.wait().unwrap();
        assert!(accounts.cpu_ns > 0 && accounts.peak_kib > 0, "{accounts:?}");
        let later = Accounts { cpu_ns: accounts.cpu_ns + 1000, ..accounts };
        assert_eq!(later.since(&accounts).cpu_ns(), 1000);
    }

    #[test]
    fn a_daemon_may_end_its_first_process_and_nothing_else_may() {
        let check = |ended, runs, is_over| {
            let accounts = Accounts { ended, runs, ..Accounts::default() };
            assert_eq!(accounts.is_over(), is_over, "{ended:?} {runs}");
        };
        check(None, true, false);
        check(Some(0), true, false);
        check(Some(0), false, true);
        check(Some(256), true, true);
        check(None, false, true);
    }

    #[test]
    fn times_are_split_as_the_kernel_shows_them() {
        let usage = Usage { user_ns: 30, system_ns: 10, ..Usage::default() };
        let accounts = Accounts { cpu_ns: 4000, usage, ..Accounts::default() };
        let used = accounts.since(&Accounts::default());
        assert_eq!((used.user_ns, used.system_ns), (3000, 1000));
    }
}
