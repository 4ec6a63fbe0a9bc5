//! What a second of watching found: wake-ups, interrupts, the firmware's interrupts, the clock
//! after wide vectors.

use super::*;
use crate::noise::measure::Interrupts;
use crate::noise::measure::counts::Counts;
use crate::tools::wakeups;
use crate::tools::wide::{self, Wide};
use std::time::Duration;
use tiebreak_machine::meters::smi::Smis;

/// How long is watched.
const WATCHED: Duration = Duration::from_secs(1);
/// A typical wake-up that takes longer has to do with how the CPU sleeps.
const SLOW_WAKE_NS: u64 = 20_000;
/// One in a hundred that takes longer is late because of something else.
const LATE_WAKE_NS: u64 = 1_000_000;
/// So many interrupts a second on an isolated CPU are noticed by nobody.
const FEW: u64 = 10;
/// A clock that is lower by less is not told from the same clock.
const CLOCK_SHARE: f64 = 0.98;

/// What was seen in one second.
#[derive(Debug)]
pub(super) struct Second {
    /// How late the wake-ups of timers were, sorted; or why that is not known.
    pub(super) late_ns: Result<Vec<u64>, String>,
    /// The interrupts of the isolated CPUs, a CPU each.
    pub(super) interrupts: Vec<(usize, Vec<Interrupts>)>,
    /// The firmware's interrupts.
    pub(super) smis: Result<u64, String>,
    /// The clock after wide vectors.
    pub(super) wide: Result<Wide, String>,
}

impl Second {
    /// Watches for a second, and times wide vectors after it.
    pub(super) fn watch(tree: &Tree, cpus: &[usize]) -> Second {
        let isolated = isolated(tree).unwrap_or_default();
        let smis = Smis::open(tree);
        let count = || smis.as_ref().map_err(Clone::clone).map(Smis::count);
        let smis_before = count();
        let before = Counts::read(tree);
        let late_ns = wakeups::late_ns(cpus, WATCHED).map_err(|error| error.to_string());
        let after = Counts::read(tree);
        let since = |then: Option<u64>, now: Option<u64>| now?.checked_sub(then?);
        let smis = smis_before.and_then(|then| {
            since(then, count()?).ok_or_else(|| "it was lost while it was read".to_owned())
        });
        let of_cpu = |cpu: usize| (cpu, after.interrupts_since(&before, cpu));
        let first = cpus.first().copied().ok_or("no CPU is known");
        Second {
            late_ns,
            interrupts: isolated.into_iter().map(of_cpu).collect(),
            smis,
            wide: first.map_err(str::to_owned).and_then(wide::clock_after),
        }
    }
}

/// How late ordinary wake-ups are.
pub(super) fn wake_ups(sight: &Sight<'_>) -> Outcome {
    const FILE: &str = "/dev/cpu_dma_latency";
    let late_ns = sight.second.late_ns.as_ref().map_err(|error| Lack::Unknown(error.clone()))?;
    let Some(last) = late_ns.len().checked_sub(1) else {
        return Err(Lack::Unknown("nothing woke within a second".to_owned()));
    };
    let at = |share: usize| late_ns[(last * share).div_ceil(100)];
    let [half, most, worst] = [50, 99, 100].map(at);
    let us = |ns: u64| format!("{:.0} us", ns as f64 / 1000.0);
    let now = format!("median {}, 99th percentile {}, worst {}", us(half), us(most), us(worst));
    let standing = match (most > LATE_WAKE_NS, half > SLOW_WAKE_NS) {
        (true, _) => Standing::Noisy,
        (false, true) => Standing::Could,
        (false, false) => return Ok(Found::fine(now)),
    };
    let found = Found::new(standing, now);
    // Only the typical one is a matter of how a CPU sleeps, and only where it sleeps.
    let is_noisy = |told: Outcome| told.is_ok_and(|found| found.standing == Standing::Noisy);
    let is_busy = is_noisy(load::pressure(sight)) || is_noisy(load::runnable(sight));
    if half <= SLOW_WAKE_NS || is_busy || !sight.tree.path(FILE).exists() {
        return Ok(found);
    }
    let hold = format!("exec 3> {FILE}; echo 0 >&3; exec sleep infinity");
    let undo = "end that command (Ctrl-C): it holds as long as it runs";
    Ok(found.by(&format!("sudo sh -c '{hold}'"), Some(undo), Needs::Root))
}

/// Interrupts that came to isolated CPUs.
pub(super) fn interrupts(sight: &Sight<'_>) -> Outcome {
    let cpus = isolated(sight.tree)?;
    let counts = sight.second.interrupts.iter().filter(|(cpu, _)| cpus.contains(cpu));
    let all: Vec<&Interrupts> = counts.flat_map(|(_, counts)| counts).collect();
    let total: u64 = all.iter().map(|one| one.count).sum();
    let cpus: Vec<usize> = cpus.into_iter().collect();
    let now = format!("{total} in 1 s on CPUs {}", format_list(&cpus));
    if total <= FEW * cpus.len() as u64 {
        return Ok(Found::fine(now));
    }
    let most = all.iter().max_by_key(|one| one.count);
    let most = most.map_or(String::new(), |one| {
        let words = if one.words.is_empty() { &one.name } else { &one.words };
        format!(", most of them: {words}")
    });
    Ok(Found::new(Standing::Noisy, now + &most))
}

/// What the firmware took, as far as somebody counts it.
pub(super) fn smis(sight: &Sight<'_>) -> Outcome {
    let unknown = |error: &String| {
        Lack::Unknown(format!("{error}; gaps without a cause: tiebreak machine noise"))
    };
    let count = sight.second.smis.as_ref().map_err(unknown)?;
    let whose = if sight.place.is_virtual {
        ", as this virtual machine counts them; those of the host are not told"
    } else {
        ""
    };
    let standing = if *count > 0 { Standing::Noisy } else { Standing::Fine };
    Ok(Found::new(standing, format!("{count} in 1 s{whose}")))
}

/// Whether wide vectors lower the clock for what runs after them.
pub(super) fn wide_vectors(sight: &Sight<'_>) -> Outcome {
    let wide = sight.second.wide.as_ref().map_err(|error| Lack::Absent(error.clone()))?;
    let share = wide.clock_share();
    let now = format!("{:.0}% after {}", share * 100.0, wide.vectors);
    // Neither of the two may be the other's noise.
    let is_apart = wide.ordinary_ns[2] < wide.wide_ns[0];
    let standing = if share < CLOCK_SHARE && is_apart { Standing::Could } else { Standing::Fine };
    Ok(Found::new(standing, now))
}
