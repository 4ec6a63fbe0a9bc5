//! Barriers where system calls are refused, at the start or later, and after a fork.
//!
//! A filter cannot be taken back, so each case runs in a process of its own: this program again, of
//! which it runs the test `body_of_a_case` alone; the environment says what to do.

use std::cell::Cell;
use std::os::unix::process::ExitStatusExt;
use std::process::{Command, Output};
use std::time::Duration;

use crate::alone;
use crate::litmus::{Limit, store_buffering, two_cpus};
use crate::seccomp::{Filter, Rule};
use tiebreak_sync::barrier::{Barrier, Strategy, Substituted};

/// Tells the child which case it is.
const CASE: &str = "TIEBREAK_SYNC_CASE";
/// Tells it which errno the filters answer.
const ERRNO: &str = "TIEBREAK_SYNC_ERRNO";
/// Begins what the child says when it cannot do its case.
const SKIPPED: &str = "skipped: ";

const PRIVATE: [i32; 2] =
    [libc::MEMBARRIER_CMD_PRIVATE_EXPEDITED, libc::MEMBARRIER_CMD_REGISTER_PRIVATE_EXPEDITED];
const GLOBAL: [i32; 2] =
    [libc::MEMBARRIER_CMD_GLOBAL_EXPEDITED, libc::MEMBARRIER_CMD_REGISTER_GLOBAL_EXPEDITED];

/// What a case refuses.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Refusal {
    Membarrier,
    PrivateExpedited,
    /// Only the registration, though the kernel says that it has it.
    Registration,
    Expedited,
    Mlock,
    /// To take all rights from a page; not at the start, since new threads do so, too.
    Mprotect,
    Affinity,
}

impl Refusal {
    fn rules(self) -> Vec<Rule> {
        let commands = |numbers: &[i32]| {
            let rule = |number: &i32| Rule::when(libc::SYS_membarrier, 0, *number as u32);
            numbers.iter().map(rule).collect()
        };
        match self {
            Refusal::Membarrier => vec![Rule::all(libc::SYS_membarrier)],
            Refusal::PrivateExpedited => commands(&PRIVATE),
            Refusal::Registration => commands(&[PRIVATE[1], GLOBAL[1]]),
            Refusal::Expedited => commands(&[PRIVATE, GLOBAL].concat()),
            Refusal::Mlock => vec![Rule::all(libc::SYS_mlock)],
            Refusal::Mprotect => {
                vec![Rule::when(libc::SYS_mprotect, 2, libc::PROT_NONE as u32)]
            }
            Refusal::Affinity => vec![Rule::all(libc::SYS_sched_setaffinity)],
        }
    }

    /// Whether the strategy needs what is refused.
    fn hits(self, strategy: Strategy) -> bool {
        use Strategy::{GlobalExpedited, GlobalUnexpedited, Mprotect, PrivateExpedited};
        match self {
            Refusal::Membarrier => {
                matches!(strategy, PrivateExpedited | GlobalExpedited | GlobalUnexpedited)
            }
            Refusal::PrivateExpedited => strategy == PrivateExpedited,
            Refusal::Registration | Refusal::Expedited => {
                matches!(strategy, PrivateExpedited | GlobalExpedited)
            }
            Refusal::Mlock | Refusal::Mprotect => strategy == Mprotect,
            Refusal::Affinity => false,
        }
    }
}

/// What is refused before the choice, and what after it.
struct Case {
    name: &'static str,
    before: &'static [Refusal],
    after: &'static [Refusal],
}

const CASES: [Case; 12] = {
    use Refusal::{
        Affinity, Expedited, Membarrier, Mlock, Mprotect, PrivateExpedited, Registration,
    };
    [
        Case { name: "nothing refused", before: &[], after: &[] },
        Case { name: "private expedited", before: &[PrivateExpedited], after: &[] },
        Case { name: "registration", before: &[Registration], after: &[] },
        Case { name: "expedited", before: &[Expedited], after: &[] },
        Case { name: "membarrier", before: &[Membarrier], after: &[] },
        Case { name: "expedited and mlock", before: &[Expedited, Mlock], after: &[] },
        Case { name: "membarrier and mlock", before: &[Membarrier, Mlock], after: &[] },
        Case { name: "private expedited, later", before: &[], after: &[PrivateExpedited] },
        Case { name: "membarrier, later", before: &[], after: &[Membarrier] },
        Case { name: "mprotect, later", before: &[Expedited], after: &[Mprotect] },
        Case { name: "all but walking, later", before: &[], after: &[Membarrier, Mprotect] },
        Case { name: "all, later", before: &[], after: &[Membarrier, Mprotect, Affinity] },
    ]
};

impl Case {
    fn is_later(&self) -> bool {
        !self.after.is_empty()
    }

    /// Of the strategies that work here without filters, the best that these leave.
    fn best(here: &[Strategy], refusals: &[Refusal]) -> Option<Strategy> {
        let is_left = |strategy: &Strategy| !refusals.iter().any(|one| one.hits(*strategy));
        here.iter().copied().find(is_left)
    }

