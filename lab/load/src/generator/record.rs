//! What a thread has seen, and what all have seen together.

use super::kernel_tls;
use super::shared::Over;
use crate::latency::Latencies;
use crate::pacer::Punctuality;
use crate::seen::{Account, Times};
use crate::stamp::Stamp;
use crate::tls::Tls;
use tiebreak_core::load::{LoadEnding, MessageCounts, Refusal, TlsAgreed, TlsResult};

/// What a thread has seen.
pub(super) struct Record {
    /// What became of messages; those that are intended and lost are counted at the end.
    pub(super) counts: MessageCounts,
    /// How well the schedule was kept.
    pub(super) punctuality: Punctuality,
    /// The CPU time of the thread.
    pub(super) cpu_ns: u64,
    /// The bytes that were written.
    pub(super) written_bytes: u64,
    /// The bytes that were read.
    pub(super) read_bytes: u64,
    /// What was agreed on in handshakes of TLS.
    tls: Vec<TlsAgreed>,
    times: Times,
    /// The refusals by what the server said, in no order.
    refusals: Vec<Refusal>,
    /// The refusals until the schedule's end.
    refused_before_end: u64,
    latencies: Latencies,
}

impl Record {
    /// Begins with nothing seen.
    pub(super) fn new() -> Record {
        Record {
            counts: MessageCounts::default(),
            punctuality: Punctuality { sent: 0, unsent: 0, late: 0 },
            cpu_ns: 0,
            written_bytes: 0,
            read_bytes: 0,
            tls: Vec::new(),
            times: Times::default(),
            refusals: Vec::new(),
            refused_before_end: 0,
            latencies: Latencies::new(),
        }
    }

    /// Counts a message that the generator turned to.
    pub(super) fn sent(&mut self, stamp: Stamp) {
        self.counts.sent += 1;
        self.times.sends_ns = joined(self.times.sends_ns, Some((stamp.actual_ns, stamp.actual_ns)));
    }

    /// Counts an arrival at a time.
    pub(super) fn arrived(&mut self, stamp: Stamp, now_ns: u64, end_ns: u64) {
        self.counts.arrived += 1;
        self.latencies.add(stamp.latency(now_ns));
        self.times.arrivals_ns = joined(self.times.arrivals_ns, Some((now_ns, now_ns)));
        if now_ns < end_ns {
            self.times.before_end = together(self.times.before_end, Some((now_ns, 1)));
        }
    }

    /// Counts a refusal by this code at a time.
    pub(super) fn refused(&mut self, code: u16, now_ns: u64, end_ns: u64) {
        self.counts.refused += 1;
        self.refuse(Refusal { code, count: 1 });
        self.refused_before_end += u64::from(now_ns < end_ns);
    }

    /// Counts what was agreed on in handshakes of TLS.
    pub(super) fn agreed(&mut self, agreed: TlsAgreed) {
        agreed.add_to(&mut self.tls);
    }

    /// Adds refusals. Servers know few ways to refuse.
    fn refuse(&mut self, more: Refusal) {
        match self.refusals.iter_mut().find(|refusal| refusal.code == more.code) {
            Some(refusal) => refusal.count += more.count,
            None => self.refusals.push(more),
        }
    }

    /// Adds what another thread has seen.
    fn add(&mut self, other: Record) {
        self.counts += other.counts;
        let (punctuality, more) = (&mut self.punctuality, other.punctuality);
        punctuality.sent += more.sent;
        punctuality.unsent += more.unsent;
        punctuality.late += more.late;
        self.cpu_ns += other.cpu_ns;
        self.written_bytes += other.written_bytes;
        self.read_bytes += other.read_bytes;
        other.tls.into_iter().for_each(|agreed| self.agreed(agreed));
        let (times, more) = (&mut self.times, other.times);
        times.sends_ns = joined(times.sends_ns, more.sends_ns);
        times.arrivals_ns = joined(times.arrivals_ns, more.arrivals_ns);
        times.before_end = together(times.before_end, more.before_end);
        other.refusals.into_iter().for_each(|refusal| self.refuse(refusal));
        self.refused_before_end += other.refused_before_end;
        self.latencies.merge(&other.latencies);
    }

    /// Returns what all threads have seen of a load that ended so, where each message is to arrive
    /// so often.
    pub(super) fn seen(
        records: Vec<Record>,
        over: Over,
        tls: Option<&Tls>,
        arrivals_a_message: u32,
    ) -> Account {
        let mut all = Record::new();
        records.into_iter().for_each(|record| all.add(record));
        let counts = &mut all.counts;
        // Who refuses a message spares all that it was for.
        let (sent, times) = (counts.sent, u64::from(arrivals_a_message));
        let expected = |refused: u64| sent.saturating_sub(refused).saturating_mul(times);
        let missing = expected(counts.refused).saturating_sub(counts.arrived);
        let ending = match over {
            Over::Complete => LoadEnding::Complete,
            Over::Interrupted => LoadEnding::Interrupted,
            Over::Broken(connection, why) => LoadEnding::Broken { connection, why },
            Over::Waited | Over::Failed(_) => LoadEnding::Waited,
        };
        // What was under way when the load was cut short might still have come.
        let is_lost = matches!(ending, LoadEnding::Complete | LoadEnding::Waited);
        (counts.lost, counts.under_way) = if is_lost { (missing, 0) } else { (0, missing) };
        if !is_lost {
            counts.unacknowledged = 0;
        }
        counts.intended = counts.sent + all.punctuality.unsent;
        let before_end = all.times.before_end.map_or(0, |(_, arrived)| arrived);
        all.refusals.sort_by_key(|refusal| refusal.code);
        Account {
            counts: all.counts,
            refusals: all.refusals,
            punctuality: all.punctuality,
            latencies: all.latencies,
            times: all.times,
            backlog: expected(all.refused_before_end).saturating_sub(before_end),
            generator_cpu_ns: all.cpu_ns,
            written_bytes: all.written_bytes,
            read_bytes: all.read_bytes,
            tls: tls.map(|tls| TlsResult {
                is_verified: tls.is_verified,
                agreed: all.tls,
                kernel: kernel_tls(),
            }),
            ending,
        }
    }
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
