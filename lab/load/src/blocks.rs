//! Messages in blocks: what a claim about a load is judged by.
//!
//! A server is slow in spells, so one message says little that those around it do not say. An
//! observation is therefore a block of consecutive messages of the schedule, and what is counted of
//! it is how many are surely within a bar and how many surely are not. Which messages a block has
//! follows from their numbers, so nothing that the server does moves one to another block.
//!
//! A latency is an interval. It is within a bar if its upper bound is, and beyond if its lower
//! bound is; otherwise it is neither. A message that is refused is beyond every bar, and so is one
//! that has not arrived when more time than the greatest bar has passed since it was sent. By then
//! no count of its block can change, so the block is done, however long its messages still take.

use crate::ledger::{Outcome, Reach};
use std::collections::VecDeque;
use tiebreak_core::journal::Tally;

/// What messages are compared with.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Mark {
    /// The greatest latency that is good, in nanoseconds; infinite if all that arrives is.
    pub bar_ns: f64,
    /// If the mean is asked for: what is above this, or never comes, counts as this.
    pub cap_ns: Option<f64>,
}

/// The messages of a load, counted in blocks.
#[derive(Clone, Debug)]
pub struct Blocks {
    messages: u64,
    copies: u32,
    marks: Vec<Mark>,
    /// What has not arrived in more than this time after it was sent is beyond every bar and cap.
    horizon_ns: u64,
    /// The number of the first block that is not done.
    first: u64,
    /// That block and those after it, as far as one has messages.
    open: VecDeque<Open>,
    /// For each mark whether the last message of the last block was good.
    was_good: Vec<Option<bool>>,
}

/// A block that is not done.
#[derive(Clone, Debug)]
struct Open {
    /// The arrivals that are still to come.
    left: u64,
    /// A time at which all of its messages had been sent.
    sent_ns: Option<u64>,
    counts: Vec<Count>,
}

/// The count of a block for one mark.
#[derive(Clone, Debug)]
struct Count {
    /// The arrivals of each message that are good.
    good: Vec<u32>,
    bad: u64,
    /// The sums of the bounds, what is above the cap counting as the cap.
    low_ns: f64,
    high_ns: f64,
}

impl Blocks {
    /// Begins with the first message. A block has so many messages, at least 1, and each is to
    /// arrive so often. No bar and no cap may be above `patience_ns`, after which a message is
    /// lost; an infinite bar is one at which it is.
    pub fn new(messages: u64, copies: u32, marks: Vec<Mark>, patience_ns: u64) -> Blocks {
        let times = marks.iter().flat_map(|mark| [Some(mark.bar_ns), mark.cap_ns]).flatten();
        let horizon_ns = times.map(|ns| (ns.ceil() as u64).min(patience_ns)).max();
        Blocks {
            messages: messages.max(1),
            copies: copies.max(1),
            was_good: vec![None; marks.len()],
            marks,
            horizon_ns: horizon_ns.unwrap_or(0),
            first: 0,
            open: VecDeque::new(),
        }
    }

    /// Returns how often the messages of a block are to arrive.
    pub fn arrivals(&self) -> u64 {
        self.messages.saturating_mul(self.copies.into())
    }

    /// Takes what became of a message. What belongs to a block that is done changes nothing.
    pub fn take(&mut self, outcome: Outcome) {
        let (Outcome::Arrived { number, .. } | Outcome::Refused { number }) = outcome;
        let Some(place) = (number / self.messages).checked_sub(self.first) else { return };
        let at = (number % self.messages) as usize;
        self.reach(place as usize + 1);
        let block = &mut self.open[place as usize];
        match outcome {
            Outcome::Arrived { latency, .. } => {
                block.left = block.left.saturating_sub(1);
                let (low, high) = (latency.low_ns as f64, latency.high_ns as f64);
                for (count, mark) in block.counts.iter_mut().zip(&self.marks) {
                    count.good[at] += u32::from(high <= mark.bar_ns);
                    count.bad += u64::from(low > mark.bar_ns);
                    if let Some(cap) = mark.cap_ns {
                        count.low_ns += low.min(cap);
                        count.high_ns += high.min(cap);
                    }
                }
            }
            Outcome::Refused { .. } => {
                let spared = u64::from(self.copies).min(block.left);
                block.miss(spared, &self.marks);
            }
        }
    }