    /// What the child has to say: the active strategy, and by what its heavy sides were done.
    fn expected(&self, here: &[Strategy]) -> Expected {
        let active = Case::best(here, self.before).unwrap_or(Strategy::SeqCst);
        let refused = [self.before, self.after].concat();
        let mut free = here.iter().copied().filter(|strategy| strategy.light_is_free());
        if !refused.iter().any(|one| one.hits(active)) {
            return Expected::Works { active, by: None };
        }
        let is_left = |strategy: &Strategy| !refused.iter().any(|one| one.hits(*strategy));
        match free.find(is_left) {
            Some(other) => Expected::Works { active, by: Some(other.to_string()) },
            None if refused.contains(&Refusal::Affinity) => Expected::Aborts,
            None => Expected::Works { active, by: Some("each CPU in turn".into()) },
        }
    }
}

#[derive(Debug)]
enum Expected {
    Works { active: Strategy, by: Option<String> },
    Aborts,
}

fn run_child(case: &str, errno: i32) -> Output {
    Command::new(std::env::current_exe().unwrap())
        .args(["--exact", "degradation::body_of_a_case", "--nocapture", "--test-threads=1"])
        .env(CASE, case)
        .env(ERRNO, errno.to_string())
        .output()
        .unwrap()
}

/// Runs those cases whose refusals come at that time.
fn check(errno: i32, is_later: bool) {
    let _alone = alone();
    let works = |strategy: &Strategy| Barrier::with(*strategy).is_ok();
    let here: Vec<Strategy> = Strategy::ALL.into_iter().filter(works).collect();
    for case in CASES.iter().filter(|case| case.is_later() == is_later) {
        let output = run_child(case.name, errno);
        let said = String::from_utf8_lossy(&output.stdout).into_owned();
        let errors = String::from_utf8_lossy(&output.stderr).into_owned();
        println!("--- refused: {}, errno {errno}\n{said}{errors}", case.name);
        if said.contains(SKIPPED) {
            continue;
        }
        match case.expected(&here) {
            Expected::Works { active, by } => {
                assert!(output.status.success(), "{}: {}", case.name, output.status);
                let active = format!("barrier: {active}");
                assert!(said.contains(&active), "{}: no {active:?}", case.name);
                let by = by.map_or("no substitute".into(), |by| format!("the last by {by}"));
                let by = by.replace("by each", "by running on each");
                assert!(said.contains(&by), "{}: no {by:?}", case.name);
            }
            Expected::Aborts => {
                assert_eq!(output.status.signal(), Some(libc::SIGABRT), "{}", case.name);
                assert!(errors.contains("worked before and fails now"), "{}", case.name);
            }
        }
    }
}

#[test]
fn calls_refused_at_the_start_with_eperm() {
    check(libc::EPERM, false);
}

#[test]
fn calls_refused_at_the_start_with_enosys() {
    check(libc::ENOSYS, false);
}

#[test]
fn calls_refused_at_the_start_with_einval() {
    check(libc::EINVAL, false);
}

#[test]
fn calls_refused_later_with_eperm() {
    check(libc::EPERM, true);
}

#[test]
fn calls_refused_later_with_enosys() {
    check(libc::ENOSYS, true);
}

/// Not a test of its own: what a child does.
#[test]
fn body_of_a_case() {
    let Some(name) = std::env::var_os(CASE) else { return };
    let errno = std::env::var(ERRNO).unwrap().parse().unwrap();
    let case = CASES.iter().find(|case| name == case.name).unwrap();
    if let Err(reason) = refuse(case.before, errno) {
        return println!("{SKIPPED}no filter can be installed: {reason}");
    }
    println!("{}", Barrier::choice());
    let barrier = Barrier::process();
    no_core_file();
    let is_refused = Cell::new(false);
    let heavy = || {
        // The light thread runs by now, and is not filtered.
        if !is_refused.replace(true) {
            refuse(case.after, errno).unwrap();
        }
        barrier.heavy();
    };
    litmus_of(barrier, heavy);
    barrier.begin().wait();
    match Substituted::so_far() {
        Some(substituted) => println!("{substituted}"),
        None => println!("no substitute"),
    }
}

fn refuse(refusals: &[Refusal], errno: i32) -> std::io::Result<()> {
    if refusals.is_empty() {
        return Ok(());
    }
    let rules: Vec<Rule> = refusals.iter().flat_map(|one| one.rules()).collect();
    Filter::new(&rules, errno)?.install()
}

/// One of the cases ends in an abort, as it should.
fn no_core_file() {
    let none = libc::rlimit { rlim_cur: 0, rlim_max: 0 };
    // SAFETY: the kernel reads one rlimit.
    unsafe { libc::setrlimit(libc::RLIMIT_CORE, &raw const none) };
}

/// A short run; where only one CPU is allowed, a heavy side.
fn litmus_of(barrier: Barrier, heavy: impl Fn()) {
    let cpus = match two_cpus() {
        Ok(cpus) => cpus,
        Err(reason) => {
            heavy();
            return println!("no litmus: {reason}");
        }
    };
    let limit = Limit { time: Duration::from_millis(40), ..Limit::of_a_run() };
    let outcomes = store_buffering(cpus, || barrier.light(), heavy, limit);
    println!("{outcomes}");
    assert_eq!(outcomes.forbidden, 0);
}
