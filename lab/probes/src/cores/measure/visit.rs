//! A visit to a pair: each way of passing, timed by either side in turn.

use super::*;

/// What a visit saw of one way of passing.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(super) struct KernelObservation {
    /// What either side timed.
    pub(super) by: [Observation; 2],
    /// How often either thread was taken off its CPU.
    pub(super) preemptions: u64,
}

/// Visits a pair. What is asked of it ends when the budget does; threads that cannot run until
/// then have seen nothing.
///
/// # Errors
/// There is no memory, or a thread cannot be started or pinned.
pub(super) fn visit(
    plan: &Plan,
    cpus: [usize; 2],
    clock_ns: u64,
    budget: &Budget<'_>,
) -> io::Result<Vec<KernelObservation>> {
    let kernels = plan.kernels.len();
    let job = Job {
        plan,
        // The lines of either side lie in the memory of its own CPU.
        boards: [Board::new(kernels)?, Board::new(kernels)?],
        interrupted: budget.interrupted(),
        end_ns: monotonic_ns() + budget.left().as_nanos() as u64,
        clock_ns,
    };
    let sides = together(&cpus, |place| job.run(place))?;
    let mut all = vec![KernelObservation::default(); kernels];
    for (index, side) in sides.into_iter().enumerate() {
        for (seen, (timed, preemptions)) in all.iter_mut().zip(side) {
            seen.by[index] = timed;
            seen.preemptions += preemptions;
        }
    }
    Ok(all)
}

struct Job<'a> {
    plan: &'a Plan,
    boards: [Board; 2],
    interrupted: &'a AtomicBool,
    end_ns: u64,
    clock_ns: u64,
}

impl Job<'_> {
    /// What one of the two threads does; gives what it timed itself, and how often it was taken
    /// off its CPU, by the way of passing.
    fn run(&self, place: &Place<'_>) -> Vec<(Observation, u64)> {
        self.boards[place.index].touch(self.plan.kernels.len());
        let mut all = vec![(Observation::default(), 0); self.plan.kernels.len()];
        for side in 0..2 {
            for (at, seen) in all.iter_mut().enumerate() {
                // Both wake up here, and so run at about the same time.
                place.meet();
                let before = switches().0;
                if let Some(timed) = self.segment(side, at, place.index) {
                    seen.0 = timed;
                }
                seen.1 += switches().0.saturating_sub(before);
            }
        }
        all
    }

    fn segment(&self, timing: usize, at: usize, own: usize) -> Option<Observation> {
        let lines = self.boards[timing].lines(at);
        let limit_ns = monotonic_ns() + self.plan.segment_limit_ns;
        let patience = Patience {
            done: &lines.done.0,
            interrupted: self.interrupted,
            deadline_ns: limit_ns.min(self.end_ns),
        };
        let (time, reply) = segment::sides(self.plan.kernels[at]);
        if timing != own {
            reply(lines, &patience);
            return None;
        }
        let seen = time(lines, self.plan.batches, self.clock_ns, &patience);
        lines.done.0.store(true, Ordering::Release);
        Some(seen)
    }
}