    /// Takes how far the load has come, after the outcomes that were reported with it, and returns
    /// the next block that is done: how often its messages were to arrive, and what is known of
    /// them for each mark. `None` if none is. Blocks come in their order.
    pub fn next(&mut self, reach: Reach) -> Option<(u64, Vec<Tally>)> {
        let sent = (reach.sent_below / self.messages).saturating_sub(self.first);
        self.reach(sent as usize);
        for block in self.open.iter_mut().take(sent as usize) {
            block.sent_ns.get_or_insert(reach.heard_until_ns);
        }
        let block = self.open.front()?;
        let waited_ns = block.sent_ns.map(|sent_ns| reach.heard_until_ns.saturating_sub(sent_ns));
        if block.left > 0 && waited_ns.is_none_or(|waited_ns| waited_ns <= self.horizon_ns) {
            return None;
        }
        let mut block = self.open.pop_front()?;
        self.first += 1;
        block.miss(block.left, &self.marks);
        let arrivals = self.arrivals();
        let counts = block.counts.iter().zip(&mut self.was_good);
        let tallies = counts.map(|(count, was)| count.tally(self.copies, arrivals, was)).collect();
        Some((arrivals, tallies))
    }

    /// Makes so many blocks open.
    fn reach(&mut self, blocks: usize) {
        while self.open.len() < blocks {
            let count =
                Count { good: vec![0; self.messages as usize], bad: 0, low_ns: 0.0, high_ns: 0.0 };
            self.open.push_back(Open {
                left: self.arrivals(),
                sent_ns: None,
                counts: vec![count; self.marks.len()],
            });
        }
    }
}

impl Open {
    /// Takes so many arrivals that never come.
    fn miss(&mut self, arrivals: u64, marks: &[Mark]) {
        self.left -= arrivals;
        for (count, mark) in self.counts.iter_mut().zip(marks) {
            count.bad += arrivals;
            let capped = mark.cap_ns.unwrap_or(0.0) * arrivals as f64;
            count.low_ns += capped;
            count.high_ns += capped;
        }
    }
}

