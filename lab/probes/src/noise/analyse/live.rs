//! Watching on and on: the last minute of what disturbs this machine.

use super::*;
use std::collections::VecDeque;

/// One watch, and one piece of the time lines.
const WATCH: Duration = Duration::from_secs(1);
/// What is told of: a minute.
const TOLD_NS: u64 = 60_000_000_000;

const STOPPED: &str = "it was stopped before a CPU was watched";

/// Watches CPUs until `stop`, or for as long as the options say. After each second `show` gets what
/// was seen within the last minute, while nothing is watched. Returns the print of the last minute,
/// without a noise floor.
pub fn watch_noise(
    options: &Options<'_>,
    stop: &AtomicBool,
    show: &mut dyn FnMut(&Noise),
) -> MachinePrint {
    let begin = Instant::now();
    let mut print = empty(false);
    let probe = noise::Noise::new(&options.cpus, 1.0);
    print.noise = Some(probed(probe, |probe| watch(&probe, options.each, stop, show)));
    print.took_ns = begin.elapsed().as_nanos() as u64;
    print
}

fn watch(
    probe: &noise::Noise,
    length: Option<Duration>,
    stop: &AtomicBool,
    show: &mut dyn FnMut(&Noise),
) -> Probed<Noise> {
    let end = length.map(|length| Instant::now() + length);
    let (at_once, chain) = (probe.cpus_at_once(), probe.chain());
    let mut watches: VecDeque<Watch> = VecDeque::new();
    let (mut last, mut broken) = (None, None);
    for turn in 0.. {
        let left = end.map_or(WATCH, |end| end.saturating_duration_since(Instant::now()));
        if left.is_zero() || stop.load(Ordering::Relaxed) {
            break;
        }
        match probe.watch(turn, WATCH.min(left), stop) {
            // Nothing was seen in it.
            Ok(watch) if watch.cpus.is_empty() => continue,
            Ok(watch) => take(&mut watches, watch),
            Err(error) => {
                broken = Some(format!("the CPUs were not watched to the end: {error}"));
                break;
            }
        }
        let piece_ns = WATCH.as_nanos() as u64;
        let found = summary::summarise(watches.make_contiguous(), at_once, chain, Some(piece_ns));
        show(&found);
        last = Some(found);
    }
    match last {
        Some(found) => Probed::of(found, broken.into_iter().collect()),
        None => Probed::inconclusive(broken.as_deref().unwrap_or(STOPPED)),
    }
}

/// Adds a watch, and forgets those of more than a minute ago.
fn take(watches: &mut VecDeque<Watch>, watch: Watch) {
    let end_ns = watch.end_ns;
    watches.push_back(watch);
    while watches.front().is_some_and(|old| old.begin_ns + TOLD_NS < end_ns) {
        watches.pop_front();
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use tiebreak_machine::cpus;

    #[test]
    fn only_the_last_minute_is_kept() {
        let mut watches = VecDeque::new();
        for second in 0..100 {
            let (begin_ns, end_ns) = (second * 1_000_000_000, (second + 1) * 1_000_000_000);
            let (cpus, softirqs) = (Vec::new(), Vec::new());
            take(&mut watches, Watch { begin_ns, end_ns, cpus, softirqs, throttled: None });
        }
        assert_eq!((watches.len(), watches[0].begin_ns), (60, 40_000_000_000));
    }

    #[test]
    fn each_second_is_shown_and_the_end_is_kept() {
        let each = Some(Duration::from_millis(300));
        let options = Options { each, ..crate::finding::tests::options(cpus::allowed()) };
        let mut shown = 0;
        let print = watch_noise(&options, &AtomicBool::new(false), &mut |_| shown += 1);
        assert_eq!(shown > 0, print.noise.as_ref().unwrap().value().is_some());
        let stopped = watch_noise(&options, &AtomicBool::new(true), &mut |_| ());
        assert_eq!(stopped.noise.unwrap().value(), None);
        let none = Options { cpus: Vec::new(), ..options };
        let print = watch_noise(&none, &AtomicBool::new(false), &mut |_| ());
        assert_eq!(print.noise.unwrap().state(), "unavailable");
    }
}
