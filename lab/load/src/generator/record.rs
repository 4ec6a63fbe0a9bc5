//! What a thread has seen, and what all have seen together.

use super::shared::Over;
use crate::Latency;
use crate::latency::Latencies;
use crate::pacer::Punctuality;
use crate::schedule::SECOND_NS;
use crate::seen::{Block, Counts, Ending, Observation, Times};
use crate::stamp::Stamp;

/// The histograms that a thread has at hand, one for each of the seconds that it added to last.
const AT_HAND_MAX: usize = 16;

/// What a thread has seen.
pub(super) struct Record {
    /// What became of messages; those that are intended and lost are counted at the end.
    pub(super) counts: Counts,
    /// How well the schedule was kept.
    pub(super) punctuality: Punctuality,
    /// The CPU time of the thread.
    pub(super) cpu_ns: u64,
    /// The bytes that were written.
    pub(super) written_bytes: u64,
    /// The bytes that were read.
    pub(super) read_bytes: u64,
    times: Times,
    /// The refusals until the schedule's end.
    refused_before_end: u64,
    blocks: Blocks,
}

impl Record {
    /// Begins with nothing seen.
    pub(super) fn new() -> Record {
        Record {
            counts: Counts::default(),
            punctuality: Punctuality { sent: 0, unsent: 0, late: 0 },
            cpu_ns: 0,
            written_bytes: 0,
            read_bytes: 0,
            times: Times::default(),
            refused_before_end: 0,
            blocks: Blocks::default(),
        }
    }

    /// Counts a message that the generator turned to.
    pub(super) fn sent(&mut self, stamp: Stamp) {
        self.counts.sent += 1;
        self.blocks.sent(second(stamp));
        self.times.sends_ns = joined(self.times.sends_ns, Some((stamp.actual_ns, stamp.actual_ns)));
    }

    /// Counts an arrival at a time.
    pub(super) fn arrived(&mut self, stamp: Stamp, now_ns: u64, end_ns: u64) {
        self.counts.arrived += 1;
        self.blocks.add(second(stamp), stamp.latency(now_ns));
        self.times.arrivals_ns = joined(self.times.arrivals_ns, Some((now_ns, now_ns)));
        if now_ns < end_ns {
            self.times.before_end = together(self.times.before_end, Some((now_ns, 1)));
        }
    }

    /// Counts a refusal at a time.
    pub(super) fn refused(&mut self, now_ns: u64, end_ns: u64) {
        self.counts.refused += 1;
        self.refused_before_end += u64::from(now_ns < end_ns);
    }

    /// Adds what another thread has seen.
    fn add(&mut self, other: Record) {
        let (counts, more) = (&mut self.counts, other.counts);
        counts.sent += more.sent;
        counts.arrived += more.arrived;
        counts.duplicated += more.duplicated;
        counts.reordered += more.reordered;
        counts.refused += more.refused;
        counts.reconnected += more.reconnected;
        let (punctuality, more) = (&mut self.punctuality, other.punctuality);
        punctuality.sent += more.sent;
        punctuality.unsent += more.unsent;
        punctuality.late += more.late;
        self.cpu_ns += other.cpu_ns;
        self.written_bytes += other.written_bytes;
        self.read_bytes += other.read_bytes;
        let (times, more) = (&mut self.times, other.times);
        times.sends_ns = joined(times.sends_ns, more.sends_ns);
        times.arrivals_ns = joined(times.arrivals_ns, more.arrivals_ns);
        times.before_end = together(times.before_end, more.before_end);
        self.refused_before_end += other.refused_before_end;
        self.blocks.merge(other.blocks);
    }

    /// Returns what all threads have seen of a load that ended so, where each message is to arrive
    /// so often.
    pub(super) fn seen(records: Vec<Record>, over: Over, arrivals_a_message: u32) -> Observation {
        let mut all = Record::new();
        records.into_iter().for_each(|record| all.add(record));
        let counts = &mut all.counts;
        // Who refuses a message spares all that it was for.
        let (sent, times) = (counts.sent, u64::from(arrivals_a_message));
        let expected = |refused: u64| sent.saturating_sub(refused).saturating_mul(times);
        let missing = expected(counts.refused).saturating_sub(counts.arrived);
        let ending = match over {
            Over::Complete => Ending::Complete,
            Over::Interrupted => Ending::Interrupted,
            Over::Broken(connection, why) => Ending::Broken(connection, why),
            Over::Waited | Over::Failed(_) => Ending::Waited,
        };
        // What was under way when the load was cut short might still have come.
        let is_lost = matches!(ending, Ending::Complete | Ending::Waited);
        counts.lost = if is_lost { missing } else { 0 };
        counts.intended = counts.sent + all.punctuality.unsent;
        let before_end = all.times.before_end.map_or(0, |(_, arrived)| arrived);
        let (latencies, blocks) = all.blocks.finish();
        Observation {
            counts: all.counts,
            punctuality: all.punctuality,
            latencies,
            blocks,
            times: all.times,
            backlog: expected(all.refused_before_end).saturating_sub(before_end),
            generator_cpu_ns: all.cpu_ns,
            written_bytes: all.written_bytes,
            read_bytes: all.read_bytes,
            ending,
        }
    }
}

/// Returns the second in which a message was intended.
fn second(stamp: Stamp) -> usize {
    (stamp.intended_ns / SECOND_NS) as usize
}