impl Count {
    /// Returns what is known; `was_good` is that of the message before, and then of the last one.
    fn tally(&self, copies: u32, arrivals: u64, was_good: &mut Option<bool>) -> Tally {
        let mut tally = Tally {
            good: 0,
            bad: self.bad,
            good_runs: 0,
            other_runs: 0,
            mean_low: self.low_ns / arrivals as f64,
            mean_high: self.high_ns / arrivals as f64,
        };
        for good in &self.good {
            tally.good += u64::from(*good);
            let is_good = *good >= copies;
            if was_good.replace(is_good) != Some(is_good) {
                *(if is_good { &mut tally.good_runs } else { &mut tally.other_runs }) += 1;
            }
        }
        tally
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Latency;
    use crate::random::Words;

    const BAR: Mark = Mark { bar_ns: 100.0, cap_ns: None };

    fn arrived(number: u64, low_ns: u64, high_ns: u64) -> Outcome {
        Outcome::Arrived { number, latency: Latency { low_ns, high_ns } }
    }

    fn reach(sent_below: u64, heard_until_ns: u64) -> Reach {
        Reach { sent_below, heard_until_ns }
    }

    fn share(good: u64, bad: u64, good_runs: u64, other_runs: u64) -> Tally {
        Tally { good, bad, good_runs, other_runs, mean_low: 0.0, mean_high: 0.0 }
    }

    #[test]
    fn a_latency_across_the_bar_is_neither_good_nor_bad() {
        let mut blocks = Blocks::new(4, 1, vec![BAR], 1000);
        for outcome in [arrived(0, 100, 100), arrived(1, 99, 101), arrived(2, 101, 150)] {
            blocks.take(outcome);
        }
        assert_eq!(blocks.next(reach(4, 10)), None);
        blocks.take(Outcome::Refused { number: 3 });
        assert_eq!(blocks.next(reach(4, 10)), Some((4, vec![share(1, 2, 1, 1)])));
        assert_eq!(blocks.next(reach(4, 10)), None);
    }

    #[test]
    fn what_never_came_is_bad_once_more_than_the_bar_has_passed() {
        let mut blocks = Blocks::new(2, 1, vec![BAR], 1000);
        blocks.take(arrived(0, 5, 5));
        // It may not have been sent yet, or just now.
        assert_eq!(blocks.next(reach(1, 5000)), None);
        assert_eq!(blocks.next(reach(2, 5001)), None);
        assert_eq!(blocks.next(reach(2, 5101)), None);
        assert_eq!(blocks.next(reach(2, 5102)), Some((2, vec![share(1, 1, 1, 1)])));
        // What comes later changes no block.
        blocks.take(arrived(1, 5000, 5000));
        blocks.take(arrived(2, 5, 5));
        blocks.take(arrived(3, 5, 5));
        assert_eq!(blocks.next(reach(4, 9000)), Some((2, vec![share(2, 0, 1, 0)])));
    }

    #[test]
    fn a_block_waits_for_the_one_before() {
        let mut blocks = Blocks::new(1, 1, vec![BAR], 1000);
        blocks.take(arrived(1, 5, 5));
        assert_eq!(blocks.next(reach(2, 50)), None);
        blocks.take(arrived(0, 7, 200));
        assert_eq!(blocks.next(reach(2, 60)), Some((1, vec![share(0, 0, 0, 1)])));
        assert_eq!(blocks.next(reach(2, 60)), Some((1, vec![share(1, 0, 1, 0)])));
        assert_eq!(blocks.next(reach(2, 60)), None);
    }

    /// A message with several arrivals is good in a run if all of them are.
    #[test]
    fn each_arrival_of_a_message_counts() {
        let mut blocks = Blocks::new(2, 3, vec![BAR], 1000);
        for number in [0, 1, 0, 0, 1] {
            blocks.take(arrived(number, 50, 50));
        }
        blocks.take(arrived(1, 500, 500));
        assert_eq!(blocks.next(reach(2, 600)), Some((6, vec![share(5, 1, 1, 1)])));
        blocks.take(Outcome::Refused { number: 2 });
        blocks.take(Outcome::Refused { number: 3 });
        assert_eq!(blocks.next(reach(4, 600)), Some((6, vec![share(0, 6, 0, 0)])));
    }

    #[test]
    fn means_are_intervals_and_end_at_the_cap() {
        let mark = Mark { bar_ns: 100.0, cap_ns: Some(400.0) };
        let success = Mark { bar_ns: f64::INFINITY, cap_ns: None };
        let mut blocks = Blocks::new(4, 1, vec![mark, success], 1000);
        for outcome in [arrived(0, 20, 120), arrived(1, 100, 900), arrived(2, 500, 500)] {
            blocks.take(outcome);
        }
        assert_eq!(blocks.next(reach(4, 1)), None);
        // Success is to arrive before it is lost.
        assert_eq!(blocks.next(reach(4, 1001)), None);
        let (arrivals, tallies) = blocks.next(reach(4, 1002)).unwrap();
        assert_eq!((arrivals, tallies[1]), (4, share(3, 1, 1, 1)));
        let mean = Tally { mean_low: 230.0, mean_high: 330.0, ..share(0, 2, 0, 1) };
        assert_eq!(tallies[0], mean);
    }

    /// Whatever the order in which outcomes come, every message is counted once, in its block.
    #[test]
    fn blocks_are_those_of_the_numbers() {
        let mut words = Words::new(5);
        let mut draw = |most: u64| words.next_u64() % most;
        let latencies: Vec<u64> = (0..600).map(|_| draw(200)).collect();
        let mut order: Vec<u64> = (0..600).collect();
        (1..600usize).rev().for_each(|last| order.swap(last, draw(last as u64 + 1) as usize));
        let mut blocks = Blocks::new(7, 1, vec![BAR], 1000);
        let mut found = Vec::new();
        for number in order {
            blocks.take(arrived(number, latencies[number as usize], latencies[number as usize]));
            found.extend(std::iter::from_fn(|| blocks.next(reach(600, 0))));
        }
        assert_eq!(found.len(), 600 / 7);
        let mut before = None;
        for ((_, tallies), expected) in found.iter().zip(latencies.chunks(7)) {
            let good: Vec<bool> = expected.iter().map(|ns| *ns <= 100).collect();
            let count = good.iter().filter(|good| **good).count() as u64;
            let mut runs = [0, 0];
            for is_good in good {
                runs[usize::from(is_good)] += u64::from(before != Some(is_good));
                before = Some(is_good);
            }
            assert_eq!(tallies[0], share(count, 7 - count, runs[1], runs[0]));
        }
    }
}