/// Returns the first and the last time of both.
fn joined(one: Option<(u64, u64)>, other: Option<(u64, u64)>) -> Option<(u64, u64)> {
    match (one, other) {
        (Some((first, last)), Some((begin, end))) => Some((first.min(begin), last.max(end))),
        (one, other) => one.or(other),
    }
}

/// Returns the last time of both, and the sum of their counts.
fn together(one: Option<(u64, u64)>, other: Option<(u64, u64)>) -> Option<(u64, u64)> {
    match (one, other) {
        (Some((last, count)), Some((end, more))) => Some((last.max(end), count + more)),
        (one, other) => one.or(other),
    }
}

/// The blocks of a thread.
///
/// Representation: 70 kB a second would be a gigabyte in four hours. So only the blocks that were
/// added to last are at hand, and the others in their byte form. They change places when an answer
/// to an older message comes.
#[derive(Default)]
struct Blocks {
    /// By the second. A block that is at hand has the latencies there.
    all: Vec<Block>,
    at_hand: Vec<AtHand>,
    /// Which of these was added to last.
    last: usize,
    /// How often that changed.
    changes: u64,
}

/// The latencies of a block.
struct AtHand {
    second: usize,
    latencies: Latencies,
    /// The change at which another came after it.
    left_at: u64,
}

impl Blocks {
    fn sent(&mut self, second: usize) {
        self.reach(second);
        self.all[second].sent += 1;
    }

    fn reach(&mut self, second: usize) {
        if second >= self.all.len() {
            self.all.resize(second + 1, Block::default());
        }
    }

    fn add(&mut self, second: usize, latency: Latency) {
        if self.at_hand.get(self.last).is_none_or(|block| block.second != second) {
            self.turn_to(second);
        }
        self.at_hand[self.last].latencies.add(latency);
    }

    /// Takes the block of a second at hand, and puts away the one that was left first if there are
    /// too many.
    fn turn_to(&mut self, second: usize) {
        self.reach(second);
        self.changes += 1;
        if let Some(left) = self.at_hand.get_mut(self.last) {
            left.left_at = self.changes;
        }
        let found = self.at_hand.iter().position(|block| block.second == second);
        self.last = found.unwrap_or_else(|| {
            let latencies = self.all[second].latencies();
            let block = AtHand { second, latencies, left_at: 0 };
            if self.at_hand.len() < AT_HAND_MAX {
                self.at_hand.push(block);
                return self.at_hand.len() - 1;
            }
            let places = 0..self.at_hand.len();
            let oldest = places.min_by_key(|at| self.at_hand[*at].left_at).unwrap_or(0);
            let away = std::mem::replace(&mut self.at_hand[oldest], block);
            put_away(&mut self.all, &away);
            oldest
        });
    }

    fn put_all_away(&mut self) {
        for block in self.at_hand.drain(..) {
            put_away(&mut self.all, &block);
        }
    }

    fn merge(&mut self, mut other: Blocks) {
        self.put_all_away();
        other.put_all_away();
        if self.all.is_empty() {
            self.all = other.all;
            return;
        }
        self.reach(other.all.len().saturating_sub(1));
        for (block, more) in self.all.iter_mut().zip(other.all) {
            let mut latencies = block.latencies();
            latencies.merge(&more.latencies());
            *block = Block::new(block.sent + more.sent, &latencies);
        }
    }

    /// Returns the latencies of all blocks together, and the blocks.
    fn finish(mut self) -> (Latencies, Vec<Block>) {
        self.put_all_away();
        let mut latencies = Latencies::new();
        self.all.iter().for_each(|block| latencies.merge(&block.latencies()));
        (latencies, self.all)
    }
}

fn put_away(all: &mut [Block], block: &AtHand) {
    let place = &mut all[block.second];
    *place = Block::new(place.sent, &block.latencies);
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::random::Words;

    /// Two threads add to more seconds than are at hand, in no order. Both together have what
    /// blocks have that are never put away.
    #[test]
    fn blocks_that_were_put_away_lose_nothing() {
        let mut words = Words::new(3);
        let mut expected = vec![(0, Latencies::new()); 3 * AT_HAND_MAX];
        let mut threads = [Blocks::default(), Blocks::default()];
        for turn in 0..3000 {
            let second = words.next_u64() as usize % expected.len();
            let latency = Latency::between(words.next_u64() >> 30, words.next_u64() >> 32);
            expected[second].0 += 1;
            expected[second].1.add(latency);
            let blocks = &mut threads[turn % 2];
            blocks.sent(second);
            blocks.add(second, latency);
            assert!(blocks.at_hand.len() <= AT_HAND_MAX);
        }
        let [mut all, other] = threads;
        all.merge(other);
        let (latencies, blocks) = all.finish();
        let mut merged = Latencies::new();
        assert_eq!(blocks.len(), expected.len());
        for (block, (sent, latencies)) in blocks.iter().zip(&expected) {
            assert_eq!((block.sent, &block.latencies()), (*sent, latencies));
            merged.merge(latencies);
        }
        assert_eq!(latencies, merged);
    }

    #[test]
    fn the_seconds_of_one_thread_may_be_later_than_those_of_another() {
        for (one, other) in [(0, 5), (5, 0)] {
            let (mut all, mut more) = (Blocks::default(), Blocks::default());
            all.sent(one);
            more.sent(other);
            let mut empty = Blocks::default();
            empty.merge(all);
            empty.merge(more);
            empty.merge(Blocks::default());
            let sent: Vec<u64> = empty.finish().1.iter().map(|block| block.sent).collect();
            assert_eq!(sent, [1, 0, 0, 0, 0, 1]);
        }
    }
}
